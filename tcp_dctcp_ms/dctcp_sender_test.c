// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the DCTCP sender and receiver with values that can be checked by hand; run in the kernel
 * and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "dctcp_receiver.h"
#include "dctcp_sender.c"

#define ONE	DCTCP_ALPHA_ONE
#define HALF	(DCTCP_ALPHA_ONE / 2)

static const struct alpha_case {
	const char *what;
	u32 alpha, sent_bytes, marked_bytes, want;
} alpha_cases[] = {
	{ "no mark keeps 15/16 of 1", ONE, 1448, 0, ONE / 16 * 15 },
	{ "all marked stays 1", ONE, 14480, 14480, ONE },
	{ "all marked raises 0 to g", 0, 1, 1, ONE / 16 },
	{ "half marked raises 0 to g/2", 0, 2896, 1448, ONE / 32 },
	{ "half marked keeps one half", HALF, 2, 1, HALF },
	{ "no byte, no mark", ONE, 0, 0, ONE / 16 * 15 },
	{ "1 unit decays to 0", 1, 1448, 0, 0 },
	{ "15 units do not stick", 15, 1448, 0, 14 },
	{ "0 stays 0", 0, 1448, 0, 0 },
	{ "a third is rounded down", 0, 3, 1, 44739242 },	/* 2^31 / 48 = 44739242.7 */
	{ "the largest window, all marked", ONE, 0x7fffffff, 0x7fffffff, ONE },
	{ "the largest window, one mark", 0, 0x7fffffff, 1, 0 },
	{ "the largest window, 16 marks", 0, 0x7fffffff, 16, 1 },
};

static void alpha_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alpha_cases); i++) {
		const struct alpha_case *c = &alpha_cases[i];
		struct dctcp_vars v = {
			.alpha = c->alpha,
			.sent_bytes = c->sent_bytes,
			.marked_bytes = c->marked_bytes,
		};

		KUNIT_EXPECT_EQ_MSG(test, dctcp_update_alpha(&v), c->want,
				    "%s", c->what);
	}
}

static const struct cut_case {
	const char *what;
	u32 cwnd_pkts, alpha, want_pkts;
} cut_cases[] = {
	{ "alpha 1 halves", 100, ONE, 50 },
	{ "alpha 1 halves, rounded up", 101, ONE, 51 },
	{ "alpha 1/2 takes a quarter", 100, HALF, 75 },
	{ "alpha 0 takes nothing", 100, 0, 100 },
	{ "less than a packet is nothing", 15, ONE / 8, 15 },
	{ "exactly a packet", 16, ONE / 8, 15 },
	{ "floor from 3", 3, ONE, 2 },
	{ "floor from 2", 2, ONE, 2 },
	{ "floor from 1", 1, ONE, 2 },
	{ "the largest cwnd", 0xffffffff, ONE, 0x80000000 },
};

static void cut_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cut_cases); i++) {
		const struct cut_case *c = &cut_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, dctcp_cwnd_after_mark(c->cwnd_pkts, c->alpha),
				    c->want_pkts, "%s", c->what);
	}
}

static void loss_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, dctcp_cwnd_after_loss(100), 50u);
	KUNIT_EXPECT_EQ(test, dctcp_cwnd_after_loss(101), 50u);
	KUNIT_EXPECT_EQ(test, dctcp_cwnd_after_loss(4), 2u);
	KUNIT_EXPECT_EQ(test, dctcp_cwnd_after_loss(3), 2u);
	KUNIT_EXPECT_EQ(test, dctcp_cwnd_after_loss(1), 2u);
}

