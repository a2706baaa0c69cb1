// SPDX-License-Identifier: GPL-2.0
/* Tests of the guard: a connection's life, by round trips. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <hopcc/lib/hop_guard.h>

/* 100/4 + 4 = 29 us need no explanation. */
#define LEAST_US	100U
#define SLACK_US	29U
#define CWND_PKTS	1000U

/* A round trip with one ACK; @delay_us of it, @reported_us of these by hops. */
static void run_round(struct hop_guard *g, u32 delay_us, u32 reported_us)
{
	const struct hop_guard_ack a = {
		.least_us = LEAST_US,
		.delay_us = delay_us,
		.reported_us = reported_us,
		.round = true,
	};

	hop_guard_ack(g, &a);
}

static void measure(struct hop_guard *g, u32 delay_us, u32 reported_us)
{
	const struct hop_guard_ack a = {
		.least_us = LEAST_US,
		.delay_us = delay_us,
		.reported_us = reported_us,
	};

	hop_guard_ack(g, &a);
}

static void run_clean_rounds(struct hop_guard *g, u32 rounds)
{
	while (rounds--)
		run_round(g, 0, 0);
}

static void receive_ack(struct hop_guard *g, u32 acked_pkts, bool limited)
{
	const struct hop_guard_ack a = {
		.acked_pkts = acked_pkts,
		.least_us = LEAST_US,
		.limited = limited,
	};

	hop_guard_ack(g, &a);
}

/* A guard that an unexplained delay and a loss with 40 packets in flight have closed */
static struct hop_guard closed_guard(void)
{
	struct hop_guard g = {};

	run_round(&g, 200, 0);
	hop_guard_lose(&g, LEAST_US, 40);
	return g;
}

/* Return: the number of round trips until the window doubles. */
static u32 rounds_until_double(struct hop_guard *g)
{
	const u32 wnd_pkts = g->wnd_pkts;
	u32 rounds = 0;

	/* The delay of the last round before the loss counts in one more. */
	run_round(g, 0, 0);
	while (g->wnd_pkts == wnd_pkts && rounds <= 2 * HOP_GUARD_ROUNDS_MAX) {
		run_round(g, 0, 0);
		rounds++;
	}
	return rounds;
}

static void start_test(struct kunit *test)
{
	struct hop_guard g = {};

	KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, CWND_PKTS), CWND_PKTS, "no limit at first");
	KUNIT_EXPECT_EQ(test, hop_guard_bound(&g, 1), 1U);
	KUNIT_EXPECT_EQ(test, hop_guard_bound(&g, U32_MAX), U32_MAX);
	receive_ack(&g, 1000, true);
	run_round(&g, 100000, 0);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 0U, "a delay alone does not close it");
	KUNIT_EXPECT_EQ_MSG(test, g.acked_pkts, 0U, "an open guard counts no packets");
}

/* A round trip, an ACK of the next one, then a loss */
static const struct loss_case {
	const char *what;
	u32 delay_us[2], reported_us[2];
	bool closes;
} loss_cases[] = {
	{ "no delay: a loss by chance", { 0, 0 }, { 0, 0 }, false },
	{ "a delay that needs no explanation", { SLACK_US, SLACK_US }, { 0, 0 }, false },
	{ "one microsecond more", { 0, SLACK_US + 1 }, { 0, 0 }, true },
	{ "the same in the round before", { SLACK_US + 1, 0 }, { 0, 0 }, true },
	{ "all of it reported", { 500, 500 }, { 500, 500 }, false },
	{ "all but the slack", { 500, 500 }, { 500 - SLACK_US, 500 - SLACK_US }, false },
	{ "less", { 500, 500 }, { 470, 470 }, true },
	{ "more reported than there is", { 500, 500 }, { 5000, 5000 }, false },
	{ "reported in the round before", { 0, 500 }, { 500, 0 }, false },
	{ "reported in the round after", { 500, 0 }, { 0, 500 }, true },
	{ "the greatest", { U32_MAX, U32_MAX }, { 0, 0 }, true },
	{ "the greatest, reported", { U32_MAX, U32_MAX }, { U32_MAX, U32_MAX }, false },
};

