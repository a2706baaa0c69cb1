#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The modules in this system's kernel with PREEMPT_RT, two CPUs, in QEMU: locks that sleep, and
# softirqs and timers that are threads.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

root=$(tools/setup/other-kernel.sh rt-amd64 --path 2>/dev/null) ||
	skip "no kernel with PREEMPT_RT here: run tools/setup/setup.sh matrix"
ver=$(cat "$root/version")
grep -qx CONFIG_PREEMPT_RT=y "$root/boot/config-$ver" || {
	echo "not ok 1 - Linux $ver is built with PREEMPT_RT"
	echo "1..1"
	exit 1
}
selftests/build/built_modules.sh rt "$root/usr/src/linux-headers-$ver" ||
	fail "modules build for Linux $ver" build/linux-rt.log
boot_test rt "$ver" 0 "$root"
