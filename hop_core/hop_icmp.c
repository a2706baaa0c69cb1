// SPDX-License-Identifier: GPL-2.0
/* ICMP errors that quote one of our headers; see hopcc/core/hop_icmp.h. */

#include <linux/module.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_icmp.h>
#include <hopcc/lib/hop_peek.h>
#include <net/protocol.h>
#include <net/tcp.h>

/*
 * Is the quoted segment in flight? An error that quotes another one could be forged by anybody.
 * @requested: result: true for the SYN-ACK of a connection request
 */
static bool hop_icmp_is_in_flight(const struct hop_flow_key *key, const struct tcphdr *th,
				  bool *requested)
{
	struct sock *sk = hop_flow_socket(key);
	u32 seq = ntohl(th->seq);
	bool good = false;

	*requested = false;
	if (!sk)
		return false;
	if (hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV) {
		good = seq == tcp_rsk(inet_reqsk(sk))->snt_isn;
		*requested = true;
	} else if (sk_fullsock(sk)) {
		good = between(seq, hop_peek(tcp_sk(sk)->snd_una),
			       hop_peek(tcp_sk(sk)->snd_nxt));
	}
	sock_gen_put(sk);
	return good;
}

/*
 * A SYN was refused because of its header. Make TCP send it again at once, without a header,
 * instead of waiting for the timeout. This happens only once, since the next SYN has no header.
 */
static void hop_icmp_repeat_syn(const struct hop_flow_key *key)
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

bool hop_icmp_ends(const struct hop_flow_key *key, const struct tcphdr *th,
		   enum hop_icmp_decision decision)
{
	struct hop_flow *flow = hop_flow_find(key);
	enum hop_stage stage;
	bool requested;

	lockdep_assert_in_rcu_read_lock();
	if (!flow)
		return decision == HOP_ICMP_REFUSED;
	stage = hop_flow_stage(flow);
	if (decision == HOP_ICMP_MAYBE && !hop_icmp_is_handshake(stage))
		return false;
	if (!hop_icmp_is_in_flight(&flow->key, th, &requested))
		return true;
	if (stage == HOP_STAGE_ASKED)
		hop_icmp_repeat_syn(&flow->key);
	hop_flow_event(flow, requested ? HOP_EVENT_DECLINED : HOP_EVENT_REFUSED);
	hop_carrier_count_at(&flow->key, flow->key.kind->carrier->icmp_refused);
	return true;
}
EXPORT_SYMBOL_GPL(hop_icmp_ends);

int hop_icmp_report_v4(struct sk_buff *skb, u32 info, u8 next, unsigned int bytes)
{
	const struct net_protocol *protocol = rcu_dereference(inet_protos[next]);
	struct hop_quoted_ip quoted;
	int err;

	lockdep_assert_in_rcu_read_lock();
	if (!protocol || !protocol->err_handler || !hop_quoted_skip_v4(skb, next, bytes, &quoted))
		return 0;
	err = protocol->err_handler(skb, info);
	hop_quoted_restore_v4(skb, &quoted);
	return err;
}
EXPORT_SYMBOL_GPL(hop_icmp_report_v4);
