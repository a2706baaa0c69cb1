#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build the lab's kernel once into the cache and print its build directory.
#
#   build.sh [release|debug] [--path]
#
# --path prints the directory without building. The key is the content of all
# that decides the result: source tarball, config, this script.
set -eu

variant=${1:-release}
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc

case $variant in
release) fragments=$here/lab.config ;;
debug)	 fragments="$here/lab.config $here/debug.config" ;;
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

key=$({ source_key; cat $fragments "$here/build.sh"; gcc -dumpfullversion; } | sha256sum | cut -c1-12)
src=$cache/src-$(source_key)
build=$cache/uml-$variant-$key

if [ "${2:-}" = --path ]; then
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

progress() {
	awk -v total="$1" -v tty="$(test -t 2 && echo 1 || echo 0)" '
	/^ +(CC|AR|LD|AS|HOSTCC)/ { n++
		if (tty) printf "\r[lab setup] %d of about %d objects", n, total > "/dev/stderr"
		else if (n % 200 == 0) printf "[lab setup] %d of about %d objects\n", n, total > "/dev/stderr"
	}
	END { if (tty) printf "\n" > "/dev/stderr" }'
}

patch_clock() {
	# Stock UML counts time in 256 ns steps, with a least timer of 500 ns and a
	# tick of 10 ms; virtual time can be exact to 1 ns.
	sed -i 's/^#define TIMER_MULTIPLIER.*/#define TIMER_MULTIPLIER 1/;
		s/^#define TIMER_MIN_DELTA.*/#define TIMER_MIN_DELTA 1/' \
		"$1/arch/um/include/shared/timer-internal.h" \
		"$1/arch/um/include/linux/time-internal.h" 2>/dev/null || true
	sed -i '/^config HZ$/,/^$/s/default 100/default 1000/' "$1/arch/um/Kconfig"
	grep -rq 'define TIMER_MULTIPLIER 1$' "$1/arch/um/include" &&
		grep -rq 'define TIMER_MIN_DELTA 1$' "$1/arch/um/include" &&
		grep -q 'default 1000' "$1/arch/um/Kconfig"
}

if [ ! -e "$src/.patched" ]; then
	say "unpacking $tarball"
	rm -rf "$src.part" "$src"
	mkdir -p "$src.part"
	tar -C "$src.part" --strip-components=1 -xf "$tarball"
	patch_clock "$src.part" || { say "the clock constants were not where expected in $tarball"; exit 1; }
	mv "$src.part" "$src"
	touch "$src/.patched"
fi

say "configuring the $variant kernel"
rm -rf "$build"
mkdir -p "$build"
cat $fragments > "$build/all.config"
log=$build/build.log
make -s -C "$src" ARCH=um O="$build" KCONFIG_ALLCONFIG="$build/all.config" allnoconfig > "$log" 2>&1 ||
	{ tail -20 "$log" >&2; exit 1; }

say "building the $variant kernel (3 to 6 minutes on two cores)"
status=$build/.status
{ make -C "$src" ARCH=um O="$build" -j"$(nproc)" linux modules 2>&1; echo $? > "$status"; } |
	tee -a "$log" | progress 1900
if [ "$(cat "$status")" != 0 ]; then
	say "the kernel did not build; last lines of $log:"
	tail -20 "$log" >&2
	exit 1
fi
touch "$build/.done"
say "ready: $build/linux"
echo "$build"
