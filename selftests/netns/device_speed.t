#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Of which devices a rate bounds a sender's pace, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/device_speed.py speed_nic
