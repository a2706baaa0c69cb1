// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the LDCP sender and receiver with values that can be checked by hand; run in the kernel
 * and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "ldcp_receiver.h"
#include "ldcp_sender.c"

#define ONE	HOP_WND_ONE
#define HALF	(HOP_WND_ONE / 2)
#define QUARTER	(HOP_WND_ONE / 4)

/* alpha 1, beta 1/2, gamma 1/4, eta 1/2 */
static const struct ldcp_params params = {
	.alpha = ONE,
	.beta = HALF,
	.gamma = QUARTER,
	.eta = HALF,
};

static const struct window_case {
	const char *what;
	u64 cw;
	u32 n_pkts;
	bool ece;
	u64 want;
} window_cases[] = {
	{ "(1): 10 + 1/10", 10 * ONE, 1, false, 10 * ONE + 1677722 },	/* 2^24 / 10 = 1677721.6 */
	{ "(1): 10 - 1/2", 10 * ONE, 1, true, 10 * ONE - HALF },
	{ "(2): 8 + 2/8", 8 * ONE, 2, false, 8 * ONE + QUARTER },
	{ "(2): 8 - 2/2", 8 * ONE, 2, true, 7 * ONE },
	{ "no packet, no credit", 8 * ONE, 0, false, 8 * ONE },
	{ "no packet, no mark", 8 * ONE, 0, true, 8 * ONE },
	{ "one packet: 1 + 1/1", ONE, 1, false, 2 * ONE },
	{ "the rule of the larger window holds at one packet: 1 - 1/2", ONE, 1, true, HALF },
	{ "and so does the smaller one's: 1/2 * 1/2", HALF, 1, true, QUARTER },
	{ "below: 1/2 + 1/4", HALF, 1, false, HALF + QUARTER },
	{ "up to one packet: 3/4 + 1/4", HALF + QUARTER, 1, false, ONE },
	{ "across it: the second packet's credit is alpha / cw", HALF + QUARTER, 2, false,
	  2 * ONE },
	{ "gamma is the least", QUARTER, 1, true, QUARTER },
	{ "max(gamma, eta cw)", HALF - QUARTER / 2, 1, true, QUARTER },
	{ "down across one packet: 1.25 - 1/2, then by eta", ONE + QUARTER, 2, true,
	  (ONE + QUARTER - HALF) / 2 },
	{ "far more marks than window", 3 * ONE, 1000000, true, QUARTER },
	{ "the largest window", (u64)HOP_WND_MAX_PKTS * ONE, LDCP_ACK_MAX_PKTS, false,
	  (u64)HOP_WND_MAX_PKTS * ONE },
	{ "the largest ACK: 32768 / 2", 2 * ONE, LDCP_ACK_MAX_PKTS, false, 16386 * ONE },
};

static void window_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(window_cases); i++) {
		const struct window_case *c = &window_cases[i];
		u64 got = c->ece ? ldcp_shrink(c->cw, &params, c->n_pkts) :
				   ldcp_grow(c->cw, &params, c->n_pkts);

		KUNIT_EXPECT_EQ_MSG(test, got, c->want, "%s", c->what);
	}
}

static void constants_test(struct kunit *test)
{
	struct ldcp_params p = params;

	KUNIT_EXPECT_EQ(test, hop_wnd_of_ppm(1000000), (u32)ONE);
	KUNIT_EXPECT_EQ(test, hop_wnd_of_ppm(500000), (u32)HALF);
	KUNIT_EXPECT_EQ(test, hop_wnd_of_ppm(62500), (u32)ONE / 16);
	KUNIT_EXPECT_EQ(test, hop_wnd_of_ppm(1), 17u);	/* 2^24 / 10^6 = 16.8 */
	p.beta = ONE;
	KUNIT_EXPECT_EQ_MSG(test, ldcp_shrink(ONE, &p, 1), (u64)p.gamma, "1 - 1: gamma");
	p.beta = 1;
	KUNIT_EXPECT_EQ_MSG(test, ldcp_shrink(2 * ONE, &p, 3), 2 * ONE - 3, "the least beta");
	p.gamma = ONE;
	KUNIT_EXPECT_EQ_MSG(test, ldcp_shrink(ONE + 1, &p, 9), ONE, "gamma 1: no window below it");
}

