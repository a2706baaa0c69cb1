// SPDX-License-Identifier: GPL-2.0
/* WRED: probabilities, decisions and the backlog stay within the configuration. */
#include "fuzz.h"
#include "wred.h"

/* Draw a profile that wred_parse_profile() and wred_check_profile() accept. */
static struct wred_profile draw_profile(u32 limit_bytes)
{
	struct wred_profile f = { .prob_ppm = TC_WRED_PROB_DEFAULT_PPM };

	if (fuzz_flag())
		return f;
	f.on = true;
	f.max_bytes = fuzz_range(0, limit_bytes);
	f.min_bytes = fuzz_range(0, f.max_bytes);
	f.prob_ppm = fuzz_range(0, TC_WRED_PROB_MAX_PPM);
	wred_profile_set_slope(&f);
	return f;
}

static struct wred_params draw_params(void)
{
	struct wred_params p = {
		.limit_bytes = fuzz_range(TC_WRED_LIMIT_MIN_BYTES, TC_WRED_LIMIT_MAX_BYTES),
		.overhead_bytes = fuzz_range(0, TC_WRED_OVERHEAD_MAX_BYTES),
	};

	p.ect = draw_profile(p.limit_bytes);
	p.nect = draw_profile(p.limit_bytes);
	return p;
}

static void check_profile(const struct wred_profile *f, u32 backlog_bytes)
{
	const u64 prob_q32 = wred_profile_prob_q32(f, backlog_bytes);

	FUZZ_CLAIM(prob_q32 <= 1ULL << WRED_RANDOM_SHIFT);
	FUZZ_CLAIM(f->on || !prob_q32);
	FUZZ_CLAIM(!f->on || backlog_bytes < f->max_bytes ||
		   prob_q32 == 1ULL << WRED_RANDOM_SHIFT);
	FUZZ_CLAIM(!backlog_bytes || wred_profile_prob_q32(f, backlog_bytes - 1) <= prob_q32);
	/* Below the upper threshold, the probability never exceeds the configured one. */
	FUZZ_CLAIM(!wred_on_ramp(f, backlog_bytes) ||
		   prob_q32 <= ((u64)f->prob_ppm << WRED_RANDOM_SHIFT) / WRED_PPM + 1);
}

static bool arrive(struct wred_vars *v, const struct wred_params *p, u32 bytes)
{
	const enum wred_class class = fuzz_choice(WRED_OTHER + 1);
	const enum wred_action decision = wred_decide(p, v, class, bytes, fuzz_u32());
	const u64 after_bytes = (u64)v->backlog_bytes + bytes;
	struct tc_wred_xstats stats = {};

	FUZZ_CLAIM((decision == WRED_DROP_LIMIT) == (after_bytes > p->limit_bytes));
	FUZZ_CLAIM(decision != WRED_MARK || class == WRED_ECT);
	FUZZ_CLAIM(decision != WRED_DROP_EARLY || class == WRED_NECT);
	FUZZ_CLAIM(wred_needs_random(p, v, class) ||
		   wred_decide(p, v, class, bytes, 0) == wred_decide(p, v, class, bytes, U32_MAX));
	wred_count(&stats, class, decision, fuzz_range(1, U16_MAX));
	return decision == WRED_PASS || decision == WRED_MARK;
}

static void fuzz_once(void)
{
	struct wred_params p = draw_params();
	struct wred_vars v = {};

	while (fuzz_has_more()) {
		/* hop_pkt_wire() returns up to S32_MAX. */
		const u32 bytes = fuzz_range(1, S32_MAX);

		switch (fuzz_choice(4)) {
		case 0:
			wred_remove(&v, min(bytes, v.backlog_bytes));
			break;
		case 1:
			/* A lowered limit does not remove queued packets. */
			p = draw_params();
			break;
		default:
			if (!arrive(&v, &p, bytes))
				break;
			wred_add(&v, bytes);
			FUZZ_CLAIM(v.backlog_bytes <= p.limit_bytes);
		}
		FUZZ_CLAIM(v.backlog_bytes <= TC_WRED_LIMIT_MAX_BYTES);
		FUZZ_CLAIM(v.backlog_bytes <= v.peak_bytes);
		check_profile(&p.ect, v.backlog_bytes);
		check_profile(&p.nect, fuzz_u32());
	}
}
