#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in the test guest: the modules as a user has them, then all that can go
# wrong at once. TAP without the plan, which the host adds.
#
#   guest-hopcc.sh MODULES_BUILD ROUNDS FIRST
#
#       h1 ------------------ s1 ------------------ h2
#         .1  192.0.2.0/25  .2  .130 192.0.2.128/25  .129
#         ::1 2001:db8:1::/64 ::2  ::2 2001:db8:2::/64 ::1
#                            h2 <- tbf + wred
set -u
build=$1 rounds=$2 first=$3
here=$(cd "$(dirname "$0")" && pwd)
# The lab's guest has its own places for both.
export TC_LIB_DIR="${TC_LIB_DIR:-$build/tc}"
kernel_modules=${HOPLAB_MODULES:-}/lib/modules
tmp=$(mktemp -d) n=0 failed=0
# Without site-packages: to start it takes seconds of an emulated CPU.
python="/usr/bin/python3 -I -S"
h2_4=192.0.2.129 h2_6=2001:db8:2::1
jobs=''
# The port's rate: a guest that is slower than that has no queue.
mbit=${PORT_MBIT:-50}
# What must arrive in all, so that nothing has stalled; how fast it is, the lab says.
least_mbit=${LEAST_MBIT:-2}

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

refused() { ! "$@"; }

# Programs are slow to start here, 50 ms each: what the shell can do, it does, and ip and
# tc take their commands from a file.
uptime_s()
{
	read -r up _ </proc/uptime
	up=${up%.*}
}

# until_true SECONDS COMMAND...: wait for a condition
until_true()
{
	uptime_s
	end=$((up + $1))
	shift
	until "$@"; do
		uptime_s
		[ "$up" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# A tree of our modules alone, where the kernel's loader looks first.
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

# Three storeys: those that stand on others first.
unload_all()
{
	# shellcheck disable=SC2086 # a list
	rmmod $names $names $names
	for name in $names; do
		! loaded "$name" || return 1
	done
}

# The system under test: its congestion control and its queue, with room for what a
# starved machine makes of a round trip: what is dropped then, a change has dropped.
dctcp_ms() { cc=dctcp_ms modules="sch_wred tcp_dctcp_ms"
	queue="wred limit 500k ect min 30k max 30k nect min 100k max 200k prob 0.1"; }
ldcp() { cc=ldcp modules="sch_wred tcp_ldcp"
	queue="wred limit 500k ect min 30k max 90k nect min 300k max 300k"; }
xcp() { cc=xcp modules="sch_xcp tcp_xcp net_xcp"
	queue="xcp rate ${mbit}mbit limit 8m"; }
hpccpp() { cc=hpccpp modules="sch_int tcp_hpccpp net_int"
	queue="int rate ${mbit}mbit speed 100mbit limit 8m"; }
csig() { cc=csig modules="sch_csig tcp_csig net_csig_tag"
	queue="csig rate ${mbit}mbit interval 1ms limit 8m"; }

# attach PARENT: the egress from s1 to h2
attach()
{
	tc="tc -n s1 qdisc"
	# shellcheck disable=SC2086 # a queue's words
	case $1 in
	root) $tc replace dev s1h2 root handle 10: $queue; return ;;
	tbf) $tc replace dev s1h2 root handle 1: tbf rate ${mbit}mbit burst 32k limit 1m ;;
	netem) $tc replace dev s1h2 root handle 1: netem delay 1ms ;;
	htb)
		$tc replace dev s1h2 root handle 1: htb default 1
		tc -n s1 class replace dev s1h2 parent 1: classid 1:1 htb rate ${mbit}mbit burst 32k
		;;
	esac
	# shellcheck disable=SC2086
	$tc replace dev s1h2 parent 1:1 handle 10: $queue
}

