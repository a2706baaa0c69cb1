#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Feedback that lies to three congestion controls, on real connections, in the lab's guest; to all of
# them in lying_wire-matrix.t.
# shellcheck source=selftests/netns/module_lib.sh
. "$(dirname "$0")/module_lib.sh"
drive_guest release selftests/netns/lying_wire.py speed_nic 128 1 xcp hpccpp csig
