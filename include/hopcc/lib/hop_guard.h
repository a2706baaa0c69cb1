/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard: a Reno window that limits the window of a congestion control that follows reports.
 *
 * Reports describe the hops that report, and a path may have others. The guard compares the delay
 * that the sender measures with the delay that the reports add up to. The difference is the queue
 * of hops that do not report, of the way back, or of a host.
 *
 *	open	The window has no limit. A loss or a mark closes the guard if the measured delay
 *		exceeds the reported one. Otherwise the loss is taken for a random one.
 *	closed	The window is Reno's: half of the packets in flight, and one packet more for each
 *		round trip. After some round trips whose delay is explained it doubles in each
 *		further one, until the other window is the smaller one: then the guard opens.
 *
 * If a loss follows soon after the guard has opened, the reports were still wrong, and the guard
 * waits for twice as many round trips the next time.
 */
#ifndef HOPCC_LIB_HOP_GUARD_H
#define HOPCC_LIB_HOP_GUARD_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Round trips with an explained delay before the window doubles, at first and at most */
#define HOP_GUARD_ROUNDS	4U
#define HOP_GUARD_ROUNDS_MAX	1024U
/*
 * Open for this many times @wait_rounds round trips with an explained delay, the guard resets
 * @wait_rounds.
 */
#define HOP_GUARD_FORGET	16U
/* Bursts and hosts cause a delay of up to 1/4 of the minimum RTT plus 4 us: needs no report. */
#define HOP_GUARD_SLACK_SHIFT	2
#define HOP_GUARD_SLACK_US	4U

/**
 * struct hop_guard - state of a connection's guard; written under the socket lock
 * @wnd_pkts: the end-to-end window, packets; 0: the guard is open
 * @acked_pkts: packets acknowledged since the window grew by one
 * @undo_pkts: @wnd_pkts before the last loss
 * @extra_us: maximum delay of this round that no report explains
 * @extra_before_us: @extra_us of the previous round
 * @reported_us: maximum delay that reports add up to in this round
 * @reported_before_us: @reported_us of the previous round
 * @round_pkts: packets delivered at the start of this round
 * @valid_pkts: packets delivered at the end of the last loss recovery; RTTs of packets that were
 *	sent before do not count
 * @clean_rounds: consecutive rounds whose delay is explained
 * @wait_rounds: number of such rounds after which the window doubles; 0: HOP_GUARD_ROUNDS
 */
struct hop_guard {
	u32 wnd_pkts;
	u32 acked_pkts;
	u32 undo_pkts;
	u32 extra_us;
	u32 extra_before_us;
	u32 reported_us;
	u32 reported_before_us;
	u32 round_pkts;
	u32 valid_pkts;
	u16 clean_rounds;
	u16 wait_rounds;
};

/**
 * struct hop_guard_ack - an ACK, for the guard
 * @acked_pkts: packets that it delivered
 * @least_us: minimum RTT of the path for full packets, microseconds
 * @delay_us: RTT of the latest packet above @least_us, microseconds; 0: not measured
 * @reported_us: sum of the delays that the latest report has, microseconds
 * @limited: the window limited sending
 * @round: the ACK ended a round trip
 */
struct hop_guard_ack {
	u32 acked_pkts;
	u32 least_us;
	u32 delay_us;
	u32 reported_us;
	bool limited;
	bool round;
};

/* Return: true if one of the last two rounds had a delay that no report explains. */
static inline bool hop_guard_is_unexplained(const struct hop_guard *g, u32 least_us)
{
	return max(g->extra_us, g->extra_before_us) >
	       (least_us >> HOP_GUARD_SLACK_SHIFT) + HOP_GUARD_SLACK_US;
}

/* Return: true if the guard waits no longer: the window doubles, or has no limit. */
static inline bool hop_guard_trusts(const struct hop_guard *g)
{
	return g->clean_rounds > max_t(u32, g->wait_rounds, HOP_GUARD_ROUNDS);
}

static inline void hop_guard_end_round(struct hop_guard *g, u32 least_us)
{
	if (hop_guard_is_unexplained(g, least_us))
		g->clean_rounds = 0;
	else if (g->clean_rounds < U16_MAX)
		g->clean_rounds++;
	g->extra_before_us = g->extra_us;
	g->reported_before_us = g->reported_us;
	g->extra_us = 0;
	g->reported_us = 0;
	if (g->wnd_pkts && hop_guard_trusts(g))
		g->wnd_pkts = min(g->wnd_pkts, U32_MAX / 2) * 2;
	else if (!g->wnd_pkts && g->clean_rounds > HOP_GUARD_FORGET * g->wait_rounds)
		g->wait_rounds = 0;
}

/**
 * hop_guard_ack() - process an ACK
 * @g: the guard
 * @a: the ACK
 */
static inline void hop_guard_ack(struct hop_guard *g, const struct hop_guard_ack *a)
{
	u32 reported_us;

	g->reported_us = max(g->reported_us, a->reported_us);
	reported_us = max(g->reported_us, g->reported_before_us);
	if (a->delay_us > reported_us)
		g->extra_us = max(g->extra_us, a->delay_us - reported_us);
	if (a->round)
		hop_guard_end_round(g, a->least_us);
	if (!g->wnd_pkts || !a->limited)
		return;
	g->acked_pkts += a->acked_pkts;
	if (g->acked_pkts < g->wnd_pkts)
		return;
	g->acked_pkts -= g->wnd_pkts;
	g->wnd_pkts += g->wnd_pkts < U32_MAX;
}

/**
 * hop_guard_lose() - process a loss or a mark
 * @g: the guard
 * @least_us: minimum RTT of the path for full packets, microseconds
 * @flight_pkts: packets in flight before it
 *
 * Return: true if the guard is closed.
 */
static inline bool hop_guard_lose(struct hop_guard *g, u32 least_us, u32 flight_pkts)
{
	g->undo_pkts = g->wnd_pkts;
	if (!g->wnd_pkts && !hop_guard_is_unexplained(g, least_us))
		return false;
	if (!g->wnd_pkts || hop_guard_trusts(g))
		g->wait_rounds = clamp(2U * g->wait_rounds, HOP_GUARD_ROUNDS, HOP_GUARD_ROUNDS_MAX);
	g->wnd_pkts = max(min_not_zero(g->wnd_pkts, flight_pkts) / 2, 2U);
	g->acked_pkts = 0;
	g->clean_rounds = 0;
	return true;
}

/**
 * hop_guard_undo() - undo the reaction to a spurious loss
 * @g: the guard
 */
static inline void hop_guard_undo(struct hop_guard *g)
{
	if (g->wnd_pkts)
		g->wnd_pkts = g->undo_pkts ? max(g->wnd_pkts, g->undo_pkts) : 0;
}

/**
 * hop_guard_bound() - limit a window, and open the guard where it does not limit it any more
 * @g: the guard
 * @cwnd_pkts: window of the congestion control, packets
 *
 * Return: packets.
 */
static inline u32 hop_guard_bound(struct hop_guard *g, u32 cwnd_pkts)
{
	if (g->wnd_pkts >= cwnd_pkts && hop_guard_trusts(g))
		g->wnd_pkts = 0;
	return min_not_zero(g->wnd_pkts, cwnd_pkts);
}

#endif /* HOPCC_LIB_HOP_GUARD_H */