static void loss_test(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(loss_cases); i++) {
		const struct loss_case *c = &loss_cases[i];
		struct hop_guard g = {};

		run_round(&g, c->delay_us[0], c->reported_us[0]);
		measure(&g, c->delay_us[1], c->reported_us[1]);
		KUNIT_EXPECT_EQ_MSG(test, hop_guard_lose(&g, LEAST_US, 40), c->closes, "%s",
				    c->what);
		KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, c->closes ? 20U : 0U, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, CWND_PKTS),
				    c->closes ? 20U : CWND_PKTS, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, g.wait_rounds, c->closes ? HOP_GUARD_ROUNDS : 0, "%s",
				    c->what);
	}
}

/* Within a round trip, and long after */
static void unexplained_test(struct kunit *test)
{
	struct hop_guard g = {};

	measure(&g, 200, 150);
	KUNIT_EXPECT_EQ_MSG(test, g.extra_us, 50U, "50 us that no hop reports");
	measure(&g, 200, 200);
	KUNIT_EXPECT_EQ_MSG(test, g.extra_us, 50U, "a later report does not explain it");
	KUNIT_EXPECT_TRUE(test, hop_guard_is_unexplained(&g, LEAST_US));
	KUNIT_EXPECT_FALSE_MSG(test, hop_guard_is_unexplained(&g, 4 * 46), "1/4 of a longer RTT");
	KUNIT_EXPECT_TRUE(test, hop_guard_is_unexplained(&g, 4 * 46 - 1));
	run_round(&g, 0, 0);
	KUNIT_EXPECT_TRUE_MSG(test, hop_guard_is_unexplained(&g, LEAST_US), "for one round more");
	run_round(&g, 0, 0);
	KUNIT_EXPECT_FALSE(test, hop_guard_is_unexplained(&g, LEAST_US));
	KUNIT_EXPECT_FALSE_MSG(test, hop_guard_lose(&g, LEAST_US, 40), "a loss by chance again");
}

static void halve_test(struct kunit *test)
{
	struct hop_guard g = closed_guard();

	KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, CWND_PKTS), 20U, "half of 40");
	KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, 15), 15U, "the other window is smaller");
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 20U, "which opens nothing yet");
	run_clean_rounds(&g, 3);
	KUNIT_EXPECT_TRUE_MSG(test, hop_guard_lose(&g, LEAST_US, 40), "closed: any loss counts");
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 10U, "half of 20, not of 40");
	KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, LEAST_US, 8));
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 4U, "half of the 8 in flight");
	KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, LEAST_US, 3));
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 2U, "at least two");
	KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, LEAST_US, 0));
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 2U);
	KUNIT_EXPECT_EQ_MSG(test, g.wait_rounds, HOP_GUARD_ROUNDS, "it has not doubled yet");
	g = (struct hop_guard){ .extra_us = 200 };
	KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, LEAST_US, 0));
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 2U, "nothing in flight");
}

static void grow_test(struct kunit *test)
{
	struct hop_guard g = closed_guard();

	receive_ack(&g, 19, true);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 20U);
	receive_ack(&g, 1000, false);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 20U, "the window did not limit sending");
	receive_ack(&g, 1, true);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 21U, "one more for a window");
	receive_ack(&g, 31, true);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 22U, "21 of 31");
	receive_ack(&g, 12, true);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 23U, "10 + 12");
	receive_ack(&g, 22, true);
	hop_guard_lose(&g, LEAST_US, 40);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 11U);
	receive_ack(&g, 10, true);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 11U, "a loss starts the count again");
	receive_ack(&g, 1, true);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 12U);
}

