#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# GSO packets with our headers from a tap that says that their checksum starts anywhere, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/tap_offload.py
