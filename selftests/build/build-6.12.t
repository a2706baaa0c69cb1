#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules build for Linux 6.12 as Debian packages it, with W=1 and no warning.
# shellcheck source=selftests/build/build-lib.sh
. "$(dirname "$0")/build-lib.sh"

build_kernel 6.12 build-6.12 W=1
no_complaints build/build-6.12.log
tap_result $? "no warning with W=1" build/build-6.12.log.bad
tap_done
