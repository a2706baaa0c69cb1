/* SPDX-License-Identifier: GPL-2.0 */
/* An INT header in a packet that an ICMP error quotes */
#ifndef HOPCC_NET_INT_INT_QUOTED_H
#define HOPCC_NET_INT_INT_QUOTED_H

#include <linux/in.h>
#include <linux/skbuff.h>
#include <hopcc/lib/hop_quoted.h>
#include <hopcc/wire/int.h>

/* The longest header in front of TCP, with its tail. */
#define INT_QUOTED_MAX_BYTES (INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + INT_TAIL_BYTES)

/**
 * nint_quoted_bytes() - length of the quoted header
 * @skb: the error; skb->data is at the quoted IP header
 * @offset_bytes: offset of our header from skb->data
 *
 * Return: length of the header with its tail; it and HOP_ICMP_QUOTED_BYTES of TCP behind it are
 * then linear. 0 if the error does not quote that much, or the header is not valid.
 */
static inline unsigned int nint_quoted_bytes(struct sk_buff *skb, unsigned int offset_bytes)
{
	struct int_hdr *h;
	unsigned int bytes;

	if (!pskb_may_pull(skb, offset_bytes + INT_HDR_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	bytes = h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
	if (bytes > INT_QUOTED_MAX_BYTES ||
	    !pskb_may_pull(skb, offset_bytes + bytes + HOP_ICMP_QUOTED_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	if (h->next != IPPROTO_TCP || int_check(h, skb->len - offset_bytes))
		return 0;
	return bytes;
}

#endif /* HOPCC_NET_INT_INT_QUOTED_H */
