#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Prepare an unpacked kernel source for the lab.
#
# The clock: stock UML counts in 256 ns steps, with a least timer of 500 ns and a
# tick of 10 ms; virtual time can be exact.
# The fork handler walks the address space without its lock: lockdep reports that
# at the first fork, and is silent for ever after.
# Chance: stock kernels mix the moments of interrupts, exits and much else in, and those
# know how long the path of a checkout is; here it is getrandom() of the host's alone,
# which the lab seeds (guest/entropy.c).
#
#   patch-source.sh SOURCE
set -eu

um=$1/arch/um
for header in "$um"/include/shared/timer-internal.h "$um"/include/linux/time-internal.h; do
	[ -e "$header" ] || continue
	sed -i 's/^#define TIMER_MULTIPLIER.*/#define TIMER_MULTIPLIER 1/
		s/^#define TIMER_MIN_DELTA.*/#define TIMER_MIN_DELTA 1/' "$header"
done
sed -i '/^config HZ$/,/^$/s/default 100$/default 1000/' "$um/Kconfig"

if ! grep -q mmap_read_lock "$um/kernel/tlb.c"; then
	sed -i '/^void force_flush_all(void)/,/^}/{
		s/^\tfor_each_vma(vmi, vma)$/\tmmap_read_lock(mm);\n&/
		s/^}$/\tmmap_read_unlock(mm);\n}/
	}' "$um/kernel/tlb.c"
fi

pool='^\tblake2s_update(&input_pool\.hash, buf, len);$'
random=$1/drivers/char/random.c
sed -i "s/$pool/\tif (!IS_ENABLED(CONFIG_UML))\n\t&/" "$random"

if ! grep -q 'if (!IS_ENABLED(CONFIG_UML))' "$random"; then
	echo "patch-source.sh: the pool of entropy is not where it was in 6.1" >&2
	exit 1
fi

if ! grep -rq 'define TIMER_MULTIPLIER 1$' "$um/include" ||
   ! grep -rq 'define TIMER_MIN_DELTA 1$' "$um/include" ||
   ! grep -q 'default 1000$' "$um/Kconfig"; then
	echo "patch-source.sh: the clock constants are not where they were in 6.1" >&2
	exit 1
fi
