# SPDX-License-Identifier: GPL-2.0
# Claims as TAP, for shell tests that source this file; they end with "exit $failed".
# shellcheck shell=sh
failed=0 count=0

# ok STATUS WORDS: one claim, which holds if the status is 0
ok()
{
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}
