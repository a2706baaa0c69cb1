#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tags on NICs that sum up only what they can parse, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/csig_nic.py csig_nic
