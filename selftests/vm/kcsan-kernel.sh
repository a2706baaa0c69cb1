#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel with KCSAN, the kernel's detector of data races, for the guest of kcsan-matrix.t. It is
# built once, from the distribution's source as the lab unpacks it, into the cache.
#
#   kcsan-kernel.sh          build it if it is not there; print its directory
#   kcsan-kernel.sh --path   print the directory only
#
# In the directory: boot/vmlinuz-VER, lib/modules/VER, `build` to build modules with, and the
# file `version` with VER. The directory's name contains a hash of all that decides the result.
set -eu
cd "$(dirname "$0")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc
configs="tools/lab/kernel/lab.config selftests/vm/kcsan.config"

die()
{
	echo "kcsan-kernel.sh: $*" >&2
	exit 1
}

# The lab's patch for this source changes User-Mode Linux only.
lab_kernel=$(tools/lab/kernel/build.sh release)
src=$(readlink -f "$lab_kernel/source")
[ -e "$src/lib/Kconfig.kcsan" ] || die "no kernel source in $src"

# shellcheck disable=SC2086 # a list of files
key=$({
	echo "${src##*/}"
	cat $configs selftests/vm/kcsan-kernel.sh
	gcc --version | head -1
	ld --version | head -1
} | sha256sum | cut -c 1-12)
dir=$cache/kcsan-$key
part=$dir.part log=$cache/build-kcsan.log
if [ "${1:-}" = --path ] || [ -e "$dir" ]; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/kcsan.lock"
flock 9
if [ -e "$dir" ]; then
	echo "$dir"
	exit 0
fi

# make_kernel TARGET...: in an environment that does not change the result
make_kernel()
{
	env -i PATH="$PATH" HOME="$HOME" KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=hopcc KBUILD_BUILD_VERSION=1 \
		make -C "$src" ARCH=x86_64 O="$part/build" PAHOLE=none RUSTC=none BINDGEN=none \
		-j"$(nproc)" "$@" >>"$log" 2>&1 9>&- ||
		{ tail -n 20 "$log" >&2; die "the kernel did not build: all of it is in $log"; }
}

# What a module of the lab's kernel is, this one has built in only if kcsan.config names it.
configure()
{
	# shellcheck disable=SC2086 # a list of files
	cat $configs | grep -v '=m$' >"$part/build/all.config"
	make_kernel -s KCONFIG_ALLCONFIG="$part/build/all.config" allnoconfig
	# Kconfig leaves out in silence what depends on something that is not there.
	grep '=' selftests/vm/kcsan.config | grep '^CONFIG' | while read -r line; do
		grep -qxF "$line" "$part/build/.config" || die "$line does not hold in the configuration"
	done
}

# The tree of modules, which are none: what modprobe and depmod read.
module_tree()
{
	tree=$part/lib/modules/$1
	mkdir -p "$tree"
	cp "$part/build/modules.builtin" "$part/build/modules.builtin.modinfo" "$tree"
	: >"$tree/modules.order"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$part" "$1"
}

rm -rf "$part"
mkdir -p "$part/build" "$part/boot"
: >"$log"
echo "building a kernel with KCSAN" >&2
configure
make_kernel bzImage modules_prepare
ver=$(cat "$part/build/include/config/kernel.release")
cp "$part/build/arch/x86/boot/bzImage" "$part/boot/vmlinuz-$ver"
cp "$part/build/vmlinux.symvers" "$part/build/Module.symvers"
module_tree "$ver"
echo "$ver" >"$part/version"
find "$part/build" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \) ! -path '*/scripts/*' \
	! -path '*/tools/objtool/*' -delete
rm -f "$part/build/vmlinux"
mv "$part" "$dir"
echo "$dir"
