/* SPDX-License-Identifier: GPL-2.0 */
/* The XCP sender: the algorithm's state and functions */
#ifndef HOPCC_TCP_XCP_XCP_SENDER_H
#define HOPCC_TCP_XCP_XCP_SENDER_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define XCP_WND_SHIFT		16
#define XCP_WND_MAX_BYTES	BIT_ULL(44)
#define XCP_RTT_MAX_US		((1U << 24) - 1)
#define XCP_RATE_MAX_BYTES_PS	(BIT_ULL(40) - 1)	/* bytes/s */
#define XCP_DELTA_MAX_BYTES_PS	0x7fffffffLL	/* limit of the header field, bytes/s */
#define XCP_US_PER_S		1000000U

/*
 * If its own host has limited a sender, the sender asks for its whole desired throughput again only
 * after this number of consecutive rounds that fill the window.
 */
#define XCP_RAMP_ROUNDS		8U

/*
 * Initial window. The draft: "A hundred new flows with ten each would overflow a buffer of one
 * BDP."
 */
#define XCP_INIT_PKTS		2U

/*
 * Feedback may raise the window to this value before any data of the round is acknowledged. TCP
 * itself sends that many packets in the first two round trips.
 */
#define XCP_START_PKTS		30U

/**
 * enum txcp_loss - reaction to a loss or an ECN mark (3.1.3.2, 4.6, 4.1)
 * @XCP_LOSS_RENO: Reno for the rest of the connection, as the draft says
 * @XCP_LOSS_ROUND: Reno for one round trip
 * @XCP_LOSS_TIGHTER: Reno until the network's feedback is the more restrictive limit for a whole
 *	round trip; for one round trip if the loss was random
 */
enum txcp_loss {
	XCP_LOSS_RENO,
	XCP_LOSS_ROUND,
	XCP_LOSS_TIGHTER,
};

/**
 * struct txcp_vars - state of a sender; written under the socket lock
 * @wnd: the XCP window, bytes << XCP_WND_SHIFT
 * @round_wnd: value of @wnd at the start of the round
 * @asked_bytes_ps: sum of the positive demands sent in this round and not granted, bytes/s
 * @asked_before_bytes_ps: sum of the demands of earlier rounds that late feedback may still grant,
 *	bytes/s
 * @rtt_us: RTT estimate, 1 to XCP_RTT_MAX_US; 0: not known
 * @in_flight_pkts: maximum number of packets in flight in this round; U32_MAX: not measured, the
 *	window counts as filled
 * @filled_rounds: rounds that filled the window since the last one that did not, although the
 *	application had data; at most XCP_RAMP_ROUNDS
 * @rtt_lack_8ths_us: difference between @rtt_us and the exact estimate, 1/8 us
 * @asked_before_bits: fls64() of @asked_before_bytes_ps at the start of the round
 * @reno: the end-to-end control determines the window
 * @reno_round_ended: a round has ended since the end-to-end control took over
 * @random_loss: the loss did not come from a queue
 * @received: feedback was received in this round
 * @app_limited: the application or the receiver limited the sender in this round
 * @limited: in the last complete round the application or the receiver limited the sender, or it
 *	did not fill its window
 * @has_router: a router has reduced demands of this connection; it stays set
 */
struct txcp_vars {
	u64 wnd;
	u64 round_wnd;
	u64 asked_bytes_ps;
	u64 asked_before_bytes_ps;
	u32 rtt_us;
	u32 in_flight_pkts;
	u8 filled_rounds;
	u8 rtt_lack_8ths_us;
	u8 asked_before_bits;
	u8 reno : 1;
	u8 reno_round_ended : 1;
	u8 random_loss : 1;
	u8 received : 1;
	u8 app_limited : 1;
	u8 limited : 1;
	u8 has_router : 1;
};

static inline u64 txcp_wnd_bytes(const struct txcp_vars *v)
{
	return v->wnd >> XCP_WND_SHIFT;
}

/**
 * txcp_start() - initialize the state of a new connection or of one that switches to XCP
 * @v: the state
 * @cwnd_bytes: the current window, bytes
 * @mss_bytes: segment size, bytes
 */
void txcp_start(struct txcp_vars *v, u64 cwnd_bytes, u32 mss_bytes);

