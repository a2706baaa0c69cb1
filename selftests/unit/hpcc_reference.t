#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HPCC++'s law against the draft's pseudo-code in double precision, 10^6 sequences.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_hpccpp "$@"
