// SPDX-License-Identifier: GPL-2.0
/*
 * GRO for segments with a congestion header: they merge like those without one if a single header
 * can represent all of them, see xcp_merge.h. This also serves routers, which forward the merged
 * packet.
 *
 * Packets whose header is not valid or not in front of TCP are left to the stack one by one, as are
 * all packets while net.hopcc.xcp is 0.
 */
#include <hopcc/core/hop_gro.h>

#include "net_xcp.h"
#include "xcp_merge.h"

/* False until module init completes, and again from the start of module exit */
static bool merging;

static bool nxcp_gro_may_merge(const void *held, u32 held_pkts, const void *header, u32 pkts)
{
	return nxcp_may_merge(held, held_pkts, header, pkts);
}

static void nxcp_gro_merge(void *held, u32 held_pkts, const void *header, u32 pkts)
{
	nxcp_merge(held, held_pkts, header, pkts);
}

static const struct hop_gro_kind nxcp_gro = {
	.may_merge = nxcp_gro_may_merge,
	.merge = nxcp_gro_merge,
};

/* Return: a header in front of TCP that may be merged, or NULL */
static const struct xcp_hdr *nxcp_gro_read_header(struct sk_buff *skb)
{
	const struct xcp_hdr *h;

	if (!READ_ONCE(merging) || !READ_ONCE(nxcp_net(dev_net(skb->dev))->on) ||
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

static struct sk_buff *nxcp_gro_receive(struct list_head *head, struct sk_buff *skb,
					const struct net_offload *tcp)
{
	const struct xcp_hdr *h = tcp &&
				  tcp->callbacks.gro_receive ? nxcp_gro_read_header(skb) : NULL;

	if (h)
		return hop_gro_receive(head, skb, h, sizeof(*h), tcp, &nxcp_gro);
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

static int nxcp_complete_tcp(struct sk_buff *skb, int at_bytes, const struct net_offload *tcp)
{
	return tcp ? hop_gro_complete(skb, at_bytes + XCP_HDR_BYTES, tcp) : -ENOENT;
}

struct sk_buff *nxcp_gro_receive_v4(struct list_head *head, struct sk_buff *skb)
{
	return nxcp_gro_receive(head, skb, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

int nxcp_gro_complete_v4(struct sk_buff *skb, int at_bytes)
{
	return nxcp_complete_tcp(skb, at_bytes, rcu_dereference(inet_offloads[IPPROTO_TCP]));
}

#if IS_ENABLED(CONFIG_IPV6)
struct sk_buff *nxcp_gro_receive_v6(struct list_head *head, struct sk_buff *skb)
{
	return nxcp_gro_receive(head, skb, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}

int nxcp_gro_complete_v6(struct sk_buff *skb, int at_bytes)
{
	return nxcp_complete_tcp(skb, at_bytes, rcu_dereference(inet6_offloads[IPPROTO_TCP]));
}
#endif

void nxcp_gro_start(void)
{
	WRITE_ONCE(merging, true);
}

/* Called before anything that gro_receive and gro_complete use is freed */
void nxcp_gro_stop(void)
{
	WRITE_ONCE(merging, false);
	hop_gro_flush();
}
