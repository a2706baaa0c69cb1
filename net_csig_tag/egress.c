// SPDX-License-Identifier: GPL-2.0
/*
 * Adds tags at the egress of a trusted port, before its qdisc. The tag was decided on above and is
 * in the mark in skb->cb.
 *
 * skb->protocol and the network header remain those of IP, so that qdiscs can set CE and filters
 * still match; the chains of a bridge do not, so a frame that will pass them gets no tag.
 * Segmentation copies the tag as a part of the frame's header.
 */
#include <linux/netdevice.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/lib/hop_device.h>
#include <hopcc/lib/hop_pkt.h>
#include <net/pkt_sched.h>
#include <net/xfrm.h>

#include "net_csig_tag.h"

/* Offset of the tag, behind any VLAN tags; 0 if there is a tag already, or no place for one. */
static u32 ctag_place_bytes(struct sk_buff *skb)
{
	struct csig_place place;

	if (!pskb_may_pull(skb, ETH_HLEN))
		return 0;
	place = csig_find(skb->data, skb_headlen(skb), skb->len, &ctag_tpids);
	return place.form || place.offset_bytes + CSIG_TPID_BYTES > skb_headlen(skb) ?
		0 : place.offset_bytes;
}

/* A tag counts as payload, because it must fit the peer's MTU. */
static bool ctag_egress_fits(const struct sk_buff *skb, const struct net_device *dev, u32 tag_bytes)
{
	const u32 room_bytes = READ_ONCE(dev->mtu) + skb_network_offset(skb);

	if (skb_is_gso(skb))
		return room_bytes > tag_bytes &&
		       skb_gso_validate_mac_len(skb, room_bytes - tag_bytes);
	return skb->len + tag_bytes <= room_bytes;
}

/*
 * Return: true if a GSO packet must be segmented here: if the checksums of its segments would be
 * left to a NIC that parses headers for that, and in tunnels.
 */
static bool ctag_must_segment(const struct sk_buff *skb, struct net_device *dev)
{
	return skb_is_gso(skb) && !hop_device_is_veth(dev) &&
	       (skb->encapsulation || hop_device_parses(dev));
}

/* TCP sets gso_type for each transmission; a forwarded packet may share it with a clone. */
static bool ctag_mark_gso(const struct ctag_net *cn, struct sk_buff *skb)
{
	if (!skb->sk && skb_unclone(skb, GFP_ATOMIC)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	hop_shim_mark_gso(skb);
	return true;
}

/*
 * A NIC would misinterpret the tag when it segments or computes checksums. On a veth the peer's
 * stack does both, after it has removed the tag.
 */
static bool ctag_settle_offloads(const struct ctag_net *cn, struct sk_buff *skb,
				 struct net_device *dev)
{
	if (hop_device_is_veth(dev))
		return true;
	if (skb_is_gso(skb))
		return ctag_must_segment(skb, dev) || ctag_mark_gso(cn, skb);
	if (skb->ip_summed != CHECKSUM_PARTIAL || !hop_device_parses(dev) ||
	    !skb_checksum_help(skb))
		return true;
	ctag_count(cn, CTAG_NO_MEMORY);
	return false;
}

/*
 * Each segment has a copy of the tag but no mark, so it passes unchanged when it comes here again.
 * skb_gso_segment() may leave the outer checksum of a tunnel's packet to the device.
 */
static unsigned int ctag_send_segments(const struct ctag_net *cn, struct sk_buff *skb,
				       struct net_device *dev)
{
	struct sk_buff *segs = skb_gso_segment(skb, NETIF_F_SG), *next;

	if (IS_ERR_OR_NULL(segs)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return NF_DROP;
	}
	ctag_count(cn, CTAG_OUT_SEGMENTED);
	consume_skb(skb);
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		if (ctag_settle_offloads(cn, segs, dev))
			dev_queue_xmit(segs);
		else
			kfree_skb(segs);
	}
	return NF_STOLEN;
}

static void ctag_push_tag(struct sk_buff *skb, u32 offset_bytes, enum csig_form form,
			  const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;

	skb_push(skb, tag_bytes);
	memmove(skb->data, skb->data + tag_bytes, offset_bytes);
	csig_put(form, skb->data + offset_bytes, &ctag_tpids, t);
	skb_reset_mac_header(skb);
	skb_reset_mac_len(skb);
}

/* qdisc_skb_cb()->pkt_len was computed before the tag was added. */
static void ctag_egress_account(const struct ctag_net *cn, struct sk_buff *skb, u32 tag_bytes)
{
	const u32 segs_pkts = hop_pkt_wire(skb, 0).segs_pkts;

	compat_set_pkt_len(skb, qdisc_skb_cb(skb)->pkt_len + tag_bytes * segs_pkts,
			   skb_is_gso(skb) ? segs_pkts : 1);
	ctag_count_add(cn, skb->sk ? CTAG_OUT_TAG : CTAG_OUT_FORWARDED, segs_pkts);
	if (skb->sk && skb_is_gso(skb))
		ctag_count(cn, CTAG_OUT_GSO);
}

/* Return: true if the packet now carries the tag. */
static bool ctag_put_tag(const struct ctag_net *cn, struct sk_buff *skb, struct net_device *dev,
			 enum csig_form form, const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;
	const u32 offset_bytes = ctag_place_bytes(skb);

	/* Software encrypts behind this hook as a device does: esp4_offload and esp6_offload. */
	if (!offset_bytes || xfrm_offload(skb))
		return false;
	if (hop_filter_misses_tagged(dev)) {
		ctag_count(cn, CTAG_OUT_HIDDEN);
		return false;
	}
	if (!ctag_egress_fits(skb, dev, tag_bytes)) {
		ctag_count(cn, CTAG_NO_ROOM);
		return false;
	}
	if (!ctag_settle_offloads(cn, skb, dev))
		return false;
	if (skb_cow_head(skb, tag_bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	ctag_push_tag(skb, offset_bytes, form, t);
	ctag_egress_account(cn, skb, tag_bytes);
	return true;
}

/* There will be no answer to a tag that was not sent, so its flow must not wait for one. */
static void ctag_take_back(const struct sk_buff *skb)
{
	struct hop_flow *flow = NULL;

	if (hop_output_is_tcp(skb->sk))
		flow = hop_flow_of_sock(&ctag_carrier, skb->sk);
	if (flow)
		ctag_flow_unsent(flow);
}

/* skb->data is the start of the frame. */
unsigned int ctag_egress(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct ctag_net *cn = ctag_net(state->net);
	struct net_device *dev = state->out;
	struct csig_tag t;
	enum csig_form form;

	/* A frame that a bridge forwards already contains its tag. */
	if (netif_is_bridge_port(dev))
		return NF_ACCEPT;
	form = ctag_mark_read(ctag_mark(skb), &t, ctag_secret);
	if (!form)
		return NF_ACCEPT;
	ctag_mark_clear(skb);
	if (!ctag_put_tag(cn, skb, dev, form, &t)) {
		ctag_take_back(skb);
		return NF_ACCEPT;
	}
	return ctag_must_segment(skb, dev) ? ctag_send_segments(cn, skb, dev) : NF_ACCEPT;
}
