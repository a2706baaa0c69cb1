// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: probes and their answers, which are TCP segments with old sequence numbers and
 * their own DSCP. They are removed in front of conntrack and TCP; TCP would answer them with
 * duplicate ACKs. Packets without a valid cookie are left to TCP, because they may be a user's
 * data. For questions and their answers, see ask.c.
 */
#include <linux/netfilter.h>
#include <net/dsfield.h>
#include <hopcc/core/hop_input.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

/* A probe has at most 1 kB of metadata of other vendors; a longer packet is no probe. */
#define NINT_PROBE_MAX_BYTES 2048U

/* After a probe with a small window this number of packets is acknowledged immediately. */
#define INT_QUICK_PKTS (2 * INT_SMALL_WINDOW_PKTS)

/* Returns the flow if the sender of the message has read our cookie. */
static struct hop_flow *find_flow(const struct nint_net *in, struct sk_buff *skb,
				  const struct tcphdr *th, const struct nint_control *ctl)
{
	const struct int_flow *f;
	struct hop_flow_key key;
	struct hop_flow *flow;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return NULL;
	}
	f = hop_flow_state(flow);
	if (be64_to_cpu(ctl->msg.cookie) != f->cookie) {
		nint_count(in, INT_COUNT_IN_BAD_COOKIE);
		return NULL;
	}
	return flow;
}

/* @traced: telemetry of other vendors was read, see tlm.c */
static void take_probe(struct nint_net *in, struct sk_buff *skb, struct hop_flow *flow,
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
	hop_flow_event(flow, HOP_EVENT_HEADER_IN);
	spin_lock_bh(&f->lock);
	nint_receiver_ask(&f->receiver, &ctl->msg, &ctl->terms);
	if (ctl->msg.flows)
		WRITE_ONCE(f->met.queues_ns,
			   nint_reported_queues_ns(be16_to_cpu(ctl->msg.flows)));
	spin_unlock_bh(&f->lock);
	if (ctl->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(&flow->key, INT_QUICK_PKTS))
		nint_count(in, INT_COUNT_ACK_NOW);
	nint_arrive(in, skb, flow, &arrival);
}

static void take_answer(struct nint_net *in, struct hop_flow *flow, const struct nint_control *ctl)
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
	if (!nint_control_answer(ctl, &a)) {
		nint_count_fault(in, INT_BAD_SLOTS);
		return;
	}
	trace_int_header_in(&flow->key, &ctl->hdr, id, a.seq);
	why = nint_answer_store(flow, id, &a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/*
 * Reads a probe behind another vendor's header into @ctl. Returns its flow, or NULL if it is
 * malformed or not for a flow.
 */
static struct hop_flow *read_wrapped(struct nint_net *in, struct sk_buff *skb,
				     const struct tcphdr *th, unsigned int offset_bytes,
				     struct nint_control *ctl)
{
	const enum int_fault fault = nint_control_read(skb, offset_bytes, INT_TYPE_PROBE, ctl);

	if (fault) {
		nint_count_fault(in, fault);
		return NULL;
	}
	return find_flow(in, skb, th, ctl);
}

/* Processes a message of the type that its DSCP indicates. Returns true if it was consumed. */
static bool take(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
		 unsigned int offset_bytes, enum int_type type)
{
	struct nint_control ctl;
	struct hop_flow *flow;
	enum int_fault fault;

	fault = nint_control_read(skb, offset_bytes, type, &ctl);
	if (fault) {
		nint_count_fault(in, fault);
		return false;
	}
	if (unlikely(nint_control_negotiates(&ctl)))
		return nint_ask_input(in, skb, th, skb->len - offset_bytes, &ctl);
	flow = find_flow(in, skb, th, &ctl);
	if (!flow)
		return false;
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return true;
	}
	if (type == INT_TYPE_PROBE)
		take_probe(in, skb, flow, &ctl,
			   nint_tlm_read_ioam(in, skb, (const u8 *)th - skb->data,
					      hop_flow_state(flow)));
	else
		take_answer(in, flow, &ctl);
	return true;
}

static u8 dscp_of(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ipv4_get_dsfield(ip_hdr(skb)) >> 2;
	return ipv6_get_dsfield(ipv6_hdr(skb)) >> 2;
}

/*
 * A probe behind INT-MD's shim, while the netns has a layout of INT-MD. @shim_at: from skb->data to
 * the TCP payload. Returns true if it was consumed; otherwise it is left to TCP.
 */
static bool take_intmd(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
		       unsigned int shim_at, const struct intmd_view *v)
{
	struct nint_control ctl;
	struct hop_flow *flow;

	if (!nint_control_has_magic(skb, shim_at + v->shim_bytes))
		return false;
	flow = read_wrapped(in, skb, th, shim_at + v->shim_bytes, &ctl);
	if (!flow)
		return false;
	/* A copy is for other purposes. */
	if (hop_input_is_mangled(skb, th))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else if (!(v->flags & INTMD_FLAG_D))
		take_probe(in, skb, flow, &ctl,
			   nint_tlm_read_intmd(in, v, skb->data + shim_at, hop_flow_state(flow)));
	return true;
}

