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
#include <net/geneve.h>
#include <net/hop_pkt.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>
#include <net/vxlan.h>

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

static bool is_veth(const struct net_device *dev)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, "veth");
}

/*
 * A card would take the tag for something else when it segments or sums up. On a veth the
 * peer's stack does that, behind the tag.
 */
static bool settle_offloads(const struct ctag_net *cn, struct sk_buff *skb,
			    const struct net_device *dev)
{
	const netdev_features_t sums = dev->features & NETIF_F_CSUM_MASK;

	if (is_veth(dev))
		return true;
	if (!skb_is_gso(skb)) {
		if (skb->ip_summed != CHECKSUM_PARTIAL || sums & NETIF_F_HW_CSUM ||
		    !skb_checksum_help(skb))
			return true;
		ctag_count(cn, CTAG_NO_MEMORY);
		return false;
	}
	/* A tunnel in UDP would take the mark below for remote checksums of its own. */
	if (skb->encapsulation || netif_is_vxlan(dev) || netif_is_geneve(dev) ||
	    (sums && !(sums & NETIF_F_HW_CSUM))) {
		ctag_count(cn, CTAG_OUT_NO_DEVICE);
		return false;
	}
	hop_shim_mark_gso(skb);
	return true;
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

static void put_tag(const struct ctag_net *cn, struct sk_buff *skb, const struct net_device *dev,
		    enum csig_form form, const struct csig_tag *t)
{
	const u32 tag_bytes = csig_shapes[form].tag_bytes;
	const u32 offset_bytes = place_bytes(skb);

	if (!offset_bytes)
		return;
	if (!fits(skb, dev, tag_bytes)) {
		ctag_count(cn, CTAG_OUT_NO_ROOM);
		return;
	}
	if (!settle_offloads(cn, skb, dev))
		return;
	if (skb_cow_head(skb, tag_bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return;
	}
	push_tag(skb, offset_bytes, form, t);
	account(cn, skb, tag_bytes);
}

/* skb->data is the start of the frame. */
unsigned int ctag_egress(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct net_device *dev = state->out;
	struct csig_tag t;
	enum csig_form form;

	/* What a bridge forwards has its tag in it. */
	if (netif_is_bridge_port(dev))
		return NF_ACCEPT;
	form = csig_mark_read(ctag_mark(skb), &t, ctag_secret);
	if (!form)
		return NF_ACCEPT;
	ctag_mark_clear(skb);
	put_tag(ctag_net(state->net), skb, dev, form, &t);
	return NF_ACCEPT;
}
