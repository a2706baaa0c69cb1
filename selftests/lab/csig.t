#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What CSIG does to real flows: every claim of every CSIG scenario.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/csig-*.toml
exec tools/lab/lab run --tap --seeds 1 --out build/results/csig "$@"
