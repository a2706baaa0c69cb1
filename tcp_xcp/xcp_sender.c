// SPDX-License-Identifier: GPL-2.0
/*
 * The XCP sender, draft-falk-xcp-spec-00 sections 3.1.1, 3.1.3 and 4.1: the window follows the
 * feedback of the network, and each packet carries a demand for more or less throughput.
 *
 *	throughput = cwnd / RTT
 *	demand     = (desired - throughput) / packets in an RTT		per packet
 *	cwnd       = max(cwnd + feedback * RTT, MSS)			per ACK
 *	cwnd       = cwnd * (1 - p) + sent * p, p = 1/2		per RTT that did not fill it
 *
 * A round trip counts as below the window if the packets in flight never filled it, for any reason:
 * the application, the receiver's window, the send buffer, or a port of the host that other sockets
 * share. The reported throughput therefore soon approaches the rate that is really sent.
 *
 * The window is in bytes with 16 fractional bits: at low rates one packet's feedback is a fraction
 * of a byte. Ranges: window 0 to 2^44 bytes (1.6 Tbit/s for 88 s), RTT 1 us to 2^24 us (16 s),
 * throughput below 2^40 bytes/s (8.8 Tbit/s). Values from the network are clamped to these ranges.
 *
 * Deviations:
 * - Feedback raises the window no faster than slow start would. The limit is scaled by the minimum
 *   RTT / RTT, so that at twice the minimum the window stops growing: a port without XCP has a
 *   queue. If a router of XCP is known to be on the path, XCP_QUEUE_MAX_US is added to the minimum:
 *   that router drains its own queue.
 * - Section 3.1.3 prints cwnd + feedback * RTT * 1000 with feedback in bytes/s and RTT in ms, an
 *   error by a factor of 10^6. The code computes feedback * RTT.
 * - Section 4.1's "more restrictive over a round trip": both windows start a round with the same
 *   value, one follows the feedback, the other the end-to-end control. XCP resumes when the
 *   feedback's window is the smaller one at the end of the round, or after one round if the loss
 *   was random: a router reduces demands, and the RTT shows no queue of another port.
 * - The peer returns the feedback and may lie. The sum of all positive feedback is limited to the
 *   demands that were sent and not granted yet, and the window to XCP_MAX_RTTS round trips of the
 *   desired throughput. A sender that does not know its device's rate asks for at most
 *   XCP_ASK_MAX times its throughput.
 */
#include "xcp_sender.h"

/* Maximum desired rate, in current throughputs, if the device does not report its rate */
#define XCP_ASK_MAX		64U
/*
 * Maximum window in RTTs of the desired rate. More than one: a sender keeps asking while the first
 * answers are on their way.
 */
#define XCP_MAX_RTTS		2U
/* Queueing delay at a router of XCP, which flows with longer RTTs drain only within their RTTs. */
#define XCP_QUEUE_MAX_US	1000U
#define XCP_ASKED_MAX_BYTES_PS	BIT_ULL(60)
/* A window counts as filled if at most 1/4 is missing, since pacing, GSO and ACKs are bursty. */
#define XCP_LACK_SHIFT		2
#define XCP_LACK_PKTS		2U

/**
 * txcp_wnd_set() - set the window, clamped to its range
 * @v: the state
 * @wnd: bytes << XCP_WND_SHIFT
 * @mss_bytes: minimum window, bytes
 */
static void txcp_wnd_set(struct txcp_vars *v, s64 wnd, u32 mss_bytes)
{
	v->wnd = clamp_t(s64, wnd, (s64)mss_bytes << XCP_WND_SHIFT,
			 XCP_WND_MAX_BYTES << XCP_WND_SHIFT);
}

