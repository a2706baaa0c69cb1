/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a port is not used, draft-ravi-ippm-csig-01 sections 5.1 to 5.3:
 *
 *	utilization = delta_txbit / delta_t
 *	abw = capacity - utilization
 *
 * by one of three estimators; T is the interval, delta_t:
 *
 *	raw	used = bytes / T of the last whole interval
 *	ewma	used = used + (sample - used) * w, at each departure: the sample is what left
 *		last over the gap since, and w = gap / (T + gap)
 *	dre	X = X + bytes at each departure; at the end of each period of T * 2^-shift
 *		used = X / T, then X = X * (1 - 2^-shift)
 *
 * A packet counts as a whole when it leaves. On a port that sends packets of one length
 * evenly, used is off by less than one packet in T: 1/n of the capacity where T is n
 * packet times.
 *
 * Intervals and periods follow each other without gaps from the first departure on. They
 * end when somebody next looks, which changes nothing but rounding: those that have passed
 * since were empty. So a timer is only for those who look without a packet.
 *
 * A port that several transmit queues send through has one estimate: the queue that finds a
 * period over ends it, with what all have sent, and the others take over the result.
 *
 * Deviations:
 * - With several queues ewma is brought up to date 16 times in T, not at each departure: the
 *   sample is what left since. So no lock is taken for each packet.
 * - The EWMA of the draft weighs every packet alike, so that a burst would count for more
 *   than the pause after it. Weighed by time, no weight need be tuned to the packets' size.
 * - CONGA's DRE says X / tau at any time, which falls by 2^-shift with each discount. Here
 *   it is what X was before the last discount.
 */
#ifndef HOPCC_CSIG_PORT_H
#define HOPCC_CSIG_PORT_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <net/csig.h>
#include <uapi/linux/pkt_sched_csig.h>

#define CSIG_NS_PER_S		1000000000U
/* 10^3 / 8 */
#define CSIG_BYTES_PER_KBIT	125U
/*
 * Of what leaves in a period: 1.6 Tbit/s * 1 s are 2^38 bytes, but forged super-packets may
 * claim more. 2^39 bytes * 10^9 / 10^4 ns < 2^56.
 */
#define CSIG_BYTES_MAX		BIT_ULL(39)
/* DRE's X in 2^-16 bytes: below 2^39 * 2^16 * 2^8 = 2^63; * 10^9 / (10^4 * 2^16) < 2^64. */
#define CSIG_DRE_SHIFT		16
/* Discounts are multiplied in 2^-32. */
#define CSIG_DISCOUNT_SHIFT	32
/* T / 16: how often ewma is brought up to date on a port of several queues. */
#define CSIG_SHARED_EWMA_SHIFT	4
/* No estimate is greater than a device could be; 2^40 bytes/s. */
#define CSIG_USED_MAX_BYTES_PS	BIT_ULL(40)

/**
 * struct csig_port_params - of a port; written by its owner
 * @capacity_bytes_ps: its rate; at least 1
 * @interval_ns: T
 * @estimator: TC_CSIG_ESTIMATOR_*
 * @shift: of dre
 */
struct csig_port_params {
	u64 capacity_bytes_ps;
	u64 interval_ns;
	u32 estimator;
	u32 shift;
};

/**
 * struct csig_port_vars - what is known; zero at first: nothing is used
 * @runs: something has left
 * @used_bytes_ps: the estimate
 * @start_ns: raw, dre: when the period that runs began; ewma: the last departure
 * @bytes: what has left since; ewma: what left last; more than CSIG_BYTES_MAX counts as that
 * @dre_x: X in 2^-CSIG_DRE_SHIFT bytes
 * @periods: that ended
 * @total_bytes: what all queues of the port had sent at the last look; only of a port that several
 *	queues send through
 */
struct csig_port_vars {
	bool runs;
	u64 used_bytes_ps;
	u64 start_ns;
	u64 bytes;
	u64 dre_x;
	u64 periods;
	u64 total_bytes;
};

static inline u64 csig_port_rate(u64 bytes, u64 time_ns)
{
	return mul_u64_u64_div_u64(bytes, CSIG_NS_PER_S, time_ns);
}

