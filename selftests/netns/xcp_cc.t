#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP's sender by hand: what its headers ask for, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/xcp_cc.py
