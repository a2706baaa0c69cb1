// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that leave, in POST_ROUTING behind source NAT. Here a packet gets a tag as a mark in
 * skb->cb; otherwise the mark is cleared, so that other data in skb->cb is not taken for one.
 */
#include <linux/if_arp.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>
#include <net/xfrm.h>

#include "net_csig_tag.h"

/*
 * TCP sends with its socket locked, either by the process that owns the socket or in softirq. The
 * packets then have the socket's route, without a reference to it. A packet that was queued, e.g.
 * to NFQUEUE, holds its own reference, as does a packet that was rerouted. Then the socket may not
 * be locked, and room is reserved when the next packet arrives. lockdep checks this in
 * ctag_flow_reserve().
 */
static bool ctag_is_locked(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->sk == skb->sk && skb_dst_is_noref(skb) &&
	       (sock_owned_by_user_nocheck(skb->sk) || in_softirq());
}

/* Return: the first IPsec state that will transform the packet, or NULL */
static const struct xfrm_state *ctag_ipsec_state(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	return dst ? dst_xfrm(dst) : NULL;
}

/* A device that encrypts parses the frame: it might send a frame with a tag without encryption. */
static bool ctag_is_encrypted_by_device(const struct sk_buff *skb)
{
	const struct xfrm_state *x = ctag_ipsec_state(skb);

	return x && x->xso.dev;
}

/* On a tunnel device a tag is allowed: the device of the outer packet decides if it is sent. */
static bool ctag_leads_into_domain(struct ctag_net *cn, const struct sk_buff *skb,
				   const struct net_device *dev)
{
	if (ctag_is_encrypted_by_device(skb))
		return false;
	if (dev->type == ARPHRD_ETHER)
		return ctag_is_frame_tunnel(dev) || ctag_port_is_trusted(cn, dev->ifindex);
	return !(dev->flags & IFF_LOOPBACK);
}

static void ctag_output_established(struct ctag_net *cn, struct sk_buff *skb,
				    const struct hop_segment *seg, struct sock *sk,
				    const struct nf_hook_state *state)
{
	struct hop_flow *flow = hop_flow_of_sock(&ctag_carrier, sk);
	struct csig_flow *f;
	enum csig_form form;
	struct csig_tag t;

	if (!flow)
		return;
	ctag_flow_settle(flow, sk);
	f = hop_flow_state(flow);
	/* A pure ACK that asks the peer or answers it reflects nothing. */
	if ((!seg->payload_bytes && hop_negotiate_ack(skb, seg, flow)) ||
	    hop_flow_stage(flow) != HOP_STAGE_SUPPORTED)
		return;
	if (ctag_ipsec_state(skb))
		WRITE_ONCE(f->encrypted, true);
	if (ctag_is_locked(skb, state))
		ctag_flow_reserve(f, sk);
	ctag_reflect(cn, skb, seg, flow, sk);
	if (!READ_ONCE(f->request.form) || READ_ONCE(cn->level) != CTAG_INITIATES ||
	    !ctag_leads_into_domain(cn, skb, state->out))
		return;
	form = ctag_flow_tag(cn, flow, skb, seg, &t);
	if (form)
		ctag_mark_write(ctag_mark(skb), form, &t, ctag_secret);
}

/* Return: true if IPsec created the packet, which includes ESP in UDP, or has transformed it. */
static bool ctag_is_transformed(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return IPCB(skb)->flags & IPSKB_XFRM_TRANSFORMED;
	return IP6CB(skb)->flags & IP6SKB_XFRM_TRANSFORMED;
}

static bool ctag_is_tunnel_packet(const struct sk_buff *skb)
{
	struct hop_shim_place place;

	return hop_shim_find(skb, &place) &&
	       (place.next == IPPROTO_IPIP || place.next == IPPROTO_IPV6 ||
		place.next == IPPROTO_GRE || place.next == IPPROTO_UDP);
}

/*
 * Return: true for the outer packet of a tunnel, whose inner packet is of this host and has passed
 * this hook before: the tunnel sends it, not the inner packet's socket. Its mark is kept.
 */
