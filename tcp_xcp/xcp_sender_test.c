// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the XCP sender with values that can be checked by hand; run in the kernel and on the
 * host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "xcp_sender.c"

#define MSS 1000U

static const struct feedback_case {
	const char *what;
	u64 wnd_bytes;
	u32 rtt_us;
	s64 feedback_bytes_ps;
	u64 want_wnd;	/* bytes << XCP_WND_SHIFT */
} feedback_cases[] = {
	{ "100 kB/s for 10 ms is 1000 bytes", 5000, 10000, 100000, 6000 << 16 },
	{ "and back", 5000, 10000, -100000, 4000 << 16 },
	{ "a byte a second for half a second", 5000, 500000, 1, (5000 << 16) + 0x8000 },
	{ "a third of a byte, rounded down", 5000, 333333, 1, (5000 << 16) + 21845 },
	{ "and taken away, rounded to nothing more", 5000, 333333, -1, (5000 << 16) - 21845 },
	{ "the floor is a segment", 5000, 10000, -1000000, MSS << 16 },
	{ "no RTT, no change", 5000, 0, 1000000, 5000 << 16 },
	{ "nothing", 5000, 10000, 0, 5000 << 16 },
	{ "the largest feedback", 5000, XCP_RTT_MAX_US, S64_MAX, 0 },
	{ "the least", XCP_WND_MAX_BYTES, XCP_RTT_MAX_US, S64_MIN, MSS << 16 },
};

static void feedback_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(feedback_cases); i++) {
		const struct feedback_case *c = &feedback_cases[i];
		struct txcp_vars v;

		txcp_start(&v, c->wnd_bytes, MSS);
		v.rtt_us = c->rtt_us;
		txcp_apply_feedback(&v, c->feedback_bytes_ps, MSS);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd,
				    c->want_wnd ?: XCP_WND_MAX_BYTES << XCP_WND_SHIFT,
				    "%s", c->what);
	}
}

static const struct rate_case {
	const char *what;
	u64 bytes;
	u32 rtt_us;
	u64 want_bytes_ps;
} rate_cases[] = {
	{ "10 segments in 10 ms", 10000, 10000, 1000000 },
	{ "rounded up", 1, 3000000, 1 },
	{ "no RTT", 10000, 0, 0 },
	{ "1 us", 200000, 1, 200000000000ULL },
	{ "no more than the range", XCP_WND_MAX_BYTES, 1, XCP_RATE_MAX_BYTES_PS },
	{ "the largest window", XCP_WND_MAX_BYTES, XCP_RTT_MAX_US, 1048576062501ULL },
	{ "more than that", U64_MAX, XCP_RTT_MAX_US, 1048576062501ULL },
};

static void rate_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rate_cases); i++) {
		const struct rate_case *c = &rate_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, txcp_throughput_bytes_ps(c->bytes, c->rtt_us),
				    c->want_bytes_ps, "%s", c->what);
	}
}

static const struct demand_case {
	const char *what;
	u64 desired_bytes_ps, throughput_bytes_ps;
	u32 wnd_pkts;
	s32 want_bytes_ps;
} demand_cases[] = {
	{ "shared by the packets of an RTT", 2000000, 1000000, 10, 100000 },
	{ "nothing more", 1000000, 1000000, 10, 0 },
	{ "less: the limit was lowered", 500000, 1000000, 10, -50000 },
	{ "no more than the field holds", 100000000000ULL, 0, 2, 0x7fffffff },
	{ "no less either", 0, XCP_RATE_MAX_BYTES_PS, 1, -0x7fffffff },
	{ "400G over 1000 packets", 50000000000ULL, 0, 1000, 50000000 },
	{ "no limit at all", U64_MAX, 0, S32_MAX, 512 },
	{ "a window of no packet counts as one", 2000000, 1000000, 0, 1000000 },
};

static void demand_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(demand_cases); i++) {
		const struct demand_case *c = &demand_cases[i];

		s32 got_bytes_ps = txcp_demand_bytes_ps(c->desired_bytes_ps,
							c->throughput_bytes_ps, c->wnd_pkts);

		KUNIT_EXPECT_EQ_MSG(test, got_bytes_ps, c->want_bytes_ps, "%s", c->what);
	}
}

