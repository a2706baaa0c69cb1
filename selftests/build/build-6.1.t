#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules build for Linux 6.1 as Debian packages it, with W=1 and no warning, and sparse
# has nothing to say.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

build_kernel 6.1
tap_done
