/* SPDX-License-Identifier: GPL-2.0 */
/*
 * u of HPCC++ from reduced records, for hop_core/hpcc.c: what the draft computes from a queue, a
 * counter, a timestamp and a speed, for switches that do not report all of these.
 *
 *	source		u' of a hop, q = min(qlen, qlen')
 *	counter		q / (B T) + txRate / B			as drafted
 *	utilisation	q / (B T) + utilisation
 *	queue only	1 + q / (B T)				if q > 0
 *			max(own rate / B, 0.97 target)		otherwise
 *
 * The most precise source of each hop is used. The target of a hop with a queue only is 1.05
 * instead of eta: its flows keep a short standing queue, since an empty queue does not tell how
 * much capacity is free. All u' are scaled to the target eta, and u is the largest, as drafted. An
 * empty queue must not count as the flow's own share: with N flows U would be 1 / N, and all of
 * them would multiply their windows.
 *
 * The report of a switch may be wrong. Rules that bound the harm:
 * - A value that cannot be true is not used: a clock that runs at less than half or more than twice
 *   the speed of ours, a rate above the port's speed. After TLM_FAULTS_MAX of them in a row a less
 *   precise source of the hop takes over; after the last one the hop is unknown.
 * - A counter or a clock that stands still for TLM_FROZEN_RTTS and TLM_FROZEN_ANSWERS is not used
 *   any more, nor a queue that does not change so long although the flow reduces its rate.
 * - An unknown hop is not saturated, and not idle either: the window grows by W_ai at most. The
 *   same holds for a hop with a queue only, until it has reported a queue for the first time. If no
 *   hop can be used, the congestion control falls back to Reno.
 * - A queue that is not reported shows in the RTT. While the minimum RTT of a round is longer than
 *   2 T, twice the reported queues and a slack, the window does not grow. Such a round counts as
 *   TLM_GUARD_STEP, any other one is subtracted as 1. At TLM_GUARD_MAX the congestion control falls
 *   back to Reno.
 * - u is at least eta / 2, so that the window doubles at most once in a round. hop_core/hpcc.c
 *   limits it to a BDP at line rate.
 *
 * Deviations from the draft:
 * - A counter that the switch updates at intervals is used when it has changed, over the time since
 *   the previous change was seen.
 * - An average over more than T lags: Wc is to be updated once in that time (@hold_ns), not once in
 *   a round trip.
 */
#ifndef HOPCC_LIB_TLM_LAW_H
#define HOPCC_LIB_TLM_LAW_H

#include <hopcc/lib/hpcc.h>
#include <hopcc/lib/tlm.h>

/* 1.05 and 0.97 in 2^-HPCC_U_SHIFT */
#define TLM_TARGET_DEFAULT	1101005U
#define TLM_IDLE		1017119U
#define TLM_SLACK_DEFAULT_NS	50000U
/* A rate of more than 1 + 1/16 of the port's speed is not plausible. */
#define TLM_EXCESS_SHIFT	4
/* A time difference is used from so many units of the clock's resolution on. */
#define TLM_TICKS_MIN		16U
#define TLM_FAULTS_MAX		4U
#define TLM_FROZEN_RTTS		16U
#define TLM_FROZEN_REFRESHES	4U
#define TLM_FROZEN_ANSWERS	16U
#define TLM_GUARD_STEP		2U
#define TLM_GUARD_MAX		16U
/*
 * Records that were stored longer ago than this and than 640 T are replaced. A flow with a window
 * of HPCC_WND_MIN_BYTES sends a packet of 9000 bytes every 565 T, and must be able to measure.
 */
#define TLM_STALE_MIN_NS	10000000ULL
#define TLM_STALE_RTTS		640U

/**
 * enum tlm_source - from what u' of a hop is computed
 * @TLM_SOURCE_NONE: the hop is unknown
 * @TLM_SOURCE_QUEUE: only its queue
 * @TLM_SOURCE_UTIL: queue and utilisation
 * @TLM_SOURCE_TX: queue and counter
 * @TLM_SOURCES: number of sources
 */
enum tlm_source {
	TLM_SOURCE_NONE,
	TLM_SOURCE_QUEUE,
	TLM_SOURCE_UTIL,
	TLM_SOURCE_TX,
	TLM_SOURCES,
};

