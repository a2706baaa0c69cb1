#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Filters on the host that sends, which a header must not hide TCP from, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/sender_filters.py
