#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The recipes for iperf3, netperf and Flent, as howto/measure.md has them, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
netperf=$(tools/setup/netperf.sh --path 2>/dev/null) && command -v iperf3 >/dev/null && command -v flent >/dev/null || {
	echo "1..0 # SKIP no netperf, iperf3 or flent: run tools/setup/setup.sh matrix"
	exit 0
}
exec tools/lab/lab exec --limit 600 /usr/bin/python3 -B selftests/netns/measure.py "$netperf"
