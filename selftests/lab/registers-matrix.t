#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# registers.t on the lab's kernels from the other source that Debian 12 has, Linux 6.12.
cd "$(dirname "$0")/../.." || exit 2
case $(tools/setup/setup.sh series) in
*' '*) ;;
*)
	echo "ok 1 - this system has one kernel source, and registers.t tests it"
	echo 1..1
	exit 0
	;;
esac
source=$(tools/setup/backport-kernel.sh --source) || {
	echo "1..0 # SKIP no source of Linux 6.12: run tools/setup/setup.sh matrix"
	exit 0
}
HOPLAB_KERNEL_SOURCE=$source exec selftests/lab/registers.t
