// SPDX-License-Identifier: GPL-2.0
/*
 * UDP, section 4.2.2: datagrams that match a rule carry tags. A received tag is passed to the
 * application in the datagram's mark; see uapi/linux/csig_udp.h. There is no state and no
 * negotiation, since whoever writes the rule knows both ends and the path.
 */
#include <linux/udp.h>
#include <uapi/linux/csig_udp.h>

#include "net_csig_tag.h"

/* Finds the rule for a datagram, or for the datagram in a tunnel's packet. */
static struct ctag_rule *ctag_find_rule(const struct ctag_net *cn, const struct sk_buff *skb,
					const struct ctag_inner *inner, u32 mark)
{
	struct in6_addr from, to;
	const struct udphdr *uh;
	struct udphdr buf;

	if (inner->place.next != IPPROTO_UDP || !ctag_inner_addresses(skb, inner, &from, &to))
		return NULL;
	uh = skb_header_pointer(skb, inner->at_bytes + inner->place.offset_bytes, sizeof(buf),
				&buf);
	return uh ? ctag_rule_find(cn, true, &to, uh->dest, mark) : NULL;
}

/**
 * ctag_udp_tag() - at the sender: decide if a datagram carries a tag
 * @cn: the carrier's state in the network namespace
 * @skb: the datagram; skb->data is at its network header
 * @sk: its socket
 * @t: result
 *
 * Context: RCU read lock.
 * Return: format of the tag, or CSIG_NONE.
 */
enum csig_form ctag_udp_tag(const struct ctag_net *cn, const struct sk_buff *skb,
			    const struct sock *sk, struct csig_tag *t)
{
	struct ctag_inner inner = { .protocol = skb->protocol };
	struct ctag_rule *rule = hop_shim_find(skb, &inner.place) ?
		ctag_find_rule(cn, skb, &inner, READ_ONCE(sk->sk_mark)) : NULL;
	u32 type;

	lockdep_assert_in_rcu_read_lock();
	if (!rule)
		return CSIG_NONE;
	type = ctag_type_of(cn, atomic_inc_return(&rule->datagrams) - 1, rule->every_pkts);
	if (type == CSIG_TYPES)
		return CSIG_NONE;
	*t = (struct csig_tag) { .type = type, .value = csig_initial(rule->form, type) };
	return rule->form;
}

/**
 * ctag_udp_receive() - at the receiver: pass a tag to the application
 * @cn: the carrier's state in the network namespace
 * @skb: a datagram for this host, or a tunnel's packet with one, which has a tag; skb->data is at
 *	its network header
 * @form: format of its tag
 * @t: its tag
 *
 * Context: RCU read lock.
 * Return: true if a rule matches it.
 */
bool ctag_udp_receive(const struct ctag_net *cn, struct sk_buff *skb, enum csig_form form,
		      const struct csig_tag *t)
{
	struct ctag_inner inner;
	u8 data[CSIG_DATA_MAX_BYTES];

	lockdep_assert_in_rcu_read_lock();
	if (!ctag_find_inner(skb, &inner)) {
		inner.at_bytes = 0;
		inner.protocol = skb->protocol;
		if (!hop_shim_find(skb, &inner.place))
			return false;
	}
	if (!ctag_find_rule(cn, skb, &inner, 0))
		return false;
	ctag_count(cn, CTAG_IN_RECEIVED);
	if (form == CSIG_COMPACT) {
		csig_write(form, data, t);
		skb->mark = CSIG_UDP_VALID | data[0] << 8 | data[1];
	} else {
		skb->mark = CSIG_UDP_VALID | CSIG_UDP_EXPANDED | t->type << CSIG_UDP_TYPE_SHIFT |
			    t->value << CSIG_UDP_VALUE_SHIFT;
	}
	return true;
}
