// SPDX-License-Identifier: GPL-2.0
/*
 * Tunnels, section 2.5: what enters one gets a copy of its congestion header in
 * front, and what leaves one is told what routers have done to the copy.
 *
 *	[IP2]		[IP2][XCP]	of IP in IP and of GRE, in any mix of IPv4 and
 *	[IP][XCP]  <->	[IP][XCP]	IPv6; tunnels in tunnels have a header each
 *	[TCP]		[TCP]
 *
 * A far end without us answers that it does not know the protocol: it is
 * remembered, and gets no copies. Who asked through the tunnel has lost a SYN.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/gre.h>
#include <net/hop_tunnel.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "net_xcp.h"
#include "trace.h"

/* RFC 2784 and 2890; all else, such as version 1, is not a tunnel for IP. */
#define XCP_GRE_KNOWN (GRE_CSUM | GRE_KEY | GRE_SEQ)

/**
 * struct xcp_inner - the congestion header within a tunnel's packet
 * @header: of it, a copy
 * @offset_bytes: from skb->data to it
 * @sum_bytes: from skb->data to GRE's checksum, which covers it; 0: none
 */
struct xcp_inner {
	struct xcp_hdr header;
	unsigned int offset_bytes;
	unsigned int sum_bytes;
};

/* Does a tunnel's header, or its packet, follow? */
bool xcp_tunnel_is(u8 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE;
}

/* Past GRE's header at @inner->offset_bytes. Return: what it carries, or 0. */
static __be16 pass_gre(const struct sk_buff *skb, struct xcp_inner *inner)
{
	struct gre_base_hdr buf;
	const struct gre_base_hdr *gre;

	gre = skb_header_pointer(skb, inner->offset_bytes, sizeof(buf), &buf);
	if (!gre || gre->flags & ~XCP_GRE_KNOWN)
		return 0;
	inner->offset_bytes += sizeof(*gre);
	if (gre->flags & GRE_CSUM) {
		inner->sum_bytes = inner->offset_bytes;
		inner->offset_bytes += GRE_HEADER_SECTION;
	}
	if (gre->flags & GRE_KEY)
		inner->offset_bytes += GRE_HEADER_SECTION;
	if (gre->flags & GRE_SEQ)
		inner->offset_bytes += GRE_HEADER_SECTION;
	return gre->protocol;
}

/* @offset_bytes: from skb->data to what follows the outer IP header, which names it @next */
static bool find_inner(const struct sk_buff *skb, unsigned int offset_bytes, u8 next,
		       struct xcp_inner *inner)
{
	struct hop_shim_place place;
	const struct xcp_hdr *h;
	__be16 protocol;

	inner->offset_bytes = offset_bytes;
	inner->sum_bytes = 0;
	if (next == IPPROTO_GRE)
		protocol = pass_gre(skb, inner);
	else
		protocol = next == IPPROTO_IPIP ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	if (!hop_shim_find_at(skb, inner->offset_bytes, protocol, &place) ||
	    place.next != xcp_protocol)
		return false;
	inner->offset_bytes += place.offset_bytes;
	h = skb_header_pointer(skb, inner->offset_bytes, sizeof(*h), &inner->header);
	if (xcp_check(h, xcp_protocol))
		return false;
	inner->header = *h;
	return true;
}

/* Another host's packet: it entered its tunnel there. */
static bool is_forwarded(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return IPCB(skb)->flags & IPSKB_FORWARDED;
	/* Forwarding leaves no flag there; a tunnel of this host clears all. */
	return IP6CB(skb)->flags & IP6SKB_FORWARDED || IP6CB(skb)->iif;
}

static void peer_of_output(const struct sk_buff *skb, struct in6_addr *peer)
{
	if (skb->protocol == htons(ETH_P_IP))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, peer);
	else
		*peer = ipv6_hdr(skb)->daddr;
}

/* Why a packet with a header inside goes without a copy; XCP_COUNTS for none. */
static enum xcp_count find_obstacle(struct xcp_net *xn, const struct sk_buff *skb, bool tunnel)
{
	struct in6_addr peer;

	/* See xcp_tunnel_approach(); who hands us one all the same is no device of a tunnel. */
	if (skb_is_gso(skb))
		return XCP_COUNT_TUNNEL_SUPER;
	if (skb->len + XCP_HDR_BYTES > dst_mtu(skb_dst(skb)))
		return XCP_COUNT_TUNNEL_NO_ROOM;
	if (!tunnel)
		return XCP_COUNTS;
	peer_of_output(skb, &peer);
	return hop_silent_is(&xn->silent_tunnels, &peer) ? XCP_COUNT_TUNNEL_AVOIDED : XCP_COUNTS;
}

