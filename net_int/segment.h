/* SPDX-License-Identifier: GPL-2.0 */
/* TCP segments with a message; segment.c */
#ifndef HOPCC_NET_INT_SEGMENT_H
#define HOPCC_NET_INT_SEGMENT_H

#include "net_int.h"

struct sk_buff *nint_control_alloc(const struct tcphdr *like, u32 una, const struct int_msg *msg,
				   const struct int_hdr *h, const struct int_terms *terms,
				   unsigned int headroom_bytes);
void nint_control_csum_v4(struct sk_buff *skb, __be32 saddr, __be32 daddr);
void nint_control_csum_v6(struct sk_buff *skb, const struct in6_addr *saddr,
			  const struct in6_addr *daddr);

#endif /* HOPCC_NET_INT_SEGMENT_H */
