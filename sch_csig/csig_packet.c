// SPDX-License-Identifier: GPL-2.0
/* CSIG tags in packets on egress: what few packets need; see csig_packet.h. */
#include "csig_packet.h"

/* csig_find() for any packet, without pulling data into the linear part */
struct csig_place scsig_packet_find(const struct sk_buff *skb, const struct csig_tpids *tpids)
{
	const u32 walk_bytes = min(skb->len, CSIG_WALK_BYTES);
	u8 buf[CSIG_WALK_BYTES];
	const u8 *frame = skb->data;

	/* The linear part is nearly always long enough. */
	if (skb_headlen(skb) < walk_bytes) {
		frame = skb_header_pointer(skb, 0, walk_bytes, buf);
		if (!frame)
			return (struct csig_place) {};
	}
	return csig_find(frame, walk_bytes, skb->len, tpids);
}

/* A value that is too small for an EtherType is a length, and an 802.2 header follows. */
static __be16 scsig_packet_protocol(u16 inner)
{
	return htons(eth_proto_is_802_3(htons(inner)) ? inner : ETH_P_802_2);
}

/* A NIC that does not know the tag would store the checksum in the wrong place, or none at all. */
static bool scsig_packet_settle_check(struct sk_buff *skb, struct net_device *dev)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL || skb_is_gso(skb) || !hop_device_parses(dev))
		return true;
	return !skb_checksum_help(skb);
}

/* Get the offset of the header behind IP; of the header behind the tag if that is not IP. */
static u32 scsig_packet_transport_bytes(const struct sk_buff *skb, const struct csig_place *place)
{
	const u32 behind_bytes = scsig_packet_behind_bytes(place);
	struct hop_pkt_inner inner = { .offset_bytes = behind_bytes };
	const bool is_ip = place->inner == ETH_P_IP || place->inner == ETH_P_IPV6;

	if (is_ip && hop_pkt_inner_at(skb, place->inner, IPPROTO_TCP, &inner) &&
	    inner.offset_bytes <= skb->len)
		return inner.offset_bytes;
	return behind_bytes;
}

/**
 * scsig_packet_normalise() - convert a packet from the second form to the first
 * @skb: the packet
 * @dev: the device that will send the packet
 * @place: place of the packet's tag, without a fault; scsig_packet_is_second_form() is true
 *
 * The packet is left unchanged if the checksum must be computed and there is no memory.
 *
 * Return: true if the packet is of the first form now.
 */
bool scsig_packet_normalise(struct sk_buff *skb, struct net_device *dev,
			    const struct csig_place *place)
{
	const u32 behind_bytes = scsig_packet_behind_bytes(place);

	if (!scsig_packet_settle_check(skb, dev))
		return false;
	skb->protocol = scsig_packet_protocol(place->inner);
	skb_set_network_header(skb, behind_bytes);
	/*
	 * On input, the stack took the tag for the IP or the transport header. The start of the
	 * checksum does not say more: the user of a tap or of a virtual machine chooses it.
	 */
	skb_set_transport_header(skb, scsig_packet_transport_bytes(skb, place));
	skb_reset_mac_len(skb);
	return true;
}

/**
 * scsig_packet_cut() - remove a tag
 * @skb: the packet, of either form
 * @place: place of the tag, which is not truncated; other tags may follow
 *
 * Return: false if there is no memory; then the packet is unchanged.
 */
bool scsig_packet_cut(struct sk_buff *skb, const struct csig_place *place)
{
	const u32 tag_bytes = csig_shapes[place->form].tag_bytes;
	const bool on_tag = scsig_packet_is_second_form(skb, place);
	const int network_bytes = skb_network_offset(skb) - (on_tag ? 0 : (int)tag_bytes);
	__be16 tpid;

	if (!hop_pkt_writable(skb, place->offset_bytes + tag_bytes))
		return false;
	tpid = *(__be16 *)(skb->data + place->offset_bytes);
	if (skb->protocol == tpid)
		skb->protocol = scsig_packet_protocol(place->inner);
	memmove(skb->data + tag_bytes, skb->data, place->offset_bytes);
	__skb_pull(skb, tag_bytes);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, network_bytes);
	skb_reset_mac_len(skb);
	hop_pkt_forget_sum(skb);
	return true;
}

/* Get the TTL, hop limit or MPLS TTL of a packet with a tag; 0 if it has none. */
u8 scsig_packet_ttl(const struct sk_buff *skb, const struct csig_tpids *tpids)
{
	const struct csig_place place = scsig_packet_find(skb, tpids);
	u32 offset_bytes = scsig_packet_behind_bytes(&place);
	u8 ttl = 0;

	if (place.inner == ETH_P_IP)
		offset_bytes += offsetof(struct iphdr, ttl);
	else if (place.inner == ETH_P_IPV6)
		offset_bytes += offsetof(struct ipv6hdr, hop_limit);
	else if (place.inner == ETH_P_MPLS_UC || place.inner == ETH_P_MPLS_MC)
		offset_bytes += sizeof(struct mpls_label) - 1;
	else
		return 0;
	skb_copy_bits(skb, offset_bytes, &ttl, sizeof(ttl));
	return ttl;
}
