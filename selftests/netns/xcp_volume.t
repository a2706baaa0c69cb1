#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carrier of XCP in bulk, in the lab's guest.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest release selftests/netns/xcp_volume.py
