#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hopstat doctor names each planted fault, and none of a healthy host, in the lab's guest.
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec --limit 600 /usr/bin/python3 -B selftests/netns/doctor.py
