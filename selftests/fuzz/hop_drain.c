// SPDX-License-Identifier: GPL-2.0
/* The measured rate of a slow port stays in the range of configurable rates. */
#include "fuzz.h"
#include "../../hop_core/hop_drain.c"

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

/*
 * The most that one packet more adds to the capacity, with @look either rule, is its bytes in the
 * time of the measurement, and the step of the rule: hop_drain_set() rounds the last 1/8 up, and
 * hop_drain_look() at most doubles a measured rate.
 */
static void check_share(const struct hop_drain *d, const struct hop_drain_run *run,
			u64 rate_bytes_ps, const struct hop_drain_sent *sent,
			bool (*look)(struct hop_drain *d, struct hop_drain_run *run,
				     u64 rate_bytes_ps, const struct hop_drain_sent *sent))
{
	const u32 bytes = (sent->now_ns & S32_MAX) + 1;
	const u64 elapsed_ns = sent->now_ns - run->start_ns;
	const u64 before_bytes_ps = hop_drain_capacity_bytes_ps(d, rate_bytes_ps);
	const u64 step_bytes_ps = rate_bytes_ps / 8 +
				  (look == hop_drain_look ? before_bytes_ps : 0);
	struct hop_drain_run without_run = *run, with_run = *run;
	struct hop_drain_sent with_sent = *sent;
	struct hop_drain without = *d, with = *d;

	with_sent.bytes += bytes;
	/* A port sends 2^62 bytes in a century. */
	if (sent->bytes - run->start_bytes > 1ULL << 62)
		return;
	look(&without, &without_run, rate_bytes_ps, sent);
	look(&with, &with_run, rate_bytes_ps, &with_sent);
	FUZZ_CLAIM(hop_drain_capacity_bytes_ps(&with, rate_bytes_ps) <=
		   hop_drain_capacity_bytes_ps(&without, rate_bytes_ps) + step_bytes_ps +
		   hop_drain_sent_bytes_ps(bytes, elapsed_ns) + 1);
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
		check_share(&d, &run[i], rate_bytes_ps, &sent[i], hop_drain_look);
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
		check_share(&d, &run, rate_bytes_ps, &sent, hop_drain_close);
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
