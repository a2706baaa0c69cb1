#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The same with XDP, which the debug kernel has, under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
tools/lab/lab setup --kernel debug >/dev/null || exit 1
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/unsolicited.py
