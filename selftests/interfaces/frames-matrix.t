#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carriers of today send each form that frames.txt holds, and no other.
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh

mkdir -p build/interfaces
tools/lab/lab exec --timeout 300 -- /usr/bin/python3 -B selftests/interfaces/record_frames.py |
	sed '/^Warning/d' >build/interfaces/frames
cut -d ' ' -f 1 build/interfaces/frames | sort >build/interfaces/today
cut -d ' ' -f 1 selftests/interfaces/frames.txt | sort | diff - build/interfaces/today | sed 's/^/# /'
cut -d ' ' -f 1 selftests/interfaces/frames.txt | sort | cmp -s - build/interfaces/today
ok $? "$(wc -l <build/interfaces/today) forms, which are those of frames.txt"
echo "1..$count"
exit $failed
