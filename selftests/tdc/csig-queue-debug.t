#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# csig-queue.t under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec --kernel debug -- python3 selftests/tdc/csig-queue.py
