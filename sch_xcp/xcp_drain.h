/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measured rate of a port that sends less than its configured rate: because the rate was set for
 * another link, the link has become slower, or the machine cannot send as fast as its virtual NIC
 * reports. The draft does not cover this case. XCP would fill the buffer: it hands out spare
 * capacity that does not exist, until the queue term compensates for it.
 *
 * A port is measured while packets wait all the time, over at least one control interval and
 * XCP_DRAIN_MOVES. The measured rate becomes the capacity if it is less than 7/8 of the configured
 * rate. When its queue has become empty, the port might be able to send more: the capacity grows by
 * 1/32 per control interval in which that happens, and by 1/4 after XCP_DRAIN_CLEAR of them, up to
 * the configured rate. The draft's persistent queue says too late that packets wait: it is the
 * least queue of the period of 2 ms before.
 */
#ifndef HOPCC_SCH_XCP_XCP_DRAIN_H
#define HOPCC_SCH_XCP_XCP_DRAIN_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/linux/pkt_sched_xcp.h>
#include "xcp_router.h"

#define XCP_DRAIN_CLEAR		16U
/*
 * Arrivals and departures in a measurement: enough that one packet more or less changes the result
 * by only a few per cent
 */
#define XCP_DRAIN_MOVES		64U

/**
 * struct sxcp_drain - measurement of a port's rate
 * @rate_bytes_ps: measured rate; 0: no less than the configured rate
 * @start_bytes: bytes sent when the measurement started
 * @start_ns: time when the measurement started
 * @start_moves: arrivals and departures when the measurement started
 * @waited: a measurement is running: packets have waited since it started
 * @clear: control intervals since packets last waited for all of one, at most XCP_DRAIN_CLEAR
 */
struct sxcp_drain {
	u64 rate_bytes_ps;
	u64 start_bytes;
	u64 start_ns;
	u64 start_moves;
	bool waited;
	u8 clear;
};

/**
 * struct sxcp_drain_sent - a port's counts at the end of a control interval; only differences
 *	matter
 * @bytes: bytes sent, on the link
 * @moves: arrivals and departures
 * @now_ns: current time; never decreases
 * @waits: packets are waiting now
 */
struct sxcp_drain_sent {
	u64 bytes;
	u64 moves;
	u64 now_ns;
	bool waits;
};

/**
 * sxcp_drain_capacity_bytes_ps() - capacity that XCP may hand out
 * @d: the port
 * @rate_bytes_ps: configured rate of the port, bytes/s
 *
 * Return: bytes/s, at most @rate_bytes_ps.
 */
static inline u64 sxcp_drain_capacity_bytes_ps(const struct sxcp_drain *d, u64 rate_bytes_ps)
{
	return min(d->rate_bytes_ps ?: rate_bytes_ps, rate_bytes_ps);
}

/* Return: true if @sent_bytes_ps is close enough to the port's rate */
static inline bool sxcp_drain_is_full_rate(u64 sent_bytes_ps, u64 rate_bytes_ps)
{
	return sent_bytes_ps >= rate_bytes_ps - rate_bytes_ps / 8;
}

static inline void sxcp_drain_set(struct sxcp_drain *d, u64 sent_bytes_ps, u64 rate_bytes_ps)
{
	sent_bytes_ps = max_t(u64, sent_bytes_ps, TC_XCP_RATE_MIN_BYTES_PS);
	d->rate_bytes_ps = sxcp_drain_is_full_rate(sent_bytes_ps,
						   rate_bytes_ps) ? 0 : sent_bytes_ps;
}

/* Capped to 2^32 bytes per nanosecond, so that the quotient fits 64 bits */
static inline u64 sxcp_drain_sent_bytes_ps(u64 bytes, u64 elapsed_ns)
{
	return mul_u64_u64_div_u64(bytes, XCP_NS_PER_S, max3(elapsed_ns, bytes >> 32, 1ULL));
}

/* No packet waited for a while: raise the capacity. */
static inline void sxcp_drain_raise(struct sxcp_drain *d, u64 rate_bytes_ps)
{
	const unsigned int growth_shift = d->clear < XCP_DRAIN_CLEAR ? 5 : 2;

	d->waited = false;
	if (!d->rate_bytes_ps)
		return;
	sxcp_drain_set(d, d->rate_bytes_ps + (d->rate_bytes_ps >> growth_shift), rate_bytes_ps);
	if (d->clear < XCP_DRAIN_CLEAR)
		d->clear++;
}

static inline void sxcp_drain_start(struct sxcp_drain *d, const struct sxcp_drain_sent *sent)
{
	d->start_bytes = sent->bytes;
	d->start_moves = sent->moves;
	d->start_ns = sent->now_ns;
	d->waited = true;
}

/**
 * sxcp_drain_stop() - stop the measurement: packets do not wait for the port, or none is left
 * @d: the port
 *
 * The next measurement starts from zero.
 */
static inline void sxcp_drain_stop(struct sxcp_drain *d)
{
	d->waited = false;
}

/**
 * sxcp_drain_close() - update the measurement at the end of a control interval
 * @d: the port
 * @rate_bytes_ps: configured rate of the port, at most TC_XCP_RATE_MAX_BYTES_PS
 * @sent: current counts of the port
 *
 * Return: true if the capacity has become smaller.
 */
static inline bool sxcp_drain_close(struct sxcp_drain *d, u64 rate_bytes_ps,
				    const struct sxcp_drain_sent *sent)
{
	const u64 before_bytes_ps = sxcp_drain_capacity_bytes_ps(d, rate_bytes_ps);
	const u64 bytes = sent->bytes - d->start_bytes, elapsed_ns = sent->now_ns - d->start_ns;

	if (!d->waited || !sent->waits) {
		sxcp_drain_raise(d, rate_bytes_ps);
		if (sent->waits)
			sxcp_drain_start(d, sent);
		return false;
	}
	d->clear = 0;
	/* Nothing was sent: a device that was stopped says nothing about its rate. */
	if (!bytes) {
		sxcp_drain_start(d, sent);
		return false;
	}
	if (sent->moves - d->start_moves < XCP_DRAIN_MOVES)
		return false;
	sxcp_drain_start(d, sent);
	sxcp_drain_set(d, sxcp_drain_sent_bytes_ps(bytes, elapsed_ns), rate_bytes_ps);
	return sxcp_drain_capacity_bytes_ps(d, rate_bytes_ps) < before_bytes_ps;
}

#endif /* HOPCC_SCH_XCP_XCP_DRAIN_H */
