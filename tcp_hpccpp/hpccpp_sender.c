// SPDX-License-Identifier: GPL-2.0
/*
 * The HPCC++ sender, draft-miao-rtgwg-hpccplus-00 sections 4.2 and 5: it derives the parameters of
 * the algorithm in hop_core/hpcc.c from the sysctls, and TCP's window and pacing rate from the
 * algorithm's state.
 *
 *	T      = RTT - queues			of the packet with the shortest queues
 *	W_init = rate * T			at the start; lower of line's and path's rate
 *	W_ai   = W_init (1 - eta) / N
 *	cwnd   = (W + R * delay on the way back) / bytes of a packet on the wire, rounded up
 *	R      = W / T				paces what cwnd rounds up
 *
 * W counts bytes on the wire, as the hops do; cwnd and TCP's pace count packets and payload.
 *
 * Deviations:
 * - T, the base RTT, is measured: see struct hpccpp_least.
 * - ACKs that are late do not reduce the rate: see hpccpp_flight_bytes().
 * - If the line rate is not known, the rate of the path's slowest port is used. The peer reports it
 *   and may lie: a round can raise it to at most HPCCPP_GROWTH_MAX times W / T. A receiver that
 *   sends only U does not report it: see hpccpp_next_bytes_ps().
 * - The draft does not define a reaction to loss: W is halved, once per window.
 * - All flows of the host share the line. If flows start to one peer, each within T of the previous
 *   one, the k-th one has a first window of W_init / k: no answer could report the other flows in
 *   time, whose windows are in front of it in the host's own queue.
 */
#include "hpccpp_sender.h"

/*
 * Consecutive round trips without a measurement after which the sender gives up. On a new path
 * without any measurement there is only the first window, at line rate; another path may have
 * changed temporarily.
 */
#define HPCCPP_BLIND_ROUNDS_NEW	2
#define HPCCPP_BLIND_ROUNDS_MAX	16
/* Maximum burst of a flow, unless the hosts are slow and the path is free. */
#define HPCCPP_BURST_NS		5000U
/* Limit for slow ports: a host that sends fewer at once needs more CPU time than with cubic. */
#define HPCCPP_BURST_MIN_PKTS	4U
/* Maximum growth per round, in windows, if the sender's device does not report its rate. */
#define HPCCPP_GROWTH_MAX	64U
/*
 * log2 of fractions of the RTT: queues up to the first one are ignored, T is at least the second
 * one, and the third one if a queue is longer than a record can report.
 */
#define HPCCPP_LEAST_QUEUES_SHIFT	3
#define HPCCPP_LEAST_T_SHIFT		2
#define HPCCPP_LONG_T_SHIFT		5
/* Two clocks run apart by at most 1 / 2^14, 61 ppm. */
#define HPCCPP_CLOCK_SHIFT		14
/* Number of answers of which the mean delay is taken */
#define HPCCPP_BACK_ANSWERS		8
/* log2 of the fraction of T: shorter delays are ignored. */
#define HPCCPP_LATE_T_SHIFT		3
/* Consecutive rounds in favour of another path after which it is tried. */
#define HPCCPP_MOVE_ROUNDS	4
/* A port without overload is at eta, and at times slightly below it. */
#define HPCCPP_MOVE_OF_ETA	9U	/* in tenths */
/* Time for which the path of a flow that has ended is remembered. */
#define HPCCPP_KNOWN_NS		(60 * (u64)NSEC_PER_SEC)
/* Consecutive tries that lead to the same path; there may be no other. */
#define HPCCPP_MOVE_TRIES	8

void hpccpp_set_params(struct hpcc_params *p, const struct hpccpp_config *c,
		       const struct hpccpp_path *path)
{
	p->t_ns = path->t_ns;
	p->packet_bytes = path->packet_bytes;
	/* 10^6 * 2^20 < 2^64 */
	p->eta = div_u64((u64)READ_ONCE(c->eta_ppm) << HPCC_U_SHIFT, HPCC_PPM);
	p->max_stage = READ_ONCE(c->max_stage);
	p->wnd_max_bytes = hpcc_bdp_bytes(path->rate_bytes_ps, path->t_ns);
	p->wnd_init_bytes = p->wnd_max_bytes;
	if (path->port_bytes_ps)
		p->wnd_init_bytes = hpcc_bdp_bytes(path->port_bytes_ps, path->t_ns);
	p->wnd_ai = hpcc_wnd_ai(p->wnd_init_bytes, p->eta, path->flows);
}

