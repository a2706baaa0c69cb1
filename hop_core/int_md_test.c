// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of INT-MD with values that can be checked by hand; run in the kernel and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of its own, which it does not export. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_intmd.c"

#define ROOM_BYTES 256

/* DSCP 46, two hops with node, ports, queue, egress time and utilisation, 3 bytes of data. */
static const u8 vector[] = {
	0x10, 0x0f, 0x00, 0xb8,
	0x20, 0x00, 0x06, 0x03, 0xd5, 0x00, 0x00, 0x2a, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x02, 0x00, 0x03, 0x00, 0x04, 0x05, 0x00, 0x08, 0xfc,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x07, 0xa1, 0x20,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x02, 0x00, 0xff, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0xff, 0xff, 0xff, 0xff,
	0xda, 0x7a, 0x00,
};

#define SHORTEST_BYTES (sizeof(vector) - 3)

static void vector_test(struct kunit *test)
{
	struct intmd_view v;

	KUNIT_ASSERT_EQ(test, hop_intmd_parse(&v, vector, sizeof(vector)), INTMD_OK);
	KUNIT_EXPECT_EQ(test, v.npt, INTMD_NPT_DSCP);
	KUNIT_EXPECT_EQ(test, v.original, 46);
	KUNIT_EXPECT_EQ(test, v.flags, 0);
	KUNIT_EXPECT_EQ(test, v.hops, 2);
	KUNIT_EXPECT_EQ(test, v.hop_words, 6);
	KUNIT_EXPECT_EQ(test, v.remaining_hops, 3);
	KUNIT_EXPECT_EQ(test, v.bitmap, INTMD_HPCC_BITS);
	KUNIT_EXPECT_EQ(test, v.domain, 42);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 48);
	KUNIT_EXPECT_EQ(test, v.shim_bytes, 64);
	KUNIT_EXPECT_EQ(test, hop_intmd_field_offset(v.bitmap, INTMD_EGRESS_TIME), 12);
	KUNIT_EXPECT_EQ(test, hop_intmd_field_offset(v.bitmap, INTMD_UTIL), 20);
}

static void cut_test(struct kunit *test)
{
	struct intmd_view v;
	u32 bytes;

	for (bytes = 0; bytes < SHORTEST_BYTES; bytes++)
		KUNIT_EXPECT_EQ_MSG(test, hop_intmd_parse(&v, vector, bytes), INTMD_BAD_TRUNCATED,
				    "%u bytes", bytes);
	KUNIT_EXPECT_EQ(test, hop_intmd_parse(&v, vector, bytes), INTMD_OK);
}

static const struct fault_case {
	const char *what;
	u8 at, value;
	enum intmd_fault want;
} fault_cases[] = {
	{ "type 2, INT-MX", 0, 0x20, INTMD_BAD_TYPE },
	{ "type 0", 0, 0x00, INTMD_BAD_TYPE },
	{ "NPT 1", 0, 0x14, INTMD_OK },
	{ "NPT 2", 0, 0x18, INTMD_OK },
	{ "NPT 3", 0, 0x1c, INTMD_BAD_NPT },
	{ "reserved bits of the shim are ignored", 0, 0x13, INTMD_OK },
	{ "no room for the header", 1, 2, INTMD_BAD_LENGTH },
	{ "no hop", 1, 3, INTMD_OK },
	{ "part of a hop", 1, 8, INTMD_BAD_STACK },
	{ "one hop", 1, 9, INTMD_OK },
	{ "longer than the packet", 1, 16, INTMD_BAD_TRUNCATED },
	{ "version 1", 4, 0x10, INTMD_BAD_VERSION },
	{ "a copy", 4, 0x28, INTMD_OK },
	{ "hop ML 0", 6, 0, INTMD_BAD_HOP_ML },
	{ "hop ML 5", 6, 5, INTMD_BAD_HOP_ML },
	{ "hop ML 12: with words of the domain", 6, 12, INTMD_OK },
	{ "hop ML 7", 6, 7, INTMD_BAD_STACK },
	{ "bit 8 needs a word more", 9, 0x80, INTMD_BAD_HOP_ML },
	{ "bit 9", 9, 0x40, INTMD_BAD_BITMAP },
	{ "bit 14", 9, 0x02, INTMD_BAD_BITMAP },
};

static void fault_test(struct kunit *test)
{
	u8 packet[sizeof(vector)];
	struct intmd_view v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fault_cases); i++) {
		const struct fault_case *c = &fault_cases[i];

		memcpy(packet, vector, sizeof(packet));
		packet[c->at] = c->value;
		KUNIT_EXPECT_EQ_MSG(test, hop_intmd_parse(&v, packet, sizeof(packet)), c->want,
				    "%s", c->what);
	}
}

/* With each byte at each value, what is accepted is within the packet. */
static void bounds_test(struct kunit *test)
{
	u8 packet[sizeof(vector)];
	struct intmd_view v;
	u32 at, value;

	for (at = 0; at < SHORTEST_BYTES; at++) {
		memcpy(packet, vector, sizeof(packet));
		for (value = 0; value <= U8_MAX; value++) {
			packet[at] = value;
			if (hop_intmd_parse(&v, packet, sizeof(packet)))
				continue;
			KUNIT_EXPECT_LE_MSG(test, v.shim_bytes, sizeof(packet), "byte %u = %u", at,
					    value);
			KUNIT_EXPECT_EQ(test, v.hops * v.hop_words * 4, v.stack_bytes);
			KUNIT_EXPECT_EQ(test, v.stack_bytes + INTMD_STACK_OFFSET, v.shim_bytes);
		}
	}
}

/* A source writes the headers of the vector, before its two hops of six words have added theirs. */
static void build_test(struct kunit *test)
{
	u8 packet[ROOM_BYTES] = {}, want[INTMD_STACK_OFFSET];
	struct intmd_view v;

	memcpy(want, vector, sizeof(want));
	want[1] -= 12;
	want[7] += 2;
	hop_intmd_write((struct intmd_hdr *)packet, INTMD_NPT_DSCP, 46, INTMD_HPCC_BITS, 42, 5);
	KUNIT_EXPECT_EQ(test, memcmp(packet, want, sizeof(want)), 0);
	KUNIT_ASSERT_EQ(test, hop_intmd_parse(&v, packet, 19), INTMD_OK);
	KUNIT_EXPECT_EQ(test, v.hops, 0);
	KUNIT_EXPECT_EQ(test, v.remaining_hops, 5);
}

/* NPT names the kind of the value that the header replaced. */
static void npt_test(struct kunit *test)
{
	static const u16 want[] = { 46, 4791, 6 };
	u8 packet[ROOM_BYTES] = {};
	struct intmd_view v;
	u8 npt;

	for (npt = 0; npt <= INTMD_NPT_MAX; npt++) {
		hop_intmd_write((struct intmd_hdr *)packet, npt, want[npt],
				INTMD_BIT(INTMD_NODE), 7, 1);
		KUNIT_ASSERT_EQ(test, hop_intmd_parse(&v, packet, 16), INTMD_OK);
		KUNIT_EXPECT_EQ(test, v.original, want[npt]);
	}
}

static struct kunit_case int_md_cases[] = {
	KUNIT_CASE(vector_test),
	KUNIT_CASE(cut_test),
	KUNIT_CASE(fault_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(build_test),
	KUNIT_CASE(npt_test),
	{}
};

static struct kunit_suite int_md_suite = {
	.name = "int_md",
	.test_cases = int_md_cases,
};

kunit_test_suite(int_md_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of INT-MD");
