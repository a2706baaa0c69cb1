#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Grafana's schema as types, and TypeScript's compiler, from npm, in the cache. Needs no root.
#
#   grafana-schema.sh          fetch them if they are not there; print their folder
#   grafana-schema.sh --path   print the folder only; exit 1 if they are not there
set -eu
packages="@grafana/schema@13.2.3 typescript@5.9.3"
dir=${XDG_CACHE_HOME:-$HOME/.cache}/hopcc/grafana-schema

finished()
{
	[ "$(cat "$dir/packages" 2>/dev/null)" = "$packages" ] && echo "$dir"
}

finished && exit
[ "${1:-}" != --path ] || {
	echo "grafana-schema.sh: no schema in $dir: run tools/setup/setup.sh matrix" >&2
	exit 1
}
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
finished && exit
echo "fetching Grafana's schema" >&2
# shellcheck disable=SC2086 # a list
npm install --silent --no-fund --no-audit --prefix "$dir" $packages >&2
echo "$packages" >"$dir/packages"
finished
