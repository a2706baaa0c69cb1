// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_csig: congestion control by CSIG, draft-ravi-ippm-csig-01 section 8. The algorithm is in
 * csig_sender.c, signals.c reads the network's signals from net_csig_tag, and this file connects
 * the algorithm to the TCP stack.
 *
 * cong_control() owns window and pacing rate. The stack still finds and repairs losses. While no
 * hop reports, until the peer has answered, and for good if it does not support CSIG, the stack's
 * Reno owns the window.
 */
#include <linux/hash.h>

#include "tcp_csig.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static unsigned int tcsig_net_id;
static struct tcp_congestion_ops tcsig_ops, tcsig_blind;
static const struct hop_cc tcsig_cc;

static struct tcsig_net *tcsig_net(const struct net *net)
{
	return net_generic(net, tcsig_net_id);
}

/* RTT to which the window refers. */
static u32 tcsig_window_rtt_us(const struct sock *sk, const struct tcsig_sock *cs)
{
	const u32 rtt_us = hop_packet_rtt_us(tcp_sk(sk)), least_us = tcp_min_rtt(tcp_sk(sk));

	if (cs->v.cw >= TCSIG_FLIGHT_PKTS * TCSIG_ONE || least_us == ~0U)
		return rtt_us;
	return tcsig_hold_rtt_us(least_us, rtt_us, cs->reported->base_ns);
}

/* For the next round: target delay, increase, and maximum burst. */
static void tcsig_set_target(const struct sock *sk, struct tcsig_sock *cs)
{
	struct tcsig_reported *reported = cs->reported;
	const u32 rtt_us = tcsig_window_rtt_us(sk, cs);
	const u64 period_ns = tcsig_period_ns(cs->v.cw, rtt_us);
	const u64 packet_ns = tcsig_packet_ns(&reported->port, hop_wire_bytes(sk), period_ns);

	reported->base_ns = tcsig_base_ns(READ_ONCE(cs->net->knobs.target_ns), packet_ns);
	if (reported->inferred && !reported->port.kbit_ps)
		reported->target_ns = tcsig_inferred_target_ns(reported->base_ns, period_ns);
	else
		reported->target_ns = tcsig_hop_target_ns(reported->base_ns, packet_ns, period_ns);
	reported->ai = tcsig_ai((u64)rtt_us * NSEC_PER_USEC, reported->base_ns);
	reported->burst_limit_pkts = tcsig_burst_limit_pkts(reported->base_ns, period_ns);
}

/*
 * While a transfer seeks, its packets are to ask for each signal, and a GSO packet asks for one.
 * Without a carrier, or on a path that strips tags, nothing asks.
 */
static bool tcsig_asks(const struct tcsig_sock *cs)
{
	return ctag_flow_is_fed(cs->reported->flow);
}

/* The latest delays are more than half the target: the path has a queue. */
static bool tcsig_meets_queue(const struct tcsig_sock *cs)
{
	return cs->hop && max_t(u64, cs->v.worst_ns, cs->v.delay_ns) > cs->reported->base_ns / 2;
}

/* Three round trips after a start: a hop that reports anything has reported by then. */
#define TCSIG_BLIND_PKTS 64

static u32 tcsig_burst_pkts(const struct sock *sk, const struct tcsig_sock *cs)
{
	u32 pkts;

	if (!sk_can_gso(sk) || (cs->v.stage == TCSIG_SEEK && tcsig_asks(cs)))
		return 1;
	pkts = hop_burst_pkts(hop_wnd_pkts(cs->v.cw, 1), HOP_PATH_BUSY, 0, 0);
	if (pkts > TCSIG_BURST_MIN_PKTS && tcsig_meets_queue(cs))
		pkts = min(pkts, cs->reported->burst_limit_pkts);
	return pkts;
}

