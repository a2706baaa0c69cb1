/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The available bandwidth of a port, draft-ravi-ippm-csig-01 sections 5.1 to 5.3:
 *
 *	utilization = delta_txbit / delta_t
 *	abw = capacity - utilization
 *
 * There are three estimators; T is the interval, delta_t:
 *
 *	raw	used = bytes / T of the last complete interval
 *	ewma	used = used + (sample - used) * w, at each departure: the sample is the size of
 *		the last packet over the gap since it left, and w = gap / (T + gap)
 *	dre	X = X + bytes at each departure; at the end of each period of T * 2^-shift
 *		used = X / T, then X = X * (1 - 2^-shift)
 *
 * All bytes of a packet count at the time when it leaves. On a port that sends packets of one
 * length at equal distances, the error of used is less than one packet per T: 1/n of the
 * capacity if T is n packet times.
 *
 * Intervals and periods follow each other without gaps from the first departure on. An interval
 * is closed at the next departure or dump after its end. This changes nothing but rounding,
 * since the intervals that have passed meanwhile were empty. So no timer is needed.
 *
 * The capacity is the configured rate, or less where the port is found to send less while packets
 * wait (hop_drain.h).
 *
 * A port that several transmit queues send through has one estimate. The queue that first sees
 * the end of a period closes it, with the bytes that all queues have sent, and the other queues
 * copy the result.
 *
 * Deviations:
 * - With several queues, ewma is updated 16 times per T and not at each departure, and the
 *   sample is the bytes sent since the last update. So no lock is taken for each packet.
 * - The EWMA of the draft gives every packet the same weight, so a burst would count more
 *   than the pause after it. With weights by time, no weight must be tuned to the packet size.
 * - CONGA's DRE is X / tau at any time, which falls by 2^-shift with each discount. Here
 *   the estimate uses the value of X before the last discount.
 */
#ifndef HOPCC_SCH_CSIG_CSIG_PORT_H
#define HOPCC_SCH_CSIG_CSIG_PORT_H

#include <linux/bits.h>
#include <linux/types.h>
#include <hopcc/lib/hop_drain.h>
#include <hopcc/wire/csig.h>
#include <uapi/linux/pkt_sched_csig.h>

#define CSIG_NS_PER_S		1000000000U
/* 10^3 / 8 */
#define CSIG_BYTES_PER_KBIT	125U
/*
 * Upper bound of the bytes sent in a period: 1.6 Tbit/s * 1 s are 2^38 bytes, but forged GSO
 * packets may claim more. 2^39 bytes * 10^9 / 10^4 ns < 2^56.
 */
#define CSIG_BYTES_MAX		BIT_ULL(39)
/* DRE's X in 2^-16 bytes: below 2^39 * 2^16 * 2^8 = 2^63; * 10^9 / (10^4 * 2^16) < 2^64. */
#define CSIG_DRE_SHIFT		16
/* X grows by 2^39 bytes per period at most, and loses 2^-8 of itself. */
#define CSIG_DRE_X_MAX		BIT_ULL(63)
/* Discount factors have a resolution of 2^-32. */
#define CSIG_DISCOUNT_SHIFT	32
/* On a port of several queues, ewma is updated every T / 16. */
#define CSIG_SHARED_EWMA_SHIFT	4
/* Upper bound of an estimate, beyond any device's rate: 2^40 bytes/s. */
#define CSIG_USED_MAX_BYTES_PS	BIT_ULL(40)

/**
 * struct scsig_port_params - parameters of a port; written by the qdisc
 * @capacity_bytes_ps: the port's configured rate, bytes/s; at least 1
 * @interval_ns: the configured T, ns
 * @estimator: TC_CSIG_ESTIMATOR_*
 * @shift: shift of the discount of dre
 * @shared: several transmit queues send through the port
 */
struct scsig_port_params {
	u64 capacity_bytes_ps;
	u64 interval_ns;
	u32 estimator;
	u32 shift;
	bool shared;
};

/**
 * struct scsig_port_vars - variables of the estimator; all zero at first
 * @runs: a packet has left
 * @dre_interval_ns: T that @dre_x is for, ns; 0 at first
 * @used_bytes_ps: the estimate of the used bandwidth, bytes/s
 * @start_ns: raw, dre: start of the current period; ewma: time of the last departure
 * @bytes: bytes sent since @start_ns; ewma: size of the last packet; bounded by CSIG_BYTES_MAX
 * @dre_x: X in units of 2^-CSIG_DRE_SHIFT bytes
 * @total_bytes: bytes that the port had sent at the last scsig_port_look()
 * @drain: measured rate of the port, if that is less than the configured rate
 * @drain_interval_ns: the shortest T for @drain, ns; 0: the configured rate is right
 */