# A starved machine has timeouts: XCP goes on after one, or ss would show it no more.
network()
{
	ip -batch - <<-END
		netns add h1
		netns add s1
		netns add h2
		link add h1s1 netns h1 type veth peer name s1h1 netns s1
		link add h2s1 netns h2 type veth peer name s1h2 netns s1
	END
	for ns in h1 s1 h2; do
		ip netns exec $ns sysctl -qw net.ipv4.tcp_ecn=1 net.ipv4.tcp_orphan_retries=1 \
			net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.forwarding=1 \
			net.ipv4.ip_forward=1 net.hopcc.tcp_dctcp_ms_rtt_max_us=0 \
			net.hopcc.tcp_hpccpp_rate_mbit=$mbit net.hopcc.tcp_xcp_loss=1 \
			net.hopcc.csig=2 net.hopcc.csig_ports='*' net.hopcc.tcp_csig_target_ns=2000000
	done
	{
		address h1s1 192.0.2.1/25 2001:db8:1::1/64
		routes 192.0.2.2 2001:db8:1::2
	} | ip -n h1 -batch -
	{
		address s1h1 192.0.2.2/25 2001:db8:1::2/64
		address s1h2 192.0.2.130/25 2001:db8:2::2/64
	} | ip -n s1 -batch -
	{
		address h2s1 192.0.2.129/25 2001:db8:2::1/64
		routes 192.0.2.130 2001:db8:2::2
	} | ip -n h2 -batch -
}

# address DEVICE IPV4 IPV6: as ip -batch reads it
address()
{
	echo "link set lo up"
	echo "link set $1 up"
	echo "addr add $2 dev $1"
	echo "addr add $3 dev $1 nodad"
}

routes()
{
	echo "route add default via $1"
	echo "route add default via $2"
}

serve()
{
	ip netns exec "$1" $python "$here/stream.py" serve "$cc" >"$tmp/serve" 2>&1 &
	jobs="$jobs $!"
	until_true 20 grep -q listening "$tmp/serve" || {
		echo "the receiver did not start in 20 s:"
		cat "$tmp/serve"
		return 1
	}
}

# background COMMAND...: over and over until jobs_end
background()
{
	( while :; do "$@" >/dev/null 2>&1; sleep 0.05; done ) &
	jobs="$jobs $!"
}

jobs_end()
{
	# shellcheck disable=SC2086 # a list
	[ -z "$jobs" ] || kill -9 $jobs 2>/dev/null
	# shellcheck disable=SC2086
	wait $jobs 2>/dev/null
	jobs=
}

teardown()
{
	jobs_end
	for ns in h1 s1 h2; do
		[ ! -e /run/netns/$ns ] || ip netns del $ns
	done
}

# The number after WORD in the statistics of the queue.
statistic()
{
	tc -n s1 -s qdisc show dev s1h2 | awk -v word="$1" -v kind="${queue%% *}" '
		/^qdisc/ { ours = $2 == kind; next }
		ours { for (i = 1; i < NF; i++) if ($i == word) { print $(i + 1) + 0; exit } }'
}

queues_empty()
{
	tc -n s1 -s qdisc show dev s1h2 >"$tmp/queues"
	! grep backlog "$tmp/queues" | grep -vE 'backlog 0b (0p|peak)' || { cat "$tmp/queues"; return 1; }
}

# What ss says of connections to an address, a line each.
shown()
{
	grep -F "$1" "$tmp/ss" | grep -E "$shows"
}

both_shown()
{
	ip netns exec h1 ss -OHtin >"$tmp/ss"
	shown $h2_4 && shown $h2_6
} >/dev/null

# transfer ADDRESSES [FILE]: until it is there
transfer()
{
	to=$1
	shift
	ip netns exec h1 $python "$here/stream.py" send "$cc" "$to" 2 3 "$@" >"$tmp/send" 2>&1
	status=$?
	cat "$tmp/send"
	return $status
}

# fast_enough ADDRESS: its streams, half of all, have their part
fast_enough()
{
	awk -F'"mbit": ' -v address="\"$1\"" -v least="$least_mbit" '
		index($0, address) { sum += $2 }
		END { print sum, "Mbit/s"; exit sum < least / 2 }' "$tmp/send"
}

# Only the first netns takes a restricted cc for its default; elsewhere a 6.1
# kernel refuses and forgets to drop its reference to the module.
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

