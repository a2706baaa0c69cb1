#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Packets with forged headers at a port of sch_xcp, before flows start and while they last.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec -- /usr/bin/python3 -B selftests/netns/xcp_forged.py