/* From closed to open, one round trip a line; the congestion control has 70 packets. */
static const struct open_case {
	const char *what;
	u32 delay_us, reported_us, wnd_pkts, bound_pkts;
} open_cases[] = {
	{ "the delay before the loss still counts", 0, 0, 20, 20 },
	{ "1", 0, 0, 20, 20 },
	{ "2, all of it reported", 300, 300, 20, 20 },
	{ "400 us more than the report before", 700, 0, 20, 20 },
	{ "which counts twice", 0, 0, 20, 20 },
	{ "1", 0, 0, 20, 20 },
	{ "2", 0, 0, 20, 20 },
	{ "3", 0, 0, 20, 20 },
	{ "4", 0, 0, 20, 20 },
	{ "5: twice", 0, 0, 40, 40 },
	{ "twice again: the other window is the smaller one", 0, 0, 80, 70 },
	{ "open", 0, 0, 0, 70 },
};

static void open_test(struct kunit *test)
{
	struct hop_guard g = closed_guard();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(open_cases); i++) {
		const struct open_case *c = &open_cases[i];

		run_round(&g, c->delay_us, c->reported_us);
		KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, c->wnd_pkts, "%u: %s", i, c->what);
		KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, 70), c->bound_pkts, "%u: %s", i,
				    c->what);
	}
	KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, CWND_PKTS), CWND_PKTS, "no limit any more");
	run_round(&g, 500, 500);
	KUNIT_EXPECT_FALSE_MSG(test, hop_guard_lose(&g, LEAST_US, 40), "a loss by chance");
	measure(&g, 600, 0);
	KUNIT_EXPECT_TRUE_MSG(test, hop_guard_lose(&g, LEAST_US, 40), "100 us are not reported");
}

/* Each loss soon after the guard has opened doubles the wait: 4, 8, 16 to 1024, and no more. */
static void wait_test(struct kunit *test)
{
	u32 wait_rounds = HOP_GUARD_ROUNDS, i;
	struct hop_guard g = {};

	for (i = 0; i < 12; i++) {
		run_round(&g, 200, 0);
		KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, LEAST_US, 40));
		KUNIT_EXPECT_EQ(test, g.wait_rounds, wait_rounds);
		KUNIT_EXPECT_EQ_MSG(test, rounds_until_double(&g), wait_rounds + 1, "%u", i);
		KUNIT_EXPECT_EQ(test, hop_guard_bound(&g, 10), 10U);
		KUNIT_EXPECT_EQ(test, g.wnd_pkts, 0U);
		wait_rounds = min(2 * wait_rounds, HOP_GUARD_ROUNDS_MAX);
	}
	KUNIT_EXPECT_EQ(test, wait_rounds, HOP_GUARD_ROUNDS_MAX);
}

/* So does one while the window doubles; one while the guard still waits does not. */
static void wait_closed_test(struct kunit *test)
{
	struct hop_guard g = closed_guard();

	run_clean_rounds(&g, HOP_GUARD_ROUNDS + 1);
	hop_guard_lose(&g, LEAST_US, 40);
	KUNIT_EXPECT_EQ(test, g.wait_rounds, HOP_GUARD_ROUNDS);
	KUNIT_EXPECT_EQ_MSG(test, rounds_until_double(&g), HOP_GUARD_ROUNDS, "no delay before it");
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 20U);
	hop_guard_lose(&g, LEAST_US, 40);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 10U);
	KUNIT_EXPECT_EQ(test, g.wait_rounds, 2 * HOP_GUARD_ROUNDS);
}

