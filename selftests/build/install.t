#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make install` puts the modules where the kernel of KDIR looks for them,
# whichever kernel runs. Nothing is installed: make only says what it would do.
# shellcheck source=selftests/build/build_lib.sh
. "$(dirname "$0")/build_lib.sh"

kdir=build/install-test
mkdir -p "$kdir/include/generated"
echo '#define UTS_RELEASE "9.9.9-other"' >"$kdir/include/generated/utsrelease.h"
log=$kdir/log

make -n "KDIR=$kdir" MODULES=x.ko install >"$log" 2>&1
grep -q '^install -m 644 x.ko /lib/modules/9\.9\.9-other/updates/hopcc$' "$log"
tap_result $? "modules go to the kernel of KDIR" "$log"
grep -q 'depmod 9\.9\.9-other$' "$log"
tap_result $? "and depmod is for it" "$log"
make -n "KDIR=$kdir" MODULES=x.ko DESTDIR=/d install >"$log" 2>&1
grep -q '^install -m 644 x.ko /d/lib/modules/9\.9\.9-other/updates/hopcc$' "$log"
tap_result $? "below DESTDIR too" "$log"
make -n "KDIR=$kdir" MODULES=x.ko DESTDIR=/d install >"$log" 2>&1
grep -q '^ln -sf \.\./share/hopcc/hopstat /d/usr/sbin/hopstat$' "$log" &&
	grep -q '^install -m 755 tools/hopstat/hopstat /d/usr/share/hopcc$' "$log"
tap_result $? "hopstat and what it is made of" "$log"
grep -q '^install -m 755 .*tools/intlayout/intlayout /d/usr/sbin$' "$log"
tap_result $? "intlayout, too" "$log"
make KDIR=/nonexistent install >"$log" 2>&1
[ $? = 2 ] && grep -q 'no kernel headers in /nonexistent: .*apt-get install' "$log"
tap_result $? "no headers: what to install" "$log"
tap_done
