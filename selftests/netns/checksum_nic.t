#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carriers on NICs that sum up what comes in, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/checksum_nic.py checksum_nic
