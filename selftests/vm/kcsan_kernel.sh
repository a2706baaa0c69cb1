#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel with KCSAN, the kernel's detector of data races, for the guest of kcsan-matrix.t. It is
# built once, from the distribution's source, into the cache.
#
#   kcsan_kernel.sh          build it if it is not there; print its directory
#   kcsan_kernel.sh --path   print the directory only
#
# In the directory: boot/vmlinuz-VER, lib/modules/VER, `build` to build modules with, `source`, and
# the file `version` with VER, which is written last. The directory's name contains a hash of all
# that decides the result.
set -eu
cd "$(dirname "$0")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc
configs="tools/lab/kernel/lab.config selftests/vm/kcsan.config"

die()
{
	echo "kcsan_kernel.sh: $*" >&2
	exit 1
}

series=$(tools/setup/setup.sh series)
series=${series%% *}
tarball=/usr/src/linux-source-$series.tar.xz
[ -e "$tarball" ] || die "no $tarball: run tools/setup/setup.sh check"

# shellcheck disable=SC2086 # a list of files
key=$({
	dpkg-query -W -f '${Version}' "linux-source-$series"
	cat $configs selftests/vm/kcsan_kernel.sh
	gcc --version | head -1
	ld --version | head -1
} | sha256sum | cut -c 1-12)
dir=$cache/kcsan-$series-$key
log=$cache/build-kcsan.log
if [ "${1:-}" = --path ] || [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/kcsan.lock"
flock 9
if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi

# Not what this kernel is not built from: most of the time and of the space.
unpack()
{
	tar -C "$dir/source" --strip-components=1 -I 'xz -T0' --anchored \
		--exclude="linux-source-$series/arch/[!x]*.[chS]" \
		--exclude="linux-source-$series/Documentation/*/*" \
		--exclude="linux-source-$series/drivers/gpu/*.[ch]" \
		--exclude="linux-source-$series/drivers/media/*.[ch]" \
		--exclude="linux-source-$series/drivers/net/[!i]*/*.[ch]" \
		--exclude="linux-source-$series/drivers/staging/*.[ch]" \
		--exclude="linux-source-$series/drivers/scsi/*.[ch]" \
		--exclude="linux-source-$series/sound/*.[ch]" \
		--exclude="linux-source-$series/tools/testing" -xf "$tarball"
}

# make_kernel TARGET...: in an environment that does not change the result
make_kernel()
{
	env -i PATH="$PATH" HOME="$HOME" KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=hopcc KBUILD_BUILD_VERSION=1 \
		make -C "$dir/source" ARCH=x86_64 O="$dir/build" PAHOLE=none RUSTC=none BINDGEN=none \
		-j"$(nproc)" "$@" >>"$log" 2>&1 9>&- ||
		{ tail -n 20 "$log" >&2; die "the kernel did not build: all of it is in $log"; }
}

# An option that is a module in the lab's kernel is built in here only if kcsan.config names it.
configure()
{
	# shellcheck disable=SC2086 # a list of files
	cat $configs | grep -v '=m$' >"$dir/build/all.config"
	make_kernel -s KCONFIG_ALLCONFIG="$dir/build/all.config" allnoconfig
	# Kconfig leaves out in silence what depends on something that is not there.
	grep '=' selftests/vm/kcsan.config | grep '^CONFIG' | while read -r line; do
		grep -qxF "$line" "$dir/build/.config" || die "$line does not hold in the configuration"
	done
}

# The tree of modules, which are none: what modprobe and depmod read.
module_tree()
{
	tree=$dir/lib/modules/$1
	mkdir -p "$tree"
	cp "$dir/build/modules.builtin" "$dir/build/modules.builtin.modinfo" "$tree"
	: >"$tree/modules.order"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir" "$1"
}

rm -rf "$dir"
mkdir -p "$dir/source" "$dir/build" "$dir/boot"
: >"$log"
echo "building a kernel with KCSAN" >&2
unpack
configure
make_kernel bzImage modules_prepare
ver=$(cat "$dir/build/include/config/kernel.release")
cp "$dir/build/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$ver"
cp "$dir/build/vmlinux.symvers" "$dir/build/Module.symvers"
module_tree "$ver"
find "$dir/build" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \) ! -path '*/scripts/*' \
	! -path '*/tools/objtool/*' -delete
rm -f "$dir/build/vmlinux"
echo "$ver" >"$dir/version"
echo "$dir"
