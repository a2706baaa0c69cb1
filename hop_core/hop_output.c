// SPDX-License-Identifier: GPL-2.0
/* Outgoing packets; see hopcc/core/hop_output.h. */

#include <linux/module.h>
#include <net/dst.h>
#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_stack.h>
#include <net/tcp.h>

bool hop_output_read(struct sk_buff *skb, struct hop_segment *seg)
{
	const struct tcphdr *th;
	unsigned int headers_bytes;

	if (seg->place.next != IPPROTO_TCP)
		return false;
	headers_bytes = seg->place.offset_bytes + sizeof(*th);
	if (!pskb_may_pull(skb, headers_bytes))
		return false;
	th = hop_segment_tcp(skb, seg);
	headers_bytes = seg->place.offset_bytes + __tcp_hdrlen(th);
	if (skb->len < headers_bytes)
		return false;
	seg->payload_bytes = skb->len - headers_bytes;
	seg->syn = th->syn;
	seg->ack = th->ack;
	seg->rst = th->rst;
	return true;
}
EXPORT_SYMBOL_GPL(hop_output_read);

bool hop_output_has_room(const struct sk_buff *skb, unsigned int payload_bytes,
			 unsigned int bytes)
{
	unsigned int wire_bytes = skb->len + bytes;

	lockdep_assert_in_rcu_read_lock();
	if (skb_is_gso(skb))
		wire_bytes += skb_shinfo(skb)->gso_size - payload_bytes;
	return wire_bytes <= dst_mtu(skb_dst(skb));
}
EXPORT_SYMBOL_GPL(hop_output_has_room);

/* An existing flow with this key belongs to an earlier connection with the same ports. */
static struct hop_flow *hop_output_start_flow(const struct hop_handshake_ops *hs,
					      const struct hop_flow_key *key,
					      const struct sock *sk, unsigned int payload_bytes)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (flow)
		hop_flow_remove(flow);
	if (payload_bytes || !hs->asks(key, sk) || hop_carrier_avoids(key))
		return NULL;
	return hop_flow_add(key, true);
}

/*
 * If a SYN is retransmitted because its header was refused (hop_icmp_ends()), that is no sign of
 * congestion. So the timeout must not end slow start. Context: socket lock held.
 */
static struct hop_flow *hop_output_find_again(const struct hop_handshake_ops *hs,
					      const struct hop_flow_key *key, struct sock *sk)
{
	struct hop_flow *flow = hop_flow_find(key);

	sock_owned_by_me(sk);
	if (flow && inet_csk(sk)->icsk_retransmits == 1 &&
	    hop_flow_stage(flow) == HOP_STAGE_UNSUPPORTED)
		hop_stack_set_ssthresh(sk, TCP_INFINITE_SSTHRESH);
	return flow;
}

/*
 * A box that drops our header must not delay the connection by the usual timeout of a SYN. TCP
 * starts the timer after this packet, with the socket locked by connect(); a packet that waited for
 * a verdict of NFQUEUE is too late.
 */
static void hop_output_shorten_timeout(const struct hop_handshake_ops *hs, struct hop_flow *flow,
				       struct sock *sk)
{
	if (!sock_owned_by_user_nocheck(sk))
		return;
	set_bit(HOP_FLOW_HURRIES, &flow->flags);
	hop_stack_set_rto(sk, hop_syn_wait_jiffies(inet_csk(sk)->icsk_rto, hs->wait_shift));
}

/*
 * The SYN without a header has the usual timeout, which TCP doubles each time. The shortened one
 * has lost bits of it: ask where tcp_connect_init() did.
 */
static void hop_output_restore_timeout(struct hop_flow *flow, struct sock *sk)
{
	if (flow && test_and_clear_bit(HOP_FLOW_HURRIES, &flow->flags))
		hop_stack_set_rto(sk, tcp_timeout_init(sk));
}

/* A filter would miss TCP below the header: the connection does without. */
static bool hop_output_is_hidden(const struct hop_handshake_ops *hs, const struct sk_buff *skb,
				 const struct hop_segment *seg, struct hop_flow *flow)
{
	if (!hs->is_hidden || !hs->is_hidden(skb, seg))
		return false;
	hop_flow_event(flow, HOP_EVENT_HIDDEN);
	return true;
}

static struct hop_flow *hop_output_negotiate_with_syn(const struct hop_handshake_ops *hs,
						      const struct sk_buff *skb,
						      const struct hop_segment *seg)
{
	struct sock *sk = skb->sk;
	struct hop_flow_key key;
	struct hop_flow *flow;

	hop_flow_key_of_sock(&key, hs->kind, sk);
	if (inet_csk(sk)->icsk_retransmits) {
		flow = hop_output_find_again(hs, &key, sk);
		hop_output_restore_timeout(flow, sk);
	} else {
		flow = hop_output_start_flow(hs, &key, sk, seg->payload_bytes);
	}
	if (flow && hop_flow_stage(flow) == HOP_STAGE_NONE &&
	    hop_output_is_hidden(hs, skb, seg, flow))
		return NULL;
	if (!flow || hop_flow_event(flow, HOP_EVENT_SYN_OUT) != HOP_STAGE_ASKED)
		return NULL;
	hop_output_shorten_timeout(hs, flow, sk);
	return flow;
}