static const struct desire_case {
	const char *what;
	u64 speed_bytes_ps;
	bool limits;
	u64 app_bytes_ps, throughput_bytes_ps;
	struct txcp_limits want;
} desire_cases[] = {
	{ "a NIC of 10 Gbit/s", 1250000000, true, U64_MAX, 1000,
	  { .desired_bytes_ps = 1250000000, .limit_bytes_ps = 1250000000 } },
	{ "veth, which limits nothing", 1250000000, false, U64_MAX, 1000,
	  { .desired_bytes_ps = 1250000000, .limit_bytes_ps = U64_MAX } },
	{ "the application wants less", 1250000000, true, 5000, 1000,
	  { .desired_bytes_ps = 5000, .limit_bytes_ps = 1250000000 } },
	{ "and more than there is", 1250000000, true, 2000000000, 1000,
	  { .desired_bytes_ps = 1250000000, .limit_bytes_ps = 1250000000 } },
	{ "more than veth reports", 1250000000, false, 2000000000, 1000,
	  { .desired_bytes_ps = 2000000000, .limit_bytes_ps = U64_MAX } },
	{ "not known: 64 times the throughput", 0, false, U64_MAX, 1000,
	  { .desired_bytes_ps = 64000, .limit_bytes_ps = U64_MAX } },
	{ "the application wants less than that", 0, false, 5000, 1000,
	  { .desired_bytes_ps = 5000, .limit_bytes_ps = U64_MAX } },
	{ "and more", 0, false, U64_MAX - 1, 1000,
	  { .desired_bytes_ps = 64000, .limit_bytes_ps = U64_MAX } },
};

static void desire_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(desire_cases); i++) {
		const struct desire_case *c = &desire_cases[i];
		const struct txcp_limits *want = &c->want;
		const struct txcp_limits got =
			txcp_get_limits(c->speed_bytes_ps, c->limits, c->app_bytes_ps,
					c->throughput_bytes_ps);

		KUNIT_EXPECT_EQ_MSG(test, got.desired_bytes_ps, want->desired_bytes_ps, "%s",
				    c->what);
		KUNIT_EXPECT_EQ_MSG(test, got.limit_bytes_ps, want->limit_bytes_ps, "%s",
				    c->what);
	}
}

/* In sequence: packets that carry demands, the end of a round, feedback */
static const struct grant_case {
	const char *what;
	u32 pkts;
	s32 demand_bytes_ps;
	bool ends, received;
	s64 feedback_bytes_ps, want_bytes_ps;
} grant_cases[] = {
	{ "nothing was asked for", 0, 0, false, false, 1000, 0 },
	{ "less is always granted", 0, 0, false, false, -1000, -1000 },
	{ "ten packets, 100 each", 10, 100, false, false, 600, 600 },
	{ "the rest", 0, 0, false, false, 600, 400 },
	{ "who asks for less asks for nothing", 10, -100, false, false, 1000, 0 },
	{ "asked a round ago", 10, 100, true, true, 300, 300 },
	{ "two rounds ago: half of 700", 0, 0, true, true, 0, 0 },
	{ "and the new ones", 1, 50, false, false, S64_MAX, 400 },
	{ "asked", 10, 100, true, true, 0, 0 },
	{ "no feedback came: all of it", 0, 0, true, false, S64_MAX, 1000 },
	{ "the most that can be asked for", U32_MAX, S32_MAX, true, true, S64_MAX, 1LL << 60 },
};

static void grant_test(struct kunit *test)
{
	struct txcp_vars v;
	size_t i;

	txcp_start(&v, 2 * MSS, MSS);
	for (i = 0; i < ARRAY_SIZE(grant_cases); i++) {
		const struct grant_case *c = &grant_cases[i];

		txcp_ask(&v, c->pkts, c->demand_bytes_ps);
		if (c->ends)
			txcp_end_asking(&v, c->received);
		KUNIT_EXPECT_EQ_MSG(test, txcp_is_excess(&v, c->feedback_bytes_ps),
				    c->want_bytes_ps < c->feedback_bytes_ps, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, txcp_grant(&v, c->feedback_bytes_ps), c->want_bytes_ps,
				    "%s", c->what);
	}
}

