// SPDX-License-Identifier: GPL-2.0
/*
 * The tag goes on: at the egress of a trusted port, in front of its qdisc. What goes on
 * was decided above, and lies beside the packet.
 *
 * skb->protocol and the network header stay IP's: queues mark, filters match, and
 * segmentation copies the tag with the frame's header.
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/hop_device.h>
#include <net/hop_pkt.h>
#include <net/pkt_sched.h>

#include "net_csig_tag.h"

/* Behind any VLAN tags in the frame; 0: there is a tag already, or none has a place. */
static u32 place_bytes(struct sk_buff *skb)
{
	struct csig_place place;

	if (!pskb_may_pull(skb, ETH_HLEN))
		return 0;
	place = csig_find(skb->data, skb_headlen(skb), skb->len, &ctag_tpids);
	return place.form || place.offset_bytes + CSIG_TPID_BYTES > skb_headlen(skb) ?
		0 : place.offset_bytes;
}

/* Tags count as payload: what the peer's MTU takes. */
static bool fits(const struct sk_buff *skb, const struct net_device *dev, u32 tag_bytes)
{
	const u32 room_bytes = READ_ONCE(dev->mtu) + skb_network_offset(skb);

	if (skb_is_gso(skb))
		return room_bytes > tag_bytes &&
		       skb_gso_validate_mac_len(skb, room_bytes - tag_bytes);
	return skb->len + tag_bytes <= room_bytes;
}

/*
 * Must a super-packet be segmented here? Where all sums would be left to a card that looks
 * for headers, and in tunnels.
 */
static bool must_segment(const struct sk_buff *skb, struct net_device *dev)
{
	return skb_is_gso(skb) && !hop_device_is_veth(dev) &&
	       (skb->encapsulation || hop_device_parses(dev));
}

/* TCP writes the type anew whenever it sends; what is forwarded may have a clone somewhere. */
static bool mark_gso(const struct ctag_net *cn, struct sk_buff *skb)
{
	if (!skb->sk && skb_unclone(skb, GFP_ATOMIC)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	hop_shim_mark_gso(skb);
	return true;
}

/*
 * A card would take the tag for something else when it segments or sums up. On a veth the
 * peer's stack does that, behind the tag.
 */
static bool settle_offloads(const struct ctag_net *cn, struct sk_buff *skb,
			    struct net_device *dev)
{
	if (hop_device_is_veth(dev))
		return true;
	if (skb_is_gso(skb))
		return must_segment(skb, dev) || mark_gso(cn, skb);
	if (skb->ip_summed != CHECKSUM_PARTIAL || !hop_device_parses(dev) ||
	    !skb_checksum_help(skb))
		return true;
	ctag_count(cn, CTAG_NO_MEMORY);
	return false;
}

/*
 * Each has a copy of the tag and no note: when it comes here again, it just passes. A
 * tunnel's outer sum may be left to the device even so.
 */
static unsigned int send_segments(const struct ctag_net *cn, struct sk_buff *skb,
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
		if (settle_offloads(cn, segs, dev))
			dev_queue_xmit(segs);
		else
			kfree_skb(segs);
	}
	return NF_STOLEN;
}

static void push_tag(struct sk_buff *skb, u32 offset_bytes, enum csig_form form,
		     const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;

	skb_push(skb, tag_bytes);
	memmove(skb->data, skb->data + tag_bytes, offset_bytes);
	csig_put(form, skb->data + offset_bytes, &ctag_tpids, t);
	skb_reset_mac_header(skb);
	skb_reset_mac_len(skb);
}

/* The qdisc's length of it was computed before. */
static void account(const struct ctag_net *cn, struct sk_buff *skb, u32 tag_bytes)
{
	const u32 segs_pkts = hop_pkt_segs(skb, hop_pkt_hdr_bytes(skb));

	compat_set_pkt_len(skb, qdisc_skb_cb(skb)->pkt_len + tag_bytes * segs_pkts,
			   skb_is_gso(skb) ? segs_pkts : 1);
	ctag_count_add(cn, skb->sk ? CTAG_OUT_TAG : CTAG_OUT_FORWARDED, segs_pkts);
	if (skb->sk && skb_is_gso(skb))
		ctag_count(cn, CTAG_OUT_SUPER);
}

/* Return: whether the packet bears it. */
static bool put_tag(const struct ctag_net *cn, struct sk_buff *skb, struct net_device *dev,
		    enum csig_form form, const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;
	const u32 offset_bytes = place_bytes(skb);

	if (!offset_bytes)
		return false;
	if (!fits(skb, dev, tag_bytes)) {
		ctag_count(cn, CTAG_OUT_NO_ROOM);
		return false;
	}
	if (!settle_offloads(cn, skb, dev))
		return false;
	if (skb_cow_head(skb, tag_bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	push_tag(skb, offset_bytes, form, t);
	account(cn, skb, tag_bytes);
	return true;
}

/* No answer will come to a tag that stays behind: its flow must not wait for one. */
static void take_back(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;
	struct hop_flow_key key;
	struct hop_flow *flow;

	if (!sk || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return;
	hop_flow_key_of_sock(&key, &ctag_flow_kind, sk);
	flow = hop_flow_find(&key);
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

	/* What a bridge forwards has its tag in it. */
	if (netif_is_bridge_port(dev))
		return NF_ACCEPT;
	form = csig_mark_read(ctag_mark(skb), &t, ctag_secret);
	if (!form)
		return NF_ACCEPT;
	ctag_mark_clear(skb);
	if (!put_tag(cn, skb, dev, form, &t)) {
		take_back(skb);
		return NF_ACCEPT;
	}
	return must_segment(skb, dev) ? send_segments(cn, skb, dev) : NF_ACCEPT;
}
