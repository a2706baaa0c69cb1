// SPDX-License-Identifier: GPL-2.0
/* Tests: does data carry another vendor's format? Run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "int_source.h"

#define NOW_NS 1000000000ULL
/* A pause, and almost one. */
#define PAUSE_NS (INT_PAUSE_NS + (2ULL << NINT_SOURCE_TIME_SHIFT))
#define SHORT_NS (INT_PAUSE_NS - (2ULL << NINT_SOURCE_TIME_SHIFT))
/* Some wrap. */
#define SEQ (U32_MAX - 1000)
#define ID U32_MAX

/* A connection whose data has the format up to SEQ, and whose latest probe with it is ID + 2. */
static struct nint_source sending(void)
{
	struct nint_source s = { .stage = NINT_SOURCE_ASKING };

	nint_source_probe_sent(&s, ID, true);
	nint_source_probe_sent(&s, ID + 1, true);
	nint_source_answered(&s, ID, ID + 2, true, true);
	nint_source_data_sent(&s, SEQ, NOW_NS);
	return s;
}

/* Only an answer to a probe with the format proves it. */
static void proof_test(struct kunit *test)
{
	struct nint_source s = { .stage = NINT_SOURCE_ASKING };

	nint_source_answered(&s, ID, ID, true, true);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_ASKING);
	nint_source_probe_sent(&s, ID, true);
	nint_source_answered(&s, ID - 1, ID, true, true);
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_data(&s, SEQ, SEQ));
	/* A probe that could not have it. */
	nint_source_probe_sent(&s, ID + 1, false);
	nint_source_answered(&s, ID + 1, ID + 1, true, true);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_ASKING);
	nint_source_probe_sent(&s, ID + 2, true);
	nint_source_probe_sent(&s, ID + 3, true);
	/* INT-MD without the mark. */
	nint_source_answered(&s, ID + 2, ID + 3, false, true);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_ASKED);
	/* The report itself is not needed. */
	nint_source_answered(&s, ID + 2, ID + 3, true, false);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_PROVEN);
	KUNIT_EXPECT_TRUE(test, nint_source_is_on_data(&s, SEQ, SEQ));
	KUNIT_EXPECT_EQ(test, s.id, ID + 3);
}

/* A connection that is not configured does nothing. */
static void off_test(struct kunit *test)
{
	struct nint_source s = {};

	KUNIT_EXPECT_TRUE(test, nint_source_is_on_probe(&s, NOW_NS));
	nint_source_probe_sent(&s, ID, true);
	nint_source_answered(&s, ID, ID, true, true);
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_data(&s, SEQ, SEQ));
	KUNIT_EXPECT_FALSE(test, nint_source_lost(&s, SEQ));
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_OFF);
}

/* Probes have the format while data has none, and after a pause. */
static void probe_test(struct kunit *test)
{
	struct nint_source s = sending();

	KUNIT_EXPECT_FALSE(test, nint_source_is_on_probe(&s, NOW_NS));
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_probe(&s, NOW_NS + SHORT_NS));
	KUNIT_EXPECT_TRUE(test, nint_source_is_on_probe(&s, NOW_NS + PAUSE_NS));
	/* The first data after the pause ends it. */
	nint_source_data_sent(&s, SEQ + 1, NOW_NS + PAUSE_NS);
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_probe(&s, NOW_NS + PAUSE_NS));
}

/* New data has it, also where sequence numbers wrap; data that is sent again has not. */
static void data_test(struct kunit *test)
{
	struct nint_source s = sending();

	KUNIT_EXPECT_TRUE(test, nint_source_is_on_data(&s, SEQ, SEQ));
	KUNIT_EXPECT_TRUE(test, nint_source_is_on_data(&s, SEQ + 2000, SEQ + 2000));
	KUNIT_EXPECT_TRUE(test, nint_source_is_on_data(&s, SEQ + 2000, SEQ));
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_data(&s, SEQ, SEQ + 2000));
	/* This host has dropped it, so SND.NXT is as before. */
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_data(&s, SEQ - 1000, SEQ - 1000));
}

