// SPDX-License-Identifier: GPL-2.0
/*
 * Removes tags from received packets, in the handler of the tags' EtherType. Bridges come before
 * the handler and forward frames with their tags. The packet is received again, as if it had come
 * without a tag. If it came from a trusted port, the tag is kept: of IP, its bytes stay in front of
 * the IP header, see received.c; of other protocols, as a mark in skb->cb.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <hopcc/core/hop_filter.h>

#include "net_csig_tag.h"

static __be16 ctag_protocol_of(u16 inner)
{
	return htons(eth_proto_is_802_3(htons(inner)) ? inner : ETH_P_802_2);
}

/* Return: the EtherType behind the tag, or the negative counter of the reason to drop the frame. */
static int ctag_read_tag(struct sk_buff *skb, enum csig_form form, struct csig_tag *t)
{
	const u32 data_bytes = csig_data_bytes(form);
	u16 inner;

	if (!pskb_may_pull(skb, data_bytes + CSIG_TPID_BYTES))
		return -CTAG_BAD_TRUNCATED;
	inner = csig_ether_type(skb->data, data_bytes);
	if (csig_is_vlan(inner) || csig_form_of(&ctag_tpids, inner))
		return -CTAG_BAD_ORDER;
	*t = csig_read(form, skb->data);
	return inner;
}

/* Lets devices segment a GSO packet again that gro.c marked. Return: false if memory is short. */
static bool ctag_clear_mark(struct sk_buff *skb)
{
	if (!skb_is_gso(skb) || skb->encapsulation ||
	    !(skb_shinfo(skb)->gso_type & HOP_SHIM_GSO))
		return true;
	/* A packet socket, or the sender's TCP behind a veth, may hold a clone. */
	if (skb_unclone(skb, GFP_ATOMIC))
		return false;
	skb_shinfo(skb)->gso_type &= ~HOP_SHIM_GSO;
	return true;
}

static void ctag_pull_tag(struct sk_buff *skb, enum csig_form form, u16 inner)
{
	skb_pull_rcsum(skb, csig_data_bytes(form) + CSIG_TPID_BYTES);
	skb->protocol = ctag_protocol_of(inner);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
}

/*
 * An XDP program has seen the frame with its tag and will not see it again. On a trusted port the
 * program must know tags; on any other port a tag could hide a packet from it.
 */
static bool ctag_is_hidden(struct ctag_net *cn, const struct sk_buff *skb)
{
	return !ctag_port_is_trusted(cn, skb->dev->ifindex) && hop_filter_misses_input(skb);
}

/* Return: 0, or the counter of the reason to drop the frame. */
static int ctag_take_tag(struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
			 struct csig_tag *t)
{
	int inner = ctag_read_tag(skb, form, t);

	if (inner < 0)
		return -inner;
	if (ctag_is_hidden(cn, skb))
		return CTAG_IN_HIDDEN;
	if (!ctag_clear_mark(skb))
		return CTAG_NO_MEMORY;
	ctag_pull_tag(skb, form, inner);
	ctag_mark_clear(skb);
	return 0;
}

static int ctag_ingress_receive(struct sk_buff *skb, struct net_device *dev,
				struct packet_type *pt, struct net_device *orig_dev)
{
	const enum csig_form form = csig_form_of(&ctag_tpids, ntohs(pt->type));
	struct ctag_net *cn = ctag_net(dev_net(skb->dev));
	struct csig_tag t;
	int why;

	/* CSIG is off, and no port is named: the EtherType is an unknown one. */
	if (!READ_ONCE(cn->level) && xa_empty(&cn->ports)) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	why = ctag_take_tag(cn, skb, form, &t);
	if (why) {
		ctag_count(cn, why);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	if (ctag_port_is_trusted(cn, skb->dev->ifindex)) {
		ctag_count(cn, CTAG_IN_TAG);
		/*
		 * IP's hooks find the tag in front of the IP header: see received.c. Other packets,
		 * as those of MPLS, pass no such hook before they leave.
		 */
		if (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))
			ctag_mark_write(ctag_mark(skb), form, &t, ctag_secret);
	} else {
		ctag_count(cn, CTAG_IN_FENCED);
	}
	/*
	 * Filters at ingress see the packet below the tag; generic XDP does not see it a second
	 * time.
	 */
	skb_set_redirected(skb, false);
	return netif_receive_skb(skb);
}

static struct packet_type ctag_types[] = {
	{ .func = ctag_ingress_receive },
	{ .func = ctag_ingress_receive },
};

void ctag_ingress_init(void)
{
	ctag_types[0].type = htons(ctag_tpids.tpid[CSIG_COMPACT]);
	ctag_types[1].type = htons(ctag_tpids.tpid[CSIG_EXPANDED]);
	dev_add_pack(&ctag_types[0]);
	dev_add_pack(&ctag_types[1]);
}

void ctag_ingress_exit(void)
{
	dev_remove_pack(&ctag_types[1]);
	dev_remove_pack(&ctag_types[0]);
}
