// SPDX-License-Identifier: GPL-2.0
/*
 * Tunnels, section 2.5: a packet that enters a tunnel gets a copy of its congestion header in
 * front; when it leaves the tunnel, changes that switch qdiscs made to the copy are copied back.
 *
 *	[IP2]		[IP2][XCP]	IP in IP and GRE, in any mix of IPv4 and
 *	[IP][XCP]  <->	[IP][XCP]	IPv6; each level of nested tunnels has its
 *	[TCP]		[TCP]		own header
 *
 * A far end without net_xcp answers that it does not know the protocol. Its address is cached, and
 * it gets no more copies. Only an answer that quotes a copy has this effect: see xcp_sent.h.
 */
#include <net/dst.h>
#include <hopcc/lib/hop_gre.h>
#include <hopcc/lib/hop_tunnel.h>
#include <net/ip.h>

#include "net_xcp.h"
#include "trace.h"
#include "xcp_sent.h"

/**
 * struct nxcp_inner - the congestion header inside a tunnel's packet
 * @header: copy of the header
 * @offset_bytes: from skb->data to the header
 * @sum_bytes: from skb->data to the GRE checksum, which covers the header; 0: none
 */
struct nxcp_inner {
	struct xcp_hdr header;
	unsigned int offset_bytes;
	unsigned int sum_bytes;
};

/* Return: true if @protocol is that of a tunnel */
bool nxcp_tunnel_is(u8 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE;
}

/* @offset_bytes: from skb->data to the header after the outer IP header, of protocol @next */
static bool nxcp_find_inner(const struct sk_buff *skb, unsigned int offset_bytes, u8 next,
			    struct nxcp_inner *inner)
{
	struct hop_shim_place place;
	const struct xcp_hdr *h;
	__be16 protocol;

	inner->offset_bytes = offset_bytes;
	inner->sum_bytes = 0;
	if (next == IPPROTO_GRE)
		protocol = hop_gre_pass(skb, &inner->offset_bytes, &inner->sum_bytes);
	else
		protocol = next == IPPROTO_IPIP ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	if (!hop_shim_find_at(skb, inner->offset_bytes, protocol, &place) ||
	    place.next != nxcp_protocol)
		return false;
	inner->offset_bytes += place.offset_bytes;
	h = skb_header_pointer(skb, inner->offset_bytes, sizeof(*h), &inner->header);
	if (xcp_check(h, nxcp_protocol))
		return false;
	inner->header = *h;
	return true;
}

/* Return: true for a forwarded packet, which entered its tunnel on another host */
static bool nxcp_is_forwarded(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return IPCB(skb)->flags & IPSKB_FORWARDED;
	/* IPv6 forwarding sets no flag but keeps iif; a tunnel of this host clears both. */
	return IP6CB(skb)->flags & IP6SKB_FORWARDED || IP6CB(skb)->iif;
}

/*
 * Return: true if the packet may get a header; @tunnel: it is a copy for a tunnel's far end.
 * Filters may match the protocol of the tunnel or of IPsec.
 */
bool nxcp_tunnel_may_copy(struct nxcp_net *xn, const struct sk_buff *skb,
			  const struct nf_hook_state *state, bool tunnel)
{
	enum nxcp_count obstacle;
	struct in6_addr peer;

	nxcp_copy_peer(skb, &peer);
	/* nxcp_tunnel_approach() has not seen this GSO packet, or it would be segmented. */
	if (skb_is_gso(skb))
		obstacle = XCP_COUNT_TUNNEL_GSO;
	else if (skb->len + XCP_HDR_BYTES > dst_mtu(skb_dst(skb)))
		obstacle = XCP_COUNT_TUNNEL_NO_ROOM;
	else if (tunnel && hop_recent_has(&xn->unsupported_tunnels, &peer))
		obstacle = XCP_COUNT_TUNNEL_AVOIDED;
	else
		return !hop_carrier_hides(&xn->carrier, READ_ONCE(xn->on), skb, state);
	nxcp_count(xn, obstacle);
	return false;
}

