#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The Debian packages: what DKMS builds are the modules of the tree, all with the package's version, and
# hopcc-tools builds and has no finding of lintian's. deb-matrix.t builds all and installs them.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"
log=build/packages.log
for tool in dpkg-buildpackage dh dh_dkms lintian; do
	command -v "$tool" >/dev/null || tap_skip "no $tool: run tools/setup/setup.sh check"
done

sed -nE 's,^obj-m \+= ([a-z_]+)/$,\1,p' Kbuild | sort >build/packages.tree
sed -nE 's,^BUILT_MODULE_NAME\[[0-9]+\]="([a-z_]+)"$,\1,p' debian/hopcc-dkms.dkms | sort >build/packages.dkms
[ -s build/packages.tree ] && diff build/packages.tree build/packages.dkms >"$log"
tap_result $? "DKMS builds the modules of Kbuild" "$log"
numbers=$(sed -nE 's,^(BUILT_MODULE_NAME|BUILT_MODULE_LOCATION|DEST_MODULE_LOCATION)\[([0-9]+)\].*,\2,p' \
	debian/hopcc-dkms.dkms | sort -n | uniq -c | awk '{ printf "%s ", $1 * 1000 + $2 }')
seq -s ' ' 3000 $((2999 + $(wc -l <build/packages.tree))) >"$log"
[ "$numbers" = "$(cat "$log") " ]
tap_result $? "and knows for each where it is built and where it goes" "$log"

header=$(sed -nE 's/^#define HOPCC_VERSION "(.*)"$/\1/p' include/hopcc/lib/hop_version.h)
packages=$(sed -nE '1s/^hopcc \((.*)\) .*/\1/p' debian/changelog)
echo "header $header, debian/changelog $packages" >"$log"
[ -n "$header" ] && [ "$header" = "$packages" ]
tap_result $? "the modules and the packages have one version" "$log"
while read -r module; do
	grep -lqE '^(MODULE_VERSION\(HOPCC_VERSION\);$|HOP_CC_MODULE\()' "$module"/*.c || echo "$module"
done <build/packages.tree >"$log"
grep -q "MODULE_VERSION(HOPCC_VERSION)" include/hopcc/core/hop_cc.h || echo hop_cc.h >>"$log"
[ ! -s "$log" ]
tap_result $? "every module states it" "$log"

debian/build.sh --tools build/deb-tools >"$log" 2>&1
tap_result $? "hopcc-tools builds" "$log"
lintian --allow-root --fail-on error,warning build/deb-tools/hopcc_*.changes >"$log" 2>&1
tap_result $? "lintian has nothing to say of it" "$log"
tap_done
