// SPDX-License-Identifier: GPL-2.0
/* Tests of all boundaries of the WRED decision, wred.h; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include "wred.h"

#define LIMIT 100000

static struct wred_profile profile(u32 min_bytes, u32 max_bytes, u32 prob_ppm)
{
	struct wred_profile f = { true, min_bytes, max_bytes, prob_ppm, 0 };

	wred_profile_set_slope(&f);
	return f;
}

struct decision_case {
	const char *name;
	enum wred_class class;
	u32 backlog_bytes;
	u32 pkt_bytes;
	u32 random;
	enum wred_action want;
};

/* ect: 10000 to 30000, 0.5; nect: step at 20000. p(20000) = 1/4 = 0x40000000. */
static const struct decision_case decision_cases[] = {
	{ "empty",		WRED_ECT, 0, 1500, 0, WRED_PASS },
	{ "below min",		WRED_ECT, 9999, 1500, 0, WRED_PASS },
	{ "at min p = 0",	WRED_ECT, 10000, 1500, 0, WRED_PASS },
	{ "above min",		WRED_ECT, 10001, 1500, 0, WRED_MARK },
	/* 2^32 / 40000 = 107374.18 */
	{ "one byte, in",	WRED_ECT, 10001, 1500, 107373, WRED_MARK },
	{ "one byte, out",	WRED_ECT, 10001, 1500, 107374, WRED_PASS },
	{ "middle, in",		WRED_ECT, 20000, 1500, 0x3ffffffe, WRED_MARK },
	{ "middle, out",	WRED_ECT, 20000, 1500, 0x40000000, WRED_PASS },
	/* 2^31 - 107374.18 = 2147376273.8 */
	{ "below max, in",	WRED_ECT, 29999, 1500, 2147376272, WRED_MARK },
	{ "below max, out",	WRED_ECT, 29999, 1500, 2147376274, WRED_PASS },
	{ "at max",		WRED_ECT, 30000, 1500, U32_MAX, WRED_MARK },
	{ "above max",		WRED_ECT, 30001, 1500, U32_MAX, WRED_MARK },
	{ "ect fills limit",	WRED_ECT, LIMIT - 1500, 1500, 0, WRED_MARK },
	{ "ect over limit",	WRED_ECT, LIMIT - 1499, 1500, 0, WRED_DROP_LIMIT },
	{ "larger than limit",	WRED_ECT, 0, LIMIT + 1, 0, WRED_DROP_LIMIT },
	{ "exactly limit",	WRED_ECT, 0, LIMIT, 0, WRED_PASS },
	{ "limit was lowered",	WRED_ECT, 2 * LIMIT, 64, 0, WRED_DROP_LIMIT },
	{ "nect below step",	WRED_NECT, 19999, 1500, 0, WRED_PASS },
	{ "nect at step",	WRED_NECT, 20000, 1500, U32_MAX, WRED_DROP_EARLY },
	{ "nect over limit",	WRED_NECT, LIMIT, 1500, 0, WRED_DROP_LIMIT },
	{ "ce on the ramp",	WRED_CE, 20000, 1500, 0, WRED_PASS },
	{ "ce at max",		WRED_CE, 30000, 1500, U32_MAX, WRED_PASS },
	{ "ce over limit",	WRED_CE, LIMIT, 1500, 0, WRED_DROP_LIMIT },
	{ "arp at max",		WRED_OTHER, 30000, 60, 0, WRED_PASS },
	{ "arp fills limit",	WRED_OTHER, LIMIT - 60, 60, 0, WRED_PASS },
	{ "arp over limit",	WRED_OTHER, LIMIT - 59, 60, 0, WRED_DROP_LIMIT },
	{ "huge GSO packet",	WRED_ECT, TC_WRED_LIMIT_MAX_BYTES, S32_MAX, 0, WRED_DROP_LIMIT },
};

static void wred_test_decisions(struct kunit *test)
{
	const struct wred_params p = {
		.limit_bytes = LIMIT,
		.ect = profile(10000, 30000, 500000),
		.nect = profile(20000, 20000, 1000000),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(decision_cases); i++) {
		const struct decision_case *c = &decision_cases[i];
		const struct wred_vars v = { .backlog_bytes = c->backlog_bytes };

		KUNIT_EXPECT_EQ_MSG(test, (int)wred_decide(&p, &v, c->class, c->pkt_bytes,
							   c->random),
				    (int)c->want, "%s", c->name);
	}
}

struct prob_case {
	const char *name;
	u32 min_bytes, max_bytes, prob_ppm, backlog_bytes;
	u64 want_q32;
};

#define CERTAIN ((u64)U32_MAX + 1)

