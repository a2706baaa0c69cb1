#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP where connections begin another way: SYN cookies, TCP Fast Open.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/xcp_entries.py