/**
 * csig_port_interval_ns() - the interval of a port for which none was set
 * @rate_bytes_ps: the port's rate, at least 1
 *
 * Flows that start together find out about each other when an interval ends, so it must not be
 * longer than their round trip; and it must hold enough packets to be counted in.
 *
 * Return: the time of TC_CSIG_INTERVAL_DEFAULT_BYTES, within the bounds of intervals.
 */
static inline u64 csig_port_interval_ns(u64 rate_bytes_ps)
{
	const u64 ns = div64_u64((u64)TC_CSIG_INTERVAL_DEFAULT_BYTES * CSIG_NS_PER_S,
				 rate_bytes_ps);

	return clamp_t(u64, ns, TC_CSIG_INTERVAL_MIN_NS, TC_CSIG_INTERVAL_MAX_NS);
}

/**
 * csig_port_period_ns() - how long until there is something new to know
 * @p: of the port
 *
 * Return: T for raw and ewma, 2^shift times less for dre.
 */
static inline u64 csig_port_period_ns(const struct csig_port_params *p)
{
	return p->estimator == TC_CSIG_ESTIMATOR_DRE ? p->interval_ns >> p->shift : p->interval_ns;
}

/**
 * csig_port_due_ns() - time from one change of the estimate to the next
 * @p: the port's parameters
 *
 * Return: the shortest time since csig_port_vars.start_ns, ns, at least 1.
 */
static inline u64 csig_port_due_ns(const struct csig_port_params *p)
{
	return p->estimator == TC_CSIG_ESTIMATOR_EWMA ? 1 : csig_port_period_ns(p);
}

/**
 * csig_port_shared_due_ns() - the same of a port that several queues send through
 * @p: the port's parameters
 *
 * Return: the shortest time since csig_port_vars.start_ns, ns, at least 1.
 */
static inline u64 csig_port_shared_due_ns(const struct csig_port_params *p)
{
	return p->estimator == TC_CSIG_ESTIMATOR_EWMA ? p->interval_ns >> CSIG_SHARED_EWMA_SHIFT :
							csig_port_period_ns(p);
}

/**
 * csig_port_is_due() - must csig_port_look() be called?
 * @v: the port's variables
 * @due_ns: result of csig_port_due_ns(), ns
 * @now_ns: any clock that does not jump
 *
 * Return: false if csig_port_look() would change nothing.
 */
static inline bool csig_port_is_due(const struct csig_port_vars *v, u64 due_ns, u64 now_ns)
{
	return now_ns - v->start_ns >= due_ns;
}

/* (1 - 2^-shift)^n, by squares, in 2^-32; 0 once it is below that. */
static inline u64 csig_port_discount(u32 shift, u64 n)
{
	u64 factor = (1ULL << CSIG_DISCOUNT_SHIFT) - (1ULL << (CSIG_DISCOUNT_SHIFT - shift));
	u64 product = 1ULL << CSIG_DISCOUNT_SHIFT;

	for (; n && factor; n >>= 1) {
		if (n & 1)
			product = mul_u64_u64_shr(product, factor, CSIG_DISCOUNT_SHIFT);
		factor = mul_u64_u64_shr(factor, factor, CSIG_DISCOUNT_SHIFT);
	}
	return n ? 0 : product;
}

/* @n periods have ended, at least one: all but the first were empty. */
static inline void csig_port_close_dre(struct csig_port_vars *v, const struct csig_port_params *p,
				       u64 n)
{
	v->dre_x = mul_u64_u64_shr(v->dre_x + (v->bytes << CSIG_DRE_SHIFT),
				   csig_port_discount(p->shift, n - 1), CSIG_DISCOUNT_SHIFT);
	v->used_bytes_ps = mul_u64_u64_div_u64(v->dre_x, CSIG_NS_PER_S,
					       p->interval_ns << CSIG_DRE_SHIFT);
	v->dre_x -= v->dre_x >> p->shift;
}

/* What left last, spread over the time since. 2^40 * 2^30 / 2^30 */
static inline void csig_port_weigh(struct csig_port_vars *v, const struct csig_port_params *p,
				   u64 gap_ns)
{
	const u64 whole_ns = p->interval_ns + gap_ns;

	v->used_bytes_ps = mul_u64_u64_div_u64(v->used_bytes_ps, p->interval_ns, whole_ns) +
			   csig_port_rate(v->bytes, whole_ns);
	v->used_bytes_ps = min_t(u64, v->used_bytes_ps, CSIG_USED_MAX_BYTES_PS);
}

