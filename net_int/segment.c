// SPDX-License-Identifier: GPL-2.0
/* TCP segments that this end builds or enlarges: control packets, and TCP's checksum. */
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "net_int.h"
#include "segment.h"

/*
 * Builds a TCP segment with a message; skb->data is at its TCP header, which is like @like, but
 * without flags, and with the mark as its only option. Its sequence number is in front of @una.
 * @terms: only for a probe, otherwise NULL. @headroom_bytes: room for headers beside the usual
 * ones.
 */
struct sk_buff *nint_control_alloc(const struct tcphdr *like, u32 una, const struct int_msg *msg,
				   const struct int_hdr *h, const struct int_terms *terms,
				   unsigned int headroom_bytes)
{
	unsigned int bytes = INT_MSG_BYTES + h->words * INT_WORD_BYTES +
			     (terms ? INT_TERMS_BYTES : 0);
	struct sk_buff *skb = alloc_skb(MAX_TCP_HEADER + headroom_bytes + bytes, GFP_ATOMIC);
	const __be32 mark = htonl(terms ? INT_MARK_PROBE : INT_MARK_ECHO);
	struct tcphdr *th;

	if (!skb)
		return NULL;
	skb_reserve(skb, MAX_TCP_HEADER + headroom_bytes);
	skb_put_data(skb, msg, INT_MSG_BYTES);
	skb_put_data(skb, h, h->words * INT_WORD_BYTES);
	if (terms)
		skb_put_data(skb, terms, INT_TERMS_BYTES);
	memcpy(skb_push(skb, INT_MARK_BYTES), &mark, INT_MARK_BYTES);
	th = skb_push(skb, sizeof(*th));
	skb_reset_transport_header(skb);
	*th = (struct tcphdr) {
		.source = like->source,
		.dest = like->dest,
		.seq = htonl(una - bytes),
		.ack_seq = like->ack_seq,
		.doff = INT_TCP_BYTES / 4,
		.ack = 1,
		.window = like->window,
	};
	return skb;
}

/* The IP header is in front of skb->data. */
void nint_control_csum_v4(struct sk_buff *skb, __be32 saddr, __be32 daddr)
{
	struct tcphdr *th = tcp_hdr(skb);
	unsigned int bytes = skb_tail_pointer(skb) - (u8 *)th;

	th->check = 0;
	th->check = tcp_v4_check(bytes, saddr, daddr, csum_partial(th, bytes, 0));
}

#if IS_ENABLED(CONFIG_IPV6)
void nint_control_csum_v6(struct sk_buff *skb, const struct in6_addr *saddr,
			  const struct in6_addr *daddr)
{
	struct tcphdr *th = tcp_hdr(skb);
	unsigned int bytes = skb_tail_pointer(skb) - (u8 *)th;

	th->check = 0;
	th->check = tcp_v6_check(bytes, saddr, daddr, csum_partial(th, bytes, 0));
}
#endif
