// SPDX-License-Identifier: GPL-2.0
/* u of HPCC++ from reduced records; see int_load.h. */
#include "int_load.h"

/**
 * ntlm_share() - a number of bytes as a part of what a port can send
 * @bytes: number of bytes
 * @mbit_ps: speed of the port, 1 to TLM_MBIT_MAX
 * @of_ns: time, 1 to 2^40
 *
 * Return: the part, in 2^-HPCC_U_SHIFT, saturated.
 */
static u32 ntlm_share(u64 bytes, u32 mbit_ps, u64 of_ns)
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
static u64 ntlm_since(u64 now, u64 then, u64 period)
{
	return now >= then || !period ? now - then : period - then + now;
}

static bool ntlm_is_usable(const struct tlm_hop *h, enum tlm_source source)
{
	return !(h->out & BIT(source));
}

/* The most precise source that the record has. */
static enum tlm_source ntlm_pick(const struct tlm_hop *h, const struct tlm_record *r)
{
	const u16 base = TLM_HAS(INT_LAYOUT_QUEUE) | TLM_HAS(INT_LAYOUT_SPEED);
	const u16 tx = TLM_HAS(INT_LAYOUT_TX) | TLM_HAS(INT_LAYOUT_NS);

	if ((r->has & base) != base)
		return TLM_SOURCE_NONE;
	if ((r->has & tx) == tx && ntlm_is_usable(h, TLM_SOURCE_TX))
		return TLM_SOURCE_TX;
	if (r->has & TLM_HAS(INT_LAYOUT_UTIL) && ntlm_is_usable(h, TLM_SOURCE_UTIL))
		return TLM_SOURCE_UTIL;
	return ntlm_is_usable(h, TLM_SOURCE_QUEUE) ? TLM_SOURCE_QUEUE : TLM_SOURCE_NONE;
}

/* Stores a record that later ones are compared with. */
static void ntlm_store(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	h->ts_ns = r->ts_ns;
	h->tx_bytes = r->tx_bytes;
	h->stored_ns = now_ns;
	h->seen_ns = now_ns;
	h->queue_bytes = r->queue_bytes;
	h->still = 0;
}

static void ntlm_start_hop(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	*h = (struct tlm_hop) {
		.node_id = r->node_id,
		.port_id = r->port_id,
		.mbit_ps = r->mbit_ps,
		.steady_ns = now_ns,
	};
	h->source = ntlm_pick(h, r);
	h->queue_seen = r->has & TLM_HAS(INT_LAYOUT_QUEUE) && r->queue_bytes;
	ntlm_store(h, r, now_ns);
}

/* The source is useless: use the next less precise one, which starts with this record. */
static void ntlm_drop_source(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	h->out |= BIT(h->source);
	/* Without a true queue there is nothing to compute with. */
	if (h->source == TLM_SOURCE_QUEUE)
		h->out |= BIT(TLM_SOURCE_TX) | BIT(TLM_SOURCE_UTIL);
	h->source = ntlm_pick(h, r);
	h->faults = 0;
	h->u = 0;
	ntlm_store(h, r, now_ns);
}

/* Counts a record that cannot be true; it is stored, since a clock may have been set. */
static u32 ntlm_count_fault(struct tlm_hop *h, const struct tlm_record *r, u64 now_ns)
{
	if (++h->faults >= TLM_FAULTS_MAX)
		ntlm_drop_source(h, r, now_ns);
	else
		ntlm_store(h, r, now_ns);
	return 0;
}

/* Return: true if both clocks agree on a time, except for jitter of the packets. */
static bool ntlm_clocks_agree(u64 hop_ns, u64 local_ns, u32 slack_ns)
{
	return hop_ns <= 2 * local_ns + slack_ns && local_ns <= 2 * hop_ns + slack_ns;
}

/* u' from the part of the speed that was sent, and from the queue. */
static u32 ntlm_u(const struct tlm_hop *h, const struct tlm_record *r,
		  const struct hpcc_params *p, u32 sent)
{
	const u32 queue_bytes = min(r->queue_bytes, h->queue_bytes);
	const u32 queued_bytes = queue_bytes - min(queue_bytes, TLM_FREE_BYTES);
	const u64 u = (u64)min_t(u32, sent, HPCC_U_ONE) + ntlm_share(queued_bytes, h->mbit_ps,
								     p->t_ns);

	return min_t(u64, u, HPCC_U_MAX);
}

/* Time for which a counter may stand still. */
static u64 ntlm_frozen_ns(const struct tlm_record *r, const struct hpcc_params *p)
{
	return max_t(u64, (u64)p->t_ns * TLM_FROZEN_RTTS,
		     (u64)r->tx_refresh_ns * TLM_FROZEN_REFRESHES);
}

