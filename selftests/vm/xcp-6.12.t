#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP's carrier in Linux 6.12, two CPUs, in QEMU.
# shellcheck source=selftests/vm/vm-lib.sh
. "$(dirname "$0")/vm-lib.sh"

VM_ROUNDS=${VM_ROUNDS:-6}
if [ -n "$(newest 6.12 /boot)" ]; then
	distro_test 6.12 "" guest-xcp
fi
distro_test 6.12 "$(tools/setup/backport-kernel.sh --path 2>/dev/null)" guest-xcp
