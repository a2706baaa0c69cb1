// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_ldcp: the LDCP congestion control, sender and receiver, draft-dai-pfc-free-low-delay-control
 * (April 2021). The algorithm is in ldcp_sender.c and ldcp_receiver.h; this file connects it to the
 * TCP stack.
 *
 * cong_control() sets the window. The stack detects and repairs losses, sends every packet as ECT
 * (TCP_CONG_NEEDS_ECN; output.c makes first-RTT packets Not-ECT), and has a pacing timer. Windows
 * below one packet use this timer: we set the time at which the next packet may be sent.
 */
#include "tcp_ldcp.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* After this number of consecutive timeouts, suspect that the path drops ECT packets. */
#define LDCP_TIMEOUTS_MAX	3

static unsigned int ldcp_net_id;
static struct tcp_congestion_ops ldcp_ops, ldcp_reno;

static struct ldcp_net *ldcp_net(const struct net *net)
{
	return net_generic(net, ldcp_net_id);
}

/*
 * Restore the value that ldcp_start() lowered, for the stable stage or the next congestion control.
 */
static void ldcp_restore_reordering(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->reord_seen && tp->reordering == 1)
		hop_stack_set_reordering(sk, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering));
}

static void ldcp_release(struct sock *sk)
{
	/* A socket may close before init(), and is not locked then. */
	if (!hop_cc_has_started(sk))
		return;
	hop_stack_restore_bursts(sk);
	ldcp_restore_reordering(sk);
}

/*
 * Fall back to Reno: without ECN on the connection LDCP cannot work, and AccECN is handled by the
 * stack itself. If the path seems to drop ECT packets, the peer's packets may still be marked: the
 * stack echoes them as in RFC 3168, and output.c makes all of our packets Not-ECT.
 */
static void ldcp_fall_back(struct sock *sk)
{
	ldcp_release(sk);
	hop_stack_set_cc(sk, &ldcp_reno);
	if (!compat_ecn_ok(tcp_sk(sk)))
		hop_stack_forget_ecn(sk);
}

static struct ldcp_params ldcp_params(const struct sock *sk)
{
	const struct ldcp_knobs *k = &ldcp_net(sock_net(sk))->knobs;

	return (struct ldcp_params){
		.alpha = READ_ONCE(k->alpha.value),
		.beta = READ_ONCE(k->beta.value),
		.gamma = READ_ONCE(k->gamma.value),
		.eta = READ_ONCE(k->eta.value),
		.per_rtt = READ_ONCE(k->per_rtt),
	};
}

/* The first window is taken from the route, else from the sysctls, else from the stack. */
static u32 ldcp_first_window(struct sock *sk, const struct ldcp_sock *ls)
{
	const struct ldcp_knobs *k = &ldcp_net(sock_net(sk))->knobs;
	const struct ldcp_bdp bdp = {
		.bytes = READ_ONCE(k->bdp.bytes),
		.rate_mbit = READ_ONCE(k->bdp.rate_mbit),
		.rtt_us = READ_ONCE(k->bdp.rtt_us),
	};
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 pkts = dst ? dst_metric(dst, RTAX_INITCWND) : 0;

	if (!pkts)
		pkts = ldcp_first_pkts(&bdp, tcp_sk(sk)->srtt_us >> 3, hop_wire_bytes(sk),
				       ls->default_pkts);
	return clamp(pkts, 1U, tcp_sk(sk)->snd_cwnd_clamp);
}

static void ldcp_set(struct sock *sk, const struct ldcp_vars *v, u32 cwnd_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	hop_stack_set_cwnd(sk, cwnd_pkts);
	hop_stack_set_burst(sk, sk_can_gso(sk) ?
			    ldcp_burst_pkts(v, tp->srtt_us >> 3, tcp_min_rtt(tp)) : 1);
}

static void ldcp_start(struct sock *sk, struct ldcp_sock *ls)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/*
	 * Switches drop first-RTT packets on purpose, and often all but the last: its ACK alone
	 * must suffice to detect the loss. The stack raises this value if it sees reordering;
	 * otherwise it is restored when the first window is acknowledged or a loss is detected.
	 */
	if (!tp->reord_seen)
		hop_stack_set_reordering(sk, 1);
	ldcp_begin(&ls->v, ldcp_first_window(sk, ls), tp->delivered);
	ldcp_set(sk, &ls->v, hop_wnd_pkts(ls->v.cw, 1));
	trace_ldcp_enter(sk, &ls->v, false);
}

