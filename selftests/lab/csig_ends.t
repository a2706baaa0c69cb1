#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Figure 5 of the CSIG draft as a TCP sender's own flow state has it, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/csig_ends.py
