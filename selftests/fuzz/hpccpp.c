// SPDX-License-Identifier: GPL-2.0
/*
 * The HPCC++ sender: window and pacing rate stay within the line rate for any records and answers.
 */
#include "int_header.h"
#include "../../hop_core/hpcc.c"
#include "../../tcp_hpccpp/hpccpp_sender.c"

/*
 * Draw parameters in the ranges of net.hopcc.tcp_hpccpp_*; the rate may be an application's
 * SO_MAX_PACING_RATE.
 */
static struct hpccpp_path draw_params(struct hpcc_params *p, u64 path_bytes_ps)
{
	struct hpccpp_config config = {};
	struct hpccpp_path path = {
		.rate_bytes_ps = path_bytes_ps,
		.port_bytes_ps = fuzz_flag() ? path_bytes_ps : fuzz_range(0, 1ULL << 38),
		.t_ns = fuzz_range(HPCC_T_MIN_NS, HPCC_T_MAX_NS),
	};

	config.eta_ppm = fuzz_range(HPCCPP_ETA_MIN_PPM, HPCC_PPM);
	config.max_stage = fuzz_range(0, HPCCPP_STAGE_MAX);
	path.flows = fuzz_range(1, HPCCPP_FLOWS_MAX);
	if (!path_bytes_ps || fuzz_choice(4))
		path.rate_bytes_ps = fuzz_range(1, U64_MAX);
	hpccpp_set_params(p, &config, &path);
	return path;
}

static void draw_answer(struct int_answer *a, u32 seq)
{
	const u64 record = fuzz_u64();

	*a = (struct int_answer) {
		.kind = fuzz_choice(INT_ANSWER_WINDOW + 1),
		.seq = seq,
		.flows = fuzz_range(0, U16_MAX),
		.hops = fuzz_range(0, INT_HOPS_SATURATED),
		.path_id = fuzz_range(0, INT_SWITCH_ID_MAX),
		.index = fuzz_range(0, fuzz_flag() ? INT_SLOTS_MAX : INT_FLAGS_VALUE),
		.record = int_unpack(cpu_to_be64(record)),
		.u = fuzz_u32(),
		.tau_ns = fuzz_u32(),
		.wnd_bytes = fuzz_u32(),
	};
	if (a->kind == INT_ANSWER_RECORDS) {
		u32 bytes;
		struct int_hdr *h = draw_header(&bytes);

		/* Control packets without a valid header are not answers. */
		if (int_check(bytes < INT_HDR_BYTES ? NULL : h, bytes) == INT_OK)
			memcpy(a->room, h, h->words * INT_WORD_BYTES);
		else
			int_write(&a->hdr, 0, INT_TYPE_ECHO, 0, 0);
		free(h);
	}
}

static void check(const struct hpcc_vars *v, const struct hpcc_params *p, u64 rate_bytes_ps)
{
	const u32 wnd_bytes = hpcc_wnd_bytes(v), mss_bytes = fuzz_range(1, U16_MAX);
	const u32 wire_bytes = mss_bytes + fuzz_range(40, 512);
	const u64 pace_bytes_ps = hpccpp_pace_bytes_ps(wnd_bytes, p->t_ns, mss_bytes, wire_bytes);
	const u64 least_bytes_ps = (u64)HPCC_WND_MIN_BYTES * HPCCPP_NS_PER_S / p->t_ns;
	const bool held = fuzz_range(0, 1);
	const u32 cwnd_pkts = hpccpp_cwnd_pkts(wnd_bytes, p->wnd_init_bytes, wire_bytes, held);

	FUZZ_CLAIM(wnd_bytes >= HPCC_WND_MIN_BYTES && wnd_bytes <= p->wnd_max_bytes);
	FUZZ_CLAIM(p->wnd_init_bytes >= HPCC_WND_MIN_BYTES);
	FUZZ_CLAIM(v->wnd_ref >> HPCC_WND_SHIFT <= p->wnd_max_bytes);
	FUZZ_CLAIM(v->wnd_quiet >> HPCC_WND_SHIFT <= p->wnd_max_bytes);
	/* Never above the line rate, except for the minimum window */
	FUZZ_CLAIM(pace_bytes_ps >= 1 && pace_bytes_ps <= max(rate_bytes_ps, least_bytes_ps + 1));
	/* Less than a packet more than W, or two packets. */
	FUZZ_CLAIM(cwnd_pkts >= 1);
	FUZZ_CLAIM(cwnd_pkts <= 2 || (u64)(cwnd_pkts - 1) * wire_bytes < wnd_bytes);
	FUZZ_CLAIM(cwnd_pkts <= 1 || held || wire_bytes < wnd_bytes ||
		   p->wnd_init_bytes < 2 * wire_bytes);
	FUZZ_CLAIM(v->bottleneck < INT_SLOTS_MAX);
}

static void move(struct hpccpp_move *m, const struct hpcc_vars *v, const struct hpcc_params *p,
		 u32 seq, u32 snd_nxt)
{
	hpccpp_came(m, v, seq, snd_nxt);
	if (hpccpp_should_move(m, v, p, snd_nxt, fuzz_u32()))
		FUZZ_CLAIM(m->tries == 1 && m->rounds < 0);
	FUZZ_CLAIM(m->tries <= HPCCPP_MOVE_TRIES);
	FUZZ_CLAIM(m->rounds >= -HPCCPP_MOVE_ROUNDS && m->rounds < HPCCPP_MOVE_ROUNDS);
}

/*
 * A higher rate of the path is accepted up to the growth limit of a round; a lower one immediately.
 */
