#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# control.t with one seed after the other, for hours; stops at the first finding.
#
#   control.sh HOURS [FIRST-SEED]     hours: also a fraction, such as 0.1
set -eu
cd "$(dirname "$0")/../.."
seed=${2:-100}
seconds=$(awk -v hours="$1" 'BEGIN { if (hours !~ /^[0-9]*[.]?[0-9]+$/) exit 1; print int(hours * 3600) }') || {
	echo "control.sh: '$1' are no hours" >&2
	exit 2
}
end=$(($(date +%s) + seconds))
export SOAK_OPERATIONS="${SOAK_OPERATIONS:-10000}"
total=0
while [ "$(date +%s)" -lt "$end" ]; do
	SOAK_SEED=$seed selftests/soak/control.t || {
		echo "seed $seed: repeat with SOAK_SEED=$seed SOAK_OPERATIONS=$SOAK_OPERATIONS selftests/soak/control.t" >&2
		exit 1
	}
	total=$((total + SOAK_OPERATIONS)) seed=$((seed + 1))
	echo "# soak: $total operations of the control surface, no finding"
done
