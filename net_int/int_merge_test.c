// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of merging INT headers in GRO with values that can be checked by hand; run in the kernel
 * and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "int_carrier.h"

#define SLOTS 2
#define COOKIE 0x55667788

struct shim {
	struct int_hdr h;
	u8 room[INT_HDR_BYTES - sizeof(struct int_hdr) + SLOTS * INT_RECORD_BYTES + INT_TAIL_BYTES];
};

/* A header from a path of one hop, whose record is @mark. */
static struct shim header(u32 id, u32 mark)
{
	struct shim s;
	struct int_tail *tail;

	int_write(&s.h, 6, INT_TYPE_DATA, 0, SLOTS);
	s.h.path = cpu_to_be32(1 << INT_HOPS_SHIFT | 5 << INT_PATH_ID_SHIFT);
	s.h.record[0] = cpu_to_be64(mark);
	tail = (struct int_tail *)nint_tail_of(&s.h);
	*tail = (struct int_tail){ .first = cpu_to_be32(id), .second = cpu_to_be32(COOKIE) };
	return s;
}

static const struct id_case {
	u32 held, next;
	bool want;
} id_cases[] = {
	{ 5, 5, true }, { 5, 6, true }, { 5, 1005, true }, { 5, 4, false },
	{ U32_MAX, 0, true }, { 0, U32_MAX, false },
};

static void id_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(id_cases); i++) {
		const struct id_case *c = &id_cases[i];
		const struct shim held = header(c->held, 1), s = header(c->next, 2);

		KUNIT_EXPECT_EQ_MSG(test, nint_may_merge(&held.h, &s.h), c->want, "%u, %u",
				    c->held, c->next);
	}
}

/* The latest header replaces the held one, to the last byte of its tail and no further. */
static void newest_test(struct kunit *test)
{
	struct { struct shim s; u8 behind; } held = { .s = header(1, 7), .behind = 0xa5 };
	const struct shim s = header(2, 9);

	KUNIT_EXPECT_EQ(test, nint_shim_bytes(&s.h), sizeof(s));
	nint_merge(&held.s.h, &s.h);
	KUNIT_EXPECT_EQ(test, memcmp(&held.s, &s, sizeof(s)), 0);
	KUNIT_EXPECT_EQ(test, held.behind, 0xa5);
}

/*
 * A difference in any bit of the fields that must be equal prevents merging; records, options and
 * padding may differ.
 */
static void apart_test(struct kunit *test)
{
	const u32 records = offsetof(struct int_hdr, record);
	const u32 id = sizeof(struct shim) - INT_TAIL_BYTES;
	const struct shim held = header(4, 1);
	struct shim s;
	u32 bit;

	for (bit = 0; bit < 8 * sizeof(s); bit++) {
		const u32 at = bit / 8;

		s = held;
		((u8 *)&s)[at] ^= 1 << bit % 8;
		/* id_test() tests IDs. */
		if (at >= id && at < id + 4)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, nint_may_merge(&held.h, &s.h), at >= records && at < id,
				    "byte %u", at);
	}
}

static struct kunit_case nint_merge_cases[] = {
	KUNIT_CASE(id_test),
	KUNIT_CASE(newest_test),
	KUNIT_CASE(apart_test),
	{}
};

static struct kunit_suite nint_merge_suite = {
	.name = "int_merge",
	.test_cases = nint_merge_cases,
};

kunit_test_suite(nint_merge_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of INT headers that GRO merges");
