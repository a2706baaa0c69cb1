#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hopstat in a real terminal, its probes, and what it and hopcc-exporter export, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
promtool=$(tools/setup/promtool.sh --path 2>/dev/null) || {
	echo "1..0 # SKIP no promtool: run tools/setup/setup.sh check"
	exit 0
}
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec --limit 600 /usr/bin/python3 -B selftests/netns/hopstat.py "$promtool"
