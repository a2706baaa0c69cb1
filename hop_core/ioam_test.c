// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the IOAM trace with values that can be checked by hand; run in the kernel and on the
 * host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of its own, which it does not export. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_ioam.c"

/*
 * Namespace 1, bits 0 to 3, 5 and 6, room for three hops, as it was seen behind two routers with
 * Linux 6.1.
 */
static const u8 lab[] = {
	0x06, 0x0a, 0x01, 0x00,
	0x31, 0x52, 0x00, 0x00, 0x00, 0x01, 0x30, 0x06, 0xf6, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x3e, 0x00, 0x00, 0x02, 0x00, 0x15, 0x00, 0x16, 0x65, 0x5a, 0x2b, 0x3c,
	0x00, 0x0f, 0x42, 0x3f, 0xca, 0xfe, 0x00, 0x02, 0x00, 0x00, 0x08, 0xfc,
	0x3f, 0x00, 0x00, 0x01, 0x00, 0x0b, 0x00, 0x0c, 0x65, 0x5a, 0x2b, 0x3c,
	0x00, 0x0f, 0x42, 0x3e, 0xca, 0xfe, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
};

static void vector_test(struct kunit *test)
{
	u32 at_bytes = 0;
	struct ioam_view v;

	KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, lab, sizeof(lab)), IOAM_OK);
	KUNIT_EXPECT_EQ(test, v.ns, 1);
	KUNIT_EXPECT_EQ(test, v.flags, 0);
	KUNIT_EXPECT_EQ(test, v.hops, 2);
	KUNIT_EXPECT_EQ(test, v.node_words, 6);
	KUNIT_EXPECT_EQ(test, v.remaining_words, 6);
	KUNIT_EXPECT_EQ(test, v.trace, 0xf60000);
	KUNIT_EXPECT_EQ(test, v.hdr_bytes, 88);
	KUNIT_EXPECT_EQ(test, v.opt_offset, 4);
	KUNIT_EXPECT_EQ(test, v.stack_offset, 40);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 48);
	KUNIT_EXPECT_EQ(test, hop_ioam_field_offset(v.trace, IOAM_QUEUE_DEPTH), 20);
	KUNIT_EXPECT_TRUE(test, hop_ioam_next(&v, lab, &at_bytes) == lab + 40);
	KUNIT_EXPECT_TRUE(test, hop_ioam_next(&v, lab, &at_bytes) == lab + 64);
	KUNIT_EXPECT_TRUE(test, !hop_ioam_next(&v, lab, &at_bytes));
}

static void cut_test(struct kunit *test)
{
	struct ioam_view v;
	u32 bytes;

	for (bytes = 0; bytes < sizeof(lab); bytes++)
		KUNIT_EXPECT_EQ_MSG(test, hop_ioam_parse(&v, lab, bytes), IOAM_BAD_TRUNCATED,
				    "%u bytes", bytes);
}

static const struct fault_case {
	const char *what;
	u8 at, value;
	enum ioam_fault want;
} fault_cases[] = {
	{ "header shorter than the option", 1, 9, IOAM_BAD_OPTIONS },
	{ "header longer than the packet", 1, 11, IOAM_BAD_TRUNCATED },
	{ "another option: the rest is padding and unknown options", 4, 0x32, IOAM_NONE },
	{ "another IOAM type", 7, 1, IOAM_NONE },
	{ "option beyond the header", 5, 0x53, IOAM_BAD_OPTIONS },
	{ "no whole number of words", 5, 0x51, IOAM_BAD_LENGTH },
	{ "room for less than three hops", 5, 0x4e, IOAM_BAD_STACK },
	{ "no room for the trace header", 5, 9, IOAM_BAD_LENGTH },
	{ "no room for data, but RemainingLen", 5, 10, IOAM_BAD_REMAINING },
	{ "NodeLen 7", 10, 0x38, IOAM_BAD_NODE_LEN },
	{ "NodeLen 5", 10, 0x28, IOAM_BAD_NODE_LEN },
	{ "overflow flag", 10, 0x34, IOAM_OK },
	{ "all data unused", 11, 18, IOAM_OK },
	{ "more data unused than there is", 11, 19, IOAM_BAD_REMAINING },
	{ "part of a hop", 11, 5, IOAM_BAD_STACK },
	{ "bit 12", 13, 0x08, IOAM_BAD_TYPE },
	{ "bit 21", 14, 0x04, IOAM_BAD_TYPE },
	{ "bit 23 is ignored", 14, 0x01, IOAM_OK },
	{ "bit 22: data that is no whole number of hops", 14, 0x02, IOAM_BAD_STACK },
	{ "bit 8 instead of bit 0", 12, 0x76, IOAM_BAD_NODE_LEN },
};

