#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build the lab's kernel once into the cache and print its directory.
#
#   build.sh [release|debug] [--modules] [--path]
#
# --modules: the kernel's own modules instead (nf_tables, bridge, ESP ...), the root of
#   their lib/modules. Most scenarios need none, so they are built on first use.
# --path: print the directory, build nothing.
#
# A directory's name is a key: the content of all that decides the result. It is built under
# another name and renamed when it is complete; from then on nothing in it changes.
set -eu

variant=${1:-release}
[ $# -eq 0 ] || shift
want=kernel mode=build
for option; do
	case $option in
	--modules) want=modules ;;
	--path)	   mode=path ;;
	*)	   echo "build.sh: unknown option '$option': --modules or --path" >&2; exit 2 ;;
	esac
done
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc

case $variant in
release) configs=$here/lab.config objects=660 modules=190 ;;
debug)	 configs="$here/lab.config $here/debug.config" objects=750 modules=200 ;;
*)	 echo "build.sh: unknown kernel '$variant': release or debug" >&2; exit 2 ;;
esac

# Another tarball than the distribution's: to test another series (selftests/lab/registers-matrix.t).
tarball=${HOPLAB_KERNEL_SOURCE:-} package=
if [ -z "$tarball" ]; then
	for series in 6.1 6.12; do
		[ -e "/usr/src/linux-source-$series.tar.xz" ] || continue
		tarball=/usr/src/linux-source-$series.tar.xz
		package=linux-source-$series
		break
	done
fi
if [ -z "$tarball" ]; then
	echo "build.sh: no kernel source: apt-get install linux-source-6.1 (Debian 12) or linux-source-6.12 (Debian 13)" >&2
	exit 2
fi
series=${tarball##*linux-source-} series=${series%.tar.xz}
patch=$here/linux-$series.patch
if [ ! -e "$patch" ]; then
	echo "build.sh: no patch for Linux $series; there are: $(cd "$here" && echo linux-*.patch)" >&2
	exit 2
fi

short() { sha256sum | cut -c1-12; }

# recipe FUNCTION...: their text in this file
recipe() {
	for function; do
		sed -n "/^$function() {/,/^}/p" "$here/build.sh"
	done
}

# The package's version names the tarball's content: to hash 140 MB takes longer than the
# second call may. A compiler's or linker's first line has the distribution's own version.
if [ -n "$package" ]; then
	version=$(dpkg-query -W -f '${Version}' "$package")
else
	version=$(sha256sum <"$tarball")
fi
source_key=$series-$({ echo "$version"; cat "$patch"; recipe unpack; } | short)
libc=$(dpkg-query -W -f '${Version}' libc6-dev)
# shellcheck disable=SC2086 # a list of files
key=$({
	echo "$source_key"
	cat $configs
	gcc --version | head -1
	ld --version | head -1
	echo "$libc"
	recipe make_kernel build_kernel build_image
} | short)
src=$cache/src-$source_key
kernel=$cache/uml-$variant-$key
result=$kernel
[ "$want" = kernel ] || result=$kernel.modules-$(recipe build_modules | short)

# A directory with the key's name is complete.
if [ "$mode" = path ] || [ -e "$result" ]; then
	echo "$result"
	exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

# Progress: one line a step; while make runs, objects and the time to go.
say() { printf '[lab setup] %s\n' "$*" >&2; }

# progress TOTAL < what make says. Not awk: Debian 13's mawk reads a pipe in blocks.
progress() {
	n=0 begin=$(date +%s) step=100 end='\n'
	[ ! -t 2 ] || step=10 end='\r'
	while read -r what _; do
		case $what in
		CC | AR | LD | AS | HOSTCC) n=$((n + 1)) ;;
		*) continue ;;
		esac
		[ $((n % step)) -eq 0 ] && [ "$n" -lt "$1" ] || continue
		left=$((($(date +%s) - begin) * ($1 - n) / n))
		# shellcheck disable=SC2059 # the end of a line is a format
		printf "[lab setup] %d of about %d objects, about %d:%02d min to go $end" \
			"$n" "$1" $((left / 60)) $((left % 60)) >&2
	done
	[ ! -t 2 ] || echo >&2
}

