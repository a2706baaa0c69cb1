# SPDX-License-Identifier: GPL-2.0
# Traffic, changes of options and settings, attempts to unload, replaced qdiscs and vanishing devices,
# all at once. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # set by guest_hopcc.sh and by the system

# The commands that change all settings of a sender or receiver, for a shell in its namespace.
for host in h1 h2; do
	{
		echo 'cd /proc/sys/net/hopcc'
		for system in $systems; do
			"${system}_turn" $host
		done
	} >"$tmp/turn-$host"
done
echo 'cat /proc/net/hopcc_xcp /proc/net/hopcc_int' >>"$tmp/turn-h1"
echo 'for value in 0 1; do echo $((value * 1000)) >flow_limit; done' >>"$tmp/turn-h2"

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

# rough SYSTEM FIRST LAST PARENT: everything at once with the queue below PARENT; while it goes on,
# first the event FIRST happens, then LAST
rough()
{
	"$1"
	everything "$2" "$3" "$4" >"$tmp/rough" 2>&1
	status=$?
	teardown
	cat "$tmp/rough"
	return $status
}

everything()
{
	starts "$3" || return 1
	ip netns exec h1 $python "$here/stream.py" rough "$cc" "$h2_4,$h2_6" 3 4 >"$tmp/streams" 2>&1 &
	streams=$!
	changes_of rough
	background change_queue
	background read_all
	until_true 60 sent_something || {
		echo "less than 100 kB were sent in 60 s:"
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

# Run every second kind of round: the test of another kernel runs the kinds between.
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
		# shellcheck disable=SC2086 # four words, set by eval
		ok "round $i: the kernel survives $what, under traffic, changes and attempts to unload" rough $what
		ok "round $i: all modules unload after it" until_true 20 unload_all
	done
}
