// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: probes and their answers, which are TCP segments with old sequence numbers and a
 * mark in TCP's options. They are removed in front of conntrack and TCP; TCP would answer them with
 * duplicate ACKs. Packets without a valid cookie are left to TCP, because they may be another
 * experiment's.
 */
#include <linux/module.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

/* A probe has at most 1 kB of metadata of other vendors; a longer packet is no probe. */
#define NINT_PROBE_MAX_BYTES 2048U

/* After a probe with a small window this number of packets is acknowledged immediately. */
#define INT_QUICK_PKTS (2 * INT_SMALL_WINDOW_PKTS)

/*
 * Sets @flow if the sender of the message has read our cookie, and returns INT_COUNTS; otherwise
 * returns the counter of the reason.
 */
static unsigned int nint_find_asked_flow(struct sk_buff *skb, const struct tcphdr *th,
					 const struct nint_control *ctl, struct hop_flow **flow)
{
	const struct int_flow *f;
	struct hop_flow_key key;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	*flow = hop_flow_find(&key);
	if (!*flow)
		return INT_COUNT_IN_NO_FLOW;
	f = hop_flow_state(*flow);
	return be64_to_cpu(ctl->msg.cookie) == f->cookie ? INT_COUNTS : INT_COUNT_IN_BAD_COOKIE;
}

/* @tcp_at, @carried: as for int_vendor_ops.read() */
static void nint_take_probe(struct nint_net *in, struct sk_buff *skb, unsigned int tcp_at,
			    struct hop_flow *flow, const struct nint_control *ctl,
			    const void *carried)
{
	struct int_flow *f = hop_flow_state(flow);
	const int traced = nint_vendor_read(skb, tcp_at, f, carried);
	struct nint_arrival arrival = {
		.id = be32_to_cpu(ctl->msg.id),
		.seq = be32_to_cpu(ctl->msg.seq),
		.hdr = &ctl->hdr,
		.traced = traced > 0,
		.rtt_ns = be32_to_cpu(ctl->msg.tag_hi),
		.wnd_bytes = be32_to_cpu(ctl->msg.wnd),
	};

	if (traced < 0)
		return;
	nint_count(in, INT_COUNT_IN_PROBE);
	hop_flow_settle(flow);
	nint_flow_receive(flow);
	spin_lock_bh(&f->lock);
	nint_receiver_ask(&f->receiver, &ctl->msg, &ctl->terms);
	spin_unlock_bh(&f->lock);
	if (ctl->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(&flow->key, INT_QUICK_PKTS))
		nint_count(in, INT_COUNT_ACK_NOW);
	nint_arrive(in, skb, flow, &arrival);
}

