// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_dctcp_ms: DCTCP as in draft-bensley-tcpm-dctcp-01. The algorithm is in dctcp_sender.c and
 * dctcp_receiver.h; this file connects it to the TCP stack.
 *
 * The stack sets ECT on every packet (TCP_CONG_NEEDS_ECN), sends the CWR flag, limits reductions to
 * one per window (TCP_CA_CWR), and runs the delayed-ACK timer. The receiver controls ECE on its
 * ACKs with TCP_ECN_DEMAND_CWR.
 *
 * Deviation: with AccECN (7.x, off by default) ECE has another meaning, and the stack itself
 * implements the receiver.
 */
#include <hopcc/core/hop_cc.h>

#include "dctcp_receiver.h"
#include "dctcp_sender.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Maximum of net.hopcc.tcp_dctcp_ms_rtt_max_us */
#define DCTCP_RTT_MAX_US	10000000U
#define DCTCP_RTT_DEFAULT_US	10000U

/* ss shows alpha in units of 1/1024. */
#define DCTCP_INFO_ALPHA_SHIFT	10

struct dctcp_sock {
	struct dctcp_vars sender;
	struct dctcp_receiver receiver;
	enum dctcp_law law;
	u32 mark_pkts;	/* ssthresh after a mark, before a loss reduced it further; 0: none */
	u32 tail_end_seq;	/* SND.NXT when @tail_cut was set */
	bool ack_ece;	/* the last ACK processed had ECE */
	bool tail_lost;	/* the ACK was for data beyond a loss probe's, which repaired a lost tail */
	bool tail_cut;	/* cwnd was halved for a lost tail; true until the window ends */
};

struct dctcp_knobs {
	unsigned int rtt_max_us;
};

struct dctcp_net {
	struct hop_sysctl sysctl;
	struct dctcp_knobs knobs;
};

static unsigned int dctcp_net_id;
static struct tcp_congestion_ops dctcp_reno;

/*
 * Select the reaction by the minimum RTT: at the first sample, and again once per window on a
 * connection whose RTTs were high so far.
 */
static void dctcp_choose(const struct sock *sk, struct dctcp_sock *ds)
{
	const struct dctcp_net *dn = net_generic(sock_net(sk), dctcp_net_id);

	WRITE_ONCE(ds->law, dctcp_choose_law(tcp_min_rtt(tcp_sk(sk)),
					     READ_ONCE(dn->knobs.rtt_max_us)));
}

/*
 * The first RTT sample is usually the handshake's, which init() finds; if SYN or SYN-ACK was
 * retransmitted, it is that of the first data.
 */
static void dctcp_decide(struct sock *sk, struct dctcp_sock *ds)
{
	if (!compat_ecn_ok(tcp_sk(sk))) {
		/* Without ECN on the connection DCTCP cannot work. */
		hop_stack_set_cc(sk, &dctcp_reno);
		hop_stack_forget_ecn(sk);
	} else if (tcp_sk(sk)->srtt_us) {
		dctcp_choose(sk, ds);
	}
}

static void dctcp_init(struct sock *sk)
{
	struct dctcp_sock *ds = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	hop_stack_bound_cwnd(sk);
	dctcp_start(&ds->sender, tp->snd_una);
	ds->receiver.rcv_nxt_seq = tp->rcv_nxt;
	/* After setsockopt() in SYN_SENT, the SYN-ACK may still refuse ECN. */
	if (sk->sk_state != TCP_SYN_SENT)
		dctcp_decide(sk, ds);
}

/* "When sending an ACK, the ECE flag MUST be set if and only if DCTCP.CE is true." */
static void dctcp_receive(struct sock *sk, bool ce)
{
	struct dctcp_receiver *r = &((struct dctcp_sock *)inet_csk_ca(sk))->receiver;
	struct tcp_sock *tp = tcp_sk(sk);
	enum dctcp_ack ack = dctcp_classify_packet(r, ce, tp->rcv_wup);

	if (ack == DCTCP_ACK_FLUSH) {
		hop_stack_set_echo(sk, r->ce);
		compat_send_ack(sk, r->rcv_nxt_seq);
	}
	if (ack != DCTCP_ACK_AS_USUAL)
		hop_stack_ack_now(sk, ICSK_ACK_NOW);

	/* The stack has already queued this packet's data if it was in order. */
	r->rcv_nxt_seq = tp->rcv_nxt;
	WRITE_ONCE(r->ce, ce);
	hop_stack_set_echo(sk, ce);
}

