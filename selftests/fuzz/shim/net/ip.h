/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_IP_H
#define FUZZ_SHIM_NET_IP_H

#include <linux/ip.h>
#include <string.h>

/* 0 of a header whose checksum is right. */
static inline __sum16 ip_fast_csum(const void *header, unsigned int words)
{
	u32 sum = 0, i;
	u16 half;

	for (i = 0; i < 2 * words; i++) {
		memcpy(&half, (const u8 *)header + 2 * i, sizeof(half));
		sum += half;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

#endif
