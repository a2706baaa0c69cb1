#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# sparse has nothing to say: types on the wire, address spaces, locks.
# shellcheck source=selftests/build/build-lib.sh
. "$(dirname "$0")/build-lib.sh"

command -v sparse >/dev/null || tap_skip "no sparse: run tools/setup/setup.sh check"
for series in 6.1 6.12; do
	[ -n "$(headers_of "$series")" ] || continue
	build_kernel "$series" "sparse-$series" C=2 'CF=-D__CHECK_ENDIAN__'
	no_complaints "build/sparse-$series.log"
	tap_result $? "sparse is content with Linux $series" "build/sparse-$series.log.bad"
done
tap_done