# Two classes that share a port, on two CPUs: changed, replaced, read while frames leave.
churn_int()
{
	ip link add name i0 type veth peer name i1
	ip link set i0 up && ip link set i1 up || return 1
	floods=
	for priority in 0 6; do	# of both classes
		$python "$here/flood.py" int i0 600 $priority &
		floods="$floods $!"
	done
	two_ints share
	until_true 30 both_stamp || return 1
	refused rmmod sch_int || return 1
	i=0
	while [ $i -lt 4 ]; do
		i=$((i + 1))
		two_ints "share port_id $((i % 3))"
		# 7gbit: no code has it, refused
		tc -force -batch - <<-END
			qdisc change dev i0 handle 11: parent 1:1 int noshare sojourn overhead $i
			qdisc change dev i0 handle 12: parent 1:2 int rate 7gbit
			-s qdisc show dev i0
			qdisc change dev i0 handle 11: parent 1:1 int share nosojourn
		END
		[ $i -ne 4 ] || tc qdisc del dev i0 root
	done
	two_ints share
	until_true 30 both_stamp
	status=$?
	ip link del i0
	# shellcheck disable=SC2086 # numbers
	kill $floods
	return $status
}

two_ints()
{
	tc -batch - <<-END
		qdisc replace dev i0 root handle 1: prio
		qdisc replace dev i0 parent 1:1 handle 11: int rate 1gbit $1
		qdisc replace dev i0 parent 1:2 handle 12: int rate 1gbit $1
	END
}

both_stamp() { [ "$(tc -s qdisc show dev i0 | grep -c 'stamped: data [1-9]')" -eq 2 ]; }

# The same of csig, whose timer runs meanwhile.
churn_csig()
{
	ip link add name i0 type veth peer name i1
	ip link set i0 up && ip link set i1 up || return 1
	floods=
	for priority in 0 6; do	# of both classes
		$python "$here/flood.py" csig i0 600 $priority &
		floods="$floods $!"
	done
	two_csigs
	until_true 30 both_update || return 1
	refused rmmod sch_csig || return 1
	i=0
	while [ $i -lt 8 ]; do
		i=$((i + 1))
		two_csigs
		# ewma with a timer: refused
		tc -force -batch - <<-END
			qdisc change dev i0 handle 11: parent 1:1 csig mode strip notimer interval ${i}ms
			qdisc change dev i0 handle 12: parent 1:2 csig estimator ewma
			-s qdisc show dev i0
			qdisc change dev i0 handle 11: parent 1:1 csig mode update estimator dre timer
		END
		[ $((i % 4)) -ne 0 ] || tc qdisc del dev i0 root
	done
	two_csigs
	until_true 30 both_update
	status=$?
	ip link del i0
	# shellcheck disable=SC2086 # numbers
	kill $floods
	return $status
}

two_csigs()
{
	csig="csig rate 1gbit interval 20us estimator raw timer mode update"
	tc -batch - <<-END
		qdisc replace dev i0 root handle 1: prio
		qdisc replace dev i0 parent 1:1 handle 11: $csig
		qdisc replace dev i0 parent 1:2 handle 12: $csig
	END
}

both_update() { [ "$(tc -s qdisc show dev i0 | grep -c 'updated: abw [1-9]')" -eq 2 ]; }

csig_hosts()
{
	/usr/bin/python3 -B "$here/csig_host.py" /run/hopcc/modprobe >"$tmp/csig" 2>&1
	status=$?
	grep -A 1 '^not ok' "$tmp/csig" || tail -n 3 "$tmp/csig"
	return $status
}

# Where the headers bring what module BTF is made with; the port also has CSIG meanwhile.
in_bpf()
{
	[ -e /sys/kernel/btf/net_int ] || return 0
	ip netns exec h1 sysctl -qw net.hopcc.int_cc=bpf_int net.hopcc.csig_cc=bpf_csig
	tc -n s1 qdisc add dev s1h2 parent 10:1 handle 20: csig rate ${mbit}mbit interval 1ms limit 8m
	ok "congestion controls in BPF hear the hop, by kfuncs of net_int and net_csig_tag" \
		ip netns exec h1 $python "$here/kfuncs.py" $h2_4
	ip netns exec h1 sysctl -qw net.hopcc.int_cc=hpccpp
	tc -n s1 qdisc del dev s1h2 root
	attach tbf
}

