// SPDX-License-Identifier: GPL-2.0
/*
 * Test of each congestion control with a peer that sends false feedback: every field has a random
 * value, in any order; small and extreme values are as frequent as others. Claims: the window stays
 * within its bounds; the pacing rate is at most the rate of the device; if that is not known, the
 * window grows per round trip by at most the factor of the congestion control. The shim's divisions
 * trap where the kernel's do, and UBSan finds overflows.
 *
 *	lying_peer [SEQUENCES [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csig_sender.c"
#include "../../hop_core/hpcc.c"
#include "../../tcp_dctcp_ms/dctcp_sender.c"
#include "../../tcp_hpccpp/hpccpp_sender.c"
#include "../../tcp_ldcp/ldcp_sender.c"
#include "../../tcp_xcp/xcp_sender.c"
#include "random.h"

#define REPORTS		64U
#define MSS		1448U
#define WIRE		1538U

static const char *broken;
static unsigned long reports;

/* Store the first claim that fails. */
static void must(bool good, const char *what)
{
	if (!good && !broken)
		broken = what;
}

/* A random 64-bit number: an extreme one, one with few bits, or any. */
static u64 any(void)
{
	static const u64 extremes[] = { 0, 1, 2, S32_MAX, U32_MAX, 1ULL << 32, 1ULL << 44, S64_MAX,
					1ULL << 63, U64_MAX };

	switch (below(3)) {
	case 0:
		return extremes[below(ARRAY_SIZE(extremes))];
	case 1:
		return rng() >> below(64);
	default:
		return rng();
	}
}

static u32 any_rtt_us(void)
{
	return below(8) ? log_uniform(1, HOP_RTT_MAX_US) : (u32)any();
}

static struct tcsig_ack csig_ack(u32 rtt_us, u64 cw, u64 line, u32 *delivered_pkts)
{
	struct tcsig_ack a = {
		.free = tcsig_believe(tcsig_free(any(), rtt_us, WIRE), cw, line),
		.delay_ns = any(),
		.rtt_ns = below(4) ? rtt_us * 1000ULL : 0,
		.path_ns = any() >> 20,
		.acked_pkts = below(64),
		.share_ppm = any(),
		.sharers = any(),
		.has_free = below(2),
		.has_delay = below(2),
		.has_share = below(2),
		.limited = below(8),
	};

	a.prior_pkts = *delivered_pkts - below(64);
	*delivered_pkts += a.acked_pkts;
	a.delivered_pkts = *delivered_pkts;
	return a;
}

static struct tcsig_params csig_params(void)
{
	return (struct tcsig_params){
		.target_ns = log_uniform(TCSIG_TARGET_MIN_NS, TCSIG_TARGET_MAX_NS),
		.ai = hop_wnd_of_ppm(log_uniform(1000, 64000000)),
		.rtt_ns = below(2) ? log_uniform(1, 1ULL << 34) : 0,
	};
}

static void lie_to_csig(void)
{
	const u32 rtt_us = log_uniform(1, HOP_RTT_MAX_US);
	const u64 line_kbit = below(2) ? log_uniform(10000, TCSIG_KBIT_MAX) : 0;
	const u64 line = line_kbit ? tcsig_free(line_kbit, rtt_us, WIRE) : 0;
	const struct tcsig_params p = csig_params();
	u32 i, delivered_pkts = rng();
	struct tcsig_vars v;

	tcsig_begin(&v, any(), below(2) ? TCSIG_WND_MAX : any(), delivered_pkts);
	for (i = 0; i < REPORTS; i++, reports++) {
		const u64 was = max(v.cw, TCSIG_WND_MIN);
		const struct tcsig_ack a = csig_ack(rtt_us, v.cw, line, &delivered_pkts);
		/* Slow start adds acknowledged packets; later, each adds at most ai. */
		const u64 added = (a.acked_pkts * TCSIG_ONE) + a.acked_pkts * p.ai;

		if (!below(16))
			tcsig_lose(&v, delivered_pkts, below(2));
		else
			tcsig_receive(&v, &p, &a);
		if (!below(16))
			tcsig_undo(&v);
		else
			must(line || v.cw <= was * TCSIG_GROWTH_MAX + added,
			     "csig: growth of a report");
		tcsig_bound(&v, line);
		must(v.cw && v.cw <= TCSIG_WND_MAX, "csig: the window's range");
		must(!line || v.cw <= max(line * TCSIG_LINE_RTTS, TCSIG_FLIGHT_PKTS * TCSIG_ONE),
		     "csig: the device's window");
		must(tcsig_pace_bytes_ps(&v, MSS, rtt_us), "csig: the pace");
	}
}