/* The counter. Return: tau, or 0 if there is no new u'. */
static u32 ntlm_measure_tx(struct tlm_hop *h, const struct tlm_record *r,
			   const struct hpcc_params *p, u64 now_ns)
{
	const u64 local_ns = now_ns - h->stored_ns, gap_ns = now_ns - h->seen_ns;
	const u64 dt_ns = ntlm_since(r->ts_ns, h->ts_ns, r->ts_period_ns);
	const u64 bytes = ntlm_since(r->tx_bytes, h->tx_bytes, r->tx_period_bytes);
	u64 most;
	u32 sent;

	h->seen_ns = now_ns;
	if (!dt_ns || !bytes || dt_ns < (u64)r->ts_res_ns * TLM_TICKS_MIN) {
		/* A flow with few packets may send less than a unit of the counter in long. */
		h->still += h->still < U8_MAX;
		if (h->still >= TLM_FROZEN_ANSWERS && local_ns > ntlm_frozen_ns(r, p))
			ntlm_drop_source(h, r, now_ns);
		return 0;
	}
	if (!ntlm_clocks_agree(dt_ns, local_ns, 4 * p->t_ns + 2 * r->ts_res_ns))
		return ntlm_count_fault(h, r, now_ns);
	sent = ntlm_share(bytes, h->mbit_ps, dt_ns);
	most = HPCC_U_ONE + (HPCC_U_ONE >> TLM_EXCESS_SHIFT);
	/* The change may have been seen that much later than it happened. */
	if (r->tx_refresh_ns)
		most += div64_u64(min_t(u64, gap_ns + r->tx_refresh_ns, U32_MAX) << HPCC_U_SHIFT,
				  dt_ns);
	if (sent > most)
		return ntlm_count_fault(h, r, now_ns);
	h->faults = 0;
	h->u = ntlm_u(h, r, p, sent);
	ntlm_store(h, r, now_ns);
	return min_t(u64, dt_ns, U32_MAX);
}

/* u' of a hop with a queue only. */
static u32 ntlm_u_of_queue(const struct tlm_hop *h, const struct tlm_record *r,
			   const struct hpcc_params *p, const struct tlm_sample *s)
{
	const u32 queue_bytes = min(r->queue_bytes, h->queue_bytes);
	u64 u;

	if (queue_bytes) {
		u = (u64)HPCC_U_ONE + ntlm_share(queue_bytes, h->mbit_ps, p->t_ns);
	} else {
		u = mul_u64_u64_shr(TLM_TARGET, TLM_IDLE, HPCC_U_SHIFT);
		if (!h->queue_seen && !s->trust_idle)
			u = TLM_TARGET;
		u = max_t(u64, u, ntlm_share(s->own_bytes_ps, h->mbit_ps, TLM_NS_PER_S));
	}
	/* 2^33 * 2^20 < 2^64 */
	return min_t(u64, div_u64(u * p->eta, TLM_TARGET), HPCC_U_MAX);
}

/*
 * Return: true if the queue does not follow the window: it has not changed while the flow has
 * halved its rate, or while it was longer than a BDP, so that all flows must have done so. A queue
 * near the target may stand for long.
 */
static bool ntlm_is_frozen(struct tlm_hop *h, const struct tlm_record *r,
			   const struct hpcc_params *p, const struct tlm_sample *s)
{
	const bool still = r->queue_bytes == h->queue_bytes && r->queue_bytes > TLM_FREE_BYTES;

	if (!still || !h->steady) {
		h->steady_ns = s->now_ns;
		h->steady_bytes_ps = s->own_bytes_ps;
	}
	h->steady = still ? min_t(u32, h->steady + 1, U16_MAX) : 0;
	if (h->steady < TLM_FROZEN_ANSWERS ||
	    s->now_ns - h->steady_ns <= (u64)p->t_ns * TLM_FROZEN_RTTS)
		return false;
	return s->own_bytes_ps <= h->steady_bytes_ps / 2 ||
	       ntlm_share(r->queue_bytes, h->mbit_ps, p->t_ns) > HPCC_U_ONE;
}