# works SYSTEM STATISTIC REGEX: transfers, that statistic counts, ss shows the regex
works()
{
	"$1"
	shows=$3
	network && attach tbf && serve h2
	rm -f "$tmp/shown"
	{ until_true 120 both_shown; : >"$tmp/shown"; } &
	ss=$!
	ok "$1: two streams to either address arrive whole" transfer "$h2_4,$h2_6" "$tmp/shown"
	wait $ss
	for destination in "$h2_4" "$h2_6"; do
		ok "$1: those to $destination do not stall" fast_enough $destination
		ok "$1: ss shows $3 to $destination" shown $destination
	done
	ok "$1: $2 counts" test "$(statistic "$2")" -gt 0
	[ "$1" != hpccpp ] || in_bpf
	changes_of gentle_words
	background change_queue
	ok "$1: two streams arrive whole while the queue changes" transfer "$h2_4"
	ok "$1: nothing was dropped there" test "$(statistic '(dropped')" -eq 0
	ok "$1: nothing is left in the queues" until_true 5 queues_empty
	teardown
}

# Changes that give no reason to drop, as words of tc.
gentle_words()
{
	case $cc in
	dctcp_ms | ldcp)
		echo "wred limit 1m ect min 20k max 20k prob 1"
		echo "wred limit 500k ect min 40k max 80k prob 0.5"
		;;
	xcp)
		echo "xcp rate $((mbit - 2))mbit alpha 0.3"
		echo "xcp rate ${mbit}mbit alpha 0.4"
		;;
	hpccpp)
		echo "int switch_id 7 overhead 24"
		echo "int switch_id 9 overhead 0"
		;;
	csig)
		echo "csig interval 10ms estimator ewma"
		echo "csig interval 1ms estimator raw"
		;;
	esac
}

# And others; the last of each is out of range: refused.
rough_words()
{
	case $cc in
	dctcp_ms | ldcp)
		echo "wred limit 20k ect min 5k max 15k prob 0.5"
		echo "wred limit 1m ect min 50k max 50k nect min 40k max 60k prob 1"
		echo "wred limit 10"
		;;
	xcp)
		gentle_words
		echo "xcp alpha 9"
		;;
	hpccpp)
		gentle_words
		echo "int sojourn share"
		echo "int nosojourn noshare"
		echo "int switch_id 4096"
		;;
	csig)
		gentle_words
		echo "csig mode strip"
		echo "csig mode update"
		echo "csig mode update lm all compact 200"
		;;
	esac
}

# changes_of WORDS_FUNCTION: a file for tc -batch, each change a few times
changes_of()
{
	for _ in 1 2 3 4; do
		"$1" | sed 's/^/qdisc change dev s1h2 handle 10: /'
	done >"$tmp/changes"
}

change_queue() { tc -n s1 -force -batch "$tmp/changes"; }

# The settings of a sender and a receiver, turned about; run in their namespaces.
cat >"$tmp/turn-h1" <<'END'
cd /proc/sys/net/hopcc
for value in 0 1; do
	echo $value >xcp_gso
	echo $value >tcp_xcp_loss
	echo $value >xcp
	echo $((3 - 2 * value)) >xcp_format
	echo $value >tcp_ldcp_per_rtt
	echo $((250000 + 250000 * value)) >tcp_ldcp_beta_ppm
	echo $((10000 + 10000 * value)) >tcp_ldcp_bdp_bytes
	echo $value >tcp_csig_move_rounds
	echo $value >tcp_csig_jump
	echo "1 $value" >tcp_csig_edges
done
for value in 1 0; do
	echo $value >int_forward
	echo $((3 * value)) >tcp_hpccpp_answer
done
read -r turn <tcp_dctcp_ms_rtt_max_us
echo $(((turn + 7001) % 20000)) >tcp_dctcp_ms_rtt_max_us
cat /proc/net/hopcc_xcp /proc/net/hopcc_int
END
cat >"$tmp/turn-h2" <<'END'
cd /proc/sys/net/hopcc
for value in 0 1; do
	echo $((value * 1000)) >flow_limit
	echo $((1 - value)) >int_reverse
	echo $((1 - value)) >int_anonymous
	echo $((2 - value)) >tcp_ldcp_ack_pkts
	echo $((1 + value)) >csig
done
END

read_all()
{
	tc -n s1 -s qdisc show
	ip netns exec h1 ss -tin
	ip netns exec h1 sh "$tmp/turn-h1"
	ip netns exec h2 sh "$tmp/turn-h2"
}