/* Process feedback in the same way as the sender. */
static void learn(struct txcp_vars *v, const struct txcp_limits *l, s64 feedback_bytes_ps,
		  u32 mss_bytes)
{
	const u64 wnd = v->wnd;

	if (txcp_receive(v, feedback_bytes_ps, mss_bytes))
		txcp_bound_growth(v, l, wnd);
}

/*
 * A peer that lies, or a path without a router: four packets of 1000 bytes ask for what the line
 * leaves, and each ACK returns the maximum feedback.
 */
static const struct lie_case {
	const char *what;
	struct txcp_limits l;
	u32 rtt_us;
	bool has_router;
	u64 want_bytes;
} lie_cases[] = {
	{ "as slow start: a packet more for each acknowledged one",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 3000, .min_rtt_us = 100 },
	  100, false, 7000 },
	{ "TCP's first two rounds need no ACK",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 1000, .start_bytes = 30000,
	    .min_rtt_us = 100 }, 100, false, 30000 },
	{ "what was asked for: 60 MB/s",
	  { .desired_bytes_ps = 100000000, .start_bytes = 30000, .min_rtt_us = 100 },
	  100, false, 10000 },
	{ "less than the window is desired: nothing was asked for",
	  { .desired_bytes_ps = 25000000, .start_bytes = 30000, .min_rtt_us = 100 },
	  100, false, 4000 },
	{ "a queue of half the minimum RTT",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 5000, .min_rtt_us = 100 },
	  150, false, 6000 },
	{ "of the minimum RTT: no growth",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 4000, .min_rtt_us = 100 },
	  200, false, 4000 },
	{ "a router that reduced demands drains it",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 4000, .min_rtt_us = 100 },
	  1100, true, 8000 },
	{ "but not one of more than the minimum and twice 1 ms",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 4000, .min_rtt_us = 100 },
	  2200, true, 4000 },
	{ "no minimum RTT is known",
	  { .desired_bytes_ps = 1250000000, .acked_bytes = 4000 }, 1201, false, 8000 },
};

static void lie_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(lie_cases); i++) {
		const struct lie_case *c = &lie_cases[i];
		struct txcp_vars v;
		u64 rate_bytes_ps;

		txcp_start(&v, 4 * MSS, MSS);
		v.rtt_us = c->rtt_us;
		v.has_router = c->has_router;
		rate_bytes_ps = txcp_throughput_bytes_ps(4 * MSS, c->rtt_us);
		txcp_ask(&v, 4, txcp_demand_bytes_ps(c->l.desired_bytes_ps, rate_bytes_ps, 4));
		for (n = 0; n < 10; n++)
			learn(&v, &c->l, S32_MAX, MSS);
		KUNIT_EXPECT_EQ_MSG(test, txcp_wnd_bytes(&v), c->want_bytes, "%s", c->what);
		learn(&v, &c->l, -10000, MSS);
		KUNIT_EXPECT_LT_MSG(test, txcp_wnd_bytes(&v), c->want_bytes, "%s: less", c->what);
	}
}

static void most_test(struct kunit *test)
{
	const struct txcp_limits fast = { .desired_bytes_ps = U64_MAX, .acked_bytes = BIT_ULL(48) };
	const struct txcp_limits l = { .desired_bytes_ps = 1000000, .acked_bytes = 1000000 };
	struct txcp_vars v;

	txcp_start(&v, 10000, MSS);
	v.rtt_us = 100000;
	KUNIT_EXPECT_EQ_MSG(test, txcp_max_wnd(&v, &l), 200000ULL << 16, "two RTTs of 1 MB/s");
	v.round_wnd = XCP_WND_MAX_BYTES << XCP_WND_SHIFT;
	v.rtt_us = XCP_RTT_MAX_US;
	KUNIT_EXPECT_EQ(test, txcp_max_wnd(&v, &fast), XCP_WND_MAX_BYTES << XCP_WND_SHIFT);
	txcp_ask(&v, U32_MAX, S32_MAX);
	learn(&v, &fast, S64_MAX, MSS);
	KUNIT_EXPECT_EQ_MSG(test, txcp_wnd_bytes(&v), XCP_WND_MAX_BYTES, "no overflow");
	txcp_start(&v, 500000, MSS);
	v.rtt_us = 100000;
	txcp_ask(&v, 10, 1000000);
	learn(&v, &l, 1000000, MSS);
	KUNIT_EXPECT_EQ_MSG(test, txcp_wnd_bytes(&v), 500000ULL, "a larger one stays as it is");
}

