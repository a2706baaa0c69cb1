/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_CHECKSUM_H
#define FUZZ_SHIM_NET_CHECKSUM_H

#include <linux/types.h>

#define CSUM_MANGLED_0 ((__sum16)0xffff)

static inline __wsum csum_add(__wsum a, __wsum b)
{
	const u64 sum = (u64)a + b;

	return (__wsum)(sum + (sum >> 32));
}

static inline __wsum csum_sub(__wsum a, __wsum b)
{
	return csum_add(a, ~b);
}

static inline __sum16 csum_fold(__wsum sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static inline __wsum csum_unfold(__sum16 sum)
{
	return sum;
}

static inline void csum_replace2(__sum16 *sum, __be16 old, __be16 new)
{
	*sum = csum_fold(csum_add(csum_sub(~csum_unfold(*sum), csum_unfold(old)),
				  csum_unfold(new)));
}

/* @bytes is even except at the end of a packet. */
static inline __wsum csum_partial(const void *from, int bytes, __wsum sum)
{
	const u8 *byte = from;
	int i;

	for (i = 0; i + 1 < bytes; i += 2)
		sum = csum_add(sum, cpu_to_be16(byte[i] << 8 | byte[i + 1]));
	return i < bytes ? csum_add(sum, cpu_to_be16(byte[i] << 8)) : sum;
}

#endif
