#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the carrier of XCP writes, reads and refuses, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/xcp_wire.py
