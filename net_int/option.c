// SPDX-License-Identifier: GPL-2.0
/*
 * Answers in a TCP option, section 6.2.2 "Inband with ACK packet": the record of the most loaded
 * hop, in pure ACKs with room for it. TCP ignores it.
 */
#include <hopcc/core/hop_input.h>
#include <hopcc/lib/hop_peek.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "net_int.h"
#include "segment.h"

#define TCP_HEADER_MAX_BYTES 60

/* Updates IP's length, and TCP's header and checksum, after the header was enlarged. */
static void nint_write_headers(struct sk_buff *skb, struct tcphdr *th)
{
	th->doff += INT_OPT_BYTES / 4;
	if (skb->protocol == htons(ETH_P_IP)) {
		struct iphdr *iph = ip_hdr(skb);

		iph->tot_len = htons(skb->len);
		ip_send_check(iph);
		nint_control_csum_v4(skb, iph->saddr, iph->daddr);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		struct ipv6hdr *ip6h = ipv6_hdr(skb);

		ip6h->payload_len = htons(skb->len - sizeof(*ip6h));
		nint_control_csum_v6(skb, &ip6h->saddr, &ip6h->daddr);
#endif
	}
	skb->ip_summed = CHECKSUM_NONE;
}

/* Moves the IP and TCP headers towards the head; the option follows them. */
static void nint_option_append(struct sk_buff *skb, unsigned int headers_bytes,
			       const struct nint_summary *s)
{
	skb_push(skb, INT_OPT_BYTES);
	memmove(skb->data, skb->data + INT_OPT_BYTES, headers_bytes);
	nint_opt_write((struct nint_opt *)(skb->data + headers_bytes), s);
	skb_reset_network_header(skb);
	skb->transport_header -= INT_OPT_BYTES;
	nint_write_headers(skb, tcp_hdr(skb));
}

/* With a routing header, TCP's checksum covers an address that is not in the IP header. */
static bool nint_has_extensions(const struct sk_buff *skb, const struct hop_segment *seg)
{
	return skb->protocol == htons(ETH_P_IPV6) &&
	       seg->place.offset_bytes != sizeof(struct ipv6hdr);
}

/* A pure ACK of any socket may carry a pending answer. */
void nint_option_insert(struct nint_net *in, struct sk_buff *skb, const struct hop_segment *seg,
			struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);
	unsigned int tcp_bytes = skb->len - seg->place.offset_bytes;
	struct nint_summary summary;
	bool summary_due;

	if (!READ_ONCE(f->summary_due) || READ_ONCE(in->reverse) != INT_REVERSE_ACK)
		return;
	if (tcp_bytes + INT_OPT_BYTES > TCP_HEADER_MAX_BYTES || nint_has_extensions(skb, seg) ||
	    skb->len + INT_OPT_BYTES > dst_mtu(skb_dst(skb))) {
		nint_count(in, INT_COUNT_NO_ROOM);
		return;
	}
	if (skb_linearize(skb) || skb_cow_head(skb, INT_OPT_BYTES)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return;
	}
	if (nint_opt_is_signed(skb->data + seg->place.offset_bytes + sizeof(struct tcphdr),
			       tcp_bytes - sizeof(struct tcphdr))) {
		nint_count(in, INT_COUNT_NO_ROOM);
		return;
	}
	spin_lock_bh(&f->lock);
	summary_due = f->summary_due;
	summary = f->summary;
	WRITE_ONCE(f->summary_due, false);
	spin_unlock_bh(&f->lock);
	if (!summary_due)
		return;
	nint_option_append(skb, skb->len, &summary);
	nint_count(in, INT_COUNT_OUT_OPTION);
}

static void nint_take_summary(struct nint_net *in, struct hop_flow *flow,
			      const struct nint_summary *s,
			      u32 ack_seq)
{
	const struct int_flow *f = hop_flow_state(flow);
	struct int_answer a = {
		.kind = INT_ANSWER_SUMMARY,
		.seq = ack_seq,
		.hops = s->hops,
		.path_id = s->path_id,
		.index = s->index,
		.record = int_unpack(s->record),
	};
	unsigned int why;

	nint_count(in, INT_COUNT_IN_OPTION);
	if (nint_has_key(in)) {
		nint_count(in, INT_COUNT_IN_BAD_TAG);
		return;
	}
	why = nint_answer_store(flow, nint_whole_id(&f->asker, s->id), &a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* @offset_bytes: from skb->data to the TCP header of a packet without data */
void nint_option_input(struct nint_net *in, struct sk_buff *skb, unsigned int offset_bytes)
{
	struct hop_flow_key key;
	const struct tcphdr *th;
	struct nint_summary s;
	struct hop_flow *flow;

	if (skb->len < offset_bytes + sizeof(*th) + INT_OPT_BYTES || !pskb_may_pull(skb, skb->len))
		return;
	th = (const struct tcphdr *)(skb->data + offset_bytes);
	if (!nint_opt_read((const u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th), &s))
		return;
	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow || !hop_input_is_from_peer(&key, ntohl(th->seq), ntohl(th->ack_seq))) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	if (hop_input_is_mangled(skb, th))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else
		nint_take_summary(in, flow, &s, ntohl(th->ack_seq));
}