static u64 believe(const struct hpcc_vars *v, const struct hpcc_params *p, u64 path_bytes_ps,
		   u64 believed_bytes_ps, bool round)
{
	const u32 wnd_bytes = hpcc_wnd_bytes(v);
	const u64 rate_bytes_ps = hpccpp_believe_bytes_ps(path_bytes_ps, believed_bytes_ps,
							  wnd_bytes, p->t_ns, round);
	const u64 most_bytes_ps = (u64)wnd_bytes * HPCCPP_NS_PER_S / p->t_ns * HPCCPP_GROWTH_MAX;

	FUZZ_CLAIM(rate_bytes_ps <= path_bytes_ps);
	FUZZ_CLAIM(rate_bytes_ps <= max(most_bytes_ps, believed_bytes_ps));
	FUZZ_CLAIM(round || !believed_bytes_ps || rate_bytes_ps <= believed_bytes_ps);
	FUZZ_CLAIM(path_bytes_ps > believed_bytes_ps || rate_bytes_ps == path_bytes_ps);
	return rate_bytes_ps;
}

/* T never exceeds the minimum RTT, and the queues that it accounts for can only become shorter. */
static void measure_t(struct hpccpp_least *l, const struct int_answer *a)
{
	const u32 rtt_us = fuzz_u32(), queues_ns = l->queues_ns;
	const u64 rtt_ns = hpccpp_rtt_ns(rtt_us, fuzz_flag() ? fuzz_u64() :
					 (u64)rtt_us * NSEC_PER_USEC + fuzz_range(0, 2000));
	const bool known = l->known;
	u32 t_ns;

	FUZZ_CLAIM(rtt_ns && rtt_ns + NSEC_PER_USEC > (u64)rtt_us * NSEC_PER_USEC &&
		   rtt_ns <= ((u64)rtt_us + 1) * NSEC_PER_USEC);
	if (hpccpp_update_least(l, a))
		FUZZ_CLAIM(a->rtt_ns && l->known && (!known || l->queues_ns < queues_ns));
	else
		FUZZ_CLAIM(l->queues_ns == queues_ns && l->known == known);
	t_ns = hpccpp_least_t_ns(l, rtt_ns);
	FUZZ_CLAIM(t_ns >= HPCC_T_MIN_NS && t_ns <= max_t(u64, rtt_ns, HPCC_T_MIN_NS));
	FUZZ_CLAIM(l->queues_ns || t_ns == clamp_t(u64, rtt_ns, HPCC_T_MIN_NS, HPCC_T_MAX_NS));
}

static void learn(struct hpcc_vars *v, const struct hpcc_params *p, u32 snd_nxt, u64 now_ns,
		  struct hpccpp_move *m, struct hpccpp_least *l, u64 *path_bytes_ps)
{
	const u32 seq = snd_nxt - fuzz_range(0, 1 << 30), update_seq = v->update_seq;
	enum hpcc_received received;
	struct int_answer a;

	draw_answer(&a, seq);
	measure_t(l, &a);
	received = hpccpp_receive(v, p, &a, snd_nxt, now_ns);
	if (a.kind == INT_ANSWER_RECORDS)
		FUZZ_CLAIM(hpcc_forward_ns(&a.hdr, fuzz_range(0, 1 << 17)) <= HPCC_T_MAX_NS);
	if (a.kind == INT_ANSWER_RECORDS)
		*path_bytes_ps = believe(v, p, (u64)v->path_mbit * HPCCPP_BYTES_PER_MBIT,
					 *path_bytes_ps,
					 received == HPCC_RECEIVED_NEW &&
					 v->update_seq != update_seq);
	if (received != HPCC_RECEIVED_NOTHING)
		move(m, v, p, seq, snd_nxt);
}

static void start(struct hpcc_vars *v, const struct hpcc_params *p, struct hpccpp_start *s,
		  u64 now_ns)
{
	const u32 flows = hpccpp_join_start(s, fuzz_choice(2), p->t_ns, now_ns);

	FUZZ_CLAIM(flows >= 1);
	hpcc_start(v, p);
	/* The smallest Ethernet packet is larger than the minimum window. */
	hpccpp_share_start(v, p, flows, fuzz_range(HPCC_WND_MIN_BYTES, 1 << 17));
}

static void fuzz_once(void)
{
	u64 now_ns = fuzz_range(0, 1ULL << 60), path_bytes_ps = 0;
	struct hpccpp_start starts = {};
	struct hpccpp_move moves = {};
	struct hpccpp_least least = {};
	u32 snd_nxt = fuzz_u32();
	struct hpccpp_path path;
	struct hpcc_params p;
	struct hpcc_vars v;

	path = draw_params(&p, 0);
	start(&v, &p, &starts, now_ns);
	hpccpp_remember(&starts, 1, now_ns, fuzz_u64(), fuzz_u32());
	if (!hpccpp_recall(&starts, 1, now_ns, &least))
		FUZZ_CLAIM(!least.queues_ns);
	FUZZ_CLAIM(hpccpp_burst_pkts(path.rate_bytes_ps, fuzz_range(1, 1 << 17)) - 1 <
		   HOP_BURST_MAX_PKTS);
	while (fuzz_has_more()) {
		now_ns += fuzz_range(0, 1ULL << 40);
		snd_nxt += fuzz_range(0, 1 << 20);
		switch (fuzz_choice(8)) {
		case 0:
			hpcc_halve(&v);
			break;
		case 1:
			/* A sysctl, T or the line rate changes during the connection. */
			path = draw_params(&p, path_bytes_ps);
			hpccpp_bound(&v, &p);
			break;
		case 2:
			start(&v, &p, &starts, now_ns);
			break;
		case 3:
			hpcc_restart(&v, &p);
			break;
		default:
			learn(&v, &p, snd_nxt, now_ns, &moves, &least, &path_bytes_ps);
		}
		check(&v, &p, path.rate_bytes_ps);
	}
}
