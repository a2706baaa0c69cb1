#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules build for s390x, which is big endian, as Debian packages it, with W=1 and no
# warning, and sparse has nothing to say.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

cross_build s390 s390x-linux-gnu- s390x
tap_done
