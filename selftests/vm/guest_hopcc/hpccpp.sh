# SPDX-License-Identifier: GPL-2.0
# HPCC++: a sender with hpccpp and the INT carrier over the qdisc int. Part of guest_hopcc.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # used by the other parts; set by guest_hopcc.sh

hpccpp()
{
	system=hpccpp cc=hpccpp modules="sch_int tcp_hpccpp net_int"
	queue="int rate ${mbit}mbit speed 100mbit limit 8m"
}

hpccpp_gentle()
{
	echo "int switch_id 7 overhead 24"
	echo "int switch_id 9 overhead 0"
}

hpccpp_rough()
{
	hpccpp_gentle
	echo "int sojourn share"
	echo "int nosojourn noshare"
	echo "int switch_id 4096"
}

hpccpp_turn()
{
	case $1 in
	h1) cat <<'END'
for value in 1 0; do
	echo $value >int_forward
	echo $((3 * value)) >tcp_hpccpp_answer
	echo $((100000 * value)) >tcp_hpccpp_t_ns
	echo $((6 + 10 * value)) >tcp_hpccpp_flows
done
END
	;;
	h2) echo 'for value in 1 0; do echo $value >int_reverse; echo $value >int_anonymous; done' ;;
	esac
}

# Two classes share a port, on two CPUs: change, replace and read their qdiscs while frames leave.
churn_int()
{
	start_floods int
	two_ints share
	until_true 30 both_stamp || return 1
	refused rmmod sch_int || return 1
	i=0
	while [ $i -lt 4 ]; do
		i=$((i + 1))
		two_ints "share port_id $((i % 3))"
		# int refuses 7gbit, for which its header has no code.
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
	end_floods $?
}

# start_floods KIND: a pair of devices, and a flood of frames with headers of KIND for each class
start_floods()
{
	ip link add name i0 type veth peer name i1
	ip link set i0 up && ip link set i1 up || return 1
	floods=
	for priority in 0 6; do	# prio puts one into each of its first two classes
		$python "$here/flood.py" "$1" i0 600 $priority &
		floods="$floods $!"
	done
}

# end_floods STATUS: end the floods, and return STATUS
end_floods()
{
	ip link del i0
	# shellcheck disable=SC2086 # numbers
	kill $floods
	return "$1"
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
