#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Telemetry's carrier from end to end, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/int_carrier.py int_drive
