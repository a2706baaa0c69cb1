// SPDX-License-Identifier: GPL-2.0
/*
 * Received packets. The hook is in PRE_ROUTING before defragmentation and conntrack, so that
 * everything after it sees plain TCP. A packet that arrived in fragments reaches the handler of our
 * protocol number instead, and is received again whole.
 *
 * While net.hopcc.xcp is on, the header in front of a TCP segment for this host is removed, and TCP
 * answers the segment as if it had arrived without one: a connection that exists is never refused.
 * The header is used only if the segment is within the windows of a connection that has negotiated
 * XCP. The copy of a packet by which the peer tries a header ends here. nxcp_input_strip() says
 * which packets are dropped. Tunnels and IPsec have their own sysctls. All other packets are left
 * unchanged to the stack. The filters behind this hook see TCP; for filters before it, see
 * hop_filter_misses_input() and hop_input_show().
 */
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>
#include <net/xfrm.h>

#include "net_xcp.h"
#include "trace.h"

/**
 * struct nxcp_arrival - a received packet with a header
 * @h: the header, validated by xcp_check()
 * @key: key of the TCP connection
 * @flow: flow of the connection, or NULL
 * @copy: the packet is a copy, by which the peer tries if the path passes headers
 */
struct nxcp_arrival {
	struct xcp_hdr h;
	struct hop_flow_key key;
	struct hop_flow *flow;
	bool copy;
};

/*
 * A segment with a header has no flow. If its connection is established, the peer has negotiated
 * XCP, and this end has lost the flow, for example to newer half-open ones. Without feedback the
 * peer's window would never change.
 */
static struct hop_flow *nxcp_open_again(struct nxcp_net *xn, const struct nxcp_arrival *a,
					const struct tcphdr *th)
{
	struct hop_flow *flow = NULL;

	if (hop_input_is_from_peer(&a->key, ntohl(th->seq), ntohl(th->ack_seq)) &&
	    hop_flow_tcp_state(&a->key) & HOP_INPUT_RECEIVES)
		flow = hop_flow_add(&a->key, false);
	if (!flow)
		nxcp_count(xn, XCP_COUNT_IN_NO_FLOW);
	return flow;
}

/* Maximum number of ACKs that this end sends only to answer options and copies that ask */
#define XCP_TRIES	(2 * HOP_LATE_ASKS)

/*
 * The peer sends a copy to find out if the path passes headers. This end answers by a Minimal
 * header in its next ACK, and the peer sends headers in other packets only after one has arrived.
 */
static void nxcp_note_path(const struct nxcp_arrival *a, struct hop_flow *flow)
{
	if (!a->copy || xcp_format(&a->h) == XCP_FORMAT_MINIMAL) {
		hop_carrier_note_passed(flow);
		return;
	}
	set_bit(HOP_FLOW_SHOWS, &flow->flags);
	/* An offer is in a copy of data's headers, and the data behind it causes an ACK. */
	if (a->h.rtt) {
		hop_input_ack_now(&a->key, 0);
	} else if (READ_ONCE(flow->late.asked) < XCP_TRIES) {
		WRITE_ONCE(flow->late.asked, flow->late.asked + 1);
		hop_input_answer_now(&a->key);
	}
}

static void nxcp_input_receive(struct nxcp_net *xn, const struct nxcp_arrival *a,
			       const struct sk_buff *skb, const struct tcphdr *th,
			       unsigned int payload_bytes)
{
	struct hop_flow *flow = a->flow ?: nxcp_open_again(xn, a, th);
	unsigned int segment_bytes = payload_bytes;
	struct xcp_flow *xf;
	bool small, needs_room;

	if (!flow)
		return;
	if (!hop_input_is_from_peer(&a->key, ntohl(th->seq), ntohl(th->ack_seq))) {
		nxcp_count(xn, XCP_COUNT_IN_BAD_SEQ);
		return;
	}
	hop_flow_settle(flow);
	if (hop_flow_event(flow, HOP_EVENT_RECEIVED) == HOP_STAGE_SUPPORTED)
		nxcp_note_path(a, flow);
	if (skb_is_gso(skb))
		segment_bytes = min_t(unsigned int, payload_bytes, skb_shinfo(skb)->gso_size);
	xf = hop_flow_state(flow);
	spin_lock_bh(&xf->lock);
	nxcp_account(&xf->vars, &a->h, segment_bytes, hop_input_segs_pkts(skb));
	small = payload_bytes && nxcp_window_is_small(&xf->vars, &a->h);
	needs_room = nxcp_wants_room(&xf->vars);
	spin_unlock_bh(&xf->lock);
	if (needs_room)
		hop_input_act(&a->key, nxcp_flow_make_room, xf);
	if (small && hop_input_ack_now(&a->key, 0))
		nxcp_count(xn, XCP_COUNT_ACK_NOW);
}

