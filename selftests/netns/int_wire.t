#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the carrier of telemetry writes, reads and refuses, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/int_wire.py int_drive