static void nint_take_answer(struct nint_net *in, struct hop_flow *flow,
			     const struct nint_control *ctl)
{
	u64 tag = (u64)be32_to_cpu(ctl->msg.tag_hi) << 32 | be32_to_cpu(ctl->msg.tag_lo);
	u32 id = be32_to_cpu(ctl->msg.id);
	struct int_answer a;
	unsigned int why;

	nint_count(in, INT_COUNT_IN_ANSWER);
	if (nint_has_key(in) && tag != nint_tag(in, &flow->key, false, &ctl->msg, &ctl->hdr)) {
		nint_count(in, INT_COUNT_IN_BAD_TAG);
		return;
	}
	if (!nint_control_answer(ctl, ktime_get_ns(), &a)) {
		nint_count_fault(in, INT_BAD_SLOTS);
		return;
	}
	trace_int_header_in(&flow->key, &ctl->hdr, id, a.seq);
	why = nint_answer_store(flow, id, &a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* Processes a message of the type that its mark indicates. Return: true if it was consumed. */
static bool nint_take_control(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
			      unsigned int offset_bytes, enum int_type type)
{
	struct nint_control ctl;
	struct hop_flow *flow;
	enum int_fault fault;
	unsigned int why;

	fault = nint_control_read(skb, offset_bytes, type, &ctl);
	if (fault) {
		nint_count_fault(in, fault);
		return false;
	}
	why = nint_find_asked_flow(skb, th, &ctl, &flow);
	if (why != INT_COUNTS) {
		nint_count(in, why);
		return false;
	}
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return true;
	}
	if (type == INT_TYPE_PROBE)
		nint_take_probe(in, skb, (const u8 *)th - skb->data, flow, &ctl, NULL);
	else
		nint_take_answer(in, flow, &ctl);
	return true;
}

/* @id: lower bits of the ID that is answered */
static void nint_take_summary(struct nint_net *in, struct hop_flow *flow, u32 id,
			      const struct int_answer *a)
{
	const struct int_flow *f = hop_flow_state(flow);
	unsigned int why = INT_COUNT_IN_BAD_TAG;

	nint_count(in, INT_COUNT_IN_OPTION);
	if (!nint_has_key(in))
		why = nint_answer_store(flow, nint_whole_id(&f->asker, id), a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* @offset_bytes: from skb->data to the TCP header of a packet without data */
static void nint_option_input(struct nint_net *in, struct sk_buff *skb, unsigned int offset_bytes)
{
	struct hop_flow_key key;
	const struct tcphdr *th;
	struct hop_flow *flow;
	struct int_answer a;
	u32 id;

	if (skb->len < offset_bytes + sizeof(*th) + INT_OPT_BYTES || !pskb_may_pull(skb, skb->len))
		return;
	th = (const struct tcphdr *)(skb->data + offset_bytes);
	if (!nint_opt_read((const u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th), &id, &a))
		return;
	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow || !hop_input_is_from_peer(&key, ntohl(th->seq), ntohl(th->ack_seq))) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	a.seq = ntohl(th->ack_seq);
	if (hop_input_is_mangled(skb, th))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else
		nint_take_summary(in, flow, id, &a);
}

/* A TCP packet; skb->data is at its network header. Return: NF_ACCEPT, NF_DROP or NF_STOLEN. */
unsigned int nint_tcp_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	const unsigned int tcp_at = place->offset_bytes;
	const struct tcphdr *th;
	unsigned int payload_at;
	enum int_type type;

	if (!pskb_may_pull(skb, tcp_at + sizeof(*th)))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + tcp_at);
	payload_at = tcp_at + __tcp_hdrlen(th);
	if (payload_at < tcp_at + sizeof(*th) || payload_at > skb->len || th->rst)
		return NF_ACCEPT;
	if (th->syn || payload_at == skb->len) {
		hop_negotiate_receive(&nint_handshake_ops, skb, tcp_at, state);
		nint_option_input(in, skb, tcp_at);
		return NF_ACCEPT;
	}
	type = nint_control_type(skb, tcp_at, payload_at);
	if (!type || !hop_input_is_local(skb, state) ||
	    !nint_take_control(in, skb, th, payload_at, type))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

bool nint_vendor_is_control(const struct sk_buff *skb, unsigned int tcp_at,
			    unsigned int payload_at)
{
	const unsigned int type = nint_control_type(skb, tcp_at, payload_at);
	struct nint_control ctl;

	return type && nint_control_read(skb, payload_at, type, &ctl) == INT_OK;
}
EXPORT_SYMBOL_GPL(nint_vendor_is_control);

bool nint_vendor_take(struct sk_buff *skb, unsigned int tcp_at, unsigned int payload_at,
		      const void *carried)
{
	const unsigned int hdr_bytes = __tcp_hdrlen((const struct tcphdr *)(skb->data + tcp_at));
	struct nint_net *in = nint_net(dev_net(skb->dev));
	struct nint_control ctl;
	struct hop_flow *flow;

	lockdep_assert_in_rcu_read_lock();
	if (skb->len > NINT_PROBE_MAX_BYTES ||
	    nint_control_type(skb, tcp_at, tcp_at + hdr_bytes) != INT_TYPE_PROBE)
		return false;
	if (!pskb_may_pull(skb, skb->len)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return false;
	}
	/* An invalid probe is counted when it is back without the headers. */
	if (nint_control_read(skb, payload_at, INT_TYPE_PROBE, &ctl) != INT_OK ||
	    nint_find_asked_flow(skb, (const struct tcphdr *)(skb->data + tcp_at), &ctl,
				 &flow) != INT_COUNTS)
		return false;
	nint_take_probe(in, skb, tcp_at, flow, &ctl, carried);
	consume_skb(skb);
	return true;
}
EXPORT_SYMBOL_GPL(nint_vendor_take);
