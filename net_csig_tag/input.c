// SPDX-License-Identifier: GPL-2.0
/*
 * Packets for this host, in LOCAL_IN. The hook is behind destination NAT and the firewall: a packet
 * that these drop must not change any state. The tag has been removed before; see ingress.c.
 */
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "net_csig_tag.h"

/**
 * struct ctag_arrival - CSIG data of a received packet
 * @form: format of @tag; CSIG_NONE: no tag
 * @tag: the tag
 * @opt: the option, with a valid length; NULL: none
 */
struct ctag_arrival {
	enum csig_form form;
	struct csig_tag tag;
	const u8 *opt;
};

/* Return: the option, or NULL. */
static const u8 *ctag_read_option(struct ctag_net *cn, const struct sk_buff *skb,
				  const struct hop_segment *seg)
{
	const struct tcphdr *th = hop_segment_tcp(skb, seg);
	const u8 *opt = hop_option_find((const u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th),
					CSIG_OPT_KIND, ctag_exid);

	if (opt && ctag_opt_form(opt) == CSIG_FORMS) {
		ctag_count(cn, CTAG_BAD_LENGTH);
		return NULL;
	}
	return opt;
}

static void ctag_receive_reflection(struct ctag_net *cn, struct sk_buff *skb, struct hop_flow *flow,
				    const struct hop_segment *seg, const u8 *opt)
{
	const struct tcphdr *th = hop_segment_tcp(skb, seg);
	const enum csig_form form = ctag_opt_form(opt);
	const u32 ack_seq = ntohl(th->ack_seq);
	struct csig_tag t;

	if (!hop_input_is_from_peer(&flow->key, ntohl(th->seq), ack_seq)) {
		ctag_count(cn, CTAG_IN_FORGED);
		return;
	}
	if (hop_input_is_mangled(skb, th)) {
		ctag_count(cn, CTAG_IN_BAD_SUM);
		return;
	}
	hop_flow_event(flow, HOP_EVENT_RECEIVED);
	if (!form) {
		ctag_flow_reported_empty(cn, flow, ack_seq);
		return;
	}
	t = csig_read(form, opt + CSIG_OPT_HEAD_BYTES);
	ctag_flow_reported(cn, flow, form, &t);
}

/*
 * A peer that sends tags has received our SYN-ACK with the option, even if it was sent again
 * without.
 */
static void ctag_receive_tag(struct ctag_net *cn, struct sk_buff *skb, struct hop_flow *flow,
			     const struct hop_segment *seg, const struct ctag_arrival *a)
{
	const struct tcphdr *th = hop_segment_tcp(skb, seg);

	if (hop_flow_stage(flow) != HOP_STAGE_SUPPORTED &&
	    hop_input_is_from_peer(&flow->key, ntohl(th->seq), ntohl(th->ack_seq)) &&
	    !hop_input_is_mangled(skb, th))
		hop_flow_event(flow, HOP_EVENT_RECEIVED);
	ctag_flow_receive(cn, flow, a->form, &a->tag);
}

static void ctag_input_reserve(struct sock *sk, void *flow)
{
	ctag_flow_reserve(flow, sk);
}

/* Reserves room that output could not reserve: see ctag_is_locked() there. */
static void ctag_input_make_room(struct hop_flow *flow)
{
	struct csig_flow *f = hop_flow_state(flow);

	if (hop_flow_stage(flow) == HOP_STAGE_SUPPORTED && ctag_flow_lacks_room(f))
		hop_input_act(&flow->key, ctag_input_reserve, f);
}

static void ctag_input_receive(struct ctag_net *cn, struct sk_buff *skb,
			       const struct hop_segment *seg,
			       const struct ctag_arrival *a)
{
	struct hop_flow *flow = hop_flow_of_input(&ctag_carrier, skb, hop_segment_tcp(skb, seg));

	if (!flow) {
		if (a->form || a->opt)
			ctag_count(cn, CTAG_IN_NO_FLOW);
		return;
	}
	if (a->opt)
		ctag_receive_reflection(cn, skb, flow, seg, a->opt);
	if (a->form)
		ctag_receive_tag(cn, skb, flow, seg, a);
	else if (seg->payload_bytes)
		ctag_flow_miss(flow);
	ctag_input_make_room(flow);
}

