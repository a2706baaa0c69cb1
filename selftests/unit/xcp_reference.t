#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP's router against the draft's pseudo-code in double precision, 10^7 packets.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference sch_xcp "$@"