/* One flow with a first window of 4 packets; 100 packets were delivered before. */
static const struct stage_case {
	const char *what;
	u32 n_pkts, delivered_pkts, prior_pkts;
	bool ece, limited;
	u64 want_cw;
	enum ldcp_stage want;
} stage_cases[] = {
	{ "nothing acked: still the first RTT", 0, 100, 99, false, true, 4 * ONE, LDCP_FIRST_RTT },
	{ "an ACK: no packet is Not-ECT any more", 1, 101, 100, false, true, 4 * ONE, LDCP_FAST },
	{ "no credit before the first window is acked", 2, 103, 100, false, true, 4 * ONE,
	  LDCP_FAST },
	{ "all of it: cw = BDP", 1, 104, 100, false, true, 4 * ONE, LDCP_STABLE },
	{ "credits count", 1, 105, 101, false, true, 4 * ONE + QUARTER, LDCP_STABLE },
	{ "not where the window was not the limit", 1, 106, 101, false, false, 4 * ONE + QUARTER,
	  LDCP_STABLE },
	{ "marks do", 1, 107, 103, true, false, 4 * ONE - QUARTER, LDCP_STABLE },
};

static void stage_test(struct kunit *test)
{
	struct ldcp_vars v;
	size_t i;

	ldcp_begin(&v, 4, 100);
	for (i = 0; i < ARRAY_SIZE(stage_cases); i++) {
		const struct stage_case *c = &stage_cases[i];
		const struct ldcp_ack a = { c->n_pkts, c->delivered_pkts, c->prior_pkts, c->ece,
					    c->limited };

		ldcp_update(&v, &params, &a);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want_cw, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, (enum ldcp_stage)v.stage, c->want, "%s", c->what);
	}
}

static void first_mark_test(struct kunit *test)
{
	const struct ldcp_ack tail = { 4, 4, 0, true, true };
	struct ldcp_vars v;

	ldcp_begin(&v, 4, 0);
	ldcp_update(&v, &params, &tail);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 2 * ONE, "BDP, and what the marks of its ACK revoke");
	KUNIT_EXPECT_EQ(test, (enum ldcp_stage)v.stage, LDCP_STABLE);
}

static void loss_test(struct kunit *test)
{
	struct ldcp_ack a = { 1, 131, 129, false, true };
	struct ldcp_vars v;

	ldcp_begin(&v, 80, 100);
	ldcp_lose(&v, &params, 130, 117, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 17 * ONE, "packets cumulatively acked before the loss");
	KUNIT_EXPECT_EQ(test, (enum ldcp_stage)v.stage, LDCP_STABLE);
	ldcp_update(&v, &params, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 17 * ONE, "sent before the loss was found: no credit");
	a.prior_pkts = 130;
	ldcp_update(&v, &params, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 17 * ONE + 986895, "sent after it: 1/17");
	ldcp_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 80 * ONE, "it was none");
	ldcp_lose(&v, &params, 200, 200, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 40 * ONE, "stable: a half");
	ldcp_lose(&v, &params, 200, 200, true);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, ONE, "a timeout: one packet");
	v.cw = QUARTER;
	ldcp_lose(&v, &params, 200, 200, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, QUARTER, "a loss does not raise it");

	ldcp_begin(&v, 80, 100);
	ldcp_lose(&v, &params, 170, 100, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, QUARTER, "none acked: gamma");
}

/*
 * A loss halves the window, and each mark after it takes half a packet: an undo restores only the
 * half.
 */
static void undo_test(struct kunit *test)
{
	const struct ldcp_ack marks = { 3, 203, 199, true, true };
	struct ldcp_vars v;

	ldcp_begin(&v, 20, 100);
	v.stage = LDCP_STABLE;
	ldcp_lose(&v, &params, 200, 200, false);
	ldcp_update(&v, &params, &marks);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 8 * ONE + HALF, "20 / 2 - 3 / 2");
	ldcp_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 18 * ONE + HALF, "20 - 3 / 2");
	ldcp_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 18 * ONE + HALF, "once");

	ldcp_lose(&v, &params, 200, 200, false);
	ldcp_lose(&v, &params, 200, 200, true);
	ldcp_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 18 * ONE + HALF, "a loss and a timeout in one window");
	ldcp_lose(&v, &params, 200, 200, false);
	ldcp_forget(&v);
	ldcp_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 9 * ONE + QUARTER, "forgotten");
}