static void fault_test(struct kunit *test)
{
	u8 hdr[sizeof(lab)];
	struct ioam_view v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fault_cases); i++) {
		const struct fault_case *c = &fault_cases[i];

		memcpy(hdr, lab, sizeof(hdr));
		hdr[c->at] = c->value;
		KUNIT_EXPECT_EQ_MSG(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), c->want, "%s",
				    c->what);
	}
}

/* With each byte at each value, what is accepted is within the header, and the walk ends. */
static void bounds_test(struct kunit *test)
{
	u32 at, value, at_bytes, hops;
	u8 hdr[sizeof(lab)];
	struct ioam_view v;

	for (at = 0; at < sizeof(hdr); at++) {
		memcpy(hdr, lab, sizeof(hdr));
		for (value = 0; value <= U8_MAX; value++) {
			hdr[at] = value;
			if (hop_ioam_parse(&v, hdr, sizeof(hdr)))
				continue;
			for (hops = 0, at_bytes = 0; hop_ioam_next(&v, hdr, &at_bytes); hops++)
				;
			KUNIT_EXPECT_EQ_MSG(test, hops, v.hops, "byte %u = %u", at, value);
			KUNIT_EXPECT_LE_MSG(test, v.stack_offset + at_bytes, v.hdr_bytes,
					    "byte %u = %u", at, value);
		}
	}
}

/* A source writes the vector without its routers' data. */
static void build_test(struct kunit *test)
{
	u8 hdr[sizeof(lab)], want[sizeof(lab)] = {};
	struct ioam_view v;

	memcpy(want, lab, 16);
	want[11] = 18;
	KUNIT_ASSERT_EQ(test, hop_ioam_hdr_bytes(72), sizeof(hdr));
	KUNIT_ASSERT_EQ(test, hop_ioam_write(hdr, 6, 1, 0xf60000, 72), sizeof(hdr));
	KUNIT_EXPECT_EQ(test, memcmp(hdr, want, sizeof(want)), 0);
	KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_OK);
	KUNIT_EXPECT_EQ(test, v.hops, 0);
}

/* Every length of the data: the header is padded to a multiple of 8 bytes. */
static void length_test(struct kunit *test)
{
	u8 hdr[IOAM_HBH_BYTES + 2 + IOAM_DATA_OFFSET + IOAM_DATA_MAX_BYTES + 7];
	struct ioam_view v;
	u32 data, bytes;

	for (data = 0; data <= IOAM_DATA_MAX_BYTES; data += IOAM_WORD_BYTES) {
		bytes = hop_ioam_write(hdr, 6, 0xffff, IOAM_HPCC_BITS, data);
		KUNIT_EXPECT_EQ(test, bytes % 8, 0);
		KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, bytes), IOAM_OK);
		KUNIT_EXPECT_EQ(test, v.remaining_words * 4, data);
	}
}

/* Fields of two words, and opaque state, which NodeLen does not include. */
static void opaque_test(struct kunit *test)
{
	const u32 trace = IOAM_BIT(IOAM_NODE_WIDE) | IOAM_BIT(IOAM_OCCUPANCY) |
			  IOAM_BIT(IOAM_OPAQUE);
	static const u8 stack[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xfe,
		0x40, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xff, 0xff, 0xff, 0xff,
		0x02, 0xff, 0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	u8 hdr[64];
	struct ioam_view v;
	u32 bytes;

	bytes = hop_ioam_write(hdr, 6, 7, trace, 44);
	/* One word of 11 is left. */
	hdr[11] = 1;
	memcpy(hdr + 20, stack, sizeof(stack));
	KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, hdr, bytes), IOAM_OK);
	KUNIT_EXPECT_EQ(test, v.node_words, 3);
	KUNIT_EXPECT_EQ(test, v.hops, 2);
	KUNIT_EXPECT_EQ(test, v.stack_offset, 20);
	/* Opaque state that is longer than the data. */
	hdr[20 + 16 + 12] = 3;
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, bytes), IOAM_BAD_STACK);
}