/* Return: the device's limit; U64_MAX: none is known. */
static u64 tcsig_limit_bytes_ps(const struct tcsig_sock *cs)
{
	return cs->line_mbit ? (u64)cs->line_mbit * TCSIG_BYTES_PER_MBIT : U64_MAX;
}

/* Sets window, maximum GSO size and pacing rate from the algorithm's state. */
static void tcsig_set_socket(struct sock *sk, const struct tcsig_sock *cs, u32 cwnd_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 rtt_us = tcsig_pace_rtt_us(tcp_min_rtt(tp), tp->srtt_us >> 3, cs->v.delay_ns);
	u64 bytes_ps;

	hop_stack_set_cwnd(sk, cwnd_pkts);
	hop_stack_set_burst(sk, tcsig_burst_pkts(sk, cs));
	if (!rtt_us)
		return;
	bytes_ps = tcsig_pace_bytes_ps(&cs->v, hop_cc_mss_bytes(sk), rtt_us);
	bytes_ps = hop_cc_guard_pace_bytes_ps(sk, &cs->reported->guard, bytes_ps);
	hop_stack_set_pace(sk, bytes_ps, tcsig_limit_bytes_ps(cs));
}

/*
 * A window of 3.25 packets is 4 packets for a quarter of the ACKs, and 3 for the others. If it were
 * 3 or 4 all the time, the queue would be a packet too short or too long for many round trips.
 */
static u32 tcsig_cwnd_pkts(const struct sock *sk, const struct tcsig_sock *cs)
{
	const u32 part = (tcp_sk(sk)->delivered * GOLDEN_RATIO_32) >> (32 - TCSIG_SHIFT);
	const u32 cwnd_pkts = hop_wnd_pkts(cs->v.cw + part, TCSIG_FLIGHT_PKTS);

	return hop_guard_bound(&cs->reported->guard, cwnd_pkts);
}

/*
 * @state: TCP_CA_*; @acked_pkts: packets that this ACK delivered. The first retransmission must not
 * wait for packets that the last cut left in flight, and that may be lost as well.
 */
static void tcsig_apply(struct sock *sk, const struct tcsig_sock *cs, u8 state, u32 acked_pkts)
{
	tcsig_set_socket(sk, cs,
			 hop_cc_repair_pkts(sk, state, tcsig_cwnd_pkts(sk, cs), acked_pkts));
}

static void tcsig_end_round(const struct sock *sk, struct tcsig_sock *cs)
{
	const struct hop_speed speed = hop_sock_speed(sk);

	cs->line_mbit = speed.limits ? speed.mbit : 0;
	tcsig_set_target(sk, cs);
	tcsig_shares_turn(&cs->reported->shares);
	tcsig_note_full(cs);
}

/* Shows another name, unless another module, which calls these functions, has put its own here. */
static void tcsig_rename(struct sock *sk, const struct tcp_congestion_ops *from,
			 const struct tcp_congestion_ops *to)
{
	if (inet_csk(sk)->icsk_ca_ops == from)
		hop_stack_set_cc(sk, to);
}

static void tcsig_init(struct sock *sk)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	hop_stack_bound_cwnd(sk);
	if (hop_cc_waits_for_repair(sk, &tcsig_cc))
		return;
	cs->net = tcsig_net(sock_net(sk));
	if (!tcsig_open(sk, cs)) {
		hop_cc_wait(sk, &tcsig_cc, ctag_flow_ask(sk));
		return;
	}
	cs->init_pkts = min_t(u32, tcp_snd_cwnd(tp), U16_MAX);
	cs->busy_us = tp->tcp_mstamp;
	hop_stack_set_ssthresh(sk, TCP_INFINITE_SSTHRESH);
	hop_stack_start_pacing(sk);
	tcsig_begin(&cs->v, (u64)cs->init_pkts << TCSIG_SHIFT, TCSIG_WND_MAX, tp->delivered);
	tcsig_end_round(sk, cs);
	tcsig_apply(sk, cs, TCP_CA_Open, 0);
}

