#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Data that a sender of hopcc sends with the header of another vendor's format, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec -- /usr/bin/python3 -B selftests/netns/int_source.py
