/* SPDX-License-Identifier: GPL-2.0 */
/* A congestion header in a packet that an ICMP error quotes */
#ifndef HOPCC_NET_XCP_XCP_QUOTED_H
#define HOPCC_NET_XCP_XCP_QUOTED_H

#include <linux/skbuff.h>
#include <hopcc/lib/hop_quoted.h>
#include <hopcc/wire/xcp.h>

/**
 * nxcp_quoted() - get the quoted congestion header
 * @skb: the error; skb->data is at the quoted IP header
 * @offset_bytes: offset of our header from skb->data
 * @own_protocol: the IP protocol number of XCP
 *
 * Return: the header; it and HOP_ICMP_QUOTED_BYTES behind it are then linear. NULL if the error
 * does not quote that much, or the header is not valid.
 */
static inline const struct xcp_hdr *nxcp_quoted(struct sk_buff *skb, unsigned int offset_bytes,
						u8 own_protocol)
{
	const struct xcp_hdr *h;

	if (!pskb_may_pull(skb, offset_bytes + sizeof(*h) + HOP_ICMP_QUOTED_BYTES))
		return NULL;
	h = (const struct xcp_hdr *)(skb->data + offset_bytes);
	return xcp_check(h, own_protocol) ? NULL : h;
}

#endif /* HOPCC_NET_XCP_XCP_QUOTED_H */
