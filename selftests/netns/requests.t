#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Responses whose receiver delays its ACKs, with each congestion control, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/requests.py
