#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Entries of the flow table and the modules, namespaces and connections that they belong to, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
tools/lab/lab setup >/dev/null || exit 1
exec tools/lab/lab exec /usr/bin/python3 -B selftests/netns/flow_life.py 1500
