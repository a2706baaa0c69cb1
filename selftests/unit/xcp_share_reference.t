#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The law of two queues against its formulas in double precision, 10^6 intervals.
# shellcheck source=selftests/unit/reference.sh
. "$(dirname "$0")/reference.sh"
reference sch_xcp "$@"