# make_kernel FOLDER TARGET...: the same command and environment wherever it runs. The
# configuration must not depend on what is installed beside the compiler.
make_kernel() {
	folder=$1
	shift
	env -i PATH="$PATH" HOME="$HOME" KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=hopcc KBUILD_BUILD_VERSION=1 \
		make -C "$src" ARCH=um O="$folder" PAHOLE=none RUSTC=none BINDGEN=none \
		-j"$(nproc)" "$@" 2>&1
}

# build_kernel FOLDER TOTAL TARGET...: with progress; the log tells why when it fails
build_kernel() {
	folder=$1 total=$2 log=$cache/build-$variant.log
	shift 2
	rm -f "$log.done"
	{ make_kernel "$folder" "$@" && touch "$log.done"; } | tee "$log" | progress "$total"
	[ ! -e "$log.done" ] || return 0
	say "the kernel did not build; the last lines of $log:"
	tail -20 "$log" >&2
	exit 1
}

unpack() {
	[ ! -e "$src" ] || return 0
	say "unpacking $tarball"
	rm -rf "$src.part"
	mkdir -p "$src.part"
	# Not what no UML kernel has: two thirds of the time and of the space.
	tar -C "$src.part" --strip-components=1 -I 'xz -T0' \
		--exclude='*/arch/[!ux]*.[chS]' --exclude='*/arch/[!ux]*.dts*' \
		--exclude='*/Documentation/*/*' \
		--exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' \
		--exclude='*/drivers/net/ethernet/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' \
		--exclude='*/drivers/staging/*.[ch]' --exclude='*/drivers/scsi/*.[ch]' \
		--exclude='*/sound/*.[ch]' --exclude='*/tools/testing' -xf "$tarball"
	patch -s -p1 -d "$src.part" <"$patch" >"$cache/patch.log" 2>&1 || {
		say "linux-$series.patch does not fit $tarball any more:"
		cat "$cache/patch.log" >&2
		exit 1
	}
	mv "$src.part" "$src"
}

build_image() {
	unpack
	say "configuring the $variant kernel"
	rm -rf "$kernel.part"
	mkdir -p "$kernel.part"
	# shellcheck disable=SC2086 # a list of files
	cat $configs >"$kernel.part/all.config"
	make_kernel "$kernel.part" -s KCONFIG_ALLCONFIG="$kernel.part/all.config" allnoconfig \
		>"$cache/config.log" || { tail -20 "$cache/config.log" >&2; exit 1; }
	say "building the $variant kernel"
	build_kernel "$kernel.part" "$objects" linux modules_prepare
	# Modules of ours need the symbols of the kernel, none of its own modules'.
	cp "$kernel.part/vmlinux.symvers" "$kernel.part/Module.symvers"
	find "$kernel.part" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \) \
		! -path '*/scripts/*' ! -name vmlinux.o -delete
	rm -f "$kernel.part/vmlinux"
	mv "$kernel.part" "$kernel"
}

build_modules() {
	say "building the $variant kernel's own modules"
	rm -rf "$result.part" "$result.tree"
	cp -a "$kernel" "$result.tree"
	build_kernel "$result.tree" "$modules" modules
	make_kernel "$result.tree" INSTALL_MOD_PATH="$result.part" modules_install >"$cache/install.log" ||
		{ tail -20 "$cache/install.log" >&2; exit 1; }
	rm -rf "$result.tree"
	mv "$result.part" "$result"
}

# Remove the remains of interrupted builds: nobody else builds under the lock.
rm -rf "$cache"/uml-*.part "$cache"/uml-*.tree "$cache"/src-*.part

# Another process may have built it while this one waited.
[ -e "$kernel" ] || build_image
[ -e "$result" ] || build_modules
say "ready: $result"
echo "$result"
