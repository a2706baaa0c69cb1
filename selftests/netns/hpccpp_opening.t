#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HPCC++ until its first answer, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/hpccpp_opening.py
