#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Feedback that lies, shorter streams, under KASAN, lockdep and kmemleak, in the lab's guest.
# shellcheck source=selftests/netns/xcp-lib.sh
. "$(dirname "$0")/xcp-lib.sh"
drive_guest debug selftests/netns/lying_wire.py speed_card 256 1 xcp csig
