// SPDX-License-Identifier: GPL-2.0
/* ICMP errors that quote one of our headers; see hopcc/core/hop_icmp.h. */

#include <linux/module.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/lib/hop_peek.h>
#include <net/icmp.h>
#include <net/protocol.h>
#include <net/tcp.h>

/* Is the quoted segment in flight? An error that quotes another one could be forged by anybody. */
static bool hop_icmp_is_in_flight(const struct hop_flow_key *key, const struct tcphdr *th)
{
	struct sock *sk = hop_flow_socket(key);
	bool good;

	if (!sk)
		return false;
	good = sk_fullsock(sk) && between(ntohl(th->seq), hop_peek(tcp_sk(sk)->snd_una),
					  hop_peek(tcp_sk(sk)->snd_nxt));
	sock_gen_put(sk);
	return good;
}

bool hop_icmp_ends(const struct hop_flow_key *key, const struct tcphdr *th,
		   enum hop_icmp_decision decision)
{
	struct hop_flow *flow = hop_flow_find(key);

	lockdep_assert_in_rcu_read_lock();
	if (!flow)
		return decision == HOP_ICMP_REFUSED;
	if (decision == HOP_ICMP_MAYBE && test_bit(HOP_FLOW_PASSED, &flow->flags))
		return false;
	if (!hop_icmp_is_in_flight(&flow->key, th))
		return true;
	hop_carrier_count_at(&flow->key, flow->key.carrier->icmp_refused);
	if (flow->key.carrier->refused)
		flow->key.carrier->refused(flow);
	else
		hop_flow_event(flow, HOP_EVENT_REFUSED);
	return true;
}
EXPORT_SYMBOL_GPL(hop_icmp_ends);

int hop_icmp_v4(struct sk_buff *skb, u32 info, hop_icmp_read *read)
{
	const struct iphdr *iph = (const struct iphdr *)skb->data;
	const struct icmphdr *icmp = icmp_hdr(skb);
	const struct net_protocol *protocol;
	struct hop_quoted_ip quoted;
	unsigned int bytes;
	u8 next;
	int err;

	lockdep_assert_in_rcu_read_lock();
	if (iph->version != 4 || iph->ihl < 5 || iph->frag_off & htons(IP_OFFSET))
		return 0;
	bytes = read(skb, iph->ihl * 4, hop_icmp_check_v4(icmp->type, icmp->code), &next);
	if (!bytes)
		return 0;
	protocol = rcu_dereference(inet_protos[next]);
	if (!protocol || !protocol->err_handler || !hop_quoted_skip_v4(skb, next, bytes, &quoted))
		return 0;
	err = protocol->err_handler(skb, info);
	hop_quoted_restore_v4(skb, &quoted);
	return err;
}
EXPORT_SYMBOL_GPL(hop_icmp_v4);

int hop_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code, int offset,
		__be32 info, hop_icmp_read *read)
{
	u8 next;
	const unsigned int bytes = read(skb, offset, hop_icmp_check_v6(type, code), &next);
	const struct inet6_protocol *protocol;

	lockdep_assert_in_rcu_read_lock();
	if (!bytes)
		return 0;
	protocol = rcu_dereference(inet6_protos[next]);
	if (!protocol || !protocol->err_handler)
		return 0;
	return protocol->err_handler(skb, opt, type, code, offset + bytes, info);
}
EXPORT_SYMBOL_GPL(hop_icmp_v6);
