#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A congestion control of each carrier while the network breaks, under KASAN, UBSAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/netns/xcp-lib.sh
. selftests/netns/xcp-lib.sh
build_module debug standstill
# shellcheck disable=SC2154 # set by build_module
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/chaos.py --faults 6 "$module" 2 xcp hpccpp csig
