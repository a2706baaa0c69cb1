#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hopstat in a real terminal, its probes, and what it exports, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec --limit 600 /usr/bin/python3 -B selftests/netns/hopstat.py
