#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Make the virtual clock of an unpacked kernel source exact: stock UML counts in
# 256 ns steps, with a least timer of 500 ns and a tick of 10 ms.
#
#   patch-clock.sh SOURCE
set -eu

um=$1/arch/um
for header in "$um"/include/shared/timer-internal.h "$um"/include/linux/time-internal.h; do
	[ -e "$header" ] || continue
	sed -i 's/^#define TIMER_MULTIPLIER.*/#define TIMER_MULTIPLIER 1/
		s/^#define TIMER_MIN_DELTA.*/#define TIMER_MIN_DELTA 1/' "$header"
done
sed -i '/^config HZ$/,/^$/s/default 100/default 1000/' "$um/Kconfig"

if ! grep -rq 'define TIMER_MULTIPLIER 1$' "$um/include" ||
   ! grep -rq 'define TIMER_MIN_DELTA 1$' "$um/include" ||
   ! grep -q 'default 1000' "$um/Kconfig"; then
	echo "patch-clock.sh: the clock constants are not where they were in 6.1" >&2
	exit 1
fi
