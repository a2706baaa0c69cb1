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

# until_true SECONDS COMMAND...: wait for a condition
until_true()
{
	end=$(($(cut -d. -f1 /proc/uptime) + $1))
	shift
	until "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# A tree of our modules alone, where the kernel's loader looks first.
install_modules()
{
	ver=$(uname -r)
	tree=/run/hopcc/lib/modules/$ver
	mkdir -p "$tree/updates"
	find "$build" -name '*.ko' ! -name '*_test.ko' -exec cp -L {} "$tree/updates" \;
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

load_all()
{
	for name in $names; do
		modprobe -d /run/hopcc "$name" || return 1
	done
}

loaded() { grep -q "^$1 " /proc/modules; }

# Those that stand on others first.
unload_all()
{
	for name in $names $names $names; do
		! loaded "$name" || rmmod "$name" || :
	done
	for name in $names; do
		! loaded "$name" || return 1
	done
}

# The system under test: its congestion control and its queue, with room for what a
# starved machine makes of a round trip: what is dropped then, a change has dropped.
dctcp_ms() { cc=dctcp_ms modules="sch_wred tcp_dctcp_ms" least_mbit=20
	queue="wred limit 500k ect min 30k max 30k nect min 100k max 200k prob 0.1"; }
ldcp() { cc=ldcp modules="sch_wred tcp_ldcp" least_mbit=20
	queue="wred limit 500k ect min 30k max 90k nect min 300k max 300k"; }
xcp() { cc=xcp modules="sch_xcp tcp_xcp net_xcp" least_mbit=2
	queue="xcp rate 50mbit limit 8m"; }
hpccpp() { cc=hpccpp modules="sch_int tcp_hpccpp net_int" least_mbit=2
	queue="int rate 50mbit speed 100mbit limit 8m"; }

# attach PARENT: the egress from s1 to h2
attach()
{
	tc="tc -n s1 qdisc"
	# shellcheck disable=SC2086 # a queue's words
	case $1 in
	root) $tc replace dev s1h2 root handle 10: $queue; return ;;
	tbf) $tc replace dev s1h2 root handle 1: tbf rate 50mbit burst 32k limit 1m ;;
	netem) $tc replace dev s1h2 root handle 1: netem delay 1ms ;;
	htb)
		$tc replace dev s1h2 root handle 1: htb default 1
		tc -n s1 class replace dev s1h2 parent 1: classid 1:1 htb rate 50mbit burst 32k
		;;
	esac
	# shellcheck disable=SC2086
	$tc replace dev s1h2 parent 1:1 handle 10: $queue
}

# A starved machine has timeouts: XCP goes on after one, or ss would show it no more.
network()
{
	for ns in h1 s1 h2; do
		ip netns add $ns
		ip -n $ns link set lo up
		ip netns exec $ns sysctl -qw net.ipv4.tcp_ecn=1 net.ipv4.tcp_orphan_retries=1 \
			net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.forwarding=1 \
			net.ipv4.ip_forward=1 net.hopcc.dctcp_rtt_max_us=0 \
			net.hopcc.hpccpp_rate_mbit=50 net.hopcc.xcp_loss=1
	done
	ip link add h1s1 netns h1 type veth peer name s1h1 netns s1
	ip link add h2s1 netns h2 type veth peer name s1h2 netns s1
	address h1 h1s1 192.0.2.1/25 2001:db8:1::1/64
	address s1 s1h1 192.0.2.2/25 2001:db8:1::2/64
	address s1 s1h2 192.0.2.130/25 2001:db8:2::2/64
	address h2 h2s1 192.0.2.129/25 2001:db8:2::1/64
	ip -n h1 route add default via 192.0.2.2
	ip -n h2 route add default via 192.0.2.130
	ip -n h1 route add default via 2001:db8:1::2
	ip -n h2 route add default via 2001:db8:2::2
}

address()
{
	ip -n "$1" link set "$2" up
	ip -n "$1" addr add "$3" dev "$2"
	ip -n "$1" addr add "$4" dev "$2" nodad
}

serve()
{
	ip netns exec "$1" $python "$here/stream.py" serve "$cc" >"$tmp/serve" 2>&1 &
	jobs="$jobs $!"
	until_true 20 grep -q listening "$tmp/serve"
}

# background COMMAND...: over and over until jobs_end
background()
{
	( while :; do "$@" >/dev/null 2>&1; sleep 0.01; done ) &
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
		tc qdisc change dev i0 handle 11: parent 1:1 int noshare sojourn overhead $i
		tc qdisc change dev i0 handle 12: parent 1:2 int rate 7gbit # no code: refused
		tc -s qdisc show dev i0
		tc qdisc change dev i0 handle 11: parent 1:1 int share nosojourn
		[ $((i % 4)) -ne 0 ] || tc qdisc del dev i0 root
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
	tc qdisc replace dev i0 root handle 1: prio
	for class in 1 2; do
		# shellcheck disable=SC2086 # words
		tc qdisc replace dev i0 parent 1:$class handle 1$class: int rate 1gbit $1
	done
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
		tc qdisc change dev i0 handle 11: parent 1:1 csig mode strip notimer interval ${i}ms
		tc qdisc change dev i0 handle 12: parent 1:2 csig estimator ewma # with timer: refused
		tc -s qdisc show dev i0
		tc qdisc change dev i0 handle 11: parent 1:1 csig mode update estimator dre timer
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
	tc qdisc replace dev i0 root handle 1: prio
	for class in 1 2; do
		tc qdisc replace dev i0 parent 1:$class handle 1$class: csig rate 1gbit interval 20us \
			estimator raw timer mode update
	done
}

