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
apt=$dir/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
cat >"$apt/apt.conf" <<END
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt";
APT::Architectures { "amd64"; "$arch"; };
Acquire::Languages "none";
APT::Sandbox::User "";
END
export APT_CONFIG="$apt/apt.conf"
apt-get -q update >"$apt/log" 2>&1 ||
	{ tail -3 "$apt/log" >&2; die "cannot read the packages of $arch"; }

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
(cd "$apt/archives" && apt-get -q download "$@" >>"$apt/log" 2>&1) ||
	{ tail -3 "$apt/log" >&2; die "cannot download $*"; }
for deb in "$apt"/archives/*.deb; do
	dpkg-deb -x "$deb" "$dir"
done

# The headers name each other by absolute paths: move those here.
headers=$dir/usr/src/linux-headers-$ver
grep -rlI --include='Makefile*' --include='*.mk' /usr/src/linux-headers "$headers" |
	xargs -r sed -i "s,/usr/src/linux-headers,$dir/usr/src/linux-headers,g"
find "$dir/usr" "$dir/lib" -type l -lname '/usr/*' 2>/dev/null | while read -r link; do
	ln -sfn "$dir$(readlink "$link")" "$link"
done
[ "$flavour" != rt-amd64 ] || PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir" "$ver"
rm -rf "$apt"
echo "$ver" >"$dir/version.new"
mv "$dir/version.new" "$dir/version"
echo "$dir"
