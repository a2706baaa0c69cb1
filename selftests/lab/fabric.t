#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Congestion controls over fabrics: every claim of every fabric scenario of the gate.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/fabric-*.toml
exec tools/lab/lab run --tap --out build/results/fabric "$@"
