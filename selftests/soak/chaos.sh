#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# chaos.t with one seed after the other; stops at the first failure.
#
#   chaos.sh SEEDS [FIRST-SEED]
#
# CHAOS_FAULTS: of each connection
set -eu
cd "$(dirname "$0")/../.."
most=$1 seed=${2:-1}
case $most$seed in
*[!0-9]*)
	echo "chaos.sh: '$*': not a number of seeds and the first" >&2
	exit 2
	;;
esac
export CHAOS_FAULTS="${CHAOS_FAULTS:-40}"
seeds=0 streams=0 bytes=0 faults=0 interrupted=
mkdir -p build/soak
tap=build/soak/chaos.tap

# last WORDS: the soak's last line
last()
{
	echo "# soak: $streams streams of chaos, $bytes bytes, $faults faults, $seeds seeds$1" |
		tee build/soak/chaos.said
}

stop()
{
	last ", interrupted: selftests/soak/chaos.sh $((most - seeds)) $seed goes on"
	exit 130
}

# add STREAMS BYTES FAULTS
add()
{
	streams=$((streams + $1)) bytes=$((bytes + $2)) faults=$((faults + $3))
}

# The signal also reaches the guest; this waits for its end.
trap 'interrupted=1' INT TERM
while [ $seeds -lt "$most" ]; do
	status=0
	selftests/netns/chaos.t "$seed" >"$tap" 2>&1 || status=$?
	[ "$interrupted$status" != 130 ] || interrupted=1
	[ -z "$interrupted" ] || stop
	[ $status -eq 0 ] || {
		cat "$tap"
		last ", then a failure"
		echo "repeat with CHAOS_FAULTS=$CHAOS_FAULTS selftests/netns/chaos.t $seed" >&2
		exit 1
	}
	# shellcheck disable=SC2046 # three numbers
	add $(sed -n 's/^# \([0-9]*\) streams, \([0-9]*\) bytes, \([0-9]*\) faults, .*/\1 \2 \3/p' "$tap")
	seed=$((seed + 1)) seeds=$((seeds + 1))
	echo "$(date +%H:%M:%S) $seeds of $most seeds, $streams streams, $bytes bytes, $faults faults"
done
last ", no failure"
