#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every congestion control and carrier on a machine that stands still while its clocks go on.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/standstill.py standstill
