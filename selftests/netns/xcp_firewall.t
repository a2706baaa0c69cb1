#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# XCP's carrier beside conntrack, NAT and stateful firewalls, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v nft >/dev/null || {
	echo "1..0 # SKIP no nft: run tools/setup/setup.sh check"
	exit 0
}
drive_guest release selftests/netns/xcp_firewall.py
