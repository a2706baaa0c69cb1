// SPDX-License-Identifier: GPL-2.0
/*
 * Selection of the packets that carry tags. net.hopcc.csig_cc names congestion controls,
 * net.hopcc.csig_rules selects flows:
 *
 *	to 198.51.100.0/24 port 5001 every 10; mark 0x10/0xff probes expanded
 */
#include <hopcc/lib/hop_names.h>
#include <net/ipv6.h>

#include "net_csig_tag.h"

/**
 * ctag_rule_find() - find the first rule that matches
 * @cn: the netns' state
 * @udp: look for a rule for UDP, otherwise for TCP
 * @to: destination; IPv4 is v4-mapped
 * @port: destination port
 * @mark: mark of the socket; 0 without a socket
 *
 * Context: RCU read lock.
 * Return: the rule, or NULL.
 */
struct ctag_rule *ctag_rule_find(const struct ctag_net *cn, bool udp, const struct in6_addr *to,
				 __be16 port, u32 mark)
{
	struct ctag_rules *rules =
		container_of(rcu_dereference(cn->texts[CTAG_RULES]), struct ctag_rules, text);
	u32 i;

	lockdep_assert_in_rcu_read_lock();
	for (i = 0; rules && i < rules->count; i++) {
		struct ctag_rule *r = &rules->rule[i];

		if (r->udp == udp && ipv6_prefix_equal(&r->prefix, to, r->prefix_bits) &&
		    (!r->port || r->port == port) && (mark & r->mark_mask) == r->mark)
			return r;
	}
	return NULL;
}

/* Return: true if net.hopcc.csig_cc names the socket's congestion control. */
static bool ctag_is_named(const struct ctag_net *cn, const struct sock *sk)
{
	return hop_names_has(cn->cc, READ_ONCE(inet_csk(sk)->icsk_ca_ops)->name);
}

/**
 * ctag_request() - packets of a flow that carry tags
 * @cn: the netns' state
 * @key: key of the flow
 * @sk: the flow's full socket
 *
 * Context: RCU read lock.
 * Return: the request of the first rule that matches, otherwise that of the congestion control,
 * otherwise none.
 */
struct ctag_request ctag_request(const struct ctag_net *cn, const struct hop_flow_key *key,
				 const struct sock *sk)
{
	const struct ctag_rule *r = ctag_rule_find(cn, false, &key->peer, key->peer_port,
						   READ_ONCE(sk->sk_mark));

	lockdep_assert_in_rcu_read_lock();
	if (r)
		return (struct ctag_request) { r->every_pkts, r->packets, r->form };
	if (ctag_is_named(cn, sk))
		return (struct ctag_request) { READ_ONCE(cn->every_pkts), CTAG_DATA,
					    READ_ONCE(cn->form) };
	return (struct ctag_request) {};
}