/* Ten packets of each round ask for 100 bytes/s each; in sequence: the feedback of a round */
static const struct route_case {
	const char *what;
	s64 feedback_bytes_ps;
	u32 pkts;
	bool reno, want;
} route_cases[] = {
	{ "the first round: no answer was due", 0, 10, false, false },
	{ "all of it was granted", 1000, 10, false, false },
	{ "and with 10 % too late", 900, 10, false, false },
	{ "nothing was asked for", 1100, 0, false, false },
	{ "and nothing granted", 0, 10, false, false },
	{ "little was granted, but packets were lost", 300, 10, true, false },
	{ "a router reduced it", 300, 10, false, true },
	{ "it stays known", 1000, 10, false, true },
};

static void route_test(struct kunit *test)
{
	struct txcp_vars v;
	size_t i;

	txcp_start(&v, 10 * MSS, MSS);
	for (i = 0; i < ARRAY_SIZE(route_cases); i++) {
		const struct route_case *c = &route_cases[i];

		v.reno = c->reno;
		txcp_receive(&v, c->feedback_bytes_ps, MSS);
		txcp_ask(&v, c->pkts, 100);
		txcp_end_asking(&v, true);
		KUNIT_EXPECT_EQ_MSG(test, (bool)v.has_router, c->want, "%s", c->what);
	}
}

static const struct sending_case {
	const char *what;
	u64 wnd_bytes;
	u32 in_flight_pkts, sent_pkts;
	bool app, reno;
	u64 want_bytes;
	bool want_limited;
} sending_cases[] = {
	{ "application: half of what was not used goes", 10000, 10, 4, true, false, 7000, true },
	{ "nothing sent", 10000, 0, 0, true, false, 5000, true },
	{ "application, although all of it was used", 10000, 10, 10, true, false, 10000, true },
	{ "more than it: no growth", 10000, 10, 12, true, false, 10000, true },
	{ "the floor", 1200, 0, 0, true, false, MSS, true },
	{ "filled", 10000, 10, 9, false, false, 10000, false },
	{ "as good as filled: 13 and 2 of 15", 20000, 13, 9, false, false, 20000, false },
	{ "the host sends less than that", 20000, 12, 9, false, false, 14500, true },
	{ "a small window is filled by one packet", 4000, 1, 1, false, false, 4000, false },
	{ "not XCP's window", 20000, 2, 2, false, true, 20000, false },
};

static void sending_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sending_cases); i++) {
		const struct sending_case *c = &sending_cases[i];
		struct txcp_vars v;

		txcp_start(&v, c->wnd_bytes, MSS);
		v.in_flight_pkts = c->in_flight_pkts;
		v.app_limited = c->app;
		txcp_end_sending(&v, c->sent_pkts, c->reno, MSS);
		KUNIT_EXPECT_EQ_MSG(test, txcp_wnd_bytes(&v), c->want_bytes, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, (bool)v.limited, c->want_limited, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.in_flight_pkts, 0U, "%s", c->what);
	}
}

/* One round with this number of packets in flight */
static u64 ask_after(struct txcp_vars *v, u32 in_flight_pkts, bool app_limited)
{
	v->in_flight_pkts = in_flight_pkts;
	v->app_limited = app_limited;
	txcp_end_sending(v, in_flight_pkts, false, MSS);
	v->round_wnd = v->wnd;
	return txcp_max_asked_bytes_ps(v, 1000);
}

static void ramp_test(struct kunit *test)
{
	struct txcp_vars v;
	int i;

	txcp_start(&v, 10000, MSS);
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 10, false), U64_MAX, "all that is desired");
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 3, true), 1000ULL, "no more than is used");
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 10, false), U64_MAX, "an application: all at once");
	txcp_start(&v, 20000, MSS);
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 10, false), 1000ULL, "the host: no more");
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 15, false), 1250ULL, "then a quarter more");
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 3, true), 1000ULL, "of an application no more");
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 15, false), 1500ULL, "but it goes on from there");
	for (i = 3; i < 8; i++)
		ask_after(&v, 15, false);
	KUNIT_EXPECT_EQ_MSG(test, ask_after(&v, 15, false), U64_MAX, "at last all");
	ask_after(&v, 1, false);
	txcp_restart(&v);
	KUNIT_EXPECT_EQ_MSG(test, txcp_max_asked_bytes_ps(&v, 1000), U64_MAX, "after silence");
}

