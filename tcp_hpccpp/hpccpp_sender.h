/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The HPCC++ sender, draft-miao-rtgwg-hpccplus-00 sections 4.2 and 5: it derives the parameters of
 * the algorithm in hopcc/lib/hpcc.h from the sysctls, and TCP's window and pacing rate from the
 * algorithm's state.
 *
 *	T      = RTT - queues			of the packet with the shortest queues
 *	W_init = rate * T			at the start; lower of line's and path's rate
 *	W_ai   = W_init (1 - eta) / N
 *	cwnd   = W / bytes of a packet on the wire, rounded up
 *	R      = W / T				paces what cwnd rounds up
 *
 * W counts bytes on the wire, as the hops do; cwnd and TCP's pace count packets and payload.
 *
 * Deviations:
 * - T, the base RTT, is measured: see struct hpccpp_least.
 * - If the line rate is not known, the rate of the path's slowest port is used. The peer reports it
 *   and may lie: a round can raise it to at most HPCCPP_GROWTH_MAX times W / T. A receiver that
 *   sends only U does not report it: see hpccpp_next_bytes_ps().
 * - The draft does not define a reaction to loss: W is halved, once per window.
 * - All flows of the host share the line. If flows start to one peer, each within T of the previous
 *   one, the k-th one has a first window of W_init / k: no answer could report the other flows in
 *   time, whose windows are in front of it in the host's own queue.
 */
#ifndef HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H
#define HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <hopcc/lib/hop_pace.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/flow/int_flow.h>

/*
 * Consecutive round trips without a measurement after which the sender gives up. On a new path
 * without any measurement there is only the first window, at line rate; another path may have
 * changed temporarily.
 */
#define HPCCPP_BLIND_ROUNDS_NEW	2
#define HPCCPP_BLIND_ROUNDS_MAX	16

#define HPCCPP_NS_PER_S		1000000000U
#define HPCCPP_BYTES_PER_MBIT	125000U
#define HPCCPP_ETA_DEFAULT_PPM	950000U
#define HPCCPP_ETA_MIN_PPM	500000U
#define HPCCPP_STAGE_DEFAULT	5U
#define HPCCPP_STAGE_MAX	1000U
#define HPCCPP_FLOWS_DEFAULT	6U
#define HPCCPP_FLOWS_MAX	1000000U
#define HPCCPP_RATE_MAX_MBIT	1600000U
/* Maximum burst of a flow, unless the hosts are slow and the path is free. */
#define HPCCPP_BURST_NS		20000U
/* Limit for slow ports: a host that sends fewer at once needs more CPU time than with cubic. */
#define HPCCPP_BURST_MIN_PKTS	4U
/* Maximum growth per round, in windows, if the sender's device does not report its rate. */
#define HPCCPP_GROWTH_MAX	64U

/**
 * struct hpccpp_config - the sysctls; read without a lock
 * @eta_ppm: target utilisation
 * @max_stage: maxStage
 * @flows: N
 * @t_ns: T; 0: the minimum RTT that was measured
 * @rate_mbit: line rate; 0: the rate of the device
 * @hold: after an incast has paused a flow, also reduce Wc
 */
struct hpccpp_config {
	u32 eta_ppm;
	u32 max_stage;
	u32 flows;
	u32 t_ns;
	u32 rate_mbit;
	u32 hold;
};

/**
 * struct hpccpp_path - what is known of a connection's path
 * @rate_bytes_ps: line rate, at least 1
 * @port_bytes_ps: rate of the path's slowest port; 0: not known
 * @t_ns: T, within HPCC_T_MIN_NS and HPCC_T_MAX_NS
 * @flows: N, at least 1
 */
struct hpccpp_path {
	u64 rate_bytes_ps;
	u64 port_bytes_ps;
	u32 t_ns;
	u32 flows;
};

/**
 * hpccpp_set_params() - compute the algorithm's parameters
 * @p: result
 * @c: the sysctls
 * @path: the path
 */
static inline void hpccpp_set_params(struct hpcc_params *p, const struct hpccpp_config *c,
				     const struct hpccpp_path *path)
{
	p->t_ns = path->t_ns;
	/* 10^6 * 2^20 < 2^64 */
	p->eta = div_u64((u64)READ_ONCE(c->eta_ppm) << HPCC_U_SHIFT, HPCC_PPM);
	p->max_stage = READ_ONCE(c->max_stage);
	p->hold = READ_ONCE(c->hold);
	p->wnd_max_bytes = hpcc_bdp_bytes(path->rate_bytes_ps, path->t_ns);
	p->wnd_init_bytes = p->wnd_max_bytes;
	if (path->port_bytes_ps && path->port_bytes_ps < path->rate_bytes_ps)
		p->wnd_init_bytes = hpcc_bdp_bytes(path->port_bytes_ps, path->t_ns);
	p->wnd_ai = hpcc_wnd_ai(p->wnd_init_bytes, p->eta, path->flows);
}

