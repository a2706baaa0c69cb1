#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What DCTCP does to real flows: every claim of every DCTCP scenario.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/dctcp-*.toml
exec tools/lab/lab run --tap --seeds 1 --out build/results/dctcp "$@"
