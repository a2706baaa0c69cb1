#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Feedback that lies to each congestion control and form, on real connections, in the lab's guest.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
GUEST_LIMIT_S=3600
drive_guest release selftests/netns/lying_wire.py speed_nic
