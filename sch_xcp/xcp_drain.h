/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a port sends where that is less than its rate: a rate that was set for another link, a
 * link that is slower than it was, a machine that cannot send as fast as its virtual NIC reports.
 * The draft has no such case. XCP would fill the buffer there: it gives what it takes for spare
 * capacity until the queue weighs as much.
 *
 * A port is measured while packets wait all the time, over a control interval and
 * XCP_DRAIN_MOVES at least. What it sends then is its capacity, if that is less than 7/8 of its
 * rate. While no packet waits the port could send more: the capacity grows by 1/32 a control
 * interval, after XCP_DRAIN_CLEAR of them by 1/4, up to the rate.
 */
#ifndef HOPCC_XCP_DRAIN_H
#define HOPCC_XCP_DRAIN_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/linux/pkt_sched_xcp.h>
#include "xcp_router.h"

#define XCP_DRAIN_CLEAR		16U
/* Arrivals and departures: one packet more or less is a few per cent of what was sent. */
#define XCP_DRAIN_MOVES		64U

/**
 * struct xcp_drain - a port as it is measured
 * @rate_bytes_ps: what it sends; 0: no less than its rate
 * @start_bytes: bytes sent when the measurement began
 * @start_ns: time when the measurement began
 * @start_moves: arrivals and departures when the measurement began
 * @waited: the measurement has begun: packets have waited since
 * @clear: control intervals since packets waited, at most XCP_DRAIN_CLEAR
 */
struct xcp_drain {
	u64 rate_bytes_ps;
	u64 start_bytes;
	u64 start_ns;
	u64 start_moves;
	bool waited;
	u8 clear;
};

/**
 * struct xcp_drain_sent - a port's counts at the end of a control interval; differences matter
 * @bytes: that it has sent, on the link
 * @moves: arrivals and departures
 * @now_ns: the time; never less than before
 * @waits: packets wait now, and did so at every departure since xcp_drain_stop() was called
 */
struct xcp_drain_sent {
	u64 bytes;
	u64 moves;
	u64 now_ns;
	bool waits;
};

/**
 * xcp_drain_capacity_bytes_ps() - what XCP may give
 * @d: the port
 * @rate_bytes_ps: its rate
 *
 * Return: bytes/s, at most @rate_bytes_ps.
 */
static inline u64 xcp_drain_capacity_bytes_ps(const struct xcp_drain *d, u64 rate_bytes_ps)
{
	return min(d->rate_bytes_ps ?: rate_bytes_ps, rate_bytes_ps);
}

/* Is @sent_bytes_ps as good as the port's rate? */
static inline bool xcp_drain_is_full_rate(u64 sent_bytes_ps, u64 rate_bytes_ps)
{
	return sent_bytes_ps >= rate_bytes_ps - rate_bytes_ps / 8;
}

static inline void xcp_drain_set(struct xcp_drain *d, u64 sent_bytes_ps, u64 rate_bytes_ps)
{
	sent_bytes_ps = max_t(u64, sent_bytes_ps, TC_XCP_RATE_MIN_BYTES_PS);
	d->rate_bytes_ps = xcp_drain_is_full_rate(sent_bytes_ps, rate_bytes_ps) ? 0 : sent_bytes_ps;
}

/* At most 2^32 bytes in a nanosecond: the quotient has 64 bits. */
static inline u64 xcp_drain_sent_bytes_ps(u64 bytes, u64 elapsed_ns)
{
	return mul_u64_u64_div_u64(bytes, XCP_NS_PER_S, max3(elapsed_ns, bytes >> 32, 1ULL));
}

/* No packet waits. */
static inline void xcp_drain_raise(struct xcp_drain *d, u64 rate_bytes_ps)
{
	const unsigned int growth_shift = d->clear < XCP_DRAIN_CLEAR ? 5 : 2;

	d->waited = false;
	if (!d->rate_bytes_ps)
		return;
	xcp_drain_set(d, d->rate_bytes_ps + (d->rate_bytes_ps >> growth_shift), rate_bytes_ps);
	if (d->clear < XCP_DRAIN_CLEAR)
		d->clear++;
}

static inline void xcp_drain_start(struct xcp_drain *d, const struct xcp_drain_sent *sent)
{
	d->start_bytes = sent->bytes;
	d->start_moves = sent->moves;
	d->start_ns = sent->now_ns;
	d->waited = true;
}

/**
 * xcp_drain_stop() - it is not the port that packets wait for, or there was nothing to send
 * @d: the port
 *
 * What is measured from now on begins anew.
 */
static inline void xcp_drain_stop(struct xcp_drain *d)
{
	d->waited = false;
}

/**
 * xcp_drain_close() - a control interval ended
 * @d: the port
 * @rate_bytes_ps: its rate, at most TC_XCP_RATE_MAX_BYTES_PS
 * @sent: its counts now
 *
 * Return: true if the port sends less than it was taken to.
 */
static inline bool xcp_drain_close(struct xcp_drain *d, u64 rate_bytes_ps,
				   const struct xcp_drain_sent *sent)
{
	const u64 before_bytes_ps = xcp_drain_capacity_bytes_ps(d, rate_bytes_ps);
	const u64 bytes = sent->bytes - d->start_bytes, elapsed_ns = sent->now_ns - d->start_ns;

	if (!sent->waits) {
		xcp_drain_raise(d, rate_bytes_ps);
		return false;
	}
	d->clear = 0;
	/* The interval that ended may have begun with an empty queue. */
	if (!d->waited) {
		xcp_drain_start(d, sent);
		return false;
	}
	/* A device that was stopped says nothing of its rate. */
	if (!bytes) {
		xcp_drain_start(d, sent);
		return false;
	}
	if (sent->moves - d->start_moves < XCP_DRAIN_MOVES)
		return false;
	xcp_drain_start(d, sent);
	xcp_drain_set(d, xcp_drain_sent_bytes_ps(bytes, elapsed_ns), rate_bytes_ps);
	return xcp_drain_capacity_bytes_ps(d, rate_bytes_ps) < before_bytes_ps;
}

#endif /* HOPCC_XCP_DRAIN_H */
