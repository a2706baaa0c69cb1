#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Filters on the host that sends, which a header must not hide TCP from, in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/sender_filters.py