/* Leaves the socket in a state that another congestion control can use. */
static void tcsig_release(struct sock *sk)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);

	/* A socket may close before init(). */
	if (!cs->reported)
		return;
	tcsig_close(sk, cs);
	hop_stack_restore_bursts(sk);
	/* A socket that is disconnected keeps its functions, and asks by their name. */
	tcsig_rename(sk, &tcsig_blind, &tcsig_ops);
}

/* Section 8.2.1: chooses another hash and so, where paths are chosen by hashes, another path. */
static void tcsig_choose_path(struct sock *sk, struct tcsig_sock *cs, u64 target_ns,
			      const struct tcsig_ack *a, u32 round_least_ns, bool turned)
{
	const u32 wanted = READ_ONCE(cs->net->knobs.move_rounds);
	struct tcsig_reported *reported = cs->reported;
	/* The bottleneck if another path could avoid it, otherwise 0. */
	const u32 core = tcsig_is_core(cs->net->knobs.edge, reported->locator) ?
			 reported->locator : 0;

	if (turned)
		tcsig_path_round(&reported->path, target_ns, round_least_ns, core);
	if (!wanted ||
	    !tcsig_path_receive(&reported->path, target_ns, a, core, wanted, sk->sk_txhash))
		return;
	trace_csig_move(sk, reported->locator, cs->v.delay_ns, reported->path.tries);
	reported->moved_seq = tcp_sk(sk)->snd_nxt;
	sk_rethink_txhash(sk);
	reported->port = (struct tcsig_port){};
	/* ACKs of packets that were sent before report the path that was left. */
	tcsig_begin_round(&cs->v, a->delivered_pkts);
}

static void tcsig_maybe_move(struct sock *sk, struct tcsig_sock *cs, const struct tcsig_ack *a,
			     u32 round_least_ns, bool turned)
{
	struct tcsig_reported *reported = cs->reported;

	if (reported->path.waits && !before(tcp_sk(sk)->snd_una, reported->moved_seq))
		tcsig_path_settle(&reported->path);
	if (READ_ONCE(cs->net->knobs.move_rounds))
		tcsig_choose_path(sk, cs, reported->base_ns, a, round_least_ns, turned);
}

static void tcsig_receive_signals(struct sock *sk, struct tcsig_sock *cs,
				  const struct tcsig_ack *a)
{
	const struct tcsig_params p = {
		.target_ns = cs->reported->target_ns,
		.ai = cs->reported->ai,
		.rtt_ns = (u64)min(tcp_sk(sk)->srtt_us >> 3, HOP_RTT_MAX_US) * NSEC_PER_USEC,
	};
	const u32 least_ns = cs->v.least_ns;
	const u8 stage = cs->v.stage;
	const bool turned = tcsig_receive(&cs->v, &p, a);

	if (turned)
		tcsig_end_round(sk, cs);
	if (cs->line_mbit)
		tcsig_bound(&cs->v, tcsig_line(sk, cs, tcp_sk(sk)->srtt_us >> 3));
	trace_csig_ack(sk, a, cs);
	if (cs->v.stage != stage)
		trace_csig_enter(sk, &cs->v, false);
	tcsig_maybe_move(sk, cs, a, least_ns, turned);
}

/* While no hop reports */
static void tcsig_run_reno(struct sock *sk, struct tcsig_sock *cs, const struct rate_sample *rs,
			   const struct tcsig_ack *a)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	hop_cc_run_reno(sk, rs, tcsig_limit_bytes_ps(cs));
	tcsig_follow(&cs->v, (u64)hop_cwnd_pkts(tp) << TCSIG_SHIFT, tcp_in_slow_start(tp));
	tcsig_bound(&cs->v, tcsig_line(sk, cs, tp->srtt_us >> 3));
	hop_stack_set_cwnd(sk, min(hop_cwnd_pkts(tp), hop_wnd_pkts(cs->v.cw, TCSIG_FLIGHT_PKTS)));
	if (hop_round_ended(sk, rs, &cs->v.round_pkts)) {
		tcsig_end_round(sk, cs);
		if (tp->delivered >= TCSIG_BLIND_PKTS)
			tcsig_rename(sk, &tcsig_ops, &tcsig_blind);
	}
	hop_stack_set_burst(sk, tcsig_burst_pkts(sk, cs));
	trace_csig_ack(sk, a, cs);
}

