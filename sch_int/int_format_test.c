// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what a hop writes into telemetry of other switches, byte by byte; run in the kernel and
 * on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of its own, which it does not export. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "../hop_core/hop_ifa.c"
#include "../hop_core/hop_intmd.c"
#include "../hop_core/hop_ioam.c"
#include "../net_tlm/int_layout.c"
#include "int_format.c"

#define SCHEMA 0x494e54

/* 10 Gbit/s; 0x5abcde s, 305419896 ns, of which 668 ns in the qdisc */
static const struct sint_node node = {
	.now_ns = 0x5abcdeULL * SINT_NS_PER_S + 305419896 + 668,
	.real_ns = 0x655a2b3cULL * SINT_NS_PER_S + 999999000 + 12345,
	.waited_ns = 668,
	.queue_bytes = 10000,
	.scaled_queue_bytes = 14000,
	.scaled_tx_bytes = 0x1122334455667788ULL,
	.id = 0x12345,
	.util_ppm = 500000,
	.mbit_ps = 10000,
	.schema = SCHEMA,
	.record = (__force __be64)0x0807060504030201ULL,
	.egress = 0x0011,
	.ingress = 0x0022,
	.ttl = 62,
};

static void ifa_test(struct kunit *test)
{
	static const u8 want[SINT_IFA_BYTES] = {
		0x01, 0x23, 0x45, 0x3e, 0x00, 0x0a, 0xbc, 0xde, 0x00, 0x11, 0x00, 0x22,
		0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0x02, 0x9c, 0x55, 0x66, 0x77, 0x88,
		0x00, 0x00, 0x36, 0xb0, 0x00, 0x00, 0x36, 0xb0,
	};
	u8 got[SINT_IFA_BYTES];

	sint_ifa_node(got, &node);
	KUNIT_EXPECT_EQ(test, memcmp(got, want, sizeof(want)), 0);
}

/* Our layout for a receiver: Trident3's with the counter */
static struct int_layout ifa_layout(void)
{
	struct int_layout l = ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3];

	l.field[INT_LAYOUT_TX] = (struct int_layout_field) { .bit = 160, .width = 32, .mul = 1 };
	return l;
}

/* The record that is read from what was written has all that the law needs. */
static void ifa_both_directions_test(struct kunit *test)
{
	static const u8 none[TLM_ELEMENTS_MAX];
	const struct int_layout l = ifa_layout();
	const struct tlm_table t = { .layout = &l, .layouts = 1 };
	u8 bytes[SINT_IFA_BYTES];
	const struct ntlm_node n = { .l = &l, .data = bytes, .element_at = none };
	struct tlm_record r;

	KUNIT_ASSERT_TRUE(test, !ntlm_check(&l));
	sint_ifa_node(bytes, &node);
	memset(&r, 0, sizeof(r));
	ntlm_decode(&r, &t, &n);
	KUNIT_EXPECT_EQ(test, r.node_id, 0x12345);
	KUNIT_EXPECT_EQ(test, r.port_id, 0x11);
	KUNIT_EXPECT_EQ(test, r.mbit_ps, 10000);
	KUNIT_EXPECT_EQ(test, r.queue_bytes, 14000);
	KUNIT_EXPECT_EQ(test, r.residence_ns, 668);
	KUNIT_EXPECT_EQ(test, r.tx_bytes, 0x55667788);
	KUNIT_EXPECT_EQ(test, r.ts_ns, 0xabcdeULL * SINT_NS_PER_S + 305419896 + 668);
}

static const struct bound_case {
	const char *what;
	struct sint_node n;
	u32 word[SINT_IFA_WORDS];
} bound_cases[] = {
	{ "nothing", {}, { 0, 0xf0000000, 0, 0, 0, 0, 0, 0 } },
	{ "everything", { .now_ns = U64_MAX, .waited_ns = 1000000000, .scaled_tx_bytes = U64_MAX,
			  .scaled_queue_bytes = U64_MAX, .id = U32_MAX, .mbit_ps = 400000,
			  .egress = U16_MAX, .ingress = U16_MAX, .ttl = 255 },
	  { 0x0fffffff, 0x6002fa08, 0xffffffff, 709551615, 999999999, U32_MAX, U32_MAX,
	    U32_MAX } },
	{ "a wait that is longer than the clock runs", { .now_ns = 5, .waited_ns = 9 },
	  { 0, 0xf0000000, 0, 0, 9, 0, 0, 0 } },
	{ "200 Gbit/s", { .mbit_ps = 200000 }, { 0, 0x50000000, 0, 0, 0, 0, 0, 0 } },
	{ "1 Gbit/s has no code", { .mbit_ps = 1000 }, { 0, 0xf0000000, 0, 0, 0, 0, 0, 0 } },
};

