#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What LDCP does to real flows: every claim of the LDCP scenarios that the gate runs.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/lib/left.sh
. selftests/lib/left.sh
# shellcheck disable=SC2046 # names without blanks
set -- $(gate_scenarios ldcp-)
exec tools/lab/lab run --tap --seeds 1 --out build/results/ldcp "$@"
