#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# /init of the test guest's initramfs: mount the host's root below a tmpfs and
# go there.
# shellcheck shell=dash
/bin/busybox mkdir -p /dev /proc /host /rw /new
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
PATH=/bin
for module in /modules/*.ko; do
	busybox insmod "$module"
done
busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose root /host
busybox mount -t tmpfs -o mode=755 rw /rw
busybox mkdir /rw/upper /rw/work
busybox mount -t overlay -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work root /new

here=''
# shellcheck source=/dev/null
. /conf
busybox cp /conf /new/hopcc-vm.conf
for dir in dev proc sys run; do
	busybox mkdir -p "/new/$dir"
done
busybox mount -t proc proc /new/proc
busybox mount -t sysfs sys /new/sys
busybox mount -t devtmpfs dev /new/dev
busybox mount -t tmpfs -o mode=755 run /new/run
# shellcheck disable=SC2093 # what follows is for its failure
exec busybox switch_root /new /bin/sh "$here/guest_init.sh" </dev/ttyS0 >/dev/ttyS0 2>&1
echo "no root" >/dev/ttyS0
busybox poweroff -f
