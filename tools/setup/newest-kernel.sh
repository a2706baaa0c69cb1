#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The newest kernel that Debian packages, 7.x of Debian 13's backports, with the system that
# builds for it: its headers want that system's compiler and C library. A Debian 13 in the cache;
# nothing of this machine changes. As root: a system is unpacked and entered by chroot.
#
#   newest-kernel.sh            make it if it is not there; print its directory
#   newest-kernel.sh --path     print the directory only; exit 1 if not there
#   newest-kernel.sh --run COMMAND [ARGUMENT...]
#                               run it there, the working directory beside it
#
# In it: boot/vmlinuz-VER, lib/modules/VER, usr/src/linux-headers-VER, and the file
# `version` with VER.
set -eu
suite=trixie
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc
dir=$cache/debian-$suite
PATH=$PATH:/usr/sbin:/sbin

die()
{
	echo "newest-kernel.sh: $*" >&2
	exit 1
}

# in_root FOLDER COMMAND...: in FOLDER, which is the machine's; mounts of its own, gone with it
in_root()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount sh -euc '
		root=$1 folder=$2
		shift 2
		mount -t proc proc "$root/proc"
		mkdir -p "$root$folder"
		mount --rbind "$folder" "$root$folder"
		exec chroot "$root" sh -euc "cd \"\$1\"; shift; exec \"\$@\"" sh "$folder" "$@"
	' sh "$dir" "$@"
}

if [ "${1:-}" = --run ]; then
	[ -e "$dir/version" ] || die "nothing in $dir: run tools/setup/setup.sh matrix"
	shift
	in_root "$PWD" "$@"
	exit
fi
if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi
[ "${1:-}" != --path ] || die "nothing in $dir: run tools/setup/setup.sh matrix"
[ "$(id -u)" -eq 0 ] || die "a system can be unpacked by root only"

mkdir -p "$cache"
exec 9>"$cache/debian-$suite.lock"
flock 9
if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi

# Where this machine gets its Debian from is where the other is.
VERSION_CODENAME=''
# shellcheck source=/dev/null
. /etc/os-release
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
uri=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" \
	'Component: main' 'Created-By: Packages' | head -1)
[ -n "$uri" ] || die "no Debian in the apt sources"

log=$cache/debian-$suite.log
rm -rf "$dir"
echo "unpacking Debian 13 from $uri" >&2
debootstrap --variant=minbase "$suite" "$dir" "$uri" >"$log" 2>&1 ||
	{ tail -3 "$log" >&2; die "debootstrap: all of it is in $log"; }
echo "deb $uri $suite-backports main" >"$dir/etc/apt/sources.list.d/backports.list"
echo "fetching its newest kernel, headers and compiler" >&2
debs=$(mktemp -d)
trap 'rm -rf "$debs"' EXIT
# shellcheck disable=SC2016 # the inner shell's
DEBIAN_FRONTEND=noninteractive in_root "$debs" sh -euc '
	apt-get -q update
	apt-get -q -y --no-install-recommends -t "$1-backports" install \
		make kmod binutils gcc linux-headers-amd64
	ver=$(ls /usr/src | sed -n "s/^linux-headers-\(.*-amd64\)$/\1/p" | sort -V | tail -1)
	# Unpacked, not installed: an image wants an initramfs. Newer ones are split.
	apt-get -q -o APT::Sandbox::User= download \
		$(apt-cache pkgnames linux- | grep -Fx -e "linux-image-$ver" \
			-e "linux-base-$ver" -e "linux-binary-$ver" -e "linux-modules-$ver")
	mkdir /kernel
	for deb in linux-*.deb; do
		dpkg-deb -x "$deb" /kernel
	done
	[ -e /kernel/lib ] || ln -s usr/lib /kernel/lib
	# 7.3 has it beside the modules.
	if [ ! -e "/kernel/boot/vmlinuz-$ver" ]; then
		mkdir -p /kernel/boot
		ln -s "../lib/modules/$ver/vmlinuz" "/kernel/boot/vmlinuz-$ver"
	fi
	test -r "/kernel/boot/vmlinuz-$ver"
	depmod -b /kernel "$ver"
	apt-get clean
	echo "$ver" >/version.new
' sh "$suite" >>"$log" 2>&1 9>&- || { tail -3 "$log" >&2; die "all of it is in $log"; }
mv "$dir/version.new" "$dir/version"
rm -f "$log"
echo "$dir"