/* Options of others in front: the trace is found behind a limited number of them. */
static void beside_test(struct kunit *test)
{
	u8 hdr[16 + sizeof(lab)] = { 0x06, 0x0c, IOAM_PADN, 12 };
	struct ioam_view v;
	u32 i;

	memcpy(hdr + 16, lab + 4, sizeof(lab) - 4);
	hdr[16 + sizeof(lab) - 4] = IOAM_PADN;
	hdr[16 + sizeof(lab) - 3] = 2;
	KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_OK);
	KUNIT_EXPECT_EQ(test, v.opt_offset, 16);
	KUNIT_EXPECT_EQ(test, v.hops, 2);
	/* A trace in front, of half a word: only the first one is read. */
	memcpy(hdr + 2, "\x31\x0c\0\0\0\2\xf8\0\xf6\0\0\0\0\0", 14);
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_BAD_LENGTH);
	/* Options without content. */
	for (i = 2; i < sizeof(hdr); i += 2) {
		hdr[i] = 0x3e;
		hdr[i + 1] = 0;
	}
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_BAD_OPTIONS);
}

/* Other options keep their alignment, whatever their padding, and behind ours at most 7 bytes. */
static void insert_test(struct kunit *test)
{
	static const u8 pads[][10] = {
		{ 0x3e, 0 }, { 0, 0x3e, 0 }, { 1, 0, 0x3e, 0 }, { 1, 4, 0, 0, 0, 0, 0x3e, 0 },
		{ 1, 5, 0, 0, 0, 0, 0, 0x3e, 0 },
	};
	u8 old[24], hdr[200];
	struct ioam_view v;
	u32 i, first, bytes, at;

	for (i = 0; i < ARRAY_SIZE(pads); i++) {
		memset(old, 0, sizeof(old));
		old[0] = 6;
		old[1] = 2;
		memcpy(old + 2, pads[i], sizeof(pads[i]));
		first = hop_ioam_first_option(old);
		KUNIT_EXPECT_EQ(test, old[first], 0x3e);
		bytes = hop_ioam_insert(hdr, old, 0, 7, IOAM_HPCC_BITS, 104);
		KUNIT_EXPECT_EQ(test, bytes, hop_ioam_insert_bytes(104, old));
		KUNIT_EXPECT_EQ(test, bytes % 8, 0);
		KUNIT_EXPECT_EQ(test, (hdr[1] + 1) * 8, bytes);
		KUNIT_EXPECT_EQ(test, hdr[0], 6);
		KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, hdr, bytes), IOAM_OK);
		KUNIT_EXPECT_EQ(test, v.ns, 7);
		KUNIT_EXPECT_EQ(test, v.remaining_words, 26);
		at = bytes - (sizeof(old) - first);
		KUNIT_EXPECT_EQ(test, at % 8, first % 8);
		KUNIT_EXPECT_EQ(test, memcmp(hdr + at, old + first, sizeof(old) - first), 0);
		/* All that is between the trace and the option is one padding option. */
		KUNIT_EXPECT_EQ(test, at - 120, first % 8);
		KUNIT_EXPECT_TRUE(test, at - 120 < 2 ? !hdr[120] || at == 120 :
				  hdr[120] == IOAM_PADN && hdr[121] == at - 122);
	}
	/* Only padding, whose last option is cut. */
	memset(old, IOAM_PADN, sizeof(old));
	old[1] = 2;
	KUNIT_EXPECT_EQ(test, hop_ioam_first_option(old), sizeof(old));
	KUNIT_EXPECT_EQ(test, hop_ioam_insert(hdr, old, 0, 7, IOAM_HPCC_BITS, 104), 120);
	KUNIT_EXPECT_EQ(test, hop_ioam_insert_bytes(104, old), 120);
}

static struct kunit_case ioam_cases[] = {
	KUNIT_CASE(vector_test),
	KUNIT_CASE(cut_test),
	KUNIT_CASE(fault_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(build_test),
	KUNIT_CASE(length_test),
	KUNIT_CASE(opaque_test),
	KUNIT_CASE(beside_test),
	KUNIT_CASE(insert_test),
	{}
};

static struct kunit_suite ioam_suite = {
	.name = "ioam",
	.test_cases = ioam_cases,
};

kunit_test_suite(ioam_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the IOAM trace");
