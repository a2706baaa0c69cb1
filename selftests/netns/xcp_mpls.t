#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP through a label switch router with sch_xcp, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/xcp_mpls.py
