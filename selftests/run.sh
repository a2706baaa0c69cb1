#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All tests, by prove: two at a time, the last line counts them. A test that
# could run here and does not is a failure when HOPCC_NO_SKIP=1 (the gate).
#
#   selftests/run.sh [TEST.t ...]
#
# NAME-SERIES.t needs Linux SERIES: it runs where setup.sh names that series.
set -u
cd "$(dirname "$0")/.." || exit 2

log=build/check.log
mkdir -p build
if [ $# -eq 0 ]; then
	series=$(tools/setup/setup.sh series) || exit 2
	for test in selftests/*/*.t; do
		needs=$(expr "$test" : '.*-\([0-9][0-9.]*\)\.t$')
		case " $series " in
		*" ${needs:-$series} "*) set -- "$@" "$test" ;;
		*) echo "not for this system: $test: there is no Linux $needs" ;;
		esac
	done
fi

# Kernels and modules first: what the tests share is built once.
tools/lab/lab setup || exit 1
tools/lab/lab setup --kernel debug || exit 1

status_file=build/check.status
{ prove --timer -j2 "$@" 2>&1; echo $? > "$status_file"; } | tee "$log"
status=$(cat "$status_file")

if grep -E 'skipped: ' "$log" && [ -n "${HOPCC_NO_SKIP:-}" ]; then
	echo "a test was skipped that should run here" >&2
	status=1
fi
exit "$status"