static void ifa_bounds_test(struct kunit *test)
{
	u8 got[SINT_IFA_BYTES], *at;
	size_t i, w;

	for (i = 0; i < ARRAY_SIZE(bound_cases); i++) {
		u8 want[SINT_IFA_BYTES];

		for (at = want, w = 0; w < SINT_IFA_WORDS; w++)
			at = sint_put_u32(at, bound_cases[i].word[w]);
		sint_ifa_node(got, &bound_cases[i].n);
		for (w = 0; w < SINT_IFA_BYTES; w++)
			KUNIT_EXPECT_EQ_MSG(test, got[w], want[w], "%s, byte %u",
					    bound_cases[i].what, (u32)w);
	}
}

/* A trace of two hops, the newest from this router: bits 0 to 4, 6, 22; opaque state of 2 words */
static const u8 trace[] = {
	0x3b, 0x0a, 0x01, 0x00,
	0x31, 0x52, 0x00, 0x00, 0x00, 0x01, 0x30, 0x00, 0xfa, 0x00, 0x02, 0x00,
	0x3e, 0x01, 0x23, 0x45, 0x00, 0x01, 0x00, 0x02, 0x65, 0x5a, 0x2b, 0x3c,
	0x00, 0x0f, 0x42, 0x3f, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x08, 0xfc,
	0x02, 0x49, 0x4e, 0x54, 0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb, 0xbb, 0xbb,
	0x3f, 0x00, 0x00, 0x07, 0x00, 0x03, 0x00, 0x04, 0x65, 0x5a, 0x2b, 0x3c,
	0x00, 0x00, 0x00, 0x01, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
	0x02, 0x49, 0x4e, 0x54, 0xcc, 0xcc, 0xcc, 0xcc, 0xdd, 0xdd, 0xdd, 0xdd,
};

#define TRACE_DELAY	32
#define TRACE_OPAQUE	44

static void ioam_test(struct kunit *test)
{
	/* Received 12.345 us ago, in the qdisc for 0.668 us of these */
	static const u8 complete[] = { 0x00, 0x00, 0x30, 0x39, 0x00, 0x00, 0x27, 0x10 };
	u8 hdr[sizeof(trace)], want[sizeof(trace)];
	struct ioam_view v;

	memcpy(hdr, trace, sizeof(trace));
	memcpy(want, trace, sizeof(trace));
	memcpy(want + TRACE_DELAY, complete, sizeof(complete));
	memcpy(want + TRACE_OPAQUE, &node.record, sizeof(node.record));
	KUNIT_ASSERT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_OK);
	KUNIT_ASSERT_EQ(test, v.hops, 2);
	KUNIT_EXPECT_TRUE(test, sint_ioam_is_ours(&v, hdr, &node));
	sint_ioam_write(&v, hdr, &node);
	KUNIT_EXPECT_EQ(test, memcmp(hdr, want, sizeof(want)), 0);
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_OK);
}

static const struct trace_case {
	const char *what;
	u32 at, value;
	u32 delay;
	bool is_ours, has_record;
} trace_cases[] = {
	{ "as it is", 0, 0x3b, 12345, true, true },
	{ "another node", 19, 0x46, 0, false, false },
	{ "another schema", 43, 0x55, 12345, true, false },
	{ "received later than now: the clock was set", 27, 0x3d, 668, true, true },
	{ "received a second earlier and more", 27, 0x3a, 668, true, true },
	{ "no fraction", 28, 0, 12345, true, true },
};

static void ioam_cases_test(struct kunit *test)
{
	u8 hdr[sizeof(trace)];
	struct ioam_view v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(trace_cases); i++) {
		const struct trace_case *c = &trace_cases[i];
		bool ours;

		memcpy(hdr, trace, sizeof(trace));
		hdr[c->at] = c->value;
		KUNIT_ASSERT_EQ_MSG(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_OK, "%s",
				    c->what);
		ours = sint_ioam_is_ours(&v, hdr, &node);
		KUNIT_EXPECT_EQ_MSG(test, ours, c->is_ours, "%s", c->what);
		if (!ours)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, sint_ioam_delay(&v, hdr, &node), c->delay, "%s", c->what);
		sint_ioam_write(&v, hdr, &node);
		KUNIT_EXPECT_EQ_MSG(test, !memcmp(hdr + TRACE_OPAQUE, &node.record,
						  sizeof(node.record)), c->has_record, "%s",
				    c->what);
	}
}

