#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What csig does to frames, one by one, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/tdc/csig_queue.py
