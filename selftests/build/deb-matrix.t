#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The packages in a Debian 12 and in a Debian 13 with nothing else: installed, the modules built by DKMS
# for that system's kernel, for a second one whose headers come later, and again by an upgrade; then
# purged without a trace. Last, that system's kernel in QEMU loads what DKMS built for it.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"
log=build/deb-matrix.log
[ "$(id -u)" -eq 0 ] || tap_skip "a system can be entered by root only"
for suite in bookworm trixie; do
	tools/setup/clean-root.sh "$suite" --path >/dev/null 2>&1 ||
		tap_skip "no clean $suite here: run tools/setup/setup.sh matrix"
done

# block PLACE: the commands of the tutorial for it
block()
{
	sed -n "/^\`\`\`sh $1\$/,/^\`\`\`\$/p" Documentation/tutorial.md | sed '/^```/d'
}

block packages >build/deb-matrix.packages
sh -e -c "$(block checkout)" >"$log" 2>&1 && [ -s build/deb-matrix.packages ] && ls build/deb/hopcc-dkms_*.deb >>"$log"
tap_result $? "the tutorial: $(block checkout) builds the packages" "$log"
lintian --allow-root --fail-on error,warning build/deb/hopcc_*.changes >"$log" 2>&1
tap_result $? "lintian has nothing to say of them" "$log"
version=$(sed -nE '1s/^hopcc \((.*)\) .*/\1/p' debian/changelog)
debian/build.sh --version "$version.1" build/deb-next >"$log" 2>&1
tap_result $? "and those of a later version" "$log"

# The lab of the package, in a copy as its command makes one, on the kernel that is in the cache.
lab=$PWD/build/deb-matrix/lab
rm -rf "$lab"
mkdir -p "$lab/results"
dpkg-deb -x build/deb/hopcc-lab_*.deb "$lab" && cd "$lab/results" &&
	"$lab/usr/share/hopcc-lab/tools/lab/lab" run smoke --out "$lab/results" >"$lab/log" 2>&1
status=$?
cd - >/dev/null || exit 2
tap_result $status "hopcc-lab: the lab runs from the package's tree" "$lab/log"

# kernel_boots SUITE: the modules that DKMS built, in the kernel for which it did
kernel_boots()
{
	here=$PWD/build/deb-matrix/$1
	ver=$(cat "$here/kernel/version")
	[ -e "$here/kernel/lib" ] || ln -s usr/lib "$here/kernel/lib"
	mkdir -p "$here/kernel/lib/modules/$ver/updates"
	cp -r "$here/dkms" "$here/kernel/lib/modules/$ver/updates/"
	/usr/sbin/depmod -b "$here/kernel" "$ver"
	selftests/vm/run_vm.sh "$here/kernel/boot/vmlinuz-$ver" "$here/kernel/lib/modules/$ver" \
		"$PWD/selftests/vm/guest_dkms.sh" "$version" >"$log" 2>&1
}

for suite in bookworm trixie; do
	here=build/deb-matrix/$suite
	rm -rf "$here"
	mkdir -p "$here/first" "$here/next"
	cp build/deb/*.deb "$here/first"
	cp build/deb-next/*.deb "$here/next"
	cp selftests/build/deb_steps.sh "$here"
	cp build/deb-matrix.packages "$here/packages.sh"
	tools/setup/clean-root.sh "$suite" --run "$here" ./deb_steps.sh "$version" >"$here/log" 2>&1
	while read -r verdict claim; do
		[ "$verdict" = ok ]
		tap_result $? "$suite: $claim" "$here/log.short"
	done <"$here/claims"
	kernel_boots "$suite"
	tap_result $? "$suite: its kernel loads all modules from DKMS, and tc and sysctl use them" "$log"
	rm -rf "$here/upper" "$here/work" "$here/root"
done
tap_done
