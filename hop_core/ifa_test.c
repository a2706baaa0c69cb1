// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the IFA headers with values that can be checked by hand; run in the kernel and on the
 * host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of its own, which it does not export. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_ifa.c"

#define ROOM_BYTES 160

/* 24 bytes of TCP, two hops of 8 words, 2 bytes of data. */
static const u8 tcp_packet[] = {
	0x2f, 0x06, 0x00, 0x28,
	0x14, 0x51, 0xc3, 0x50, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
	0x60, 0x10, 0x01, 0xf5, 0x00, 0x00, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4,
	0xf8, 0x00, 0xff, 0x10,
	0x11, 0x23, 0x45, 0x3e, 0x40, 0x5a, 0xbc, 0xde, 0x00, 0x11, 0x00, 0x22,
	0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0x02, 0x9c, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x27, 0x10, 0x00, 0x00, 0x00, 0x00,
	0x10, 0x00, 0x01, 0x3f, 0x30, 0x5a, 0xbc, 0xde, 0x00, 0x01, 0x00, 0x02,
	0x12, 0x34, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xda, 0x7a,
};

#define SHORTEST_BYTES (sizeof(tcp_packet) - 2)

static void vector_test(struct kunit *test)
{
	struct ifa_view v;

	KUNIT_ASSERT_EQ(test, hop_ifa_parse(&v, tcp_packet, sizeof(tcp_packet)), IFA_OK);
	KUNIT_EXPECT_EQ(test, v.gns, IFA_GNS_MAX);
	KUNIT_EXPECT_EQ(test, v.next, IFA_NEXT_TCP);
	KUNIT_EXPECT_EQ(test, v.max_words, 40);
	KUNIT_EXPECT_EQ(test, v.hop_limit, IFA_HOP_LIMIT_OFF);
	KUNIT_EXPECT_EQ(test, v.l4_bytes, 24);
	KUNIT_EXPECT_EQ(test, v.md_offset, 28);
	KUNIT_EXPECT_EQ(test, v.stack_offset, 32);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 64);
	KUNIT_EXPECT_EQ(test, v.shim_bytes, 68);
}

static void cut_test(struct kunit *test)
{
	struct ifa_view v;
	u32 bytes;

	for (bytes = 0; bytes < SHORTEST_BYTES; bytes++)
		KUNIT_EXPECT_EQ_MSG(test, hop_ifa_parse(&v, tcp_packet, bytes),
				    IFA_BAD_TRUNCATED, "%u bytes", bytes);
	KUNIT_EXPECT_EQ(test, hop_ifa_parse(&v, tcp_packet, bytes), IFA_OK);
}

static const struct fault_case {
	const char *what;
	u8 at, value;
	enum ifa_fault want;
} fault_cases[] = {
	{ "version 1", 0, 0x1f, IFA_BAD_VERSION },
	{ "version 3", 0, 0x3f, IFA_BAD_VERSION },
	{ "global namespace", 0, 0x20, IFA_OK },
	{ "metadata at the end", 2, IFA_FLAG_TS, IFA_BAD_TAIL },
	{ "ICMP", 1, 1, IFA_BAD_NEXT },
	{ "UDP: the metadata header is at TCP's sequence number", 1, IFA_NEXT_UDP, IFA_OK },
	{ "TCP of 16 bytes", 16, 0x40, IFA_BAD_L4 },
	{ "no room for metadata", 3, 15, IFA_BAD_LENGTH },
	{ "just room for metadata", 3, 16, IFA_OK },
	{ "one word more than there is", 31, 18, IFA_BAD_TRUNCATED },
	{ "no hop", 31, 0, IFA_OK },
};

static void fault_test(struct kunit *test)
{
	u8 packet[sizeof(tcp_packet)];
	struct ifa_view v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fault_cases); i++) {
		const struct fault_case *c = &fault_cases[i];

		memcpy(packet, tcp_packet, sizeof(packet));
		packet[c->at] = c->value;
		KUNIT_EXPECT_EQ_MSG(test, hop_ifa_parse(&v, packet, sizeof(packet)), c->want,
				    "%s", c->what);
	}
}

