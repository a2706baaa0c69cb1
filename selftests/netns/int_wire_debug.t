#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the carrier of telemetry writes, reads and refuses, under KASAN, lockdep and kmemleak.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest debug selftests/netns/int_wire.py int_drive
