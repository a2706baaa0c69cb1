#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build the lab's kernel once into the cache and print its build directory.
#
#   build.sh [release|debug] [--path]
#
# --path prints the directory without building. The key is the content of all
# that decides the result: source, our patches, config, compiler.
set -eu

variant=${1:-release}
mode=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc

case $variant in
release) set -- "$here/lab.config" ;;
debug)	 set -- "$here/lab.config" "$here/debug.config" ;;
*)	 echo "build.sh: unknown kernel '$variant': release or debug" >&2; exit 2 ;;
esac

tarball=
for version in 6.1 6.12; do
	[ -e "/usr/src/linux-source-$version.tar.xz" ] || continue
	tarball=/usr/src/linux-source-$version.tar.xz
	break
done
if [ -z "$tarball" ]; then
	echo "build.sh: no kernel source: apt-get install linux-source-6.1 (Debian 12) or linux-source-6.12 (Debian 13)" >&2
	exit 2
fi

source_key() {
	# The package's version names the tarball's content; hashing 140 MB would
	# cost the second call its second.
	dpkg-query -W -f '${Version}' "linux-source-$version"
}

src_key=$(source_key)-$(sha256sum < "$here/patch-source.sh" | cut -c1-8)
key=$({ echo "$src_key"; cat "$@"; gcc -dumpfullversion; } | sha256sum | cut -c1-12)
src=$cache/src-$src_key
build=$cache/uml-$variant-$key

if [ "$mode" = --path ]; then
	echo "$build"
	exit 0
fi
if [ -e "$build/.done" ]; then
	echo "$build"
	exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ -e "$build/.done" ]; then
	echo "$build"
	exit 0
fi

# Progress: one line a step, with the count of objects while make runs.
say() { printf '[lab setup] %s\n' "$*" >&2; }

# progress TOTAL < what make says. Not awk: Debian 13's mawk reads a pipe in blocks.
progress() {
	n=0 step=200 end='\n'
	[ ! -t 2 ] || step=1 end='\r'
	while read -r what _; do
		case $what in
		CC | AR | LD | AS | HOSTCC) n=$((n + 1)) ;;
		*) continue ;;
		esac
		# shellcheck disable=SC2059 # the end of a line is a format
		[ $((n % step)) -ne 0 ] ||
			printf "[lab setup] %d of about %d objects$end" "$n" "$1" >&2
	done
	[ ! -t 2 ] || echo >&2
}

if [ ! -e "$src/.patched" ]; then
	say "unpacking $tarball"
	rm -rf "$src.part" "$src"
	mkdir -p "$src.part"
	tar -C "$src.part" --strip-components=1 -xf "$tarball"
	"$here/patch-source.sh" "$src.part"
	mv "$src.part" "$src"
	touch "$src/.patched"
fi

say "configuring the $variant kernel"
rm -rf "$build"
mkdir -p "$build"
cat "$@" > "$build/all.config"
log=$build/build.log
make -s -C "$src" ARCH=um O="$build" KCONFIG_ALLCONFIG="$build/all.config" allnoconfig > "$log" 2>&1 ||
	{ tail -20 "$log" >&2; exit 1; }

say "building the $variant kernel (3 to 6 minutes on two cores)"
status=$build/.status
{ make -C "$src" ARCH=um O="$build" -j"$(nproc)" linux modules 2>&1; echo $? > "$status"; } |
	tee -a "$log" | progress 1400
if [ "$(cat "$status")" != 0 ]; then
	say "the kernel did not build; last lines of $log:"
	tail -20 "$log" >&2
	exit 1
fi
touch "$build/.done"
say "ready: $build/linux"
echo "$build"
