#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP's carrier in Debian 12's kernel, two CPUs, in QEMU.
# shellcheck source=selftests/vm/vm-lib.sh
. "$(dirname "$0")/vm-lib.sh"

VM_ROUNDS=${VM_ROUNDS:-6}
distro_test 6.1 "" guest-xcp