/* Opaque state of one word has no room for a record. */
static void ioam_short_opaque_test(struct kunit *test)
{
	u8 hdr[sizeof(trace)];
	struct ioam_view v;

	memcpy(hdr, trace, sizeof(trace));
	/* The word that is taken from the first node's state becomes the first hop's. */
	hdr[40] = 1;
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_BAD_STACK);
	hdr[40] = 0xff;
	KUNIT_EXPECT_EQ(test, hop_ioam_parse(&v, hdr, sizeof(hdr)), IOAM_BAD_STACK);
}

static void intmd_test(struct kunit *test)
{
	static const u8 want[] = {
		0x00, 0x01, 0x23, 0x45, 0x00, 0x22, 0x00, 0x11, 0x00, 0x00, 0x27, 0x10,
		0x00, 0x15, 0x20, 0x64, 0x72, 0xc7, 0x85, 0x14, 0x00, 0x07, 0xa1, 0x20,
	};
	/* Two words more, of the domain's instructions. */
	const struct intmd_view v = { .hop_words = 8, .bitmap = INTMD_HPCC_BITS };
	u8 got[sizeof(want) + 2 * INTMD_WORD_BYTES];
	u64 value[INTMD_BITS];
	size_t i;

	sint_intmd_node(got, &v, &node);
	for (i = 0; i < sizeof(got); i++)
		KUNIT_EXPECT_EQ_MSG(test, got[i], i < sizeof(want) ? want[i] : 0xff, "byte %u",
				    (u32)i);
	sint_intmd_values(value, &node);
	KUNIT_EXPECT_EQ(test, value[INTMD_EGRESS_TIME], node.now_ns);
	KUNIT_EXPECT_EQ(test, value[INTMD_INGRESS_TIME], node.now_ns - 668);
	KUNIT_EXPECT_EQ(test, value[INTMD_LATENCY], 668);
	KUNIT_EXPECT_EQ(test, value[INTMD_BUFFER], 10000);
	KUNIT_EXPECT_EQ(test, value[INTMD_L2_PORTS], U64_MAX);
	KUNIT_EXPECT_EQ(test, (u32)value[INTMD_CHECKSUM], U32_MAX);
}

/* All ones stand for "not available", so no value may be that. */
static void intmd_bounds_test(struct kunit *test)
{
	const struct sint_node most = {
		.now_ns = 1, .waited_ns = U64_MAX, .queue_bytes = U64_MAX, .util_ppm = U32_MAX - 1,
	};
	u64 value[INTMD_BITS];

	sint_intmd_values(value, &most);
	KUNIT_EXPECT_EQ(test, value[INTMD_LATENCY], U32_MAX - 1);
	KUNIT_EXPECT_EQ(test, value[INTMD_QUEUE], 0xffffff);
	KUNIT_EXPECT_EQ(test, value[INTMD_INGRESS_TIME], 0);
}

static const struct util_case {
	u64 now_ns, tx_bytes;
	u32 want_ppm;
} util_cases[] = {
	/* 10 Gbit/s: 125 kB in 100 us */
	{ 100000, 62500, 500000 },
	/* too soon: the last one */
	{ 199999, 187500, 500000 },
	{ 200000, 187500, 1000000 },
	/* a burst that the device took at once */
	{ 300000, 437500, 2000000 },
	{ 1000300000, 437500, 0 },
	/* two hours at 60 % */
	{ 7201000300000, 5400000437500, 600000 },
	/* a counter that went back, and a clock */
	{ 7202000300000, 0, U32_MAX - 1 },
	{ 0, 0, 0 },
};

static void util_test(struct kunit *test)
{
	struct sint_util u = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(util_cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, sint_util_ppm(&u, util_cases[i].now_ns,
							util_cases[i].tx_bytes, 1250000000),
				    util_cases[i].want_ppm, "case %u", (u32)i);
}

static struct kunit_case int_format_cases[] = {
	KUNIT_CASE(ifa_test),
	KUNIT_CASE(ifa_both_directions_test),
	KUNIT_CASE(ifa_bounds_test),
	KUNIT_CASE(ioam_test),
	KUNIT_CASE(ioam_cases_test),
	KUNIT_CASE(ioam_short_opaque_test),
	KUNIT_CASE(intmd_test),
	KUNIT_CASE(intmd_bounds_test),
	KUNIT_CASE(util_test),
	{}
};

static struct kunit_suite int_format_suite = {
	.name = "int_format",
	.test_cases = int_format_cases,
};

kunit_test_suite(int_format_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of a hop's data in telemetry of other switches");
