// SPDX-License-Identifier: GPL-2.0
/*
 * Answers in a TCP option, section 6.2.2 "Inband with ACK packet": the record of the most loaded
 * hop, in pure ACKs with room for it. TCP ignores it.
 */
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_option.h>
#include <hopcc/lib/hop_peek.h>
#include <net/tcp.h>

#include "net_int.h"

/* A pure ACK of any socket may carry a pending answer. */
void nint_option_insert(struct nint_net *in, struct sk_buff *skb, const struct hop_segment *seg,
			struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);
	enum nint_count count = INT_COUNT_OUT_OPTION;
	struct nint_opt opt;
	int err;

	if (!READ_ONCE(f->summary_due) || READ_ONCE(in->reverse) != INT_REVERSE_ACK)
		return;
	spin_lock_bh(&f->lock);
	if (f->summary_due) {
		nint_opt_write(&opt, &f->summary);
		err = hop_option_append(skb, seg->place.offset_bytes, &opt, INT_OPT_BYTES);
		if (err)
			count = err == -ENOSPC ? INT_COUNT_NO_ROOM : INT_COUNT_NO_MEMORY;
		/* If there is no room, the next packet is tried. */
		WRITE_ONCE(f->summary_due, err);
		nint_count(in, count);
	}
	spin_unlock_bh(&f->lock);
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
