/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find and read a packet's congestion header in enqueue and dequeue, where skb->data is at the
 * start of the frame and the qdisc's lock is held.
 */
#ifndef HOPCC_SCH_XCP_XCP_LOOK_H
#define HOPCC_SCH_XCP_XCP_LOOK_H

#include <linux/skbuff.h>
#include <hopcc/lib/hop_pkt.h>
#include "xcp_router.h"

/* Return: the algorithm's view of a packet without a congestion header */
static __always_inline struct sxcp_pkt sxcp_plain_pkt(const struct sk_buff *skb,
						      const struct sxcp_params *p)
{
	const struct hop_pkt_wire wire = hop_pkt_wire(skb, p->overhead_bytes);

	return (struct sxcp_pkt){ .pkts = wire.segs_pkts, .bytes = wire.bytes };
}

/* Read any packet for the algorithm. Return: offset of its congestion header; 0 if there is none */
static noinline __maybe_unused int sxcp_look(const struct sk_buff *skb, const struct sxcp_params *p,
					     struct sxcp_pkt *pkt)
{
	const struct xcp_hdr *h = NULL;
	struct hop_pkt_inner inner;
	struct xcp_hdr buf;

	*pkt = sxcp_plain_pkt(skb, p);
	if (!hop_pkt_inner(skb, p->protocol, &inner) || inner.protocol != p->protocol)
		return 0;
	/* A frame may be padded. */
	if (inner.offset_bytes + XCP_HDR_BYTES <= inner.end_bytes)
		h = skb_header_pointer(skb, inner.offset_bytes, sizeof(buf), &buf);
	sxcp_read(pkt, h, p->protocol);
	return inner.offset_bytes;
}

/*
 * Like sxcp_look(), but for a packet whose IPv4 header @ip is in the linear part and has XCP as the
 * next protocol, so that the congestion header follows it. Inlined, so that @pkt stays in
 * registers.
 *
 * Return: false if sxcp_look() must be used instead.
 */
static __always_inline bool sxcp_look_in_place(const struct sk_buff *skb, const struct iphdr *ip,
					       const struct sxcp_params *p, struct sxcp_pkt *pkt)
{
	const struct xcp_hdr *h = (const struct xcp_hdr *)(ip + 1);

	if (unlikely(skb_is_gso(skb)) || !hop_pkt_has_behind(skb, ip, sizeof(*h)))
		return false;
	/* With a constant number of packets, the compiler omits the code for GSO packets. */
	*pkt = (struct sxcp_pkt){
		.pkts = 1, .bytes = hop_pkt_wire(skb, p->overhead_bytes).bytes,
	};
	sxcp_read(pkt, h, p->protocol);
	return true;
}

#endif /* HOPCC_SCH_XCP_XCP_LOOK_H */
