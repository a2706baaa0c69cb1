#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# control.t with one seed after the other, for hours; stops at the first finding.
#
#   control.sh HOURS [FIRST-SEED]
set -eu
cd "$(dirname "$0")/../.."
seed=${2:-100}
end=$(($(date +%s) + $1 * 3600))
total=0
while [ "$(date +%s)" -lt "$end" ]; do
	SOAK_SEED=$seed SOAK_OPERATIONS=10000 selftests/soak/control.t || {
		echo "seed $seed: repeat with SOAK_SEED=$seed SOAK_OPERATIONS=10000 selftests/soak/control.t" >&2
		exit 1
	}
	total=$((total + 10000)) seed=$((seed + 1))
	echo "# soak: $total operations of the control surface, no finding"
done
