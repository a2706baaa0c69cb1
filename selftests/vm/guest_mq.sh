#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest: guest_mq.sh MODULES_BUILD [DEVICE], for mq.py
#                      guest_mq.sh MODULES_BUILD rates MQ_SEND DEVICE..., of mq_scaling.py
set -eu
build=$1
shift
export TC_LIB_DIR="$build/tc"
for module in hop_core sch_wred sch_int sch_csig sch_xcp; do
	insmod "$build/$module/$module.ko"
done
case " $* " in
*" eth0 "*)
	modprobe virtio_net
	echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6
	ip link set eth0 up
	;;
esac
program=mq.py
[ "${1:-}" != rates ] || { program=mq_rates.py; shift; }
exec /usr/bin/python3 -B "$(dirname "$0")/$program" "$@"
