#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The delay of a virtio NIC whose ring is the bottleneck, in QEMU: Linux 6.1, whose driver has no BQL,
# and 6.12, whose driver has.
# shellcheck source=selftests/vm/vm_lib.sh
. "$(dirname "$0")/vm_lib.sh"

backport=$(tools/setup/backport-kernel.sh --path 2>/dev/null)
n=0 failed=0
for series in 6.1 6.12; do
	for root in "" "$backport"; do
		ver=$(newest $series "$root/boot")
		[ -z "$ver" ] || break
	done
	[ -n "$ver" ] || continue
	selftests/build/built_modules.sh $series "$root/usr/src/linux-headers-$ver" ||
		fail "modules build for Linux $ver" "build/linux-$series.log"
	make -C tools/tc OUT="$PWD/build/linux-$series/tc" >"build/ring-$series.log" 2>&1
	echo "# Linux $ver"
	selftests/vm/slow_cable.py "$root/boot/vmlinuz-$ver" "$root/lib/modules/$ver" \
		"$PWD/build/linux-$series" 2>&1 | sed 's/^[^#]/    &/' |
		tee "build/ring-$series.tap"
	n=$((n + 1))
	if grep -q '^    1\.\.3' "build/ring-$series.tap" && ! grep -q '^    not ok' "build/ring-$series.tap"; then
		echo "ok $n - Linux $ver: the delay in the ring"
	else
		echo "not ok $n - Linux $ver: the delay in the ring"
		failed=1
	fi
done
[ $n -gt 0 ] || skip "no kernel: run tools/setup/setup.sh check"
echo "1..$n"
exit $failed