static void ldcp_init(struct sock *sk)
{
	struct ldcp_sock *ls = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	hop_stack_bound_cwnd(sk);
	/* After setsockopt() in SYN_SENT, the SYN-ACK may still refuse ECN. */
	if (sk->sk_state != TCP_SYN_SENT && !compat_ecn_rfc3168(tp)) {
		ldcp_fall_back(sk);
		return;
	}
	ls->receiver.rcv_nxt_seq = tp->rcv_nxt;
	ls->default_pkts = hop_cwnd_pkts(tp);
	/* Acknowledge each packet from the first one on, ECT or not. */
	if (READ_ONCE(ldcp_net(sock_net(sk))->knobs.ack_pkts) == 1)
		hop_stack_ack_each(sk, U8_MAX);
	hop_stack_start_pacing(sk);
	ldcp_start(sk, ls);
	/* A connection that switches to LDCP after it has sent data keeps its window. */
	if (tp->data_segs_out) {
		ls->v.cw = (u64)ls->default_pkts << HOP_WND_SHIFT;
		ls->v.stage = LDCP_STABLE;
		ldcp_restore_reordering(sk);
		ldcp_set(sk, &ls->v, ls->default_pkts);
	}
}

static void ldcp_echo(struct sock *sk, struct ldcp_receiver *r, bool ce)
{
	WRITE_ONCE(r->ce, ce);
	hop_stack_set_echo(sk, ce);
}

static void ldcp_receive(struct sock *sk, bool ce)
{
	struct ldcp_receiver *r = &((struct ldcp_sock *)inet_csk_ca(sk))->receiver;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 ack_pkts = READ_ONCE(ldcp_net(sock_net(sk))->knobs.ack_pkts);
	enum ldcp_answer answer = ldcp_classify(r, ce, tp->rcv_wup, ack_pkts);
	bool in_order = tp->rcv_nxt != r->rcv_nxt_seq;

	if (answer == LDCP_ACK_FLUSH) {
		ldcp_echo(sk, r, r->ce);
		compat_send_ack(sk, r->rcv_nxt_seq);
	}
	r->rcv_nxt_seq = tp->rcv_nxt;
	WRITE_ONCE(r->ece_seq, tp->rcv_nxt);
	ldcp_echo(sk, r, ce);
	if (answer == LDCP_ACK_AS_USUAL)
		return;
	/* The packet fills a hole, so RCV.NXT jumps: acknowledge the mark separately first. */
	if (ce && in_order && !RB_EMPTY_ROOT(&tp->out_of_order_queue))
		compat_send_ack(sk, tp->rcv_nxt);
	hop_stack_ack_now(sk, ICSK_ACK_SCHED | ICSK_ACK_NOW);
}

/* Runs after SND.UNA has moved, before the stack and cong_control() react. */
static void ldcp_in_ack_event(struct sock *sk, u32 flags)
{
	struct ldcp_sock *ls = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!hop_cc_has_started(sk))
		return;
	if (!compat_ecn_rfc3168(tp)) {
		ldcp_fall_back(sk);
		return;
	}
	ls->ack_ece = flags & CA_ACK_ECE;
	ls->tail_lost = tp->tlp_retrans && tp->tlp_high_seq &&
			after(tp->snd_una, tp->tlp_high_seq);
	/*
	 * On the fast path the packet's own data is already queued, and the ACK for its mark is
	 * pending.
	 */
	if (inet_csk(sk)->icsk_ack.pending & ICSK_ACK_NOW)
		return;
	/*
	 * On the slow path an ACK is processed before its data is queued: tp->rcv_nxt is RCV.NXT
	 * before the packet, and a packet with a mark is no longer the last one.
	 */
	ls->receiver.rcv_nxt_seq = tp->rcv_nxt;
	ldcp_echo(sk, &ls->receiver, false);
}

static void ldcp_apply(struct sock *sk, const struct ldcp_vars *v, u8 state, u32 acked_pkts)
{
	ldcp_set(sk, v, hop_cc_repair_pkts(sk, state, hop_wnd_pkts(v->cw, 1), acked_pkts));
}

/* Window below one packet: set the time at which the next packet may be sent. */
static void ldcp_hold(struct sock *sk, const struct ldcp_vars *v)
{
	const u64 wait_ns = hop_hold(sk, v->cw, 1, hop_packet_rtt_us(tcp_sk(sk)));

	if (wait_ns)
		trace_ldcp_hold(sk, v->cw, wait_ns);
}

/*
 * The stack does not undo a loss that was detected while a mark had already reduced the window, nor
 * after a later mark: tcp_enter_cwr() clears undo_marker, an ECE clears prior_ssthresh. With LDCP's
 * frequent marks this would affect nearly every loss. If DSACKs report as many packets as were
 * retransmitted, and no packet waits for retransmission, no packet was lost.
 */
static void ldcp_check_dsacks(const struct sock *sk, struct ldcp_sock *ls)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 retrans_pkts = tp->total_retrans - ls->undo_retrans_pkts;

	if (retrans_pkts && !tp->lost_out &&
	    tp->dsack_dups - ls->undo_dsack_pkts >= retrans_pkts)
		ldcp_undo(&ls->v);
}