/**
 * hpccpp_bound() - limit the windows after the parameters have changed
 * @v: state of the algorithm
 * @p: its parameters
 */
static inline void hpccpp_bound(struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u64 wnd_max = (u64)p->wnd_max_bytes << HPCC_WND_SHIFT;

	v->wnd = min(v->wnd, wnd_max);
	v->wnd_ref = min(v->wnd_ref, wnd_max);
	v->wnd_last = min(v->wnd_last, wnd_max);
	v->wnd_quiet = min(v->wnd_quiet, wnd_max);
}

/**
 * hpccpp_rtt_ns() - compute the minimum RTT
 * @rtt_us: TCP's minimum RTT
 * @syn_rtt_ns: RTT of the SYN by the clock that TCP's timestamps are rounded from; 0: not known
 *
 * TCP rounds both timestamps down to microseconds, so their difference is less than 1 us too short
 * or too long. Of two flows on the same path one would have a T of 9 us and the other of 10 us, and
 * the second would keep a larger window. If the minimum is the SYN's RTT, the exact value is used.
 * Otherwise 1 us is added, since a T that is too short would result in a window that is too small.
 *
 * Return: ns, at least 1.
 */
static inline u64 hpccpp_rtt_ns(u32 rtt_us, u64 syn_rtt_ns)
{
	const u64 least_ns = (u64)rtt_us * NSEC_PER_USEC;

	if (syn_rtt_ns && syn_rtt_ns < least_ns + NSEC_PER_USEC &&
	    syn_rtt_ns + NSEC_PER_USEC > least_ns)
		return syn_rtt_ns;
	return least_ns + NSEC_PER_USEC;
}

/*
 * log2 of fractions of the RTT: queues up to the first one are ignored, T is at least the second
 * one, and the third one if a queue is longer than a record can report.
 */
#define HPCCPP_LEAST_QUEUES_SHIFT	3
#define HPCCPP_LEAST_T_SHIFT		2
#define HPCCPP_LONG_T_SHIFT		5

/**
 * struct hpccpp_least - the shortest queues on the path of any packet of a connection
 * @queues_ns: sum over all ports of the path, as they report them; 0: almost none, or not known:
 *	then T is the minimum RTT
 * @t_ns: minimum RTT when they were reported, minus @queues_ns
 *
 * A new connection has measured one RTT, that of its SYN, which includes the queue of any port that
 * others fill. A record has the queue that a packet left behind, not the one in which it waited. If
 * a queue grows the first is longer, so the difference may be too small for T, and it is bounded.
 * The error is smaller with a shorter queue: the estimate is replaced once a shorter one is
 * reported.
 */
struct hpccpp_least {
	u32 queues_ns;
	u32 t_ns;
};

/**
 * hpccpp_start_least() - initialise for a new connection
 * @l: result
 * @rtt_ns: RTT of its SYN
 * @queues_ns: queues on the SYN's path; 0: none, or not known
 */
