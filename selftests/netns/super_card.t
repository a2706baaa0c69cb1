#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Super-packets with headers on cards that segment only what they can parse, in the lab's guest.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest release selftests/netns/super_card.py csig_card