/* Reads the key of the flow to which the inner packet of a tunnel belongs. */
static bool ctag_read_inner(const struct sk_buff *skb, const struct ctag_inner *inner,
			    struct hop_flow_key *key)
{
	const u32 at_bytes = inner->at_bytes + inner->place.offset_bytes;
	struct tcphdr buf;
	const struct tcphdr *th;

	if (inner->place.next != IPPROTO_TCP ||
	    !ctag_inner_addresses(skb, inner, &key->peer, &key->local))
		return false;
	th = skb_header_pointer(skb, at_bytes, sizeof(buf), &buf);
	if (!th)
		return false;
	key->peer_port = th->source;
	key->local_port = th->dest;
	return true;
}

/*
 * The end of a tunnel: the tag of the outer packet is about the inner packet's flow. It is passed
 * to the flow if that is a connection of this host; otherwise a packet for another host may take
 * it.
 */
static void ctag_receive_tunnel(struct ctag_net *cn, const struct sk_buff *skb, struct net *net,
				const struct ctag_inner *inner, enum csig_form form,
				const struct csig_tag *t)
{
	struct hop_flow_key key = { .net = net, .carrier = &ctag_carrier };
	const bool reported = READ_ONCE(cn->level) && hop_flow_any(net) &&
			      ctag_read_inner(skb, inner, &key);
	struct hop_flow *flow = reported ? hop_flow_find(&key) : NULL;

	if (flow)
		ctag_flow_receive(cn, flow, form, t);
	else if (ctag_has_tunnels(cn))
		ctag_tunnel_keep(cn, skb, inner, form, t);
	else if (reported)
		ctag_count(cn, CTAG_IN_NO_FLOW);
}

/* Packets other than TCP: the end of a tunnel, or UDP. */
static void ctag_receive_other(struct ctag_net *cn, struct sk_buff *skb, struct net *net)
{
	struct ctag_inner inner;
	struct csig_tag t;
	const enum csig_form form = ctag_received_tag(cn, skb, ctag_iif(skb), &t);
	bool tunnel;

	if (!form)
		return;
	tunnel = ctag_find_inner(skb, &inner);
	/*
	 * The inner frame has its own tag, which is processed later; the outer tag is merged into
	 * it.
	 */
	if (tunnel && inner.tagged && ctag_has_tunnels(cn)) {
		ctag_tunnel_keep(cn, skb, &inner, form, &t);
		return;
	}
	if (READ_ONCE(cn->level) && ctag_udp_receive(cn, skb, form, &t))
		return;
	if (tunnel)
		ctag_receive_tunnel(cn, skb, net, &inner, form, &t);
}

unsigned int ctag_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct ctag_net *cn = ctag_net(state->net);
	struct ctag_arrival a = {};
	struct hop_segment seg;

	if (!READ_ONCE(cn->level)) {
		if (ctag_has_tunnels(cn))
			ctag_receive_other(cn, skb, state->net);
		return NF_ACCEPT;
	}
	if (!ctag_read_segment(skb, &seg)) {
		ctag_receive_other(cn, skb, state->net);
		return NF_ACCEPT;
	}
	if (seg.rst)
		return NF_ACCEPT;
	hop_negotiate_receive(&ctag_carrier, skb, seg.place.offset_bytes, state);
	if (seg.syn)
		return NF_ACCEPT;
	a.form = ctag_received_tag(cn, skb, ctag_iif(skb), &a.tag);
	a.opt = ctag_read_option(cn, skb, &seg);
	if (a.form || a.opt || hop_flow_any(state->net))
		ctag_input_receive(cn, skb, &seg, &a);
	return NF_ACCEPT;
}