static void per_rtt_test(struct kunit *test)
{
	struct ldcp_params p = params;
	struct ldcp_ack a = { 1, 11, 10, false, true };
	struct ldcp_vars v;

	p.per_rtt = true;
	ldcp_begin(&v, 8, 0);
	v.stage = LDCP_STABLE;
	v.round_pkts = 10;
	ldcp_update(&v, &p, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 9 * ONE, "a round trip is over: + alpha");
	a.delivered_pkts = 12;
	ldcp_update(&v, &p, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 9 * ONE, "within the next: nothing");
	a.ece = true;
	ldcp_update(&v, &p, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 8 * ONE + HALF, "beta upon every mark");
	a.prior_pkts = 11;
	ldcp_update(&v, &p, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 9 * ONE, "both at once");
	v.cw = HALF;
	a.ece = false;
	ldcp_update(&v, &p, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, HALF + QUARTER, "below one packet an ACK is a round trip");
}

/* The counter of delivered packets wraps, and a loss may be more than half of its range ago. */
static void long_life_test(struct kunit *test)
{
	const u32 step_pkts = 1U << 29;
	struct ldcp_vars v;
	unsigned int i;

	ldcp_begin(&v, 80, 100);
	ldcp_lose(&v, &params, 130, 130, false);
	for (i = 0; i < 32; i++) {
		const struct ldcp_ack a = {
			1, 130 + (i + 1) * step_pkts, 130 + i * step_pkts, false, true
		};
		const u64 before = v.cw;

		ldcp_update(&v, &params, &a);
		KUNIT_EXPECT_GT_MSG(test, v.cw, before, "2^29 packets times %u without a loss", i);
	}
}

static void clock_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hop_gap_ns(ONE, 1, 100), 0ULL);
	KUNIT_EXPECT_EQ(test, hop_gap_ns(ONE / 16, 1, 10), 160000ULL);
	KUNIT_EXPECT_EQ(test, hop_gap_ns(HALF + QUARTER, 1, 9), 12000ULL);
	KUNIT_EXPECT_EQ(test, hop_gap_ns(1, 1, U32_MAX), 10000000ULL * 1000 << 24);
	KUNIT_EXPECT_EQ_MSG(test, hop_gap_ns(0, 1, U32_MAX), 10000000ULL * 1000 << 24, "no window");
	KUNIT_EXPECT_EQ(test, hop_wnd_pkts(QUARTER, 1), 1u);
	KUNIT_EXPECT_EQ(test, hop_wnd_pkts(2 * ONE - 1, 1), 1u);
	KUNIT_EXPECT_EQ(test, hop_wnd_pkts(2 * ONE, 1), 2u);
}

static const struct shown_case {
	const char *what;
	u64 cw;
	u32 mss_bytes, rtt_us;
	u64 want_bytes_ps;
} shown_cases[] = {
	{ "10 packets of 1448 bytes in 100 us", 10 * ONE, 1448, 100, 144800000 },
	{ "half a packet in 10 s", HALF, 1448, 10000000, 72 },
	{ "no RTT counts as 1 us", ONE, 1000, 0, 1000000000 },
	{ "the largest window of the largest packets in 1 us", HOP_WND_MAX, 65535, 1,
	  65535ULL * HOP_WND_MAX_PKTS * 1000000 },
	{ "what another congestion control left there", U64_MAX, 65535, 0,
	  65535ULL * HOP_WND_MAX_PKTS * 1000000 },
};

/* As in get_info(), which reads without the lock: no value may cause a trap. */
static void shown_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shown_cases); i++) {
		const struct shown_case *c = &shown_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, hop_wnd_bytes_ps(c->cw, c->mss_bytes, c->rtt_us),
				    c->want_bytes_ps, "%s", c->what);
	}
}

static const struct first_case {
	const char *what;
	struct ldcp_bdp bdp;
	u32 rtt_us, want_pkts;
} first_cases[] = {
	{ "nothing is known: the stack's", { 0, 0, 0 }, 100, 10 },
	{ "10G, 100 us: 125000 / 1538 = 81.3", { 0, 10000, 100 }, 0, 82 },
	{ "the RTT that was measured", { 0, 10000, 0 }, 100, 82 },
	{ "none was", { 0, 10000, 0 }, 0, 10 },
	{ "the longest within a data centre", { 0, 1000, 0 }, 1000, 82 },
	{ "a far destination", { 0, 1000, 0 }, 30000, 82 },
	{ "a far one that is configured", { 0, 1000, 30000 }, 100, 2439 },
	{ "bytes go before the rate", { 3076, 10000, 100 }, 0, 2 },
	{ "a byte more is a packet more", { 3077, 0, 0 }, 0, 3 },
	{ "1.6T, 10 s: the most", { 0, 1600000, 10000000 }, 0, HOP_WND_MAX_PKTS },
};

