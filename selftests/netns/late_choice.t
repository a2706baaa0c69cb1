#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A congestion control that is chosen when the connection is established, in the lab's guest.
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/late_choice.py
