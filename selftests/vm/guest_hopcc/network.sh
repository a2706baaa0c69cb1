# SPDX-License-Identifier: GPL-2.0
# The network of three namespaces, its traffic and its statistics. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # cc, queue and mbit are set by guest_hopcc.sh and by the system
h2_4=192.0.2.129 h2_6=2001:db8:2::1
jobs=''

# A starved machine has timeouts. So XCP goes on after a loss: else ss would show Reno.
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
			net.hopcc.tcp_hpccpp_rate_mbit="$mbit" net.hopcc.tcp_xcp_loss=1 \
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

# address DEVICE IPV4 IPV6: print the commands for ip -batch
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

# attach PARENT: put the system's queue on the port from s1 to h2, below PARENT
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

# serve NAMESPACE: start a receiver
serve()
{
	ip netns exec "$1" $python "$here/stream.py" serve "$cc" >"$tmp/serve" 2>&1 &
	jobs="$jobs $!"
	until_true 120 grep -q listening "$tmp/serve" || {
		echo "the receiver did not start in 120 s:"
		cat "$tmp/serve"
		return 1
	}
}

# starts PARENT: the hosts, the system's queue below PARENT and a receiver
starts()
{
	network && attach "$1" && serve h2
}

# transfer ADDRESSES [FILE]: send streams and wait until they are complete
transfer()
{
	to=$1
	shift
	ip netns exec h1 $python "$here/stream.py" send "$cc" "$to" 2 3 "$@" >"$tmp/send" 2>&1
	status=$?
	cat "$tmp/send"
	return $status
}

# fast_enough ADDRESS: succeeds if the streams to it, half of all, had half of the least goodput
fast_enough()
{
	awk -F'"mbit": ' -v address="\"$1\"" -v least="$least_mbit" '
		index($0, address) { sum += $2 }
		END { print sum, "Mbit/s"; exit sum < least / 2 }' "$tmp/send"
}

# background COMMAND...: repeat a command until jobs_end
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

# statistic WORD: print the number after the word in the statistics of the system's queue
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

# shown ADDRESS: print the lines of ss for connections to an address that match $shows
shown()
{
	grep -F "$1" "$tmp/ss" | grep -E "$shows"
}

both_shown()
{
	ip netns exec h1 ss -OHtin >"$tmp/ss"
	shown $h2_4 && shown $h2_6
} >/dev/null
