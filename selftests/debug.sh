#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run one test of debug.list in a guest with the debug kernel. Prints TAP.
#
#   selftests/debug.sh KIND/NAME        prove selftests/debug.sh :: netns/xcp_wire
#   selftests/debug.sh --wrappers DIR   write DIR/KIND/NAME-debug.t for each, and print their paths
set -u
cd "$(dirname "$0")/.." || exit 2
list=selftests/debug.list

if [ "${1:-}" = --wrappers ]; then
	grep -v '^#' $list | while read -r name _; do
		wrapper=$2/$name-debug.t
		mkdir -p "${wrapper%/*}"
		printf '#!/bin/sh\nexec "%s/selftests/debug.sh" %s\n' "$PWD" "$name" >"$wrapper"
		chmod +x "$wrapper"
		echo "$wrapper"
	done
	exit
fi

entry=$(awk -v name="${1:-}" '$1 == name' $list)
[ -n "$entry" ] || {
	echo "Bail out! debug.sh: '${1:-}' is not in $list: $(awk '!/^#/ { printf "%s ", $1 }' $list)"
	exit 2
}
# shellcheck disable=SC2086 # its words
set -- $entry
needs=$2
shift 2

tools/lab/lab setup --kernel debug >/dev/null || exit 1
case $needs in
-) ;;
nft)
	# shellcheck source=selftests/lib/nft.sh
	. selftests/lib/nft.sh
	;;
*)
	# shellcheck source=selftests/netns/module_lib.sh
	. selftests/netns/module_lib.sh
	build_module debug "$needs"
	;;
esac
for word; do
	shift
	# shellcheck disable=SC2154 # set by build_module
	[ "$word" != @ ] || word=$module
	set -- "$@" "$word"
done
program=selftests/$1
shift
exec tools/lab/lab exec --kernel debug --timeout 600 -- /usr/bin/python3 -B "$program" "$@"
