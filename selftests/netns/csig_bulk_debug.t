#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tags on volumes, and a flood of flows, under KASAN, lockdep and kmemleak: a little of each.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup --kernel debug >/dev/null || exit 1
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/csig_bulk.py 1048576 2000