/**
 * txcp_update_rtt() - update the RTT estimate (3.1.3.3)
 * @v: the state
 * @rtt_us: an RTT sample, 1 to XCP_RTT_MAX_US
 *
 * Uses TCP's gain of 1/8, but for every sample instead of once per window. Of the gains 1/8, 1/4
 * and 1/2, it gives the highest utilization both with windows below one packet (15 flows at 1.5
 * Mbit/s) and with few, large ACKs per window (100 Gbit/s). The estimate is kept in units of 1/8
 * us, because in whole microseconds it could stay up to 7 us above the samples; @v->rtt_us is
 * rounded up.
 */
void txcp_update_rtt(struct txcp_vars *v, u32 rtt_us);

/**
 * txcp_wnd_pkts() - window in segments
 * @v: the state
 * @mss_bytes: segment size, bytes
 *
 * The window is rounded up: pacing at txcp_throughput_bytes_ps() keeps the rate, and a window of
 * one to two segments that is rounded down would lose up to half of the rate. A larger window does
 * harm: with one eighth more in flight a standing queue forms, and the switch qdiscs reduce the
 * load (utilisation at 150 Mbit/s and 50 ms: 0.92 instead of 0.98).
 *
 * Return: 1 to 2^31 - 1.
 */
u32 txcp_wnd_pkts(const struct txcp_vars *v, u32 mss_bytes);

/**
 * txcp_throughput_bytes_ps() - convert a window to a rate
 * @bytes: the window; capped at XCP_WND_MAX_BYTES
 * @rtt_us: the RTT; 0: not known
 *
 * Return: bytes/s, rounded up; 0 without an RTT.
 */
u64 txcp_throughput_bytes_ps(u64 bytes, u32 rtt_us);

/**
 * txcp_demand_bytes_ps() - demand of one packet (3.1.1)
 * @desired_bytes_ps: the throughput that the sender could use, bytes/s
 * @throughput_bytes_ps: the current throughput, bytes/s
 * @wnd_pkts: packets per RTT; 0 counts as 1
 *
 * Return: the demand, bytes/s, in the range of the header's field; negative if the throughput
 * exceeds the desired one.
 */
s32 txcp_demand_bytes_ps(u64 desired_bytes_ps, u64 throughput_bytes_ps, u32 wnd_pkts);

/**
 * struct txcp_limits - limits of a sender
 * @desired_bytes_ps: the throughput that the sender could use, bytes/s
 * @limit_bytes_ps: the maximum rate of its device, bytes/s; U64_MAX: no limit is known
 * @acked_bytes: data acknowledged in this round, below 2^48
 * @start_bytes: window that feedback may reach without acknowledged data
 * @min_rtt_us: minimum RTT of the connection, microseconds; 0: not known
 */
struct txcp_limits {
	u64 desired_bytes_ps;
	u64 limit_bytes_ps;
	u64 acked_bytes;
	u64 start_bytes;
	u32 min_rtt_us;
};

/**
 * txcp_get_limits() - compute the limits of a sender
 * @speed_bytes_ps: rate of the sender's device, bytes/s; 0: not known
 * @limits: the device cannot send faster than @speed_bytes_ps
 * @app_bytes_ps: SO_MAX_PACING_RATE, bytes/s; U64_MAX: not set
 * @throughput_bytes_ps: the current throughput, bytes/s; 0: not known
 *
 * The desired throughput is SO_MAX_PACING_RATE if the application has set it, otherwise the
 * device's rate.
 *
 * Return: the limits.
 */
struct txcp_limits txcp_get_limits(u64 speed_bytes_ps, bool limits, u64 app_bytes_ps,
				   u64 throughput_bytes_ps);

/**
 * txcp_is_held() - does its own host limit the sender, or did so a few rounds ago?
 * @v: the state
 *
 * Return: true if the sender asks for less than it desires.
 */
static inline bool txcp_is_held(const struct txcp_vars *v)
{
	return v->filled_rounds < XCP_RAMP_ROUNDS;
}

/**
 * txcp_max_asked_bytes_ps() - the maximum throughput that a sender may ask for now
 * @v: the state
 * @throughput_bytes_ps: the current throughput, below 2^40 bytes/s
 *
 * A sender that does not fill its window asks for no more than its current throughput. A sender
 * that its host has limited asks for at most a quarter more after the first round that fills the
 * window, and the increase doubles in each further such round. So it does not ask for rate that the
 * port cannot carry, and soon uses rate that other sockets release.
 *
 * Return: bytes/s; U64_MAX: no limit.
 */
u64 txcp_max_asked_bytes_ps(const struct txcp_vars *v, u64 throughput_bytes_ps);

/**
 * txcp_ask() - count the demands of packets that were sent
 * @v: the state
 * @pkts: number of packets
 * @demand_bytes_ps: demand of each packet, bytes/s
 */