static unsigned int input_intmd(struct nint_net *in, struct sk_buff *skb, unsigned int tcp_at,
				unsigned int shim_at, const struct nf_hook_state *state)
{
	enum intmd_fault fault;
	struct intmd_view v;

	if (skb->len > NINT_PROBE_MAX_BYTES || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, skb->len)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	fault = intmd_parse(&v, skb->data + shim_at, skb->len - shim_at);
	if (fault) {
		nint_count(in, INT_COUNT_BAD_INTMD + fault);
		return NF_ACCEPT;
	}
	if (!take_intmd(in, skb, (const struct tcphdr *)(skb->data + tcp_at), shim_at, &v))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/* A TCP packet; skb->data is at its network header. Returns NF_ACCEPT or NF_STOLEN. */
unsigned int nint_tcp_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	const u8 dscp = dscp_of(skb);
	unsigned int offset_bytes = place->offset_bytes + sizeof(struct tcphdr);
	const struct tcphdr *th;

	/* A question may open the first flow. */
	if (!(hop_flow_any(state->net) || dscp == nint_dscp_probe) ||
	    !pskb_may_pull(skb, offset_bytes))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + place->offset_bytes);
	offset_bytes = place->offset_bytes + __tcp_hdrlen(th);
	if (offset_bytes < place->offset_bytes + sizeof(*th) || th->syn || th->rst)
		return NF_ACCEPT;
	if (offset_bytes == skb->len) {
		nint_option_input(in, skb, place->offset_bytes);
		return NF_ACCEPT;
	}
	if (dscp == nint_dscp_probe && nint_reads(in, TLM_INT_MD) &&
	    !nint_control_has_magic(skb, offset_bytes))
		return input_intmd(in, skb, place->offset_bytes, offset_bytes, state);
	if ((dscp != nint_dscp_probe && dscp != nint_dscp_response) ||
	    !nint_control_has_magic(skb, offset_bytes) || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!take(in, skb, th, offset_bytes,
		  dscp == nint_dscp_probe ? INT_TYPE_PROBE : INT_TYPE_ECHO))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/* TCP's checksum is that of the segment without IFA's headers. */
static bool is_ifa_mangled(const struct sk_buff *skb, const struct tcphdr *th,
			   unsigned int tcp_bytes, unsigned int payload_at)
{
	const unsigned int payload_bytes = skb->len - payload_at;
	__wsum sum = csum_partial(skb->data + payload_at, payload_bytes,
				  csum_partial(th, tcp_bytes, 0));

	if (skb->protocol == htons(ETH_P_IP))
		return tcp_v4_check(tcp_bytes + payload_bytes, ip_hdr(skb)->saddr,
				    ip_hdr(skb)->daddr, sum);
#if IS_ENABLED(CONFIG_IPV6)
	return tcp_v6_check(tcp_bytes + payload_bytes, &ipv6_hdr(skb)->saddr,
			    &ipv6_hdr(skb)->daddr, sum);
#else
	return true;
#endif
}

/* A probe behind IFA's header. Returns true if it was consumed. */
static bool take_ifa(struct nint_net *in, struct sk_buff *skb, const u8 *packet,
		     const struct ifa_view *v)
{
	const struct tcphdr *th = (const struct tcphdr *)(packet + IFA_HDR_BYTES);
	const unsigned int payload_at = packet - skb->data + v->stack_offset + v->stack_bytes;
	struct nint_control ctl;
	struct hop_flow *flow;

	if (v->next != IFA_NEXT_TCP || !nint_control_has_magic(skb, payload_at))
		return false;
	flow = read_wrapped(in, skb, th, payload_at, &ctl);
	if (!flow)
		return false;
	if (is_ifa_mangled(skb, th, v->l4_bytes, payload_at))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else
		take_probe(in, skb, flow, &ctl,
			   nint_tlm_read_ifa(in, v, packet, hop_flow_state(flow)));
	return true;
}

/*
 * A packet of IFA's protocol, while the netns has a layout of IFA. Only probes with a valid cookie
 * are consumed; all other packets are left unchanged to the stack. Returns NF_ACCEPT or NF_STOLEN.
 */
unsigned int nint_ifa_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	static const struct ifa_params params;
	enum ifa_fault fault;
	struct ifa_view v;
	const u8 *packet;

	if (!hop_flow_any(state->net) || dscp_of(skb) != nint_dscp_probe ||
	    skb->len > NINT_PROBE_MAX_BYTES || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!pskb_may_pull(skb, skb->len)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return NF_ACCEPT;
	}
	packet = skb->data + place->offset_bytes;
	fault = ifa_parse(&v, &params, packet, skb->len - place->offset_bytes);
	if (fault) {
		nint_count(in, INT_COUNT_BAD_IFA + fault);
		return NF_ACCEPT;
	}
	if (!take_ifa(in, skb, packet, &v))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}
