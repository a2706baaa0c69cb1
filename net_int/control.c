// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: probes and their answers, which are TCP segments with old sequence numbers and a
 * mark in TCP's options. They are removed in front of conntrack and TCP; TCP would answer them with
 * duplicate ACKs. Packets without a valid cookie are left to TCP, because they may be another
 * experiment's.
 */
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

/* @traced: telemetry of other vendors was read, see tlm.c */
static void nint_take_probe(struct nint_net *in, struct sk_buff *skb, struct hop_flow *flow,
			    const struct nint_control *ctl, bool traced)
{
	struct nint_arrival arrival = {
		.id = be32_to_cpu(ctl->msg.id),
		.seq = be32_to_cpu(ctl->msg.seq),
		.hdr = &ctl->hdr,
		.traced = traced,
		.rtt_ns = be32_to_cpu(ctl->msg.tag_hi),
		.wnd_bytes = be32_to_cpu(ctl->msg.wnd),
	};
	struct int_flow *f = hop_flow_state(flow);

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

/*
 * Reads a probe behind another vendor's header into @ctl. Sets @flow and returns INT_COUNTS;
 * otherwise returns the counter of the reason why it is none.
 */
static unsigned int nint_read_wrapped(struct sk_buff *skb, const struct tcphdr *th,
				      unsigned int offset_bytes, struct nint_control *ctl,
				      struct hop_flow **flow)
{
	const enum int_fault fault = nint_control_read(skb, offset_bytes, INT_TYPE_PROBE, ctl);

	return fault ? INT_COUNT_BAD + fault : nint_find_asked_flow(skb, th, ctl, flow);
}

/*
 * A probe of 2 kB at most is read as a whole. Return: true if the packet, whose TCP header of
 * @tcp_bytes is at @tcp_at, may be one, and is linear.
 */
static bool nint_may_be_probe(const struct nint_net *in, struct sk_buff *skb, unsigned int tcp_at,
			      unsigned int tcp_bytes)
{
	if (skb->len > NINT_PROBE_MAX_BYTES ||
	    nint_control_type(skb, tcp_at, tcp_at + tcp_bytes) != INT_TYPE_PROBE)
		return false;
	if (pskb_may_pull(skb, skb->len))
		return true;
	nint_count(in, INT_COUNT_NO_MEMORY);
	return false;
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
		nint_take_probe(in, skb, flow, &ctl,
				nint_tlm_read_ioam(in, skb, (const u8 *)th - skb->data,
						   hop_flow_state(flow), INT_COUNT_IN_IOAM));
	else
		nint_take_answer(in, flow, &ctl);
	return true;
}

/*
 * A probe behind INT-MD's shim. @place: place of the TCP header. Return: true if it was consumed;
 * otherwise it is data.
 */
static bool nint_take_intmd(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, unsigned int shim_at,
			    const struct intmd_view *v)
{
	const struct tcphdr *th;
	struct nint_control ctl;
	struct hop_flow *flow;
	unsigned int why;

	if (!nint_may_be_probe(in, skb, place->offset_bytes, shim_at - place->offset_bytes))
		return false;
	th = (const struct tcphdr *)(skb->data + place->offset_bytes);
	why = nint_read_wrapped(skb, th, shim_at + v->shim_bytes, &ctl, &flow);
	if (why != INT_COUNTS) {
		nint_count(in, why);
		return false;
	}
	/* A copy is for other purposes. */
	if (nint_intmd_sum(skb, place->offset_bytes, shim_at - place->offset_bytes,
			   v->shim_bytes) == NINT_SUM_NOTHING)
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else if (!(v->flags & INTMD_FLAG_D))
		nint_take_probe(in, skb, flow, &ctl,
				nint_tlm_read_intmd(in, v, skb->data + shim_at,
						    hop_flow_state(flow),
						    INT_COUNT_IN_INTMD));
	consume_skb(skb);
	return true;
}

/* A TCP segment that may be for us. @payload_at: from skb->data to its payload. */
static unsigned int nint_input_segment(struct nint_net *in, struct sk_buff *skb,
				       unsigned int tcp_at,
				       unsigned int payload_at, const struct nf_hook_state *state)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + tcp_at);
	unsigned int type;

	if (th->rst)
		return NF_ACCEPT;
	if (th->syn || payload_at == skb->len) {
		hop_negotiate_receive(&nint_handshake_ops, skb, tcp_at, state);
		nint_option_input(in, skb, tcp_at);
		return NF_ACCEPT;
	}
	type = nint_control_type(skb, tcp_at, payload_at);
	if (!type) {
		nint_read_ioam_data(in, skb, tcp_at, payload_at);
		return NF_ACCEPT;
	}
	if (!hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!nint_take_control(in, skb, th, payload_at, type))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/*
 * A TCP segment with the mark of INT, while the netns has a layout of INT-MD. It may be a user's
 * own: without a valid shim it is left unchanged to TCP.
 */
