#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carriers beside NFQUEUE and connection tracking in tc, in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/carriers_beside.py
