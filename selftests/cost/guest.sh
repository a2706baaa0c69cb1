#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# /init of the guest of cost.py: load modules, build the path, run the cases, print a line each.
#
#    a ---- 192.0.2.0/24 ---- r [r-b: the case's qdisc] ---- 198.51.100.0/24 ---- b
#
# shellcheck shell=dash
/bin/busybox mkdir -p /proc /sys /dev /run/netns /tmp
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mkdir -p /run/netns
export PATH=/programs:/bin TC_LIB_DIR=/tc
exec </dev/null >/dev/ttyS1 2>&1

# Busybox has programs of these names, and its shell takes those first.
ip() { /programs/ip "$@"; }
tc() { /programs/tc "$@"; }

finish()
{
	echo "EXIT $1"
	sleep 0.2
	poweroff -f
}

trouble() { echo "TROUBLE $*"; }

# load LIST: modules in the order of a file
load()
{
	while read -r module; do
		insmod "/modules/$module.ko" || trouble insmod "$module"
	done <"/modules/$1"
}

netns() # NAME
{
	ip netns add "$1"
	ip -n "$1" link set lo up
	ip netns exec "$1" sh -c '
		echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save
		echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
}

path()
{
	for name in a r b; do
		netns $name
	done
	ip link add a-r netns a type veth peer name r-a netns r
	ip link add b-r netns b type veth peer name r-b netns r
	ip -n a addr add 192.0.2.1/24 dev a-r
	ip -n r addr add 192.0.2.2/24 dev r-a
	ip -n r addr add 198.51.100.2/24 dev r-b
	ip -n b addr add 198.51.100.1/24 dev b-r
	ip -n a link set a-r up
	ip -n r link set r-a up
	ip -n r link set r-b up
	ip -n b link set b-r up
	ip -n a route add default via 192.0.2.2
	ip -n b route add default via 198.51.100.2
	for end in "a a-r" "r r-a" "r r-b" "b b-r"; do
		# shellcheck disable=SC2086 # a namespace and a device
		cost_offload $end gro on
	done
}

# knob NAMESPACE NAME VALUE, of /proc/sys/net
knob()
{
	ip netns exec "$1" sh -c "echo '$3' >/proc/sys/net/$2"
}

# The case's qdisc alone, or below what limits the rate.
port()
{
	tc -n r qdisc del dev r-b root 2>/dev/null
	tc -n r qdisc del dev r-a root 2>/dev/null
	case $path_kind in
	bottleneck)
		tc -n r qdisc add dev r-a root netem delay 4ms limit 100000
		tc -n r qdisc add dev r-b root handle 8: tbf rate 500mbit burst 64k limit 2mb
		[ $# -eq 0 ] || tc -n r qdisc add dev r-b parent 8: handle 9: "$@" || trouble "$@"
		;;
	*) [ $# -eq 0 ] || tc -n r qdisc add dev r-b root handle 9: "$@" || trouble "$@" ;;
	esac
}

# measure NAME CC LISTENER_CC: a line of what the stream cost
measure()
{
	case ${only:-"$path_kind/$1"}, in
	*"$path_kind/$1",*) ;;
	*) return ;;
	esac
	echo "STREAM path=$path_kind case=$1 $(cost_stream "$2" "$3" "$warm_bytes" "$bytes" 2>&1)"
}

# run NAME CC [QDISC...]: a case whose listener has cubic
run()
{
	name=$1 cc=$2
	shift 2
	port "$@"
	measure "$name" "$cc" cubic
}

# Congestion controls that need ECN, and their own acknowledgements.
run_ecn() # NAME CC QDISC...
{
	name=$1 cc=$2
	shift 2
	port "$@"
	knob a ipv4/tcp_ecn 1
	knob b ipv4/tcp_ecn 1
	measure "$name" "$cc" "$cc"
	knob a ipv4/tcp_ecn 2
	knob b ipv4/tcp_ecn 2
}

csig() # SENDER RECEIVER: net.hopcc.csig
{
	knob a hopcc/csig "$1"
	knob b hopcc/csig "$2"
}

# $speed: for a rate that telemetry has no code for
# shellcheck disable=SC2086
streams() # RATE
{
	run cubic cubic
	run_ecn dctcp_ms dctcp_ms wred limit 2mb ect min "$mark_bytes" max "$mark_bytes" prob 1
	run_ecn ldcp ldcp wred limit 2mb ect min "$mark_bytes" max "$mark_bytes" prob 1
	knob b hopcc/tcp_ldcp_ack_pkts 2
	run_ecn ldcp-delayed ldcp wred limit 2mb ect min "$mark_bytes" max "$mark_bytes" prob 1
	knob b hopcc/tcp_ldcp_ack_pkts 1
	run xcp xcp xcp rate "$1"
	run hpccpp-probe hpccpp int rate "$1" $speed switch_id 5
	knob a hopcc/int_forward 1
	run hpccpp-inband hpccpp int rate "$1" $speed switch_id 5
	knob a hopcc/int_forward 0
	csig 2 1
	run csig csig csig rate "$1"
	knob a hopcc/csig_cc "cubic csig"
	run cubic-tags cubic csig rate "$1"
	knob a hopcc/csig_cc csig
	csig 0 0
}

# The cost of a packet where no offload hides it: all three hosts see each alone. The send buffer
# is bounded, or cubic's window would be 848 or 1470 packets as chance has it, 2 % of the cost.
segmented() # SUFFIX
{
	knob a ipv4/tcp_wmem '4096 600000 600000'
	ip -n a link set a-r gso_max_segs 1
	cost_offload r r-a gro off
	cost_offload b b-r gro off
	run "cubic-no-offloads-$1" cubic
	cost_offload b b-r gro on
	cost_offload r r-a gro on
	ip -n a link set a-r gso_max_segs 65535
	knob a ipv4/tcp_wmem '4096 16384 4194304'
}

