#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: kselftest.sh FOLDER RUNS TEST..., each run in a network namespace of its own.
folder=$1 runs=$2
shift 2
# Some tests write beside themselves, and the guest can write in /tmp only.
cp -r "$folder" /tmp/net && cd /tmp/net || exit 1

# The run that failed and its last lines, if one did.
run_all() {
	run=0
	while [ "$run" -lt "$runs" ]; do
		run=$((run + 1))
		timeout 200 unshare -n sh -c "ip link set lo up && exec ./$1" >/tmp/said 2>&1 || {
			echo "# run $run ended with $?"
			tail -n 5 /tmp/said | sed 's/^/# /'
			return 1
		}
	done
}

echo "1..$#"
count=0
failures=0
for test; do
	count=$((count + 1))
	if run_all "$test" >/tmp/problem; then
		echo "ok $count - $test: $runs runs"
	else
		failures=$((failures + 1))
		echo "not ok $count - $test: $runs runs"
		cat /tmp/problem
	fi
done
[ "$failures" = 0 ]
