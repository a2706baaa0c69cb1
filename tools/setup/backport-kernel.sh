#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The second kernel that Debian 12 offers: 6.12 of its backports suite, image,
# modules and headers, unpacked in the cache and not installed: the machine's
# apt sources, boot loader and /usr/src stay as they are. Needs no root.
#
#   backport-kernel.sh          fetch if it is not there; print its directory
#   backport-kernel.sh --path   print the directory only; exit 1 if not there
#
# In it: boot/vmlinuz-VER, lib/modules/VER, usr/src/linux-headers-VER, and the
# file `version` with VER.
set -eu
suite=bookworm-backports series=6.12
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/deb-$series

die()
{
	echo "backport-kernel.sh: $*" >&2
	exit 1
}

if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi
[ "${1:-}" != --path ] || die "no $series kernel in $dir: run tools/setup/setup.sh check"

mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
if [ -e "$dir/version" ]; then
	echo "$dir"
	exit 0
fi

# Where this machine gets Debian 12 from is where its backports are.
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' \
	'Component: main' 'Created-By: Packages' | head -1)
[ -n "$uri" ] || die "no Debian 12 (bookworm main) in the apt sources"

# An apt of our own: own source, own lists, own cache.
apt=$dir/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/none"
echo "deb [arch=amd64] $uri $suite main" >"$apt/sources.list"
set -- -o "Dir::Etc::SourceList=$apt/sources.list" \
	-o "Dir::Etc::SourceParts=$apt/none" \
	-o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" \
	-o Acquire::Languages=none -o APT::Sandbox::User= -q
apt-get "$@" update >"$apt/log" 2>&1 ||
	{ tail -3 "$apt/log" >&2; die "cannot read $suite of this machine's mirror"; }

# The newest generic kernel of the series: linux-headers-6.12.N+deb12-amd64.
ver=$(apt-cache "$@" pkgnames "linux-headers-$series." |
	sed -n 's/^linux-headers-\(.*+deb12-amd64\)$/\1/p' |
	grep -v -e cloud -e '-rt-' | sort -V | tail -1)
[ -n "$ver" ] || die "no linux-headers-$series.*+deb12-amd64 in $suite"
base=${ver%-amd64}
echo "fetching Linux $ver" >&2
(
	cd "$apt/archives"
	apt-get "$@" download "linux-image-$ver" "linux-headers-$ver" \
		"linux-headers-$base-common" "linux-kbuild-$base" >>"$apt/log" 2>&1
) || { tail -3 "$apt/log" >&2; die "cannot download Linux $ver"; }

for deb in "$apt"/archives/*.deb; do
	dpkg-deb -x "$deb" "$dir"
done
# The headers name each other by absolute paths: move those here.
headers=$dir/usr/src/linux-headers-$ver
grep -rlI --include='Makefile*' --include='*.mk' /usr/src/linux-headers "$headers" |
	xargs -r sed -i "s,/usr/src/linux-headers,$dir/usr/src/linux-headers,g"
find "$dir/usr" "$dir/lib" -type l -lname '/usr/*' | while read -r link; do
	ln -sfn "$dir$(readlink "$link")" "$link"
done
PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir" "$ver"
rm -rf "$apt"
echo "$ver" >"$dir/version.new"
mv "$dir/version.new" "$dir/version"
echo "$dir"
