#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A path with a smaller MTU costs no congestion control its window.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab run --tap --out build/results/path-mtu tools/lab/scenarios/path-mtu.toml