/* The third loss of data stops it. */
static void loss_test(struct kunit *test)
{
	struct nint_source s = sending();
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, nint_source_lost(&s, SEQ));
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_SENDING);
	for (i = 1; i < NINT_SOURCE_LOSSES; i++) {
		KUNIT_EXPECT_FALSE(test, nint_source_lost(&s, SEQ - 1000));
		/* The next ones are the same loss. */
		KUNIT_EXPECT_FALSE(test, nint_source_lost(&s, SEQ - 1));
		KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_ASKING);
		/* A probe that was underway without the format proves nothing. */
		nint_source_probe_sent(&s, ID + 10 * i, true);
		nint_source_answered(&s, ID + 10 * i - 1, ID + 10 * i, true, true);
		KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_ASKED);
		nint_source_answered(&s, ID + 10 * i, ID + 10 * i, true, true);
		nint_source_data_sent(&s, SEQ, NOW_NS);
	}
	KUNIT_EXPECT_TRUE(test, nint_source_lost(&s, SEQ - 1));
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_STOPPED);
	KUNIT_EXPECT_FALSE(test, nint_source_is_on_data(&s, SEQ, SEQ));
	KUNIT_EXPECT_TRUE(test, nint_source_is_on_probe(&s, NOW_NS));
	nint_source_probe_sent(&s, ID + 100, true);
	nint_source_answered(&s, ID + 100, ID + 100, true, true);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_STOPPED);
}

/* Lose data, and return to SENDING; then receive a number of reports. */
static void lose(struct nint_source *s, u32 id, unsigned int reports)
{
	nint_source_lost(s, SEQ - 1);
	nint_source_probe_sent(s, id, true);
	nint_source_answered(s, id, id, true, true);
	if (s->stage != NINT_SOURCE_PROVEN)
		return;
	nint_source_data_sent(s, SEQ, NOW_NS);
	/* Neither one to a probe with the format shows that data arrives, nor one without U. */
	nint_source_answered(s, id, id, true, true);
	nint_source_answered(s, id + 1, id + 1, true, false);
	while (reports--) {
		id++;
		nint_source_answered(s, id, id, true, true);
	}
}

/* Losses by congestion are forgotten; those of a path that drops a part of the data are not. */
static void forget_test(struct kunit *test)
{
	struct nint_source s = sending();
	unsigned int i;

	for (i = 0; i < 10 * NINT_SOURCE_LOSSES; i++)
		lose(&s, ID + 100 * i, NINT_SOURCE_REPORTS);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_SENDING);
	for (i = 0; i < NINT_SOURCE_LOSSES; i++)
		lose(&s, ID + 100 * i, NINT_SOURCE_REPORTS - 1);
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_STOPPED);
}

/* A connection whose packets cannot get the header stops it; one now and then does not. */
static void miss_test(struct kunit *test)
{
	struct nint_source s = sending();
	unsigned int i;

	for (i = 1; i < NINT_SOURCE_MISSES; i++)
		KUNIT_EXPECT_FALSE(test, nint_source_missed(&s));
	nint_source_data_sent(&s, SEQ, NOW_NS);
	for (i = 1; i < NINT_SOURCE_MISSES; i++)
		KUNIT_EXPECT_FALSE(test, nint_source_missed(&s));
	KUNIT_EXPECT_TRUE(test, nint_source_missed(&s));
	KUNIT_EXPECT_EQ(test, s.stage, NINT_SOURCE_STOPPED);
	KUNIT_EXPECT_FALSE(test, nint_source_missed(&s));
}

static struct kunit_case int_source_cases[] = {
	KUNIT_CASE(proof_test),
	KUNIT_CASE(off_test),
	KUNIT_CASE(probe_test),
	KUNIT_CASE(data_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(forget_test),
	KUNIT_CASE(miss_test),
	{}
};

static struct kunit_suite int_source_suite = {
	.name = "int_source",
	.test_cases = int_source_cases,
};

kunit_test_suite(int_source_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the decision if data carries another vendor's format");
