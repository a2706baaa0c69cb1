#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# DCTCP's estimator and window law against exact fractions, 2^20 streams.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference tcp_dctcp_ms "$@"
