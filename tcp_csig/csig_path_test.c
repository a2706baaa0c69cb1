// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of CSIG's choice of paths with values that can be checked by hand; run in the kernel and on
 * the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "csig_path.c"

/*
 * Stage (4 bits) and orientation (2 bits): stage 2, 1 is the last hop; 0, 1 is the host's own port.
 */
static const int edges[2 * TCSIG_EDGES] = { 0x09, 0x3f, 0x01, 0x3f };
static const int no_edges[2 * TCSIG_EDGES];

static const struct core_case {
	const char *what;
	const int *edges;
	u32 locator;
	bool want;
} core_cases[] = {
	{ "the last hop", edges, 0x09, false },
	{ "whatever its port", edges, 0x49, false },
	{ "the host", edges, 0x01, false },
	{ "the last hop's stage, up", edges, 0x08, true },
	{ "nobody wrote", edges, 0, false },
	{ "nobody knows", no_edges, 0x08, false },
};

/* The locator is 8 unless given otherwise; wanted is 2, random is 3. */
static const struct path_case {
	const char *what;
	/* An ACK; if it ended a round, the minimum delay of that round. */
	u32 delivered_pkts, prior_pkts;
	u64 delay_ns;		/* 0: not reported */
	u64 least_ns;		/* 0: no round ended */
	u32 locator;
	u32 wanted;
	bool settles;
	bool want;
} path_cases[] = {
	{ "above the target", 100, 50, 10001, 0, 8, 2, 0, false },
	{ "for less than a round trip", 110, 99, 20000, 0, 8, 2, 0, false },
	{ "for one, of two", 120, 100, 20000, 0, 8, 2, 0, false },
	{ "not above", 130, 110, 10000, 0, 8, 2, 0, false },
	{ "above again: counts from here", 140, 120, 10001, 0, 8, 2, 0, false },
	{ "less than a round trip", 150, 139, 20000, 0, 8, 2, 0, false },
	{ "nothing acknowledged", 150, 145, 0, 0, 8, 2, 0, false },
	{ "two, whatever is reported when it is over", 155, 140, 0, 0, 8, 2, 0, true },
	{ "the report is of before", 160, 150, 20000, 0, 8, 1, 0, false },
	{ "rounds tell nothing either", 165, 155, 20000, 20000, 8, 1, 0, false },
	{ "arrived: another bottleneck", 170, 155, 4000, 20000, 10, 1, 1, false },
	{ "the same, no queue", 180, 160, 5000, 0, 8, 1, 0, false },
	{ "the same, a queue below the target", 190, 165, 5001, 0, 8, 1, 0, true },
	{ "arrived: the same", 200, 190, 20000, 20000, 8, 1, 1, true },
	{ "the third time", 210, 200, 20000, 20000, 8, 1, 1, true },
	{ "no more: perhaps there is no other path", 220, 210, 20000, 20000, 8, 1, 1, false },
	{ "-3 + 8 of 8", 230, 220, 20000, 0, 8, 1, 0, false },
	{ "5 + 1, and what was left is forgotten", 240, 225, 20000, 20000, 8, 1, 0, false },
	{ "6 + 8", 250, 230, 20000, 0, 8, 1, 0, true },
	{ "the first time", 260, 250, 20000, 20000, 8, 1, 1, true },
	{ "arrived, no queue", 270, 260, 500, 20000, 8, 1, 1, false },
	{ "a queue as the law leaves it: -3 + 1", 280, 270, 5001, 5001, 8, 1, 0, false },
	{ "no queue: what spoke against it stays", 290, 280, 5000, 5000, 8, 1, 0, false },
	{ "-1", 300, 290, 6000, 6000, 8, 1, 0, false },
	{ "above", 310, 300, 10001, 0, 8, 1, 0, false },
	{ "-1 + 8 of 8", 320, 310, 10001, 0, 8, 1, 0, false },
	{ "7 + 1", 325, 312, 9000, 6000, 8, 1, 0, true },
	{ "arrived", 330, 325, 500, 20000, 8, 1, 1, false },
	{ "the last hop above the target", 340, 330, 20000, 500, 0, 1, 0, false },
	{ "is never left", 350, 340, 20000, 20000, 0, 1, 0, false },
	{ "nor after many rounds", 360, 350, 20000, 20000, 0, 1, 0, false },
};

static void old_path_test(struct kunit *test)
{
	struct tcsig_path path = { .left = 8, .waits = true };

	KUNIT_EXPECT_TRUE(test, tcsig_path_is_old(&path, 8));
	KUNIT_EXPECT_FALSE(test, tcsig_path_is_old(&path, 9));
	tcsig_path_settle(&path);
	KUNIT_EXPECT_FALSE_MSG(test, tcsig_path_is_old(&path, 8), "the new path has it, too");
}

static void path_test(struct kunit *test)
{
	struct tcsig_path path = { 0 };
	u32 delivered_pkts = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(core_cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, tcsig_is_core(core_cases[i].edges, core_cases[i].locator),
				    core_cases[i].want, "%s", core_cases[i].what);
	for (i = 0; i < ARRAY_SIZE(path_cases); i++) {
		const struct path_case *c = &path_cases[i];
		const struct tcsig_ack a = {
			.acked_pkts = c->delivered_pkts - delivered_pkts,
			.delivered_pkts = c->delivered_pkts,
			.prior_pkts = c->prior_pkts,
			.delay_ns = c->delay_ns,
			.has_delay = c->delay_ns,
		};

		delivered_pkts = c->delivered_pkts;
		if (c->settles)
			tcsig_path_settle(&path);
		if (c->least_ns)
			tcsig_path_round(&path, 10000, c->least_ns, c->locator);
		KUNIT_EXPECT_EQ_MSG(test, tcsig_path_receive(&path, 10000, &a, c->locator,
							     c->wanted, 3), c->want,
				    "%zu: %s", i, c->what);
	}
}

static struct kunit_case csig_path_cases[] = {
	KUNIT_CASE(path_test),
	KUNIT_CASE(old_path_test),
	{ }
};

static struct kunit_suite csig_path_suite = {
	.name = "csig_path",
	.test_cases = csig_path_cases,
};

kunit_test_suite(csig_path_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of CSIG's choice of paths");
