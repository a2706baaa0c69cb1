#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What LDCP does to real flows: every claim of every LDCP scenario.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/ldcp-*.toml
exec tools/lab/lab run --tap --seeds 1 --out build/results/ldcp "$@"
