#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The scenarios that the gate leaves, and those with several seeds, of which it has the first, with all of them.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/lib/scenarios.sh
. selftests/lib/scenarios.sh
# shellcheck disable=SC2046 # names without blanks
set -- $({
	left_scenarios
	grep -l '^seeds = \[.*,' tools/lab/scenarios/*.toml
} | sort -u)
exec tools/lab/lab run --tap --out build/results/long "$@"
