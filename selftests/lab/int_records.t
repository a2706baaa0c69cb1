#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What three hops write, to the nanosecond and the byte, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/int_records.py
