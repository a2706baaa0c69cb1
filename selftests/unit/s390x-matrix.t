#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The unit tests on a big-endian machine: programs for s390x, run by QEMU, with UBSan. Each test
# of this folder is a subtest; the references with fewer streams than the gate's.
cd "$(dirname "$0")/../.." || exit 2
. selftests/lib/tap.sh

CC=s390x-linux-gnu-gcc HOPCC_UNIT_RUN=qemu-s390x HOPCC_UNIT_OUT=build/unit-s390x
# UBSan's runtime is for hosts: a fault is a trap. ASan's does not run in QEMU.
HOPCC_UNIT_SANITIZE="-fsanitize=undefined -fsanitize-undefined-trap-on-error -static"
export CC HOPCC_UNIT_RUN HOPCC_UNIT_OUT HOPCC_UNIT_SANITIZE

for program in $CC $HOPCC_UNIT_RUN; do
	command -v "$program" >/dev/null && continue
	echo "1..0 # SKIP no $program: run tools/setup/setup.sh matrix"
	exit 0
done

$CC -dM -E -x c /dev/null | grep -q '__BYTE_ORDER__ __ORDER_BIG_ENDIAN__'
ok $? "the compiler is for a big-endian machine"
for test in selftests/unit/cores.t selftests/unit/*_reference.t; do
	case $test in
	*/cores.t) set -- ;;
	*) set -- 10000 ;;
	esac
	"$test" "$@" >build/unit-s390x.log 2>&1
	status=$?
	sed 's/^/    /' build/unit-s390x.log
	ok $status "$test"
done
echo "1..$count"
exit $failed