/* Return: false for clear text where a policy requires IPsec; TCP will drop the packet */
static bool nxcp_may_speak(struct sk_buff *skb)
{
	return secpath_exists(skb) ||
	       xfrm_policy_check(NULL, XFRM_POLICY_IN, skb,
				 skb->protocol == htons(ETH_P_IP) ? AF_INET : AF_INET6);
}

/*
 * The XCP header is removed; @th is the complete TCP header. TCP's checksum need not be verified
 * here for segments of a connection that has negotiated.
 */
static void nxcp_receive(struct nxcp_net *xn, struct sk_buff *skb, struct nxcp_arrival *a,
			 const struct tcphdr *th, unsigned int segment_bytes)
{
	const unsigned int payload_bytes = segment_bytes -
					   min_t(unsigned int, segment_bytes, __tcp_hdrlen(th));
	/* XCP_FLAG_SUM, which GRO sets, is known in GSO packets only. */
	const u8 known = XCP_FLAGS_KNOWN | (skb_is_gso(skb) ? XCP_FLAG_SUM : 0);
	const bool first = a->copy || !a->flow || hop_flow_stage(a->flow) != HOP_STAGE_SUPPORTED;

	nxcp_count_add(xn, XCP_COUNT_IN, hop_input_segs_pkts(skb));
	if (a->h.flags & ~known)
		nxcp_count_add(xn, XCP_COUNT_IN_FLAGS, hop_input_segs_pkts(skb));
	if (!nxcp_may_speak(skb))
		return;
	if (first && hop_input_is_mangled(skb, th)) {
		nxcp_count(xn, XCP_COUNT_IN_BAD_SUM);
		return;
	}
	trace_xcp_header_in(&a->key, &a->h);
	nxcp_input_receive(xn, a, skb, th, payload_bytes);
}

/*
 * Copy and validate the header, and pull it together with a following TCP header. @offset_bytes:
 * from skb->data to the header
 */
static enum xcp_fault nxcp_input_read_header(struct sk_buff *skb, unsigned int offset_bytes,
					     struct xcp_hdr *h)
{
	struct xcp_hdr *in = skb_header_pointer(skb, offset_bytes, sizeof(*h), h);
	enum xcp_fault fault = xcp_check(in, nxcp_protocol);
	unsigned int next_bytes = 0;

	if (fault)
		return fault;
	if (in->protocol == IPPROTO_TCP)
		next_bytes = sizeof(struct tcphdr);
	else if (!nxcp_may_follow(in->protocol))
		return XCP_BAD_NEXT;
	if (!pskb_may_pull(skb, offset_bytes + sizeof(*h) + next_bytes))
		return XCP_BAD_TRUNCATED;
	memcpy(h, skb->data + offset_bytes, sizeof(*h));
	return XCP_OK;
}

static void nxcp_find_flow(const struct sk_buff *skb, const struct tcphdr *th,
			   struct nxcp_arrival *a)
{
	hop_flow_key_of_input(&a->key, &nxcp_carrier, skb, th);
	a->flow = hop_flow_find(&a->key);
}

/*
 * Decide if the header may be removed. @offset_bytes: as in nxcp_input_read_header().
 *
 * Return: XCP_COUNTS if it may be removed, or the counter for the reason why it must stay.
 */
