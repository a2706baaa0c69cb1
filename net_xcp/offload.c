// SPDX-License-Identifier: GPL-2.0
/*
 * GSO and GRO of packets with an XCP header; hop_proto.h registers these functions.
 *
 * GSO packets: TCP sends one packet for many segments, with one XCP header, and each segment on the
 * wire gets a copy of the header.
 *
 * The header's demand is already that of a single packet on the wire, so copies are correct. If GRO
 * has summed up the demands (XCP_FLAG_SUM), segmentation distributes the sum over the segments.
 * Only the first segment carries the Reverse_Feedback.
 *
 * NICs must not segment these packets: hop_shim_mark_gso() marks them so that software segmentation
 * calls this code.
 *
 * GRO: segments with a congestion header merge like those without one if a single header can
 * represent all of them, see xcp_merge.h. This also serves routers, which forward merged packets.
 * Packets whose header is not valid or not in front of TCP are left to the stack one by one, as are
 * all packets while net.hopcc.xcp is 0.
 */
#include "net_xcp.h"
#include "xcp_merge.h"

static bool nxcp_gro_may_merge(const void *held, u32 held_pkts, const void *header, u32 pkts)
{
	return nxcp_may_merge(held, held_pkts, header, pkts);
}

static void nxcp_gro_merge(void *held, u32 held_pkts, const void *header, u32 pkts)
{
	nxcp_merge(held, held_pkts, header, pkts);
}

/* Return: a header in front of TCP that may be merged, or NULL */
static const void *nxcp_gro_read(struct sk_buff *skb)
{
	const struct xcp_hdr *h;

	if (!READ_ONCE(nxcp_proto.merges) || !READ_ONCE(nxcp_net(dev_net(skb->dev))->on) ||
	    !hop_gro_is_plain(skb))
		return NULL;
	h = hop_gro_header(skb, sizeof(*h));
	if (xcp_check(h, nxcp_protocol) || h->protocol != IPPROTO_TCP)
		return NULL;
	/*
	 * XCP_FLAG_SUM is only for GSO packets within a host; on the wire the bit has another
	 * meaning.
	 */
	return h->flags & XCP_FLAG_SUM && !skb_is_gso(skb) ? NULL : h;
}

static unsigned int nxcp_gro_bytes(const void *header)
{
	return XCP_HDR_BYTES;
}

static const struct hop_gro_kind nxcp_gro = {
	.read = nxcp_gro_read,
	.bytes = nxcp_gro_bytes,
	.may_merge = nxcp_gro_may_merge,
	.merge = nxcp_gro_merge,
};

static struct xcp_hdr *nxcp_header_of(const struct sk_buff *seg)
{
	return (struct xcp_hdr *)(skb_transport_header(seg) - sizeof(struct xcp_hdr));
}

static void nxcp_divide(struct sk_buff *segs)
{
	s32 left_bytes_ps = xcp_delta(nxcp_header_of(segs));
	struct sk_buff *seg;
	u32 left_pkts = 0;

	for (seg = segs; seg; seg = seg->next)
		left_pkts++;
	for (seg = segs; seg; seg = seg->next) {
		struct xcp_hdr *h = nxcp_header_of(seg);

		if (seg != segs)
			h->reverse = 0;
		if (h->flags & XCP_FLAG_SUM)
			nxcp_write_share(h, &left_bytes_ps, left_pkts--);
	}
}

/*
 * skb->data is at our header when a device or a tunnel segments; a forged GSO packet may have
 * anything there.
 */
static struct sk_buff *nxcp_gso_segment(struct sk_buff *skb, const struct net_offload *tcp)
{
	const struct xcp_hdr *h = NULL;
	struct sk_buff *segs;

	if (pskb_may_pull(skb, sizeof(*h)))
		h = (const struct xcp_hdr *)skb->data;
	if (xcp_check(h, nxcp_protocol) || h->protocol != IPPROTO_TCP)
		return ERR_PTR(-EINVAL);
	segs = hop_shim_segment(skb, sizeof(*h), tcp);
	if (!IS_ERR_OR_NULL(segs))
		nxcp_divide(segs);
	return segs;
}

HOP_PROTO(nxcp);
