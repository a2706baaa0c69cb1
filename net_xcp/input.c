// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that arrive: PRE_ROUTING in front of defragmentation and conntrack, so
 * that all that follows sees TCP. What comes later than that, such as a packet
 * that arrived in fragments, meets us as the handler of our protocol number.
 */
#include <net/hop_hook.h>
#include <net/hop_input.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/xfrm.h>

#include "net_xcp.h"
#include "trace.h"

#define XCP_INPUT_PRIORITY (NF_IP_PRI_CONNTRACK_DEFRAG - 50)

static void receive_syn(struct xcp_net *xn, const struct hop_flow_key *key)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (hop_input_opens_flow(key)) {
		if (flow)
			hop_flow_remove(flow);
		if (hop_silent_is(&xn->silent, &key->peer)) {
			xcp_count(xn, XCP_COUNT_AVOIDED);
			return;
		}
		flow = hop_flow_add(key, true);
	}
	/* Else it is our SYN's twin, a repeated one, or nobody's. */
	if (flow)
		xcp_flow_event(flow, HOP_EVENT_SYN_IN);
	else
		xcp_count(xn, XCP_COUNT_IN_NO_FLOW);
}

static void receive(struct xcp_net *xn, const struct hop_flow_key *key, const struct xcp_hdr *h,
		    const struct tcphdr *th, unsigned int payload_bytes)
{
	struct hop_flow *flow;
	struct xcp_flow *xf;
	bool small, crowded;

	if (!hop_input_is_in_window(key, th, payload_bytes)) {
		xcp_count(xn, XCP_COUNT_IN_BAD_SEQ);
		return;
	}
	flow = hop_flow_find(key) ?: hop_input_adopt(key);
	if (!flow) {
		xcp_count(xn, XCP_COUNT_IN_NO_FLOW);
		return;
	}
	if (!th->syn)
		hop_flow_settle(flow);
	xcp_flow_event(flow, th->syn ? HOP_EVENT_SYNACK_IN : HOP_EVENT_HEADER_IN);
	xf = hop_flow_state(flow);
	spin_lock_bh(&xf->lock);
	xcp_account(&xf->vars, h, payload_bytes);
	small = payload_bytes && xcp_window_is_small(&xf->vars, h);
	crowded = xcp_wants_room(&xf->vars);
	spin_unlock_bh(&xf->lock);
	if (crowded)
		hop_input_act(key, xcp_flow_make_room, xf);
	if (small && hop_input_ack_now(key, 0))
		xcp_count(xn, XCP_COUNT_ACK_NOW);
}

/* In clear text, where a policy asks for IPsec: TCP will drop it. */
static bool may_speak(struct sk_buff *skb)
{
	return secpath_exists(skb) ||
	       xfrm_policy_check(NULL, XFRM_POLICY_IN, skb,
				 skb->protocol == htons(ETH_P_IP) ? AF_INET : AF_INET6);
}

/* The header is out; @th is TCP's, in full. */
static void xcp_receive(struct xcp_net *xn, struct sk_buff *skb, const struct xcp_hdr *h,
			const struct tcphdr *th, unsigned int segment_bytes)
{
	struct hop_flow_key key;

	xcp_count(xn, XCP_COUNT_IN);
	if (h->flags & ~XCP_FLAGS_KNOWN)
		xcp_count(xn, XCP_COUNT_IN_FLAGS);
	if (!READ_ONCE(xn->on) || !may_speak(skb))
		return;
	/* A handshake only: later packets have the proof. */
	if (th->syn && hop_input_is_mangled(skb, th)) {
		xcp_count(xn, XCP_COUNT_IN_BAD_SUM);
		return;
	}
	hop_flow_key_of_input(&key, &xcp_flow_kind, skb, th);
	trace_xcp_header_in(&key, h);
	if (th->syn && !th->ack)
		receive_syn(xn, &key);
	else if (!th->rst)
		receive(xn, &key, h, th, segment_bytes - min_t(unsigned int, segment_bytes,
							       __tcp_hdrlen(th)));
}

/* @offset_bytes: from skb->data to what should be a header, with what may follow behind it */
static enum xcp_fault read_header(struct sk_buff *skb, unsigned int offset_bytes,
				  struct xcp_hdr *h)
{
	struct xcp_hdr *in = skb_header_pointer(skb, offset_bytes, sizeof(*h), h);
	enum xcp_fault fault = xcp_check(in, xcp_protocol);
	unsigned int next_bytes = 0;

	if (fault)
		return fault;
	if (in->protocol == IPPROTO_TCP)
		next_bytes = sizeof(struct tcphdr);
	else if (!xcp_may_follow(in->protocol))
		return XCP_BAD_NEXT;
	if (!pskb_may_pull(skb, offset_bytes + sizeof(*h) + next_bytes))
		return XCP_BAD_TRUNCATED;
	memcpy(h, skb->data + offset_bytes, sizeof(*h));
	return XCP_OK;
}

