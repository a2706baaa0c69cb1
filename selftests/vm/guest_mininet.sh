#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest: the Mininet example of each system, in real time.
#
#   guest_mininet.sh MODULES_BUILD SYSTEM...
set -u
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../../tools
export TC_LIB_DIR="$build/tc" PYTHONPATH="$tools/mininet" PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
# shellcheck disable=SC2034 # common.sh's
kernel_modules=/lib/modules
# shellcheck source=selftests/vm/guest_hopcc/common.sh
. "$here/guest_hopcc/common.sh"
install_modules
load_all || exit 1
failed=0
for system; do
	echo "$system:"
	/usr/bin/python3 "$tools/mininet/examples/$system.py" 50 3 >"$tmp/out" 2>&1
	status=$?
	cat "$tmp/out"
	# An emulated CPU is slow: what is sent is bounded from below by little, what the port reports is not.
	awk -v status=$status '/ Mbit\/s$/ { rate += $2 } /^sent / { split($0, part, ", "); split(part[2], word, " "); reports = word[2] }
		END { exit !(status == 0 && rate > 2 && reports > 0) }' "$tmp/out" || { echo "^ failed, status $status"; failed=1; }
done
exit $failed
