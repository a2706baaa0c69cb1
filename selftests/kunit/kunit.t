#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The cores' tables as KUnit suites, in the kernel under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2

# shellcheck disable=SC2016 # the guest's shell expands it
out=$(tools/lab/lab exec --kernel debug -- sh -c '
	find build/uml-debug -name "*_test.ko" | sort | while read -r module; do
		insmod "$module" || echo "not loaded: $module"
	done
	dmesg -t' 2>&1)
status=$?

count=0
test_line() {
	count=$((count + 1))
	printf '%s %d - %s\n' "$1" "$count" "$2"
}

if [ "$status" -eq 0 ]; then
	test_line ok "guest ran clean"
else
	test_line "not ok" "guest ran clean"
fi
# Not indented: a suite; indented: its cases.
suites=0
while IFS= read -r line; do
	case $line in
	*"# Subtest"*) continue ;;
	"ok "[0-9]*)		  suites=$((suites + 1)) ;;
	"    ok "[0-9]*)	  test_line ok "${line#    ok }" ;;
	"not ok "[0-9]*)	  test_line "not ok" "suite ${line#not ok }" ;;
	"    not ok "[0-9]*)	  test_line "not ok" "${line#    not ok }" ;;
	"not loaded:"*)		  test_line "not ok" "$line" ;;
	esac
done <<OUT
$out
OUT
# An example is no module of the tree.
expected=$(find . -path ./build -prune -o -path ./tools/examples -prune -o -name '*_test.c' -print | wc -l)
if [ "$suites" -eq "$expected" ]; then
	test_line ok "the suite of each of the $expected test files passed"
else
	test_line "not ok" "the suite of each of the $expected test files passed ($suites did)"
fi
echo "1..$count"
printf '%s\n' "$out" | grep -v '^ok' | tail -40 | sed 's/^/# /'
