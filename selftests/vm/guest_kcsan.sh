#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in the guest of kcsan-matrix.t: KCSAN set to look often, a module with a race on purpose,
# then guest_hopcc.sh.
#
#   guest_kcsan.sh MODULES_BUILD ROUNDS FIRST
set -u
here=$(cd "$(dirname "$0")" && pwd)
mount -t debugfs debugfs /sys/kernel/debug

# One memory access in about 10000 is watched, in interrupts as long as in tasks: packets are
# handled in softirqs. Here a packet takes its time: what is to be caught is the next one's access.
cd /sys/module/kcsan/parameters || exit 2
echo 20000 >skip_watch
echo 600 >udelay_task
echo 600 >udelay_interrupt

insmod "${1%/*}/racer/racer.ko" || exit 2
seconds=60
until dmesg | grep -q 'KCSAN: data-race.*\[racer\]' || [ $seconds -eq 0 ]; do
	seconds=$((seconds - 1))
	sleep 1
done
rmmod racer

# The guest is so slow that a port of 10 Mbit/s would never have a queue.
export PORT_MBIT=1 LEAST_MBIT=0.1
VM_MININET=no "$here/guest_hopcc.sh" "$@"
status=$?
dmesg | sed -n 's/.*\(kcsan: selftest:.*\)/# \1/p'
sed 's/^/# kcsan: /' /sys/kernel/debug/kcsan
exit $status
