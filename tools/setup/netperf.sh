#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# netperf and netserver for tests: Debian has them in non-free, which the apt sources of most machines
# leave out. Unpacked in the cache, not installed. Needs no root.
#
#   netperf.sh          fetch them if they are not there; print their folder
#   netperf.sh --path   print the folder only; exit 1 if not there
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/netperf

die()
{
	echo "netperf.sh: $*" >&2
	exit 1
}

# shellcheck source=tools/setup/unpack-kernel.sh
. "$here/unpack-kernel.sh"

finished()
{
	[ -x "$dir/usr/bin/netperf" ] && echo "$dir/usr/bin"
}

finished && exit
[ "${1:-}" != --path ] || die "no netperf in $dir: run tools/setup/setup.sh matrix"
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
finished && exit

VERSION_CODENAME=''
# shellcheck source=/dev/null
. /etc/os-release
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
uri=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" \
	'Component: main' 'Created-By: Packages' | head -1)
[ -n "$uri" ] || die "no Debian in the apt sources"
mkdir -p "$apt/none"
echo "deb [arch=amd64] $uri $VERSION_CODENAME non-free" >"$apt/sources.list"
echo "fetching netperf" >&2
read_packages "$VERSION_CODENAME non-free, at this machine's mirror" "
Dir::Etc::SourceList \"$apt/sources.list\";
Dir::Etc::SourceParts \"$apt/none\";"
download netperf
mkdir "$dir/new"
dpkg-deb -x "$apt"/archives/netperf_*.deb "$dir/new"
mv "$dir/new/usr" "$dir/usr"
rm -rf "$apt" "$dir/new"
finished
