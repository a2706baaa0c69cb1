#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP through IPsec, under KASAN, lockdep and kmemleak, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/netns/xcp_ipsec.py