static bool ctag_is_tunnel(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return state->sk != skb->sk && ctag_is_tunnel_packet(skb);
}

/*
 * A tunnel that starts here, around a forwarded packet, which no device received: tunnel.c has set
 * the mark.
 */
static bool ctag_is_encapsulated_here(struct sk_buff *skb)
{
	return !ctag_iif(skb) && ctag_is_tunnel_packet(skb) && ctag_tunnel_outer(skb);
}

/* A forwarded packet gets a tag only if it came with one. */
static void ctag_output_forwarded(struct ctag_net *cn, struct sk_buff *skb)
{
	struct csig_tag t;
	const enum csig_form form = ctag_received_tag(cn, skb, ctag_iif(skb), &t);

	if (form)
		ctag_mark_write(ctag_mark(skb), form, &t, ctag_secret);
	else if (!ctag_is_encapsulated_here(skb))
		ctag_mark_clear(skb);
}

/* Packets that are forwarded or have no TCP socket of this host. */
static void ctag_output_other(struct ctag_net *cn, struct sk_buff *skb,
			      const struct hop_segment *seg, const struct sock *sk)
{
	ctag_output_forwarded(cn, skb);
	/* With a SYN cookie there is no socket, and from IPsec no device. */
	if (seg && seg->syn && seg->ack && READ_ONCE(cn->level) &&
	    (sk ? sk->sk_state == TCP_NEW_SYN_RECV : !!skb->dev))
		hop_negotiate_handshake(&ctag_carrier, skb, seg);
}

/* UDP datagrams of this host. */
static void ctag_output_udp(struct ctag_net *cn, struct sk_buff *skb, const struct sock *sk,
			    const struct net_device *out)
{
	enum csig_form form;
	struct csig_tag t;

	ctag_mark_clear(skb);
	if (READ_ONCE(cn->level) != CTAG_INITIATES || !ctag_leads_into_domain(cn, skb, out))
		return;
	form = ctag_udp_tag(cn, skb, sk, &t);
	if (form)
		ctag_mark_write(ctag_mark(skb), form, &t, ctag_secret);
}

static bool ctag_is_udp(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && sk->sk_protocol == IPPROTO_UDP;
}

static void ctag_output_packet(struct ctag_net *cn, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct sock *sk = skb->sk;
	struct hop_segment seg;
	bool tcp;

	if ((hop_output_is_tcp(sk) || ctag_is_udp(sk)) && ctag_is_tunnel(skb, state)) {
		ctag_tunnel_outer(skb);
		return;
	}
	tcp = ctag_read_segment(skb, &seg);
	if (hop_output_is_foreign(skb, state->net)) {
		ctag_output_forwarded(cn, skb);
		return;
	}
	if (ctag_is_udp(sk)) {
		ctag_output_udp(cn, skb, sk, state->out);
		return;
	}
	/* skb->dev is not set when IPsec's output calls this hook. */
	if (!hop_output_is_tcp(sk)) {
		ctag_output_other(cn, skb, tcp ? &seg : NULL, sk);
		return;
	}
	ctag_mark_clear(skb);
	if (!tcp || !READ_ONCE(cn->level) || seg.rst)
		return;
	if (seg.syn)
		hop_negotiate_handshake(&ctag_carrier, skb, &seg);
	else if (hop_flow_any(state->net))
		ctag_output_established(cn, skb, &seg, sk, state);
}

/*
 * IPsec does not use the mark's bytes of skb->cb: the encrypted packet, which comes here again, has
 * the mark that the packet got before.
 */
unsigned int ctag_output(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	/* The device is a VRF: the packet comes here again with the device below. */
	if (netif_is_l3_master(state->out) || ctag_is_transformed(skb))
		return NF_ACCEPT;
	ctag_output_packet(ctag_net(state->net), skb, state);
	if (ctag_is_encrypted_by_device(skb))
		ctag_mark_clear(skb);
	return NF_ACCEPT;
}
