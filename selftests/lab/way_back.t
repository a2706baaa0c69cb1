#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Late ACKs, and a queue on the way back, cost hpccpp and csig no goodput; nor xcp, without reports.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab run --tap --out build/results/way-back tools/lab/scenarios/late-acks.toml \
	tools/lab/scenarios/late-timers.toml tools/lab/scenarios/way-back.toml
