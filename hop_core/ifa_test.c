// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the IFA headers with values that can be checked by hand; run in the kernel and on the
 * host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include <hopcc/wire/ifa.h>

#define ROOM_BYTES 160

static const struct ifa_params as_default;

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

	KUNIT_ASSERT_EQ(test, ifa_parse(&v, &as_default, tcp_packet, sizeof(tcp_packet)), IFA_OK);
	KUNIT_EXPECT_EQ(test, v.gns, IFA_GNS_LOCAL);
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
		KUNIT_EXPECT_EQ_MSG(test, ifa_parse(&v, &as_default, tcp_packet, bytes),
				    IFA_BAD_TRUNCATED, "%u bytes", bytes);
	KUNIT_EXPECT_EQ(test, ifa_parse(&v, &as_default, tcp_packet, bytes), IFA_OK);
}

static const struct fault_case {
	const char *what;
	u8 at, value;
	struct ifa_params p;
	enum ifa_fault want;
} fault_cases[] = {
	{ "version 1", 0, 0x1f, {}, IFA_BAD_VERSION },
	{ "version 3", 0, 0x3f, {}, IFA_BAD_VERSION },
	{ "global namespace", 0, 0x20, {}, IFA_OK },
	{ "metadata at the end", 2, IFA_FLAG_TS, {}, IFA_BAD_TAIL },
	{ "ICMP", 1, 1, {}, IFA_BAD_NEXT },
	{ "UDP: the metadata header is at TCP's sequence number", 1, IFA_NEXT_UDP, {}, IFA_OK },
	{ "TCP of 16 bytes", 16, 0x40, {}, IFA_BAD_L4 },
	{ "20 bytes of TCP: the option is the metadata header", 0, 0x2f, { .tcp_bytes = 20 },
	  IFA_BAD_LENGTH },
	{ "TCP shorter than configured", 0, 0x2f, { .tcp_bytes = 28 }, IFA_BAD_L4 },
	{ "no room for metadata", 3, 15, {}, IFA_BAD_LENGTH },
	{ "just room for metadata", 3, 16, {}, IFA_OK },
	{ "one word more than there is", 31, 18, {}, IFA_BAD_TRUNCATED },
	{ "with its header, one word less", 31, 17, { .md_counted = true }, IFA_OK },
	{ "without its header", 31, 0, { .md_counted = true }, IFA_BAD_LENGTH },
	{ "no hop", 31, 0, {}, IFA_OK },
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
		KUNIT_EXPECT_EQ_MSG(test, ifa_parse(&v, &c->p, packet, sizeof(packet)), c->want,
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
			if (ifa_parse(&v, &as_default, packet, sizeof(packet)))
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
	KUNIT_ASSERT_EQ(test, ifa_parse(&v, &as_default, packet, sizeof(packet)), IFA_OK);
	KUNIT_EXPECT_EQ(test, v.md_offset, 36);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 8);
	KUNIT_EXPECT_EQ(test, v.shim_bytes, 20);
}

/* An initiator and two transit switches write the vector. */
static void build_test(struct kunit *test)
{
	const u32 stack = 32, node_bytes = 32;
	u8 packet[ROOM_BYTES] = {};
	struct ifa_view v;
	u32 bytes = 34;

	ifa_write_hdr((struct ifa_hdr *)packet, IFA_GNS_LOCAL, IFA_NEXT_TCP, 40);
	memcpy(packet + 4, tcp_packet + 4, 24);
	ifa_write_md((struct ifa_md *)(packet + 28), &as_default, 0xf8, IFA_HOP_LIMIT_OFF);
	memcpy(packet + 32, tcp_packet + SHORTEST_BYTES, 2);
	KUNIT_ASSERT_EQ(test, ifa_parse(&v, &as_default, packet, bytes), IFA_OK);
	KUNIT_EXPECT_EQ(test, v.stack_bytes, 0);
	bytes = ifa_insert(&v, packet, bytes, sizeof(packet), tcp_packet + stack + node_bytes, 8);
	bytes = ifa_insert(&v, packet, bytes, sizeof(packet), tcp_packet + stack, 8);
	KUNIT_ASSERT_EQ(test, bytes, sizeof(tcp_packet));
	KUNIT_EXPECT_EQ(test, memcmp(packet, tcp_packet, bytes), 0);
}

/* A switch adds nothing beyond the hop limit, the maximum length or the buffer. */
static void limit_test(struct kunit *test)
{
	const u8 node[32] = { 1 };
	u8 packet[ROOM_BYTES] = {};
	struct ifa_view v;

	ifa_write_hdr((struct ifa_hdr *)packet, 1, IFA_NEXT_UDP, 9);
	ifa_write_md((struct ifa_md *)(packet + 12), &as_default, 0, 2);
	KUNIT_ASSERT_EQ(test, ifa_parse(&v, &as_default, packet, 16), IFA_OK);
	KUNIT_EXPECT_EQ(test, ifa_insert(&v, packet, 16, 47, node, 8), 16);
	KUNIT_EXPECT_EQ(test, ifa_insert(&v, packet, 16, 48, node, 8), 48);
	KUNIT_EXPECT_EQ(test, packet[14], 1);
	KUNIT_EXPECT_FALSE(test, ifa_may_insert(&v, 2));
	KUNIT_EXPECT_EQ(test, ifa_insert(&v, packet, 48, 52, node, 1), 52);
	KUNIT_EXPECT_EQ(test, packet[14], 0);
	KUNIT_EXPECT_EQ(test, packet[15], 9);
	KUNIT_EXPECT_FALSE(test, ifa_may_insert(&v, 0));
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
