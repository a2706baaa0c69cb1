#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tags beside NAT, tunnels, small MTUs, and a module that goes; in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
make -s -C tools/csig-udp OUT="$PWD/build" || {
	echo "Bail out! csig-udp did not build"
	exit 1
}
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/csig_paths.py