void hpccpp_bound(struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 wnd_max = (u64)p->wnd_max_bytes << HPCC_WND_SHIFT;

	v->wnd = min(v->wnd, wnd_max);
	v->wnd_ref = min(v->wnd_ref, wnd_max);
	v->wnd_quiet = min(v->wnd_quiet, wnd_max);
}

u64 hpccpp_rtt_ns(u32 rtt_us, u64 syn_rtt_ns)
{
	const u64 least_ns = (u64)rtt_us * NSEC_PER_USEC;

	if (syn_rtt_ns && syn_rtt_ns < least_ns + NSEC_PER_USEC &&
	    syn_rtt_ns + NSEC_PER_USEC > least_ns)
		return syn_rtt_ns;
	return least_ns + NSEC_PER_USEC;
}

static void hpccpp_start_least(struct hpccpp_least *l, u64 rtt_ns, u64 queues_ns)
{
	*l = (struct hpccpp_least){ .known = true };
	if (queues_ns <= rtt_ns >> HPCCPP_LEAST_QUEUES_SHIFT)
		return;
	if (queues_ns >= HPCC_QUEUE_LONG_NS) {
		l->queues_ns = HPCC_QUEUE_LONG_NS;
		l->t_ns = min_t(u64, rtt_ns >> HPCCPP_LONG_T_SHIFT, HPCC_T_MAX_NS);
		return;
	}
	l->queues_ns = min_t(u64, queues_ns, U32_MAX);
	l->t_ns = clamp_t(u64, queues_ns < rtt_ns ? rtt_ns - queues_ns : 0,
			  rtt_ns >> HPCCPP_LEAST_T_SHIFT, HPCC_T_MAX_NS);
}

bool hpccpp_update_least(struct hpccpp_least *l, const struct int_answer *a)
{
	u64 queues_ns = 0;

	if (!a->rtt_ns || (l->known && !l->queues_ns))
		return false;
	if (a->kind == INT_ANSWER_RECORDS)
		queues_ns = hpcc_queues_ns(&a->hdr);
	else if (a->kind == INT_ANSWER_SUMMARY)
		queues_ns = hpcc_queue_ns(&a->record);
	if (l->known && queues_ns >= l->queues_ns)
		return false;
	hpccpp_start_least(l, a->rtt_ns, queues_ns);
	return true;
}

u32 hpccpp_least_t_ns(const struct hpccpp_least *l, u64 rtt_ns)
{
	const u64 t_ns = l->queues_ns ? min_t(u64, rtt_ns, l->t_ns) : rtt_ns;

	return clamp_t(u64, t_ns, HPCC_T_MIN_NS, HPCC_T_MAX_NS);
}

u64 hpccpp_wnd_bytes_ps(u32 wnd_bytes, u32 t_ns)
{
	/* 2^32 * 10^9 < 2^62 */
	return div_u64((u64)wnd_bytes * HPCCPP_NS_PER_S, t_ns);
}

u64 hpccpp_believe_bytes_ps(u64 path_bytes_ps, u64 believed_bytes_ps, u32 wnd_bytes, u32 t_ns,
			    bool round)
{
	u64 most_bytes_ps;

	if (path_bytes_ps <= believed_bytes_ps || (believed_bytes_ps && !round))
		return min(path_bytes_ps, believed_bytes_ps);
	most_bytes_ps = hpccpp_wnd_bytes_ps(wnd_bytes, t_ns) * HPCCPP_GROWTH_MAX;
	return min(path_bytes_ps, max(most_bytes_ps, believed_bytes_ps));
}

u64 hpccpp_next_bytes_ps(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u32 wnd_bytes = hpcc_wnd_bytes(v);

	if (v->u >= p->eta || wnd_bytes < p->wnd_max_bytes)
		return 0;
	return min_t(u64, 2 * hpccpp_wnd_bytes_ps(wnd_bytes, p->t_ns),
		     (u64)HPCCPP_RATE_MAX_MBIT * HPCCPP_BYTES_PER_MBIT);
}