static struct hop_flow *hop_output_negotiate_with_synack(const struct hop_handshake_ops *hs,
							 const struct sk_buff *skb,
							 const struct hop_segment *seg)
{
	struct hop_flow_key key;
	struct hop_flow *flow;
	enum hop_stage stage;

	if (skb->sk)
		hop_flow_key_of_sock(&key, hs->kind, skb->sk);
	else
		hop_flow_key_of_output(&key, hs->kind, skb, hop_segment_tcp(skb, seg));
	flow = hop_flow_find(&key);
	if (!flow)
		return NULL;
	stage = hop_flow_stage(flow);
	if (stage != HOP_STAGE_OFFERED && stage != HOP_STAGE_ANSWERED) {
		/* The flow is an earlier connection's, since this one's SYN had no header. */
		if (stage == HOP_STAGE_SUPPORTED || stage == HOP_STAGE_LATE)
			hop_flow_remove(flow);
		return NULL;
	}
	if (stage == HOP_STAGE_OFFERED && hop_output_is_hidden(hs, skb, seg, flow))
		return NULL;
	if (hop_flow_event(flow, HOP_EVENT_SYNACK_OUT) != HOP_STAGE_ANSWERED)
		return NULL;
	return flow;
}

struct hop_flow *hop_output_handshake(const struct hop_handshake_ops *hs, const struct sk_buff *skb,
				      const struct hop_segment *seg)
{
	const struct sock *sk = skb->sk;

	lockdep_assert_in_rcu_read_lock();
	if (seg->ack) {
		if (!sk || hop_output_is_tcp(sk) || sk->sk_state == TCP_NEW_SYN_RECV)
			return hop_output_negotiate_with_synack(hs, skb, seg);
	} else if (hop_output_is_tcp(sk)) {
		return hop_output_negotiate_with_syn(hs, skb, seg);
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_output_handshake);

/* Context: RCU read lock. Return: the stage; @sends: set to true if an ACK must be sent now. */
static enum hop_stage hop_output_take_late_turn(const struct hop_handshake_ops *hs,
						struct hop_flow *flow,
						const struct sock *sk, bool *sends)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	enum hop_stage stage;

	lockdep_assert_in_rcu_read_lock();
	/* The handshake may have ended after the congestion control was selected. */
	hop_flow_settle(flow);
	stage = hop_flow_event(flow, HOP_EVENT_ESTABLISHED);
	if (!hop_may_ask(stage) && stage != HOP_STAGE_LATE)
		return stage;
	switch (hop_late_turn(&flow->late, tp->snd_una, tp->snd_nxt)) {
	case HOP_LATE_ASK:
		set_bit(HOP_FLOW_ASKS, &flow->flags);
		*sends = true;
		return hop_flow_event(flow, HOP_EVENT_LATE);
	case HOP_LATE_GIVE_UP:
		return hop_flow_event(flow, HOP_EVENT_UNANSWERED);
	default:
		return stage;
	}
}

enum hop_stage hop_output_ask(const struct hop_handshake_ops *hs, struct sock *sk, bool starts)
{
	enum hop_stage stage = HOP_STAGE_UNSUPPORTED;
	struct hop_flow_key key;
	struct hop_flow *flow;
	bool sends = false;

	sock_owned_by_me(sk);
	if (hop_output_is_opening(sk))
		return HOP_STAGE_NONE;
	hop_flow_key_of_sock(&key, hs->kind, sk);
	rcu_read_lock();
	if (!hop_output_is_late(sk)) {
		/* The SYN and the SYN-ACK have negotiated. */
		if (hop_flow_is_doubtful(&key))
			stage = HOP_STAGE_DOUBTFUL;
		rcu_read_unlock();
		return stage;
	}
	flow = starts ? hop_flow_add(&key, false) : hop_flow_find(&key);
	if (flow)
		stage = hop_output_take_late_turn(hs, flow, sk, &sends);
	rcu_read_unlock();
	if (sends)
		compat_send_ack(sk, tcp_sk(sk)->rcv_nxt);
	return stage;
}
EXPORT_SYMBOL_GPL(hop_output_ask);

enum hop_late_header hop_output_late(struct hop_flow *flow, const struct sk_buff *skb,
				     const struct tcphdr *th)
{
	const unsigned long due = BIT(HOP_FLOW_ASKS) | BIT(HOP_FLOW_ANSWERS);

	lockdep_assert_in_rcu_read_lock();
	/* A FIN gets no header, since a lost FIN would cost a timeout. */
	if (!(READ_ONCE(flow->flags) & due) || th->fin || hop_shim_is_rewritten(skb))
		return HOP_LATE_NONE;
	if (test_and_clear_bit(HOP_FLOW_ANSWERS, &flow->flags))
		return HOP_LATE_ANSWER;
	return test_and_clear_bit(HOP_FLOW_ASKS, &flow->flags) ? HOP_LATE_QUESTION : HOP_LATE_NONE;
}
EXPORT_SYMBOL_GPL(hop_output_late);