static inline void hpccpp_start_least(struct hpccpp_least *l, u64 rtt_ns, u64 queues_ns)
{
	*l = (struct hpccpp_least){};
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

/**
 * hpccpp_update_least() - update for an answer
 * @l: is updated
 * @rtt_ns: minimum RTT
 * @a: the answer
 *
 * The receiver's window and ratio report no queues: from then on T is the minimum RTT.
 *
 * Return: true if @l has changed.
 */
static inline bool hpccpp_update_least(struct hpccpp_least *l, u64 rtt_ns,
				       const struct int_answer *a)
{
	u64 queues_ns = 0;

	if (a->kind == INT_ANSWER_RECORDS)
		queues_ns = hpcc_queues_ns(&a->hdr);
	else if (a->kind == INT_ANSWER_SUMMARY)
		queues_ns = hpcc_queue_ns(&a->record);
	if (queues_ns >= l->queues_ns)
		return false;
	hpccpp_start_least(l, rtt_ns, queues_ns);
	return true;
}

/**
 * hpccpp_least_t_ns() - compute T
 * @l: the shortest queues
 * @rtt_ns: minimum RTT
 *
 * Return: ns, within HPCC_T_MIN_NS and HPCC_T_MAX_NS.
 */
static inline u32 hpccpp_least_t_ns(const struct hpccpp_least *l, u64 rtt_ns)
{
	const u64 t_ns = l->queues_ns ? min_t(u64, rtt_ns, l->t_ns) : rtt_ns;

	return clamp_t(u64, t_ns, HPCC_T_MIN_NS, HPCC_T_MAX_NS);
}

/**
 * hpccpp_wnd_bytes_ps() - W / T
 * @wnd_bytes: W
 * @t_ns: T, at least HPCC_T_MIN_NS
 *
 * Return: bytes/s, below 2^52.
 */
static inline u64 hpccpp_wnd_bytes_ps(u32 wnd_bytes, u32 t_ns)
{
	/* 2^32 * 10^9 < 2^62 */
	return div_u64((u64)wnd_bytes * HPCCPP_NS_PER_S, t_ns);
}

/**
 * hpccpp_believe_bytes_ps() - limit the reported rate of a path, if the line rate is not known
 * @path_bytes_ps: rate of the slowest port, as the peer reported it; any value
 * @believed_bytes_ps: result for the previous answer; 0: none
 * @wnd_bytes: W
 * @t_ns: T, at least HPCC_T_MIN_NS
 * @round: a round ended with this answer
 *
 * Return: bytes/s.
 */
static inline u64 hpccpp_believe_bytes_ps(u64 path_bytes_ps, u64 believed_bytes_ps, u32 wnd_bytes,
					  u32 t_ns, bool round)
{
	u64 most_bytes_ps;

	if (path_bytes_ps <= believed_bytes_ps || (believed_bytes_ps && !round))
		return min(path_bytes_ps, believed_bytes_ps);
	most_bytes_ps = hpccpp_wnd_bytes_ps(wnd_bytes, t_ns) * HPCCPP_GROWTH_MAX;
	return min(path_bytes_ps, max(most_bytes_ps, believed_bytes_ps));
}

/**
 * hpccpp_next_bytes_ps() - choose a higher rate, if nothing tells the line rate
 * @v: state of the algorithm, after an answer with U
 * @p: its parameters, of the rate that was chosen before
 *
 * A round in which the flow used its maximum window without filling the path doubles the rate, as
 * in slow start. With U of at least eta it stays.
 *
 * Return: bytes/s, twice W / T; 0: the rate is to stay.
 */
static inline u64 hpccpp_next_bytes_ps(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	const u32 wnd_bytes = hpcc_wnd_bytes(v);

	if (v->u >= p->eta || wnd_bytes < p->wnd_max_bytes)
		return 0;
	return min_t(u64, 2 * hpccpp_wnd_bytes_ps(wnd_bytes, p->t_ns),
		     (u64)HPCCPP_RATE_MAX_MBIT * HPCCPP_BYTES_PER_MBIT);
}

/* Processes an answer that does not have all records of the path. */
static inline enum hpcc_received hpccpp_receive_part(struct hpcc_vars *v,
						     const struct hpcc_params *p,
						     const struct int_answer *a, u32 snd_nxt,
						     u64 now_ns)
{
	enum hpcc_received received = HPCC_RECEIVED_NOTHING;

	switch (a->kind) {
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
	case INT_ANSWER_RECORDS:
		break;
	}
	if (received == HPCC_RECEIVED_NEW)
		hpcc_decide(v, p, a->seq, snd_nxt);
	return received;
}

/**
 * hpccpp_receive() - NewAck: process an answer of any kind
 * @v: state of the algorithm
 * @p: its parameters
 * @a: the answer
 * @snd_nxt: current SND.NXT
 * @now_ns: local clock
 *
 * Return: the effect of the answer.
 */
static inline enum hpcc_received hpccpp_receive(struct hpcc_vars *v, const struct hpcc_params *p,
						const struct int_answer *a, u32 snd_nxt, u64 now_ns)
{
	if (a->kind == INT_ANSWER_RECORDS)
		return hpcc_new_ack(v, p, &a->hdr, a->seq, snd_nxt, now_ns);
	return hpccpp_receive_part(v, p, a, snd_nxt, now_ns);
}

/**
 * struct hpccpp_blind - round trips whose answers the algorithm could not use
 * @rounds: number of round trips with such answers since one could be used
 * @counted: the current round trip is included in @rounds; cleared when it ends
 * @measured: records of known ports have arrived
 */
struct hpccpp_blind {
	u8 rounds;
	bool counted;
	bool measured;
};

/**
 * hpccpp_is_blind() - check if the algorithm has no usable answers
 * @b: previous answers
 * @received: the algorithm's result for an answer
 *
 * Answers cannot be used without records, with a port of unknown speed, or if they are from another
 * path than the stored ones. The first answer after an idle time cannot be used either, but it does
 * not count, because the next one can. An answer with the same records as the previous one shows
 * that records arrive, but it does not reset the count: the answers between such pairs may all have
 * records that cannot be used.
 *
 * Return: true after HPCCPP_BLIND_ROUNDS_MAX round trips, or HPCCPP_BLIND_ROUNDS_NEW on a new path.
 */
static inline bool hpccpp_is_blind(struct hpccpp_blind *b, enum hpcc_received received)
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

/**
 * hpccpp_cwnd_pkts() - compute the congestion window
 * @wnd_bytes: W
 * @wnd_init_bytes: W_init, the BDP of the path's slowest port
 * @wire_bytes: size of a full packet on the wire
 * @held: a single packet is in flight, and the receiver may delay its ACK
 *
 * A receiver may delay the ACK of a single packet by up to 40 ms, and acknowledges a second one at
 * once. The next packet would report the small W to it, but a W that has become smaller than the
 * data in flight does not let it out. So two packets may be in flight then. A receiver that also
 * sends data, as the client of requests and responses does, delays ACKs again: where a BDP is less
 * than two packets, a flow with at least half of it may always have two in flight. The pacing rate
 * stays W / T.
 *
 * Return: packets, at least 1.
 */
static inline u32 hpccpp_cwnd_pkts(u32 wnd_bytes, u32 wnd_init_bytes, u32 wire_bytes, bool held)
{
	const bool is_slow = wnd_init_bytes < 2 * wire_bytes && wnd_bytes >= wnd_init_bytes / 2;

	return max_t(u32, div_u64((u64)wnd_bytes + wire_bytes - 1, wire_bytes),
		     is_slow || held ? 2 : 1);
}

/**
 * hpccpp_pace_bytes_ps() - compute R
 * @wnd_bytes: W
 * @t_ns: T
 * @mss_bytes: payload of a full packet
 * @wire_bytes: size of the packet on the wire
 *
 * Return: payload, bytes/s, at least 1.
 */
static inline u64 hpccpp_pace_bytes_ps(u32 wnd_bytes, u32 t_ns, u32 mss_bytes, u32 wire_bytes)
{
	u64 wire_bytes_ps = hpccpp_wnd_bytes_ps(wnd_bytes, t_ns);

	return max_t(u64, mul_u64_u32_div(wire_bytes_ps, mss_bytes, wire_bytes), 1);
}

/**
 * hpccpp_burst_pkts() - maximum number of packets that may be sent back to back
 * @rate_bytes_ps: lower of the line rate and the rate of the path's slowest port; 0: not known
 * @wire_bytes: size of a full packet on the wire
 *
 * A flow with a shorter RTT sees a burst as a queue: at 2.5 Gbit/s a GSO packet of 25 segments, a
 * sixteenth of the window of a flow with T 2 ms, is six T of one with T 20 us. At this rate the
 * limit is HPCCPP_BURST_MIN_PKTS, and slower ports do not lower it. hop_burst_pkts() limits a
 * window of fewer than 64 packets to shorter bursts.
 *
 * Return: packets, HPCCPP_BURST_MIN_PKTS to HOP_BURST_MAX_PKTS.
 */
static inline u32 hpccpp_burst_pkts(u64 rate_bytes_ps, u32 wire_bytes)
{
	const u64 bytes = mul_u64_u32_div(rate_bytes_ps, HPCCPP_BURST_NS, HPCCPP_NS_PER_S);

	if (!rate_bytes_ps)
		return HOP_BURST_MAX_PKTS;
	return clamp_t(u64, div_u64(bytes, wire_bytes), HPCCPP_BURST_MIN_PKTS,
		       HOP_BURST_MAX_PKTS);
}

/**
 * hpccpp_path_is_free() - check if all ports are used to less than half of the target
 * @v: state of the algorithm; U is 1 before the first answer
 * @p: its parameters
 *
 * Return: true if there is room for larger bursts.
 */
static inline bool hpccpp_path_is_free(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	return v->u < p->eta / 2;
}

/**
 * hpccpp_path() - get what the ports have reported of the path
 * @v: state of the algorithm
 * @p: its parameters
 *
 * While an incast ends, U is low and smoothed RTTs are still long, but the window is small.
 *
 * Return: HOP_PATH_IDLE if all ports are used to less than half of the target with the largest
 * window.
 */
static inline enum hop_path hpccpp_path(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	if (!hpccpp_path_is_free(v, p))
		return HOP_PATH_BUSY;
	return hpcc_wnd_bytes(v) < p->wnd_max_bytes ? HOP_PATH_FREE : HOP_PATH_IDLE;
}

/**
 * struct hpccpp_start - flows that started to a peer; protected by a lock of the netns
 * @peer: hash of the peer's address
 * @flows: number of flows that started, each within T of the previous one
 * @last_ns: time of the last start
 */
struct hpccpp_start {
	u32 peer;
	u32 flows;
	u64 last_ns;
};

/**
 * hpccpp_join_start() - count a flow that starts
 * @s: flows to its peer, or to another peer that used the entry before
 * @peer: hash of the peer's address
 * @t_ns: T
 * @now_ns: current time
 *
 * Return: number of the flow among them, from 1.
 */
static inline u32 hpccpp_join_start(struct hpccpp_start *s, u32 peer, u32 t_ns, u64 now_ns)
{
	if (s->peer != peer || now_ns - s->last_ns > t_ns)
		*s = (struct hpccpp_start){ .peer = peer };
	s->last_ns = now_ns;
	s->flows += s->flows < U32_MAX;
	return s->flows;
}

/**
 * hpccpp_share_start() - first window of a flow that starts together with others
 * @v: state of the algorithm, started
 * @p: its parameters
 * @flows: result of hpccpp_join_start()
 * @wire_bytes: size of a full packet on the wire, the minimum
 */
static inline void hpccpp_share_start(struct hpcc_vars *v, const struct hpcc_params *p,
				      u32 flows, u32 wire_bytes)
{
	u32 wnd_bytes = min(max(p->wnd_init_bytes / flows, wire_bytes), p->wnd_max_bytes);

	v->wnd = (u64)wnd_bytes << HPCC_WND_SHIFT;
	v->wnd_ref = v->wnd;
}

/* Consecutive rounds in favour of another path after which it is tried. */
#define HPCCPP_MOVE_ROUNDS	4
/* A port without overload is at eta, and at times slightly below it. */
#define HPCCPP_MOVE_OF_ETA	9U	/* in tenths */
/* Consecutive tries that lead to the same path; there may be no other. */
#define HPCCPP_MOVE_TRIES	8

/**
 * struct hpccpp_move - paths of a flow, section 9.4
 * @rounds: consecutive rounds in favour of another path; negative after a move
 * @left: pathID of the path that was left
 * @tries: number of tries since; 0: none in progress
 * @seq: snd_nxt at the last try
 */
struct hpccpp_move {
	s8 rounds;
	u16 left;
	u8 tries;
	u32 seq;
};

/**
 * hpccpp_should_move() - decide if another path should be tried, section 9.4
 * @m: paths of the flow
 * @v: state of the algorithm; Wc is new
 * @p: its parameters
 * @snd_nxt: current SND.NXT
 * @random: any value; makes some of the flows that share the next path stay longer than others
 *
 * A flow cannot avoid its last hop. At another hop that is as full as the algorithm leaves it, a
 * flow that gets half of its line rate has no reason to move.
 *
 * Return: true to try another path now.
 */
static inline bool hpccpp_should_move(struct hpccpp_move *m, const struct hpcc_vars *v,
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

/**
 * enum hpccpp_came - result of a try
 * @HPCCPP_CAME_UNKNOWN: there is no answer yet, or there was no try
 * @HPCCPP_CAME_BACK: same path as before; another try is due
 * @HPCCPP_CAME_LATE: another path, but not with the first try
 * @HPCCPP_CAME_ELSEWHERE: another path with the first try; or there is no other path
 */
enum hpccpp_came {
	HPCCPP_CAME_UNKNOWN,
	HPCCPP_CAME_BACK,
	HPCCPP_CAME_LATE,
	HPCCPP_CAME_ELSEWHERE,
};

/**
 * hpccpp_came() - find the result of the last try
 * @m: paths of the flow
 * @v: state of the algorithm, which has stored the records of a packet
 * @seq: snd_nxt after that packet was sent
 * @snd_nxt: current SND.NXT
 *
 * A flow that is back on its old path does not wait for further rounds, which are long there.
 *
 * Return: the result.
 */
static inline enum hpccpp_came hpccpp_came(struct hpccpp_move *m, const struct hpcc_vars *v,
					   u32 seq, u32 snd_nxt)
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

#endif /* HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H */