static void ldcp_enter(struct sock *sk, const struct ldcp_vars *v, bool loss)
{
	if (v->stage == LDCP_STABLE)
		ldcp_restore_reordering(sk);
	trace_ldcp_enter(sk, v, loss);
}

static void ldcp_acked(struct sock *sk, const struct rate_sample *rs)
{
	struct ldcp_sock *ls = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct ldcp_params p = ldcp_params(sk);
	struct ldcp_ack a = {
		.acked_pkts = rs->acked_sacked,
		.delivered_pkts = tp->delivered,
		.prior_pkts = rs->prior_delivered,
		.ece = ls->ack_ece,
		.limited = tcp_is_cwnd_limited(sk),
	};
	u8 stage = ls->v.stage;

	/* Without a rate sample, no packet was delivered. */
	if (!rs->prior_mstamp)
		a.prior_pkts = ls->v.round_pkts - 1;
	if (ls->v.undo_cut)
		ldcp_check_dsacks(sk, ls);
	ldcp_update(&ls->v, &p, &a);
	trace_ldcp_ack(sk, &a, &ls->v);
	if (ls->v.stage != stage)
		ldcp_enter(sk, &ls->v, false);
	ldcp_apply(sk, &ls->v, inet_csk(sk)->icsk_ca_state, a.acked_pkts);
	if (ls->v.cw < HOP_WND_ONE && a.acked_pkts)
		ldcp_hold(sk, &ls->v);
}

/*
 * Restart as a new flow if the first window was not completely acknowledged yet, or if the flow was
 * idle for an RTO and its knowledge of the path is outdated.
 */
static void ldcp_resume(struct sock *sk)
{
	struct ldcp_sock *ls = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 idle_jiffies = tcp_jiffies32 - tp->lsndtime;

	if (tp->packets_out)
		return;
	if (ls->v.stage != LDCP_STABLE || idle_jiffies >= inet_csk(sk)->icsk_rto)
		ldcp_start(sk, ls);
}

/* undo_retrans counts packets that were retransmitted earlier and are still in flight. */
static void ldcp_begin_undo(struct sock *sk, struct ldcp_sock *ls)
{
	struct tcp_sock *tp = tcp_sk(sk);

	ldcp_forget(&ls->v);
	ls->undo_retrans_pkts = tp->total_retrans -
		(tp->undo_marker ? max_t(s32, tp->undo_retrans, 0) : tp->retrans_out);
	ls->undo_dsack_pkts = tp->dsack_dups;
	/*
	 * If a mark has reduced the window, the stack saves no ssthresh to restore and will not
	 * call undo_cwnd(). With the current ssthresh it does, and CWR remains pending.
	 */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_CWR)
		hop_stack_set_undo_ssthresh(sk, tp->snd_ssthresh);
}

static void ldcp_reduce(struct sock *sk, struct ldcp_sock *ls, bool timeout)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct ldcp_params p = ldcp_params(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/*
	 * These are the cases in which the stack saves its state for an undo; see tcp_enter_loss().
	 */
	if (icsk->icsk_ca_state < TCP_CA_Recovery ||
	    (icsk->icsk_ca_state == TCP_CA_Loss && !icsk->icsk_retransmits))
		ldcp_begin_undo(sk, ls);
	ldcp_lose(&ls->v, &p, tp->delivered, tp->delivered - tp->sacked_out, timeout);
	/* Retransmissions after a timeout need not wait for pacing. */
	if (timeout)
		hop_stack_hurry(sk, 0);
	ldcp_enter(sk, &ls->v, true);
}

static void ldcp_lost(struct sock *sk, u8 new_state)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	struct ldcp_sock *ls = inet_csk_ca(sk);
	u8 old_state = icsk->icsk_ca_state;

	if (new_state == TCP_CA_Loss && icsk->icsk_retransmits + 1 >= LDCP_TIMEOUTS_MAX) {
		ldcp_fall_back(sk);
	} else if (new_state == TCP_CA_Loss) {
		ldcp_reduce(sk, ls, true);
	} else if (new_state == TCP_CA_Recovery && old_state < TCP_CA_Recovery) {
		ldcp_reduce(sk, ls, false);
		/* If a timer detects the loss, it retransmits before cong_control() runs again. */
		ldcp_apply(sk, &ls->v, TCP_CA_Recovery, 0);
		ldcp_hold(sk, &ls->v);
	} else if (new_state == TCP_CA_CWR && ls->tail_lost) {
		/* Once: with ECE on the same ACK, TCP_CA_CWR comes again for the mark. */
		ls->tail_lost = false;
		ldcp_reduce(sk, ls, false);
		/* The probe was sent before: only its own DSACK shows that nothing was lost. */
		ls->undo_retrans_pkts = tcp_sk(sk)->total_retrans - 1;
	}
}

