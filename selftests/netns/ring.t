#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What csig, int and xcp know of a NIC whose ring holds packets, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/ring.py ring_nic