/* A sequence of ACKs; the next window ends at SND.NXT. */
static const struct ack_case {
	const char *what;
	u32 ack_seq, nxt_seq;
	bool ece, over;
	u32 sent_bytes, marked_bytes;	/* before the reset of step 8 */
} ack_cases[] = {
	/* WindowEnd starts at SND.UNA = -1000: the first acknowledged byte ends the window */
	{ "nothing new", -1000, 9000, true, false, 0, 0 },
	{ "first ACK ends the empty window", 0, 3000, false, true, 1000, 0 },
	{ "below WindowEnd", 1000, 4000, true, false, 1000, 1000 },
	{ "an old ACK counts nothing", 500, 4000, true, false, 1000, 1000 },
	{ "a duplicate counts nothing", 1000, 4000, true, false, 1000, 1000 },
	{ "equal to WindowEnd: stop", 3000, 5000, false, false, 3000, 1000 },
	{ "one byte beyond", 3001, 6000, true, true, 3001, 1001 },
	{ "the counters began anew", 3002, 6000, false, false, 1, 0 },
};

static void ack_test(struct kunit *test)
{
	struct dctcp_vars v;
	size_t i;

	dctcp_start(&v, -1000);
	KUNIT_EXPECT_EQ(test, v.alpha, ONE);
	for (i = 0; i < ARRAY_SIZE(ack_cases); i++) {
		const struct ack_case *c = &ack_cases[i];

		dctcp_account_ack(&v, c->ack_seq, c->ece);
		KUNIT_EXPECT_EQ_MSG(test, v.sent_bytes, c->sent_bytes, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.marked_bytes, c->marked_bytes, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, dctcp_window_over(&v), c->over, "%s", c->what);
		if (c->over)
			dctcp_next_window(&v, c->nxt_seq);
	}
}

static void law_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, dctcp_choose_law(9999, 10000), DCTCP_LAW_DCTCP);
	KUNIT_EXPECT_EQ(test, dctcp_choose_law(10000, 10000), DCTCP_LAW_CONVENTIONAL);
	KUNIT_EXPECT_EQ(test, dctcp_choose_law(1, 1), DCTCP_LAW_CONVENTIONAL);
	KUNIT_EXPECT_EQ(test, dctcp_choose_law(0xffffffff, 0), DCTCP_LAW_DCTCP);
}

static const struct receive_case {
	const char *what;
	bool state, ce;
	u32 rcv_nxt_seq, acked_seq;
	enum dctcp_ack want;
} receive_cases[] = {
	{ "clean stays clean", false, false, 2000, 1000, DCTCP_ACK_AS_USUAL },
	{ "CE stays CE", true, true, 2000, 1000, DCTCP_ACK_AS_USUAL },
	{ "clean to CE, one delayed", false, true, 2000, 1000, DCTCP_ACK_FLUSH },
	{ "CE to clean, one delayed", true, false, 2000, 1000, DCTCP_ACK_FLUSH },
	{ "clean to CE, all acked", false, true, 2000, 2000, DCTCP_ACK_NOW },
	{ "CE to clean, all acked", true, false, 2000, 2000, DCTCP_ACK_NOW },
	{ "across the wrap", false, true, 1, 0xffffffff, DCTCP_ACK_FLUSH },
	{ "never acknowledge backwards", false, true, 1000, 2000, DCTCP_ACK_NOW },
};

static void receive_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(receive_cases); i++) {
		const struct receive_case *c = &receive_cases[i];
		struct dctcp_receiver r = {
			.rcv_nxt_seq = c->rcv_nxt_seq,
			.ce = c->state,
		};

		KUNIT_EXPECT_EQ_MSG(test, dctcp_classify_packet(&r, c->ce, c->acked_seq),
				    c->want, "%s", c->what);
	}
}

static struct kunit_case dctcp_cases[] = {
	KUNIT_CASE(alpha_test),
	KUNIT_CASE(cut_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(ack_test),
	KUNIT_CASE(law_test),
	KUNIT_CASE(receive_test),
	{}
};

static struct kunit_suite dctcp_suite = {
	.name = "dctcp_sender",
	.test_cases = dctcp_cases,
};

kunit_test_suite(dctcp_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of DCTCP's cores");