unload_attempt()
{
	# shellcheck disable=SC2086 # a list
	rmmod $modules
}

# rough SYSTEM FIRST LAST PARENT: everything at once, and in the midst of it FIRST happens,
# then LAST
rough()
{
	"$1"
	all_of_it "$2" "$3" "$4" >"$tmp/rough" 2>&1
	status=$?
	teardown
	cat "$tmp/rough"
	return $status
}

all_of_it()
{
	network && attach "$3" && serve h2 || return 1
	ip netns exec h1 $python "$here/stream.py" rough "$cc" 192.0.2.129,2001:db8:2::1 3 4 >"$tmp/streams" 2>&1 &
	streams=$!
	changes_of rough_words
	background change_queue
	background read_all
	until_true 60 sent_something || {
		echo "next to nothing was sent in 60 s:"
		tc -n s1 -s qdisc show dev s1h2
		cat "$tmp/streams"
		return 1
	}
	for name in $modules; do
		refused rmmod "$name" || { echo "$name was unloaded in use"; return 1; }
	done
	background unload_attempt
	sleep 1
	case $1 in
	replace) for parent in root htb tbf netem root "$3"; do attach $parent; sleep 0.2; done ;;
	down) ip -n s1 link set s1h2 down; sleep 0.3; ip -n s1 link set s1h2 up; sleep 0.5 ;;
	esac
	case $2 in
	device) ip -n s1 link del s1h2 ;;
	netns) ip netns del s1 ;;
	peer) ip -n h2 link del h2s1; sleep 0.2; ip netns del h2; ip netns del s1 ;;
	esac
	wait $streams
	status=$?
	cat "$tmp/streams"
	return $status
}

sent_something() { [ "$(statistic Sent)" -gt 100000 ]; }

# Every second kind: the other kernel runs those between.
all_at_once()
{
	i=0 kind=$first
	set -- "dctcp_ms replace device tbf" "dctcp_ms down netns htb" \
		"xcp down netns htb" "xcp replace device tbf" \
		"hpccpp replace peer root" "hpccpp down device netem" \
		"ldcp down peer htb" "ldcp replace netns tbf" \
		"csig replace netns tbf" "csig down peer root" \
		"dctcp_ms down peer root" "xcp replace peer netem" "hpccpp down netns htb"
	kinds=$#
	while [ $i -lt "$rounds" ]; do
		eval "what=\${$((kind % kinds + 1))}"
		kind=$((kind + 2))
		i=$((i + 1))
		load_all
		# shellcheck disable=SC2086,SC2154 # four words, set by eval
		ok "round $i: $what, under traffic, changes and attempts to unload" rough $what
		ok "round $i: then all modules unload" until_true 20 unload_all
	done
}

ftp()
{
	modprobe nf_nat_ftp && /usr/bin/python3 -B "$here/../netns/ftp.py"
}

trap teardown EXIT
install_modules
ok "all modules load" load_all
ok "all modules unload" unload_all
ok "tc and sysctl load what they name" loads_by_name
load_all
works dctcp_ms marked 'dctcp.*alpha:'
works ldcp marked ' ldcp .*bbr:'
works xcp micro ' xcp .*bbr:'
works hpccpp probe ' hpccpp .*bbr:'
works csig compact ' csig .*bbr:'
ok "xcp: in VRFs" /usr/bin/python3 -B "$here/../netns/xcp_vrf.py"
ok "xcp, hpccpp, csig: equal connections in two VRFs" /usr/bin/python3 -B "$here/../netns/vrf_twins.py"
ok "xcp, hpccpp, csig: packets that leave through another namespace than their socket's" \
	/usr/bin/python3 -B "$here/../netns/foreign_socket.py"
ok "flow entries are charged to the memory control group of the process that connects" \
	/usr/bin/python3 -B "$here/flow_memory.py"
ok "xcp, hpccpp: FTP in its active mode, beside conntrack's helper" ftp
ok "int: its options change while frames leave" churn_int
ok "csig: its options change while frames leave, its timer runs" churn_csig
ok "int, csig, xcp, wred: transmit queues below mq are one port" /usr/bin/python3 -B "$here/mq.py"
ok "csig: hosts with tags, while all changes and the module goes" csig_hosts
ok "all modules unload after use" until_true 20 unload_all
all_at_once
exit $failed
