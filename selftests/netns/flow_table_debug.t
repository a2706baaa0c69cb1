#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The flow table: dumps, caps, namespaces that end, under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup --kernel debug >/dev/null || exit 1
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/flow_table.py
