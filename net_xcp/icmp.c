// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote a packet with a congestion header. Errors about the header itself end the
 * use of XCP on the connection, or of copies into the tunnel. All other errors are passed on to TCP
 * or to the tunnel: without them path MTU discovery would fail.
 */
#include <net/tcp.h>

#include "net_xcp.h"
#include "xcp_quoted.h"

/* The error quotes a TCP segment. Return: true if it is handled and must not be passed on. */
static bool nxcp_learn_from_tcp(const struct sk_buff *skb, const struct tcphdr *th,
				enum hop_icmp_decision decision)
{
	struct hop_flow_key key;

	if (decision == HOP_ICMP_NEXT)
		return false;
	hop_flow_key_of_output(&key, &nxcp_flow_kind, skb, th);
	return hop_icmp_ends(&key, th, decision);
}

/*
 * The error quotes a tunnel's packet. @offset_bytes: from skb->data to our quoted header. Return:
 * true if it is handled; errors from filters are left to the tunnel.
 */
static bool nxcp_learn_from_tunnel(struct nxcp_net *xn, const struct sk_buff *skb,
				   unsigned int offset_bytes, enum hop_icmp_decision decision)
{
	if (decision != HOP_ICMP_REFUSED || !(READ_ONCE(xn->tunnel) || READ_ONCE(xn->ipsec)))
		return false;
	nxcp_tunnel_refused(xn, skb, offset_bytes);
	return true;
}

/*
 * Handle the error as far as it concerns XCP. @offset_bytes: from skb->data, the quoted packet, to
 * our quoted header.
 *
 * Return: the length of our header; 0 if it is not quoted, or the error is already handled.
 */
unsigned int nxcp_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
			      enum hop_icmp_decision decision, u8 *next)
{
	struct nxcp_net *xn = nxcp_net(dev_net(skb->dev));
	const struct xcp_hdr *h = nxcp_quoted(skb, offset_bytes, nxcp_protocol);
	bool done;

	if (!h || !nxcp_may_follow(h->protocol)) {
		nxcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return 0;
	}
	if (h->protocol == IPPROTO_TCP)
		done = nxcp_learn_from_tcp(skb, (const struct tcphdr *)(h + 1), decision);
	else
		done = nxcp_learn_from_tunnel(xn, skb, offset_bytes, decision);
	if (done)
		return 0;
	nxcp_count(xn, XCP_COUNT_ICMP);
	*next = h->protocol;
	return XCP_HDR_BYTES;
}
