#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Telemetry's carrier beside conntrack, NAT, firewalls and DSCPs, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
# shellcheck source=selftests/lib/nft.sh
. "$(dirname "$0")/../lib/nft.sh"
drive_guest release selftests/netns/int_firewall.py int_drive