/* Is there a place for a copy, or for the header that a @tunnel has no part in? */
bool xcp_tunnel_may_copy(struct xcp_net *xn, const struct sk_buff *skb, bool tunnel)
{
	enum xcp_count obstacle = find_obstacle(xn, skb, tunnel);

	if (obstacle == XCP_COUNTS)
		return true;
	xcp_count(xn, obstacle);
	return false;
}

/*
 * A packet leaves by the device of a tunnel. A super-packet with a header is segmented in
 * front of it: a type that no device takes, so that each segment gets a copy of its own.
 */
void xcp_tunnel_approach(struct sk_buff *skb, const struct net_device *out)
{
	struct hop_shim_place place;

	if (skb_is_gso(skb) && hop_is_ip_tunnel(out) && hop_shim_find(skb, &place) &&
	    place.next == xcp_protocol)
		skb_shinfo(skb)->gso_type |= SKB_GSO_TUNNEL_REMCSUM;
}

/*
 * The packet of a tunnel leaves. In IPsec's transport mode our copy would be
 * encrypted with the rest.
 */
void xcp_tunnel_enter(struct xcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place)
{
	struct xcp_inner inner;
	struct xcp_hdr *copy;

	if (is_forwarded(skb) || xcp_ipsec_is_transport(skb) || xcp_ipsec_is_unknown(skb) ||
	    !find_inner(skb, place->offset_bytes, place->next, &inner))
		return;
	if (!xcp_tunnel_may_copy(xn, skb, true))
		return;
	copy = xcp_insert(skb, place);
	if (!copy)
		return;
	*copy = inner.header;
	copy->protocol = place->next;
	xcp_count(xn, XCP_COUNT_TUNNEL_OUT);
}

/* Even offsets: no byte changes places in a sum. */
static void write_delta(struct sk_buff *skb, const struct xcp_inner *inner, __be32 delta)
{
	struct xcp_hdr *h = (struct xcp_hdr *)(skb->data + inner->offset_bytes);
	__sum16 *sum = (__sum16 *)(skb->data + inner->sum_bytes);

	/* GRE's sum and what it covers cancel out in a device's sum over the packet. */
	if (inner->sum_bytes)
		inet_proto_csum_replace4(sum, skb, h->delta, delta, false);
	else if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(csum_sub(skb->csum, (__force __wsum)h->delta),
				     (__force __wsum)delta);
	h->delta = delta;
}

/* @offset_bytes: from skb->data to what @outer, which is stripped, named */
void xcp_tunnel_copy_back(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			  const struct xcp_hdr *outer)
{
	struct xcp_inner inner;

	if (!find_inner(skb, offset_bytes, outer->protocol, &inner) ||
	    !xcp_is_copy(outer, &inner.header)) {
		xcp_count(xn, XCP_COUNT_TUNNEL_BAD);
		return;
	}
	if (outer->delta == inner.header.delta)
		return;
	if (skb_ensure_writable(skb, inner.offset_bytes + XCP_HDR_BYTES)) {
		xcp_count(xn, XCP_COUNT_NO_MEMORY);
		return;
	}
	write_delta(skb, &inner, outer->delta);
	xcp_count(xn, XCP_COUNT_TUNNEL_LOWERED);
}

/* The same, of a packet that leaves a tunnel without encryption. */
void xcp_tunnel_leave(struct xcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
		      const struct xcp_hdr *outer)
{
	xcp_count(xn, XCP_COUNT_TUNNEL_IN);
	xcp_tunnel_copy_back(xn, skb, offset_bytes, outer);
}

/* Did this host send what an error quotes? Anybody may write one about others' packets. */
static bool is_ours(const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);

	if (skb->protocol == htons(ETH_P_IP)) {
		const struct iphdr *iph = (const struct iphdr *)skb->data;

		return inet_addr_type_dev_table(net, skb->dev, iph->saddr) == RTN_LOCAL;
	}
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, &((const struct ipv6hdr *)skb->data)->saddr, NULL, 0);
#else
	return false;
#endif
}

/* An error says that the far end does not know our protocol; skb->data is what it quotes. */
void xcp_tunnel_refused(struct xcp_net *xn, const struct sk_buff *skb)
{
	struct in6_addr peer;

	if (!is_ours(skb)) {
		xcp_count(xn, XCP_COUNT_ICMP_SHORT);
		return;
	}
	xcp_count(xn, XCP_COUNT_TUNNEL_REFUSED);
	if (skb->protocol == htons(ETH_P_IP))
		ipv6_addr_set_v4mapped(((const struct iphdr *)skb->data)->daddr, &peer);
	else
		peer = ((const struct ipv6hdr *)skb->data)->daddr;
	hop_silent_remember(&xn->silent_tunnels, &peer, READ_ONCE(xn->silent_s));
}
