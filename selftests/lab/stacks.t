#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How much of the debug kernel's stacks is left after packets went through all layers at once.
cd "$(dirname "$0")/../.." || exit 2
top=$(pwd)
tools/lab/lab setup --kernel debug >/dev/null || exit 1
out=build/stack_depth
rm -rf "$out"
mkdir -p "$out"
ln -sf "$top"/selftests/lab/stack_depth/* "$out/"
make -C "$(tools/lab/kernel/build.sh debug --path)" M="$top/$out" ARCH=um modules >"$out.log" 2>&1 || {
	sed 's/^/# /' "$out.log"
	echo "Bail out! stack_depth did not build"
	exit 1
}
exec tools/lab/lab exec --kernel debug /usr/bin/python3 -B selftests/lab/stacks.py "$top/$out/stack_depth.ko"
