#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What XCP does to real flows: every claim of every XCP scenario.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/xcp-*.toml
exec tools/lab/lab run --tap --seeds 1 --out build/results/xcp "$@"
