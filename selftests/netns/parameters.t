#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Modules loaded with other protocol numbers, TPIDs and ExIDs, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/parameters.py
