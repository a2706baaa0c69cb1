#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The same scenarios, shortened, under KASAN, lockdep and kmemleak: nothing may
# be reported, and what a claim says of a debug run must hold.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab run --tap --kernel debug --out build/results/debug \
	smoke dctcp-1g dctcp-ipv6 dctcp-noecn ldcp-acks xcp-joins hpccpp-forms