static const struct hop_cc_law ldcp_law = {
	.ack		= ldcp_acked,
	.resume		= ldcp_resume,
	.lost		= ldcp_lost,
	.receive	= ldcp_receive,
};

HOP_CC_LAW(ldcp, ldcp_law)

/* The loss was spurious. */
static u32 ldcp_undo_cwnd(struct sock *sk)
{
	struct ldcp_sock *ls = inet_csk_ca(sk);

	ldcp_undo(&ls->v);
	return hop_wnd_pkts(ls->v.cw, 1);
}

/* ss shows cw / RTT, the minimum RTT, cw and enum ldcp_stage. */
static size_t ldcp_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct ldcp_sock *ls = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct hop_cc_shown shown = {};
	u64 cw;

	if (READ_ONCE(inet_csk(sk)->icsk_ca_ops) == &ldcp_ops) {
		cw = hop_peek(ls->v.cw);
		shown = (struct hop_cc_shown){
			.bytes_ps = hop_wnd_bytes_ps(cw, hop_peek(tp->mss_cache),
						     hop_peek(tp->srtt_us) >> 3),
			/* Like hop_peek(): TCP may be writing the value. */
			.rtt_us = data_race(tcp_min_rtt(tp)),
			.gain = cw >> (HOP_WND_SHIFT - HOP_CC_INFO_SHIFT),
			.state = hop_peek(ls->v.stage) << HOP_CC_INFO_SHIFT,
		};
	}
	return hop_cc_show(&shown, ext, attr, info);
}

static struct tcp_congestion_ops ldcp_ops __read_mostly = {
	.release	= ldcp_release,
	.in_ack_event	= ldcp_in_ack_event,
	/* The stack requires a value, but ldcp_acked() ignores it. */
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= ldcp_undo_cwnd,
	.get_info	= ldcp_get_info,
	.flags		= TCP_CONG_NEEDS_ECN,
	HOP_CC_LAW_OPS(ldcp, "ldcp"),
};

static struct tcp_congestion_ops ldcp_reno __read_mostly =
	HOP_CC_RENO("ldcp-reno", .get_info = ldcp_get_info);

/* proc_handler of a struct ldcp_gain */
static int ldcp_set_gain(compat_ctl_table *table, int write, void *buffer, size_t *len, loff_t *pos)
{
	struct ldcp_gain *gain = container_of(table->data, struct ldcp_gain, ppm);
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (!err && write)
		WRITE_ONCE(gain->value, hop_wnd_of_ppm(READ_ONCE(gain->ppm)));
	return err;
}

#define LDCP_KNOB(name, member, low, high) \
	HOP_SYSCTL_NUMBER("tcp_ldcp_" name, struct ldcp_net, knobs.member, low, high)

#define LDCP_GAIN(name, member, low, high) \
	HOP_SYSCTL("tcp_ldcp_" name, 0644, struct ldcp_net, knobs.member.ppm, ldcp_set_gain, \
		   hop_sysctl_bound(low), hop_sysctl_bound(high))

static const struct ctl_table ldcp_table[] = {
	LDCP_GAIN("alpha_ppm", alpha, 1, HOP_PPM),
	LDCP_GAIN("beta_ppm", beta, 1, HOP_PPM),
	LDCP_GAIN("gamma_ppm", gamma, LDCP_GAMMA_MIN_PPM, HOP_PPM),
	LDCP_GAIN("eta_ppm", eta, 1, HOP_PPM - 1),
	LDCP_KNOB("per_rtt", per_rtt, 0, 1),
	LDCP_KNOB("ack_pkts", ack_pkts, 1, 2),
	LDCP_KNOB("bdp_bytes", bdp.bytes, 0, LDCP_BDP_MAX_BYTES),
	LDCP_KNOB("rate_mbit", bdp.rate_mbit, 0, LDCP_RATE_MAX_MBIT),
	LDCP_KNOB("rtt_us", bdp.rtt_us, 0, HOP_RTT_MAX_US),
	{ }
};

#define LDCP_DEFAULT(ppm_) { .ppm = (ppm_), .value = HOP_WND_OF_PPM(ppm_) }

static const struct ldcp_knobs ldcp_defaults = {
	.alpha = LDCP_DEFAULT(LDCP_ALPHA_DEFAULT_PPM),
	.beta = LDCP_DEFAULT(LDCP_BETA_DEFAULT_PPM),
	.gamma = LDCP_DEFAULT(LDCP_GAMMA_DEFAULT_PPM),
	.eta = LDCP_DEFAULT(LDCP_ETA_DEFAULT_PPM),
	.ack_pkts = 1,
};

HOP_CC_MODULE(ldcp, .reno = &ldcp_reno, .output = ldcp_output);

MODULE_DESCRIPTION("LDCP (draft-dai-pfc-free-low-delay-control)");
