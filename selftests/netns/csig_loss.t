#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A packet of the handshake is lost, in the lab's guest.
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/csig_loss.py
