#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Ways in which a connection starts, with the real modules, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/entries.py
