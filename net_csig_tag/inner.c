// SPDX-License-Identifier: GPL-2.0
/* Tunnels: a tag on the outer packet is about the flow of the inner packet. */

#include <linux/if_ether.h>
#include <linux/udp.h>
#include <net/geneve.h>
#include <hopcc/lib/hop_gre.h>
#include <net/ipv6.h>
#include <net/vxlan.h>

#include "inner.h"

/* The draft names no ports, and not all hosts use IANA's; these must match those of the devices. */
ushort ctag_vxlan_port = IANA_VXLAN_UDP_PORT;
ushort ctag_geneve_port = GENEVE_UDP_PORT;

/* VXLAN contains an Ethernet frame; GENEVE has a field for the inner protocol. */
static bool ctag_behind_udp(const struct sk_buff *skb, struct ctag_inner *inner)
{
	struct {
		struct udphdr udp;
		union {
			struct vxlanhdr vxlan;
			struct genevehdr geneve;
		};
	} buf;
	const typeof(buf) *h = skb_header_pointer(skb, inner->at_bytes, sizeof(buf), &buf);

	if (!h)
		return false;
	inner->at_bytes += sizeof(buf);
	if (h->udp.dest == htons(ctag_vxlan_port)) {
		inner->protocol = htons(ETH_P_TEB);
		return h->vxlan.vx_flags == VXLAN_HF_VNI;
	}
	inner->protocol = h->geneve.proto_type;
	inner->at_bytes += h->geneve.opt_len * 4;
	return h->udp.dest == htons(ctag_geneve_port) && !h->geneve.ver &&
	       !h->geneve.oam;
}

/* The inner packet is behind any VLAN tags of the frame and behind a CSIG tag. */
static bool ctag_behind_ethernet(const struct sk_buff *skb, struct ctag_inner *inner)
{
	const u32 frame_bytes = skb->len - min(skb->len, inner->at_bytes);
	const u32 walk_bytes = min(frame_bytes, CSIG_WALK_BYTES);
	u8 buf[CSIG_WALK_BYTES];
	const u8 *frame = skb_header_pointer(skb, inner->at_bytes, walk_bytes, buf);
	struct csig_place place;

	if (!frame || walk_bytes < ETH_HLEN)
		return false;
	place = csig_find(frame, walk_bytes, frame_bytes, &ctag_tpids);
	if (place.fault || place.offset_bytes + CSIG_TPID_BYTES > walk_bytes)
		return false;
	inner->tagged = place.form;
	inner->at_bytes += place.offset_bytes + CSIG_TPID_BYTES;
	if (place.form)
		inner->at_bytes += csig_shapes[place.form].tag_bytes;
	else
		place.inner = csig_ether_type(frame, place.offset_bytes);
	inner->protocol = htons(place.inner);
	return true;
}

/* Finds what follows the IP header of a packet. */
static bool ctag_behind_ip(const struct sk_buff *skb, const struct hop_shim_place *outer,
			   struct ctag_inner *inner)
{
	unsigned int sum_bytes;

	inner->at_bytes = outer->offset_bytes;
	inner->tagged = false;
	switch (outer->next) {
	case IPPROTO_IPIP:
		inner->protocol = htons(ETH_P_IP);
		return true;
	case IPPROTO_IPV6:
		inner->protocol = htons(ETH_P_IPV6);
		return true;
	case IPPROTO_GRE:
		inner->protocol = hop_gre_pass(skb, &inner->at_bytes, &sum_bytes);
		return inner->protocol;
	case IPPROTO_UDP:
		return ctag_behind_udp(skb, inner);
	}
	return false;
}

/**
 * ctag_find_inner() - find the packet that a tunnel's packet contains
 * @skb: a packet; skb->data is at its network header
 * @inner: result
 *
 * The tunnels are IP in IP, GRE, VXLAN and GENEVE. In a frame, the inner packet may be behind VLAN
 * tags and a CSIG tag.
 *
 * Context: any.
 * Return: false if there is no inner packet.
 */
bool ctag_find_inner(const struct sk_buff *skb, struct ctag_inner *inner)
{
	struct hop_shim_place outer;

	if (!hop_shim_find(skb, &outer) || !ctag_behind_ip(skb, &outer, inner))
		return false;
	if (inner->protocol == htons(ETH_P_TEB) && !ctag_behind_ethernet(skb, inner))
		return false;
	return hop_shim_find_at(skb, inner->at_bytes, inner->protocol, &inner->place);
}

/**
 * ctag_inner_addresses() - read the addresses of an inner packet
 * @skb: the packet
 * @inner: a packet in it, or the packet itself
 * @source: result; IPv4 is v4-mapped
 * @destination: result; IPv4 is v4-mapped
 *
 * Context: any.
 * Return: false if the packet ends before the end of the addresses.
 */
bool ctag_inner_addresses(const struct sk_buff *skb, const struct ctag_inner *inner,
			  struct in6_addr *source, struct in6_addr *destination)
{
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} buf;
	const bool ipv4 = inner->protocol == htons(ETH_P_IP);
	const void *ip = skb_header_pointer(skb, inner->at_bytes,
					    ipv4 ? sizeof(buf.v4) : sizeof(buf.v6), &buf);

	if (!ip)
		return false;
	if (ipv4) {
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->saddr, source);
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->daddr, destination);
	} else {
		*source = ((const struct ipv6hdr *)ip)->saddr;
		*destination = ((const struct ipv6hdr *)ip)->daddr;
	}
	return true;
}
