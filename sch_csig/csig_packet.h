/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSIG tags in packets on egress: skb->data is the start of the frame, and the qdisc's lock is
 * held. An skb with a tag has one of two forms:
 *
 *	first form, from this host		skb->protocol is the EtherType behind the tag, and
 *						the network header is behind the tag
 *	second form, from a bridge or		skb->protocol is the TPID of the tag, or of a VLAN
 *	a raw socket				tag in front, and the network header is at the tag
 *
 * The second form is converted to the first, so that queues see an IP packet and segmentation can
 * copy the tag.
 */
#ifndef HOPCC_SCH_CSIG_CSIG_PACKET_H
#define HOPCC_SCH_CSIG_CSIG_PACKET_H

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/mpls.h>
#include <linux/skbuff.h>
#include <hopcc/wire/csig.h>
#include <hopcc/lib/hop_device.h>
#include <hopcc/lib/hop_pkt.h>

/* Length of a frame up to and including its first EtherType. */
#define CSIG_PACKET_PLAIN_BYTES	(CSIG_FIRST_TAG_BYTES + CSIG_TPID_BYTES)
/* The same up to the EtherType behind the longest tag, if no VLAN tags stand in front of it. */
#define CSIG_PACKET_NEAR_BYTES	(CSIG_FIRST_TAG_BYTES + CSIG_TAG_MAX_BYTES + CSIG_TPID_BYTES)

/* Is there an IP EtherType at this offset? No tag has such an EtherType as its TPID. */
static __always_inline bool scsig_packet_is_ip(const struct sk_buff *skb, u32 offset_bytes)
{
	const u16 ether_type = csig_ether_type(skb->data, offset_bytes);

	return ether_type == ETH_P_IP || ether_type == ETH_P_IPV6;
}

/**
 * scsig_packet_is_plain() - test by the first EtherType that a packet has no tag
 * @skb: the packet
 * @tpids: the TPIDs of tags
 *
 * This takes a few instructions and is sufficient for most packets.
 *
 * Return: true if scsig_packet_find() would find no tag; false if it must be called.
 */
static __always_inline bool scsig_packet_is_plain(const struct sk_buff *skb,
						  const struct csig_tpids *tpids)
{
	u16 ether_type;

	if (unlikely(skb_headlen(skb) < CSIG_PACKET_PLAIN_BYTES))
		return false;
	ether_type = csig_ether_type(skb->data, CSIG_FIRST_TAG_BYTES);
	return !csig_form_of(tpids, ether_type) && !csig_is_vlan(ether_type);
}

/**
 * enum scsig_glance - kinds of packets by their first EtherTypes
 * @CSIG_GLANCE_IP: IP without a tag
 * @CSIG_GLANCE_COMPACT: a compact tag, then IP
 * @CSIG_GLANCE_EXPANDED: an expanded tag, then IP
 * @CSIG_GLANCE_OTHER: any other packet; scsig_packet_find() must be called
 */
enum scsig_glance {
	CSIG_GLANCE_IP,
	CSIG_GLANCE_COMPACT,
	CSIG_GLANCE_EXPANDED,
	CSIG_GLANCE_OTHER,
};

/**
 * scsig_packet_glance() - classify most packets in a few instructions
 * @skb: the packet
 * @tpids: the TPIDs of tags
 *
 * Return: the kind of the packet. If it has a tag, the tag is at CSIG_FIRST_TAG_BYTES, has no
 * fault, and is in the linear part.
 */
static __always_inline enum scsig_glance scsig_packet_glance(const struct sk_buff *skb,
							     const struct csig_tpids *tpids)
{
	enum csig_form form;

	if (unlikely(skb_headlen(skb) < CSIG_PACKET_NEAR_BYTES))
		return CSIG_GLANCE_OTHER;
	if (scsig_packet_is_ip(skb, CSIG_FIRST_TAG_BYTES))
		return CSIG_GLANCE_IP;
	form = csig_form_of(tpids, csig_ether_type(skb->data, CSIG_FIRST_TAG_BYTES));
	if (form == CSIG_COMPACT &&
	    scsig_packet_is_ip(skb, CSIG_FIRST_TAG_BYTES + csig_shapes[CSIG_COMPACT].tag_bytes))
		return CSIG_GLANCE_COMPACT;
	if (form == CSIG_EXPANDED &&
	    scsig_packet_is_ip(skb, CSIG_FIRST_TAG_BYTES + csig_shapes[CSIG_EXPANDED].tag_bytes))
		return CSIG_GLANCE_EXPANDED;
	return CSIG_GLANCE_OTHER;
}

/*
 * csig_find() for any packet, without pulling data into the linear part. This function is not
 * inlined, since its buffer and the stack protector would cost each packet as much as the search.
 */
static noinline __maybe_unused struct csig_place
scsig_packet_find_deep(const struct sk_buff *skb, const struct csig_tpids *tpids)
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

/**
 * scsig_packet_find() - find the tag of a packet
 * @skb: the packet
 * @tpids: the TPIDs of tags
 *
 * A tag without a VLAN tag in front is read in place. The search for other tags may copy
 * the bytes that are not in the linear part.
 *
 * Return: like csig_find().
 */