both_update() { [ "$(tc -s qdisc show dev i0 | grep -c 'updated: abw [1-9]')" -eq 2 ]; }

csig_hosts()
{
	/usr/bin/python3 -B "$here/csig_host.py" /run/hopcc/modprobe >"$tmp/csig" 2>&1
	status=$?
	grep -A 1 '^not ok' "$tmp/csig" || tail -n 3 "$tmp/csig"
	return $status
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
		ok "$1: those to $destination fill a good part of 50 Mbit/s" fast_enough $destination
		ok "$1: ss shows $3 to $destination" shown $destination
	done
	ok "$1: $2 counts" test "$(statistic "$2")" -gt 0
	background gentle_change
	ok "$1: two streams arrive whole while the queue changes" transfer "$h2_4"
	ok "$1: nothing was dropped there" test "$(statistic '(dropped')" -eq 0
	ok "$1: nothing is left in the queues" until_true 5 queues_empty
	teardown
}

# Changes that give no reason to drop.
gentle_change()
{
	case $cc in
	dctcp_ms | ldcp)
		tc -n s1 qdisc change dev s1h2 handle 10: wred limit 1m ect min 20k max 20k prob 1
		tc -n s1 qdisc change dev s1h2 handle 10: wred limit 500k ect min 40k max 80k prob 0.5
		;;
	xcp)
		tc -n s1 qdisc change dev s1h2 handle 10: xcp rate 48mbit alpha 0.3
		tc -n s1 qdisc change dev s1h2 handle 10: xcp rate 50mbit alpha 0.4
		;;
	hpccpp)
		tc -n s1 qdisc change dev s1h2 handle 10: int switch_id 7 overhead 24
		tc -n s1 qdisc change dev s1h2 handle 10: int switch_id 9 overhead 0
		;;
	esac
}

change_queue()
{
	if [ "$cc" = xcp ]; then
		gentle_change
		tc -n s1 qdisc change dev s1h2 handle 10: xcp alpha 9 # out of range: refused
		return
	fi
	if [ "$cc" = hpccpp ]; then
		gentle_change
		tc -n s1 qdisc change dev s1h2 handle 10: int sojourn share
		tc -n s1 qdisc change dev s1h2 handle 10: int nosojourn noshare
		tc -n s1 qdisc change dev s1h2 handle 10: int switch_id 4096 # out of range: refused
		return
	fi
	tc -n s1 qdisc change dev s1h2 handle 10: wred limit 20k ect min 5k max 15k prob 0.5
	tc -n s1 qdisc change dev s1h2 handle 10: wred limit 1m ect min 50k max 50k nect min 40k max 60k prob 1
	tc -n s1 qdisc change dev s1h2 handle 10: wred limit 10 # out of range: refused
}

read_all()
{
	tc -n s1 -s qdisc show
	ip netns exec h1 ss -tin
	for value in 0 1; do
		ip netns exec h1 sysctl -w net.hopcc.xcp_gso=$value net.hopcc.xcp_loss=$value
		ip netns exec h2 sysctl -w net.hopcc.flow_limit=$((value * 1000))
		ip netns exec h1 sysctl -w net.hopcc.xcp=$value net.hopcc.xcp_format=$((3 - 2 * value))
	done
	for value in 1 0; do
		ip netns exec h1 sysctl -w net.hopcc.int_forward=$value net.hopcc.hpccpp_answer=$((3 * value))
		ip netns exec h2 sysctl -w net.hopcc.int_reverse=$value net.hopcc.int_anonymous=$value
	done
	ip netns exec h1 cat /proc/net/hopcc_xcp /proc/net/hopcc_int
	for value in 2 1; do
		ip netns exec h2 sysctl -w net.hopcc.ldcp_ack_pkts=$value
		ip netns exec h1 sysctl -w net.hopcc.ldcp_per_rtt=$((value - 1)) \
			net.hopcc.ldcp_beta_ppm=$((250000 * value)) net.hopcc.ldcp_bdp_bytes=$((10000 * value))
	done
	ip netns exec h1 sysctl -w net.hopcc.dctcp_rtt_max_us=$(($(date +%N | sed 's/^0*//') % 20000))
}

unload_attempt()
{
	for name in $modules; do
		rmmod "$name"
	done
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
	ip netns exec h1 $python "$here/stream.py" rough "$cc" 192.0.2.129,2001:db8:2::1 3 6 >"$tmp/streams" 2>&1 &
	streams=$!
	background change_queue
	background read_all
	until_true 60 sent_something || return 1
	for name in $modules; do
		refused rmmod "$name" || return 1
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
ok "xcp: in VRFs" /usr/bin/python3 -B "$here/../netns/xcp_vrf.py"
ok "int: its options change while frames leave" churn_int
# Where the headers bring what module BTF is made with.
if [ -e /sys/kernel/btf/net_int ]; then
	ok "int: programs in BPF may call the kfuncs" $python "$here/int_kfunc.py"
	ok "csig: programs in BPF may call the kfunc" /usr/bin/python3 -B "$here/csig_kfunc.py"
fi
ok "csig: its options change while frames leave, its timer runs" churn_csig
ok "csig: hosts with tags, while all changes and the module goes" csig_hosts
ok "all modules unload after use" until_true 20 unload_all
all_at_once
exit $failed
