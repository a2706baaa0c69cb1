// SPDX-License-Identifier: GPL-2.0
/* Tests of the link's clock against exact integer arithmetic. */

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/types.h>

#include "link_clock.h"

#define FULL_FRAME_BYTES 1538

/* To check by hand: gap = 1538 * 8e9 / rate; total = a million gaps, rounded up. */
static const struct {
	u64 rate_bits_ps;
	u64 gap_min_ns;
	u64 gap_max_ns;
	u64 total_ns;
} gap_cases[] = {
	{ 10000,		1230400000, 1230400000, 1230400000000000 },
	{ 10000000,		1230400,    1230400,    1230400000000 },
	{ 1000000000,		12304,	    12304,      12304000000 },
	{ 10000000000,		1230,	    1231,       1230400000 },
	{ 100000000000,		123,	    124,        123040000 },
	{ 800000000000,		15,	    16,         15380000 },
	{ 1600000000000,	7,	    8,		7690000 },
	/* 12304e9 / 3 and / 7: never whole */
	{ 3000000000,		4101,	    4102,       4101333334 },
	{ 7000000000,		1757,	    1758,       1757714286 },
};

static void gaps_test(struct kunit *test)
{
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(gap_cases); i++) {
		struct link_clock_params params;
		struct link_clock_vars vars = {};
		u64 last_ns = 0, min_ns = ~0ULL, max_ns = 0, free_ns = 0;

		link_clock_set_rate(&params, gap_cases[i].rate_bits_ps);
		for (n = 0; n < 1000000; n++) {
			free_ns = link_clock_send(&params, &vars, FULL_FRAME_BYTES);
			min_ns = free_ns - last_ns < min_ns ? free_ns - last_ns : min_ns;
			max_ns = free_ns - last_ns > max_ns ? free_ns - last_ns : max_ns;
			last_ns = free_ns;
		}
		KUNIT_EXPECT_EQ(test, min_ns, gap_cases[i].gap_min_ns);
		KUNIT_EXPECT_EQ(test, max_ns, gap_cases[i].gap_max_ns);
		KUNIT_EXPECT_EQ(test, free_ns, gap_cases[i].total_ns);
	}
}

/* Sizes from 42 to 9041 bytes: after every packet the clock is the exact time, rounded up. */
static void sizes_test(struct kunit *test)
{
	static const u64 rates_bits_ps[] = {
		10000000, 999999937, 10000000000, 123456789012, 800000000000,
	};
	u64 wrong = 0;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(rates_bits_ps); i++) {
		struct link_clock_params params;
		struct link_clock_vars vars = {};
		u64 ideal_ns = 0, ideal_rem = 0;
		u32 size_bytes = 42;

		link_clock_set_rate(&params, rates_bits_ps[i]);
		for (n = 0; n < 200000; n++) {
			u64 free_ns = link_clock_send(&params, &vars, size_bytes);
			u64 ideal = size_bytes * 8000000000ULL + ideal_rem;
			u64 gap_ns = div64_u64(ideal, rates_bits_ps[i]);

			ideal_ns += gap_ns;
			ideal_rem = ideal - gap_ns * rates_bits_ps[i];
			wrong += free_ns != ideal_ns + !!ideal_rem;
			size_bytes = 42 + (size_bytes * 31 + n) % 9000;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0ULL);
}

/* A busy transmitter keeps its fraction when a packet arrives; an idle one starts at once. */
static void wake_test(struct kunit *test)
{
	struct link_clock_params params;
	struct link_clock_vars vars = {};

	link_clock_set_rate(&params, 10000000000ULL);
	link_clock_wake(&vars, 1000);
	KUNIT_EXPECT_EQ(test, link_clock_free_ns(&vars), 1000ULL);
	/* 1230.4 */
	KUNIT_EXPECT_EQ(test, link_clock_send(&params, &vars, 1538), 2231ULL);
	link_clock_wake(&vars, 2230);
	KUNIT_EXPECT_EQ(test, link_clock_send(&params, &vars, 1538), 3461ULL);
	link_clock_wake(&vars, 3461);
	KUNIT_EXPECT_EQ(test, link_clock_send(&params, &vars, 1538), 4692ULL);
	link_clock_wake(&vars, 9000);
	KUNIT_EXPECT_EQ(test, link_clock_free_ns(&vars), 9000ULL);
}

static struct kunit_case link_clock_cases[] = {
	KUNIT_CASE(gaps_test),
	KUNIT_CASE(sizes_test),
	KUNIT_CASE(wake_test),
	{}
};

static struct kunit_suite link_clock_suite = {
	.name = "link_clock",
	.test_cases = link_clock_cases,
};

kunit_test_suite(link_clock_suite);

MODULE_DESCRIPTION("hopcc: test of the link's clock");
MODULE_LICENSE("GPL");
