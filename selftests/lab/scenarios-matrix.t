#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The scenarios that the gate leaves, and those with several seeds, of which it has the first, with all of them.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/lib/left.sh
. selftests/lib/left.sh
# shellcheck disable=SC2046 # names without blanks
set -- $({
	left_in tools/lab/scenarios
	grep -l '^seeds = \[.*,' tools/lab/scenarios/*.toml
} | sort -u)
exec tools/lab/lab run --tap --out build/results/long "$@"
