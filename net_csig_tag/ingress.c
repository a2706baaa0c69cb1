// SPDX-License-Identifier: GPL-2.0
/*
 * The tag comes off: as the handler of its EtherType, behind bridges, which keep it. The
 * packet is received again, as if it had come without. From a trusted port, the tag is noted beside
 * the packet; in front of IP's header its bytes prove the note until the packet leaves.
 */
#include <linux/etherdevice.h>
#include <linux/mpls.h>
#include <linux/netdevice.h>
#include <net/hop_input.h>

#include "net_csig_tag.h"

static __be16 protocol_of(u16 inner)
{
	return htons(eth_proto_is_802_3(htons(inner)) ? inner : ETH_P_802_2);
}

/* Return: what is behind the tag, or a count to drop it by. */
static int read_tag(struct sk_buff *skb, enum csig_form form, struct csig_tag *t)
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

/* Let devices segment again a GSO packet that gro.c marked. Return: false without memory. */
static bool clear_mark(struct sk_buff *skb)
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

static void pull_tag(struct sk_buff *skb, enum csig_form form, u16 inner)
{
	skb_pull_rcsum(skb, csig_data_bytes(form) + CSIG_TPID_BYTES);
	skb->protocol = protocol_of(inner);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
}

/* Else it is as if the module were not there: nobody knows the EtherType. */
static bool takes_part(const struct ctag_net *cn)
{
	return READ_ONCE(cn->level) || !xa_empty(&cn->ports);
}

/*
 * An XDP program has seen the frame with its tag, and sees no frame twice. On a trusted
 * port it has to know tags; on another one anybody could hide a frame from it.
 */
static bool is_hidden(struct ctag_net *cn, struct net_device *dev)
{
	return !ctag_port_is_trusted(cn, dev) && hop_input_is_hidden(dev, true);
}

/* Return: 0, or the count of the reason to drop the frame. */
static int take_tag(struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
		    struct csig_tag *t)
{
	int inner = read_tag(skb, form, t);

	if (inner < 0)
		return -inner;
	if (is_hidden(cn, skb->dev))
		return CTAG_IN_HIDDEN;
	if (!clear_mark(skb))
		return CTAG_NO_MEMORY;
	pull_tag(skb, form, inner);
	ctag_mark_clear(skb);
	return 0;
}

static int receive(struct sk_buff *skb, enum csig_form form)
{
	struct ctag_net *cn = ctag_net(dev_net(skb->dev));
	struct csig_tag t;
	int why;

	if (!takes_part(cn)) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	why = take_tag(cn, skb, form, &t);
	if (why) {
		ctag_count(cn, why);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	if (ctag_port_is_trusted(cn, skb->dev)) {
		ctag_count(cn, CTAG_IN_TAG);
		csig_mark_write(ctag_mark(skb), form, &t, ctag_secret);
	} else {
		ctag_count(cn, CTAG_IN_FENCED);
	}
	/* Filters on ingress see what was below the tag; generic XDP sees a frame once. */
	skb_set_redirected(skb, false);
	return netif_receive_skb(skb);
}

static int receive_compact(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
			   struct net_device *orig_dev)
{
	return receive(skb, CSIG_COMPACT);
}

static int receive_expanded(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
			    struct net_device *orig_dev)
{
	return receive(skb, CSIG_EXPANDED);
}

/**
 * ctag_ingress_tag() - the tag that an IP packet came with
 * @skb: the packet, as it came; its network header set
 * @t: result
 *
 * Beside the packet others may leave what looks like a note, so the frame's own header
 * must have been a tag's, too: then it did come with one.
 *
 * Context: RCU read lock.
 * Return: its form, or CSIG_NONE.
 */
enum csig_form ctag_ingress_tag(struct sk_buff *skb, struct csig_tag *t)
{
	const enum csig_form form = csig_mark_read(ctag_mark(skb), t, ctag_secret);
	const u8 *frame;

	if (!form || !skb_mac_header_was_set(skb))
		return CSIG_NONE;
	frame = skb_mac_header(skb);
	if (skb_network_header(skb) - frame != ETH_HLEN + csig_shapes[form].tag_bytes)
		return CSIG_NONE;
	return csig_ether_type(frame, CSIG_FIRST_TAG_BYTES) == ctag_tpids.tpid[form] ?
		form : CSIG_NONE;
}

static struct packet_type ctag_types[] = {
	{ .func = receive_compact },
	{ .func = receive_expanded },
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
