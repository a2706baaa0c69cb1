# SPDX-License-Identifier: GPL-2.0
# One system in use, and its queue while it changes. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # shared with the other parts

# works SYSTEM STATISTIC REGEX: streams arrive, the queue's statistic counts, ss shows the regex
works()
{
	"$1"
	shows=$3
	ok "$1: the network, its queue and a receiver start" starts tbf
	rm -f "$tmp/shown"
	{ until_true 120 both_shown; : >"$tmp/shown"; } &
	ss=$!
	ok "$1: two streams to the IPv4 and two to the IPv6 address arrive complete" \
		transfer "$h2_4,$h2_6" "$tmp/shown"
	wait $ss
	for destination in "$h2_4" "$h2_6"; do
		ok "$1: the streams to $destination do not stall" fast_enough "$destination"
		ok "$1: ss shows $3 for a connection to $destination" shown "$destination"
	done
	ok "$1: the queue's counter $2 is above 0" test "$(statistic "$2")" -gt 0
	[ "$1" != hpccpp ] || in_bpf
	changes_of gentle
	background change_queue
	ok "$1: two streams arrive complete while the queue's options change" transfer "$h2_4"
	ok "$1: no change of the queue's options drops a packet" test "$(statistic '(dropped')" -eq 0
	ok "$1: no packet is left in the queues" until_true 5 queues_empty
	teardown
}

# changes_of KIND: write the system's changes of this kind, gentle or rough, to a file for tc -batch,
# each several times
changes_of()
{
	for _ in 1 2 3 4; do
		"${system}_$1" | sed 's/^/qdisc change dev s1h2 handle 10: /'
	done >"$tmp/changes"
}

change_queue() { tc -n s1 -force -batch "$tmp/changes"; }

# The port also has csig below the system's queue meanwhile. The kernel's headers must bring what a
# module's BTF is made with.
in_bpf()
{
	[ -e /sys/kernel/btf/net_csig_tag ] || return 0
	ip netns exec h1 sysctl -qw net.hopcc.csig_cc=bpf_csig
	tc -n s1 qdisc add dev s1h2 parent 10:1 handle 20: csig rate "${mbit}mbit" interval 1ms limit 8m
	ok "bpftool registers the congestion control of tools/bpf" \
		bpftool struct_ops register "$build/bpf/bpf_csig.bpf.o"
	ok "in BPF, bpf_csig: signals are read, with the delay of a hop" bpf_works bpf_csig \
		'reads=[1-9][0-9]* held=[0-9]+ longest_delay_ns=[0-9]{6,} signals=[1-9][0-9]*'
	ok "in BPF: the verifier refuses a NULL pointer for a signal" bpf_refuses_null
	ok "bpftool unregisters it" bpftool struct_ops unregister name bpf_csig
	tc -n s1 qdisc del dev s1h2 root
	attach tbf
}

bpf_refuses_null()
{
	refused bpftool struct_ops register "$build/bpf/csig_null.bpf.o" >"$tmp/refusal" 2>&1 &&
		grep -q 'NULL pointer passed to trusted' "$tmp/refusal"
}

# bpf_works CC "NAME=REGEX ...": a stream with it is complete, and its counters are so
bpf_works()
{
	ip netns exec h1 $python "$here/stream.py" send "$1" $h2_4 1 2 || return 1
	bpftool -j map dump name "$1.bss" >"$tmp/counters" || return 1
	counters=$(grep -oE '"[a-z_]+":[0-9]+' "$tmp/counters" | tr -d '"' | tr ':' '=' | tr '\n' ' ')
	echo "$counters"
	for want in $2; do
		echo "$counters" | grep -qE "\b$want\b" || { echo "not $want"; return 1; }
	done
}