/* With each byte at each value, what is accepted is within the packet. */
static void bounds_test(struct kunit *test)
{
	u8 packet[sizeof(tcp_packet)];
	struct ifa_view v;
	u32 at, value;

	for (at = 0; at < sizeof(packet); at++) {
		memcpy(packet, tcp_packet, sizeof(packet));
		for (value = 0; value <= U8_MAX; value++) {
			packet[at] = value;
			if (hop_ifa_parse(&v, packet, sizeof(packet)))
				continue;
			KUNIT_EXPECT_LE_MSG(test, v.stack_offset + v.stack_bytes, sizeof(packet),
					    "byte %u = %u", at, value);
			KUNIT_EXPECT_EQ(test, IFA_HDR_BYTES + v.l4_bytes + v.shim_bytes,
					v.stack_offset + v.stack_bytes);
		}
	}
}

/* The optional words move the metadata header. */
static void option_test(struct kunit *test)
{
	u8 packet[sizeof(tcp_packet)] = {};
	struct ifa_view v;

	memcpy(packet, tcp_packet, 28);
	packet[2] = IFA_FLAG_C | IFA_FLAG_MF;
	packet[39] = 2;
	KUNIT_ASSERT_EQ(test, hop_ifa_parse(&v, packet, sizeof(packet)), IFA_OK);
	KUNIT_EXPECT_EQ(test, v.md_offset, 36);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 8);
	KUNIT_EXPECT_EQ(test, v.shim_bytes, 20);
}

/* An initiator writes the headers of the vector, without the hops' metadata. */
static void build_test(struct kunit *test)
{
	u8 packet[ROOM_BYTES] = {};
	struct ifa_view v;

	ifa_write_hdr((struct ifa_hdr *)packet, IFA_GNS_MAX, IFA_NEXT_TCP, 40);
	memcpy(packet + 4, tcp_packet + 4, 24);
	ifa_write_md((struct ifa_md *)(packet + 28), IFA_HOP_LIMIT_OFF);
	KUNIT_ASSERT_EQ(test, hop_ifa_parse(&v, packet, 34), IFA_OK);
	KUNIT_EXPECT_EQ(test, memcmp(packet, tcp_packet, 28), 0);
	KUNIT_EXPECT_EQ(test, memcmp(packet + 28, "\0\0\xff", 4), 0);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 0);
	KUNIT_EXPECT_EQ(test, v.hop_limit, IFA_HOP_LIMIT_OFF);
}

static const struct limit_case {
	u8 hop_limit, words, max_words, more;
	bool want;
} limit_cases[] = {
	{ IFA_HOP_LIMIT_OFF, 0, 8, 8, true }, { 1, 8, 16, 8, true }, { 0, 0, 8, 8, false },
	{ 2, 8, 15, 8, false }, { 2, 0, 0, 1, false },
};

/* A switch adds nothing beyond the hop limit or the maximum length. */
static void limit_test(struct kunit *test)
{
	struct ifa_md md = { .hop_limit = 2, .words = 8 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limit_cases); i++) {
		const struct limit_case *c = &limit_cases[i];
		const struct ifa_view v = {
			.hop_limit = c->hop_limit, .max_words = c->max_words,
			.stack_bytes = c->words * IFA_WORD_BYTES,
		};

		KUNIT_EXPECT_EQ_MSG(test, ifa_may_insert(&v, c->more), c->want, "case %zu", i);
	}
	ifa_count(&md, 8);
	KUNIT_EXPECT_EQ(test, md.hop_limit, 1);
	KUNIT_EXPECT_EQ(test, md.words, 16);
}

static struct kunit_case ifa_cases[] = {
	KUNIT_CASE(vector_test),
	KUNIT_CASE(cut_test),
	KUNIT_CASE(fault_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(option_test),
	KUNIT_CASE(build_test),
	KUNIT_CASE(limit_test),
	{}
};

static struct kunit_suite ifa_suite = {
	.name = "ifa",
	.test_cases = ifa_cases,
};

kunit_test_suite(ifa_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the IFA headers");
