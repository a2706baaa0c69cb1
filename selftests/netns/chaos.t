#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every congestion control and every carrier while the network around them breaks.
#
#   chaos.t [SEED [SYSTEM ...]]
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/chaos.py "$@"