static unsigned int nint_input_intmd(struct nint_net *in, struct sk_buff *skb,
				     const struct hop_shim_place *place, unsigned int shim_at,
				     const struct nf_hook_state *state)
{
	const unsigned int len_bytes = skb->len;
	enum intmd_fault fault;
	struct intmd_view v;
	unsigned int decision;

	if (!hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, min(skb->len, shim_at + INTMD_SHIM_MAX_BYTES))) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	fault = hop_intmd_parse(&v, skb->data + shim_at, skb->len - shim_at);
	if (fault) {
		nint_count(in, INT_COUNT_BAD_INTMD + fault);
		return NF_ACCEPT;
	}
	if (nint_take_intmd(in, skb, place, shim_at, &v))
		return NF_STOLEN;
	decision = nint_strip_intmd(in, skb, place, &v);
	if (decision != NF_ACCEPT || skb->len == len_bytes)
		return decision;
	return nint_input_segment(in, skb, place->offset_bytes, shim_at, state);
}

/*
 * Return: true if the payload is a message. INT-MD in front of it contradicts the length that its
 * header has.
 */
static bool nint_is_message(const struct sk_buff *skb, unsigned int tcp_at, unsigned int payload_at)
{
	const unsigned int type = nint_control_type(skb, tcp_at, payload_at);
	struct nint_control ctl;

	return type && nint_control_read(skb, payload_at, type, &ctl) == INT_OK;
}

/* A TCP packet; skb->data is at its network header. Return: NF_ACCEPT, NF_DROP or NF_STOLEN. */
unsigned int nint_tcp_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	const bool marked = nint_dscp(skb) == nint_dscp_intmd;
	unsigned int payload_at = place->offset_bytes + sizeof(struct tcphdr);

	if (!pskb_may_pull(skb, payload_at))
		return NF_ACCEPT;
	payload_at = place->offset_bytes +
		     __tcp_hdrlen((const struct tcphdr *)(skb->data + place->offset_bytes));
	if (payload_at < place->offset_bytes + sizeof(struct tcphdr) || payload_at > skb->len)
		return NF_ACCEPT;
	if (marked && payload_at < skb->len && nint_reads(in, TLM_INT_MD) &&
	    !nint_is_message(skb, place->offset_bytes, payload_at))
		return nint_input_intmd(in, skb, place, payload_at, state);
	return nint_input_segment(in, skb, place->offset_bytes, payload_at, state);
}

/*
 * A probe behind IFA's header. Return: true if it was consumed; otherwise it is data, or is
 * counted when it has no IFA headers any more.
 */
static bool nint_take_ifa(struct nint_net *in, struct sk_buff *skb, unsigned int ifa_at,
			  const struct ifa_view *v)
{
	const unsigned int tcp_at = ifa_at + IFA_HDR_BYTES;
	const unsigned int payload_at = ifa_at + v->stack_offset + v->stack_bytes;
	struct nint_control ctl;
	struct hop_flow *flow;

	if (!hop_flow_any(dev_net(skb->dev)) || v->next != IFA_NEXT_TCP ||
	    !nint_may_be_probe(in, skb, tcp_at, v->l4_bytes) ||
	    nint_read_wrapped(skb, (const struct tcphdr *)(skb->data + tcp_at), payload_at, &ctl,
			      &flow) != INT_COUNTS)
		return false;
	if (nint_is_mangled_without(skb, tcp_at, v->l4_bytes, payload_at))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else
		nint_take_probe(in, skb, flow, &ctl,
				nint_tlm_read_ifa(in, v, skb->data + ifa_at, hop_flow_state(flow),
						  INT_COUNT_IN_IFA));
	consume_skb(skb);
	return true;
}

/*
 * A packet of IFA's protocol, while the netns has a layout of IFA: a probe is consumed, other
 * packets of TCP and UDP lose IFA's headers, and the rest is left unchanged to the stack. Return:
 * NF_ACCEPT, NF_DROP or NF_STOLEN.
 */
unsigned int nint_ifa_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	enum ifa_fault fault;
	struct ifa_view v;

	if (skb_is_gso(skb) || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, min(skb->len, place->offset_bytes + IFA_HEADERS_MAX_BYTES))) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	fault = hop_ifa_parse(&v, skb->data + place->offset_bytes, skb->len - place->offset_bytes);
	if (fault) {
		nint_count(in, INT_COUNT_BAD_IFA + fault);
		return NF_ACCEPT;
	}
	if (nint_take_ifa(in, skb, place->offset_bytes, &v))
		return NF_STOLEN;
	return nint_strip_ifa(in, skb, place, &v);
}
