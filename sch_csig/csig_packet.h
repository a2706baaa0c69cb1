/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSIG tags in packets on egress, where skb->data is the start of the frame. An skb with a tag has
 * one of two forms:
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
#include <linux/skbuff.h>
#include <hopcc/wire/csig.h>
#include <hopcc/lib/hop_device.h>
#include <hopcc/lib/hop_pkt.h>

/* Length of a frame up to the EtherType behind the longest tag, if no VLAN tags precede it. */
#define CSIG_PACKET_NEAR_BYTES	(CSIG_FIRST_TAG_BYTES + CSIG_TAG_MAX_BYTES + CSIG_TPID_BYTES)

/**
 * scsig_packet_glance() - find the tag of most packets by their first EtherTypes
 * @skb: the packet
 * @tpids: the TPIDs of tags
 *
 * Return: CSIG_NONE if there is no tag; the tag's format if it is at CSIG_FIRST_TAG_BYTES, in the
 * linear part, and without a fault; CSIG_FORMS if scsig_packet_find() must search for it.
 */
static inline enum csig_form scsig_packet_glance(const struct sk_buff *skb,
						 const struct csig_tpids *tpids)
{
	enum csig_form form;
	u16 ether_type;

	if (skb_headlen(skb) < CSIG_PACKET_NEAR_BYTES)
		return CSIG_FORMS;
	ether_type = csig_ether_type(skb->data, CSIG_FIRST_TAG_BYTES);
	form = csig_form_of(tpids, ether_type);
	if (form ? csig_place_of(form, CSIG_FIRST_TAG_BYTES, skb->data, CSIG_PACKET_NEAR_BYTES,
				 skb->len, tpids).fault : csig_is_vlan(ether_type))
		return CSIG_FORMS;
	return form;
}

struct csig_place scsig_packet_find(const struct sk_buff *skb, const struct csig_tpids *tpids);

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
	u8 buf[CSIG_TAG_MAX_BYTES];

	/* This cannot fail, since scsig_packet_find() has read these bytes. */
	return csig_read(place->form,
			 skb_header_pointer(skb, place->offset_bytes + CSIG_TPID_BYTES,
					    csig_data_bytes(place->form), buf));
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

bool scsig_packet_normalise(struct sk_buff *skb, struct net_device *dev,
			    const struct csig_place *place);
bool scsig_packet_cut(struct sk_buff *skb, const struct csig_place *place);
u8 scsig_packet_ttl(const struct sk_buff *skb, const struct csig_tpids *tpids);

#endif /* HOPCC_SCH_CSIG_CSIG_PACKET_H */
