#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in the test guest: XCP's carrier on two CPUs, with all at once: streams,
# congestion controls swapped, knobs turned, namespaces removed, modules unloaded.
# TAP without the plan, which the host adds.
#
#   guest-xcp.sh MODULES_BUILD ROUNDS
#
#       h1 .1 ------ 192.0.2.0/24, 2001:db8:1::/64 ------ .2 h2
set -u
build=$1 rounds=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) n=0 failed=0
jobs=''

# ok NAME COMMAND...
ok()
{
	claim=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/out" 2>&1; then
		echo "ok $n - $claim"
	else
		echo "not ok $n - $claim"
		sed 's/^/# /' "$tmp/out" | head -n 20
		failed=1
	fi
}

until_true()
{
	end=$(($(cut -d. -f1 /proc/uptime) + $1))
	shift
	until "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ] || return 1
		sleep 0.2
	done
}

load()
{
	insmod "$build/hop_core/hop_core.ko" && insmod "$build/net_xcp/net_xcp.ko" &&
		insmod "$build-drive/xcp_drive.ko"
}

unload() { rmmod xcp_drive && rmmod net_xcp && rmmod hop_core; }

network()
{
	ip netns add h1 && ip netns add h2 || return 1
	ip link add e1 netns h1 type veth peer name e2 netns h2
	for host in 1 2; do
		ip -n h$host link set lo up
		ip -n h$host addr add 192.0.2.$host/24 dev e$host
		ip -n h$host addr add 2001:db8:1::$host/64 dev e$host nodad
		ip -n h$host link set e$host up
		ip netns exec h$host sysctl -qw net.ipv4.tcp_orphan_retries=1
	done
	ip netns exec h2 /usr/bin/python3 "$here/stream.py" serve cubic >"$tmp/serve" 2>&1 &
	jobs="$jobs $!"
	until_true 20 grep -q listening "$tmp/serve"
}

teardown()
{
	# shellcheck disable=SC2086 # a list
	[ -z "$jobs" ] || kill -9 $jobs 2>/dev/null
	# shellcheck disable=SC2086
	wait $jobs 2>/dev/null
	jobs=
	for ns in h1 h2; do
		[ ! -e /run/netns/$ns ] || ip netns del $ns
	done
}

count() { ip netns exec "$1" awk -v name="$2" '$1 == name { print $2 }' /proc/net/hopcc_xcp; }

stream() { ip netns exec h1 /usr/bin/python3 "$here/stream.py" "$@"; }

works()
{
	network
	for destination in 192.0.2.2 2001:db8:1::2; do
		ok "two streams to $destination arrive whole" stream send xcp $destination 2 3
	done
	ok "with headers, in super-packets" test "$(count h1 out_super)" -gt 0
	ok "which h2 took out" test "$(count h2 in)" -gt 100
	ok "none was malformed" test "$(count h2 bad_version)$(count h2 bad_next)$(count h2 bad_length)" = 000
	ok "answers came back" test "$(cat /sys/module/xcp_drive/parameters/headers)" -gt 0
	teardown
}

# background COMMAND...: over and over until teardown
background()
{
	( while :; do "$@" >/dev/null 2>&1; sleep 0.01; done ) &
	jobs="$jobs $!"
}

turn_knobs()
{
	for value in 0 1; do
		ip netns exec h1 sysctl -qw net.hopcc.xcp_gso=$value
		ip netns exec h2 sysctl -qw net.hopcc.flow_limit=$((value * 1000))
		ip netns exec h1 sysctl -qw net.hopcc.xcp=$value net.hopcc.xcp_format=$((3 - 2 * value))
		cat /proc/net/hopcc_xcp
	done
}

churn() { ip netns add x; ip netns del x; }

unload_attempt() { rmmod net_xcp; }

# rough WHAT: everything at once, and in the midst of it WHAT happens
rough()
{
	network || return 1
	stream rough xcp 192.0.2.2 4 4 >"$tmp/r4" 2>&1 &
	r4=$!
	stream rough xcp 2001:db8:1::2 2 4 >"$tmp/r6" 2>&1 &
	r6=$!
	background turn_knobs
	background churn
	background unload_attempt
	sleep 2
	case $1 in
	netns) ip netns del h2 ;;
	device) ip -n h1 link del e1 ;;
	esac
	wait $r4
	status4=$?
	wait $r6
	status6=$?
	teardown
	cat "$tmp/r4" "$tmp/r6"
	[ "$status4$status6" = 00 ]
}

trap teardown EXIT
ok "modules load" load
works
ok "modules unload after use" until_true 30 unload
i=0
while [ $i -lt "$rounds" ]; do
	for what in nothing netns device; do
		[ $i -lt "$rounds" ] || break
		i=$((i + 1))
		load
		ok "round $i: $what, under traffic, changes and attempts to unload" rough $what
		ok "round $i: then the modules unload" until_true 30 unload
	done
done
exit $failed
