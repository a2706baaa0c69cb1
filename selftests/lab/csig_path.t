#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Five hops, figure 5 of the draft, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/csig_path.py
