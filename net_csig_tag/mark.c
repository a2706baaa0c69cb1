// SPDX-License-Identifier: GPL-2.0
/* The tag of a received packet, which ingress.c has left as a mark in skb->cb. */

#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "net_csig_tag.h"

/**
 * ctag_ingress_tag() - the tag with which an IP packet was received
 * @skb: the packet as received, with its network header set
 * @t: result
 *
 * Other code may leave data in skb->cb that looks like a mark. The frame's header must therefore
 * contain the tag, too.
 *
 * Context: RCU read lock.
 * Return: format of the tag, or CSIG_NONE.
 */
enum csig_form ctag_ingress_tag(struct sk_buff *skb, struct csig_tag *t)
{
	const enum csig_form form = ctag_mark_read(ctag_mark(skb), t, ctag_secret);
	const u8 *frame;

	if (!form || !skb_mac_header_was_set(skb))
		return CSIG_NONE;
	frame = skb_mac_header(skb);
	if (skb_network_header(skb) - frame != ETH_HLEN + csig_shapes[form].tag_bytes)
		return CSIG_NONE;
	return csig_ether_type(frame, CSIG_FIRST_TAG_BYTES) == ctag_tpids.tpid[form] ?
		form : CSIG_NONE;
}
