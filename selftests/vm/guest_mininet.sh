#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run in a test guest: the Mininet example of each system, in real time.
#
#   guest_mininet.sh MODULES_BUILD SYSTEM...
set -u
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
export TC_LIB_DIR="$build/tc"
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
	mininet_example "$system" 2 3 || { echo "^ failed, status $status"; failed=1; }
done
exit $failed
