/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_PROTOCOL_H
#define FUZZ_SHIM_NET_PROTOCOL_H

#include <linux/skbuff.h>

struct net_offload {
	struct {
		struct sk_buff *(*gso_segment)(struct sk_buff *skb, u64 features);
	} callbacks;
};

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || (unsigned long)pointer >= (unsigned long)-4095;
}

#endif
