/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XCP's sender, draft-falk-xcp-spec-00 sections 3.1.1, 3.1.3 and 4.1: a window
 * that the network allots, and what a packet asks the network for.
 *
 *	throughput = cwnd / RTT
 *	demand     = (desired - throughput) / packets in an RTT		a packet
 *	cwnd       = max(cwnd + feedback * RTT, MSS)			an ACK
 *	cwnd       = cwnd * (1 - p) + sent * p, p = 1/2			an RTT below it
 *
 * A round trip is below the window where the packets in flight never filled it, whatever the
 * reason: the application, the receiver's window, the send buffer, or a port of the host that
 * other sockets use too. So the throughput that is reported is soon near what is sent.
 *
 * The window is in bytes with 16 fractional bits: at low rates one packet's feedback
 * is a fraction of a byte. Ranges: window 0 to 2^44 bytes (1.6 Tbit/s for 88 s), RTT 1 us
 * to 2^24 us (16 s), throughput below 2^40 bytes/s (8.8 Tbit/s); what comes from the
 * network is clamped to them.
 *
 * Deviations:
 * - 3.1.3 prints cwnd + feedback * RTT * 1000 with feedback in bytes/s and RTT in ms:
 *   an error of 10^6. This is feedback * RTT.
 * - Section 4.1's "more restrictive over a round trip": both windows start a round
 *   equal, one follows the feedback, the other the end-to-end control; at its end
 *   the feedback's is the smaller one.
 * - The peer returns the feedback, and may lie: all that it grants together is no more than what
 *   was asked for and not granted yet, and leads to XCP_LINE_RTTS round trips of the desired
 *   throughput at most. A sender that does not know the rate of its device asks for no more than
 *   XCP_GROWTH_MAX times its throughput.
 */
#ifndef TCP_XCP_XCP_SENDER_H
#define TCP_XCP_XCP_SENDER_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define XCP_WND_SHIFT		16
#define XCP_WND_MAX_BYTES	BIT_ULL(44)
#define XCP_RTT_MAX_US		((1U << 24) - 1)
#define XCP_RATE_MAX_BYTES_PS	(BIT_ULL(40) - 1)	/* bytes/s */
#define XCP_DELTA_MAX_BYTES_PS	0x7fffffffLL	/* the field's bound, bytes/s */
#define XCP_US_PER_S		1000000U

/* Windows that a round leads to at most where the sender's device does not report its rate. */
#define XCP_GROWTH_MAX		64U
/* Where it does. Demands overlap: what is asked while the first answers are on their way. */
#define XCP_LINE_RTTS		2U
#define XCP_ASKED_MAX_BYTES_PS	BIT_ULL(60)

/*
 * Rounds in a row that fill the window until a sender that its own host held back asks for all
 * that it desires again.
 */
#define XCP_RAMP_ROUNDS		8U
/* That a window may lack and still count as filled: pacing, GSO and ACKs come in lumps. */
#define XCP_LACK_SHIFT		2
#define XCP_LACK_PKTS		2U

/* "A hundred new flows with ten each would overflow a buffer of one BDP." */
#define XCP_INIT_PKTS		2U

/**
 * enum xcp_loss - what a loss or an ECN mark does (3.1.3.2, 4.6, 4.1)
 * @XCP_LOSS_RENO: Reno for the rest of the connection, as drafted
 * @XCP_LOSS_ROUND: Reno for one round trip
 * @XCP_LOSS_TIGHTER: Reno until the network's feedback is the tighter limit for a
 *	whole round trip
 */
enum xcp_loss {
	XCP_LOSS_RENO,
	XCP_LOSS_ROUND,
	XCP_LOSS_TIGHTER,
};

/**
 * struct xcp_vars - a sender's state; written under the socket lock
 * @wnd: the window that XCP allots, bytes << XCP_WND_SHIFT
 * @round_wnd: @wnd when the round began
 * @asked_bytes_ps: sum of the positive demands sent in this round and not granted, bytes/s
 * @asked_before_bytes_ps: the same of the rounds before, as far as they still count
 * @rtt_us: RTT estimate, 1 to XCP_RTT_MAX_US; 0: not known
 * @in_flight_pkts: the most packets in flight in this round; U32_MAX: they do not count
 * @filled_rounds: rounds in a row that were not held back by the host, at most XCP_RAMP_ROUNDS
 * @rtt_lack_8ths_us: eighths of a microsecond that the RTT estimate is below @rtt_us
 * @reno: the end-to-end control rules the window
 * @reno_round_ended: a round ended since the end-to-end control took over
 * @heard: feedback came in this round
 * @app_limited: in this round the application was too slow
 * @limited: the last whole round did not fill its window
 */
