#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build the Debian packages in build/deb, from a copy of the tree: dpkg-buildpackage writes beside
# its source, and needs none of what lies in build.
#
#   build.sh [--tools] [--version VERSION] [DIRECTORY]    the packages go to DIRECTORY (build/deb)
#
# --tools: only hopcc-tools, the package with programs of this machine's architecture.
set -eu
cd "$(dirname "$0")/.."
version='' what=-b fewer=''
if [ "${1:-}" = --tools ]; then
	what=-B fewer=noautodbgsym
	shift
fi
if [ "${1:-}" = --version ]; then
	version=$2
	shift 2
fi
out=${1:-build/deb}
mkdir -p "$out"
out=$(cd "$out" && pwd)
tree=$out/hopcc
rm -rf "$out"/hopcc "$out"/hopcc[_-]*
mkdir "$tree"
tar -c --exclude=./build --exclude=./.git --exclude=./lab-results --exclude=__pycache__ \
	--exclude=./selftests/fuzz/corpus --exclude=./Documentation/figures . | tar -x -C "$tree"
cd "$tree"
if [ -n "$version" ]; then
	sed -i "1s/([^)]*)/($version)/" debian/changelog
	sed -i "s/HOPCC_VERSION \".*\"/HOPCC_VERSION \"$version\"/" include/hopcc/lib/hop_version.h
fi
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} $fewer" dpkg-buildpackage -us -uc $what >"$out/hopcc.log" 2>&1 ||
	{ tail -n 20 "$out/hopcc.log" >&2; echo "build.sh: all of it is in $out/hopcc.log" >&2; exit 1; }
rm -rf "$tree"
echo "packages in $out:"
ls "$out"/*.deb