/**
 * struct tlm_params - parameters of a connection; written by its owner
 * @t_ns: T, HPCC_T_MIN_NS to HPCC_T_MAX_NS
 * @eta: target utilisation, in 2^-HPCC_U_SHIFT
 * @target: target of hops with a queue only, in 2^-HPCC_U_SHIFT, 1 to 2
 * @slack_ns: time by which an RTT may exceed 2 T without a reported queue
 * @trust_idle: the administrator confirms that an empty queue is reported truly
 */
struct tlm_params {
	u32 t_ns;
	u32 eta;
	u32 target;
	u32 slack_ns;
	bool trust_idle;
};

/**
 * struct tlm_sample - what the sender knows beside the records
 * @now_ns: local clock
 * @own_bytes_ps: rate of the flow, W / T at most
 * @rtt_ns: RTT of the packet that collected the records; 0: not known
 */
struct tlm_sample {
	u64 now_ns;
	u64 own_bytes_ps;
	u32 rtt_ns;
};

/**
 * struct tlm_hop - stored state of a hop
 * @ts_ns: timestamp of the stored record
 * @tx_bytes: its counter
 * @stored_ns: local time at which it was stored
 * @seen_ns: local time of the latest record
 * @steady_ns: local time since which the queue is @queue_bytes
 * @steady_bytes_ps: rate of the flow at that time
 * @queue_bytes: queue of the latest record
 * @node_id: node of the latest record
 * @port_id: port of the latest record
 * @mbit_ps: speed of the port
 * @u: u', scaled to the target eta, in 2^-HPCC_U_SHIFT
 * @steady: number of records in a row with that queue
 * @source: enum tlm_source that @u is computed from
 * @faults: number of implausible records in a row
 * @still: number of records in a row whose counter or clock is that of the stored one
 * @out: BIT() of the sources that turned out to be useless
 * @queue_seen: the hop has reported a queue
 */
struct tlm_hop {
	u64 ts_ns;
	u64 tx_bytes;
	u64 stored_ns;
	u64 seen_ns;
	u64 steady_ns;
	u64 steady_bytes_ps;
	u32 queue_bytes;
	u32 node_id;
	u32 port_id;
	u32 mbit_ps;
	u32 u;
	u16 steady;
	u8 source;
	u8 faults;
	u8 still;
	u8 out;
	bool queue_seen;
};

/**
 * struct tlm_vars - state of the records of a connection
 * @hop: the hops of the path
 * @round_ns: local time at which the guard's round started
 * @rtt_min_ns: minimum RTT of the round; 0: none
 * @queues_ns: longest sum of reported queues in the round
 * @path_id: path of the latest answer
 * @records: number of valid entries of @hop; 0: no answer yet
 * @guard: rounds whose RTT the reports contradict, weighted; from TLM_GUARD_MAX on Reno
 * @guard_bad: the latest round was one of these
 * @implausible: number of records that were not used since they could not be true
 */
struct tlm_vars {
	struct tlm_hop hop[TLM_HOPS_MAX];
	u64 round_ns;
	u32 rtt_min_ns;
	u64 queues_ns;
	u16 path_id;
	u8 records;
	u8 guard;
	bool guard_bad;
	u32 implausible;
};

/**
 * struct tlm_load - load of a path
 * @u: u, for hpcc_receive_ratio()
 * @tau_ns: time over which it was measured
 * @hold_ns: minimum interval at which Wc is to be updated; 0: once in a round trip
 * @bottleneck: index of the hop with the largest u'
 * @source: source of that hop
 * @unknown: number of hops that are not known
 */
struct tlm_load {
	u32 u;
	u32 tau_ns;
	u32 hold_ns;
	u8 bottleneck;
	u8 source;
	u8 unknown;
};

/**
 * tlm_share() - a number of bytes as a part of what a port can send
 * @bytes: number of bytes
 * @mbit_ps: speed of the port, 1 to TLM_MBIT_MAX
 * @of_ns: time, 1 to 2^40
 *
 * Return: the part, in 2^-HPCC_U_SHIFT, saturated.
 */
