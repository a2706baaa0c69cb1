#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# registers.t on the lab's kernels from the other source that Debian 12 has, Linux 6.12.
cd "$(dirname "$0")/../.." || exit 2
source=$(tools/setup/backport-kernel.sh --source) || {
	echo "1..0 # SKIP no source of Linux 6.12: run tools/setup/setup.sh matrix"
	exit 0
}
HOPLAB_KERNEL_SOURCE=$source exec selftests/lab/registers.t
