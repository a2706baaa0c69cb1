// SPDX-License-Identifier: GPL-2.0
/* Tests of a port that sends less than its rate, xcp_drain.h; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include "xcp_drain.h"

#define MS 1000000ULL
#define RATE_BYTES_PS 1000000ULL

/* A control interval of 10 ms in which 100 packets arrive or leave. */
static bool interval(struct sxcp_drain *d, struct sxcp_drain_sent *sent, u64 bytes, bool waits)
{
	sent->bytes += bytes;
	sent->moves += 100;
	sent->now_ns += 10 * MS;
	sent->waits = waits;
	return sxcp_drain_close(d, RATE_BYTES_PS, sent);
}

static u64 capacity(const struct sxcp_drain *d)
{
	return sxcp_drain_capacity_bytes_ps(d, RATE_BYTES_PS);
}

static void slow_test(struct kunit *test)
{
	struct sxcp_drain_sent sent = {};
	struct sxcp_drain d = {};

	KUNIT_EXPECT_FALSE(test, interval(&d, &sent, 2000, false));
	KUNIT_EXPECT_FALSE_MSG(test, interval(&d, &sent, 2000, true), "may have begun empty");
	KUNIT_EXPECT_EQ(test, capacity(&d), RATE_BYTES_PS);
	KUNIT_EXPECT_TRUE(test, interval(&d, &sent, 2000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 200000ULL, "2000 bytes in 10 ms");
	KUNIT_EXPECT_TRUE(test, interval(&d, &sent, 1000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 100000ULL, "less still");
	KUNIT_EXPECT_FALSE(test, interval(&d, &sent, 4000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 400000ULL, "and more");
	interval(&d, &sent, 9000, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), RATE_BYTES_PS, "as good as the rate");
	KUNIT_EXPECT_EQ(test, d.rate_bytes_ps, 0ULL);
}

static void grow_test(struct kunit *test)
{
	struct sxcp_drain_sent sent = {};
	struct sxcp_drain d = {};
	int n;

	interval(&d, &sent, 1600, true);
	interval(&d, &sent, 1600, true);
	KUNIT_EXPECT_EQ(test, capacity(&d), 160000ULL);
	interval(&d, &sent, 1600, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 165000ULL, "a 32nd more");
	interval(&d, &sent, 1650, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 170156ULL, "it may have begun empty: again");
	interval(&d, &sent, 1700, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 170000ULL, "not while packets wait: measured");
	for (n = 0; n < 16; n++)
		interval(&d, &sent, 1000, false);
	KUNIT_EXPECT_LT(test, capacity(&d), 280000ULL);
	for (n = 0; n < 6; n++)
		interval(&d, &sent, 1000, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), RATE_BYTES_PS, "then soon all of it");
}

static void unsupported_test(struct kunit *test)
{
	struct sxcp_drain_sent sent = {};
	struct sxcp_drain d = {};

	interval(&d, &sent, 1000, true);
	KUNIT_EXPECT_FALSE_MSG(test, interval(&d, &sent, 0, true), "a device that was stopped");
	KUNIT_EXPECT_EQ(test, capacity(&d), RATE_BYTES_PS);
	sent.moves -= 100;
	interval(&d, &sent, 0, true);
	interval(&d, &sent, 9000, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), RATE_BYTES_PS, "nor when it goes on");
	sxcp_drain_stop(&d);
	KUNIT_EXPECT_FALSE_MSG(test, interval(&d, &sent, 1000, true), "starts anew");
	sent.moves -= 90;
	KUNIT_EXPECT_FALSE_MSG(test, interval(&d, &sent, 1000, true), "too few packets to tell");
	KUNIT_EXPECT_TRUE_MSG(test, interval(&d, &sent, 1000, true), "two intervals' are enough");
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), 100000ULL, "2000 bytes in 20 ms");
	interval(&d, &sent, 1, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), (u64)TC_XCP_RATE_MIN_BYTES_PS, "the least rate");
	sent.bytes += U64_MAX / 2;
	interval(&d, &sent, 0, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&d), RATE_BYTES_PS, "no overflow");
}

static struct kunit_case sxcp_drain_cases[] = {
	KUNIT_CASE(slow_test),
	KUNIT_CASE(grow_test),
	KUNIT_CASE(unsupported_test),
	{}
};

static struct kunit_suite sxcp_drain_suite = {
	.name = "xcp_drain",
	.test_cases = sxcp_drain_cases,
};

kunit_test_suite(sxcp_drain_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of XCP's measured drain rate of a port");