/*
 * A packet is sent through a tunnel device. Force segmentation of a GSO packet with a header before
 * the device, by a GSO type that no device supports, so that each segment gets its own copy.
 */
void nxcp_tunnel_approach(struct sk_buff *skb, const struct net_device *out)
{
	struct hop_shim_place place;

	if (skb_is_gso(skb) && hop_is_ip_tunnel(out) && hop_shim_find(skb, &place) &&
	    place.next == nxcp_protocol)
		skb_shinfo(skb)->gso_type |= SKB_GSO_TUNNEL_REMCSUM;
}

/*
 * A tunnel's packet is sent: add a copy of the inner header. In IPsec's transport mode the copy
 * would be encrypted with the rest, so there is none.
 */
void nxcp_tunnel_enter(struct nxcp_net *xn, struct sk_buff *skb, const struct hop_shim_place *place,
		       const struct nf_hook_state *state)
{
	struct nxcp_inner inner;
	struct xcp_hdr *copy;

	if (nxcp_is_forwarded(skb) || nxcp_ipsec_is_inside(skb) ||
	    !nxcp_find_inner(skb, place->offset_bytes, place->next, &inner))
		return;
	if (!nxcp_tunnel_may_copy(xn, skb, state, true))
		return;
	copy = nxcp_insert(skb, place);
	if (!copy)
		return;
	*copy = inner.header;
	copy->protocol = place->next;
	nxcp_sent_add(xn, skb, place->offset_bytes);
	nxcp_count(xn, XCP_COUNT_TUNNEL_OUT);
}

/* The offsets are even, so bytes keep their position in the checksum. */
static void nxcp_write_delta(struct sk_buff *skb, const struct nxcp_inner *inner, __be32 delta)
{
	struct xcp_hdr *h = (struct xcp_hdr *)(skb->data + inner->offset_bytes);
	__sum16 *sum = (__sum16 *)(skb->data + inner->sum_bytes);

	/*
	 * In CHECKSUM_COMPLETE, changes to the GRE checksum and to the data it covers cancel out.
	 */
	if (inner->sum_bytes)
		inet_proto_csum_replace4(sum, skb, h->delta, delta, false);
	else if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(csum_sub(skb->csum, (__force __wsum)h->delta),
				     (__force __wsum)delta);
	h->delta = delta;
}

/*
 * Copy Delta_Throughput of @outer, which is removed, to the inner header. @offset_bytes: from
 * skb->data to the header that followed @outer
 */
void nxcp_tunnel_copy_back(struct nxcp_net *xn, struct sk_buff *skb, unsigned int offset_bytes,
			   const struct xcp_hdr *outer)
{
	struct nxcp_inner inner;

	if (!nxcp_find_inner(skb, offset_bytes, outer->protocol, &inner) ||
	    !nxcp_is_copy(outer, &inner.header)) {
		nxcp_count(xn, XCP_COUNT_TUNNEL_BAD);
		return;
	}
	if (outer->delta == inner.header.delta)
		return;
	if (skb_ensure_writable(skb, inner.offset_bytes + XCP_HDR_BYTES)) {
		nxcp_count(xn, XCP_COUNT_NO_MEMORY);
		return;
	}
	nxcp_write_delta(skb, &inner, outer->delta);
	nxcp_count(xn, XCP_COUNT_TUNNEL_LOWERED);
}

/*
 * An ICMP error reports that the far end does not know our protocol. @offset_bytes: from skb->data,
 * the quoted packet, to our quoted header
 */
void nxcp_tunnel_refused(struct nxcp_net *xn, const struct sk_buff *skb, unsigned int offset_bytes)
{
	struct in6_addr peer;

	if (!nxcp_sent_has(xn, skb, offset_bytes)) {
		nxcp_count(xn, XCP_COUNT_TUNNEL_UNSENT);
		return;
	}
	nxcp_count(xn, XCP_COUNT_TUNNEL_REFUSED);
	nxcp_copy_peer(skb, &peer);
	hop_recent_add(&xn->unsupported_tunnels, &peer, READ_ONCE(xn->carrier.unsupported_s));
}