static inline u32 tlm_share(u64 bytes, u32 mbit_ps, u64 of_ns)
{
	/* In units of 1/8000 bytes: 2^21 * 2^40 */
	u64 capacity = (u64)mbit_ps * of_ns;

	while (bytes >> 31) {
		bytes >>= 8;
		capacity >>= 8;
	}
	if (!capacity)
		return U32_MAX;
	/* 2^31 * 2^13 * 2^20 = 2^64 */
	return min_t(u64, div64_u64(bytes * (8000ULL << HPCC_U_SHIFT), capacity), U32_MAX);
}

/* Difference of two values of a counter that wraps at @period; 0: 2^64. */
static inline u64 tlm_since(u64 now, u64 then, u64 period)
{
	return now >= then || !period ? now - then : period - then + now;
}

static inline bool tlm_is_usable(const struct tlm_hop *h, enum tlm_source source)
{
	return !(h->out & BIT(source));
}

/* The most precise source that the record has. */
static inline enum tlm_source tlm_pick(const struct tlm_hop *h, const struct tlm_record *r)
{
	const u16 base = TLM_HAS(TLM_QUEUE) | TLM_HAS(TLM_SPEED);
	const u16 tx = TLM_HAS(TLM_TX) | TLM_HAS(TLM_NS);

	if ((r->has & base) != base)
		return TLM_SOURCE_NONE;
	if ((r->has & tx) == tx && tlm_is_usable(h, TLM_SOURCE_TX))
		return TLM_SOURCE_TX;
	if (r->has & TLM_HAS(TLM_UTIL) && tlm_is_usable(h, TLM_SOURCE_UTIL))
		return TLM_SOURCE_UTIL;
	return tlm_is_usable(h, TLM_SOURCE_QUEUE) ? TLM_SOURCE_QUEUE : TLM_SOURCE_NONE;
}

/* Stores a record that later ones are compared with. */
static inline void tlm_store(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	h->ts_ns = r->ts_ns;
	h->tx_bytes = r->tx_bytes;
	h->stored_ns = now_ns;
	h->seen_ns = now_ns;
	h->queue_bytes = r->queue_bytes;
	h->still = 0;
}

static inline void tlm_start_hop(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	*h = (struct tlm_hop) {
		.node_id = r->node_id,
		.port_id = r->port_id,
		.mbit_ps = r->mbit_ps,
		.steady_ns = now_ns,
	};
	h->source = tlm_pick(h, r);
	h->queue_seen = r->has & TLM_HAS(TLM_QUEUE) && r->queue_bytes;
	tlm_store(h, r, now_ns);
}

/* The source is useless: a less precise one starts anew with this record. */
static inline void tlm_drop_source(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	h->out |= BIT(h->source);
	/* Without a true queue there is nothing to compute with. */
	if (h->source == TLM_SOURCE_QUEUE)
		h->out |= BIT(TLM_SOURCE_TX) | BIT(TLM_SOURCE_UTIL);
	h->source = tlm_pick(h, r);
	h->faults = 0;
	h->u = 0;
	tlm_store(h, r, now_ns);
}

/* Counts a record that cannot be true; it is stored, since a clock may have been set. */
static inline u32 tlm_fault(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	if (++h->faults >= TLM_FAULTS_MAX)
		tlm_drop_source(h, r, now_ns);
	else
		tlm_store(h, r, now_ns);
	return 0;
}

/* Return: true if both clocks agree on a time, except for jitter of the packets. */
static inline bool tlm_clocks_agree(u64 hop_ns, u64 local_ns, u32 slack_ns)
{
	return hop_ns <= 2 * local_ns + slack_ns && local_ns <= 2 * hop_ns + slack_ns;
}

/* u' from the part of the speed that was sent, and from the queue. */
static inline u32 tlm_u(const struct tlm_hop *h, const struct tlm_record *r,
			const struct tlm_params *p, u32 sent)
{
	const u32 queue_bytes = min(r->queue_bytes, h->queue_bytes);
	const u32 queued_bytes = queue_bytes - min(queue_bytes, HPCC_FREE_BYTES);
	const u64 u = (u64)min_t(u32, sent, HPCC_U_ONE) + tlm_share(queued_bytes, h->mbit_ps,
								    p->t_ns);

	return min_t(u64, u, HPCC_U_MAX);
}

