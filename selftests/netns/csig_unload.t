#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Carriers go while GRO holds packets and while NICs are busy, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/csig_unload.py busy_nic
