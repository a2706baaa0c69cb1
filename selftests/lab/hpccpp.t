#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What HPCC++ does to real flows: every claim of every HPCC++ scenario.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/hpccpp-*.toml
exec tools/lab/lab run --tap --seeds 1 --out build/results/hpccpp "$@"