static const struct prob_case prob_cases[] = {
	{ "step below",		30000, 30000, 1000000, 29999, 0 },
	{ "step at",		30000, 30000, 1000000, 30000, CERTAIN },
	{ "step at 0",		0, 0, 1000000, 0, CERTAIN },
	{ "step, prob 0",	30000, 30000, 0, 30000, CERTAIN },
	{ "from 0, empty",	0, 4096, 1000000, 0, 0 },
	{ "from 0, 1 byte",	0, 4096, 1000000, 1, CERTAIN >> 12 },
	{ "from 0, last",	0, 4096, 1000000, 4095, CERTAIN - (CERTAIN >> 12) },
	{ "flat 0",		100, 200, 0, 199, 0 },
	{ "flat 0, at max",	100, 200, 0, 200, CERTAIN },
	{ "narrowest",		99, 100, 1000000, 99, 0 },
	{ "narrowest, at max",	99, 100, 1000000, 100, CERTAIN },
	{ "1 ppm of 2^32",	0, 2, 2, 1, 4294 },	/* 4294.97 */
	{ "widest, half",	0, 1 << 30, 1000000, 1 << 29, CERTAIN >> 1 },
	{ "widest, last",	0, 1 << 30, 1000000, (1 << 30) - 1, CERTAIN - 4 },
	{ "far above",		0, 1, 1000000, U32_MAX, CERTAIN },
};

static void wred_test_probabilities(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prob_cases); i++) {
		const struct prob_case *c = &prob_cases[i];
		const struct wred_profile f = profile(c->min_bytes, c->max_bytes, c->prob_ppm);
		u64 got = wred_profile_prob_q32(&f, c->backlog_bytes);

		/* Rounded down, by at most one unit of the random number. */
		KUNIT_EXPECT_LE_MSG(test, got, c->want_q32, "%s", c->name);
		KUNIT_EXPECT_LE_MSG(test, c->want_q32, got + 1, "%s", c->name);
	}
}

/* No random number is drawn if the decision does not need one. */
static void wred_test_random(struct kunit *test)
{
	const struct wred_params p = {
		.limit_bytes = LIMIT,
		.ect = profile(10000, 30000, 500000),
		.nect = profile(20000, 20000, 1000000),
	};
	static const struct {
		enum wred_class class;
		u32 backlog_bytes;
		bool want;
	} cases[] = {
		{ WRED_ECT, 10000, false }, { WRED_ECT, 10001, true },
		{ WRED_ECT, 29999, true }, { WRED_ECT, 30000, false },
		{ WRED_NECT, 19999, false }, { WRED_NECT, 20000, false },
		{ WRED_CE, 20000, false }, { WRED_OTHER, 20000, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct wred_vars v = { .backlog_bytes = cases[i].backlog_bytes };

		KUNIT_EXPECT_EQ_MSG(test, wred_needs_random(&p, &v, cases[i].class),
				    cases[i].want, "case %zu", i);
	}
}

/* Without profiles the qdisc is a byte fifo. */
static void wred_test_off(struct kunit *test)
{
	const struct wred_params p = { .limit_bytes = LIMIT };
	const struct wred_vars v = { .backlog_bytes = LIMIT - 100 };
	int class;

	for (class = WRED_ECT; class <= WRED_OTHER; class++) {
		KUNIT_EXPECT_EQ(test, (int)wred_decide(&p, &v, class, 100, 0), (int)WRED_PASS);
		KUNIT_EXPECT_EQ(test, (int)wred_decide(&p, &v, class, 101, 0),
				(int)WRED_DROP_LIMIT);
		KUNIT_EXPECT_FALSE(test, wred_needs_random(&p, &v, class));
	}
}

static void wred_test_accounting(struct kunit *test)
{
	struct wred_vars v = {};
	struct tc_wred_xstats s = {};

	wred_add(&v, 3000);
	wred_add(&v, 2000);
	wred_remove(&v, 3000);
	wred_add(&v, 1000);
	KUNIT_EXPECT_EQ(test, v.backlog_bytes, (u32)3000);
	KUNIT_EXPECT_EQ(test, v.peak_bytes, (u32)5000);

	/* Powers of two: no sum of other counts gives the same. */
	wred_count(&s, WRED_ECT, WRED_PASS, 1);
	wred_count(&s, WRED_NECT, WRED_PASS, 2);
	wred_count(&s, WRED_CE, WRED_PASS, 4);
	wred_count(&s, WRED_ECT, WRED_MARK, 8);
	wred_count(&s, WRED_ECT, WRED_DROP_UNMARKABLE, 16);
	wred_count(&s, WRED_NECT, WRED_DROP_EARLY, 32);
	wred_count(&s, WRED_CE, WRED_DROP_LIMIT, 64);
	KUNIT_EXPECT_EQ(test, s.ce_pkts, (u64)4);
	KUNIT_EXPECT_EQ(test, s.marked_pkts, (u64)8);
	KUNIT_EXPECT_EQ(test, s.ect_dropped_pkts, (u64)16);
	KUNIT_EXPECT_EQ(test, s.nect_dropped_pkts, (u64)32);
	KUNIT_EXPECT_EQ(test, s.limit_dropped_pkts, (u64)64);
}

static struct kunit_case wred_test_cases[] = {
	KUNIT_CASE(wred_test_decisions),
	KUNIT_CASE(wred_test_probabilities),
	KUNIT_CASE(wred_test_random),
	KUNIT_CASE(wred_test_off),
	KUNIT_CASE(wred_test_accounting),
	{}
};

static struct kunit_suite wred_test_suite = {
	.name = "wred",
	.test_cases = wred_test_cases,
};

kunit_test_suite(wred_test_suite);

MODULE_DESCRIPTION("KUnit tests of the WRED decision");
MODULE_LICENSE("GPL");