struct xcp_vars {
	u64 wnd;
	u64 round_wnd;
	u64 asked_bytes_ps;
	u64 asked_before_bytes_ps;
	u32 rtt_us;
	u32 in_flight_pkts;
	u8 filled_rounds;
	u8 rtt_lack_8ths_us;
	bool reno;
	bool reno_round_ended;
	bool heard;
	bool app_limited;
	bool limited;
};

static inline u64 xcp_wnd_bytes(const struct xcp_vars *v)
{
	return v->wnd >> XCP_WND_SHIFT;
}

/**
 * xcp_wnd_set() - the window within its bounds
 * @v: the state
 * @wnd: bytes << XCP_WND_SHIFT
 * @mss_bytes: the floor, against the silly window
 */
static inline void xcp_wnd_set(struct xcp_vars *v, s64 wnd, u32 mss_bytes)
{
	v->wnd = clamp_t(s64, wnd, (s64)mss_bytes << XCP_WND_SHIFT,
			 XCP_WND_MAX_BYTES << XCP_WND_SHIFT);
}

/**
 * xcp_start() - a connection begins, or XCP takes it over
 * @v: the state
 * @cwnd_bytes: the window so far
 * @mss_bytes: the segment
 */
static inline void xcp_start(struct xcp_vars *v, u64 cwnd_bytes, u32 mss_bytes)
{
	*v = (struct xcp_vars){};
	xcp_wnd_set(v, min(cwnd_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT, mss_bytes);
	v->round_wnd = v->wnd;
	v->filled_rounds = XCP_RAMP_ROUNDS;
}

/**
 * xcp_update_rtt() - section 3.1.3.3: the RTT estimate
 * @v: the state
 * @rtt_us: a sample, 1 to XCP_RTT_MAX_US
 *
 * TCP's gain of 1/8, from every sample and not once a window. Of 1/8, 1/4 and 1/2 it
 * gives the highest load both where a window is less than a packet (15 flows at
 * 1.5 Mbit/s) and where a window's ACKs are few and large (100 Gbit/s). In eighths, or the
 * estimate would stay up to 7 us above the samples; what is used is rounded up.
 */
static inline void xcp_update_rtt(struct xcp_vars *v, u32 rtt_us)
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

/**
 * xcp_wnd_pkts() - segments that may be in flight
 * @v: the state
 * @mss_bytes: the segment
 *
 * The window rounded up: pacing at xcp_throughput_bytes_ps() keeps the rate, and a window
 * rounded down would lose up to half of it at one to two segments. No more than that: with an
 * eighth more in flight a queue stands, for which the routers lower the load (150 Mbit/s, 50 ms:
 * 0.92, not 0.98).
 *
 * Return: 1 to 2^31 - 1.
 */
static inline u32 xcp_wnd_pkts(const struct xcp_vars *v, u32 mss_bytes)
{
	u64 bytes = (v->wnd + (1 << XCP_WND_SHIFT) - 1) >> XCP_WND_SHIFT;

	return clamp_t(u64, div_u64(bytes + mss_bytes - 1, mss_bytes), 1, S32_MAX);
}

/**
 * xcp_throughput_bytes_ps() - a window as a rate
 * @bytes: the window; more than XCP_WND_MAX_BYTES counts as that
 * @rtt_us: the RTT; 0: not known
 *
 * Return: bytes/s, rounded up; 0 without an RTT.
 */
static inline u64 xcp_throughput_bytes_ps(u64 bytes, u32 rtt_us)
{
	if (!rtt_us)
		return 0;
	/* 2^44 * 10^6 = 2^63.9 */
	bytes = min(bytes, XCP_WND_MAX_BYTES);
	return min_t(u64, div_u64(bytes * XCP_US_PER_S + rtt_us - 1, rtt_us),
		     XCP_RATE_MAX_BYTES_PS);
}

/**
 * xcp_demand_bytes_ps() - what each packet asks for (3.1.1)
 * @desired_bytes_ps: the throughput that the sender could use, bytes/s
 * @throughput_bytes_ps: the one it has, bytes/s
 * @wnd_pkts: packets in an RTT; 0 counts as 1
 *
 * Return: bytes/s, within the header's field; negative above the desired one.
 */
static inline s32 xcp_demand_bytes_ps(u64 desired_bytes_ps, u64 throughput_bytes_ps, u32 wnd_pkts)
{
	s64 change = min_t(u64, desired_bytes_ps, XCP_RATE_MAX_BYTES_PS);

	change -= throughput_bytes_ps;
	return clamp_t(s64, div_s64(change, clamp_t(u32, wnd_pkts, 1, S32_MAX)),
		       -XCP_DELTA_MAX_BYTES_PS, XCP_DELTA_MAX_BYTES_PS);
}

/**
 * xcp_apply_feedback() - section 3.1.3
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 * @mss_bytes: the floor
 *
 * Without an RTT estimate there is nothing to apply it by.
 */
static inline void xcp_apply_feedback(struct xcp_vars *v, s64 feedback_bytes_ps, u32 mss_bytes)
{
	const bool lowers = feedback_bytes_ps < 0;
	/* Unsigned: S64_MIN has no positive twin. */
	const u64 rate_bytes_ps = min(lowers ? -(u64)feedback_bytes_ps : (u64)feedback_bytes_ps,
				      XCP_RATE_MAX_BYTES_PS);
	u32 rest;
	/* 2^40 * 2^24 / 10^6 * 2^16 = 2^60.1; in two steps to stay below 2^64 */
	s64 change = div_u64_rem(rate_bytes_ps * v->rtt_us, XCP_US_PER_S, &rest) << XCP_WND_SHIFT;

	change += div_u64((u64)rest << XCP_WND_SHIFT, XCP_US_PER_S);
	xcp_wnd_set(v, v->wnd + (lowers ? -change : change), mss_bytes);
}

/**
 * struct xcp_line - what bounds a sender; bytes/s
 * @desired_bytes_ps: the throughput that it could use
 * @limit_bytes_ps: what its device cannot exceed; U64_MAX: no such limit is known
 * @known: the device reports its rate
 */
struct xcp_line {
	u64 desired_bytes_ps;
	u64 limit_bytes_ps;
	bool known;
};

/**
 * xcp_desire() - the throughput that a sender could use
 * @speed_bytes_ps: the rate of its device; 0: not known
 * @limits: the device cannot send faster
 * @app_bytes_ps: SO_MAX_PACING_RATE; U64_MAX: not set
 * @throughput_bytes_ps: the throughput that it has
 *
 * SO_MAX_PACING_RATE is the application's word, the device's rate the default.
 *
 * Return: the bounds.
 */
static inline struct xcp_line xcp_desire(u64 speed_bytes_ps, bool limits, u64 app_bytes_ps,
					 u64 throughput_bytes_ps)
{
	const u64 rate_bytes_ps = speed_bytes_ps ?: XCP_RATE_MAX_BYTES_PS;
	struct xcp_line line = {
		.desired_bytes_ps = app_bytes_ps == U64_MAX ? rate_bytes_ps : app_bytes_ps,
		.limit_bytes_ps = limits ? speed_bytes_ps : U64_MAX,
		.known = speed_bytes_ps,
	};

	/* 2^40 * 2^6; without an RTT nothing is asked for */
	if (!line.known && throughput_bytes_ps)
		line.desired_bytes_ps = min(line.desired_bytes_ps,
					    throughput_bytes_ps * XCP_GROWTH_MAX);
	line.desired_bytes_ps = min(line.desired_bytes_ps, line.limit_bytes_ps);
	return line;
}

/**
 * xcp_is_held() - does the host hold the sender back, or did it a few rounds ago?
 * @v: the state
 *
 * Return: true if it asks for less than it desires.
 */
static inline bool xcp_is_held(const struct xcp_vars *v)
{
	return v->filled_rounds < XCP_RAMP_ROUNDS;
}

/**
 * xcp_ask_most_bytes_ps() - the most throughput that a sender asks for now
 * @v: the state
 * @throughput_bytes_ps: the one it has, below 2^40 bytes/s
 *
 * A sender that does not use what it has asks for no more. A sender that its host held back asks
 * for a quarter more, and then for twice as much each round: what the port cannot carry is not
 * asked for, and what other sockets leave is found soon.
 *
 * Return: bytes/s; U64_MAX: no such bound.
 */
static inline u64 xcp_ask_most_bytes_ps(const struct xcp_vars *v, u64 throughput_bytes_ps)
{
	if (v->limited)
		return throughput_bytes_ps;
	if (!xcp_is_held(v))
		return U64_MAX;
	/* 2^40 * 2^7 */
	return throughput_bytes_ps + (throughput_bytes_ps << v->filled_rounds >> 3);
}

/**
 * xcp_ask() - packets have left that ask for more
 * @v: the state
 * @pkts: their number
 * @demand_bytes_ps: what each asked for, bytes/s
 */
static inline void xcp_ask(struct xcp_vars *v, u32 pkts, s32 demand_bytes_ps)
{
	/* 2^60 + 2^32 * 2^31 < 2^64 */
	if (demand_bytes_ps > 0)
		v->asked_bytes_ps = min(v->asked_bytes_ps + (u64)pkts * demand_bytes_ps,
					XCP_ASKED_MAX_BYTES_PS);
}

/* A part of the feedback, at most @asked_bytes_ps, which it lowers. */
static inline u64 xcp_grant_from(u64 *asked_bytes_ps, u64 feedback_bytes_ps)
{
	const u64 granted_bytes_ps = min(*asked_bytes_ps, feedback_bytes_ps);

	*asked_bytes_ps -= granted_bytes_ps;
	return granted_bytes_ps;
}

/**
 * xcp_grant() - feedback as far as it may be believed
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 *
 * The network lowers what a packet asks for, and never raises it.
 *
 * Return: bytes/s; negative feedback as it is.
 */
static inline s64 xcp_grant(struct xcp_vars *v, s64 feedback_bytes_ps)
{
	u64 before_bytes_ps;

	if (feedback_bytes_ps <= 0)
		return feedback_bytes_ps;
	before_bytes_ps = xcp_grant_from(&v->asked_before_bytes_ps, feedback_bytes_ps);
	/* 2^60 + 2^60 */
	return before_bytes_ps +
	       xcp_grant_from(&v->asked_bytes_ps, feedback_bytes_ps - before_bytes_ps);
}

/**
 * xcp_end_asking() - a round ended
 * @v: the state
 * @heard: feedback came in it
 *
 * Packets of the round before are answered, or lost; half of what they asked for still counts,
 * for answers that were late. Where nothing came, all of it does.
 */
static inline void xcp_end_asking(struct xcp_vars *v, bool heard)
{
	v->asked_before_bytes_ps = min((v->asked_before_bytes_ps >> heard) + v->asked_bytes_ps,
				       XCP_ASKED_MAX_BYTES_PS);
	v->asked_bytes_ps = 0;
	v->round_wnd = v->wnd;
}

/**
 * xcp_most_wnd() - the largest window that feedback may lead to
 * @v: the state
 * @line: the sender's bounds
 *
 * Return: bytes << XCP_WND_SHIFT, at most XCP_WND_MAX_BYTES << XCP_WND_SHIFT.
 */
static inline u64 xcp_most_wnd(const struct xcp_vars *v, const struct xcp_line *line)
{
	const u64 desired_bytes_ps = min(line->desired_bytes_ps, XCP_RATE_MAX_BYTES_PS);
	u64 bytes;

	/* 2^60 / 2^6 */
	if (!line->known)
		return min(v->round_wnd, (XCP_WND_MAX_BYTES << XCP_WND_SHIFT) / XCP_GROWTH_MAX) *
		       XCP_GROWTH_MAX;
	/* 2^40 * 2^24 = 2^64 less than that; 2^64 / 10^6 * 2 < 2^46 */
	bytes = div_u64(desired_bytes_ps * v->rtt_us, XCP_US_PER_S) * XCP_LINE_RTTS;
	return min(bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT;
}

/**
 * xcp_hear() - feedback came: section 3.1.3
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 * @mss_bytes: the floor
 *
 * Return: true if the window grew: then xcp_bound_growth() follows.
 */
static inline bool xcp_hear(struct xcp_vars *v, s64 feedback_bytes_ps, u32 mss_bytes)
{
	const u64 wnd = v->wnd;

	xcp_apply_feedback(v, xcp_grant(v, feedback_bytes_ps), mss_bytes);
	return v->wnd > wnd;
}

/**
 * xcp_bound_growth() - no feedback leads beyond the sender's bounds
 * @v: the state, behind xcp_hear()
 * @line: the sender's bounds
 * @wnd: the window in front of it, bytes << XCP_WND_SHIFT
 */
static inline void xcp_bound_growth(struct xcp_vars *v, const struct xcp_line *line, u64 wnd)
{
	v->wnd = min(v->wnd, max(wnd, xcp_most_wnd(v, line)));
}

/**
 * xcp_is_filled() - did the packets in flight fill the window of this round?
 * @v: the state, before xcp_end_asking()
 * @mss_bytes: the segment
 *
 * Of the window at the round's begin and the one at its end the smaller one counts.
 *
 * Return: true if they did.
 */
static inline bool xcp_is_filled(const struct xcp_vars *v, u32 mss_bytes)
{
	const u64 bytes = min(v->wnd, v->round_wnd) >> XCP_WND_SHIFT;

	return ((u64)v->in_flight_pkts + XCP_LACK_PKTS) * mss_bytes >=
	       bytes - (bytes >> XCP_LACK_SHIFT);
}

/* Section 3.1.3.1 with p = 1/2, for a round that sent less than the window. */
static inline void xcp_age(struct xcp_vars *v, u32 sent_pkts, u32 mss_bytes)
{
	const u64 sent = min((u64)sent_pkts * mss_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT;

	if (sent < v->wnd)
		xcp_wnd_set(v, (v->wnd >> 1) + (sent >> 1), mss_bytes);
}

/**
 * xcp_end_sending() - a round ended: section 3.1.3.1
 * @v: the state, before xcp_end_asking()
 * @sent_pkts: what the round delivered
 * @reno: the end-to-end control ruled the window in it
 * @mss_bytes: the segment
 */
static inline void xcp_end_sending(struct xcp_vars *v, u32 sent_pkts, bool reno, u32 mss_bytes)
{
	const bool filled = reno || xcp_is_filled(v, mss_bytes);

	v->limited = v->app_limited || !filled;
	if (v->limited && !reno)
		xcp_age(v, sent_pkts, mss_bytes);
	/* How much an application will have to send says nothing of the port. */
	if (!filled && !v->app_limited)
		v->filled_rounds = 0;
	else if (xcp_is_held(v))
		v->filled_rounds += filled;
	v->app_limited = false;
	v->in_flight_pkts = 0;
}

/**
 * xcp_end_silence() - an application has data again: what it lacked before counts no more
 * @v: the state
 *
 * Return: true if that changes what the sender asks for.
 */
static inline bool xcp_end_silence(struct xcp_vars *v)
{
	const bool changed = v->limited || v->filled_rounds != XCP_RAMP_ROUNDS;

	v->limited = false;
	v->filled_rounds = XCP_RAMP_ROUNDS;
	return changed;
}

/**
 * xcp_age_idle() - the same for silence: nothing was sent for some rounds
 * @v: the state
 * @idle_us: since the last packet
 * @init_bytes: silence does not age the window below a new connection's
 * @mss_bytes: the floor
 */
static inline void xcp_age_idle(struct xcp_vars *v, u64 idle_us, u32 init_bytes, u32 mss_bytes)
{
	u64 rounds = v->rtt_us ? div_u64(idle_us, v->rtt_us) : 0;
	u64 floor = min_t(u64, v->wnd, (u64)init_bytes << XCP_WND_SHIFT);

	xcp_wnd_set(v, max_t(u64, v->wnd >> min_t(u64, rounds, 63), floor), mss_bytes);
}

/**
 * xcp_begin_reno() - a loss or a mark: the end-to-end control takes over (3.1.3.2)
 * @v: the state
 */
static inline void xcp_begin_reno(struct xcp_vars *v)
{
	v->reno = true;
	v->reno_round_ended = false;
}

/**
 * xcp_gives_up() - at the end of a round of Reno's: is it for the rest of the connection?
 * @v: the state
 * @loss: what a loss does
 * @recovered: no loss is being repaired, so none can turn out not to have been one
 * @asked: the peer sent headers in this round that our data has to answer
 *
 * Return: true if packets need no header any more.
 */
static inline bool xcp_gives_up(const struct xcp_vars *v, enum xcp_loss loss, bool recovered,
				bool asked)
{
	return loss == XCP_LOSS_RENO && v->reno_round_ended && recovered && !asked;
}

/**
 * xcp_reno_over() - at the end of a round: does XCP rule again?
 * @v: the state; its window starts the next round at the end-to-end control's
 * @loss: what a loss does
 * @recovered: no loss is being repaired
 * @reno_bytes: the end-to-end control's window
 * @mss_bytes: the floor
 *
 * The first round to end after the takeover had begun before it.
 *
 * Return: true if the end-to-end control's reign is over.
 */
static inline bool xcp_reno_over(struct xcp_vars *v, enum xcp_loss loss, bool recovered,
				 u64 reno_bytes, u32 mss_bytes)
{
	bool tighter = xcp_wnd_bytes(v) < reno_bytes;
	bool whole = v->reno_round_ended;

	v->reno_round_ended = true;
	if (recovered && whole && loss == XCP_LOSS_TIGHTER && tighter) {
		v->reno = false;
		return true;
	}
	xcp_wnd_set(v, min(reno_bytes, XCP_WND_MAX_BYTES) << XCP_WND_SHIFT, mss_bytes);
	if (recovered && whole && loss == XCP_LOSS_ROUND)
		v->reno = false;
	return !v->reno;
}

#endif /* TCP_XCP_XCP_SENDER_H */
