#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# No shell script of the tree has a finding of shellcheck's, from warning up.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

command -v shellcheck >/dev/null || tap_skip "no shellcheck: run tools/setup/setup.sh check"
for file in $(find . -path ./build -prune -o -path ./.git -prune -o -path ./lab-results -prune \
	-o -type f -print | sort); do
	head -c 64 "$file" | head -n 1 | tr -d '\0' |
		grep -qE '^#! ?[^ ]*/(env )?(busybox )?(ba|da)?sh' || continue
	# SC3013: dash and busybox have -ef.
	shellcheck -x -S warning -e SC3013 "$file" >build/shellcheck.bad
	tap_result $? "${file#./}" build/shellcheck.bad
done
tap_done
