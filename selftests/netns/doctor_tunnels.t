#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hopstat doctor on tunnels, and on filters of ingress, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/doctor_tunnels.py
