/* SPDX-License-Identifier: GPL-2.0 */
/*
 * WRED with ECN on the instantaneous backlog: the decision, without the queue.
 *
 * Source: draft-bensley-tcpm-dctcp-01 section 3.1; RFC 3168 section 5; the probability function of
 * draft-dai-pfc-free-low-delay-control section 2.1:
 *
 *	q < min:		p = 0
 *	min <= q < max:		p = prob * (q - min) / (max - min)
 *	q >= max:		p = 1
 *
 * q is the backlog in wire bytes that the packet finds, before it is added. An ECN-capable packet
 * is marked with the probability of the profile `ect`, a Not-ECT packet is dropped with that of
 * `nect`. min = max is a step.
 *
 * Deviations:
 * - DCTCP marks at q > K, this algorithm at q >= max: configure K + 1 for the same comparison.
 * - A packet that is already marked CE passes, whatever its profile is, and is not counted as
 *   marked: RFC 3168 section 5, CE stays CE.
 * - Packets other than IP (ARP, LLDP, ...) have no sender that slows down after a drop: only the
 *   limit applies to them.
 * - A packet that exceeds the limit is dropped and not marked first.
 */
#ifndef HOPCC_SCH_WRED_WRED_H
#define HOPCC_SCH_WRED_WRED_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/types.h>
#include <uapi/linux/pkt_sched_wred.h>

/* Probabilities are compared with 32 random bits. */
#define WRED_RANDOM_SHIFT 32
/* 2^62: the largest slope * (q - min), which leaves room in a u64 */
#define WRED_SLOPE_SHIFT 62
#define WRED_PPM 1000000

/**
 * struct wred_profile - one curve; written only by configuration
 * @on: the profile is configured
 * @min_bytes: p = 0 below this backlog
 * @max_bytes: p = 1 from this backlog on; not below @min_bytes
 * @prob_ppm: p just below @max_bytes
 * @slope_q62: increase of p per byte above @min_bytes, << WRED_SLOPE_SHIFT
 */
struct wred_profile {
	bool on;
	u32 min_bytes;
	u32 max_bytes;
	u32 prob_ppm;
	u64 slope_q62;
};

/* Class of a packet */
enum wred_class {
	WRED_ECT,	/* ECN-capable: marked by the profile ect */
	WRED_CE,	/* already marked CE */
	WRED_NECT,	/* dropped by the profile nect */
	WRED_OTHER,	/* not IP */
};

enum wred_action {
	WRED_PASS,
	WRED_MARK,
	WRED_DROP_UNMARKABLE,	/* WRED_MARK, but the header could not be written */
	WRED_DROP_EARLY,
	WRED_DROP_LIMIT,
};

/**
 * struct wred_params - parameters; written under the qdisc lock
 * @limit_bytes: maximum backlog; exceeded only after it was lowered
 * @overhead_bytes: bytes that the link adds to each packet
 * @ect: profile for ECN-capable packets
 * @nect: profile for Not-ECT packets
 */
struct wred_params {
	u32 limit_bytes;
	u32 overhead_bytes;
	struct wred_profile ect;
	struct wred_profile nect;
};

/**
 * struct wred_vars - state of the queue; protected by the qdisc lock
 * @backlog_bytes: backlog in wire bytes
 * @peak_bytes: maximum of @backlog_bytes since the last reset
 */
struct wred_vars {
	u32 backlog_bytes;
	u32 peak_bytes;
};

/**
 * wred_profile_set_slope() - compute the slope at configuration, to avoid divisions later
 * @f: profile with min, max and prob set: min <= max <= 2^30, prob <= 10^6
 *
 * p is exact to 2^-32, the resolution of the random number that it is compared with.
 */
static inline void wred_profile_set_slope(struct wred_profile *f)
{
	const u32 width_bytes = f->max_bytes - f->min_bytes;
	/* 10^6 << 43 < 2^63 */
	const u64 prob_q43 = div_u64((u64)f->prob_ppm << 43, WRED_PPM);

	/* 2^43 << 19 = 2^62 */
	f->slope_q62 = width_bytes ? div_u64(prob_q43 << (WRED_SLOPE_SHIFT - 43), width_bytes) : 0;
}

