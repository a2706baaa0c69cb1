/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_INET_ECN_H
#define FUZZ_SHIM_NET_INET_ECN_H

#include <linux/ipv6.h>

enum {
	INET_ECN_NOT_ECT,
	INET_ECN_ECT_1,
	INET_ECN_ECT_0,
	INET_ECN_CE,
	INET_ECN_MASK = 3,
};

static inline int IP_ECN_set_ce(struct iphdr *ip)
{
	if (!(ip->tos & INET_ECN_MASK))
		return 0;
	ip->tos |= INET_ECN_CE;
	return 1;
}

static inline int IP6_ECN_set_ce(struct sk_buff *skb, struct ipv6hdr *ip)
{
	if (!(ip->flow_lbl[0] >> 4 & INET_ECN_MASK))
		return 0;
	ip->flow_lbl[0] |= INET_ECN_CE << 4;
	return 1;
}

#endif
