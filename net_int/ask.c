// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation on an established connection: its congestion control was selected after the
 * handshake, or the SYN with a header was lost, or the destination is remembered as one that
 * answers only a SYN without one. A NAT, or a filter that admits only TCP, drops our protocol; so a
 * question and its answer are control packets (int_question.h), TCP segments with old sequence
 * numbers:
 *
 *	 nint_flow_negotiate()  ->  a question in front of the next data  ->  the peer's answer
 *
 * A peer without net_int takes a question for a segment that it has received before, and sends a
 * duplicate ACK. At most HOP_LATE_ASKS questions are sent, each one round trip of data after the
 * one before.
 */
#include <linux/module.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_stack.h>
#include <hopcc/lib/hop_peek.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

/* States in which a socket may begin to negotiate; SYN_RECV: it is about to be established. */
#define NINT_ASK_STATES (TCPF_SYN_RECV | TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)

/*
 * Return: true if a negotiation may begin. At the end of the handshake, only if this host knows
 * that SYNs with a header do not arrive; otherwise the SYN and the SYN-ACK have negotiated.
 */
static bool nint_may_begin(struct nint_net *in, const struct hop_flow_key *key,
			   const struct sock *sk)
{
	return READ_ONCE(in->on) && !hop_is_unresponsive(&in->carrier.unsupported, &key->peer) &&
	       (hop_output_is_late(sk) || hop_carrier_is_unsupported(key));
}

/*
 * Finds old bytes for a question: a duplicate ACK that reports them as received twice (RFC 2883)
 * must change nothing in TCP. Return: false if there are none now, as during a recovery.
 */
static bool nint_find_end(const struct sock *sk, u32 *end_seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 undo_seq = hop_peek(tp->undo_marker);

	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open || tp->tlp_high_seq)
		return false;
	*end_seq = tp->snd_una;
	if (!undo_seq || tp->undo_retrans <= 0)
		return true;
	return nint_question_end(tp->snd_una, undo_seq, tp->max_window, end_seq) &&
	       *end_seq == undo_seq;
}

/*
 * Forgets the latest recovery where no true report of a retransmission can arrive any more, so that
 * a question may use the bytes in front of SND.UNA. Context: socket lock held, which data that a
 * program (NFQUEUE) hands back does not have.
 */
static void nint_forget_recovery(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 end_seq;

	sock_owned_by_me(sk);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open && tp->undo_marker &&
	    nint_question_end(tp->snd_una, tp->undo_marker, tp->max_window, &end_seq) &&
	    end_seq != tp->undo_marker)
		hop_stack_forget_undo(sk);
}

/* Decides if the next data is to have a question. Context: RCU read lock, socket lock held. */
static enum hop_stage nint_ask_take_turn(struct nint_net *in, struct hop_flow *flow,
					 struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	enum hop_stage stage;
	u32 end_seq;

	sock_owned_by_me(sk);
	lockdep_assert_in_rcu_read_lock();
	/* The handshake may have ended after the congestion control was selected. */
	hop_flow_settle(flow);
	stage = hop_flow_event(flow, HOP_EVENT_ESTABLISHED);
	if (!hop_may_ask(stage) && stage != HOP_STAGE_LATE)
		return stage;
	nint_forget_recovery(sk);
	/* A question waits: its turn has not begun. */
	if (test_bit(HOP_FLOW_ASKS, &flow->flags) && !nint_find_end(sk, &end_seq)) {
		flow->late.end_seq = tp->snd_nxt;
		return HOP_STAGE_LATE;
	}
	if (!flow->late.asks && hop_is_unresponsive(&in->carrier.unsupported, &flow->key.peer))
		return HOP_STAGE_UNSUPPORTED;
	switch (hop_late_turn(&flow->late, tp->snd_una, tp->snd_nxt)) {
	case HOP_LATE_ASK:
		set_bit(HOP_FLOW_ASKS, &flow->flags);
		return HOP_STAGE_LATE;
	case HOP_LATE_GIVE_UP:
		clear_bit(HOP_FLOW_ASKS, &flow->flags);
		/* An answer may arrive at the same time. */
		stage = hop_flow_event(flow, HOP_EVENT_UNANSWERED);
		return stage == HOP_STAGE_SUPPORTED ? stage : HOP_STAGE_UNSUPPORTED;
	default:
		return HOP_STAGE_LATE;
	}
}

enum hop_peer nint_flow_negotiate(struct sock *sk)
{
	struct nint_net *in = nint_net(sock_net(sk));
	enum hop_stage stage = HOP_STAGE_UNSUPPORTED;
	struct hop_flow_key key;
	struct hop_flow *flow;

	sock_owned_by_me(sk);
	if (hop_output_is_opening(sk))
		return HOP_PEER_UNKNOWN;
	if (!(1 << sk->sk_state & NINT_ASK_STATES))
		return HOP_PEER_UNSUPPORTED;
	hop_flow_key_of_sock(&key, &nint_flow_kind, sk);
	rcu_read_lock();
	flow = nint_may_begin(in, &key, sk) ? hop_flow_add(&key, false) : hop_flow_find(&key);
	if (flow)
		stage = nint_ask_take_turn(in, flow, sk);
	rcu_read_unlock();
	return hop_peer_at(stage);
}
EXPORT_SYMBOL_GPL(nint_flow_negotiate);

/*
 * Return: true, once a turn, if this data is to have a question. @end_seq: result: the end of its
 * bytes.
 */