static void lie_to_xcp(void)
{
	const u64 speed_bytes_ps = below(2) ? log_uniform(125000, XCP_RATE_MAX_BYTES_PS) : 0;
	const u64 app_bytes_ps = below(2) ? U64_MAX : any();
	u64 asked_bytes_ps = 0, granted_bytes_ps = 0;
	struct txcp_vars v;
	u32 i;

	txcp_start(&v, any(), MSS);
	v.rtt_us = log_uniform(1, XCP_RTT_MAX_US);
	for (i = 0; i < REPORTS; i++, reports++) {
		const u64 rate_bytes_ps = txcp_throughput_bytes_ps(txcp_wnd_bytes(&v), v.rtt_us);
		struct txcp_limits l =
			txcp_get_limits(speed_bytes_ps, speed_bytes_ps, app_bytes_ps,
					rate_bytes_ps);
		const s32 demand_bytes_ps =
			txcp_demand_bytes_ps(l.desired_bytes_ps, rate_bytes_ps,
					     txcp_wnd_pkts(&v, MSS));
		const u64 was = v.wnd, round_wnd = v.round_wnd;
		const u32 pkts = below(64);
		struct txcp_vars trial;
		s64 feedback_bytes_ps = any(), granted;

		l.acked_bytes = (u64)below(64) * MSS;
		l.start_bytes = below(2) * XCP_START_PKTS * MSS;
		l.min_rtt_us = log_uniform(1, XCP_RTT_MAX_US);
		txcp_ask(&v, pkts, demand_bytes_ps);
		asked_bytes_ps += (u64)pkts * max(demand_bytes_ps, 0);
		trial = v;
		granted = txcp_grant(&trial, feedback_bytes_ps);
		granted_bytes_ps += max(granted, 0LL);
		if (txcp_receive(&v, feedback_bytes_ps, MSS))
			txcp_bound_growth(&v, &l, was);
		must(granted_bytes_ps <= asked_bytes_ps, "xcp: more than was asked for");
		must(v.wnd >= (u64)MSS << XCP_WND_SHIFT, "xcp: the least window");
		must(v.wnd <= max(was, max(txcp_max_wnd(&trial, &l),
					   (u64)MSS << XCP_WND_SHIFT)),
		     "xcp: the largest window");
		must(v.wnd <= max(was, round_wnd + ((l.acked_bytes + l.start_bytes) <<
						     XCP_WND_SHIFT)), "xcp: growth of a round");
		if (!below(8))
			txcp_end_asking(&v, below(2));
		if (!below(8))
			txcp_update_rtt(&v, log_uniform(1, XCP_RTT_MAX_US));
	}
}

static void hpcc_answer(struct int_answer *a)
{
	u32 i;

	memset(a, 0, sizeof(*a));
	a->kind = below(INT_ANSWER_WINDOW + 2);
	a->seq = any();
	a->hops = any();
	a->path_id = any();
	a->index = any();
	a->record = int_unpack(rng());
	a->u = any();
	a->tau_ns = any();
	a->wnd_bytes = any();
	for (i = 0; i < sizeof(a->room); i++)
		a->room[i] = below(4) ? rng() : 0;
	a->hdr.words = (INT_HDR_BYTES + below(INT_SLOTS_MAX + 1) * INT_RECORD_BYTES) / 4;
	a->hdr.type = below(2) ? a->hdr.type : 0;
	/* The carrier refuses answers with a bad header. */
	if (a->kind == INT_ANSWER_RECORDS && int_check(&a->hdr, sizeof(a->room)) != INT_OK)
		a->kind = INT_ANSWER_RATIO;
}

static void lie_to_hpccpp(void)
{
	const u64 line_bytes_ps = below(2) ? log_uniform(125000, 200e9) : 0;
	struct hpccpp_path b = {
		.t_ns = log_uniform(HPCC_T_MIN_NS, HPCC_T_MAX_NS),
		.flows = log_uniform(1, HPCCPP_FLOWS_MAX),
	};
	const struct hpccpp_config config = {
		.eta_ppm = uniform(HPCCPP_ETA_MIN_PPM, HPCC_PPM),
		.max_stage = below(HPCCPP_STAGE_MAX + 1),
	};
	u64 path_bytes_ps = 0;
	struct hpcc_params p;
	struct int_answer a;
	struct hpcc_vars v;
	u32 i, snd_nxt = rng();

	b.rate_bytes_ps = line_bytes_ps ?: max(10ULL * WIRE * HPCCPP_NS_PER_S / b.t_ns, 1ULL);
	b.port_bytes_ps = any();
	hpccpp_set_params(&p, &config, &b);
	hpcc_start(&v, &p);
	for (i = 0; i < REPORTS; i++, reports++) {
		const u64 was_bytes_ps = path_bytes_ps;
		u64 most_bytes_ps;
		bool round = below(2);

		hpcc_answer(&a);
		hpccpp_receive(&v, &p, &a, snd_nxt, rng());
		must(hpcc_wnd_bytes(&v) <= p.wnd_max_bytes, "hpccpp: the largest window");
		must(hpcc_wnd_bytes(&v) >= HPCC_WND_MIN_BYTES, "hpccpp: the least window");
		/* A window of 64 bytes may be more than a BDP. */
		must(hpccpp_pace_bytes_ps(hpcc_wnd_bytes(&v), p.t_ns, MSS, WIRE) <=
		     max(b.rate_bytes_ps, HPCC_WND_MIN_BYTES * 1000000000ULL / p.t_ns) + 1,
		     "hpccpp: a pace above the line's rate");
		if (!below(8))
			hpcc_halve(&v);
		snd_nxt += below(100000);
		if (line_bytes_ps)
			continue;
		most_bytes_ps = (u64)hpcc_wnd_bytes(&v) * HPCCPP_NS_PER_S / p.t_ns *
				HPCCPP_GROWTH_MAX;
		path_bytes_ps = hpccpp_believe_bytes_ps(any(), path_bytes_ps, hpcc_wnd_bytes(&v),
							p.t_ns, round);
		must(path_bytes_ps <= max(was_bytes_ps, most_bytes_ps + HPCCPP_GROWTH_MAX),
		     "hpccpp: growth of a round");
		b.rate_bytes_ps = path_bytes_ps ?: b.rate_bytes_ps;
		hpccpp_set_params(&p, &config, &b);
		hpccpp_bound(&v, &p);
	}
}

