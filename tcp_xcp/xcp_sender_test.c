// SPDX-License-Identifier: GPL-2.0
/* XCP's sender: cases that can be redone by hand. Kernel and host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "xcp_sender.h"

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
		struct xcp_vars v;

		xcp_start(&v, c->wnd_bytes, MSS);
		v.rtt_us = c->rtt_us;
		xcp_apply_feedback(&v, c->feedback_bytes_ps, MSS);
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

		KUNIT_EXPECT_EQ_MSG(test, xcp_throughput_bytes_ps(c->bytes, c->rtt_us),
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

		s32 got_bytes_ps = xcp_demand_bytes_ps(c->desired_bytes_ps,
						       c->throughput_bytes_ps, c->wnd_pkts);

		KUNIT_EXPECT_EQ_MSG(test, got_bytes_ps, c->want_bytes_ps, "%s", c->what);
	}
}

static const struct age_case {
	const char *what;
	u64 wnd_bytes, sent_bytes, want_bytes;
} age_cases[] = {
	{ "half of what was not used goes", 10000, 4000, 7000 },
	{ "nothing sent", 10000, 0, 5000 },
	{ "all of it used", 10000, 10000, 10000 },
	{ "more than it: no growth", 10000, 12000, 10000 },
	{ "the floor", 1200, 0, MSS },
};

static void age_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(age_cases); i++) {
		const struct age_case *c = &age_cases[i];
		struct xcp_vars v;

		xcp_start(&v, c->wnd_bytes, MSS);
		xcp_age(&v, c->sent_bytes, MSS);
		KUNIT_EXPECT_EQ_MSG(test, xcp_wnd_bytes(&v), c->want_bytes, "%s", c->what);
	}
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
		struct xcp_vars v;

		xcp_start(&v, c->wnd_bytes, MSS);
		v.rtt_us = c->rtt_us;
		xcp_age_idle(&v, c->idle_us, XCP_INIT_PKTS * MSS, MSS);
		KUNIT_EXPECT_EQ_MSG(test, xcp_wnd_bytes(&v), c->want_bytes, "%s", c->what);
	}
}

static void rtt_test(struct kunit *test)
{
	struct xcp_vars v;

	xcp_start(&v, 2000, MSS);
	xcp_update_rtt(&v, 100);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 100U);
	xcp_update_rtt(&v, 180);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 110U);
	xcp_update_rtt(&v, 111);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 111U);	/* rounded up */
	xcp_update_rtt(&v, 95);
	KUNIT_EXPECT_EQ(test, v.rtt_us, 109U);
	xcp_update_rtt(&v, XCP_RTT_MAX_US);
	xcp_update_rtt(&v, XCP_RTT_MAX_US);
	KUNIT_EXPECT_LE(test, v.rtt_us, XCP_RTT_MAX_US);
}

static void pkts_test(struct kunit *test)
{
	struct xcp_vars v;

	xcp_start(&v, 2000, MSS);
	KUNIT_EXPECT_EQ(test, xcp_wnd_pkts(&v, MSS), 2);
	v.wnd++;	/* 2^-16 of a byte more */
	KUNIT_EXPECT_EQ(test, xcp_wnd_pkts(&v, MSS), 3);
	xcp_start(&v, 0, MSS);
	KUNIT_EXPECT_EQ(test, xcp_wnd_pkts(&v, MSS), 1);
	xcp_start(&v, U64_MAX, 1);
	KUNIT_EXPECT_EQ(test, xcp_wnd_pkts(&v, 1), S32_MAX);
}

/* What each round's feedback makes of 10 segments, Reno's being 10 at each end. */
static const struct loss_case {
	const char *what;
	enum xcp_loss loss;
	bool recovered;
	s64 feedback_bytes_ps[3];
	int want_round;		/* that ends the reign; 0: none */
} loss_cases[] = {
	{ "as drafted: for ever", XCP_LOSS_RENO, true, { -100000, -100000, -100000 }, 0 },
	{ "one whole round", XCP_LOSS_ROUND, true, { 0, 0, 0 }, 2 },
	{ "not while a loss is repaired", XCP_LOSS_ROUND, false, { 0, 0, 0 }, 0 },
	{ "tighter in the second", XCP_LOSS_TIGHTER, true, { 0, -100000, 0 }, 2 },
	{ "a part of a round does not count", XCP_LOSS_TIGHTER, true, { -100000, 0, 0 }, 0 },
	{ "tighter in the third", XCP_LOSS_TIGHTER, true, { 0, 100000, -100000 }, 3 },
	{ "never tighter", XCP_LOSS_TIGHTER, true, { 0, 0, 100000 }, 0 },
};

static void loss_test(struct kunit *test)
{
	size_t i;
	int round, over;

	for (i = 0; i < ARRAY_SIZE(loss_cases); i++) {
		const struct loss_case *c = &loss_cases[i];
		struct xcp_vars v;

		xcp_start(&v, 10 * MSS, MSS);
		v.rtt_us = 10000;
		xcp_begin_reno(&v);
		for (over = 0, round = 1; round <= 3 && !over; round++) {
			xcp_apply_feedback(&v, c->feedback_bytes_ps[round - 1], MSS);
			if (xcp_reno_over(&v, c->loss, c->recovered, 10 * MSS, MSS))
				over = round;
		}
		KUNIT_EXPECT_EQ_MSG(test, over, c->want_round, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.reno, !over, "%s", c->what);
	}
}

/* Rounds that ended before; the first had begun before the loss. */
static const struct give_up_case {
	const char *what;
	enum xcp_loss loss;
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
		struct xcp_vars v;

		xcp_start(&v, 10 * MSS, MSS);
		xcp_begin_reno(&v);
		for (round = 0; round < c->rounds; round++)
			xcp_reno_over(&v, XCP_LOSS_RENO, true, 10 * MSS, MSS);
		KUNIT_EXPECT_EQ_MSG(test, xcp_gives_up(&v, c->loss, c->recovered, c->asked),
				    c->want, "%s", c->what);
	}
}

static struct kunit_case xcp_sender_cases[] = {
	KUNIT_CASE(feedback_test),
	KUNIT_CASE(rate_test),
	KUNIT_CASE(demand_test),
	KUNIT_CASE(age_test),
	KUNIT_CASE(idle_test),
	KUNIT_CASE(rtt_test),
	KUNIT_CASE(pkts_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(give_up_test),
	{}
};

static struct kunit_suite xcp_sender_suite = {
	.name = "xcp_sender",
	.test_cases = xcp_sender_cases,
};

kunit_test_suite(xcp_sender_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of XCP's sender");