/* Take the header at @place out. Return: whether that went well; if not, it is counted. */
static bool strip(struct xcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		  struct xcp_hdr *h)
{
	enum xcp_fault fault = read_header(skb, place->offset_bytes, h);
	int err;

	if (fault) {
		xcp_count_fault(xn, fault);
		return false;
	}
	err = hop_shim_strip(skb, place, sizeof(*h), h->protocol);
	if (err == -ENOMEM)
		xcp_count(xn, XCP_COUNT_NO_MEMORY);
	else if (err)
		xcp_count_fault(xn, XCP_BAD_TRUNCATED);
	return !err;
}

/* The header is out; @offset_bytes: from skb->data to what followed it. */
static void take(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
		 const struct xcp_hdr *h)
{
	if (h->protocol == IPPROTO_TCP)
		xcp_receive(xn, skb, h, (const struct tcphdr *)(skb->data + offset_bytes),
			    skb->len - offset_bytes);
	else if (xcp_ipsec_is(h->protocol))
		xcp_ipsec_leave(xn, skb, h);
	else
		xcp_tunnel_leave(xn, skb, offset_bytes, h);
}

/* Decrypted: TCP's header is where it should be, if it is there. */
static void receive_noted(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			  struct xcp_hdr *h)
{
	h->protocol = IPPROTO_TCP;
	if (pskb_may_pull(skb, offset_bytes + sizeof(struct tcphdr)))
		take(xn, skb, offset_bytes, h);
}

static unsigned int xcp_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct xcp_net *xn = xcp_net(state->net);
	struct hop_shim_place place;
	struct xcp_hdr h;
	/* Asked of every packet, fragments too. */
	bool decrypted = READ_ONCE(xn->ipsec) && xcp_ipsec_decrypted(skb);

	if (!hop_shim_find(skb, &place))
		return NF_ACCEPT;
	if (decrypted && xcp_ipsec_input(xn, skb, &place, &h)) {
		receive_noted(xn, skb, place.offset_bytes, &h);
		return NF_ACCEPT;
	}
	if (place.next != xcp_protocol || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!strip(xn, skb, &place, &h))
		return NF_DROP;
	take(xn, skb, place.offset_bytes, &h);
	return NF_ACCEPT;
}

const struct nf_hook_ops xcp_input_hooks[2] =
	HOP_HOOKS(xcp_input, NF_INET_PRE_ROUTING, XCP_INPUT_PRIORITY);

/*
 * Behind the hook, skb->data is at our header, which the byte at @name_bytes of IP's
 * headers names. IPsec reads IP's header, so that has to say what follows now.
 *
 * Return: the protocol that follows, skb->data at IP's header, skb->transport_header
 * behind ours; 0: the packet is gone.
 */
static u8 receive_late(struct sk_buff *skb, unsigned int name_bytes)
{
	struct xcp_net *xn = xcp_net(dev_net(skb->dev));
	struct hop_shim_place place = {
		.offset_bytes = -skb_network_offset(skb),
		.name_bytes = name_bytes,
		.next = xcp_protocol,
	};
	struct xcp_hdr h;

	__skb_push(skb, place.offset_bytes);
	if (!strip(xn, skb, &place, &h)) {
		kfree_skb(skb);
		return 0;
	}
	xcp_count(xn, XCP_COUNT_IN_LATE);
	take(xn, skb, place.offset_bytes, &h);
	return h.protocol;
}

/* "Less than 0: hand it to the protocol of that number." */
static int xcp_late_v4(struct sk_buff *skb)
{
	u8 next = receive_late(skb, offsetof(struct iphdr, protocol));

	if (next)
		__skb_pull(skb, skb_transport_offset(skb));
	return -next;
}

static const struct net_protocol xcp_protocol_v4 = {
	.handler	= xcp_late_v4,
	.err_handler	= xcp_icmp_v4,
	/* TCP checks the policy. */
	.no_policy	= 1,
	.icmp_strict_tag_validation = 1,
};

#if IS_ENABLED(CONFIG_IPV6)
/* "Greater than 0: go on at the transport header", as behind any extension header. */
static int xcp_late_v6(struct sk_buff *skb)
{
	return receive_late(skb, IP6CB(skb)->nhoff) ? 1 : 0;
}

static const struct inet6_protocol xcp_protocol_v6 = {
	.handler	= xcp_late_v6,
	.err_handler	= xcp_icmp_v6,
	/* Not final: AH and ESP may follow. */
	.flags		= INET6_PROTO_NOPOLICY,
};
#endif

int xcp_input_init(void)
{
	if (inet_add_protocol(&xcp_protocol_v4, xcp_protocol))
		return -EBUSY;
#if IS_ENABLED(CONFIG_IPV6)
	if (inet6_add_protocol(&xcp_protocol_v6, xcp_protocol)) {
		inet_del_protocol(&xcp_protocol_v4, xcp_protocol);
		return -EBUSY;
	}
#endif
	return 0;
}

void xcp_input_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_protocol(&xcp_protocol_v6, xcp_protocol);
#endif
	inet_del_protocol(&xcp_protocol_v4, xcp_protocol);
}
