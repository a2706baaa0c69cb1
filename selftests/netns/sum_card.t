#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The carriers on cards that sum up what comes in, in the lab's guest.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest release selftests/netns/sum_card.py sum_card