bool nint_should_ask(struct hop_flow *flow, const struct sk_buff *skb, const struct sock *sk,
		     u32 *end_seq)
{
	if (!test_bit(HOP_FLOW_ASKS, &flow->flags) || !nint_find_end(sk, end_seq))
		return false;
	clear_bit(HOP_FLOW_ASKS, &flow->flags);
	flow->late.end_seq = tcp_sk(sk)->snd_nxt;
	return !hop_shim_is_rewritten(skb) &&
	       hop_flow_event(flow, HOP_EVENT_LATE) == HOP_STAGE_LATE;
}

/*
 * Learns from a packet that negotiates. The peer's cookie only once, as for a SYN: a question does
 * not prove that its sender is the peer. The RTT of these packets is not measured, so their queues
 * are ignored. @own: @ctl returns the records of this end's question.
 */
static void nint_ask_learn(struct int_flow *f, const struct nint_control *ctl, bool own)
{
	struct nint_met met = nint_met_by_handshake(&ctl->hdr);

	met.queues_ns = 0;
	spin_lock_bh(&f->lock);
	f->probes_only = true;
	if (!f->peer_cookie)
		WRITE_ONCE(f->peer_cookie, nint_control_cookie(ctl));
	if (own)
		f->met = met;
	if (own || !f->hops)
		f->hops = met.hops ?: f->hops;
	spin_unlock_bh(&f->lock);
}

static void nint_ask_reply(struct nint_net *in, struct hop_flow *flow,
			   const struct nint_control *question)
{
	const struct int_flow *f = hop_flow_state(flow);
	struct nint_control ctl;

	/* A receiver that reports only ratios must not reveal hops and queues. */
	nint_control_write_reply(&ctl, READ_ONCE(in->anonymous) ? NULL : &question->hdr,
				 f->cookie, READ_ONCE(f->peer_cookie));
	trace_int_header_out(&flow->key, &ctl.hdr, 0, 0);
	nint_answer_send(in, &flow->key, &ctl, INT_COUNT_OUT_HANDSHAKE);
}

/* Return: the counter of the reason why a question is left to TCP, or INT_COUNTS. */
static unsigned int nint_check_question(const struct hop_flow_key *key, const struct tcphdr *th,
					unsigned int payload_bytes, const struct nint_control *ctl)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct int_flow *f;

	if (!nint_control_may_ask(ctl))
		return INT_COUNT_IN_BAD_COOKIE;
	if (!hop_input_is_old(key, th, payload_bytes))
		return INT_COUNT_IN_NO_FLOW;
	f = flow ? hop_flow_state(flow) : NULL;
	return f && READ_ONCE(f->questions) >= HOP_LATE_ASKS ? INT_COUNT_IN_OLD : INT_COUNTS;
}

static void nint_receive_question(struct nint_net *in, const struct hop_flow_key *key,
				  const struct nint_control *ctl)
{
	struct hop_flow *flow = hop_flow_add(key, false);
	struct int_flow *f;

	if (!flow) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	f = hop_flow_state(flow);
	hop_flow_settle(flow);
	hop_flow_event(flow, HOP_EVENT_ESTABLISHED);
	if (hop_flow_event(flow, HOP_EVENT_LATE) != HOP_STAGE_SUPPORTED)
		nint_ask_learn(f, ctl, false);
	WRITE_ONCE(f->questions, f->questions + 1);
	nint_ask_reply(in, flow, ctl);
}

/* Return: the counter of the reason why an answer is left to TCP, or INT_COUNTS. */
static unsigned int nint_check_reply(const struct hop_flow_key *key, const struct tcphdr *th,
				     unsigned int payload_bytes, const struct nint_control *ctl)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct int_flow *f;

	if (!flow || !hop_input_is_old(key, th, payload_bytes))
		return INT_COUNT_IN_NO_FLOW;
	f = hop_flow_state(flow);
	return be64_to_cpu(ctl->msg.cookie) == f->cookie && nint_control_cookie(ctl) ?
		INT_COUNTS : INT_COUNT_IN_BAD_COOKIE;
}

static void nint_receive_reply(struct nint_net *in, const struct hop_flow_key *key,
			       const struct nint_control *ctl)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (!flow || hop_flow_stage(flow) != HOP_STAGE_LATE) {
		nint_count(in, INT_COUNT_IN_OLD);
		return;
	}
	nint_ask_learn(hop_flow_state(flow), ctl, true);
	hop_flow_event(flow, HOP_EVENT_HEADER_IN);
}

/*
 * A question, or the answer to one. @th: TCP header, in front of @payload_bytes. Return: true if it
 * was consumed; otherwise it is left to TCP.
 */
bool nint_ask_input(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
		    unsigned int payload_bytes, const struct nint_control *ctl)
{
	const bool asks = ctl->hdr.type == INT_TYPE_PROBE;
	struct hop_flow_key key;
	unsigned int why;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	why = asks ? nint_check_question(&key, th, payload_bytes, ctl) :
		     nint_check_reply(&key, th, payload_bytes, ctl);
	if (why != INT_COUNTS) {
		nint_count(in, why);
		return false;
	}
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return true;
	}
	nint_count(in, INT_COUNT_IN_HANDSHAKE);
	trace_int_header_in(&key, &ctl->hdr, 0, 0);
	if (asks)
		nint_receive_question(in, &key, ctl);
	else
		nint_receive_reply(in, &key, ctl);
	return true;
}
