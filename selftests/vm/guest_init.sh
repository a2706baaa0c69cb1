#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Process 1 of the test guest, on the host's root: settle, run the script, say
# its status on the second serial port, power off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
script='' modules='' cwd='' limit_s=''
# shellcheck source=/dev/null
. /hopcc-vm.conf

finish()
{
	echo "VM-EXIT $1" >/dev/ttyS1
	sync
	sleep 0.2
	busybox poweroff -f
}

mkdir -p /dev/pts /dev/shm "/lib/modules/${modules##*/}"
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
mount --bind "$modules" "/lib/modules/${modules##*/}"
ip link set lo up
# An emulated CPU on a busy host is late without being stuck.
echo 60 >/proc/sys/kernel/watchdog_thresh

# run_vm.sh writes a line for each second in which the emulator has run, or all of it slept: not one in which other
# processes had its CPU. The file is a clock for waits that must not depend on load.
stty -F /dev/ttyS0 -echo
echo 0 >/run/own_seconds
(
	seconds=0
	while [ $seconds -lt "$limit_s" ]; do
		read -r _ || exit
		seconds=$((seconds + 1))
		echo $seconds >/run/own_seconds
	done
	echo "WATCHDOG: the script ran for $limit_s s" >/dev/ttyS0
	echo w >/proc/sysrq-trigger
	ps axfww >/dev/ttyS0
	# Where the processes wait, without the kernel's own.
	for process in /proc/[0-9]*; do
		[ ! -s "$process/cmdline" ] || { echo "${process#/proc/}:"; cat "$process/stack"; } >/dev/ttyS0
	done
	finish 124
) </dev/ttyS0 &

cd "$cwd" || finish 2
echo VM-START >/dev/ttyS1
setsid "$script" "$@" </dev/null >/dev/ttyS1 2>&1
finish $?
