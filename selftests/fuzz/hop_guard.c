// SPDX-License-Identifier: GPL-2.0
/* The guard: an end-to-end window that closes, grows and opens for any ACKs and losses. */
#include "fuzz.h"
#include <linux/bits.h>
#include <hopcc/lib/hop_guard.h>

#define PKTS_MAX	BIT(20)

static void check_state(const struct hop_guard *g)
{
	FUZZ_CLAIM(!g->wnd_pkts || g->wnd_pkts >= 2);
	FUZZ_CLAIM(!g->wait_rounds || (g->wait_rounds >= HOP_GUARD_ROUNDS &&
				       g->wait_rounds <= HOP_GUARD_ROUNDS_MAX));
	/* A closed guard waits. */
	FUZZ_CLAIM(!g->wnd_pkts || g->wait_rounds);
}

/* @explained: hops report all of the delay. */
static void receive_ack(struct hop_guard *g, u32 least_us, bool explained)
{
	const u32 reported_us = fuzz_u32();
	const struct hop_guard_ack a = {
		.acked_pkts = fuzz_range(0, PKTS_MAX),
		.least_us = least_us,
		.delay_us = explained ? fuzz_range(0, reported_us) : fuzz_u32(),
		.reported_us = reported_us,
		.limited = fuzz_flag(),
		.round = fuzz_flag(),
	};
	const struct hop_guard before = *g;
	u32 wnd_pkts = before.wnd_pkts;

	hop_guard_ack(g, &a);
	FUZZ_CLAIM(!g->wnd_pkts == !before.wnd_pkts);
	/* The round that ends now counts. */
	if (a.round && hop_guard_trusts(g))
		wnd_pkts = wnd_pkts > U32_MAX / 2 ? U32_MAX : 2 * wnd_pkts;
	FUZZ_CLAIM(g->wnd_pkts >= before.wnd_pkts);
	FUZZ_CLAIM(g->wnd_pkts <= wnd_pkts || (a.limited && g->wnd_pkts - wnd_pkts == 1));
	FUZZ_CLAIM(a.limited || g->acked_pkts == before.acked_pkts);
	/* A round with an unexplained delay starts the wait again, and ends the doubling. */
	if (a.round && hop_guard_is_unexplained(&before, least_us))
		FUZZ_CLAIM(!g->clean_rounds && g->wnd_pkts - before.wnd_pkts <= 1);
	FUZZ_CLAIM(g->wait_rounds == before.wait_rounds ||
		   (!g->wnd_pkts && !g->wait_rounds && hop_guard_trusts(&before)));
	FUZZ_CLAIM(!explained || g->extra_us <= before.extra_us);
}

static void lose(struct hop_guard *g, u32 least_us)
{
	const u32 flight_pkts = fuzz_range(0, PKTS_MAX);
	const struct hop_guard before = *g;
	const bool closed = hop_guard_lose(g, least_us, flight_pkts);

	FUZZ_CLAIM(closed == !!g->wnd_pkts);
	FUZZ_CLAIM(closed == (before.wnd_pkts || hop_guard_is_unexplained(&before, least_us)));
	if (!closed)
		return;
	FUZZ_CLAIM(g->wnd_pkts <= max(flight_pkts / 2, 2U) || !flight_pkts);
	FUZZ_CLAIM(!before.wnd_pkts || g->wnd_pkts <= max(before.wnd_pkts / 2, 2U));
	FUZZ_CLAIM(!g->clean_rounds && g->wait_rounds >= before.wait_rounds);
}

/* The stack undoes the last loss, once. A guard that has opened since stays open. */
static void undo(struct hop_guard *g, bool *lost)
{
	const u32 before_pkts = g->wnd_pkts;

	if (!*lost)
		return;
	*lost = false;
	hop_guard_undo(g);
	FUZZ_CLAIM(!g->wnd_pkts || (before_pkts && g->wnd_pkts >= before_pkts));
}

/* A window that the guard has opened has no limit, and it opens for none that it limits. */
static void bound(struct hop_guard *g)
{
	const u32 cwnd_pkts = fuzz_range(1, PKTS_MAX);
	const struct hop_guard before = *g;
	const u32 pkts = hop_guard_bound(g, cwnd_pkts);

	FUZZ_CLAIM(pkts && pkts <= cwnd_pkts);
	FUZZ_CLAIM(pkts == cwnd_pkts || pkts == g->wnd_pkts);
	FUZZ_CLAIM(g->wnd_pkts == before.wnd_pkts ||
		   (!g->wnd_pkts && before.wnd_pkts >= cwnd_pkts && hop_guard_trusts(&before)));
	FUZZ_CLAIM(hop_guard_bound(g, cwnd_pkts) == pkts);
}

static void fuzz_once(void)
{
	const u32 least_us = fuzz_u32();
	const bool explained = fuzz_flag();
	struct hop_guard g = {};
	bool lost = false;

	while (fuzz_has_more()) {
		switch (fuzz_choice(8)) {
		case 0:
			lose(&g, least_us);
			lost = true;
			break;
		case 1:
			undo(&g, &lost);
			break;
		case 2:
			bound(&g);
			break;
		default:
			receive_ack(&g, least_us, explained);
		}
		check_state(&g);
		/* Losses by chance do not close it. */
		FUZZ_CLAIM(!explained || !g.wnd_pkts);
	}
}
