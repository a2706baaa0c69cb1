#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Classes of one port with HPCC++ in one of them, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec --timeout 600 -- /usr/bin/python3 -B selftests/netns/int_classes.py