static const struct idle_case {
	const char *what;
	u64 wnd_bytes, idle_us;
	u32 rtt_us;
	u64 want_bytes;
} idle_cases[] = {
	{ "less than an RTT", 64000, 999, 1000, 64000 },
	{ "an RTT", 64000, 1000, 1000, 32000 },
	{ "three", 64000, 3999, 1000, 8000 },
	{ "not below a new connection's", 64000, 1000000000ULL, 1000, 2000 },
	{ "nor raised to it", 1500, 1000000000ULL, 1000, 1500 },
	{ "no RTT", 64000, 1000000000ULL, 0, 64000 },
};

static void idle_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(idle_cases); i++) {
		const struct idle_case *c = &idle_cases[i];
		struct txcp_vars v;

		txcp_start(&v, c->wnd_bytes, MSS);
		v.rtt_us = c->rtt_us;
		txcp_age_idle(&v, c->idle_us, XCP_INIT_PKTS * MSS, MSS);
		KUNIT_EXPECT_EQ_MSG(test, txcp_wnd_bytes(&v), c->want_bytes, "%s", c->what);
	}
}

static void rtt_test(struct kunit *test)
{
	struct txcp_vars v;
	int i;

	txcp_start(&v, 2000, MSS);
	txcp_update_rtt(&v, 100);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 100U);
	txcp_update_rtt(&v, 180);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 110U);
	txcp_update_rtt(&v, 111);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 111U);	/* 110 1/8, rounded up */
	txcp_update_rtt(&v, 95);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 109U);	/* 108 2/8, rounded up */
	txcp_update_rtt(&v, XCP_RTT_MAX_US);
	txcp_update_rtt(&v, XCP_RTT_MAX_US);
	KUNIT_EXPECT_LE(test, v.rtt_us, XCP_RTT_MAX_US);
	for (i = 0; i < 400; i++)
		txcp_update_rtt(&v, 20);
	KUNIT_EXPECT_EQ_MSG(test, v.rtt_us, 20U, "no trace of what was");
}

static void pkts_test(struct kunit *test)
{
	struct txcp_vars v;

	txcp_start(&v, 2000, MSS);
	KUNIT_EXPECT_EQ(test, txcp_wnd_pkts(&v, MSS), 2);
	v.wnd++;	/* one unit of 2^-16 bytes more */
	KUNIT_EXPECT_EQ(test, txcp_wnd_pkts(&v, MSS), 3);
	txcp_start(&v, 0, MSS);
	KUNIT_EXPECT_EQ(test, txcp_wnd_pkts(&v, MSS), 1);
	txcp_start(&v, U64_MAX, 1);
	KUNIT_EXPECT_EQ(test, txcp_wnd_pkts(&v, 1), S32_MAX);
}

/* Feedback of each round for a window of 10 segments; Reno's window is 10 at the end of each */
static const struct loss_case {
	const char *what;
	enum txcp_loss loss;
	bool recovered;
	s64 feedback_bytes_ps[3];
	int want_round;		/* round after which XCP takes over again; 0: none */
	u32 min_rtt_us;	/* of an RTT of 10 ms */
	bool has_router, marked;
} loss_cases[] = {
	{ "as drafted: for ever", XCP_LOSS_RENO, true,
	  { -100000, -100000, -100000 }, 0, 0, false, false },
	{ "one whole round", XCP_LOSS_ROUND, true, { 0, 0, 0 }, 2, 0, false, false },
	{ "not while a loss is repaired", XCP_LOSS_ROUND, false, { 0, 0, 0 }, 0, 0, false, false },
	{ "tighter in the second", XCP_LOSS_TIGHTER, true, { 0, -100000, 0 }, 2, 0, false, false },
	{ "a part of a round does not count", XCP_LOSS_TIGHTER, true,
	  { -100000, 0, 0 }, 0, 0, false, false },
	{ "tighter in the third", XCP_LOSS_TIGHTER, true,
	  { 0, 100000, -100000 }, 3, 0, false, false },
	{ "never tighter", XCP_LOSS_TIGHTER, true, { 0, 0, 100000 }, 0, 0, false, false },
	{ "by chance: one whole round", XCP_LOSS_TIGHTER, true, { 0, 0, 0 }, 2, 8000, true, false },
	{ "a queue of more than a quarter", XCP_LOSS_TIGHTER, true,
	  { 0, 0, 0 }, 0, 7999, true, false },
	{ "a path without a router", XCP_LOSS_TIGHTER, true, { 0, 0, 0 }, 0, 8000, false, false },
	{ "a mark is no chance", XCP_LOSS_TIGHTER, true, { 0, 0, 0 }, 0, 8000, true, true },
	{ "by chance, as drafted", XCP_LOSS_RENO, true, { 0, 0, 0 }, 0, 8000, true, false },
};

