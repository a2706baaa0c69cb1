// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of merging congestion headers in GRO with values that can be checked by hand; run in the
 * kernel and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "xcp_merge.c"

static struct xcp_hdr header(s32 delta, s32 reverse)
{
	return (struct xcp_hdr) {
		.version_format = XCP_VERSION << 4 | XCP_FORMAT_MICRO,
		.protocol = 6,
		.length = XCP_HDR_BYTES,
		.rtt = cpu_to_be32(100),
		.throughput = cpu_to_be32(1000),
		.delta = cpu_to_be32(delta),
		.reverse = cpu_to_be32(reverse),
	};
}

/*
 * Consecutive segments and the merged header that represents them; segments that cannot merge are
 * left out.
 */
static const struct merge_case {
	const char *what;
	s32 delta[4], reverse[4];
	u32 pkts[4];
	s32 want_delta, want_reverse;
	u32 want_pkts;
	bool want_sum;
} merge_cases[] = {
	{ "equal", { 5, 5, 5 }, { 1, 0, 0 }, { 1, 1, 1 }, 5, 1, 3, false },
	{ "Reverse_Feedback adds up", { 5, 5, 5 }, { 7, 0, -9 }, { 1, 1, 1 }, 5, -2, 3, false },
	{ "unequal: the sum", { 5, 6, 5 }, { }, { 1, 1, 1 }, 16, 0, 3, true },
	{ "unequal, then equal to the first", { 5, 6, 5, 5 }, { }, { 1, 1, 1, 1 }, 21, 0, 4, true },
	{ "GSO packets", { 5, 6 }, { }, { 10, 3 }, 68, 0, 13, true },
	{ "equal GSO packets", { -5, -5 }, { }, { 10, 3 }, -5, 0, 13, false },
	{ "a sum beyond the field", { S32_MAX, 1, -1 }, { }, { 1, 1, 1 }, S32_MAX - 1, 0, 2, true },
	{ "a sum below the field", { S32_MIN, -1 }, { }, { 1, 1 }, S32_MIN, 0, 1, false },
	{ "equal: no sum is needed", { S32_MAX, S32_MAX }, { }, { 1, 1 }, S32_MAX, 0, 2, false },
	{ "Reverse_Feedback beyond its field", { 5, 5 }, { S32_MAX, 1 }, { 1, 1 },
	  5, S32_MAX, 1, false },
};

static void merge_test(struct kunit *test)
{
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(merge_cases); i++) {
		const struct merge_case *c = &merge_cases[i];
		struct xcp_hdr held = header(c->delta[0], c->reverse[0]);
		u32 held_pkts = c->pkts[0];

		for (n = 1; n < 4 && c->pkts[n]; n++) {
			const struct xcp_hdr h = header(c->delta[n], c->reverse[n]);

			if (!nxcp_may_merge(&held, held_pkts, &h, c->pkts[n]))
				continue;
			nxcp_merge(&held, held_pkts, &h, c->pkts[n]);
			held_pkts += c->pkts[n];
		}
		KUNIT_EXPECT_EQ_MSG(test, xcp_delta(&held), c->want_delta, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, xcp_reverse(&held), c->want_reverse, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, held_pkts, c->want_pkts, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, held.flags, c->want_sum ? XCP_FLAG_SUM : 0, "%s",
				    c->what);
	}
}

/* A difference in any bit of the fields that must be equal prevents merging. */
static void apart_test(struct kunit *test)
{
	const struct xcp_hdr held = header(5, 0);
	struct xcp_hdr h = held;
	u8 *byte = (u8 *)&h;
	u32 bit;

	KUNIT_EXPECT_TRUE(test, nxcp_may_merge(&held, 1, &h, 1));
	for (bit = 0; bit < 8 * offsetof(struct xcp_hdr, delta); bit++) {
		h = held;
		byte[bit / 8] ^= 1 << bit % 8;
		/* The length is validated before; XCP_FLAG_SUM is never set on the wire. */
		if (bit / 8 == offsetof(struct xcp_hdr, length) || h.flags & XCP_FLAG_SUM)
			continue;
		KUNIT_EXPECT_FALSE_MSG(test, nxcp_may_merge(&held, 1, &h, 1), "bit %u", bit);
	}
}

static const struct split_case {
	s32 sum;
	u32 segs;
	s32 want[4];
} split_cases[] = {
	{ 16, 3, { 5, 5, 6 } }, { 15, 3, { 5, 5, 5 } }, { 17, 3, { 5, 6, 6 } },
	{ -16, 3, { -5, -5, -6 } }, { 2, 4, { 0, 0, 1, 1 } }, { -1, 2, { 0, -1 } },
	{ S32_MIN, 1, { S32_MIN } }, { S32_MAX, 2, { (1 << 30) - 1, 1 << 30 } },
};

static void split_test(struct kunit *test)
{
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(split_cases); i++) {
		const struct split_case *c = &split_cases[i];
		struct xcp_hdr h = header(c->sum, 0);
		s32 left = c->sum;

		for (n = 0; n < c->segs; n++) {
			h.flags = XCP_FLAG_SUM | XCP_FLAG_E2E_LIMITED;
			nxcp_write_share(&h, &left, c->segs - n);
			KUNIT_EXPECT_EQ_MSG(test, xcp_delta(&h), c->want[n], "%d: %u", c->sum, n);
			KUNIT_EXPECT_EQ(test, h.flags, XCP_FLAG_E2E_LIMITED);
		}
	}
}

static struct kunit_case nxcp_merge_cases[] = {
	KUNIT_CASE(merge_test),
	KUNIT_CASE(apart_test),
	KUNIT_CASE(split_test),
	{}
};

static struct kunit_suite nxcp_merge_suite = {
	.name = "xcp_merge",
	.test_cases = nxcp_merge_cases,
};

kunit_test_suite(nxcp_merge_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of congestion headers that GRO merges");