/* Reno goes on from the algorithm's window, and the algorithm from Reno's. */
static void tcsig_set_hop(struct sock *sk, struct tcsig_sock *cs, bool hop)
{
	if (cs->hop == hop)
		return;
	WRITE_ONCE(cs->hop, hop);
	if (hop)
		tcsig_rename(sk, &tcsig_blind, &tcsig_ops);
	hop_stack_set_ssthresh(sk, hop || cs->v.stage == TCSIG_SEEK ? TCP_INFINITE_SSTHRESH :
				   tcp_snd_cwnd(tcp_sk(sk)));
}

static void tcsig_receive_ack(struct sock *sk, struct tcsig_sock *cs,
			      const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcsig_ack a = {
		.acked_pkts = rs->acked_sacked,
		.delivered_pkts = tp->delivered,
		.prior_pkts = rs->prior_delivered,
		/*
		 * With less than a flight, the timer limits sending instead of the stack's window.
		 */
		.limited = tcp_is_cwnd_limited(sk) || cs->v.cw < TCSIG_FLIGHT_PKTS * TCSIG_ONE,
	};

	/* No rate sample: nothing was delivered. */
	if (!rs->prior_mstamp)
		a.prior_pkts = cs->v.round_pkts - 1;
	tcsig_set_hop(sk, cs, tcsig_read(sk, cs, rs, &a));
	if (!READ_ONCE(cs->net->knobs.jump))
		a.has_free = false;
	if (cs->hop)
		tcsig_receive_signals(sk, cs, &a);
	else
		tcsig_run_reno(sk, cs, rs, &a);
}

/*
 * With less than a flight, the timer delays the next one. A sender that waits for it is not idle.
 */
static void tcsig_hold(struct sock *sk, struct tcsig_sock *cs)
{
	const u64 wait_ns = hop_hold(sk, cs->v.cw, TCSIG_FLIGHT_PKTS,
				     tcsig_window_rtt_us(sk, cs));

	if (!wait_ns)
		return;
	cs->busy_us += div_u64(wait_ns, NSEC_PER_USEC);
	trace_csig_hold(sk, cs->v.cw, wait_ns);
}

static void tcsig_control(struct sock *sk, struct tcsig_sock *cs, const struct rate_sample *rs)
{
	hop_cc_guard_ack(sk, &cs->reported->guard, rs, cs->reported->least_us,
			 div_u64(cs->reported->estimate.delay_ns, NSEC_PER_USEC));
	tcsig_apply(sk, cs, inet_csk(sk)->icsk_ca_state, rs->acked_sacked);
	if (rs->acked_sacked && cs->v.cw < TCSIG_FLIGHT_PKTS * TCSIG_ONE)
		tcsig_hold(sk, cs);
}

static void tcsig_acked(struct sock *sk, const struct rate_sample *rs)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	cs->busy_us = tp->tcp_mstamp;
	tcsig_receive_ack(sk, cs, rs);
	tcsig_count(sk, cs, cs->v.stage == TCSIG_SEEK && tp->packets_out);
	if (cs->hop)
		tcsig_control(sk, cs, rs);
}

/*
 * Like other congestion controls, and without CSIG, where slow start is needed to find the
 * bandwidth: after an RTO.
 */
static s32 tcsig_idle_us(const struct sock *sk, const struct tcsig_sock *cs)
{
	const u32 rounds = READ_ONCE(cs->net->knobs.idle_rounds);
	const u32 rto_us = min_t(u32, jiffies_to_usecs(inet_csk(sk)->icsk_rto), S32_MAX);

	if (!cs->hop || !rounds)
		return rto_us;
	return min_t(u64, (u64)(tcp_sk(sk)->srtt_us >> 3) * rounds, rto_us);
}