/* Time for which a counter may stand still. */
static inline u64 tlm_frozen_ns(const struct tlm_record *r, const struct tlm_params *p)
{
	return max_t(u64, (u64)p->t_ns * TLM_FROZEN_RTTS,
		     (u64)r->tx_refresh_ns * TLM_FROZEN_REFRESHES);
}

/* The counter. Return: tau, or 0 if there is no new u'. */
static inline u32 tlm_measure_tx(struct tlm_hop *h, const struct tlm_record *r,
				 const struct tlm_params *p, u64 now_ns)
{
	const u64 local_ns = now_ns - h->stored_ns, gap_ns = now_ns - h->seen_ns;
	const u64 dt_ns = tlm_since(r->ts_ns, h->ts_ns, r->ts_period_ns);
	const u64 bytes = tlm_since(r->tx_bytes, h->tx_bytes, r->tx_period_bytes);
	u64 most;
	u32 sent;

	h->seen_ns = now_ns;
	if (!dt_ns || !bytes || dt_ns < (u64)r->ts_res_ns * TLM_TICKS_MIN) {
		/* A flow with few packets may send less than a unit of the counter in long. */
		h->still += h->still < U8_MAX;
		if (h->still >= TLM_FROZEN_ANSWERS && local_ns > tlm_frozen_ns(r, p))
			tlm_drop_source(h, r, now_ns);
		return 0;
	}
	if (!tlm_clocks_agree(dt_ns, local_ns, 4 * p->t_ns + 2 * r->ts_res_ns))
		return tlm_fault(h, r, now_ns);
	sent = tlm_share(bytes, h->mbit_ps, dt_ns);
	most = HPCC_U_ONE + (HPCC_U_ONE >> TLM_EXCESS_SHIFT);
	/* The change may have been seen that much later than it happened. */
	if (r->tx_refresh_ns)
		most += div64_u64(min_t(u64, gap_ns + r->tx_refresh_ns, U32_MAX) << HPCC_U_SHIFT,
				  dt_ns);
	if (sent > most)
		return tlm_fault(h, r, now_ns);
	h->faults = 0;
	h->u = tlm_u(h, r, p, sent);
	tlm_store(h, r, now_ns);
	return min_t(u64, dt_ns, U32_MAX);
}

/* The utilisation; the time is that of the local clock. */
static inline u32 tlm_measure_util(struct tlm_hop *h, const struct tlm_record *r,
				   const struct tlm_params *p, u64 now_ns)
{
	const u64 dt_ns = now_ns - h->stored_ns;

	h->u = tlm_u(h, r, p, r->util);
	tlm_store(h, r, now_ns);
	return min_t(u64, dt_ns, U32_MAX);
}

/* Only the queue. */
static inline u32 tlm_measure_queue(struct tlm_hop *h, const struct tlm_record *r,
				    const struct tlm_params *p, const struct tlm_sample *s)
{
	const u64 dt_ns = s->now_ns - h->stored_ns;
	const u32 queue_bytes = min(r->queue_bytes, h->queue_bytes);
	u64 u;

	if (queue_bytes) {
		u = (u64)HPCC_U_ONE + tlm_share(queue_bytes, h->mbit_ps, p->t_ns);
	} else {
		u = mul_u64_u64_shr(p->target, TLM_IDLE, HPCC_U_SHIFT);
		if (!h->queue_seen && !p->trust_idle)
			u = p->target;
		u = max_t(u64, u, tlm_share(s->own_bytes_ps, h->mbit_ps, TLM_NS_PER_S));
	}
	/* 2^33 * 2^20 < 2^64 */
	h->u = min_t(u64, div_u64(u * p->eta, p->target), HPCC_U_MAX);
	tlm_store(h, r, s->now_ns);
	return min_t(u64, dt_ns, U32_MAX);
}

/*
 * Return: true if the queue does not follow the window: it has not changed while the flow has
 * halved its rate, or while it was longer than a BDP, so that all flows must have done so. A queue
 * near the target may stand for long.
 */
