#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tags in front of ESP and AH, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/csig_ipsec.py
