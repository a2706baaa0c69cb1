#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build all modules for one kernel, beside the tree: several kernels can be
# built at once and none leaves an object file in the checkout.
#
#   build-modules.sh NAME KDIR [make arguments: ARCH=um W=1 C=1 ...]
#
# The result is in build/NAME.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
name=$1 kdir=$2
shift 2
out=$top/build/$name

# Make knows a command by its words: those for another kernel may be the same,
# with other headers behind them.
mkdir -p "$out"
[ "$(cat "$out/.kdir" 2>/dev/null)" = "$kdir" ] || { rm -rf "$out"; mkdir -p "$out"; }
echo "$kdir" > "$out/.kdir"

# A farm of links to the sources; make sees a changed source through the link.
cd "$top"
find Kbuild include hop_core sch_* net_* tcp_* tools/lab/sch_link tools/lab/net_wire \
	\( -name '*.[ch]' -o -name Kbuild \) ! -name 'q_*.c' 2>/dev/null |
while read -r file; do
	case $file in */*) mkdir -p "$out/${file%/*}" ;; esac
	ln -sfn "$top/$file" "$out/$file"
done
# A source that is gone must not be built again.
find "$out" -xtype l -delete

make -C "$kdir" M="$out" "$@" modules