static void loss_test(struct kunit *test)
{
	size_t i;
	int round, over;

	for (i = 0; i < ARRAY_SIZE(loss_cases); i++) {
		const struct loss_case *c = &loss_cases[i];
		struct txcp_vars v;

		txcp_start(&v, 10 * MSS, MSS);
		v.rtt_us = 10000;
		v.has_router = c->has_router;
		txcp_begin_reno(&v, !c->marked, c->min_rtt_us);
		for (over = 0, round = 1; round <= 3 && !over; round++) {
			txcp_apply_feedback(&v, c->feedback_bytes_ps[round - 1], MSS);
			if (txcp_reno_over(&v, c->loss, c->recovered, 10 * MSS, MSS))
				over = round;
		}
		KUNIT_EXPECT_EQ_MSG(test, over, c->want_round, "%s", c->what);
		KUNIT_EXPECT_TRUE_MSG(test, v.reno == !over, "%s", c->what);
	}
}

/* Number of rounds that have ended; the first one started before the loss. */
static const struct give_up_case {
	const char *what;
	enum txcp_loss loss;
	int rounds;
	bool recovered;
	bool asked;
	bool want;
} give_up_cases[] = {
	{ "as drafted: for the rest", XCP_LOSS_RENO, 1, true, false, true },
	{ "not in the round of the loss", XCP_LOSS_RENO, 0, true, false, false },
	{ "not while it is repaired", XCP_LOSS_RENO, 1, false, false, false },
	{ "not while data has to answer", XCP_LOSS_RENO, 1, true, true, false },
	{ "who comes back keeps headers", XCP_LOSS_ROUND, 1, true, false, false },
	{ "who may come back, too", XCP_LOSS_TIGHTER, 5, true, false, false },
};

static void give_up_test(struct kunit *test)
{
	size_t i;
	int round;

	for (i = 0; i < ARRAY_SIZE(give_up_cases); i++) {
		const struct give_up_case *c = &give_up_cases[i];
		struct txcp_vars v;

		txcp_start(&v, 10 * MSS, MSS);
		txcp_begin_reno(&v, true, 0);
		for (round = 0; round < c->rounds; round++)
			txcp_reno_over(&v, XCP_LOSS_RENO, true, 10 * MSS, MSS);
		KUNIT_EXPECT_EQ_MSG(test, txcp_gives_up(&v, c->loss, c->recovered, c->asked),
				    c->want, "%s", c->what);
	}
}

static struct kunit_case txcp_sender_cases[] = {
	KUNIT_CASE(feedback_test),
	KUNIT_CASE(rate_test),
	KUNIT_CASE(demand_test),
	KUNIT_CASE(desire_test),
	KUNIT_CASE(grant_test),
	KUNIT_CASE(lie_test),
	KUNIT_CASE(most_test),
	KUNIT_CASE(route_test),
	KUNIT_CASE(sending_test),
	KUNIT_CASE(ramp_test),
	KUNIT_CASE(idle_test),
	KUNIT_CASE(rtt_test),
	KUNIT_CASE(pkts_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(give_up_test),
	{}
};

static struct kunit_suite txcp_sender_suite = {
	.name = "xcp_sender",
	.test_cases = txcp_sender_cases,
};

kunit_test_suite(txcp_sender_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of XCP's sender");
