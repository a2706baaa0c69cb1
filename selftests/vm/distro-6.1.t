#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The modules in Debian 12's kernel, two CPUs, in QEMU.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

distro_test 6.1 0 ""
