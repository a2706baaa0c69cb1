#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All modules for the headers KDIR of a kernel series, with W=1 and sparse, in
# build/linux-SERIES; what was said is in build/linux-SERIES.log. Both stay for all tests
# that ask while sources and compilers are the same. COMMAND: what goes before gcc and make
# if they are another system's; there, no sparse.
#
#   built_modules.sh SERIES KDIR [COMMAND...]
set -eu
cd "$(dirname "$0")/../.."
name=linux-$1 kdir=$2
shift 2

mkdir -p build
exec 8>"build/.$name.lock"
flock 8
now=$({
	echo "$kdir"
	"$@" gcc --version
	sparse --version
	find Kbuild include hop_core sch_* net_* tcp_* tools/lab/sch_link tools/lab/net_wire tools/build-modules.sh \
		-type f -exec sha256sum {} + | sort -k 2
} 2>&1 | sha256sum)
[ "$now" != "$(cat "build/$name/.stamp" 2>/dev/null)" ] || exit 0

# From scratch: what make does not compile does not warn.
rm -rf "build/$name"
# It outlives this script only by a fault: not with our lock.
"$@" tools/build-modules.sh "$name" "$kdir" W=1 C=1 CF=-D__CHECK_ENDIAN__ \
	>"build/$name.log" 2>&1 8>&-
echo "$now" >"build/$name/.stamp"
