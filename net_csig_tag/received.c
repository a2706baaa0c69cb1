// SPDX-License-Identifier: GPL-2.0
/*
 * The tag of a received packet. ingress.c has removed it from the packet, but its bytes are still
 * in front of the IP header, where the frame's header was. They are read from there: skb->cb, the
 * other place for it, is used by a tc filter on ingress.
 */
#include <linux/if_ether.h>

#include "net_csig_tag.h"

/**
 * ctag_received_tag() - the tag with which an IP packet was received
 * @cn: the netns' state
 * @skb: the packet as received, with its network header set
 * @iif: index of the device by which the packet came
 * @t: result
 *
 * Context: RCU read lock.
 * Return: format of the tag; CSIG_NONE: none, or the device is not trusted.
 */
enum csig_form ctag_received_tag(struct ctag_net *cn, const struct sk_buff *skb, int iif,
				 struct csig_tag *t)
{
	enum csig_form form;
	const u8 *frame;
	u32 bytes;

	lockdep_assert_in_rcu_read_lock();
	if (!skb_mac_header_was_set(skb))
		return CSIG_NONE;
	frame = skb_mac_header(skb);
	bytes = skb_network_header(skb) - frame;
	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++)
		if (bytes == ETH_HLEN + csig_shapes[form].tag_bytes)
			break;
	if (form == CSIG_FORMS ||
	    csig_ether_type(frame, CSIG_FIRST_TAG_BYTES) != ctag_tpids.tpid[form] ||
	    !ctag_port_is_trusted(cn, iif))
		return CSIG_NONE;
	*t = csig_read(form, frame + CSIG_FIRST_TAG_BYTES + CSIG_TPID_BYTES);
	return form;
}