static void first_window_test(struct kunit *test)
{
	static const struct ldcp_bdp unknown;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first_cases); i++) {
		const struct first_case *c = &first_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, ldcp_first_pkts(&c->bdp, c->rtt_us, 1538, 10),
				    c->want_pkts, "%s", c->what);
	}
	/* The stack's window may be a route's metric, which is any value. */
	KUNIT_EXPECT_EQ(test, ldcp_first_pkts(&unknown, 0, 1538, 0), 1u);
	KUNIT_EXPECT_EQ(test, ldcp_first_pkts(&unknown, 0, 1538, U32_MAX), HOP_WND_MAX_PKTS);
}

static const struct tail_case {
	const char *what;
	u32 room_pkts, room_bytes, left_bytes, segs_pkts, payload_bytes;
	bool want;
	u32 defer_bytes;
} tail_cases[] = {
	{ "one of many", 80, 200000, 100000, 1, 1000, false, 0 },
	{ "the last but one of the window", 2, 200000, 100000, 1, 1000, false, 0 },
	{ "the last of the window", 1, 200000, 100000, 1, 1000, true, 0 },
	{ "a GSO packet up to the last but one", 45, 200000, 100000, 44, 44000, false, 0 },
	{ "a GSO packet with the last", 44, 200000, 100000, 44, 44000, true, 0 },
	{ "the last of the message", 80, 200000, 700, 1, 700, true, 0 },
	{ "the last but one of the message", 80, 200000, 1001, 1, 1000, false, 0 },
	{ "the last that the receiver takes", 80, 1999, 5000, 1, 1000, true, 0 },
	{ "the last but one that it takes", 80, 2000, 5000, 1, 1000, false, 0 },
	{ "a short one behind it fits", 80, 1100, 1100, 1, 1000, false, 0 },
	{ "all that it takes", 80, 1000, 5000, 1, 1000, true, 0 },
	{ "38 of 82 are left, more than a third", 82, 200000, 100000, 44, 44000, false, 27333 },
	{ "6 of 50: the stack may wait with them", 50, 200000, 100000, 44, 44000, true, 16666 },
	{ "the receiver's room: 21 of 65", 80, 65000, 100000, 44, 44000, true, 21666 },
	{ "22 of 66", 80, 66000, 100000, 44, 44000, false, 22000 },
};

static void tail_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tail_cases); i++) {
		const struct tail_case *c = &tail_cases[i];
		const struct ldcp_flight f = { c->room_pkts, c->room_bytes, c->left_bytes, 1000,
					       c->defer_bytes };

		KUNIT_EXPECT_EQ_MSG(test, ldcp_has_tail(&f, c->segs_pkts, c->payload_bytes),
				    c->want, "%s", c->what);
	}
}

static void defer_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, ldcp_defer_bytes(82000, 44, 1000), 27333u, "a third");
	KUNIT_EXPECT_EQ_MSG(test, ldcp_defer_bytes(200000, 44, 1000), 44000u, "a GSO packet");
	KUNIT_EXPECT_EQ_MSG(test, ldcp_defer_bytes(82000, 1, 1000), 0u, "single packets");
}

static const struct midway_case {
	const char *what;
	u32 written_bytes, full_bytes, window_bytes;
	bool want;
} midway_cases[] = {
	{ "64 KB, GSO packets of 44: each is beyond 32 KB", 44000, 44000, 65535, true },
	{ "the next one", 88000, 44000, 65535, true },
	{ "a message's end", 60000, 44000, 65535, false },
	{ "single packets: the first beyond 32767 bytes is the 33rd", 33000, 1000, 65535, true },
	{ "half of the window is not beyond it", 32000, 1000, 64000, false },
	{ "one more is", 33000, 1000, 64000, true },
	{ "two steps", 66000, 1000, 64000, true },
	{ "64 packets are no whole number of steps", 64000, 1000, 65535, false },
	{ "nothing written", 0, 44000, 65535, false },
	{ "no window was reported yet", 1000, 1000, 0, true },
	{ "the largest window: 2^29 / 65536 + 1 packets", 536936448, 65536, 1 << 30, true },
};

static void midway_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(midway_cases); i++) {
		const struct midway_case *c = &midway_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, ldcp_is_midway(c->written_bytes, c->full_bytes,
							 c->window_bytes), c->want, "%s", c->what);
	}
}