static enum nxcp_count nxcp_input_check(const struct nxcp_net *xn, struct sk_buff *skb,
					unsigned int offset_bytes, struct nxcp_arrival *a)
{
	enum xcp_fault fault = nxcp_input_read_header(skb, offset_bytes, &a->h);
	const struct tcphdr *th;

	a->flow = NULL;
	a->copy = false;
	if (fault)
		return XCP_COUNT_BAD + fault;
	if (a->h.protocol == IPPROTO_TCP) {
		/* In front of a tunnel's packet the flag is the inner header's. */
		a->copy = a->h.flags & XCP_FLAG_TRY;
		th = (const struct tcphdr *)(skb->data + offset_bytes + sizeof(a->h));
		nxcp_find_flow(skb, th, a);
		if (th->rst || th->syn)
			return XCP_COUNT_IN_NO_FLOW;
	} else if (nxcp_ipsec_is(a->h.protocol) ? !READ_ONCE(xn->ipsec) : !READ_ONCE(xn->tunnel)) {
		return XCP_COUNT_IN_OFF;
	}
	if (READ_ONCE(xn->on) != HOP_FILTER_TRUST && hop_filter_misses_input(skb))
		return XCP_COUNT_IN_HIDDEN;
	return XCP_COUNTS;
}

/*
 * Does the segment belong to no connection of this host? Where NAT translates TCP only, it may be
 * one of a connection that exists elsewhere, which a reset would end.
 */
static bool nxcp_is_strange(const struct nxcp_arrival *a)
{
	return a->h.protocol == IPPROTO_TCP && !a->flow && !hop_flow_tcp_state(&a->key);
}

/*
 * Remove the header at @place, unless @why, the result of nxcp_input_check(), says that it must
 * stay. Three kinds of segments with a header are dropped, as XCP_COUNT_IN_NO_FLOW: a SYN and a
 * reset, since TCP sends them without a header; and one that belongs to no connection.
 *
 * Return: XCP_COUNTS if it is removed, or the reason why it stays, which is counted.
 */
static enum nxcp_count nxcp_input_strip(struct nxcp_net *xn, struct sk_buff *skb,
					const struct hop_shim_place *place,
					const struct nxcp_arrival *a,
					enum nxcp_count why)
{
	int err;

	if (why == XCP_COUNTS && nxcp_is_strange(a))
		why = XCP_COUNT_IN_NO_FLOW;
	if (why == XCP_COUNTS) {
		err = hop_shim_strip(skb, place, sizeof(a->h), a->h.protocol);
		if (err)
			why = err == -ENOMEM ? XCP_COUNT_NO_MEMORY :
					       XCP_COUNT_BAD + XCP_BAD_TRUNCATED;
	}
	if (why != XCP_COUNTS)
		nxcp_count(xn, why);
	return why;
}

/* The header is removed; @offset_bytes: from skb->data to the header that followed it */
static void nxcp_input_take(struct nxcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			    struct nxcp_arrival *a)
{
	if (a->h.protocol == IPPROTO_TCP) {
		nxcp_receive(xn, skb, a, (const struct tcphdr *)(skb->data + offset_bytes),
			     skb->len - offset_bytes);
	} else if (nxcp_ipsec_is(a->h.protocol)) {
		nxcp_ipsec_leave(xn, skb, &a->h);
	} else {
		nxcp_count(xn, XCP_COUNT_TUNNEL_IN);
		nxcp_tunnel_copy_back(xn, skb, offset_bytes, &a->h);
	}
}

/* The packet is decrypted: a TCP header, if there is one, starts at @offset_bytes. */
static void nxcp_receive_noted(struct nxcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			       struct nxcp_arrival *a)
{
	a->h.protocol = IPPROTO_TCP;
	a->flow = NULL;
	a->copy = a->h.flags & XCP_FLAG_TRY;
	if (!pskb_may_pull(skb, offset_bytes + sizeof(struct tcphdr)))
		return;
	nxcp_find_flow(skb, (const struct tcphdr *)(skb->data + offset_bytes), a);
	nxcp_input_take(xn, skb, offset_bytes, a);
}

