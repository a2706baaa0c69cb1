#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The congestion control of tools/examples is built for the lab's kernel, and ranked.
cd "$(dirname "$0")/../.." || exit 2
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

echo 1..1
if tools/lab/lab judge --seeds 1 --only long --against reno --out "$out/results" tools/examples/aimd \
	>"$out/log" 2>&1 && grep -q aimd "$out/log"; then
	echo "ok 1 - lab judge takes tools/examples/aimd"
else
	echo "not ok 1 - lab judge takes tools/examples/aimd"
	sed 's/^/# /' "$out/log"
	exit 1
fi
