// SPDX-License-Identifier: GPL-2.0
/*
 * GSO packets: TCP sends one packet for many segments, with one XCP header, and each segment on the
 * wire gets a copy of the header.
 *
 * The header's demand is already that of a single packet on the wire, so copies are correct. If GRO
 * has summed up the demands (XCP_FLAG_SUM), segmentation distributes the sum over the segments.
 * Only the first segment carries the Reverse_Feedback.
 *
 * NICs must not segment these packets: hop_shim_mark_gso() marks them so that software segmentation
 * calls this code.
 */
#include <linux/netdevice.h>
#include <net/protocol.h>

#include "net_xcp.h"
#include "xcp_merge.h"

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

static struct sk_buff *nxcp_gso_v4(struct sk_buff *skb, netdev_features_t features)
{
	return nxcp_gso_segment(skb, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

static const struct net_offload nxcp_offload_v4 = {
	.callbacks = {
		.gso_segment = nxcp_gso_v4,
		.gro_receive = nxcp_gro_receive_v4,
		.gro_complete = nxcp_gro_complete_v4,
	},
};

#if IS_ENABLED(CONFIG_IPV6)
static struct sk_buff *nxcp_gso_v6(struct sk_buff *skb, netdev_features_t features)
{
	return nxcp_gso_segment(skb, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}

static const struct net_offload nxcp_offload_v6 = {
	.callbacks = {
		.gso_segment = nxcp_gso_v6,
		.gro_receive = nxcp_gro_receive_v6,
		.gro_complete = nxcp_gro_complete_v6,
	},
};
#endif

int nxcp_gso_init(void)
{
	if (inet_add_offload(&nxcp_offload_v4, nxcp_protocol))
		return -EBUSY;
#if IS_ENABLED(CONFIG_IPV6)
	if (inet6_add_offload(&nxcp_offload_v6, nxcp_protocol)) {
		inet_del_offload(&nxcp_offload_v4, nxcp_protocol);
		return -EBUSY;
	}
#endif
	return 0;
}

void nxcp_gso_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_offload(&nxcp_offload_v6, nxcp_protocol);
#endif
	inet_del_offload(&nxcp_offload_v4, nxcp_protocol);
}
