#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a connection, a port and a network namespace take of the kernel's memory, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/memory.py
