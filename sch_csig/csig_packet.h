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
static inline bool scsig_packet_is_ip(const struct sk_buff *skb, u32 offset_bytes)
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
static inline bool scsig_packet_is_plain(const struct sk_buff *skb, const struct csig_tpids *tpids)
{
	u16 ether_type;

	if (skb_headlen(skb) < CSIG_PACKET_PLAIN_BYTES)
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
static inline enum scsig_glance scsig_packet_glance(const struct sk_buff *skb,
						    const struct csig_tpids *tpids)
{
	enum csig_form form;

	if (skb_headlen(skb) < CSIG_PACKET_NEAR_BYTES)
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

struct csig_place scsig_packet_find_deep(const struct sk_buff *skb,
					 const struct csig_tpids *tpids);

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
static inline struct csig_place scsig_packet_find(const struct sk_buff *skb,
						  const struct csig_tpids *tpids)
{
	enum csig_form form;

	if (skb_headlen(skb) >= CSIG_PACKET_NEAR_BYTES) {
		form = csig_form_of(tpids, csig_ether_type(skb->data, CSIG_FIRST_TAG_BYTES));
		if (form)
			return csig_place_of(form, CSIG_FIRST_TAG_BYTES, skb->data,
					     CSIG_PACKET_NEAR_BYTES, skb->len, tpids);
	}
	return scsig_packet_find_deep(skb, tpids);
}

struct csig_tag scsig_packet_read_deep(const struct sk_buff *skb, enum csig_form form,
				       u32 data_offset_bytes);

/**
 * scsig_packet_read() - read the data fields of a packet's tag
 * @skb: the packet
 * @place: place of the tag, which is not truncated
 *
 * Return: like csig_read().
 */
static inline struct csig_tag scsig_packet_read(const struct sk_buff *skb,
						const struct csig_place *place)
{
	const u32 data_offset_bytes = place->offset_bytes + CSIG_TPID_BYTES;

	/* One bound for both forms is enough: scsig_packet_find() has read beyond it. */
	if (skb_headlen(skb) < place->offset_bytes + CSIG_TAG_MAX_BYTES)
		return scsig_packet_read_deep(skb, place->form, data_offset_bytes);
	return csig_read(place->form, skb->data + data_offset_bytes);
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
static inline bool scsig_packet_is_own(const struct sk_buff *skb, u32 len_bytes)
{
	return !skb_cloned(skb) && len_bytes <= skb_headlen(skb);
}

bool scsig_packet_normalise(struct sk_buff *skb, struct net_device *dev,
			    const struct csig_place *place);
bool scsig_packet_cut(struct sk_buff *skb, const struct csig_place *place);
u8 scsig_packet_ttl(const struct sk_buff *skb, const struct csig_place *place);

#endif /* HOPCC_SCH_CSIG_CSIG_PACKET_H */
