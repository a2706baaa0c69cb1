// SPDX-License-Identifier: GPL-2.0
/* Tests of the example's law with values that can be checked by hand */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "aimd.h"

static const struct aimd_case {
	const char *what;
	u64 wnd_pkts, want_pkts;
	u32 acked_pkts;
	u64 delay_ns;
	bool cut, round;
} aimd_cases[] = {
	{ "a window of packets adds one", 10, 11, 10, 1000, false, false },
	{ "at the target it still grows", 10, 11, 10, 5000, true, false },
	{ "above the target a quarter goes", 100, 75, 1, 5001, false, false },
	{ "only once a round trip", 100, 100, 1, 5001, true, false },
	{ "and again in the next one", 100, 75, 1, 5001, true, true },
	{ "two packets are the least", 2, 2, 1, 5001, false, false },
	{ "2^20 are the most", HOP_WND_MAX_PKTS, HOP_WND_MAX_PKTS, 32767, 0, false, false },
};

static void receive_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(aimd_cases); i++) {
		const struct aimd_case *c = &aimd_cases[i];
		struct aimd_vars v = { .wnd = c->wnd_pkts << HOP_WND_SHIFT, .cut = c->cut };

		aimd_receive(&v, c->acked_pkts, c->delay_ns, 5000, c->round);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd >> HOP_WND_SHIFT, c->want_pkts, "%s", c->what);
	}
}

static void lose_test(struct kunit *test)
{
	struct aimd_vars v = { .wnd = 10 * HOP_WND_ONE };

	aimd_lose(&v);
	KUNIT_EXPECT_EQ(test, v.wnd, 5 * HOP_WND_ONE);
	KUNIT_EXPECT_EQ(test, v.undo_wnd, 10 * HOP_WND_ONE);
}

static struct kunit_case aimd_test_cases[] = {
	KUNIT_CASE(receive_test),
	KUNIT_CASE(lose_test),
	{ }
};

static struct kunit_suite aimd_suite = {
	.name = "aimd",
	.test_cases = aimd_test_cases,
};

kunit_test_suite(aimd_suite);
MODULE_LICENSE("GPL");
