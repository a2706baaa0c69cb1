#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every claim of the scenarios with several seeds, with all of them; the gate has the first one.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck disable=SC2046 # names without blanks
set -- $(grep -l '^seeds = \[.*,' tools/lab/scenarios/*.toml) "$@"
exec tools/lab/lab run --tap --out build/results/seeds "$@"
