#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# GRO of segments with inband telemetry, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/gro.py int_drive
