// SPDX-License-Identifier: GPL-2.0
/* Tests of packets' arrival marks, with one user and with two. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <hopcc/lib/hop_mark.h>

#define SECRET 0x0123456789abcdefULL

static u64 random_state = 1;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * HOP_MARK_FACTOR;
}

/* A user reads its own times, across the wrap at 2^40, but none with a wrong secret. */
static void time_test(struct kunit *test)
{
	static const u64 starts_ns[] = {
		0, 1, 1700000000000000000ULL, (1ULL << 40) - 5, U64_MAX - 5,
	};
	static const u64 waits_ns[] = { 0, 1, 12345, (1ULL << 40) - 1 };
	u32 n;

	for (n = 0; n < 5 * 4; n++) {
		const u64 start_ns = starts_ns[n / 4], wait_ns = waits_ns[n % 4];
		const u64 mark = hop_mark_arrive(0, start_ns, HOP_MARK_CSIG, SECRET);
		u64 taken = mark;

		KUNIT_EXPECT_EQ_MSG(test, wait_ns,
				    hop_mark_waited_ns(mark, start_ns + wait_ns, HOP_MARK_CSIG,
						       SECRET),
				    "case %u", n);
		KUNIT_EXPECT_EQ_MSG(test, HOP_MARK_UNKNOWN_NS,
				    hop_mark_waited_ns(mark, start_ns, HOP_MARK_CSIG, SECRET + 1),
				    "another's, case %u", n);
		KUNIT_EXPECT_EQ_MSG(test, HOP_MARK_UNKNOWN_NS,
				    hop_mark_waited_ns(mark, start_ns, HOP_MARK_INT, SECRET),
				    "another user's, case %u", n);
		KUNIT_EXPECT_EQ_MSG(test, wait_ns,
				    hop_mark_take(&taken, start_ns + wait_ns, HOP_MARK_CSIG,
						  SECRET),
				    "taken, case %u", n);
		KUNIT_EXPECT_EQ_MSG(test, taken, 0ULL, "left behind, case %u", n);
	}
}

/* An overwritten mark is not accepted: neither one with one bit changed nor a random value. */
static void check_test(struct kunit *test)
{
	const u64 mark = hop_mark(12345, HOP_MARK_INT, SECRET);
	u32 n, taken = 0;

	for (n = HOP_MARK_USER_BITS; n < 64; n++)
		taken += !!hop_mark_users(mark ^ 1ULL << n, SECRET);
	KUNIT_EXPECT_EQ(test, taken, 0U);
	/* The expected number is 1000000 / 2^22 * 3/4 = 0.18. */
	for (n = 0; n < 1000000; n++)
		taken += !!hop_mark_users(random_u64(), SECRET);
	KUNIT_EXPECT_LE(test, taken, 3U);
	KUNIT_EXPECT_EQ(test, hop_mark_users(0, SECRET), 0ULL);
	KUNIT_EXPECT_EQ(test, hop_mark_users(0, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, hop_mark_leave(0x5555, HOP_MARK_INT, SECRET), 0x5555ULL);
}

/*
 * Steps by letter: I, C: the packet arrives at int, at csig; i, c: it leaves int, csig; w: 100 ns
 * pass; x: the mark is overwritten. Expected: the time that each of them reads, and if a mark is
 * left.
 */
static const struct users_case {
	const char *what, *steps;
	u64 int_ns, csig_ns;
	bool left;
} users_cases[] = {
	{ "nobody", "w", HOP_MARK_UNKNOWN_NS, HOP_MARK_UNKNOWN_NS, false },
	{ "csig around int", "CIw", 100, 100, true },
	{ "int around csig", "ICw", 100, 100, true },
	{ "the inner one has it first", "CIwi", HOP_MARK_UNKNOWN_NS, 100, true },
	{ "both have had it", "CIwic", HOP_MARK_UNKNOWN_NS, HOP_MARK_UNKNOWN_NS, false },
	{ "leaving twice", "CIwiic", HOP_MARK_UNKNOWN_NS, HOP_MARK_UNKNOWN_NS, false },
	{ "what is between keeps it for a while", "CwIw", 200, 200, true },
	{ "taken out sideways, and here again", "CwCw", HOP_MARK_UNKNOWN_NS, 100, true },
	{ "a child's twin goes in again", "CICIw", 100, 100, true },
	{ "overwritten on the way", "CxIw", 100, HOP_MARK_UNKNOWN_NS, true },
	{ "overwritten within", "CIxw", HOP_MARK_UNKNOWN_NS, HOP_MARK_UNKNOWN_NS, true },
	{ "the next packet's port", "CIwicCw", HOP_MARK_UNKNOWN_NS, 100, true },
};

static u64 mark_after(const char *steps, u64 *now_ns)
{
	u64 mark = 0;

	for (; *steps; steps++) {
		switch (*steps) {
		case 'I':
			mark = hop_mark_arrive(mark, *now_ns, HOP_MARK_INT, SECRET);
			break;
		case 'C':
			mark = hop_mark_arrive(mark, *now_ns, HOP_MARK_CSIG, SECRET);
			break;
		case 'i':
			mark = hop_mark_leave(mark, HOP_MARK_INT, SECRET);
			break;
		case 'c':
			mark = hop_mark_leave(mark, HOP_MARK_CSIG, SECRET);
			break;
		case 'w':
			*now_ns += 100;
			break;
		case 'x':
			mark = 0x1234567890abcdefULL;
			break;
		}
	}
	return mark;
}

static void users_test(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(users_cases); i++) {
		const struct users_case *c = &users_cases[i];
		u64 now_ns = 1700000000000000000ULL;
		const u64 mark = mark_after(c->steps, &now_ns);

		KUNIT_EXPECT_EQ_MSG(test, c->int_ns,
				    hop_mark_waited_ns(mark, now_ns, HOP_MARK_INT, SECRET),
				    "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, c->csig_ns,
				    hop_mark_waited_ns(mark, now_ns, HOP_MARK_CSIG, SECRET),
				    "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, c->left, !!mark, "%s", c->what);
	}
}

static struct kunit_case hop_mark_cases[] = {
	KUNIT_CASE(time_test),
	KUNIT_CASE(check_test),
	KUNIT_CASE(users_test),
	{}
};

static struct kunit_suite hop_mark_suite = {
	.name = "hop_mark",
	.test_cases = hop_mark_cases,
};

kunit_test_suite(hop_mark_suite);

MODULE_DESCRIPTION("KUnit tests of arrival times that packets carry");
MODULE_LICENSE("GPL");
