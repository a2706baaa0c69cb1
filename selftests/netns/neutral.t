#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a router tells connections apart by, for the forms of each carrier, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/neutral.py
