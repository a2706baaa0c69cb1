// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets that this end builds: their tag, and the TCP segment that has them.
 *
 * Integrity, section 9.1: SipHash-2-4 over the addresses and ports, the message with a tag of 0,
 * and the header with its records. The key is configured at both ends, for all connections of a
 * netns. NAT makes the tag invalid.
 */
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "net_int.h"

/**
 * struct nint_signed - input of the hash
 * @from: address of the host that answers; IPv4 is v4-mapped
 * @to: address of the host that receives the answer
 * @from_port: port at @from
 * @to_port: port at @to
 * @msg: the message with a tag of 0
 * @hdr: the header
 */
struct nint_signed {
	struct in6_addr from;
	struct in6_addr to;
	__be16 from_port;
	__be16 to_port;
	struct int_msg msg;
	u8 hdr[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
};

bool nint_has_key(const struct nint_net *in)
{
	return rcu_access_pointer(in->key);
}

/*
 * @out: the answer is sent by @key's local end. Context: RCU read lock. Return: the tag; 0 without
 *	a key.
 */
u64 nint_tag(const struct nint_net *in, const struct hop_flow_key *key, bool out,
	     const struct int_msg *msg, const struct int_hdr *h)
{
	const struct nint_key *sip = rcu_dereference(in->key);
	unsigned int hdr_bytes = h->words * INT_WORD_BYTES;
	struct nint_signed s = {
		.from = out ? key->local : key->peer,
		.to = out ? key->peer : key->local,
		.from_port = out ? key->local_port : key->peer_port,
		.to_port = out ? key->peer_port : key->local_port,
		.msg = *msg,
	};

	lockdep_assert_in_rcu_read_lock();
	if (!sip)
		return 0;
	s.msg.tag_hi = 0;
	s.msg.tag_lo = 0;
	memcpy(s.hdr, h, hdr_bytes);
	return siphash(&s, offsetof(struct nint_signed, hdr) + hdr_bytes, &sip->sip);
}

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
