#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What tcp_csig makes of its socket, with CSIG and without, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec --limit 300 /usr/bin/python3 -B selftests/netns/csig_cc.py