/*
 * Section 8.1.3: a transfer on a connection that has been idle for many RTTs starts like a new one,
 * because knowledge about the path is outdated.
 */
static void tcsig_begin_anew(struct sock *sk, struct tcsig_sock *cs)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	tcsig_begin(&cs->v, min(cs->v.cw, (u64)cs->init_pkts << TCSIG_SHIFT), TCSIG_WND_MAX,
		    tp->delivered);
	tcsig_apply(sk, cs, TCP_CA_Open, 0);
	trace_csig_enter(sk, &cs->v, false);
}

/*
 * With nothing in flight: returns true if the connection was idle for long enough. The end of a
 * hold may be yet to come.
 */
static bool tcsig_is_new_transfer(const struct sock *sk, const struct tcsig_sock *cs)
{
	return hop_idle_us(tcp_sk(sk), cs->busy_us) >= tcsig_idle_us(sk, cs);
}

static void tcsig_resume(struct sock *sk)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);

	if (tcp_sk(sk)->packets_out)
		return;
	if (tcsig_is_new_transfer(sk, cs))
		tcsig_begin_anew(sk, cs);
	tcsig_count(sk, cs, cs->v.stage == TCSIG_SEEK);
}

/*
 * The stack calls this function just before it reads sk_gso_max_segs and builds GSO packets.
 * CA_EVENT_TX_START would be too late: it comes with the first packet.
 */
static u32 tcsig_min_tso_segs(struct sock *sk)
{
	const struct tcsig_sock *cs = inet_csk_ca(sk);

	if (hop_cc_has_started(sk) && !tcp_sk(sk)->packets_out &&
	    tcsig_is_new_transfer(sk, cs) && tcsig_asks(cs))
		hop_stack_set_burst(sk, 1);
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

/*
 * A lost tail that a probe repaired cuts the window in TCP_CA_CWR, which the stack leaves at once.
 * With ECE on the same ACK it enters that state a second time, in the round that was cut just now.
 */
static bool tcsig_has_cut(const struct tcp_sock *tp, const struct tcsig_sock *cs, u8 new_state)
{
	return new_state == TCP_CA_CWR && cs->v.cut && cs->v.round_pkts == tp->delivered;
}

/* The window is reduced once, only from a state without loss. */
static void tcsig_lost(struct sock *sk, u8 new_state)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const bool timeout = new_state == TCP_CA_Loss;

	if (!timeout && inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	/* Retransmissions after a timeout are not delayed. */
	if (timeout)
		hop_stack_hurry(sk, 0);
	if (!cs->hop) {
		hop_cc_reno_lost(sk, new_state);
		return;
	}
	if (tcsig_has_cut(tp, cs, new_state))
		return;
	if (hop_cc_guard_lose(sk, &cs->reported->guard, cs->reported->least_us))
		ctag_flow_count_guarded(cs->reported->flow);
	tcsig_lose(&cs->v, tp->delivered, timeout);
	/*
	 * If the stack's timer detects the loss, it retransmits before cong_control() runs again.
	 */
	if (new_state == TCP_CA_Recovery)
		tcsig_apply(sk, cs, new_state, 0);
	trace_csig_enter(sk, &cs->v, true);
}

static void tcsig_calm(struct sock *sk, u8 new_state)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);

	if (!cs->hop)
		hop_cc_reno_calm(sk, new_state);
	if (new_state == TCP_CA_Open)
		cs->v.undo_cw = 0;
}

/* The algorithm uses no ssthresh, so the stack never leaves slow start while hops report. */
static u32 tcsig_ssthresh(struct sock *sk)
{
	const struct tcsig_sock *cs = inet_csk_ca(sk);

	return cs->hop ? TCP_INFINITE_SSTHRESH : tcp_reno_ssthresh(sk);
}

