#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every core's table of cases as a host program under ASan and UBSan: each
# */x_test.c becomes build/unit/x_test, its cases a subtest of ours.
#
# For another architecture: CC, HOPCC_UNIT_SANITIZE in place of the switches for ASan and UBSan,
# HOPCC_UNIT_RUN, what a program is run by, and HOPCC_UNIT_OUT in place of build/unit.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 2
out=${HOPCC_UNIT_OUT:-build/unit}
mkdir -p "$out" || exit 2

flags="-std=gnu11 -g -O1 -Wall -Wextra -Werror -Wno-unused-parameter
	-Wno-unused-function -Wno-sign-compare
	${HOPCC_UNIT_SANITIZE:--fsanitize=address,undefined -fno-sanitize-recover=all}
	-Iselftests/unit/shim -Iinclude -Iinclude/uapi"

run_one()
{
	name=$(basename "$1" .c)
	# shellcheck disable=SC2086
	${CC:-cc} $flags -I"${1%/*}" -o "$out/$name" "$1" "$out/hpcc.o" >"$out/$name.log" 2>&1 &&
		${HOPCC_UNIT_RUN:-} "$out/$name" >"$out/$name.log" 2>&1
	status=$?
	sed 's/^/    /' "$out/$name.log"
	return $status
}

# The law that two modules share is in every program.
# shellcheck disable=SC2086
${CC:-cc} $flags '-DEXPORT_SYMBOL_GPL(name)=_Static_assert(1, "")' -c -o "$out/hpcc.o" \
	hop_core/hpcc.c || exit 1

count=0 failures=0
for source in hop_core/*_test.c sch_*/*_test.c net_*/*_test.c tcp_*/*_test.c \
	tools/lab/sch_link/*_test.c tools/examples/*/*_test.c; do
	[ -e "$source" ] || continue
	# A test that needs packets needs the kernel: kunit.t runs it.
	! grep -q '^#include <linux/skbuff.h>' "$source" || continue
	count=$((count + 1))
	if run_one "$source"; then
		echo "ok $count - $source"
	else
		echo "not ok $count - $source"
		failures=$((failures + 1))
	fi
done
echo "1..$count"
[ $count -gt 0 ] && [ $failures -eq 0 ]
