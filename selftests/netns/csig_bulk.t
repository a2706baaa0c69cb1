#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What tags cost, many bytes, and many flows, in the lab's guest: a little of each.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/csig_bulk.py "$@"
