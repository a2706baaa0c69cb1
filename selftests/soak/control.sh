#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# control.t with one seed after the other, for hours, one at least; stops at the first finding.
#
#   control.sh HOURS [FIRST-SEED]     hours: also a fraction, such as 0.1
#
# SOAK_OPERATIONS: of each seed
set -eu
cd "$(dirname "$0")/../.."
seed=${2:-100}
seconds=$(awk -v hours="$1" 'BEGIN {
	if (hours !~ /^[0-9]*[.]?[0-9]+$/)
		exit 1
	print int(hours * 3600)
}') || {
	echo "control.sh: '$1' is not a number of hours" >&2
	exit 2
}
end=$(($(date +%s) + seconds))
export SOAK_OPERATIONS="${SOAK_OPERATIONS:-2000}"
total=0 seeds=0 interrupted=
mkdir -p build/soak

# last WORDS: the soak's last line
last()
{
	echo "# soak: $total operations of the control surface, $seeds seeds$1" |
		tee build/soak/control.said
}

stop()
{
	last ", interrupted: selftests/soak/control.sh HOURS $seed goes on"
	exit 130
}

# The signal also reaches the guest; this waits for its end.
trap 'interrupted=1' INT TERM
while :; do
	status=0
	SOAK_SEED=$seed selftests/soak/control.t || status=$?
	[ "$interrupted$status" != 130 ] || interrupted=1
	[ -z "$interrupted" ] || stop
	[ $status -eq 0 ] || {
		last ", then a finding"
		echo "repeat with SOAK_SEED=$seed SOAK_OPERATIONS=$SOAK_OPERATIONS selftests/soak/control.t" >&2
		exit 1
	}
	total=$((total + SOAK_OPERATIONS)) seed=$((seed + 1)) seeds=$((seeds + 1))
	[ "$(date +%s)" -lt "$end" ] || break
	echo "$(date +%H:%M:%S) $seeds seeds, $total operations, $(((end - $(date +%s)) / 60)) min to go"
done
last ", no finding"
