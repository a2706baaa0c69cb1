// SPDX-License-Identifier: GPL-2.0
/* Validates headers that come from elsewhere than the hooks; see int_pull.h. */
#include "int_pull.h"

unsigned int nint_pull_header(struct sk_buff *skb, unsigned int offset_bytes)
{
	struct int_hdr *h;
	unsigned int bytes;

	if (!pskb_may_pull(skb, offset_bytes + INT_HDR_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	bytes = h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
	if (bytes > INT_SHIM_MAX_BYTES ||
	    !pskb_may_pull(skb, offset_bytes + bytes + HOP_ICMP_QUOTED_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	if (h->next != IPPROTO_TCP || int_check(h, skb->len - offset_bytes))
		return 0;
	return bytes;
}