static inline bool tlm_is_frozen(struct tlm_hop *h, const struct tlm_record *r,
				 const struct tlm_params *p, const struct tlm_sample *s)
{
	const bool still = r->queue_bytes == h->queue_bytes && r->queue_bytes > HPCC_FREE_BYTES;

	if (!still || !h->steady) {
		h->steady_ns = s->now_ns;
		h->steady_bytes_ps = s->own_bytes_ps;
	}
	h->steady = still ? min_t(u32, h->steady + 1, U16_MAX) : 0;
	if (h->steady < TLM_FROZEN_ANSWERS ||
	    s->now_ns - h->steady_ns <= (u64)p->t_ns * TLM_FROZEN_RTTS)
		return false;
	return s->own_bytes_ps <= h->steady_bytes_ps / 2 ||
	       tlm_share(r->queue_bytes, h->mbit_ps, p->t_ns) > HPCC_U_ONE;
}

/* Return: true if the stored record cannot be compared with this one. */
static inline bool tlm_is_stale(const struct tlm_hop *h, const struct tlm_record *r,
				const struct tlm_params *p, u64 now_ns)
{
	const u64 stale_ns = max_t(u64, TLM_STALE_MIN_NS, (u64)p->t_ns * TLM_STALE_RTTS);
	const u64 local_ns = now_ns - h->stored_ns;

	if (now_ns - h->seen_ns > stale_ns)
		return true;
	if (h->source != TLM_SOURCE_TX)
		return false;
	/* The clock or the counter may have wrapped more than once: 2^21 * 2^42 / 8000 bytes */
	return (r->ts_period_ns && local_ns > r->ts_period_ns / 2) ||
	       (r->tx_period_bytes &&
		div_u64(h->mbit_ps * min_t(u64, local_ns, 1ULL << 42), 8000) >=
		r->tx_period_bytes / 2);
}

/* Lines 3 to 5 of the draft's algorithm for one hop. Return: tau, or 0 if there is no new u'. */
static inline u32 tlm_measure_hop(struct tlm_hop *h, const struct tlm_record *r,
				  const struct tlm_params *p, const struct tlm_sample *s)
{
	const enum tlm_source source = tlm_pick(h, r);

	h->queue_seen |= r->has & TLM_HAS(TLM_QUEUE) && r->queue_bytes;
	if (source == TLM_SOURCE_NONE) {
		h->source = source;
		return 0;
	}
	if (h->source == TLM_SOURCE_NONE || r->mbit_ps != h->mbit_ps ||
	    tlm_is_stale(h, r, p, s->now_ns)) {
		h->source = source;
		h->mbit_ps = r->mbit_ps;
		h->steady = 0;
		tlm_store(h, r, s->now_ns);
		return 0;
	}
	/* A record without the usual source; u' stays until the next one has it. */
	if (source != h->source)
		return 0;
	if (tlm_is_frozen(h, r, p, s)) {
		h->source = TLM_SOURCE_QUEUE;
		tlm_drop_source(h, r, s->now_ns);
		return 0;
	}
	switch (source) {
	case TLM_SOURCE_TX:
		return tlm_measure_tx(h, r, p, s->now_ns);
	case TLM_SOURCE_UTIL:
		return tlm_measure_util(h, r, p, s->now_ns);
	default:
		return tlm_measure_queue(h, r, p, s);
	}
}

/* Ends a round of the guard, if it is time. */
static inline void tlm_guard(struct tlm_vars *v, const struct tlm_params *p,
			     const struct tlm_sample *s)
{
	/* 2^31 + 2^32 + 2^33 */
	const u64 most_ns = 2ULL * p->t_ns + p->slack_ns + 2 * v->queues_ns;

	if (s->rtt_ns)
		v->rtt_min_ns = v->rtt_min_ns ? min(v->rtt_min_ns, s->rtt_ns) : s->rtt_ns;
	if (!v->rtt_min_ns || s->now_ns - v->round_ns < max(p->t_ns, v->rtt_min_ns))
		return;
	if (v->rtt_min_ns <= most_ns)
		v->guard -= !!v->guard;
	else
		v->guard += TLM_GUARD_STEP;
	v->guard_bad = v->rtt_min_ns > most_ns;
	v->round_ns = s->now_ns;
	v->rtt_min_ns = 0;
	v->queues_ns = 0;
}

static inline void tlm_add_queue(u64 *queues_ns, const struct tlm_record *r)
{
	if (r->has & TLM_HAS(TLM_QUEUE) && r->mbit_ps)
		*queues_ns += div_u64(r->queue_bytes * 8000ULL, r->mbit_ps);
}

