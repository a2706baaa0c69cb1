# SPDX-License-Identifier: GPL-2.0
# Claims, conditions and modules. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # shared with guest_hopcc.sh

# ok CLAIM COMMAND...: print a claim, which holds if the command succeeds
ok()
{
	claim=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/out" 2>&1; then
		echo "ok $n - $claim"
	else
		echo "not ok $n - $claim"
		# Of a test's own claims those that fail, and how it ended.
		{ grep -A 3 '^not ok' "$tmp/out" | head -n 20; echo ...; tail -n 12 "$tmp/out"; } | sed 's/^/# /'
		failed=1
	fi
}

refused() { ! "$@"; }

# A program takes 50 ms to start here. So the shell itself does what it can, and ip and tc take
# their commands from a file.
# The time of guest_init.sh does not pass while other processes of the host have the emulator's CPU. The lab's guest
# has virtual time only.
clock_s()
{
	clock=/run/own_seconds
	[ -e $clock ] || clock=/proc/uptime
	until read -r now _ <$clock; do :; done
	now=${now%.*}
}

# until_true SECONDS COMMAND...: wait for a condition
until_true()
{
	clock_s
	end=$((now + $1))
	shift
	until "$@"; do
		clock_s
		[ "$now" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# Build a tree of modules with ours alone, and let the kernel's loader look there first.
install_modules()
{
	ver=$(uname -r)
	tree=/run/hopcc/lib/modules/$ver
	mkdir -p "$tree/updates"
	find "$build" -name '*.ko' ! -name '*_test.ko' -exec cp -L -t "$tree/updates" {} +
	cp "$kernel_modules/$ver"/modules.order "$kernel_modules/$ver"/modules.builtin* "$tree"
	depmod -b /run/hopcc "$ver"
	cat >/run/hopcc/modprobe <<-END
	#!/bin/sh
	modprobe -d /run/hopcc "\$@" 2>/dev/null || exec modprobe "\$@"
	END
	chmod +x /run/hopcc/modprobe
	echo /run/hopcc/modprobe >/proc/sys/kernel/modprobe
	names=$(cd "$tree/updates" && ls ./*.ko | sed 's,^./,,; s,\.ko$,,')
}

# shellcheck disable=SC2086 # a list
load_all() { modprobe -d /run/hopcc -a $names; }

loaded() { [ -e "/sys/module/$1" ]; }

# Modules depend on each other in three layers: each pass unloads one.
unload_all()
{
	# shellcheck disable=SC2086 # a list
	rmmod $names $names $names
	for name in $names; do
		! loaded "$name" || return 1
	done
}

# The initial namespace alone accepts a restricted congestion control as its default: elsewhere
# Linux 6.1 refuses it and does not drop its reference to the module.
loads_by_name()
{
	tc qdisc add dev lo root wred limit 100k || return 1
	tc qdisc replace dev lo root int rate 1gbit || return 1
	tc qdisc replace dev lo root csig rate 1gbit || return 1
	tc qdisc del dev lo root
	sysctl -w net.ipv4.tcp_congestion_control=dctcp_ms || return 1
	sysctl -w net.ipv4.tcp_congestion_control=cubic
	loaded sch_wred && loaded sch_int && loaded sch_csig && loaded tcp_dctcp_ms
}

# hooks COMMAND...: how often the kernel registers hooks of netfilter meanwhile; for that it has one
# function, on which a probe counts
hooks()
{
	from=$(awk '$1 == "hop_hook" { print $2 }' /sys/kernel/tracing/kprobe_profile)
	"$@" || return
	awk -v from="$from" '$1 == "hop_hook" { print $2 - from }' /sys/kernel/tracing/kprobe_profile
}

# A network namespace has hooks of a kernel's security modules from its beginning.
hooks_on_use()
{
	unload_all >/dev/null 2>&1
	modprobe -d /run/hopcc hop_core || return 1
	[ -e /sys/kernel/tracing/kprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing
	echo 'p:hop_hook nf_register_net_hooks' >/sys/kernel/tracing/kprobe_events
	echo 1 >/sys/kernel/tracing/events/kprobes/enable
	without=$(hooks unshare -n true)
	load=$(hooks modprobe -d /run/hopcc net_csig_tag)
	with=$(hooks unshare -n true)
	use=$(hooks sysctl -qw net.hopcc.csig=2)
	sysctl -qw net.hopcc.csig=0
	echo 0 >/sys/kernel/tracing/events/kprobes/enable
	echo >/sys/kernel/tracing/kprobe_events
	echo "hooks: $load at load, $without and $with in a new namespace, $use at use"
	[ "$load" = 0 ] && [ "$with" = "$without" ] && [ "$use" -gt 0 ]
}

# mininet_example SYSTEM MBIT SECONDS: half of the port at least is goodput, and the port has marked or written
# to packets. MBIT is low, as an emulated CPU may be too slow to fill a faster port.
mininet_example()
{
	tools=$here/../../tools
	PYTHONPATH="$tools/mininet" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$tools/mininet/examples/$1.py" \
		"$2" "$3" >"$tmp/mininet" 2>&1
	status=$?
	cat "$tmp/mininet"
	awk -v status=$status -v mbit="$2" '/ Mbit\/s$/ { rate += $2 }
		/^sent / { split($0, part, ", "); split(part[2], word, " "); reports = word[2] }
		END { exit !(status == 0 && rate > mbit / 2 && reports > 0) }' "$tmp/mininet"
}

ftp()
{
	modprobe nf_nat_ftp && /usr/bin/python3 -B "$here/../netns/ftp.py"
}
