#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The modules in Linux 6.12, two CPUs, in QEMU: Debian 13's own, or the one of
# Debian 12's backports, unpacked in the cache.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

if [ -n "$(newest 6.12 /boot)" ]; then
	distro_test 6.12 1 ""
fi
distro_test 6.12 1 "$(tools/setup/backport-kernel.sh --path 2>/dev/null)"