/* Return: true if the records are from the same hops as the stored ones. */
static inline bool tlm_is_same_path(const struct tlm_vars *v, const struct tlm_path *path)
{
	u32 i;

	if (v->records != path->records || v->path_id != path->path_id)
		return false;
	for (i = 0; i < path->records; i++)
		if (v->hop[i].node_id != path->record[i].node_id ||
		    v->hop[i].port_id != path->record[i].port_id)
			return false;
	return true;
}

static inline void tlm_start_path(struct tlm_vars *v, const struct tlm_path *path, u64 now_ns)
{
	u32 i;

	for (i = 0; i < path->records; i++)
		tlm_start_hop(&v->hop[i], &path->record[i], now_ns);
	v->records = path->records;
	v->path_id = path->path_id;
}

/* Lines 1 to 10: the largest u', and the time over which it was measured. */
static inline void tlm_measure(struct tlm_vars *v, const struct tlm_params *p,
			       const struct tlm_path *path, const struct tlm_sample *s,
			       struct tlm_load *load)
{
	u64 queues_ns = 0;
	u32 i;

	for (i = 0; i < path->records; i++) {
		struct tlm_hop *h = &v->hop[i];
		const struct tlm_record *r = &path->record[i];
		const u8 faults = h->faults, out = h->out;
		const u32 tau_ns = tlm_measure_hop(h, r, p, s);

		v->implausible += h->faults > faults || h->out != out;
		tlm_add_queue(&queues_ns, r);
		if (h->source == TLM_SOURCE_NONE) {
			load->unknown++;
			continue;
		}
		if (h->u < load->u || (h->u == load->u && load->tau_ns >= tau_ns))
			continue;
		load->u = h->u;
		load->tau_ns = tau_ns;
		load->bottleneck = i;
		load->source = h->source;
	}
	v->queues_ns = max(v->queues_ns, queues_ns);
}

/* Applies the bounds to u, and says how often Wc may be updated. */
static inline void tlm_bound(const struct tlm_vars *v, const struct tlm_params *p,
			     const struct tlm_path *path, struct tlm_load *load)
{
	const struct tlm_record *r = &path->record[load->bottleneck];

	load->u = max(load->u, p->eta / 2);
	if (load->unknown || path->full)
		load->u = max(load->u, p->eta);
	if (v->guard_bad)
		load->u = max(load->u, HPCC_U_ONE);
	if (load->source == TLM_SOURCE_TX)
		load->hold_ns = r->tx_refresh_ns;
	else if (load->source == TLM_SOURCE_UTIL)
		load->hold_ns = r->util_window_ns;
	if (load->hold_ns <= p->t_ns)
		load->hold_ns = 0;
}

/**
 * tlm_receive() - MeasureInflight with reduced records
 * @v: state; all zero at the start of a connection
 * @p: parameters
 * @path: the records of a packet
 * @s: what the sender knows
 * @load: result; valid with HPCC_RECEIVED_NEW
 *
 * Return: HPCC_RECEIVED_NEW: @load is for hpcc_receive_ratio(); _FIRST, _PATH: the records were
 * stored; _SAME: there is nothing new; _NOTHING: no hop can be used, or the RTT contradicts them.
 */
static inline enum hpcc_received tlm_receive(struct tlm_vars *v, const struct tlm_params *p,
					     const struct tlm_path *path,
					     const struct tlm_sample *s, struct tlm_load *load)
{
	const bool first = !v->records;

	*load = (struct tlm_load){};
	if (!path->records || v->guard >= TLM_GUARD_MAX)
		return HPCC_RECEIVED_NOTHING;
	if (!tlm_is_same_path(v, path)) {
		tlm_start_path(v, path, s->now_ns);
		return first ? HPCC_RECEIVED_FIRST : HPCC_RECEIVED_PATH;
	}
	tlm_measure(v, p, path, s, load);
	tlm_guard(v, p, s);
	if (load->unknown == path->records || v->guard >= TLM_GUARD_MAX)
		return HPCC_RECEIVED_NOTHING;
	if (!load->tau_ns)
		return HPCC_RECEIVED_SAME;
	tlm_bound(v, p, path, load);
	return HPCC_RECEIVED_NEW;
}

#endif /* HOPCC_LIB_TLM_LAW_H */
