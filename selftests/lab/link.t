#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The lab's wire against the ideal, frame by frame, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/link.py
