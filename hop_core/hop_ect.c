// SPDX-License-Identifier: GPL-2.0
/* ECT of sent packets; see hopcc/core/hop_ect.h. */

#include <linux/module.h>
#include <hopcc/core/hop_cc.h>
#include <hopcc/core/hop_ect.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_shim.h>
#include <net/dsfield.h>
#include <net/ip.h>

/* Congestion controls with ECN; hop_ect_output() reads them without a lock. */
static const struct hop_cc *hop_ect_ccs[2];

bool hop_ect_replace(const struct hop_cc *from, const struct hop_cc *to)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hop_ect_ccs); i++)
		if (cmpxchg(&hop_ect_ccs[i], from, to) == from)
			return true;
	return false;
}

/*
 * Is a packet a segment of the socket itself? It is not if it is a tunnel's packet around the
 * segment. Ports cannot tell, because NAT may have translated them.
 */
static bool hop_ect_is_segment(const struct sk_buff *skb)
{
	const int offset = skb_transport_offset(skb);
	struct hop_shim_place place;

	if (skb->encapsulation || offset <= 0 || offset + sizeof(struct tcphdr) > skb_headlen(skb))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol == IPPROTO_TCP;
	if (ipv6_hdr(skb)->nexthdr == IPPROTO_TCP)
		return true;
	return hop_shim_find(skb, &place) && place.next == IPPROTO_TCP;
}

void hop_ect_clear(struct sk_buff *skb)
{
	if (skb_ensure_writable(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr)))
		return;
	if (skb->protocol == htons(ETH_P_IP))
		ipv4_change_dsfield(ip_hdr(skb), (u8)~INET_ECN_MASK, INET_ECN_NOT_ECT);
	else
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~INET_ECN_MASK, INET_ECN_NOT_ECT);
}
EXPORT_SYMBOL_GPL(hop_ect_clear);

/*
 * A SYN that is sent again no longer asks for ECN, and a SYN-ACK to it does not agree to ECN. If
 * the path drops ECT packets, a connection without ECN can then be established.
 *
 * Return: true if the segment is a SYN or a SYN-ACK.
 */
static bool hop_ect_output_syn(struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);

	if (th->syn && !th->ece)
		hop_ect_clear(skb);
	return th->syn;
}

/* Return: the congestion control with ECN that @sk has, or whose fallback it has; or NULL. */
static const struct hop_cc *hop_ect_cc_of(const struct sock *sk)
{
	const struct tcp_congestion_ops *ops = hop_peek(inet_csk(sk)->icsk_ca_ops);
	const struct hop_cc *cc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hop_ect_ccs); i++) {
		cc = READ_ONCE(hop_ect_ccs[i]);
		if (cc && (ops == cc->ops || ops == cc->reno))
			return cc;
	}
	return NULL;
}

unsigned int hop_ect_output(struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct sock *sk = skb->sk;
	const struct hop_cc *cc;

	lockdep_assert_in_rcu_read_lock();
	/* A SYN-ACK's owner is a connection request, whose listener has the congestion control. */
	if (sk && hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		sk = inet_reqsk(sk)->rsk_listener;
	cc = hop_output_is_tcp(sk) ? hop_ect_cc_of(sk) : NULL;
	if (!cc || !hop_ect_is_segment(skb) || hop_ect_output_syn(skb) || !cc->output)
		return NF_ACCEPT;
	return skb->sk == sk ? cc->output(skb, cc, state) : NF_ACCEPT;
}