cpu_bound()
{
	path_kind=veth warm_bytes=8388608 bytes=16777216 mark_bytes=200k speed=''
	streams 100gbit
	# veth says 10 Gbit/s. With a window for that, a burst is a packet or two.
	knob a hopcc/tcp_hpccpp_rate_mbit 100000
	run hpccpp-probe-100g hpccpp int rate 100gbit switch_id 5
	knob a hopcc/int_forward 1
	run hpccpp-inband-100g hpccpp int rate 100gbit switch_id 5
	knob a hopcc/int_forward 0
	knob a hopcc/tcp_hpccpp_rate_mbit 0
	run bbr bbr
	run_ecn dctcp dctcp wred limit 2mb ect min $mark_bytes max $mark_bytes prob 1
}

# As over veth, but r-b segments in software: b's GRO decides how many packets its IP and TCP see.
segmented_path()
{
	path_kind=segmented warm_bytes=8388608 bytes=16777216 mark_bytes=200k speed=''
	cost_offload r r-b tso off
	streams 100gbit
	cost_offload r r-b tso on
}

bottleneck()
{
	path_kind=bottleneck warm_bytes=16777216 bytes=33554432 mark_bytes=100k speed='speed 1gbit'
	streams 500mbit
}

# one CASE FRAME QDISC...: a packet through a qdisc on a device that drops what it gets
one()
{
	name=$1 frame=$2
	case ",${only:-qdiscs}," in
	*,qdiscs,* | *",qdiscs/$name/$frame,"*) ;;
	*) return ;;
	esac
	shift 2
	tc qdisc replace dev dummy0 root "$@" || trouble tc "$@"
	while read -r file offset protocol gso_size; do
		[ "$file" = "$frame" ] || continue
		cat "/frames/$frame" >/proc/qdisc_cost_frame
		echo "dummy0 $depth $offset $protocol $gso_size" >/proc/qdisc_cost
		echo "QDISC case=$name frame=$frame $(cat /proc/qdisc_cost)"
	done </frames/index
	tc -s qdisc show dev dummy0 | sed 's/^/# /'
	tc qdisc del dev dummy0 root
}

qdiscs()
{
	depth=50
	ip link add dummy0 type dummy 2>/dev/null
	echo 1 >/proc/sys/net/ipv6/conf/dummy0/disable_ipv6
	ip link set dummy0 mtu 9000 txqueuelen 1000 up
	for frame in tcp tcp-gso; do
		one red "$frame" handle 9: red limit 4000000 min 400000 max 1200000 avpkt 1000 burst 500 \
			probability 0.02 bandwidth 10gbit ecn
		one wred "$frame" handle 9: wred limit 10m ect min 9m max 9m prob 1
		one xcp "$frame" handle 9: xcp rate 10gbit limit 10m
		one int "$frame" handle 9: int rate 10gbit switch_id 7 limit 10m
		one csig "$frame" handle 9: csig rate 10gbit limit 10m
	done
	for frame in xcp xcp-asks-little; do
		one xcp "$frame" handle 9: xcp rate 10gbit limit 10m
	done
	for frame in int-inband int-probe; do
		one int "$frame" handle 9: int rate 10gbit switch_id 7 limit 10m
	done
	for frame in csig-compact csig-compact-kept csig-expanded csig-expanded-delay; do
		one csig "$frame" handle 9: csig rate 10gbit limit 10m
	done
}

# each_port LINE: the line once a port; its number instead of %
each_port()
{
	port=0
	while [ $port -lt $ports ]; do
		echo "${1%%%*}$port${1#*%}"
		port=$((port + 1))
	done
}

# busy_ports NAME QDISC...: what ports cost that have a packet in every millisecond
busy_ports()
{
	name=$1
	shift
	each_port "qdisc add dev port% root $*" | tc -n a -batch - || trouble tc "$@"
	echo "PORTS case=$name ports=$ports $(cost_ports $ports 1000 100 2>&1)"
	each_port "qdisc del dev port% root" | tc -n a -batch -
}

# A hundred ports with the shortest periods that a container may set; NAME-rare, with the longest, tells the packets'
# own cost.
all_busy_ports()
{
	case ",${only:-ports}," in
	*,ports,*) ;;
	*) return ;;
	esac
	ports=100
	each_port "link add port% up type dummy" | ip -n a -batch - || trouble ip
	busy_ports xcp-rare xcp rate 10gbit min_interval 1s max_interval 1s allowed_queue 1s
	busy_ports xcp xcp rate 10gbit min_interval 1ms max_interval 1ms allowed_queue 1ms
}

# Addresses of the kernel's functions and the modules', for a profile.
symbols()
{
	echo SYMBOLS
	grep -i ' [tw] ' /proc/kallsyms | gzip -c | base64
	echo END
}

# Words of the kernel's command line: PATH/CASE, qdiscs, qdiscs/CASE/FRAME, ports, by commas; or nothing for all.
only=$(sed -n 's/.*cost\.only=\([^ ]*\).*/\1/p' /proc/cmdline)
load kernel
path
echo "INFO $(uname -r) clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
path_kind=unused warm_bytes=8388608 bytes=16777216
run cubic cubic
segmented before
load hopcc
run cubic-loaded cubic
segmented loaded
for name in a r b; do
	knob $name hopcc/csig_ports '*'
done
qdiscs
all_busy_ports
cpu_bound
segmented_path
bottleneck
! grep -q cost.profile /proc/cmdline || symbols
finish 0