/* Return: true if the stored record cannot be compared with this one. */
static bool ntlm_is_stale(const struct tlm_hop *h, const struct tlm_record *r,
			  const struct hpcc_params *p, u64 now_ns)
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
static u32 ntlm_measure_hop(struct tlm_hop *h, const struct tlm_record *r,
			    const struct hpcc_params *p, const struct tlm_sample *s)
{
	const enum tlm_source source = ntlm_pick(h, r);
	u64 local_ns;

	h->queue_seen |= r->has & TLM_HAS(INT_LAYOUT_QUEUE) && r->queue_bytes;
	if (source == TLM_SOURCE_NONE) {
		h->source = source;
		return 0;
	}
	if (h->source == TLM_SOURCE_NONE || r->mbit_ps != h->mbit_ps ||
	    ntlm_is_stale(h, r, p, s->now_ns)) {
		h->source = source;
		h->mbit_ps = r->mbit_ps;
		h->steady = 0;
		ntlm_store(h, r, s->now_ns);
		return 0;
	}
	/* A record without the usual source; u' stays until the next one has it. */
	if (source != h->source)
		return 0;
	if (ntlm_is_frozen(h, r, p, s)) {
		h->source = TLM_SOURCE_QUEUE;
		ntlm_drop_source(h, r, s->now_ns);
		return 0;
	}
	if (source == TLM_SOURCE_TX)
		return ntlm_measure_tx(h, r, p, s->now_ns);
	/* The time is that of the local clock. */
	local_ns = s->now_ns - h->stored_ns;
	h->u = source == TLM_SOURCE_UTIL ? ntlm_u(h, r, p, r->util) :
					   ntlm_u_of_queue(h, r, p, s);
	ntlm_store(h, r, s->now_ns);
	return min_t(u64, local_ns, U32_MAX);
}

/* Ends a round of the guard, if it is time. */
static void ntlm_guard(struct tlm_vars *v, const struct hpcc_params *p,
		       const struct tlm_sample *s)
{
	/* 2^31 + 2^32 + 2^33 */
	const u64 most_ns = 2ULL * p->t_ns + TLM_SLACK_NS + 2 * v->queues_ns;

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

static void ntlm_add_queue(u64 *queues_ns, const struct tlm_record *r)
{
	if (r->has & TLM_HAS(INT_LAYOUT_QUEUE) && r->mbit_ps)
		*queues_ns += div_u64(r->queue_bytes * 8000ULL, r->mbit_ps);
}

/* Return: true if the records are from the same hops as the stored ones. */
static bool ntlm_is_same_path(const struct tlm_vars *v, const struct tlm_path *path)
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

static void ntlm_start_path(struct tlm_vars *v, const struct tlm_path *path, u64 now_ns)
{
	u32 i;

	for (i = 0; i < path->records; i++)
		ntlm_start_hop(&v->hop[i], &path->record[i], now_ns);
	v->records = path->records;
	v->path_id = path->path_id;
}

/* Lines 1 to 10: the largest u', and the time over which it was measured. */
static void ntlm_measure(struct tlm_vars *v, const struct hpcc_params *p,
			 const struct tlm_path *path, const struct tlm_sample *s,
			 struct tlm_load *load)
{
	u64 queues_ns = 0;
	u32 i;

	for (i = 0; i < path->records; i++) {
		struct tlm_hop *h = &v->hop[i];
		const struct tlm_record *r = &path->record[i];
		const u8 faults = h->faults, out = h->out;
		const u32 tau_ns = ntlm_measure_hop(h, r, p, s);

		v->implausible += h->faults > faults || h->out != out;
		ntlm_add_queue(&queues_ns, r);
		if (h->source == TLM_SOURCE_NONE) {
			load->unknown++;
			continue;
		}
		if (h->u < load->u || (h->u == load->u && load->tau_ns >= tau_ns))
			continue;
		load->u = h->u;
		load->tau_ns = tau_ns;
	}
	v->queues_ns = max(v->queues_ns, queues_ns);
}

/* Applies the bounds to u. */
static void ntlm_bound(const struct tlm_vars *v, const struct hpcc_params *p,
		       const struct tlm_path *path, struct tlm_load *load)
{
	load->u = max(load->u, p->eta / 2);
	if (load->unknown || path->full)
		load->u = max(load->u, p->eta);
	if (v->guard_bad)
		load->u = max(load->u, HPCC_U_ONE);
}

enum hpcc_received ntlm_receive(struct tlm_vars *v, const struct hpcc_params *p,
				const struct tlm_path *path,
				const struct tlm_sample *s, struct tlm_load *load)
{
	const bool first = !v->records;

	*load = (struct tlm_load){};
	if (!path->records || v->guard >= TLM_GUARD_MAX)
		return HPCC_RECEIVED_NOTHING;
	if (!ntlm_is_same_path(v, path)) {
		ntlm_start_path(v, path, s->now_ns);
		return first ? HPCC_RECEIVED_FIRST : HPCC_RECEIVED_PATH;
	}
	ntlm_measure(v, p, path, s, load);
	ntlm_guard(v, p, s);
	if (load->unknown == path->records || v->guard >= TLM_GUARD_MAX)
		return HPCC_RECEIVED_NOTHING;
	if (!load->tau_ns)
		return HPCC_RECEIVED_SAME;
	ntlm_bound(v, p, path, load);
	return HPCC_RECEIVED_NEW;
}
