#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The modules in Linux 7.x of Debian 13's backports, two CPUs, in QEMU.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

debian=$(tools/setup/newest-kernel.sh --path 2>/dev/null) ||
	skip "no Linux 7 here: run tools/setup/setup.sh matrix"
ver=$(cat "$debian/version")
selftests/build/built_modules.sh 7 "/usr/src/linux-headers-$ver" tools/setup/newest-kernel.sh --run ||
	fail "modules build for Linux $ver" build/linux-7.log
boot_test 7 "$ver" 1 "$debian/kernel"