void txcp_start(struct txcp_vars *v, u64 cwnd_bytes, u32 mss_bytes)
{
	*v = (struct txcp_vars){};
	txcp_wnd_set(v, min(cwnd_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT, mss_bytes);
	v->round_wnd = v->wnd;
	v->filled_rounds = XCP_RAMP_ROUNDS;
}

void txcp_update_rtt(struct txcp_vars *v, u32 rtt_us)
{
	u32 rtt_8ths_us = (v->rtt_us << 3) - v->rtt_lack_8ths_us;
	s32 change_8ths_us = (s32)(rtt_us << 3) - (s32)rtt_8ths_us;

	if (!v->rtt_us)
		rtt_8ths_us = rtt_us << 3;
	else
		rtt_8ths_us += change_8ths_us > 0 ? (change_8ths_us + 7) >> 3 :
			       -((-change_8ths_us + 7) >> 3);
	v->rtt_us = (rtt_8ths_us + 7) >> 3;
	v->rtt_lack_8ths_us = (v->rtt_us << 3) - rtt_8ths_us;
}

u32 txcp_wnd_pkts(const struct txcp_vars *v, u32 mss_bytes)
{
	u64 bytes = (v->wnd + (1 << XCP_WND_SHIFT) - 1) >> XCP_WND_SHIFT;

	return clamp_t(u64, div_u64(bytes + mss_bytes - 1, mss_bytes), 1, S32_MAX);
}

u64 txcp_throughput_bytes_ps(u64 bytes, u32 rtt_us)
{
	if (!rtt_us)
		return 0;
	/* 2^44 * 10^6 = 2^63.9 */
	bytes = min(bytes, XCP_WND_MAX_BYTES);
	return min_t(u64, div_u64(bytes * XCP_US_PER_S + rtt_us - 1, rtt_us),
		     XCP_RATE_MAX_BYTES_PS);
}

s32 txcp_demand_bytes_ps(u64 desired_bytes_ps, u64 throughput_bytes_ps, u32 wnd_pkts)
{
	s64 change = min_t(u64, desired_bytes_ps, XCP_RATE_MAX_BYTES_PS);

	change -= throughput_bytes_ps;
	return clamp_t(s64, div_s64(change, clamp_t(u32, wnd_pkts, 1, S32_MAX)),
		       -XCP_DELTA_MAX_BYTES_PS, XCP_DELTA_MAX_BYTES_PS);
}

/**
 * txcp_apply_feedback() - change the window by the feedback (3.1.3)
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 * @mss_bytes: minimum window, bytes
 *
 * Without an RTT estimate the window does not change.
 */
static void txcp_apply_feedback(struct txcp_vars *v, s64 feedback_bytes_ps, u32 mss_bytes)
{
	const bool lowers = feedback_bytes_ps < 0;
	/* Negate as unsigned: -S64_MIN does not fit into s64. */
	const u64 rate_bytes_ps = min(lowers ? -(u64)feedback_bytes_ps : (u64)feedback_bytes_ps,
				      XCP_RATE_MAX_BYTES_PS);
	u32 rest;
	/* 2^40 * 2^24 / 10^6 * 2^16 = 2^60.1; in two steps to stay below 2^64 */
	s64 change = div_u64_rem(rate_bytes_ps * v->rtt_us, XCP_US_PER_S, &rest) << XCP_WND_SHIFT;

	change += div_u64((u64)rest << XCP_WND_SHIFT, XCP_US_PER_S);
	txcp_wnd_set(v, v->wnd + (lowers ? -change : change), mss_bytes);
}

struct txcp_limits txcp_get_limits(u64 speed_bytes_ps, bool limits, u64 app_bytes_ps,
				   u64 throughput_bytes_ps)
{
	const u64 rate_bytes_ps = speed_bytes_ps ?: XCP_RATE_MAX_BYTES_PS;
	struct txcp_limits l = {
		.desired_bytes_ps = app_bytes_ps == U64_MAX ? rate_bytes_ps : app_bytes_ps,
		.limit_bytes_ps = limits ? speed_bytes_ps : U64_MAX,
	};

	/* 2^40 * 2^6 fits; without an RTT the throughput is 0 and packets carry no demand. */
	if (!speed_bytes_ps && throughput_bytes_ps)
		l.desired_bytes_ps = min(l.desired_bytes_ps,
					 throughput_bytes_ps * XCP_ASK_MAX);
	l.desired_bytes_ps = min(l.desired_bytes_ps, l.limit_bytes_ps);
	return l;
}

u64 txcp_max_asked_bytes_ps(const struct txcp_vars *v, u64 throughput_bytes_ps)
{
	if (v->limited)
		return throughput_bytes_ps;
	if (!txcp_is_held(v))
		return U64_MAX;
	/* 2^40 * 2^7 */
	return throughput_bytes_ps + (throughput_bytes_ps << v->filled_rounds >> 3);
}

void txcp_ask(struct txcp_vars *v, u32 pkts, s32 demand_bytes_ps)
{
	/* 2^60 + 2^32 * 2^31 < 2^64 */
	if (demand_bytes_ps > 0)
		v->asked_bytes_ps = min(v->asked_bytes_ps + (u64)pkts * demand_bytes_ps,
					XCP_ASKED_MAX_BYTES_PS);
}

/* Take from @asked_bytes_ps as much as @feedback_bytes_ps grants, and return that amount. */
static u64 txcp_grant_from(u64 *asked_bytes_ps, u64 feedback_bytes_ps)
{
	const u64 granted_bytes_ps = min(*asked_bytes_ps, feedback_bytes_ps);

	*asked_bytes_ps -= granted_bytes_ps;
	return granted_bytes_ps;
}

/**
 * txcp_grant() - limit the feedback to the demands that were sent
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 *
 * The network may reduce the demand of a packet but never raises it, so a larger sum is a lie.
 *
 * Return: bytes/s; negative feedback is returned unchanged.
 */
static s64 txcp_grant(struct txcp_vars *v, s64 feedback_bytes_ps)
{
	u64 before_bytes_ps;

	if (feedback_bytes_ps <= 0)
		return feedback_bytes_ps;
	before_bytes_ps = txcp_grant_from(&v->asked_before_bytes_ps, feedback_bytes_ps);
	/* 2^60 + 2^60 */
	return before_bytes_ps +
	       txcp_grant_from(&v->asked_bytes_ps, feedback_bytes_ps - before_bytes_ps);
}

bool txcp_is_excess(const struct txcp_vars *v, s64 feedback_bytes_ps)
{
	/* 2^60 + 2^60 */
	return feedback_bytes_ps > (s64)(v->asked_before_bytes_ps + v->asked_bytes_ps);
}

void txcp_end_asking(struct txcp_vars *v, bool received)
{
	/* Half of the last round's demands or more were not granted: a router reduced them. */
	if (received && !v->reno && v->asked_before_bits &&
	    fls64(v->asked_before_bytes_ps) >= v->asked_before_bits)
		v->has_router = true;
	v->asked_before_bytes_ps = min((v->asked_before_bytes_ps >> received) + v->asked_bytes_ps,
				       XCP_ASKED_MAX_BYTES_PS);
	v->asked_before_bits = fls64(v->asked_before_bytes_ps);
	v->asked_bytes_ps = 0;
	v->round_wnd = v->wnd;
}

/**
 * txcp_max_wnd() - the maximum window that feedback may lead to
 * @v: the state
 * @l: the sender's limits
 *
 * Return: bytes << XCP_WND_SHIFT, at most XCP_WND_MAX_BYTES << XCP_WND_SHIFT.
 */
static u64 txcp_max_wnd(const struct txcp_vars *v, const struct txcp_limits *l)
{
	const u64 desired_bytes_ps = min(l->desired_bytes_ps, XCP_RATE_MAX_BYTES_PS);
	const u32 min_rtt_us = l->min_rtt_us + (v->has_router ? XCP_QUEUE_MAX_US : 0);
	/* 2^40 * 2^24 stays below 2^64, since both factors do; 2^64 / 10^6 * 2 < 2^46 */
	u64 bytes = div_u64(desired_bytes_ps * v->rtt_us, XCP_US_PER_S) * XCP_MAX_RTTS;

	/* 2^44 + 2^48 */
	bytes = min3(bytes, XCP_WND_MAX_BYTES,
		     max((v->round_wnd >> XCP_WND_SHIFT) + l->acked_bytes, l->start_bytes));
	if (l->min_rtt_us && v->rtt_us > min_rtt_us)
		bytes = mul_u64_u32_div(bytes, min_rtt_us, v->rtt_us);
	return bytes << XCP_WND_SHIFT;
}

bool txcp_receive(struct txcp_vars *v, s64 feedback_bytes_ps, u32 mss_bytes)
{
	const u64 wnd = v->wnd;

	txcp_apply_feedback(v, txcp_grant(v, feedback_bytes_ps), mss_bytes);
	return v->wnd > wnd;
}

void txcp_bound_growth(struct txcp_vars *v, const struct txcp_limits *l, u64 wnd)
{
	v->wnd = min(v->wnd, max(wnd, txcp_max_wnd(v, l)));
}

/**
 * txcp_is_filled() - did the packets in flight fill the window of this round?
 * @v: the state, before txcp_end_asking()
 * @mss_bytes: segment size, bytes
 *
 * The smaller of the windows at the start and at the end of the round counts.
 *
 * Return: true if they did.
 */
static bool txcp_is_filled(const struct txcp_vars *v, u32 mss_bytes)
{
	const u64 bytes = min(v->wnd, v->round_wnd) >> XCP_WND_SHIFT;

	return ((u64)v->in_flight_pkts + XCP_LACK_PKTS) * mss_bytes >=
	       bytes - (bytes >> XCP_LACK_SHIFT);
}

/* Section 3.1.3.1 with p = 1/2: reduce the window after a round that sent less than it. */
static void txcp_age(struct txcp_vars *v, u32 sent_pkts, u32 mss_bytes)
{
	const u64 sent = min((u64)sent_pkts * mss_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT;

	if (sent < v->wnd)
		txcp_wnd_set(v, (v->wnd >> 1) + (sent >> 1), mss_bytes);
}

void txcp_end_sending(struct txcp_vars *v, u32 sent_pkts, bool reno, u32 mss_bytes)
{
	const bool filled = reno || txcp_is_filled(v, mss_bytes);

	v->limited = v->app_limited || !filled;
	if (v->limited && !reno)
		txcp_age(v, sent_pkts, mss_bytes);
	/* A round that the application limited says nothing about the port. */
	if (!filled && !v->app_limited)
		v->filled_rounds = 0;
	else if (txcp_is_held(v))
		v->filled_rounds += filled;
	v->app_limited = false;
	v->in_flight_pkts = 0;
}

bool txcp_restart(struct txcp_vars *v)
{
	const bool changed = v->limited || v->filled_rounds != XCP_RAMP_ROUNDS;

	v->limited = false;
	v->filled_rounds = XCP_RAMP_ROUNDS;
	return changed;
}

void txcp_age_idle(struct txcp_vars *v, u64 idle_us, u32 init_bytes, u32 mss_bytes)
{
	u64 rounds = v->rtt_us ? div_u64(idle_us, v->rtt_us) : 0;
	u64 floor = min_t(u64, v->wnd, (u64)init_bytes << XCP_WND_SHIFT);

	txcp_wnd_set(v, max_t(u64, v->wnd >> min_t(u64, rounds, 63), floor), mss_bytes);
}

void txcp_begin_reno(struct txcp_vars *v, bool lost, u32 min_rtt_us)
{
	v->reno = true;
	v->reno_round_ended = false;
	v->random_loss = lost && v->has_router && v->rtt_us <= min_rtt_us + (min_rtt_us >> 2);
}

bool txcp_reno_over(struct txcp_vars *v, enum txcp_loss loss, bool recovered, u64 reno_bytes,
		    u32 mss_bytes)
{
	bool tighter = txcp_wnd_bytes(v) < reno_bytes;
	bool whole = v->reno_round_ended;

	v->reno_round_ended = true;
	if (recovered && whole && loss == XCP_LOSS_TIGHTER && tighter) {
		v->reno = false;
		return true;
	}
	txcp_wnd_set(v, min(reno_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT, mss_bytes);
	if (recovered && whole &&
	    (loss == XCP_LOSS_ROUND || (loss == XCP_LOSS_TIGHTER && v->random_loss)))
		v->reno = false;
	return !v->reno;
}
