#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The exact sequences of LDCP, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/ldcp_sequence.py
