#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The same scenarios, shortened, under KASAN, lockdep and kmemleak: nothing may
# be reported, and what a claim says of a debug run must hold.
cd "$(dirname "$0")/../.." || exit 2
# Not mainline's cubic on the same port. Of forms of telemetry each way forth and back once:
# `inband` and `ack` meet in inband_ack.
exec tools/lab/lab run --tap --kernel debug --out build/results/debug \
	--only all --only dctcp_ms --only probe --only inband_ack --only ratio --only receiver \
	--only each --only second --only hosts \
	smoke dctcp-1g dctcp-ipv6 dctcp-noecn ldcp-acks xcp-joins hpccpp-forms csig-together
