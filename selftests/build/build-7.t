#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules build for Linux 7.x of Debian 13's backports, with that system's compiler, W=1
# and no warning. Without sparse: Debian's, 0.6.4, cannot read that kernel's headers.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

root=$(tools/setup/newest-kernel.sh --path 2>/dev/null) ||
	tap_skip "no Linux 7 here: run tools/setup/setup.sh matrix"
judge_build 7 "/usr/src/linux-headers-$(cat "$root/version")" tools/setup/newest-kernel.sh --run
tap_done
