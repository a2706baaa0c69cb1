// SPDX-License-Identifier: GPL-2.0
/* ICMP errors that quote one of our headers; see hopcc/core/hop_icmp.h. */

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/module.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/lib/hop_peek.h>
#include <net/protocol.h>
#include <net/tcp.h>

enum hop_icmp_decision hop_icmp_check_v4(u8 type, u8 code)
{
	if (type != ICMP_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMP_PROT_UNREACH:
		return HOP_ICMP_REFUSED;
	case ICMP_PORT_UNREACH:
	case ICMP_NET_ANO:
	case ICMP_HOST_ANO:
	case ICMP_PKT_FILTERED:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}
EXPORT_SYMBOL_GPL(hop_icmp_check_v4);

enum hop_icmp_decision hop_icmp_check_v6(u8 type, u8 code)
{
	if (type == ICMPV6_PARAMPROB && code == ICMPV6_UNK_NEXTHDR)
		return HOP_ICMP_REFUSED;
	if (type != ICMPV6_DEST_UNREACH)
		return HOP_ICMP_NEXT;
	switch (code) {
	case ICMPV6_ADM_PROHIBITED:
	case ICMPV6_PORT_UNREACH:
	case ICMPV6_POLICY_FAIL:
	case ICMPV6_REJECT_ROUTE:
		return HOP_ICMP_MAYBE;
	default:
		return HOP_ICMP_NEXT;
	}
}
EXPORT_SYMBOL_GPL(hop_icmp_check_v6);

/* Is the quoted segment in flight? An error that quotes another one could be forged by anybody. */
static bool is_in_flight(const struct hop_flow_key *key, const struct tcphdr *th)
{
	struct sock *sk = hop_flow_socket(key);
	u32 seq = ntohl(th->seq);
	bool good = false;

	if (!sk)
		return false;
	if (hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		good = seq == tcp_rsk(inet_reqsk(sk))->snt_isn;
	else if (sk_fullsock(sk))
		good = between(seq, hop_peek(tcp_sk(sk)->snd_una),
			       hop_peek(tcp_sk(sk)->snd_nxt));
	sock_gen_put(sk);
	return good;
}

/*
 * A SYN was refused because of its header. Make TCP send it again at once, without a header,
 * instead of waiting for the timeout. This happens only once, since the next SYN has no header.
 */
static void repeat_syn(const struct hop_flow_key *key)
{
	struct sock *sk = hop_flow_socket(key);

	if (!sk)
		return;
	if (sk_fullsock(sk)) {
		local_bh_disable();
		bh_lock_sock_nested(sk);
		if (!sock_owned_by_user(sk) && sk->sk_state == TCP_SYN_SENT &&
		    !inet_csk(sk)->icsk_retransmits)
			inet_csk_reset_xmit_timer(sk, ICSK_TIME_RETRANS, 1, TCP_RTO_MAX);
		bh_unlock_sock(sk);
		local_bh_enable();
	}
	sock_gen_put(sk);
}

static bool is_handshake(enum hop_stage stage)
{
	return stage == HOP_STAGE_ASKED || stage == HOP_STAGE_LOST ||
	       stage == HOP_STAGE_OFFERED || stage == HOP_STAGE_ANSWERED ||
	       stage == HOP_STAGE_LATE;
}

bool hop_icmp_ends(const struct hop_flow_key *key, const struct tcphdr *th,
		   enum hop_icmp_decision decision, enum hop_stage stage, bool *refused)
{
	*refused = false;
	if (decision == HOP_ICMP_MAYBE && !is_handshake(stage))
		return false;
	*refused = is_in_flight(key, th);
	if (*refused && stage == HOP_STAGE_ASKED)
		repeat_syn(key);
	return true;
}
EXPORT_SYMBOL_GPL(hop_icmp_ends);

int hop_icmp_report_v4(struct sk_buff *skb, u32 info, u8 next, unsigned int bytes)
{
	const struct net_protocol *protocol = rcu_dereference(inet_protos[next]);
	unsigned int ip_bytes = ((const struct iphdr *)skb->data)->ihl * 4;
	u8 quoted[60 + HOP_ICMP_SHIM_MAX_BYTES];
	int err = 0;

	if (!protocol || !protocol->err_handler || bytes > HOP_ICMP_SHIM_MAX_BYTES ||
	    skb_ensure_writable(skb, ip_bytes + bytes + HOP_ICMP_QUOTED_BYTES))
		return 0;
	memcpy(quoted, skb->data, ip_bytes + bytes);
	memmove(skb->data + bytes, quoted, ip_bytes);
	__skb_pull(skb, bytes);
	((struct iphdr *)skb->data)->protocol = next;
	err = protocol->err_handler(skb, info);
	__skb_push(skb, bytes);
	memcpy(skb->data, quoted, ip_bytes + bytes);
	return err;
}
EXPORT_SYMBOL_GPL(hop_icmp_report_v4);
