#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carrier of XCP in bulk, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/xcp_volume.py
