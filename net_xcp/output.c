// SPDX-License-Identifier: GPL-2.0
/*
 * Sent packets. The hook is in POST_ROUTING after source NAT, which would mistake our header for
 * TCP's ports. Flows are looked up by their socket, independent of NAT. A packet that a filter
 * behind the hook would no longer recognise as TCP gets no header, see hop_filter_misses_output().
 */
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "net_xcp.h"
#include "trace.h"

/*
 * In IPsec's transport mode the header is in front of AH or ESP, but only if xcp_ipsec is on. Other
 * modes, such as BEET, are not tested.
 */
static bool nxcp_is_below_ipsec(const struct nxcp_net *xn, const struct sk_buff *skb)
{
	return nxcp_ipsec_is_inside(skb) &&
	       !(nxcp_ipsec_is_transport(skb) && READ_ONCE(xn->ipsec));
}

/* Count headers on data. */
static void nxcp_count_data(const struct nxcp_net *xn, const struct sk_buff *skb)
{
	nxcp_count_add(xn, XCP_COUNT_OUT_DATA, max_t(u16, 1, skb_shinfo(skb)->gso_segs));
	if (skb_is_gso(skb))
		nxcp_count(xn, XCP_COUNT_OUT_GSO);
}

/* Return: false if timeouts of data with headers suggest that the path now drops them */
static bool nxcp_path_takes_headers(const struct sock *sk, struct hop_flow *flow)
{
	enum hop_stage stage = hop_flow_stage(flow);

	if (inet_csk(sk)->icsk_retransmits >= HOP_TIMEOUTS_MAX && hop_carrier_passes(flow))
		stage = hop_flow_event(flow, HOP_EVENT_TIMEOUTS);
	return stage == HOP_STAGE_SUPPORTED;
}

static struct xcp_offer nxcp_read_offer(const struct xcp_offer *offer)
{
	return (struct xcp_offer){
		.rtt_us = READ_ONCE(offer->rtt_us),
		.throughput_bytes_ps = READ_ONCE(offer->throughput_bytes_ps),
		.delta_bytes_ps = READ_ONCE(offer->delta_bytes_ps),
		.flags = READ_ONCE(offer->flags),
	};
}

/* A packet has its header. Return: NF_ACCEPT, or NF_STOLEN if it was sent */
static unsigned int nxcp_output_end(struct nxcp_net *xn, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	struct hop_shim_place place;

	if (READ_ONCE(xn->tunnel))
		nxcp_tunnel_approach(skb, state->out);
	if (READ_ONCE(xn->ipsec) && hop_shim_find(skb, &place))
		return nxcp_ipsec_output(xn, skb, &place, state);
	return NF_ACCEPT;
}

/*
 * Insert a header with the pending feedback: Minimal if @offer is NULL. A GSO packet is marked for
 * software segmentation, see offload.c. Return: false if the packet has no header.
 */
static bool nxcp_insert_header(const struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_segment *seg, struct hop_flow *flow,
			       const struct xcp_offer *offer, u8 flags)
{
	struct xcp_hdr *h = nxcp_insert(skb, &seg->place);
	struct xcp_flow *xf = hop_flow_state(flow);

	if (!h)
		return false;
	spin_lock_bh(&xf->lock);
	if (offer)
		nxcp_write_offer(h, seg->place.next, READ_ONCE(xn->format), offer,
				 nxcp_take_pending(&xf->vars));
	else
		nxcp_write_minimal(h, seg->place.next, nxcp_take_pending(&xf->vars));
	spin_unlock_bh(&xf->lock);
	h->flags |= flags;
	if (skb_is_gso(skb))
		hop_shim_mark_gso(skb);
	trace_xcp_header_out(&flow->key, h);
	return true;
}

/*
 * The copy leaves in front of the packet, so that its answer arrives in front of the packet's ACK.
 * It has no data, so that the path carries the data once: it offers what a flow of its size would.
 */
static void nxcp_send_copy(struct nxcp_net *xn, const struct sk_buff *skb,
			   const struct hop_segment *seg, struct hop_flow *flow,
			   const struct xcp_offer *offer)
{
	const unsigned int pkts = max_t(u16, 1, skb_shinfo(skb)->gso_segs);
	struct sk_buff *copy = hop_output_copy_headers(skb, seg);
	struct xcp_offer scaled;

	if (!copy) {
		nxcp_count(xn, XCP_COUNT_NO_MEMORY);
		return;
	}
	if (offer) {
		scaled = nxcp_scale_offer(offer, skb->len, copy->len + XCP_HDR_BYTES, pkts);
		offer = &scaled;
	}
	if (!nxcp_insert_header(xn, copy, seg, flow, offer, XCP_FLAG_TRY)) {
		kfree_skb(copy);
		return;
	}
	nxcp_count_add(xn, offer ? XCP_COUNT_OUT_TRY : XCP_COUNT_OUT_ACK, pkts);
	if (nxcp_output_end(xn, copy, seg->state) == NF_ACCEPT)
		hop_hook_pass_behind(copy, seg->state);
}

/*
 * Give a packet a header, or, as long as the path may drop headers, a copy of it.
 *
 * Return: true if the packet itself has the header.
 */
static bool nxcp_output_header(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_segment *seg, struct hop_flow *flow,
			       const struct xcp_offer *offer)
{
	if (hop_carrier_hides(&xn->carrier, READ_ONCE(xn->on), skb, seg->state)) {
		/* The connection goes on without headers. */
		hop_flow_event(flow, HOP_EVENT_HIDDEN);
		return false;
	}
	if (hop_carrier_passes(flow))
		return nxcp_insert_header(xn, skb, seg, flow, offer, 0);
	nxcp_send_copy(xn, skb, seg, flow, offer);
	return false;
}