static __always_inline struct csig_place scsig_packet_find(const struct sk_buff *skb,
							   const struct csig_tpids *tpids)
{
	enum csig_form form;

	if (likely(skb_headlen(skb) >= CSIG_PACKET_NEAR_BYTES)) {
		form = csig_form_of(tpids, csig_ether_type(skb->data, CSIG_FIRST_TAG_BYTES));
		if (form)
			return csig_place_of(form, CSIG_FIRST_TAG_BYTES, skb->data,
					     CSIG_PACKET_NEAR_BYTES, skb->len, tpids);
	}
	return scsig_packet_find_deep(skb, tpids);
}

/* csig_read() for a tag that is not completely in the linear part. */
static noinline __maybe_unused struct csig_tag
scsig_packet_read_deep(const struct sk_buff *skb, enum csig_form form, u32 data_offset_bytes)
{
	u8 buf[CSIG_TAG_MAX_BYTES];

	/* This cannot fail, since scsig_packet_find() has read these bytes. */
	skb_copy_bits(skb, data_offset_bytes, buf, csig_data_bytes(form));
	return csig_read(form, buf);
}

/**
 * scsig_packet_read() - read the data fields of a packet's tag
 * @skb: the packet
 * @place: place of the tag, which is not truncated
 *
 * Return: like csig_read().
 */
static __always_inline struct csig_tag scsig_packet_read(const struct sk_buff *skb,
							 const struct csig_place *place)
{
	const u32 data_offset_bytes = place->offset_bytes + CSIG_TPID_BYTES;

	/* One bound for both forms is enough: scsig_packet_find() has read beyond it. */
	if (unlikely(skb_headlen(skb) < place->offset_bytes + CSIG_TAG_MAX_BYTES))
		return scsig_packet_read_deep(skb, place->form, data_offset_bytes);
	return csig_read(place->form, skb->data + data_offset_bytes);
}

/* A value that is too small for an EtherType is a length, and an 802.2 header follows. */
static inline __be16 scsig_packet_protocol(u16 inner)
{
	return htons(eth_proto_is_802_3(htons(inner)) ? inner : ETH_P_802_2);
}

static inline u32 scsig_packet_behind_bytes(const struct csig_place *place)
{
	return place->offset_bytes + csig_shapes[place->form].tag_bytes + CSIG_TPID_BYTES;
}

/**
 * scsig_packet_is_second_form() - does the network header point to the tag or in front of it?
 * @skb: the packet
 * @place: place of the packet's tag, without a fault
 *
 * Return: true for packets of a bridge or a raw socket, which scsig_packet_normalise() converts.
 */
static inline bool scsig_packet_is_second_form(const struct sk_buff *skb,
					       const struct csig_place *place)
{
	return skb_network_offset(skb) < (int)scsig_packet_behind_bytes(place);
}

/* A NIC that does not know the tag would store the checksum in the wrong place, or none at all. */
static inline bool scsig_packet_settle_check(struct sk_buff *skb, struct net_device *dev)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL || skb_is_gso(skb) || !hop_device_parses(dev))
		return true;
	return !skb_checksum_help(skb);
}

/* Get the offset of the header behind IP; of the header behind the tag if that is not IP. */
static inline u32 scsig_packet_transport_bytes(const struct sk_buff *skb,
					       const struct csig_place *place)
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
 * @place: place of the packet's tag, without a fault
 *
 * The packet is left unchanged if the checksum must be computed and there is no memory.
 *
 * Return: true if the packet was of the second form and is of the first form now.
 */
static inline bool scsig_packet_normalise(struct sk_buff *skb, struct net_device *dev,
					  const struct csig_place *place)
{
	const u32 behind_bytes = scsig_packet_behind_bytes(place);

	if (!scsig_packet_is_second_form(skb, place))
		return false;
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

/* A NIC's checksum over the packet is not valid after the packet has been changed. */
static inline void scsig_packet_forget_sum(struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

/**
 * scsig_packet_is_own() - can a packet's first bytes be written in place?
 * @skb: the packet
 * @len_bytes: number of bytes
 *
 * A clone shares the bytes. Bytes that are not in the linear part may be mapped by a program that
 * still writes to them.
 *
 * Return: true if hop_pkt_writable() has nothing to do, and the bytes cannot have changed since
 * they were read.
 */
static __always_inline bool scsig_packet_is_own(const struct sk_buff *skb, u32 len_bytes)
{
	return !skb_cloned(skb) && len_bytes <= skb_headlen(skb);
}

/**
 * scsig_packet_cut() - remove a tag
 * @skb: the packet, of either form
 * @place: place of the tag, which is not truncated; other tags may follow
 *
 * Return: false if there is no memory; then the packet is unchanged.
 */
static inline bool scsig_packet_cut(struct sk_buff *skb, const struct csig_place *place)
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
	scsig_packet_forget_sum(skb);
	return true;
}

/* Get the packet's TTL, hop limit or MPLS TTL; 0 if it has none. */
static inline u8 scsig_packet_ttl(const struct sk_buff *skb, const struct csig_place *place)
{
	u32 offset_bytes = scsig_packet_behind_bytes(place);
	u8 ttl = 0;

	if (place->inner == ETH_P_IP)
		offset_bytes += offsetof(struct iphdr, ttl);
	else if (place->inner == ETH_P_IPV6)
		offset_bytes += offsetof(struct ipv6hdr, hop_limit);
	else if (place->inner == ETH_P_MPLS_UC || place->inner == ETH_P_MPLS_MC)
		offset_bytes += sizeof(struct mpls_label) - 1;
	else
		return 0;
	skb_copy_bits(skb, offset_bytes, &ttl, sizeof(ttl));
	return ttl;
}

#endif /* HOPCC_SCH_CSIG_CSIG_PACKET_H */