static void dctcp_estimate(struct sock *sk, struct dctcp_sock *ds)
{
	struct dctcp_vars *v = &ds->sender;
	const struct tcp_sock *tp = tcp_sk(sk);

	WRITE_ONCE(v->alpha, dctcp_update_alpha(v));
	trace_dctcp_ms_update(sk, v->alpha, v->sent_bytes, v->marked_bytes,
			      tcp_snd_cwnd(tp), ds->law == DCTCP_LAW_DCTCP);
	dctcp_next_window(v, tp->snd_nxt);
	if (ds->law == DCTCP_LAW_CONVENTIONAL)
		dctcp_choose(sk, ds);
	if (ds->tail_cut && after(tp->snd_una, ds->tail_end_seq))
		ds->tail_cut = false;
}

/* Runs after SND.UNA has moved and before the stack reacts to ECE. */
static void dctcp_in_ack_event(struct sock *sk, u32 flags)
{
	struct dctcp_sock *ds = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!hop_cc_has_started(sk))
		return;
	if (ds->law == DCTCP_LAW_UNDECIDED) {
		dctcp_decide(sk, ds);
		if (inet_csk(sk)->icsk_ca_ops == &dctcp_reno)
			return;
	}

	ds->ack_ece = flags & CA_ACK_ECE;
	ds->tail_lost = tp->tlp_retrans && tp->tlp_high_seq &&
			after(tp->snd_una, tp->tlp_high_seq);
	dctcp_account_ack(&ds->sender, tp->snd_una, ds->ack_ece);
	if (dctcp_window_over(&ds->sender))
		dctcp_estimate(sk, ds);

	/*
	 * On the slow path an ACK is processed before its data is queued: tp->rcv_nxt is RCV.NXT
	 * before the packet, even after reordering. The stack has taken a CWR flag for the end of
	 * ECE, as in RFC 3168: undo this.
	 */
	ds->receiver.rcv_nxt_seq = tp->rcv_nxt;
	hop_stack_set_echo(sk, ds->receiver.ce);
}

/*
 * Return: true if cwnd was halved in this window for a lost tail that a loss probe repaired. The
 * stack leaves TCP_CA_CWR immediately afterwards, and would reduce the window again for ECE on the
 * same ACK.
 */
static bool dctcp_has_cut_tail(const struct dctcp_sock *ds, const struct tcp_sock *tp)
{
	return ds->tail_cut && !after(tp->snd_una, ds->tail_end_seq);
}

/*
 * Called at the start of each reduction; the stack allows one per window. The stack enters
 * TCP_CA_CWR both for a mark and for a tail that a loss probe repaired: distinguish them here.
 */
static u32 dctcp_ssthresh(struct sock *sk)
{
	struct dctcp_sock *ds = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tcp_snd_cwnd(tp);
	bool mark = ds->ack_ece && !ds->tail_lost && ds->law == DCTCP_LAW_DCTCP;
	u32 to_pkts;

	ds->mark_pkts = 0;
	if (dctcp_has_cut_tail(ds, tp))
		return max(cwnd_pkts, DCTCP_CWND_MIN_PKTS);
	ds->tail_cut = ds->tail_lost;
	ds->tail_end_seq = tp->snd_nxt;
	to_pkts = mark ? dctcp_cwnd_after_mark(cwnd_pkts, ds->sender.alpha) :
			 dctcp_cwnd_after_loss(cwnd_pkts);
	trace_dctcp_ms_reduce(sk, !ds->ack_ece || ds->tail_lost, cwnd_pkts, to_pkts);
	return to_pkts;
}

