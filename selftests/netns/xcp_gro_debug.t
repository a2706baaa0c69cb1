#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# GRO of segments with XCP's header, in the lab's guest with KASAN, UBSAN, lockdep and kmemleak.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest debug selftests/netns/gro.py xcp_drive
