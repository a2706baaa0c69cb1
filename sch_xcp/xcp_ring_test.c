// SPDX-License-Identifier: GPL-2.0
/* Tests of what a ring below the port holds, xcp_ring.h; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include "xcp_ring.c"

#define MS 1000000ULL
#define RATE_BYTES_PS 1000000ULL

/* A period of 10 ms, in which the link can send 10000 bytes. */
static u32 period(struct sxcp_ring *r, struct sxcp_ring_look *look, u32 bytes)
{
	look->rate_bytes_ps = RATE_BYTES_PS;
	look->sent_bytes += bytes;
	look->now_ns += 10 * MS;
	return sxcp_ring_close(r, look);
}

static void pace_test(struct kunit *test)
{
	struct sxcp_ring_look look = {};
	struct sxcp_ring r = {};

	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 15000), 0U, "empty when the period began");
	KUNIT_EXPECT_EQ(test, r.held_bytes, 5000U);
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 12000), 5000U, "never less than at the start");
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 10000), 7000U, "as much as the link sends");
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 6000), 3000U, "less than the link sends");
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 2000), 0U, "the link paused");
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 10000), 0U, "and no debt is kept");
}

static void bql_test(struct kunit *test)
{
	struct sxcp_ring_look look = {
		/* 3000 bytes in flight, across the wrap */
		.bql = { .is_used = true, .queued_bytes = 1000, .completed_bytes = -2000U },
	};
	struct sxcp_ring r = {};

	period(&r, &look, 15000);
	KUNIT_EXPECT_EQ_MSG(test, r.held_bytes, 3000U, "no more than what is in flight");
	period(&r, &look, 8000);
	KUNIT_EXPECT_EQ_MSG(test, r.held_bytes, 1000U, "late interrupts are no queue");
	look.waited = true;
	KUNIT_EXPECT_EQ(test, period(&r, &look, 8000), 1000U);
	KUNIT_EXPECT_EQ_MSG(test, r.held_bytes, 3000U, "full while packets wait above");
	KUNIT_EXPECT_EQ(test, period(&r, &look, 8000), 3000U);
	look.bql.completed_bytes = 1500;
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 8000), 0U, "counters that were read apart");
}

static void bounds_test(struct kunit *test)
{
	struct sxcp_ring_look look = {
		.bql = { .is_used = true, .queued_bytes = S32_MAX },
		.waited = true,
	};
	struct sxcp_ring r = {};

	period(&r, &look, 0);
	KUNIT_EXPECT_EQ(test, r.held_bytes, (u32)HOP_RING_MAX_BYTES);
	look.bql = (struct hop_ring_bql) {};
	look.sent_bytes -= 1;
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 0), (u32)HOP_RING_MAX_BYTES, "count went back");
	look.now_ns = U64_MAX - 10 * MS;
	KUNIT_EXPECT_EQ_MSG(test, period(&r, &look, 1000), 0U, "a pause of years");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pace_test),
	KUNIT_CASE(bql_test),
	KUNIT_CASE(bounds_test),
	{}
};

static struct kunit_suite xcp_ring_suite = { .name = "xcp_ring", .test_cases = cases };
kunit_test_suite(xcp_ring_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the ring below XCP's port");