/**
 * csig_port_look() - bring the estimate up to a moment
 * @v: of the port
 * @p: of the port
 * @now_ns: any clock that does not jump
 *
 * Return: whether an interval or period ended, or for ewma, whether time has passed.
 */
static inline bool csig_port_look(struct csig_port_vars *v, const struct csig_port_params *p,
				  u64 now_ns)
{
	const u64 period_ns = csig_port_period_ns(p);
	const u64 passed_ns = now_ns - v->start_ns;
	u64 n = 1;

	if (!v->runs)
		return false;
	v->bytes = min_t(u64, v->bytes, CSIG_BYTES_MAX);
	if (p->estimator == TC_CSIG_ESTIMATOR_EWMA) {
		if (!passed_ns)
			return false;
		csig_port_weigh(v, p, passed_ns);
		v->start_ns = now_ns;
	} else {
		if (passed_ns < period_ns)
			return false;
		n = div64_u64(passed_ns, period_ns);
		if (p->estimator == TC_CSIG_ESTIMATOR_DRE)
			csig_port_close_dre(v, p, n);
		else
			v->used_bytes_ps = n > 1 ? 0 : csig_port_rate(v->bytes, period_ns);
		v->start_ns += n * period_ns;
	}
	v->bytes = 0;
	v->periods += n;
	return true;
}

/**
 * csig_port_look_total() - csig_port_look() of a port that several queues send through
 * @v: the port's variables, which all queues share
 * @p: the port's parameters
 * @due_ns: result of csig_port_shared_due_ns(), ns
 * @total_bytes: what all queues have sent so far, bytes on the wire
 * @now_ns: any clock that does not jump; another CPU may have looked at a later time
 *
 * Return: true if an interval or period ended.
 */
static inline bool csig_port_look_total(struct csig_port_vars *v, const struct csig_port_params *p,
					u64 due_ns, u64 total_bytes, u64 now_ns)
{
	const u64 left_bytes = total_bytes - v->total_bytes;

	v->total_bytes = total_bytes;
	if (!v->runs) {
		v->runs = true;
		v->start_ns = now_ns;
		return false;
	}
	v->bytes = min_t(u64, v->bytes + min_t(u64, left_bytes, CSIG_BYTES_MAX), CSIG_BYTES_MAX);
	if ((s64)(now_ns - v->start_ns) < (s64)due_ns)
		return false;
	return csig_port_look(v, p, now_ns);
}

/**
 * csig_port_sent() - a packet leaves, after csig_port_look() of that moment
 * @v: of the port
 * @now_ns: that moment
 * @bytes: on the wire
 */
static inline void csig_port_sent(struct csig_port_vars *v, u64 now_ns, u32 bytes)
{
	if (!v->runs) {
		v->runs = true;
		v->start_ns = now_ns;
	}
	/* csig_port_look() bounds the sum: once an interval is enough. */
	v->bytes += bytes;
}

/**
 * csig_port_available_bytes_ps() - ABW
 * @v: of the port
 * @p: of the port
 *
 * Return: bytes/s, 0 to the capacity.
 */
static inline u64 csig_port_available_bytes_ps(const struct csig_port_vars *v,
					       const struct csig_port_params *p)
{
	return p->capacity_bytes_ps - min(v->used_bytes_ps, p->capacity_bytes_ps);
}

/**
 * csig_port_value() - what the port has to say, in the signal's unit
 * @v: of the port
 * @p: of the port
 * @type: enum csig_type
 * @waited_ns: the packet's delay, for CSIG_PD
 *
 * Return: kbit/s, ppm or ns.
 */
static inline u64 csig_port_value(const struct csig_port_vars *v,
				  const struct csig_port_params *p, u32 type, u64 waited_ns)
{
	const u64 available_bytes_ps = csig_port_available_bytes_ps(v, p);

	if (type == CSIG_PD)
		return waited_ns;
	if (type == CSIG_ABW)
		return div_u64(available_bytes_ps, CSIG_BYTES_PER_KBIT);
	/* 2^38 * 2^20 */
	return div64_u64(available_bytes_ps * CSIG_PPM_MAX, p->capacity_bytes_ps);
}

#endif /* HOPCC_CSIG_PORT_H */
