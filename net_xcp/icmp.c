// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote a packet with a congestion header. Errors about the header itself end the
 * use of XCP on the connection, or of copies into the tunnel. All other errors are passed on to TCP
 * or to the tunnel: without them path MTU discovery would fail.
 */
#include <net/tcp.h>

#include "net_xcp.h"
#include "xcp_quoted.h"

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
	const struct tcphdr *th;
	struct hop_flow_key key;

	if (!h || !nxcp_may_follow(h->protocol)) {
		nxcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return 0;
	}
	if (h->protocol == IPPROTO_TCP) {
		th = (const struct tcphdr *)(h + 1);
		hop_flow_key_of_output(&key, &nxcp_carrier, skb, th);
		if (decision != HOP_ICMP_NEXT && hop_icmp_ends(&key, th, decision))
			return 0;
	} else if (decision == HOP_ICMP_REFUSED &&
		   (READ_ONCE(xn->tunnel) || READ_ONCE(xn->ipsec))) {
		/* Errors from filters are left to the tunnel. */
		nxcp_tunnel_refused(xn, skb, offset_bytes);
		return 0;
	}
	nxcp_count(xn, XCP_COUNT_ICMP);
	*next = h->protocol;
	return XCP_HDR_BYTES;
}
