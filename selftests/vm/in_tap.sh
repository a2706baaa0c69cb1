#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a network namespace of its own: in_tap.sh COMMAND..., with a tap device of several queues
set -e
ip tuntap add dev tap0 mode tap multi_queue
echo 1 >/proc/sys/net/ipv6/conf/tap0/disable_ipv6
ip link set tap0 up
exec "$@"