void txcp_ask(struct txcp_vars *v, u32 pkts, s32 demand_bytes_ps);

/**
 * txcp_is_excess() - does feedback exceed the demands that were sent?
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 *
 * Return: true if it does, and must be reduced: the peer lies, or the feedback is two rounds late.
 */
bool txcp_is_excess(const struct txcp_vars *v, s64 feedback_bytes_ps);

/**
 * txcp_end_asking() - end a round: age the demands that were not granted
 * @v: the state
 * @received: feedback was received in the round
 *
 * Feedback for the demands of the previous round has usually arrived or is lost by now. Half of
 * these demands still count, because feedback may be late. If no feedback was received in this
 * round, all of them still count. Call this function before the feedback of the ACK that ends the
 * round is processed: that feedback belongs to the next round.
 */
void txcp_end_asking(struct txcp_vars *v, bool received);

/**
 * txcp_receive() - process received feedback (3.1.3)
 * @v: the state
 * @feedback_bytes_ps: sum of Reverse_Feedback, bytes/s; any value
 * @mss_bytes: minimum window, bytes
 *
 * Return: true if the window grew; the caller must then call txcp_bound_growth().
 */
bool txcp_receive(struct txcp_vars *v, s64 feedback_bytes_ps, u32 mss_bytes);

/**
 * txcp_bound_growth() - limit the growth of the window to the sender's limits
 * @v: the state, after txcp_receive()
 * @l: the sender's limits
 * @wnd: the window before txcp_receive(), bytes << XCP_WND_SHIFT
 */
void txcp_bound_growth(struct txcp_vars *v, const struct txcp_limits *l, u64 wnd);

/**
 * txcp_end_sending() - end a round: did it fill the window? (3.1.3.1)
 * @v: the state, before txcp_end_asking()
 * @sent_pkts: packets delivered in the round
 * @reno: the end-to-end control determined the window in the round
 * @mss_bytes: segment size, bytes
 */
void txcp_end_sending(struct txcp_vars *v, u32 sent_pkts, bool reno, u32 mss_bytes);

/**
 * txcp_restart() - the application has data again: forget that earlier rounds were limited
 * @v: the state
 *
 * Return: true if this changes the sender's demand.
 */
bool txcp_restart(struct txcp_vars *v);

/**
 * txcp_age_idle() - reduce the window after an idle time (3.1.3.1)
 * @v: the state
 * @idle_us: time since the last ACK, us
 * @init_bytes: initial window; an idle time does not reduce the window below it
 * @mss_bytes: minimum window, bytes
 */
void txcp_age_idle(struct txcp_vars *v, u64 idle_us, u32 init_bytes, u32 mss_bytes);

/**
 * txcp_begin_reno() - let the end-to-end control take over after a loss or a mark (3.1.3.2)
 * @v: the state
 * @lost: a packet was lost; false: a mark
 * @min_rtt_us: minimum RTT of the connection, microseconds
 *
 * A loss counts as random if a router of XCP has reduced demands of the sender and the RTT is at
 * most 5/4 of its minimum: then no port has a queue that could drop packets.
 */
void txcp_begin_reno(struct txcp_vars *v, bool lost, u32 min_rtt_us);

/**
 * txcp_gives_up() - at the end of a Reno round: stay with Reno for good?
 * @v: the state
 * @loss: configured reaction to a loss
 * @recovered: no recovery is in progress
 * @asked: the peer sent demands in this round, for which this end must return feedback
 *
 * Return: true if packets need no header any more.
 */
static inline bool txcp_gives_up(const struct txcp_vars *v, enum txcp_loss loss, bool recovered,
				 bool asked)
{
	return loss == XCP_LOSS_RENO && v->reno_round_ended && recovered && !asked;
}

/**
 * txcp_reno_over() - at the end of a Reno round: does XCP take over again?
 * @v: the state; its window is set to @reno_bytes, unless XCP resumes because XCP's is smaller
 * @loss: configured reaction to a loss
 * @recovered: no recovery is in progress
 * @reno_bytes: window of the end-to-end control, bytes
 * @mss_bytes: minimum window, bytes
 *
 * The first round that ends after Reno has taken over is not a whole one, because it started
 * before.
 *
 * Return: true if XCP determines the window again.
 */
bool txcp_reno_over(struct txcp_vars *v, enum txcp_loss loss, bool recovered, u64 reno_bytes,
		    u32 mss_bytes);

#endif /* HOPCC_TCP_XCP_XCP_SENDER_H */
