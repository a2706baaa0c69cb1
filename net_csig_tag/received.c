// SPDX-License-Identifier: GPL-2.0
/*
 * The tag of a received packet. ingress.c has removed it from the packet, but its bytes are still
 * in front of the IP header, where the frame's header was. They are read from there: skb->cb, the
 * other place for it, is used by a tc filter on ingress.
 */
#include <linux/if_ether.h>
#include <net/xfrm.h>

#include "net_csig_tag.h"

static bool ctag_is_ip(u16 ether_type)
{
	return ether_type == ETH_P_IP || ether_type == ETH_P_IPV6;
}

/*
 * IPsec has decrypted the packet. In transport mode the IP header has moved, and is no longer where
 * the frame's header ends. In tunnel mode the frame's header has moved to the inner IP header,
 * whose EtherType has replaced the tag's. In both, the EtherType behind the tag is left.
 */
static enum csig_form ctag_form_before_ipsec(const struct sk_buff *skb, const u8 *frame, int bytes)
{
	const u16 first = csig_ether_type(frame, CSIG_FIRST_TAG_BYTES);
	enum csig_form form;
	int end_bytes;

	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++) {
		end_bytes = ETH_HLEN + csig_shapes[form].tag_bytes;
		if (first == ctag_tpids.tpid[form] ? bytes > end_bytes :
		    first == ntohs(skb->protocol) && bytes == end_bytes)
			return ctag_is_ip(csig_ether_type(frame, end_bytes - CSIG_TPID_BYTES)) ?
				form : CSIG_NONE;
	}
	return CSIG_NONE;
}

/* @bytes: from the frame's header, @frame, to the IP header; below 0 if there is none */
static enum csig_form ctag_form_in_front(const struct sk_buff *skb, const u8 *frame, int bytes)
{
	enum csig_form form;

	if (bytes <= ETH_HLEN)
		return CSIG_NONE;
	form = csig_form_of(&ctag_tpids, csig_ether_type(frame, CSIG_FIRST_TAG_BYTES));
	if (form && bytes == ETH_HLEN + csig_shapes[form].tag_bytes)
		return form;
	return secpath_exists(skb) ? ctag_form_before_ipsec(skb, frame, bytes) : CSIG_NONE;
}

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

	lockdep_assert_in_rcu_read_lock();
	if (!skb_mac_header_was_set(skb))
		return CSIG_NONE;
	frame = skb_mac_header(skb);
	form = ctag_form_in_front(skb, frame, skb_network_header(skb) - frame);
	if (!form || !ctag_port_is_trusted(cn, iif))
		return CSIG_NONE;
	*t = csig_read(form, frame + CSIG_FIRST_TAG_BYTES + CSIG_TPID_BYTES);
	return form;
}
