/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_TCP_H
#define FUZZ_SHIM_LINUX_TCP_H

#include <linux/skbuff.h>

struct tcphdr {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack_seq;
#if __BYTE_ORDER == __LITTLE_ENDIAN
	u8 res1:4, doff:4;
#else
	u8 doff:4, res1:4;
#endif
	u8 flags;
	__be16 window;
	__sum16 check;
	__be16 urg_ptr;
};

static inline unsigned int __tcp_hdrlen(const struct tcphdr *th)
{
	return th->doff * 4;
}

#endif
