# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of carriers: a script in the lab's guest, with the module that
# drives the carrier, xcp_drive or int_drive, or another, built for its kernel.
# shellcheck shell=sh

# drive_guest KERNEL SCRIPT [MODULE [ARGUMENT...]]: the arguments follow the module's path
drive_guest()
{
	kernel=$1 script=$2 drive=${3:-xcp_drive}
	shift $(($# < 3 ? $# : 3))
	cd "$(dirname "$0")/../.." || exit 2
	top=$(pwd)
	tools/lab/lab setup --kernel "$kernel" >/dev/null || exit 1
	kdir=$(tools/lab/kernel/build.sh "$kernel" --path)
	out=build/$drive-$kernel
	mkdir -p "$out"
	(
		flock 9
		ln -sf "$top"/selftests/netns/"$drive"/* "$out/"
		make -C "$kdir" M="$top/$out" ARCH=um TOP="$top" \
			KBUILD_EXTRA_SYMBOLS="$top/build/uml-$kernel/Module.symvers" modules
	) 9>"$out.lock" >"$out.log" 2>&1 || {
		sed 's/^/# /' "$out.log"
		echo "Bail out! $drive did not build"
		exit 1
	}
	exec tools/lab/lab exec --kernel "$kernel" /usr/bin/python3 -B "$script" "$top/$out/$drive.ko" "$@"
}