struct scsig_port_vars {
	bool runs;
	u32 dre_interval_ns;
	u64 used_bytes_ps;
	u64 start_ns;
	u64 bytes;
	u64 dre_x;
	u64 total_bytes;
	struct hop_drain drain;
	u64 drain_interval_ns;
};

/**
 * scsig_port_interval_ns() - get the default interval of a port
 * @rate_bytes_ps: the port's rate, bytes/s, at least 1
 *
 * Flows that start together see each other's load only when an interval ends. So the interval must
 * not be longer than their RTT. It must also be long enough to contain many packets.
 *
 * Return: the transmission time of TC_CSIG_INTERVAL_DEFAULT_BYTES, ns, within the bounds of
 * intervals.
 */
u64 scsig_port_interval_ns(u64 rate_bytes_ps);

/**
 * scsig_port_t_ns() - get T
 * @v: variables of the port
 * @p: parameters of the port
 *
 * A port that is slower than its configured rate needs a longer interval, to contain as many
 * packets.
 *
 * Return: T, ns.
 */
static inline u64 scsig_port_t_ns(const struct scsig_port_vars *v,
				  const struct scsig_port_params *p)
{
	return max(p->interval_ns, v->drain_interval_ns);
}

/* The configured rate has changed, and may be the real rate now: forget the measured one. */
static inline void scsig_port_forget_drain(struct scsig_port_vars *v)
{
	v->drain = (struct hop_drain){};
	v->drain_interval_ns = 0;
}

/**
 * scsig_port_due_ns() - get the time after which scsig_port_look() can change the estimate
 * @v: variables of the port
 * @p: parameters of the port
 *
 * Return: the shortest time since scsig_port_vars.start_ns, ns, at least 1.
 */
static inline u64 scsig_port_due_ns(const struct scsig_port_vars *v,
				    const struct scsig_port_params *p)
{
	const u64 t_ns = scsig_port_t_ns(v, p);

	if (p->estimator == TC_CSIG_ESTIMATOR_DRE)
		return t_ns >> p->shift;
	if (p->estimator == TC_CSIG_ESTIMATOR_EWMA)
		return p->shared ? t_ns >> CSIG_SHARED_EWMA_SHIFT : 1;
	return t_ns;
}

/**
 * scsig_port_is_due() - must scsig_port_look() be called?
 * @v: the port's variables
 * @p: the port's parameters
 * @now_ns: current time, ns, of any clock that does not jump
 *
 * Return: false if scsig_port_look() would change nothing.
 */
static inline bool scsig_port_is_due(const struct scsig_port_vars *v,
				     const struct scsig_port_params *p, u64 now_ns)
{
	return (s64)(now_ns - v->start_ns) >= (s64)scsig_port_due_ns(v, p);
}

/**
 * scsig_port_look() - update the estimate to the current time
 * @v: variables of the port, which all of its queues share
 * @p: parameters of the port
 * @total_bytes: bytes on the wire that all queues have sent so far
 * @now_ns: current time, ns, of any clock that does not jump; another CPU may already have called
 *	this function with a later time
 *
 * The first call must be for the first departure, when the first interval starts.
 *
 * Return: true if an interval or period ended or, for ewma, if time has passed.
 */
bool scsig_port_look(struct scsig_port_vars *v, const struct scsig_port_params *p, u64 total_bytes,
		     u64 now_ns);

/**
 * scsig_port_available_bytes_ps() - get the available bandwidth, ABW
 * @v: variables of the port
 * @p: parameters of the port
 *
 * Return: bytes/s, 0 to the capacity.
 */
u64 scsig_port_available_bytes_ps(const struct scsig_port_vars *v,
				  const struct scsig_port_params *p);

/**
 * scsig_port_value() - get the port's value of a bandwidth signal, in the signal's unit
 * @v: variables of the port
 * @p: parameters of the port
 * @type: CSIG_ABW or CSIG_ABW_C
 *
 * Return: kbit/s or ppm, depending on @type.
 */
u64 scsig_port_value(const struct scsig_port_vars *v, const struct scsig_port_params *p, u32 type);

#endif /* HOPCC_SCH_CSIG_CSIG_PORT_H */