/* Open for 16 times the wait: it waits as briefly as at first. */
static void forget_test(struct kunit *test)
{
	struct hop_guard g = { .wait_rounds = 8 };

	run_clean_rounds(&g, HOP_GUARD_FORGET * 8);
	KUNIT_EXPECT_EQ(test, g.wait_rounds, 8);
	run_round(&g, 200, 0);
	run_round(&g, 0, 0);
	run_clean_rounds(&g, HOP_GUARD_FORGET * 8);
	KUNIT_EXPECT_EQ_MSG(test, g.wait_rounds, 8, "a delay starts the count again");
	run_clean_rounds(&g, 1);
	KUNIT_EXPECT_EQ_MSG(test, g.wait_rounds, 0, "forgotten");
	run_round(&g, 200, 0);
	hop_guard_lose(&g, LEAST_US, 40);
	KUNIT_EXPECT_EQ(test, g.wait_rounds, HOP_GUARD_ROUNDS);
	g.wait_rounds = HOP_GUARD_ROUNDS_MAX;
	run_clean_rounds(&g, 2 + HOP_GUARD_ROUNDS_MAX);
	KUNIT_EXPECT_EQ(test, hop_guard_bound(&g, 10), 10U);
	run_clean_rounds(&g, (HOP_GUARD_FORGET - 1) * HOP_GUARD_ROUNDS_MAX);
	KUNIT_EXPECT_EQ_MSG(test, g.wait_rounds, 0, "so is the longest");
}

static void undo_test(struct kunit *test)
{
	struct hop_guard g = closed_guard();

	hop_guard_undo(&g);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 0U, "it was open");
	KUNIT_EXPECT_EQ(test, hop_guard_bound(&g, CWND_PKTS), CWND_PKTS);
	g = closed_guard();
	hop_guard_lose(&g, LEAST_US, 40);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 10U);
	hop_guard_undo(&g);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 20U, "it was closed");
	hop_guard_lose(&g, LEAST_US, 40);
	receive_ack(&g, 10, true);
	g.wnd_pkts = 25;
	hop_guard_undo(&g);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 25U, "it has grown since");
	g = (struct hop_guard){};
	KUNIT_EXPECT_FALSE(test, hop_guard_lose(&g, LEAST_US, 40));
	hop_guard_undo(&g);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, 0U, "it stayed open");
}

static void saturation_test(struct kunit *test)
{
	struct hop_guard g = { .wnd_pkts = U32_MAX / 2 + 1, .clean_rounds = U16_MAX };

	run_round(&g, 0, 0);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, U32_MAX - 1, "twice, as far as there is room");
	KUNIT_EXPECT_EQ(test, g.clean_rounds, U16_MAX);
	g.acked_pkts = U32_MAX - 2;
	receive_ack(&g, 1, true);
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, U32_MAX);
	g.acked_pkts = U32_MAX - 1;
	receive_ack(&g, 1, true);
	KUNIT_EXPECT_EQ_MSG(test, g.wnd_pkts, U32_MAX, "no more");
	KUNIT_EXPECT_EQ_MSG(test, hop_guard_bound(&g, U32_MAX), U32_MAX, "and it opens");
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, 0U);
	g.extra_us = U32_MAX;
	KUNIT_EXPECT_TRUE(test, hop_guard_lose(&g, U32_MAX, U32_MAX));
	KUNIT_EXPECT_EQ(test, g.wnd_pkts, U32_MAX / 2);
}

static struct kunit_case hop_guard_cases[] = {
	KUNIT_CASE(start_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(unexplained_test),
	KUNIT_CASE(halve_test),
	KUNIT_CASE(grow_test),
	KUNIT_CASE(open_test),
	KUNIT_CASE(wait_test),
	KUNIT_CASE(wait_closed_test),
	KUNIT_CASE(forget_test),
	KUNIT_CASE(undo_test),
	KUNIT_CASE(saturation_test),
	{}
};

static struct kunit_suite hop_guard_suite = {
	.name = "hop_guard",
	.test_cases = hop_guard_cases,
};

kunit_test_suite(hop_guard_suite);

MODULE_DESCRIPTION("KUnit tests of the end-to-end window beside reports");
MODULE_LICENSE("GPL");
