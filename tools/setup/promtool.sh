#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# promtool, which checks metrics and queries: one program of Debian's package prometheus, in the cache. The
# package itself has a server, which would start, and fonts and scripts for its pages: 95 MB in all. Needs no
# root.
#
#   promtool.sh          fetch it if it is not there; print its path
#   promtool.sh --path   print its path only; exit 1 if not there
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/promtool

die()
{
	echo "promtool.sh: $*" >&2
	exit 1
}

# shellcheck source=tools/setup/unpack-kernel.sh
. "$here/unpack-kernel.sh"

finished()
{
	[ -x "$dir/promtool" ] && echo "$dir/promtool"
}

finished && exit
[ "${1:-}" != --path ] || die "no promtool in $dir: run tools/setup/setup.sh check"
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
finished && exit
echo "fetching promtool" >&2
read_packages "this system"
download prometheus
dpkg-deb --fsys-tarfile "$apt"/archives/prometheus_*.deb | tar -x -O ./usr/bin/promtool >"$dir/new"
chmod 755 "$dir/new"
mv "$dir/new" "$dir/promtool"
rm -rf "$apt"
finished
