# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of carriers: a script in the lab's guest, with a module of the test's own,
# such as xcp_drive or int_drive, built for its kernel.
# shellcheck shell=sh

# build_module KERNEL MODULE: selftests/netns/MODULE, for the lab's kernel; its file is $module
build_module()
{
	top=$(pwd)
	tools/lab/lab setup --kernel "$1" >/dev/null || exit 1
	kdir=$(tools/lab/kernel/build.sh "$1" --path)
	out=build/$2-$1
	mkdir -p "$out"
	(
		flock 9
		ln -sf "$top"/selftests/netns/"$2"/* "$out/"
		make -C "$kdir" M="$top/$out" ARCH=um TOP="$top" \
			KBUILD_EXTRA_SYMBOLS="$top/build/uml-$1/Module.symvers" modules
	) 9>"$out.lock" >"$out.log" 2>&1 || {
		sed 's/^/# /' "$out.log"
		echo "Bail out! $2 did not build"
		exit 1
	}
	module=$top/$out/$2.ko
}

# drive_guest KERNEL SCRIPT [MODULE [ARGUMENT...]]: the arguments follow the module's path.
# GUEST_LIMIT_S: seconds of the host that it may take
drive_guest()
{
	kernel=$1 script=$2 drive=${3:-xcp_drive}
	shift $(($# < 3 ? $# : 3))
	cd "$(dirname "$0")/../.." || exit 2
	build_module "$kernel" "$drive"
	exec tools/lab/lab exec --kernel "$kernel" --timeout "${GUEST_LIMIT_S:-600}" -- /usr/bin/python3 -B \
		"$script" "$module" "$@"
}
