#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Telemetry's carrier beside conntrack, NAT, firewalls and DSCPs, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
drive_guest release selftests/netns/int_firewall.py int_drive
