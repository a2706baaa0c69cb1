#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What CSIG's tags cost of the CPU, in instructions a byte, in Linux 6.1. Not of the gate.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

ver=$(newest 6.1 /boot)
[ -n "$ver" ] || skip "no kernel 6.1 in /boot: run tools/setup/setup.sh check"
selftests/build/built_modules.sh 6.1 "/usr/src/linux-headers-$ver" ||
	fail "modules build for Linux $ver" build/linux-6.1.log
make -s -C tools/tc OUT="$PWD/build/linux-6.1/tc"
VM_ICOUNT=1 VM_LIMIT_S=1200 exec selftests/vm/run_vm.sh "/boot/vmlinuz-$ver" "/lib/modules/$ver" \
	"$PWD/selftests/vm/guest_csig_cost.sh" "$PWD/build/linux-6.1"
