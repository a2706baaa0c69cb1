#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a sceptic would try: our congestion controls, and CUBIC beside them, in every scenario. The
# rest of mainline's are in `make figures`.
cd "$(dirname "$0")/../.." || exit 2
set -- tools/lab/scenarios/sceptic-*.toml
exec tools/lab/lab run --tap --out build/results/sceptic --only all --only cubic \
	--only dctcp_ms --only ldcp --only xcp --only hpccpp --only csig --only csig_50us "$@"
