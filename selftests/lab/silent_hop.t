#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A hop that does not report, behind one that does, costs no more losses than Reno's.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab run --tap --out build/results/silent-hop tools/lab/scenarios/silent-hop.toml
