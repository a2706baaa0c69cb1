#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All tests, by prove: two at a time, the longest first, so that both lanes end
# together; the last line counts them. A test that could run here and does not is a
# failure when HOPCC_NO_SKIP=1 (the gate).
#
#   selftests/run.sh [--long] [TEST.t ...]	--long: those that the gate leaves, besides
#
# NAME-SERIES.t needs Linux SERIES: it runs where setup.sh names that series. The gate leaves NAME-matrix.t, which
# builds kernels or takes long, the tests of matrix.list, and those of debug.list, which run in the debug kernel.
set -u
cd "$(dirname "$0")/.." || exit 2

log=build/check.log times=build/check.times
mkdir -p build
touch "$times"

# shellcheck source=selftests/lib/left.sh
. selftests/lib/left.sh

# Sort the tests on stdin: the longest run of last time first. Tests without a time come before
# all others, the kinds that usually take longest first.
longest_first()
{
	awk -v times="$times" '
		BEGIN {
			while ((getline line < times) > 0) {
				split(line, word, " ")
				took[word[2]] = word[1]
			}
			kinds = split("unit build kunit fuzz tdc soak netns debug lab vm", kind, " ")
			for (i = 1; i <= kinds; i++)
				weight[kind[i]] = 1e9 + i
		}
		{
			split($0, part, "/")
			print ($0 in took ? took[$0] : weight[part[2]] + 0), $0
		}' | sort -s -k 1,1nr | cut -d ' ' -f 2
}

if [ $# -eq 0 ]; then
	series=$(tools/setup/setup.sh series) || exit 2
	# shellcheck disable=SC2046 # names without blanks
	for test in $(printf '%s\n' selftests/*/*.t | grep -vxF "$(left_in selftests)"); do
		case $test in
		*-matrix.t) continue ;;
		esac
		needs=$(expr "$test" : '.*-\([0-9][0-9.]*\)\.t$')
		# The system's own kernel; `make matrix` boots the others.
		case $test in
		selftests/vm/distro-*) [ "$needs" = "${series%% *}" ] || continue ;;
		esac
		case " $series " in
		*" ${needs:-$series} "*) set -- "$@" "$test" ;;
		*) echo "left out: $test: Linux $needs is not among this system's ($series)" ;;
		esac
	done
	# shellcheck disable=SC2046 # names without blanks
	set -- $(printf '%s\n' "$@" | longest_first)
elif [ "$1" = --long ]; then
	shift
	# shellcheck disable=SC2046
	set -- $(printf '%s\n' "$@" $(left_in selftests) $(selftests/debug.sh --wrappers build/debug) | sort -u)
	tools/lab/lab setup --all --kernel debug || exit 1
fi

# Build the kernel and modules that several tests share once, before the tests start.
tools/lab/lab setup --all || exit 1

# Print each claim that failed; for a test that ended before its end, the last lines that it printed.
failures()
{
	sed -nE 's/^((selftests|build)[^ ]+\.t) +\(Wstat: .*/\1/p' "$log" | while read -r test; do
		echo "--- $test"
		awk '/^not ok/ { left = 12; failed = 1 } /^ok/ { left = 0 } left-- > 0
			{ last[NR % 12] = $0 }
			END { if (!failed) for (i = 1; i <= 12; i++) if ((NR + i) % 12 in last) print last[(NR + i) % 12] }' \
			"$tap/$test"
	done
	tail -n 2 "$log"
}

tap=build/tap status_file=build/check.status
rm -rf "$tap"
export PERL_TEST_HARNESS_DUMP_TAP="$tap"
{ prove --timer -j2 "$@" 2>&1; echo $? > "$status_file"; } | tee "$log"
status=$(cat "$status_file")
[ "$status" -eq 0 ] || failures

# Keep the times of this run, from "[12:00:00] selftests/KIND/NAME.t .. ok 1234 ms ( ...", and for all
# other tests the times of earlier runs.
sed -nE 's,^\[[0-9:]+\] ((selftests|build)/[^ ]+\.t) \.+ *ok +([0-9]+) ms.*,\3 \1,p' "$log" |
	awk '!seen[$2]++' - "$times" >"$times.new" && mv "$times.new" "$times"

if grep -E 'skipped: ' "$log" && [ -n "${HOPCC_NO_SKIP:-}" ]; then
	echo "a test was skipped that should run here" >&2
	status=1
fi
exit "$status"
