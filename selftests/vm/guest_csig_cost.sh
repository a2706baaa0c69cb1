#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in the test guest of csig_cost.sh: guest_csig_cost.sh MODULES_BUILD
set -eu
export TC_LIB_DIR="$1/tc"
insmod "$1/hop_core/hop_core.ko"
insmod "$1/sch_csig/sch_csig.ko"
insmod "$1/net_csig_tag/net_csig_tag.ko"
exec /usr/bin/python3 -B "$(dirname "$0")/csig_cost.py"
