#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Other builds of this system's own kernel series as Debian packages them: headers, and of a
# kernel for this machine the image and modules too. Unpacked in the cache and not installed.
# Needs no root.
#
#   other-kernel.sh FLAVOUR          fetch it if it is not there; print its directory
#   other-kernel.sh FLAVOUR --path   print the directory only; exit 1 if not there
#
# FLAVOUR: arm64, s390x (big endian), or rt-amd64 (PREEMPT_RT). In the directory:
# usr/src/linux-headers-VER, boot/vmlinuz-VER and lib/modules/VER of rt-amd64, and the file
# `version` with VER.
set -eu
flavour=${1:-} here=$(cd "$(dirname "$0")" && pwd)

die()
{
	echo "other-kernel.sh: $*" >&2
	exit 1
}

case $flavour in
arm64 | s390x) arch=$flavour ;;
rt-amd64) arch=amd64 ;;
*) die "unknown flavour '$flavour': arm64, s390x or rt-amd64" ;;
esac
# The system's own is the first that it tests with.
series=$("$here/setup.sh" series)
series=${series%% *}
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/deb-$series-$flavour
# shellcheck source=tools/setup/unpack-kernel.sh
. "$here/unpack-kernel.sh"

if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi
[ "${2:-}" != --path ] || die "nothing in $dir: run tools/setup/setup.sh matrix"

mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi

# The machine's apt sources, and an apt of our own that also reads the other architecture.
read_packages "$arch" "APT::Architectures { \"amd64\"; \"$arch\"; };"

# linux-headers-6.1.0-N-arm64, linux-headers-6.12.N+deb13-arm64: the newest.
ver=$(apt-cache pkgnames "linux-headers-$series." |
	sed -n "s/^linux-headers-\(.*-$flavour\)\$/\1/p" | grep -v -e cloud -e '16k' |
	{ [ "$flavour" = rt-amd64 ] && cat || grep -v -e '-rt-'; } | sort -V | tail -1)
[ -n "$ver" ] || die "no linux-headers-$series.*-$flavour"
base=${ver%-"$flavour"}
common=linux-headers-$base-common
[ "$flavour" != rt-amd64 ] || common=linux-headers-$base-common-rt
# Programs that run here: of this machine's architecture.
kbuild=$(apt-cache show "linux-headers-$ver:$arch" | grep -o 'linux-kbuild-[^ ,:]*' | head -1)
set -- "linux-headers-$ver:$arch" "$common" "$kbuild:amd64"
[ "$flavour" != rt-amd64 ] || set -- "$@" "linux-image-$ver"
echo "fetching Linux $ver for $arch" >&2
download "$@"
unpack_kernel "$ver"
echo "$dir"
