#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is repaired when the stack's timer finds a burst lost, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/repairs.py