static void burst_test(struct kunit *test)
{
	struct ldcp_vars v = { .cw = 80 * ONE, .stage = LDCP_FIRST_RTT };

	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 100, 100), 44u);
	v.stage = LDCP_FAST;
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 1000, 100), 5u);
	v.path_is_free = true;
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 202, 100), 20u);
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 201, 100), 5u);
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 0, ~0U), 5u);
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 302, 100), 20u);
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 303, 100), 40u);
	v.cw = QUARTER;
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 202, 100), 1u);
	v.cw = 10000 * ONE;
	KUNIT_EXPECT_EQ(test, ldcp_burst_pkts(&v, 202, 100), 44u);
}

/* Each round trip is one packet: is the path free after it? */
static void free_path_test(struct kunit *test)
{
	static const struct {
		bool ece, lost, want;
	} rounds[] = {
		{ .want = false },	/* nothing is known after the first */
		{ .want = true },
		{ .ece = true, .want = false },
		{ .want = false },	/* ends a round trip that started with a mark */
		{ .want = true },
		{ .lost = true, .want = false },
		{ .want = false },
		{ .want = true },
	};
	struct ldcp_vars v;
	u32 i;

	ldcp_begin(&v, 1, 0);
	for (i = 0; i < ARRAY_SIZE(rounds); i++) {
		const struct ldcp_ack a = {
			.acked_pkts = 1, .delivered_pkts = i + 1, .prior_pkts = i,
			.ece = rounds[i].ece, .limited = true,
		};

		ldcp_update(&v, &params, &a);
		if (rounds[i].lost)
			ldcp_lose(&v, &params, i + 1, i + 1, false);
		KUNIT_EXPECT_EQ_MSG(test, v.path_is_free, rounds[i].want, "round %u", i);
	}
}

static const struct receive_case {
	const char *what;
	bool was_ce, ce;
	u32 rcv_nxt_seq, acked_seq, ack_pkts;
	enum ldcp_answer want;
} receive_cases[] = {
	{ "m = 1: each", false, false, 2000, 2000, 1, LDCP_ACK_NOW },
	{ "m = 2: as usual", false, false, 2000, 1000, 2, LDCP_ACK_AS_USUAL },
	{ "a mark, nothing waits", false, true, 2000, 2000, 2, LDCP_ACK_NOW },
	{ "a mark, one waits", false, true, 2000, 1000, 2, LDCP_ACK_FLUSH },
	{ "m = 1, one waits for another reason", false, true, 2000, 1000, 1, LDCP_ACK_FLUSH },
	{ "across the wrap", false, true, 1, 0xffffffff, 2, LDCP_ACK_FLUSH },
	{ "never acknowledge backwards", false, true, 1000, 2000, 2, LDCP_ACK_NOW },
	{ "two marks", true, true, 2000, 1000, 1, LDCP_ACK_FLUSH },
	{ "a mark waits, for none", true, false, 2000, 1000, 2, LDCP_ACK_FLUSH },
	{ "a mark was reported", true, false, 2000, 2000, 2, LDCP_ACK_AS_USUAL },
};

static void receive_test(struct kunit *test)
{
	struct ldcp_receiver r = { .ece_seq = 3000, .ce = true };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(receive_cases); i++) {
		const struct receive_case *c = &receive_cases[i];

		r.rcv_nxt_seq = c->rcv_nxt_seq;
		r.ce = c->was_ce;
		KUNIT_EXPECT_EQ_MSG(test, ldcp_classify(&r, c->ce, c->acked_seq, c->ack_pkts),
				    c->want, "%s", c->what);
	}
	r.ce = true;
	KUNIT_EXPECT_TRUE(test, ldcp_echoes(&r, 3000));
	KUNIT_EXPECT_FALSE_MSG(test, ldcp_echoes(&r, 4000), "a packet without a mark came since");
	r.ce = false;
	KUNIT_EXPECT_FALSE(test, ldcp_echoes(&r, 3000));
}

static struct kunit_case ldcp_cases[] = {
	KUNIT_CASE(window_test),
	KUNIT_CASE(constants_test),
	KUNIT_CASE(stage_test),
	KUNIT_CASE(first_mark_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(undo_test),
	KUNIT_CASE(per_rtt_test),
	KUNIT_CASE(long_life_test),
	KUNIT_CASE(clock_test),
	KUNIT_CASE(shown_test),
	KUNIT_CASE(first_window_test),
	KUNIT_CASE(tail_test),
	KUNIT_CASE(defer_test),
	KUNIT_CASE(midway_test),
	KUNIT_CASE(burst_test),
	KUNIT_CASE(free_path_test),
	KUNIT_CASE(receive_test),
	{}
};

static struct kunit_suite ldcp_suite = {
	.name = "ldcp_sender",
	.test_cases = ldcp_cases,
};

kunit_test_suite(ldcp_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of LDCP's cores");