enum hpcc_received hpccpp_receive(struct hpcc_vars *v, const struct hpcc_params *p,
				  const struct int_answer *a, u32 snd_nxt, u64 now_ns)
{
	enum hpcc_received received = HPCC_RECEIVED_NOTHING;

	switch (a->kind) {
	case INT_ANSWER_RECORDS:
		return hpcc_new_ack(v, p, &a->hdr, a->seq, snd_nxt, now_ns);
	case INT_ANSWER_WINDOW:
		v->wnd = clamp(a->wnd_bytes, HPCC_WND_MIN_BYTES, p->wnd_max_bytes);
		v->wnd <<= HPCC_WND_SHIFT;
		v->wnd_ref = v->wnd;
		return HPCC_RECEIVED_NEW;
	case INT_ANSWER_SUMMARY:
		if (a->index < INT_SLOTS_MAX)
			received = hpcc_receive_one(v, p, a->hops, a->path_id, a->index, &a->record,
						    now_ns);
		break;
	case INT_ANSWER_RATIO:
		received = hpcc_receive_ratio(v, p, a->u, a->tau_ns);
		break;
	}
	if (received == HPCC_RECEIVED_NEW)
		hpcc_decide(v, p, a->seq, snd_nxt);
	return received;
}

bool hpccpp_is_blind(struct hpccpp_blind *b, enum hpcc_received received)
{
	if (received == HPCC_RECEIVED_NEW) {
		*b = (struct hpccpp_blind){ .counted = true, .measured = true };
		return false;
	}
	b->measured |= received == HPCC_RECEIVED_SAME;
	if (received != HPCC_RECEIVED_FIRST && received != HPCC_RECEIVED_SAME) {
		b->rounds += !b->counted;
		b->counted = true;
	}
	return b->rounds >= (b->measured ? HPCCPP_BLIND_ROUNDS_MAX : HPCCPP_BLIND_ROUNDS_NEW);
}

void hpccpp_note_back(struct hpccpp_back *b, u32 back_ns, u64 now_ns)
{
	s32 delay_ns;

	if (!back_ns)
		return;
	b->least_ns += min_t(u64, now_ns - b->at_ns, NSEC_PER_SEC) >> HPCCPP_CLOCK_SHIFT;
	delay_ns = back_ns - b->least_ns;
	if (!b->at_ns || delay_ns < 0) {
		b->least_ns = back_ns;
		delay_ns = 0;
	}
	b->at_ns = now_ns;
	delay_ns -= b->mean_ns;
	b->mean_ns += delay_ns / HPCCPP_BACK_ANSWERS;
	b->deviation_ns += (abs(delay_ns) - (s32)b->deviation_ns) / HPCCPP_BACK_ANSWERS;
}

u32 hpccpp_late_ns(const struct hpccpp_back *b, u32 t_ns, u64 rtt_ns)
{
	const u64 most_ns = rtt_ns > t_ns ? 2 * (rtt_ns - t_ns) : 0;
	const u64 late_ns = min(b->mean_ns + 2ULL * b->deviation_ns, most_ns);

	return late_ns > t_ns >> HPCCPP_LATE_T_SHIFT ? min_t(u64, late_ns, HPCC_T_MAX_NS) : 0;
}

u32 hpccpp_flight_bytes(u32 wnd_bytes, u32 t_ns, u32 late_ns)
{
	if (!late_ns)
		return wnd_bytes;
	/* 2^32 * 2^30 < 2^64 */
	return min_t(u64, wnd_bytes + div_u64((u64)wnd_bytes * late_ns, t_ns), U32_MAX);
}

u32 hpccpp_cwnd_pkts(u32 wnd_bytes, u32 wnd_init_bytes, u32 wire_bytes, bool held)
{
	const bool is_slow = wnd_init_bytes < 2 * wire_bytes && wnd_bytes >= wnd_init_bytes / 2;

	return max_t(u32, div_u64((u64)wnd_bytes + wire_bytes - 1, wire_bytes),
		     is_slow || held ? 2 : 1);
}

