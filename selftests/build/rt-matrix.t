#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules build for this system's kernel with PREEMPT_RT, with W=1 and no warning, and sparse
# has nothing to say.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

command -v sparse >/dev/null || tap_skip "no sparse: run tools/setup/setup.sh check"
root=$(tools/setup/other-kernel.sh rt-amd64 --path 2>/dev/null) ||
	tap_skip "no headers of PREEMPT_RT here: run tools/setup/setup.sh matrix"
judge_build rt "$root/usr/src/linux-headers-$(cat "$root/version")"
judge_sparse
tap_done
