#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How near a port's signals are to what it carries, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/csig_accuracy.py
