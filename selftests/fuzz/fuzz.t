#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every parser and every law under libFuzzer with ASan and UBSan: the corpus, then a fixed number
# of inputs made from it, the same in every run. make soak tries more than the gate has time for.
#
#   fuzz.t [INPUTS]
cd "$(dirname "$0")/../.." || exit 2
. selftests/lib/tap.sh

if ! command -v clang >/dev/null || ! ls /usr/lib/llvm-*/lib/clang/*/lib/linux/*fuzzer* >/dev/null 2>&1; then
	echo "1..0 # SKIP no clang or none of its runtime: run tools/setup/setup.sh check"
	exit 0
fi
names=$(selftests/fuzz/fuzz.sh list)
inputs=$((${1:-400000} / $(echo "$names" | wc -l)))
sum=0

for name in $names; do
	said=$(selftests/fuzz/fuzz.sh build "$name" 2>&1 &&
		selftests/fuzz/fuzz.sh run "$name" "$inputs" 2>&1)
	status=$?
	if [ $status -eq 0 ]; then
		sum=$((sum + said))
		ok 0 "$name: $said inputs, every claim holds"
	else
		ok 1 "$name"
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
done
# The harnesses that have no corpus would start from nothing each time.
empty=
for name in $names; do
	[ -n "$(ls "selftests/fuzz/corpus/$name" 2>/dev/null)" ] || empty="$empty $name"
done
ok "${#empty}" "every harness has a corpus$empty"
[ "$sum" -ge $((inputs * $(echo "$names" | wc -l))) ]
ok $? "$sum inputs in all"
echo "1..$count"
exit $failed