/* The loss was spurious. */
static u32 tcsig_undo_cwnd(struct sock *sk)
{
	struct tcsig_sock *cs = inet_csk_ca(sk);

	if (!cs->hop)
		return min(tcp_reno_undo_cwnd(sk), HOP_WND_MAX_PKTS);
	tcsig_undo(&cs->v);
	hop_guard_undo(&cs->reported->guard);
	return tcsig_cwnd_pkts(sk, cs);
}

/* ss shows the pacing rate, max(PD), cw, and enum tcsig_stage, plus 4 while no hop reports. */
static size_t tcsig_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct tcsig_sock *cs = inet_csk_ca(sk);
	const u32 stage = hop_peek(cs->v.stage) + (hop_peek(cs->hop) ? 0 : 4);
	struct hop_cc_shown shown = {
		.bytes_ps = hop_peek(sk->sk_pacing_rate),
		.rtt_us = div_u64(hop_peek(cs->v.delay_ns), NSEC_PER_USEC),
		.gain = hop_peek(cs->v.cw) >> (TCSIG_SHIFT - HOP_CC_INFO_SHIFT),
		.state = stage << HOP_CC_INFO_SHIFT,
	};
	const struct tcsig_reported *reported;

	rcu_read_lock();
	reported = READ_ONCE(cs->reported);
	shown.guarded = reported && hop_peek(reported->guard.wnd_pkts);
	rcu_read_unlock();
	return hop_cc_show(&shown, ext, attr, info);
}

static const struct hop_cc_law tcsig_law = {
	.ack		= tcsig_acked,
	.resume		= tcsig_resume,
	.lost		= tcsig_lost,
	.calm		= tcsig_calm,
};

HOP_CC_LAW(tcsig, tcsig_law)

#define TCSIG_OPS(name_) {							\
	.release	= tcsig_release,					\
	.ssthresh	= tcsig_ssthresh,					\
	.undo_cwnd	= tcsig_undo_cwnd,					\
	.get_info	= tcsig_get_info,					\
	.min_tso_segs	= tcsig_min_tso_segs,					\
	HOP_CC_LAW_OPS(tcsig, name_),						\
}

static struct tcp_congestion_ops tcsig_ops __read_mostly = TCSIG_OPS("csig");

/*
 * The same algorithm while no hop reports: ss shows that the connection is Reno. It is never
 * registered, since tcsig_reno has the name.
 */
static struct tcp_congestion_ops tcsig_blind __read_mostly = TCSIG_OPS("csig-reno");

HOP_CC_ASKING(tcsig, "csig", ctag_flow_ask);

/* The bounds are only checked here. */
#define TCSIG_KNOB(name, member, low, high) \
	HOP_SYSCTL_NUMBER("tcp_csig_" name, struct tcsig_net, knobs.member, low, high)

static const struct ctl_table tcsig_table[] = {
	TCSIG_KNOB("target_ns", target_ns, TCSIG_TARGET_MIN_NS, TCSIG_TARGET_MAX_NS),
	TCSIG_KNOB("jump", jump, 0, 1),
	TCSIG_KNOB("idle_rounds", idle_rounds, 0, TCSIG_IDLE_MAX_ROUNDS),
	TCSIG_KNOB("move_rounds", move_rounds, 0, TCSIG_MOVE_MAX_ROUNDS),
	TCSIG_KNOB("edges", edge, 0, U16_MAX),
	{ }
};

static const struct tcsig_knobs tcsig_defaults = {
	.target_ns = TCSIG_TARGET_DEFAULT_NS,
	.jump = 1,
	.idle_rounds = TCSIG_IDLE_DEFAULT_ROUNDS,
};

HOP_CC_MODULE(tcsig, .reno = &tcsig_reno, .asking = &tcsig_asking);

MODULE_DESCRIPTION("Congestion control by CSIG (draft-ravi-ippm-csig-01)");
