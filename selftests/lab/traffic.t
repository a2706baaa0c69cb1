#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The traffic generator and the sampler, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/lab/traffic.py
