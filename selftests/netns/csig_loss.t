#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A packet of the handshake is lost, in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/csig_loss.py