u64 hpccpp_pace_bytes_ps(u32 wnd_bytes, u32 t_ns, u32 mss_bytes, u32 wire_bytes)
{
	u64 wire_bytes_ps = hpccpp_wnd_bytes_ps(wnd_bytes, t_ns);

	return max_t(u64, mul_u64_u32_div(wire_bytes_ps, mss_bytes, wire_bytes), 1);
}

u32 hpccpp_burst_pkts(u64 rate_bytes_ps, u32 wire_bytes)
{
	const u64 bytes = mul_u64_u32_div(rate_bytes_ps, HPCCPP_BURST_NS, HPCCPP_NS_PER_S);

	if (!rate_bytes_ps)
		return HOP_BURST_MAX_PKTS;
	return clamp_t(u64, div_u64(bytes, wire_bytes), HPCCPP_BURST_MIN_PKTS,
		       HOP_BURST_MAX_PKTS);
}

void hpccpp_remember(struct hpccpp_start *s, u32 peer, u64 now_ns, u64 path_bytes_ps, u32 t_ns)
{
	if (s->peer != peer)
		*s = (struct hpccpp_start){ .peer = peer };
	s->path_bytes_ps = path_bytes_ps;
	s->t_ns = t_ns;
	s->ended_ns = now_ns;
}

u64 hpccpp_recall(const struct hpccpp_start *s, u32 peer, u64 now_ns, struct hpccpp_least *l)
{
	if (s->peer != peer || now_ns - s->ended_ns > HPCCPP_KNOWN_NS || !s->path_bytes_ps)
		return 0;
	l->t_ns = s->t_ns;
	l->queues_ns = U32_MAX;
	return s->path_bytes_ps;
}

u32 hpccpp_join_start(struct hpccpp_start *s, u32 peer, u32 t_ns, u64 now_ns)
{
	if (s->peer != peer)
		*s = (struct hpccpp_start){ .peer = peer };
	if (now_ns - s->last_ns > t_ns)
		s->flows = 0;
	s->last_ns = now_ns;
	s->flows += s->flows < U32_MAX;
	return s->flows;
}

void hpccpp_share_start(struct hpcc_vars *v, const struct hpcc_params *p, u32 flows, u32 wire_bytes)
{
	u32 wnd_bytes = min(max(p->wnd_init_bytes / flows, wire_bytes), p->wnd_max_bytes);

	v->wnd = (u64)wnd_bytes << HPCC_WND_SHIFT;
	v->wnd_ref = v->wnd;
}

bool hpccpp_should_move(struct hpccpp_move *m, const struct hpcc_vars *v,
			const struct hpcc_params *p, u32 snd_nxt, u32 random)
{
	/* 2^32 * 10 < 2^64 */
	if ((u64)v->u * 10 < (u64)p->eta * HPCCPP_MOVE_OF_ETA || v->bottleneck + 1 >= v->hops ||
	    hpcc_wnd_bytes(v) > p->wnd_max_bytes / 2) {
		m->rounds = min_t(s8, m->rounds, 0);
		return false;
	}
	if (++m->rounds < HPCCPP_MOVE_ROUNDS)
		return false;
	*m = (struct hpccpp_move) {
		.rounds = -(s8)(random % HPCCPP_MOVE_ROUNDS) - 1,
		.left = v->path_id,
		.tries = 1,
		.seq = snd_nxt,
	};
	return true;
}

enum hpccpp_came hpccpp_came(struct hpccpp_move *m, const struct hpcc_vars *v, u32 seq, u32 snd_nxt)
{
	bool first = m->tries == 1;

	if (!m->tries || (s32)(seq - m->seq) <= 0)
		return HPCCPP_CAME_UNKNOWN;
	if (v->path_id == m->left && m->tries < HPCCPP_MOVE_TRIES) {
		m->tries++;
		m->seq = snd_nxt;
		return HPCCPP_CAME_BACK;
	}
	m->tries = 0;
	return v->path_id == m->left || first ? HPCCPP_CAME_ELSEWHERE : HPCCPP_CAME_LATE;
}