/*
 * A loss halves the window from the start of the reduction. If a mark started the reduction, this
 * replaces the mark's; if a loss started it, nothing changes.
 */
static void dctcp_react_to_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 to_pkts = dctcp_cwnd_after_loss(tp->prior_cwnd);

	if (to_pkts >= tp->snd_ssthresh || dctcp_has_cut_tail(inet_csk_ca(sk), tp))
		return;
	trace_dctcp_ms_reduce(sk, true, tp->prior_cwnd, to_pkts);
	hop_stack_set_ssthresh(sk, to_pkts);
}

/*
 * A loss in a window that a mark has already reduced. The stack saves no state to restore if the
 * loss proves spurious: provide the window after the mark's reduction.
 */
static void dctcp_deepen(struct sock *sk)
{
	struct dctcp_sock *ds = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mark_pkts = tp->snd_ssthresh;

	dctcp_react_to_loss(sk);
	if (tp->snd_ssthresh == mark_pkts)
		return;
	ds->mark_pkts = mark_pkts;
	hop_stack_set_undo_ssthresh(sk, mark_pkts);
}

static void dctcp_lost(struct sock *sk, u8 new_state)
{
	if (new_state < TCP_CA_Recovery)
		return;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_CWR)
		dctcp_deepen(sk);
	else if (inet_csk(sk)->icsk_ca_state < TCP_CA_CWR)
		dctcp_react_to_loss(sk);
}

static u32 dctcp_undo_cwnd(struct sock *sk)
{
	const struct dctcp_sock *ds = inet_csk_ca(sk);

	if (ds->mark_pkts)
		return max(tcp_snd_cwnd(tcp_sk(sk)), ds->mark_pkts);
	return tcp_reno_undo_cwnd(sk);
}

static const struct hop_cc_law dctcp_ms_law = {
	.lost		= dctcp_lost,
	.timeout	= dctcp_react_to_loss,
	.receive	= dctcp_receive,
};

HOP_CC_EVENTS(dctcp, dctcp_ms_law)

/* ss calls this without the socket lock. */
static size_t dctcp_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct dctcp_sock *ds = inet_csk_ca(sk);

	if (!hop_cc_is_asked(ext, INET_DIAG_DCTCPINFO))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	if (READ_ONCE(inet_csk(sk)->icsk_ca_ops) != &dctcp_reno &&
	    hop_peek(ds->law) == DCTCP_LAW_DCTCP) {
		info->dctcp.dctcp_enabled = 1;
		info->dctcp.dctcp_ce_state = hop_peek(ds->receiver.ce);
		info->dctcp.dctcp_alpha = hop_peek(ds->sender.alpha) >>
					  (DCTCP_ALPHA_SHIFT - DCTCP_INFO_ALPHA_SHIFT);
		info->dctcp.dctcp_ab_ecn = hop_peek(ds->sender.marked_bytes);
		info->dctcp.dctcp_ab_tot = hop_peek(ds->sender.sent_bytes);
	}
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

static struct tcp_congestion_ops dctcp_ops __read_mostly = {
	.in_ack_event	= dctcp_in_ack_event,
	.ssthresh	= dctcp_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= dctcp_undo_cwnd,
	.get_info	= dctcp_get_info,
	.flags		= TCP_CONG_NEEDS_ECN,
	HOP_CC_EVENTS_OPS(dctcp, "dctcp_ms"),
};

static struct tcp_congestion_ops dctcp_reno __read_mostly =
	HOP_CC_RENO("dctcp_ms-reno", .get_info = dctcp_get_info);

static const struct ctl_table dctcp_table[] = {
	HOP_SYSCTL_NUMBER("tcp_dctcp_ms_rtt_max_us", struct dctcp_net, knobs.rtt_max_us, 0,
			  DCTCP_RTT_MAX_US),
	{ }
};

static const struct dctcp_knobs dctcp_defaults = { .rtt_max_us = DCTCP_RTT_DEFAULT_US };

HOP_CC_MODULE(dctcp, .reno = &dctcp_reno);

MODULE_DESCRIPTION("DCTCP (draft-bensley-tcpm-dctcp-01)");
