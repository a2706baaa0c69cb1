// SPDX-License-Identifier: GPL-2.0
/* u from any records: within its bounds, and the window never exceeds the line's BDP. */
#include "fuzz.h"
#include "../../hop_core/hpcc.c"
#include "int_load.c"

static void draw_record(struct tlm_record *r)
{
	*r = (struct tlm_record) {
		.ts_period_ns = fuzz_flag() ? 1ULL << fuzz_range(20, 62) : 0,
		.tx_period_bytes = fuzz_flag() ? 1ULL << fuzz_range(20, 62) : 0,
		.queue_bytes = fuzz_range(0, TLM_QUEUE_MAX_BYTES),
		.util = fuzz_range(0, TLM_UTIL_MAX),
		.mbit_ps = fuzz_flag() ? 10000 : fuzz_range(1, TLM_MBIT_MAX),
		.ts_res_ns = fuzz_range(1, TLM_NS_PER_S),
		.tx_refresh_ns = fuzz_flag() ? fuzz_range(0, TLM_NS_PER_S) : 0,
		.has = fuzz_flag() ? (1U << INT_LAYOUT_FIELDS) - 1 : fuzz_u32(),
	};
	r->ts_ns = fuzz_range(0, r->ts_period_ns - 1);
	r->tx_bytes = fuzz_range(0, r->tx_period_bytes - 1);
	if (!(r->has & TLM_HAS(INT_LAYOUT_SPEED)))
		r->mbit_ps = 0;
}

static void draw_params(struct hpcc_params *h, struct tlm_sample *s)
{
	h->t_ns = fuzz_range(HPCC_T_MIN_NS, HPCC_T_MAX_NS);
	h->eta = fuzz_range(HPCC_U_ONE / 2, HPCC_U_ONE);
	h->max_stage = fuzz_choice(8);
	h->wnd_max_bytes = fuzz_range(HPCC_WND_MIN_BYTES, HPCC_WND_MAX_BYTES);
	h->wnd_init_bytes = fuzz_range(HPCC_WND_MIN_BYTES, h->wnd_max_bytes);
	h->wnd_ai = hpcc_wnd_ai(h->wnd_init_bytes, h->eta, fuzz_range(1, 1000));
	s->trust_idle = fuzz_flag();
}

static void check_load(const struct tlm_load *load, const struct hpcc_params *p,
		       const struct tlm_path *path)
{
	FUZZ_CLAIM(load->u >= p->eta / 2 && load->tau_ns);
	FUZZ_CLAIM(load->unknown < path->records);
	FUZZ_CLAIM(!load->unknown || load->u >= p->eta);
}

static void fuzz_once(void)
{
	static struct tlm_path path;
	struct tlm_sample s = { .now_ns = fuzz_u32() };
	struct hpcc_params h = {};
	struct tlm_vars v = {};
	struct tlm_load load;
	struct hpcc_vars w;
	u32 i, seq = 0;

	draw_params(&h, &s);
	hpcc_start(&w, &h);
	path.records = fuzz_range(1, 3);
	path.hops = path.records;
	path.path_id = 0;
	path.full = fuzz_flag();
	while (fuzz_has_more()) {
		for (i = 0; i < path.records; i++)
			if (fuzz_choice(4))
				draw_record(&path.record[i]);
		if (!fuzz_choice(16))
			path.path_id++;
		s.now_ns += fuzz_range(1, 1ULL << 40);
		s.rtt_ns = fuzz_u32();
		s.own_bytes_ps = fuzz_range(0, 1ULL << 38);
		if (ntlm_receive(&v, &h, &path, &s, &load) != HPCC_RECEIVED_NEW)
			continue;
		check_load(&load, &h, &path);
		hpcc_receive_ratio(&w, &h, load.u, load.tau_ns);
		hpcc_decide(&w, &h, seq, seq + 1);
		seq += 2;
		FUZZ_CLAIM(hpcc_wnd_bytes(&w) <= h.wnd_max_bytes);
	}
}
