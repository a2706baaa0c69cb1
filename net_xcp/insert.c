// SPDX-License-Identifier: GPL-2.0
/* Insert a congestion header in a packet, or note it if IPsec's transport mode comes first. */

#include <hopcc/core/hop_filter.h>
#include <net/tcp.h>

#include "net_xcp.h"

/* Return: true, and count the packet, if a filter would miss what is below a header */
bool nxcp_is_hidden(const struct nxcp_net *xn, const struct sk_buff *skb,
		    const struct nf_hook_state *state)
{
	if (READ_ONCE(xn->on) == HOP_FILTER_TRUST || !hop_filter_misses_output(skb, state))
		return false;
	nxcp_count(xn, XCP_COUNT_OUT_HIDDEN);
	return true;
}

/* Return: the reason why a packet cannot get a header; XCP_COUNTS if there is none */
static enum nxcp_count nxcp_find_hindrance(const struct sk_buff *skb, bool transport)
{
	/* Each segment would need its own note. */
	if (transport)
		return skb_is_gso(skb) ? XCP_COUNT_TUNNEL_GSO : XCP_COUNTS;
	return hop_shim_fits(skb, XCP_HDR_BYTES) ? XCP_COUNTS : XCP_COUNT_NO_ROOM;
}

/*
 * On loopback the checksum can stay partial: no NIC parses the packet, and it never leaves the
 * host.
 */
struct xcp_hdr *nxcp_insert(struct sk_buff *skb, const struct hop_shim_place *place)
{
	const bool transport = nxcp_ipsec_is_transport(skb);
	enum nxcp_count why = nxcp_find_hindrance(skb, transport);
	struct xcp_hdr *h = NULL;

	if (why == XCP_COUNTS) {
		h = transport ? nxcp_ipsec_note(skb) :
		    hop_shim_insert(skb, place, XCP_HDR_BYTES, nxcp_protocol,
				    skb->dev->flags & IFF_LOOPBACK);
		why = XCP_COUNT_NO_MEMORY;
	}
	if (!h)
		nxcp_count(nxcp_net(dev_net(skb->dev)), why);
	return h;
}
