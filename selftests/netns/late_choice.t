#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A congestion control that is chosen when the connection is established, in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/late_choice.py