/* Return: true if the backlog is between the thresholds, where the decision is random */
static inline bool wred_on_ramp(const struct wred_profile *f, u32 backlog_bytes)
{
	return f->on && backlog_bytes > f->min_bytes && backlog_bytes < f->max_bytes;
}

/* Return: p << WRED_RANDOM_SHIFT, so 2^32 means p = 1 */
static inline u64 wred_profile_prob_q32(const struct wred_profile *f, u32 backlog_bytes)
{
	if (!f->on || backlog_bytes < f->min_bytes)
		return 0;
	if (backlog_bytes >= f->max_bytes)
		return 1ULL << WRED_RANDOM_SHIFT;
	/* (max - min) * 2^62 / (max - min) <= 2^62 */
	return ((backlog_bytes - f->min_bytes) * f->slope_q62) >>
	       (WRED_SLOPE_SHIFT - WRED_RANDOM_SHIFT);
}

/* Return: the profile for a class of packets; NULL if none applies */
static inline const struct wred_profile *wred_profile_of(const struct wred_params *p,
							 enum wred_class class)
{
	switch (class) {
	case WRED_ECT:
		return &p->ect;
	case WRED_NECT:
		return &p->nect;
	case WRED_CE:
	case WRED_OTHER:
		break;
	}
	return NULL;
}

/**
 * wred_needs_random() - does wred_decide() need a random number?
 * @p: parameters
 * @v: the queue
 * @class: class of the packet
 *
 * Avoids drawing a random number for most packets.
 *
 * Return: true if it does.
 */
static inline bool wred_needs_random(const struct wred_params *p, const struct wred_vars *v,
				     enum wred_class class)
{
	const struct wred_profile *f = wred_profile_of(p, class);

	return f && wred_on_ramp(f, v->backlog_bytes);
}

/**
 * wred_decide() - decide what happens to an arriving packet
 * @p: parameters
 * @v: the queue, without the packet
 * @class: class of the packet
 * @pkt_bytes: size of the packet in wire bytes
 * @random: 32 random bits
 *
 * Return: the decision; never WRED_DROP_UNMARKABLE, which only the caller can detect.
 */
static inline enum wred_action wred_decide(const struct wred_params *p,
					   const struct wred_vars *v,
					   enum wred_class class, u32 pkt_bytes, u32 random)
{
	const struct wred_profile *f = wred_profile_of(p, class);

	/* A lowered limit may be below the backlog. No overflow: 2^30 + 2^31 < 2^32 */
	if (v->backlog_bytes + pkt_bytes > p->limit_bytes)
		return WRED_DROP_LIMIT;
	if (!f || random >= wred_profile_prob_q32(f, v->backlog_bytes))
		return WRED_PASS;
	return class == WRED_ECT ? WRED_MARK : WRED_DROP_EARLY;
}

/* Count a packet that is queued. */
static inline void wred_add(struct wred_vars *v, u32 pkt_bytes)
{
	v->backlog_bytes += pkt_bytes;
	v->peak_bytes = max(v->peak_bytes, v->backlog_bytes);
}

/* Count a packet that leaves the queue. */
static inline void wred_remove(struct wred_vars *v, u32 pkt_bytes)
{
	v->backlog_bytes -= pkt_bytes;
}

/* Count the decision for @pkts packets. */
static inline void wred_count(struct tc_wred_xstats *s, enum wred_class class,
			      enum wred_action decision, u32 pkts)
{
	switch (decision) {
	case WRED_PASS:
		s->ce_pkts += class == WRED_CE ? pkts : 0;
		break;
	case WRED_MARK:
		s->marked_pkts += pkts;
		break;
	case WRED_DROP_UNMARKABLE:
		s->ect_dropped_pkts += pkts;
		break;
	case WRED_DROP_EARLY:
		s->nect_dropped_pkts += pkts;
		break;
	case WRED_DROP_LIMIT:
		s->limit_dropped_pkts += pkts;
		break;
	}
}

#endif /* HOPCC_SCH_WRED_WRED_H */
