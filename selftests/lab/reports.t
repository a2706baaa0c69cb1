#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A report of each of the debug kernel's checkers fails the run, and our modules are instrumented.
cd "$(dirname "$0")/../.." || exit 2
top=$(pwd)
. selftests/lib/tap.sh

tools/lab/lab setup --kernel debug >/dev/null || exit 1
kdir=$(tools/lab/kernel/build.sh debug --path)
out=build/misbehave
rm -rf "$out"
mkdir -p "$out"
ln -s "$top"/selftests/lab/misbehave/* "$out/"
make -C "$kdir" M="$top/$out" ARCH=um UBSAN_SANITIZE=y modules >"$out.log" 2>&1 || {
	sed 's/^/# /' "$out.log"
	echo "Bail out! misbehave did not build"
	exit 1
}

# misbehave KIND: run it; return the lab's status, its words in $out.said
misbehave()
{
	tools/lab/lab exec --kernel debug --timeout 120 -- insmod "$top/$out/misbehave.ko" "kind=$1" \
		>"$out.said" 2>&1
}

misbehave nothing
ok $? "a module that does nothing wrong: no report"
while read -r kind words; do
	! misbehave "$kind" && grep -q "^lab: .*$words" "$out.said"
	ok $? "$kind: the run fails by \"$words\""
	head -1 "$out.said" | sed 's/^/# /'
done <<END
shift UBSAN: shift-out-of-bounds
index UBSAN: array-index-out-of-bounds
divide UBSAN: division-overflow
freed BUG: KASAN: .*use-after-free
leak kmemleak: unreferenced object
warn WARNING: CPU
END

# UBSAN leaves its mark where an index, a shift or a division is not a constant: in all but wrappers.
for module in build/uml-debug/*/*.ko; do
	case $module in *_test.ko) continue ;; esac
	nm "$module" | grep -q __ubsan_handle || echo "${module##*/}"
done >"$out.bare"
[ ! -s "$out.bare" ]
ok $? "UBSAN instruments every module"
sed 's/^/# not /' "$out.bare"

for kind in failslab fail_page_alloc; do
	tools/lab/lab exec --kernel debug -- test -w "/sys/kernel/debug/$kind/probability"
	ok $? "allocations fail on request: $kind"
done
echo "1..$count"
exit $failed
