#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The daemon that updates tags by tc's own rules, in the lab's guest.
cd "$(dirname "$0")/../.." || exit 2
exec tools/lab/lab exec python3 selftests/netns/csigd.py
