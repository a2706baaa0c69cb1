// SPDX-License-Identifier: GPL-2.0
/* The measured rate of a slow port stays in the range of configurable rates. */
#include "fuzz.h"
#include <hopcc/lib/hop_drain.h>

static u64 draw_rate(void)
{
	return fuzz_range(HOP_DRAIN_RATE_MIN_BYTES_PS, HOP_DRAIN_RATE_MAX_BYTES_PS);
}

static struct hop_drain_sent draw_start(void)
{
	return (struct hop_drain_sent) { .bytes = fuzz_u64(), .moves = fuzz_u64() };
}

static void draw_sent(struct hop_drain_sent *sent)
{
	sent->bytes += fuzz_flag() ? fuzz_u64() : fuzz_u32();
	sent->moves += fuzz_u32();
	sent->now_ns += fuzz_u32();
	sent->waits = fuzz_flag();
}

static void check(const struct hop_drain *d, u64 rate_bytes_ps, u64 before_bytes_ps, bool slower)
{
	const u64 capacity_bytes_ps = hop_drain_capacity_bytes_ps(d, rate_bytes_ps);

	FUZZ_CLAIM(capacity_bytes_ps >= HOP_DRAIN_RATE_MIN_BYTES_PS);
	FUZZ_CLAIM(capacity_bytes_ps <= rate_bytes_ps);
	FUZZ_CLAIM(slower == (capacity_bytes_ps < before_bytes_ps));
	FUZZ_CLAIM(!d->rate_bytes_ps || d->rate_bytes_ps < rate_bytes_ps);
}

/* Two queues of a port with CSIG */
static void fuzz_looks(void)
{
	struct hop_drain_sent sent[2] = { draw_start(), draw_start() };
	const u64 rate_bytes_ps = draw_rate();
	struct hop_drain_run run[2] = {};
	struct hop_drain d = {};

	while (fuzz_has_more()) {
		const u64 before_bytes_ps = hop_drain_capacity_bytes_ps(&d, rate_bytes_ps);
		const u32 i = fuzz_choice(2);
		bool waited;

		hop_drain_depart(&run[i], fuzz_flag());
		draw_sent(&sent[i]);
		waited = run[i].waited && sent[i].waits;
		check(&d, rate_bytes_ps, before_bytes_ps,
		      hop_drain_look(&d, &run[i], rate_bytes_ps, &sent[i]));
		FUZZ_CLAIM(waited ||
			   hop_drain_capacity_bytes_ps(&d, rate_bytes_ps) >= before_bytes_ps);
	}
}

static void fuzz_closes(void)
{
	struct hop_drain_sent sent = draw_start();
	const u64 rate_bytes_ps = draw_rate();
	struct hop_drain_run run = {};
	struct hop_drain d = {};

	while (fuzz_has_more()) {
		const u64 before_bytes_ps = hop_drain_capacity_bytes_ps(&d, rate_bytes_ps);

		draw_sent(&sent);
		check(&d, rate_bytes_ps, before_bytes_ps,
		      hop_drain_close(&d, &run, rate_bytes_ps, &sent));
		FUZZ_CLAIM(sent.waits ||
			   hop_drain_capacity_bytes_ps(&d, rate_bytes_ps) >= before_bytes_ps);
	}
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		fuzz_looks();
	else
		fuzz_closes();
}
