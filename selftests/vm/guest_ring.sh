#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest: guest_ring.sh MODULES_BUILD, for slow_cable.py
set -eu
build=$1
export TC_LIB_DIR="$build/tc"
for module in hop_core sch_csig; do
	insmod "$build/$module/$module.ko"
done
modprobe virtio_net
echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6
ip link set eth0 up
tc qdisc add dev eth0 root csig rate 1mbit quantum pd 8us
/usr/bin/python3 -I -S "$(dirname "$0")/ring_send.py"
tc -s qdisc show dev eth0 | sed 's/^/# /'
cat /sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit | sed 's/^/# BQL limit /'
