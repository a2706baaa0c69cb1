#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the carrier of XCP writes, reads and refuses, under KASAN, lockdep and kmemleak, in the lab's guest.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest debug selftests/netns/xcp_wire.py