/*
 * The header is removed; @next is the protocol that followed it. A note that is left for AH or ESP
 * must persist when the packet is received again. Filters that know the header have seen the packet
 * already: a policer or a shaper (ifb) would count it twice.
 *
 * Return: the result of hop_input_show().
 */
static unsigned int nxcp_input_show(const struct nxcp_net *xn, struct sk_buff *skb, u8 next)
{
	unsigned int decision;

	if (READ_ONCE(xn->on) == HOP_FILTER_TRUST)
		return NF_ACCEPT;
	if (!nxcp_ipsec_is(next))
		return hop_input_show(skb);
	local_bh_disable();
	nxcp_ipsec_expect(skb);
	decision = hop_input_show(skb);
	nxcp_ipsec_expect(NULL);
	local_bh_enable();
	return decision;
}

/*
 * A packet for another host. An invalid header does not say where TCP is, and behind the headers of
 * a tunnel the stack itself knows.
 */
static void nxcp_input_forward(struct sk_buff *skb, const struct hop_shim_place *place)
{
	struct xcp_hdr h;

	if (skb_is_gso(skb) && nxcp_input_read_header(skb, place->offset_bytes, &h) == XCP_OK &&
	    h.protocol == IPPROTO_TCP)
		hop_shim_forward(skb, place, sizeof(h));
}

/*
 * A packet with our protocol number. If its flow is known, it is for this host without a look at
 * the route.
 */
static unsigned int nxcp_input_header(struct nxcp_net *xn, struct sk_buff *skb,
				      const struct hop_shim_place *place,
				      const struct nf_hook_state *state)
{
	struct nxcp_arrival a;
	enum nxcp_count why = nxcp_input_check(xn, skb, place->offset_bytes, &a);

	if (!a.flow && !hop_input_is_local(skb, state)) {
		nxcp_input_forward(skb, place);
		return NF_ACCEPT;
	}
	why = nxcp_input_strip(xn, skb, place, &a, why);
	/* The stack would report that this host does not know the header. */
	if (why == XCP_COUNT_NO_MEMORY || why == XCP_COUNT_IN_NO_FLOW)
		return NF_DROP;
	if (why != XCP_COUNTS)
		return NF_ACCEPT;
	nxcp_input_take(xn, skb, place->offset_bytes, &a);
	return a.copy ? NF_DROP : nxcp_input_show(xn, skb, a.h.protocol);
}

unsigned int nxcp_input(struct sk_buff *skb, const struct hop_shim_place *place,
			const struct nf_hook_state *state)
{
	struct nxcp_net *xn = nxcp_net(state->net);
	struct nxcp_arrival a;

	if (!READ_ONCE(xn->on)) {
		if (place->next == nxcp_protocol && !hop_input_is_local(skb, state))
			nxcp_input_forward(skb, place);
		return NF_ACCEPT;
	}
	/* Must be called for every packet, including fragments. */
	if (READ_ONCE(xn->ipsec) && nxcp_ipsec_decrypted(skb) && place->next &&
	    nxcp_ipsec_input(xn, skb, place, &a.h)) {
		nxcp_receive_noted(xn, skb, place->offset_bytes, &a);
		return a.copy ? NF_DROP : NF_ACCEPT;
	}
	if (place->next == IPPROTO_TCP)
		hop_negotiate_receive(&nxcp_carrier, skb, place->offset_bytes, state);
	return place->next == nxcp_protocol ? nxcp_input_header(xn, skb, place, state) : NF_ACCEPT;
}

/* Return: false if the packet is unchanged and no protocol accepts it. */
bool nxcp_receive_late(struct sk_buff *skb)
{
	const struct nxcp_net *xn = nxcp_net(dev_net(skb->dev));

	if (!READ_ONCE(xn->on)) {
		nxcp_count(xn, XCP_COUNT_IN_OFF);
		return false;
	}
	if (!hop_input_whole(skb, nxcp_protocol))
		return false;
	nxcp_count(xn, XCP_COUNT_IN_LATE);
	return true;
}