static void lie_to_ldcp(void)
{
	const struct ldcp_params p = {
		.alpha = hop_wnd_of_ppm(log_uniform(1, HOP_PPM)),
		.beta = hop_wnd_of_ppm(log_uniform(1, HOP_PPM)),
		.gamma = hop_wnd_of_ppm(log_uniform(LDCP_GAMMA_MIN_PPM, HOP_PPM)),
		.eta = hop_wnd_of_ppm(log_uniform(1, HOP_PPM - 1)),
		.per_rtt = below(2),
	};
	struct ldcp_vars v;
	u32 i, delivered_pkts = rng();

	ldcp_begin(&v, log_uniform(1, HOP_WND_MAX_PKTS), delivered_pkts);
	for (i = 0; i < REPORTS; i++, reports++) {
		struct ldcp_ack a = {
			.acked_pkts = below(4) ? below(64) : (u32)any(),
			.prior_pkts = delivered_pkts - (u32)any(),
			.ece = below(2),
			.limited = below(8),
		};

		delivered_pkts += a.acked_pkts;
		a.delivered_pkts = delivered_pkts;
		if (below(16))
			ldcp_update(&v, &p, &a);
		else
			ldcp_lose(&v, &p, delivered_pkts, below(2) ? v.start_pkts : (u32)any(),
				  below(2));
		if (!below(16))
			ldcp_undo(&v);
		must(v.cw && v.cw <= HOP_WND_MAX, "ldcp: the window's range");
		must(hop_gap_ns(v.cw, 1, any_rtt_us()) <= 10000000000000000ULL, "ldcp: the timer");
		must(hop_wnd_bytes_ps(any(), below(1 << 17), any_rtt_us()) < 1ULL << 57,
		     "the report to ss");
	}
}

static void lie_to_dctcp(void)
{
	struct dctcp_vars v;
	u32 i;

	dctcp_start(&v, rng());
	for (i = 0; i < REPORTS; i++, reports++) {
		const u32 cwnd_pkts = any();

		/* TCP accepts only ACKs for sent data, which is less than 2^30 bytes. */
		dctcp_account_ack(&v, v.una_seq + below(1 << 24), below(2));
		if (dctcp_window_over(&v) || !below(8)) {
			v.alpha = dctcp_update_alpha(&v);
			dctcp_next_window(&v, v.una_seq + below(1 << 30));
		}
		must(v.alpha <= DCTCP_ALPHA_ONE, "dctcp: alpha");
		must(dctcp_cwnd_after_mark(cwnd_pkts, v.alpha) >= DCTCP_CWND_MIN_PKTS,
		     "dctcp: the least window");
		must(dctcp_cwnd_after_mark(cwnd_pkts, v.alpha) <=
		     max(cwnd_pkts, DCTCP_CWND_MIN_PKTS), "dctcp: the largest window");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*lie)(void);
	} laws[] = {
		{ "csig", lie_to_csig }, { "xcp", lie_to_xcp }, { "hpccpp", lie_to_hpccpp },
		{ "ldcp", lie_to_ldcp }, { "dctcp_ms", lie_to_dctcp },
	};
	const unsigned long sequences = argc > 1 ? strtoul(argv[1], NULL, 0) : 250000;
	const u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int failed = 0;
	unsigned long n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(laws); i++) {
		broken = NULL;
		reports = 0;
		for (n = 0; n < sequences / ARRAY_SIZE(laws) && !broken; n++) {
			/* Each sequence has its own seed, so that one can be repeated alone. */
			rng_state = seed + (n << 8);
			laws[i].lie();
		}
		printf("%sok %zu - %s: %lu reports\n", broken ? "not " : "", i + 1, laws[i].name,
		       reports);
		if (broken)
			printf("# %s, sequence %lu of seed %llu\n", broken, n - 1,
			       (unsigned long long)seed);
		failed |= !!broken;
	}
	printf("1..%zu\n", i);
	return failed;
}
