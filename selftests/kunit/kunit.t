#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The cores' tables as KUnit suites, in the kernel under KASAN, lockdep and kmemleak.
cd "$(dirname "$0")/../.." || exit 2

# shellcheck disable=SC2016 # the guest's shell expands it
out=$(tools/lab/lab exec --kernel debug -- sh -c '
	for module in build/uml-debug/*/*_test.ko build/uml-debug/*/*/*_test.ko; do
		insmod "$module" || echo "not loaded: $module"
	done
	cat /sys/kernel/debug/kunit/*/results' 2>&1)
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
suites=0
while read -r line; do
	case $line in
	*"# Subtest"*) continue ;;
	"ok "*" - "*)	  test_line ok "${line#* - }"; suites=$((suites + 1)) ;;
	"not ok "*)	  test_line "not ok" "${line#* - }" ;;
	"not loaded:"*)	  test_line "not ok" "$line" ;;
	esac
done <<OUT
$out
OUT
expected=$(find . -path ./build -prune -o -name '*_test.c' -print | wc -l)
if [ "$suites" -ge "$expected" ]; then
	test_line ok "a result from each of the $expected test files"
else
	test_line "not ok" "a result from each of the $expected test files ($suites passed)"
fi
echo "1..$count"
printf '%s\n' "$out" | sed 's/^/# /'
