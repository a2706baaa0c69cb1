/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measured rate of a port that sends less than its configured rate: the rate may have been set for
 * another link, the link may have become slower, or the machine may not be able to send as fast as
 * its virtual NIC reports. The drafts do not cover this case. Senders fill the buffer of a port
 * whose qdisc reports spare capacity that does not exist.
 *
 * A port is measured while packets wait all the time, over at least one interval of the qdisc and
 * HOP_DRAIN_MOVES. The measured rate becomes the capacity if it is less than 7/8 of the configured
 * rate. There are two rules for raising it again, up to the configured rate:
 *
 *	hop_drain_close()	sch_xcp: by 1/32 per control interval in which the queue becomes
 *				empty, and by 1/4 after HOP_DRAIN_CLEAR of them. XCP keeps no
 *				queue, and its control interval is a round trip.
 *	hop_drain_look()	sch_csig, whose senders keep a queue of a few packets that is often
 *				empty, and whose interval may be shorter than two packet times.
 *				Instead of intervals it has spans of HOP_DRAIN_MOVES:
 *				- the port sends more than the measured rate: the capacity is 1/4
 *				  more than that, at most twice the measured rate;
 *				- no packet waits: raised as in an interval of sch_xcp;
 *				- packets wait now and then: unchanged;
 *				- HOP_DRAIN_KEPT_NS or more with less than 1/4 of the measured
 *				  rate: back to the configured rate.
 *
 * A port that several transmit queues send through has one measured rate. While packets wait in one
 * of its queues, the port sends what it can, so each queue measures the bytes of all queues.
 */
#ifndef HOPCC_LIB_HOP_DRAIN_H
#define HOPCC_LIB_HOP_DRAIN_H

#include <linux/minmax.h>
#include <linux/types.h>

#define HOP_DRAIN_NS_PER_S		1000000000U
/* Bounds of the rate that tc accepts: 10 kbit/s and 1.6 Tbit/s */
#define HOP_DRAIN_RATE_MIN_BYTES_PS	1250ULL
#define HOP_DRAIN_RATE_MAX_BYTES_PS	200000000000ULL
#define HOP_DRAIN_CLEAR			16U
/*
 * Arrivals and departures in a measurement: enough that one packet more or less changes the result
 * by only a few per cent
 */
#define HOP_DRAIN_MOVES			64U
/* A port sends more than its measured rate if it sends 1/16 more: two packets of a measurement. */
#define HOP_DRAIN_MORE_SHIFT		4
#define HOP_DRAIN_SLOW_SHIFT		5
#define HOP_DRAIN_FAST_SHIFT		2
/* A port that uses less than 1/4 of its measured rate for this time is measured again. */
#define HOP_DRAIN_KEPT_NS		100000000U
#define HOP_DRAIN_IDLE_SHIFT		2

/**
 * struct hop_drain - measured rate of a port; all zero at first
 * @rate_bytes_ps: measured rate; 0: no less than the configured rate
 * @changed_ns: time when a queue of the port last found that packets wait, or raised the rate;
 *	only for hop_drain_look()
 * @clear: intervals or spans since packets last waited, at most HOP_DRAIN_CLEAR
 */
struct hop_drain {
	u64 rate_bytes_ps;
	u64 changed_ns;
	u8 clear;
};

/**
 * struct hop_drain_run - a queue's current measurement; all zero at first
 * @start_bytes: bytes sent when the measurement started
 * @start_ns: time when the measurement started
 * @start_moves: arrivals and departures when the measurement started
 * @waited: packets have waited all the time since it started
 * @waited_once: a packet has waited since it started; only for hop_drain_look()
 */
struct hop_drain_run {
	u64 start_bytes;
	u64 start_ns;
	u64 start_moves;
	bool waited;
	bool waited_once;
};

/**
 * struct hop_drain_sent - a port's counts at the end of an interval; only differences matter
 * @bytes: bytes sent, on the link; those of all queues
 * @moves: arrivals and departures of this queue
 * @now_ns: current time; never decreases
 * @waits: packets are waiting now in this queue
 */
struct hop_drain_sent {
	u64 bytes;
	u64 moves;
	u64 now_ns;
	bool waits;
};

/**
 * hop_drain_capacity_bytes_ps() - get the capacity of a port, configured or measured
 * @d: the port
 * @rate_bytes_ps: configured rate of the port, bytes/s
 *
 * Return: bytes/s, at most @rate_bytes_ps.
 */
static inline u64 hop_drain_capacity_bytes_ps(const struct hop_drain *d, u64 rate_bytes_ps)
{
	return min(d->rate_bytes_ps ?: rate_bytes_ps, rate_bytes_ps);
}

/**
 * hop_drain_stop() - stop the measurement: packets do not wait for the port, or none is left
 * @run: the queue's measurement
 *
 * The next measurement starts from zero.
 */
static inline void hop_drain_stop(struct hop_drain_run *run)
{
	run->waited = false;
}

/**
 * hop_drain_close() - update the measurement at the end of a control interval of XCP
 * @d: the port
 * @run: its measurement
 * @rate_bytes_ps: configured rate of the port, at most HOP_DRAIN_RATE_MAX_BYTES_PS
 * @sent: current counts of the port
 *
 * Return: true if the capacity has become smaller.
 */
bool hop_drain_close(struct hop_drain *d, struct hop_drain_run *run, u64 rate_bytes_ps,
		     const struct hop_drain_sent *sent);

/**
 * hop_drain_look() - update the measurement at the end of an interval of CSIG
 * @d: the port
 * @run: the measurement of one of its queues
 * @rate_bytes_ps: configured rate of the port, at most HOP_DRAIN_RATE_MAX_BYTES_PS
 * @sent: current counts of the port
 *
 * Return: true if the capacity has become smaller.
 */
bool hop_drain_look(struct hop_drain *d, struct hop_drain_run *run, u64 rate_bytes_ps,
		    const struct hop_drain_sent *sent);

/**
 * hop_drain_depart() - note that a packet has left the queue
 * @run: the queue's measurement, for hop_drain_look()
 * @waits: packets are left
 */
static inline void hop_drain_depart(struct hop_drain_run *run, bool waits)
{
	if (waits)
		run->waited_once = true;
	else
		run->waited = false;
}

#endif /* HOPCC_LIB_HOP_DRAIN_H */
