#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The second kernel that Debian 12 offers: 6.12 of its backports suite, image,
# modules and headers, unpacked in the cache and not installed: the machine's
# apt sources, boot loader and /usr/src stay as they are. Needs no root.
#
#   backport-kernel.sh          fetch if it is not there; print its directory
#   backport-kernel.sh --path   print the directory only; exit 1 if not there
#   backport-kernel.sh --source its source as well, for the lab's kernel; print the tarball
#
# In it: boot/vmlinuz-VER, lib/modules/VER, usr/src/linux-headers-VER, and the
# file `version` with VER.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
suite=bookworm-backports series=6.12
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/deb-$series

die()
{
	echo "backport-kernel.sh: $*" >&2
	exit 1
}

# shellcheck source=tools/setup/unpack-kernel.sh
. "$here/unpack-kernel.sh"

option=${1:-}
source=$dir/usr/src/linux-source-$series.tar.xz

# finished: print what was asked for; fails if it is not there
finished()
{
	result=$dir/version
	[ "$option" != --source ] || result=$source
	[ -e "$result" ] || return 1
	[ "$option" != --source ] || { echo "$source"; return; }
	echo "$dir"
}

finished && exit
[ "$option" != --path ] || die "no $series kernel in $dir: run tools/setup/setup.sh check"

mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
finished && exit

# Where this machine gets Debian 12 from is where its backports are.
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' \
	'Component: main' 'Created-By: Packages' | head -1)
[ -n "$uri" ] || die "no Debian 12 (bookworm main) in the apt sources"

# An apt with a source of its own as well.
mkdir -p "$apt/none"
echo "deb [arch=amd64] $uri $suite main" >"$apt/sources.list"
read_packages "$suite, at this machine's mirror" "
Dir::Etc::SourceList \"$apt/sources.list\";
Dir::Etc::SourceParts \"$apt/none\";"

if [ "$option" = --source ]; then
	echo "fetching the source of Linux $series" >&2
	download "linux-source-$series"
	dpkg-deb -x "$apt/archives/linux-source-$series"_*.deb "$apt/unpacked"
	mkdir -p "${source%/*}"
	mv "$apt/unpacked${source#"$dir"}" "$source"
	rm -rf "$apt"
	finished
	exit
fi

# The newest generic kernel of the series: linux-headers-6.12.N+deb12-amd64.
ver=$(apt-cache pkgnames "linux-headers-$series." |
	sed -n 's/^linux-headers-\(.*+deb12-amd64\)$/\1/p' |
	grep -v -e cloud -e '-rt-' | sort -V | tail -1)
[ -n "$ver" ] || die "no linux-headers-$series.*+deb12-amd64 in $suite"
base=${ver%-amd64}
echo "fetching Linux $ver" >&2
download "linux-image-$ver" "linux-headers-$ver" "linux-headers-$base-common" "linux-kbuild-$base"
unpack_kernel "$ver"
echo "$dir"
