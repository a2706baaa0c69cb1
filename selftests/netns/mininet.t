#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Mininet with HPCC++, and an unmodified Mininet script, in the lab's guest by `lab mininet`. DCTCP is in
# lab/tutorial.t, all systems are in vm/mininet-matrix.t.
for program in mn ping iperf3; do
	command -v $program >/dev/null || {
		echo "1..0 # SKIP no $program: run tools/setup/setup.sh check"
		exit 0
	}
done
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab mininet --limit 600 selftests/netns/mininet.py hpccpp