/* Data of a socket whose congestion control is "xcp": add its offer and feedback. */
static void nxcp_output_data(struct nxcp_net *xn, struct sk_buff *skb,
			     const struct hop_segment *seg,
			     const struct sock *sk, struct hop_flow *flow)
{
	const struct xcp_flow *xf = hop_flow_state(flow);
	struct xcp_offer offer;

	if (!nxcp_path_takes_headers(sk, flow))
		return;
	if (!hop_output_has_room(skb, seg->payload_bytes, XCP_HDR_BYTES)) {
		nxcp_count(xn, XCP_COUNT_NO_ROOM);
		return;
	}
	offer = nxcp_read_offer(&xf->offer);
	if (nxcp_output_header(xn, skb, seg, flow, &offer))
		nxcp_count_data(xn, skb);
}

/*
 * Conntrack, which takes a header for another protocol, may drop plain packets behind those with a
 * header as invalid: so a FIN, or an ACK that opens the window, has one, too. Only one: if the path
 * has begun to drop them, the peer sends plain data again, whose ACKs must arrive.
 */
static bool nxcp_needs_header(struct hop_flow *flow)
{
	struct xcp_flow *xf = hop_flow_state(flow);

	if (nxcp_has_pending(&xf->vars))
		return true;
	if (!test_bit(HOP_FLOW_PASSED, &flow->flags) || READ_ONCE(xf->vars.unasked) ||
	    hop_flow_stage(flow) != HOP_STAGE_SUPPORTED)
		return false;
	WRITE_ONCE(xf->vars.unasked, true);
	return true;
}

/*
 * A pure ACK of any socket: negotiate, or add feedback. A header with an RTT of 0, "not yet known"
 * (section 2.2), asks if the path passes headers; a Minimal one shows that the peer's has passed.
 */
static void nxcp_output_ack(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_segment *seg,
			    struct hop_flow *flow)
{
	static const struct xcp_offer unknown;

	if (hop_negotiate_ack(skb, seg, flow))
		return;
	if (hop_flow_take(flow, HOP_FLOW_TRIES) && !hop_carrier_passes(flow))
		nxcp_output_header(xn, skb, seg, flow, &unknown);
	if ((hop_flow_take(flow, HOP_FLOW_SHOWS) || nxcp_needs_header(flow)) &&
	    nxcp_output_header(xn, skb, seg, flow, NULL))
		nxcp_count(xn, XCP_COUNT_OUT_ACK);
}

/*
 * Data of a socket with another congestion control: add pending feedback. If it does not fit, the
 * feedback waits: see nxcp_wants_room().
 */
static void nxcp_output_answer(struct nxcp_net *xn, struct sk_buff *skb,
			       const struct hop_segment *seg,
			       const struct sock *sk, struct hop_flow *flow)
{
	struct xcp_flow *xf = hop_flow_state(flow);

	if (!nxcp_has_pending(&xf->vars) || !nxcp_path_takes_headers(sk, flow))
		return;
	if (!hop_output_has_room(skb, seg->payload_bytes, XCP_HDR_BYTES) ||
	    (skb_is_gso(skb) && !READ_ONCE(xn->gso))) {
		spin_lock_bh(&xf->lock);
		xf->vars.needs_room = true;
		spin_unlock_bh(&xf->lock);
	} else if (nxcp_output_header(xn, skb, seg, flow, NULL)) {
		nxcp_count_data(xn, skb);
	}
}

static void nxcp_output_established(struct nxcp_net *xn, struct sk_buff *skb,
				    const struct hop_segment *seg, const struct sock *sk)
{
	struct hop_flow *flow = hop_flow_of_sock(&nxcp_carrier, sk);
	const struct xcp_flow *xf;

	if (!flow)
		return;
	/*
	 * The established socket sends, so a congestion control on this end has already asked for
	 * its flow.
	 */
	hop_negotiate_settle(flow);
	xf = hop_flow_state(flow);
	if (!seg->payload_bytes)
		nxcp_output_ack(xn, skb, seg, flow);
	else if (READ_ONCE(xf->sk) == sk && !READ_ONCE(xf->room))
		nxcp_output_data(xn, skb, seg, sk, flow);
	else
		nxcp_output_answer(xn, skb, seg, sk, flow);
}

unsigned int nxcp_output(struct sk_buff *skb, const struct hop_segment *seg,
			 const struct nf_hook_state *state)
{
	struct nxcp_net *xn = nxcp_net(state->net);

	if (!READ_ONCE(xn->on))
		return NF_ACCEPT;
	if (READ_ONCE(xn->ipsec))
		nxcp_ipsec_begin(skb);
	if (READ_ONCE(xn->tunnel) && nxcp_tunnel_is(seg->place.next))
		nxcp_tunnel_enter(xn, skb, &seg->place, state);
	if (!seg->tcp || seg->rst || nxcp_is_below_ipsec(xn, skb))
		return nxcp_output_end(xn, skb, state);
	if (seg->syn)
		hop_negotiate_handshake(&nxcp_carrier, skb, seg);
	else if (hop_output_is_tcp(skb->sk) && hop_flow_any(state->net))
		nxcp_output_established(xn, skb, seg, skb->sk);
	return nxcp_output_end(xn, skb, state);
}
