// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of layouts and reduced records with values that can be checked by hand; run in the kernel
 * and on the host
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
#include "int_layout.c"

#define OWN_SCHEMA 0x494e54

static void put_u32(u8 *at, u32 value)
{
	const __be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
}

static const struct bits_case {
	u32 bit, width;
	u64 want;
} bits_cases[] = {
	{ 0, 1, 1 }, { 1, 1, 0 }, { 0, 4, 0x8 }, { 4, 4, 0x1 }, { 4, 8, 0x12 }, { 7, 2, 2 },
	{ 0, 56, 0x81234567890abcULL }, { 7, 56, 0xc091a2b3c4855e6fULL & ((1ULL << 56) - 1) },
	{ 8, 56, 0x234567890abcdeULL }, { 63, 1, 0 }, { 60, 4, 0xe }, { 32, 32, 0x890abcde },
};

static void bits_test(struct kunit *test)
{
	static const u8 data[] = { 0x81, 0x23, 0x45, 0x67, 0x89, 0x0a, 0xbc, 0xde };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bits_cases); i++) {
		const struct bits_case *c = &bits_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, ntlm_get_bits(data, c->bit, c->width), c->want,
				    "bit %u, width %u", c->bit, c->width);
	}
}

static void builtin_test(struct kunit *test)
{
	u32 i;

	for (i = 0; i < INT_LAYOUT_BUILTINS; i++)
		KUNIT_EXPECT_FALSE_MSG(test, ntlm_check(&ntlm_builtin_layouts[i]), "layout %u", i);
}

/* Metadata of a hop of each format; the newest first. */
static const u8 trident3[] = {
	0x11, 0x23, 0x45, 0x3e, 0x40, 0x5a, 0xbc, 0xde, 0x00, 0x11, 0x00, 0x22,
	0x12, 0x34, 0x56, 0x78, 0x00, 0x00, 0x02, 0x9c, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x27, 0x10, 0x00, 0x00, 0x00, 0x00,
};

static const u8 linux_ioam[] = {
	0x3e, 0x00, 0x00, 0x02, 0x00, 0x15, 0x90, 0x16, 0x65, 0x5a, 0x2b, 0x3c,
	0x00, 0x0f, 0x42, 0x3f, 0x00, 0x00, 0x08, 0xfc,
};

static const u8 int_md[] = {
	0x00, 0x00, 0x00, 0x02, 0x00, 0x03, 0x00, 0x04, 0x05, 0x00, 0x08, 0xfc,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x07, 0xa1, 0x20,
};

static struct tlm_stack ifa_stack(const u8 *data, u32 bytes)
{
	return (struct tlm_stack) { .format = TLM_IFA, .space = 15, .data = data, .bytes = bytes };
}

static struct tlm_stack ioam_stack(const u8 *data, u32 bytes, u32 trace)
{
	struct ioam_view v = { .ns = 1, .trace = trace, .stack_bytes = bytes };
	struct tlm_stack s;

	v.node_words = hop_ioam_field_offset(trace, IOAM_FIELDS) / 4;
	ntlm_stack_ioam(&s, &v, data);
	return s;
}

static struct tlm_stack int_stack(const u8 *data, u32 bytes)
{
	struct intmd_view v = { .domain = 42, .bitmap = INTMD_HPCC_BITS, .hop_words = 6,
				.stack_bytes = bytes };
	struct tlm_stack s;

	ntlm_stack_intmd(&s, &v, data - INTMD_STACK_OFFSET);
	return s;
}

/* The kernel's stack is small. */
static struct tlm_path path;

static const struct tlm_record *collect(struct kunit *test, const struct tlm_table *t,
					const struct tlm_stack *s)
{
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, t, s));
	KUNIT_ASSERT_EQ(test, path.records, 1);
	return &path.record[0];
}

static void trident3_test(struct kunit *test)
{
	const struct tlm_table t = { .layout = &ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3],
				     .layouts = 1 };
	const struct tlm_stack s = ifa_stack(trident3, sizeof(trident3));
	const struct tlm_record *r = collect(test, &t, &s);

	KUNIT_EXPECT_EQ(test, r->node_id, 0x12345);
	KUNIT_EXPECT_EQ(test, r->port_id, 0x11);
	KUNIT_EXPECT_EQ(test, r->mbit_ps, 100000);
	KUNIT_EXPECT_EQ(test, r->residence_ns, 668);
	/* 0xabcde s, 0x12345678 ns and the residence */
	KUNIT_EXPECT_EQ(test, r->ts_ns, 703710ULL * TLM_NS_PER_S + 305419896 + 668);
	KUNIT_EXPECT_EQ(test, r->ts_period_ns, (1ULL << 20) * TLM_NS_PER_S);
	KUNIT_EXPECT_EQ(test, r->queue_bytes, 10000);
	KUNIT_EXPECT_EQ(test, r->bad, 0);
	KUNIT_EXPECT_EQ(test, r->has, TLM_HAS(INT_LAYOUT_NODE) | TLM_HAS(INT_LAYOUT_PORT) |
			TLM_HAS(INT_LAYOUT_SPEED) | TLM_HAS(INT_LAYOUT_RESIDENCE) |
			TLM_HAS(INT_LAYOUT_NS) | TLM_HAS(INT_LAYOUT_QUEUE));
}

static void linux_test(struct kunit *test)
{
	const struct tlm_table t = {
		.layout = &ntlm_builtin_layouts[INT_LAYOUT_LINUX_IOAM], .layouts = 1,
	};
	const struct tlm_stack s = ioam_stack(linux_ioam, sizeof(linux_ioam), IOAM_HPCC_BITS);
	const struct tlm_record *r = collect(test, &t, &s);

	KUNIT_EXPECT_EQ(test, r->node_id, 2);
	KUNIT_EXPECT_EQ(test, r->port_id, 0x16);
	KUNIT_EXPECT_EQ(test, r->mbit_ps, 100000);
	KUNIT_EXPECT_EQ(test, r->ts_ns, 0x655a2b3cULL * TLM_NS_PER_S + 999999000);
	KUNIT_EXPECT_EQ(test, r->ts_res_ns, 1000);
	KUNIT_EXPECT_EQ(test, r->queue_bytes, 2300);
	KUNIT_EXPECT_EQ(test, r->bad, 0);
}

static void int_md_test(struct kunit *test)
{
	const struct tlm_table t = {
		.layout = &ntlm_builtin_layouts[INT_LAYOUT_INT_MD], .layouts = 1,
	};
	const struct tlm_stack s = int_stack(int_md, sizeof(int_md));
	const struct tlm_record *r = collect(test, &t, &s);

	KUNIT_EXPECT_EQ(test, r->node_id, 2);
	KUNIT_EXPECT_EQ(test, r->port_id, 4);
	KUNIT_EXPECT_EQ(test, r->ts_ns, 0x100000002ULL);
	KUNIT_EXPECT_EQ(test, r->queue_bytes, 2300);
	/* 500000 ppm */
	KUNIT_EXPECT_EQ(test, r->util, 1 << 19);
	KUNIT_EXPECT_EQ(test, r->has & TLM_HAS(INT_LAYOUT_SPEED), 0);
	/* Neither the format nor the table has one. */
	KUNIT_EXPECT_EQ(test, r->bad, TLM_BAD_SPEED);
}

/* Bytes of a hop's metadata, and what becomes of the record. */
static const struct value_case {
	const char *what;
	enum int_layout_builtin layout;
	u8 at;
	u32 word;
	enum int_layout_field_id field;
	bool has;
	u16 bad;
	u64 want;
} value_cases[] = {
	{ "residence, the longest", INT_LAYOUT_TRIDENT3, 16, 999999999,
	  INT_LAYOUT_RESIDENCE, true, 0,
	  999999999 },
	{ "residence of 10^9", INT_LAYOUT_TRIDENT3, 16, 1000000000, INT_LAYOUT_RESIDENCE, false,
	  TLM_BAD_RESIDENCE, 0 },
	{ "residence as in dumps", INT_LAYOUT_TRIDENT3, 16, 1000000668, INT_LAYOUT_RESIDENCE, false,
	  TLM_BAD_RESIDENCE, 0 },
	{ "residence, all ones", INT_LAYOUT_TRIDENT3, 16, U32_MAX, INT_LAYOUT_RESIDENCE, false,
	  TLM_BAD_RESIDENCE, 0 },
	{ "nanoseconds from 10^9", INT_LAYOUT_TRIDENT3, 12, 1000000000, INT_LAYOUT_NS,
	  false, TLM_BAD_CLOCK, 0 },
	{ "speed code 0", INT_LAYOUT_TRIDENT3, 4, 0, INT_LAYOUT_SPEED, true, 0, 10000 },
	{ "speed code 6", INT_LAYOUT_TRIDENT3, 4, 0x60000000, INT_LAYOUT_SPEED, true, 0, 400000 },
	{ "speed code 7", INT_LAYOUT_TRIDENT3, 4, 0x70000000, INT_LAYOUT_SPEED, false,
	  TLM_BAD_SPEED, 0 },
	{ "speed code 15", INT_LAYOUT_TRIDENT3, 4, 0xf0000000, INT_LAYOUT_SPEED, false,
	  TLM_BAD_SPEED, 0 },
	{ "a queue of 2^31 - 1", INT_LAYOUT_TRIDENT3, 24, 0x7fffffff, INT_LAYOUT_QUEUE,
	  true, 0, 0x7fffffff },
	{ "queue of more than 2^31", INT_LAYOUT_TRIDENT3, 24, 0x80000000, INT_LAYOUT_QUEUE, false,
	  TLM_BAD_QUEUE, 0 },
	{ "no queue", INT_LAYOUT_TRIDENT3, 24, 0, INT_LAYOUT_QUEUE, true, 0, 0 },
	{ "all device bits", INT_LAYOUT_TRIDENT3, 0, 0x1fffff00, INT_LAYOUT_NODE, true, 0,
	  0xfffff },
	{ "queue not available", INT_LAYOUT_LINUX_IOAM, 16, U32_MAX, INT_LAYOUT_QUEUE,
	  false, 0, 0 },
	{ "a long queue", INT_LAYOUT_LINUX_IOAM, 16, 0xfffffffe, INT_LAYOUT_QUEUE, false,
	  TLM_BAD_QUEUE, 0 },
	{ "fraction not available", INT_LAYOUT_LINUX_IOAM, 12, U32_MAX, INT_LAYOUT_NS,
	  false, 0, 0 },
	{ "seconds not available", INT_LAYOUT_LINUX_IOAM, 8, U32_MAX, INT_LAYOUT_NS, false, 0, 0 },
	{ "fraction of a second", INT_LAYOUT_LINUX_IOAM, 12, 1000000, INT_LAYOUT_NS, false,
	  TLM_BAD_CLOCK, 0 },
	{ "a clock in nanoseconds", INT_LAYOUT_LINUX_IOAM, 12, 999999999, INT_LAYOUT_NS, false,
	  TLM_BAD_CLOCK, 0 },
	{ "egress ID not set", INT_LAYOUT_LINUX_IOAM, 4, U32_MAX, INT_LAYOUT_SPEED, false,
	  TLM_BAD_SPEED, 0 },
	{ "egress ID without a code", INT_LAYOUT_LINUX_IOAM, 4, 7, INT_LAYOUT_SPEED, false,
	  TLM_BAD_SPEED, 0 },
	{ "node ID not set", INT_LAYOUT_LINUX_IOAM, 0, 0x3fffffff, INT_LAYOUT_NODE, false, 0, 0 },
	{ "utilisation not available", INT_LAYOUT_INT_MD, 20, U32_MAX, INT_LAYOUT_UTIL, false,
	  TLM_BAD_SPEED, 0 },
	{ "utilisation of 1.25", INT_LAYOUT_INT_MD, 20, 1250000, INT_LAYOUT_UTIL, true,
	  TLM_BAD_SPEED, 1310720 },
	{ "utilisation above that", INT_LAYOUT_INT_MD, 20, 1250001, INT_LAYOUT_UTIL, false,
	  TLM_BAD_UTIL | TLM_BAD_SPEED, 0 },
	{ "queue not available", INT_LAYOUT_INT_MD, 8, 0x05ffffff, INT_LAYOUT_QUEUE, false,
	  TLM_BAD_SPEED, 0 },
	{ "the longest queue", INT_LAYOUT_INT_MD, 8, 0x05fffffe, INT_LAYOUT_QUEUE, true,
	  TLM_BAD_SPEED, 0xfffffe },
	{ "no queue", INT_LAYOUT_INT_MD, 8, 0x05000000, INT_LAYOUT_QUEUE, true, TLM_BAD_SPEED, 0 },
};

static u64 value_of(const struct tlm_record *r, enum int_layout_field_id field)
{
	switch (field) {
	case INT_LAYOUT_QUEUE:
		return r->queue_bytes;
	case INT_LAYOUT_UTIL:
		return r->util;
	case INT_LAYOUT_RESIDENCE:
		return r->residence_ns;
	case INT_LAYOUT_SPEED:
		return r->mbit_ps;
	case INT_LAYOUT_NODE:
		return r->node_id;
	default:
		return r->ts_ns;
	}
}

static void value_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(value_cases); i++) {
		const struct value_case *c = &value_cases[i];
		const struct tlm_table t = {
			.layout = &ntlm_builtin_layouts[c->layout], .layouts = 1,
		};
		u8 node[32];
		struct tlm_stack s = ifa_stack(node, sizeof(trident3));
		const struct tlm_record *r;

		memcpy(node, trident3, sizeof(trident3));
		if (c->layout == INT_LAYOUT_LINUX_IOAM) {
			s = ioam_stack(node, sizeof(linux_ioam), IOAM_HPCC_BITS);
			memcpy(node, linux_ioam, sizeof(linux_ioam));
		} else if (c->layout == INT_LAYOUT_INT_MD) {
			s = int_stack(node, sizeof(int_md));
			memcpy(node, int_md, sizeof(int_md));
		}
		put_u32(node + c->at, c->word);
		r = collect(test, &t, &s);
		KUNIT_EXPECT_EQ_MSG(test, !!(r->has & TLM_HAS(c->field)), c->has, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, r->bad, c->bad, "%s", c->what);
		if (c->has)
			KUNIT_EXPECT_EQ_MSG(test, value_of(r, c->field), c->want, "%s", c->what);
	}
}

/* An option that a layout has: reduce the residence time, scale, a counter, a configured speed. */
static void option_test(struct kunit *test)
{
	static const struct int_layout_port port[] = { { 0x12345, 0x10, 1 },
						       { 0x12345, 0x11, 40000 } };
	struct int_layout l = ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3];
	const struct tlm_table t = { .layout = &l, .layouts = 1, .port = port, .ports = 2 };
	u8 node[sizeof(trident3)];
	const struct tlm_stack s = ifa_stack(node, sizeof(node));
	const struct tlm_record *r;

	l.flags |= INT_LAYOUT_F_RESIDENCE_REDUCE;
	l.flags &= ~INT_LAYOUT_F_EGRESS_TIME;
	l.tx_refresh_ns = 50000;
	/* Cells of 254 bytes, and a counter of 20 bits in units of 64 bytes */
	l.field[INT_LAYOUT_QUEUE].mul = 254;
	l.field[INT_LAYOUT_TX] = (struct int_layout_field) { .bit = 172, .width = 20, .mul = 64 };
	memcpy(node, trident3, sizeof(node));
	put_u32(node + 16, 1000000668);
	put_u32(node + 20, 0xfff00003);
	r = collect(test, &t, &s);
	KUNIT_EXPECT_EQ(test, r->residence_ns, 668);
	KUNIT_EXPECT_EQ(test, r->ts_ns, 703710ULL * TLM_NS_PER_S + 305419896);
	KUNIT_EXPECT_EQ(test, r->queue_bytes, 2540000);
	KUNIT_EXPECT_EQ(test, r->tx_bytes, 192);
	KUNIT_EXPECT_EQ(test, r->tx_period_bytes, 64U << 20);
	KUNIT_EXPECT_EQ(test, r->tx_refresh_ns, 50000);
	KUNIT_EXPECT_EQ(test, r->mbit_ps, 40000);
	KUNIT_EXPECT_EQ(test, r->bad, 0);
	/* A clock of 8 bits and no seconds: (0x78 + 668) modulo 256 */
	l.flags |= INT_LAYOUT_F_EGRESS_TIME;
	l.field[INT_LAYOUT_SECONDS].width = 0;
	l.field[INT_LAYOUT_NS].bit += 24;
	l.field[INT_LAYOUT_NS].width = 8;
	r = collect(test, &t, &s);
	KUNIT_EXPECT_EQ(test, r->ts_ns, 0x14);
	KUNIT_EXPECT_EQ(test, r->ts_period_ns, 256);
}

/* Keys: the first layout that matches is used. */
static void key_test(struct kunit *test)
{
	struct int_layout l[3] = { ntlm_builtin_layouts[INT_LAYOUT_TOMAHAWK4],
				   ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3],
				   ntlm_builtin_layouts[INT_LAYOUT_LINUX_IOAM] };
	const struct tlm_table t = { .layout = l, .layouts = 3 };
	struct tlm_stack s = ifa_stack(trident3, sizeof(trident3));

	/* LNS 2 */
	l[0].device = 0x20000000;
	l[0].device_mask = 0xf0000000;
	/* GNS 15, any device */
	l[1].space = 15;
	l[1].space_mask = 15;
	KUNIT_EXPECT_TRUE(test, ntlm_find_layout(&t, &s, 0x20000001) == &l[0]);
	KUNIT_EXPECT_TRUE(test, ntlm_find_layout(&t, &s, 0x10000001) == &l[1]);
	s.space = 14;
	KUNIT_EXPECT_TRUE(test, !ntlm_find_layout(&t, &s, 0x10000001));
	s = ioam_stack(linux_ioam, sizeof(linux_ioam), IOAM_HPCC_BITS | IOAM_BIT(IOAM_NS_DATA));
	KUNIT_EXPECT_TRUE(test, ntlm_find_layout(&t, &s, 0) == &l[2]);
	s = ioam_stack(linux_ioam, sizeof(linux_ioam),
		       IOAM_HPCC_BITS & ~IOAM_BIT(IOAM_QUEUE_DEPTH));
	KUNIT_EXPECT_TRUE(test, !ntlm_find_layout(&t, &s, 0));
	/* A hop without a layout has an empty record that says so. */
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s) == (sizeof(linux_ioam) % 16 == 0));
	KUNIT_EXPECT_EQ(test, path.bad, TLM_BAD_LAYOUT);
	KUNIT_EXPECT_EQ(test, path.record[0].has, 0);
}

/* Order of records, path ID, more hops than records, and a stack that is cut. */
static void path_test(struct kunit *test)
{
	const struct tlm_table t = { .layout = &ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3],
				     .layouts = 1 };
	static u8 data[20 * sizeof(trident3)];
	struct tlm_stack s = ifa_stack(data, 3 * sizeof(trident3));
	u16 path_id;
	u32 i;

	for (i = 0; i < 20; i++) {
		memcpy(data + i * sizeof(trident3), trident3, sizeof(trident3));
		data[i * sizeof(trident3) + 2] = i;
	}
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_EQ(test, path.hops, 3);
	KUNIT_EXPECT_EQ(test, path.record[0].node_id, 0x12302);
	KUNIT_EXPECT_EQ(test, path.record[2].node_id, 0x12300);
	path_id = path.path_id;
	data[2] = 9;
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_NE(test, path.path_id, path_id);
	s.bytes = 20 * sizeof(trident3);
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_EQ(test, path.hops, 20);
	KUNIT_EXPECT_EQ(test, path.records, TLM_HOPS_MAX);
	KUNIT_EXPECT_TRUE(test, path.full);
	for (i = 0; i < sizeof(trident3); i++) {
		s.bytes = i;
		KUNIT_EXPECT_EQ_MSG(test, ntlm_reduce(&path, &t, &s), !i, "%u bytes", i);
	}
}

/* IFA: a hop without room leaves no trace; one may be missing if less is left than it takes. */
static void room_test(struct kunit *test)
{
	const struct tlm_table t = { .layout = &ntlm_builtin_layouts[INT_LAYOUT_TRIDENT3],
				     .layouts = 1 };
	struct tlm_stack s = ifa_stack(trident3, sizeof(trident3));

	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_FALSE_MSG(test, path.full, "no limit");
	s.max_bytes = 2 * sizeof(trident3);
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_FALSE_MSG(test, path.full, "room for one more");
	s.max_bytes -= IFA_WORD_BYTES;
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_TRUE_MSG(test, path.full, "a word less");
	s.max_bytes = sizeof(trident3);
	KUNIT_ASSERT_TRUE(test, ntlm_reduce(&path, &t, &s));
	KUNIT_EXPECT_TRUE_MSG(test, path.full, "none");
}

/* One of our own records as opaque state replaces the router's values, under our schema only. */
static void opaque_test(struct kunit *test)
{
	const struct tlm_table t = { .layout = &ntlm_builtin_layouts[INT_LAYOUT_LINUX_IOAM],
				     .layouts = 1,
				     .schema = OWN_SCHEMA };
	const struct int_record own = { .speed = 6, .ts_ns = 5, .tx_units = 7, .qlen_units = 3 };
	u8 data[sizeof(linux_ioam) + 12];
	const __be32 schema = cpu_to_be32(2 << 24 | OWN_SCHEMA);
	const __be64 packed = int_pack(&own);
	struct tlm_stack s;

	memcpy(data, linux_ioam, sizeof(linux_ioam));
	memcpy(data + sizeof(linux_ioam), &schema, sizeof(schema));
	memcpy(data + sizeof(linux_ioam) + 4, &packed, sizeof(packed));
	s = ioam_stack(data, sizeof(data), IOAM_HPCC_BITS | IOAM_BIT(IOAM_OPAQUE));
	KUNIT_EXPECT_EQ(test, collect(test, &t, &s)->tx_bytes, 7 << 7);
	KUNIT_EXPECT_EQ(test, path.record[0].mbit_ps, 25000);
	KUNIT_EXPECT_EQ(test, path.record[0].queue_bytes, 3 << 7);
	KUNIT_EXPECT_EQ(test, path.record[0].node_id, 2);
	data[sizeof(linux_ioam) + 1] ^= 1;
	KUNIT_EXPECT_EQ(test, collect(test, &t, &s)->has & TLM_HAS(INT_LAYOUT_TX), 0);
}

#define CHANGE(name, statement) \
	static void name(struct int_layout *l) { statement; }

CHANGE(no_format, l->format = TLM_FORMATS)
CHANGE(wide_gns, l->space_mask = 16)
CHANGE(space_outside, l->space = 3; l->space_mask = 1)
CHANGE(ifa_type, l->type = 1)
CHANGE(bit_12, l->type |= 0x800)
CHANGE(device_outside, l->device = 1)
CHANGE(no_node, l->type &= ~IOAM_BIT(IOAM_NODE); l->device_mask = 1)
CHANGE(no_words, l->node_words = 0)
CHANGE(words, l->node_words = 1)
CHANGE(behind, l->field[INT_LAYOUT_QUEUE].bit = 225)
CHANGE(just_within, l->field[INT_LAYOUT_QUEUE].bit = 224)
CHANGE(no_element, l->field[INT_LAYOUT_QUEUE].element = IOAM_TRANSIT_DELAY)
CHANGE(element_24, l->field[INT_LAYOUT_QUEUE].element = 24)
CHANGE(wide, l->field[INT_LAYOUT_QUEUE].width = 57)
CHANGE(wide_code, l->field[INT_LAYOUT_SPEED].width = 5)
CHANGE(no_factor, l->field[INT_LAYOUT_QUEUE].mul = 0)
CHANGE(large_factor, l->field[INT_LAYOUT_QUEUE].mul = 1U << 31)
CHANGE(largest_factor, l->field[INT_LAYOUT_QUEUE].mul = (1U << 30) - 1)
CHANGE(large_shift, l->field[INT_LAYOUT_QUEUE].shift = 33)
CHANGE(fraction_wrap, l->field[INT_LAYOUT_TX] = l->field[INT_LAYOUT_SPEED];
       l->field[INT_LAYOUT_TX].shift = 5)
CHANGE(scaled_code, l->field[INT_LAYOUT_SPEED].mul = 2)
CHANGE(scaled_node, l->field[INT_LAYOUT_NODE].shift = 1)
CHANGE(no_fraction, l->field[INT_LAYOUT_NS].width = 0)
CHANGE(no_res, l->ts_res_ns = 0)
CHANGE(fast, l->mbit_ps = TLM_MBIT_MAX + 1)
CHANGE(fast_code, l->speed_mbit[15] = TLM_MBIT_MAX + 1)
CHANGE(long_window, l->util_window_ns = TLM_NS_PER_S + 1)
CHANGE(long_refresh, l->tx_refresh_ns = TLM_NS_PER_S + 1)
CHANGE(empty, l->field[INT_LAYOUT_QUEUE].width = 0)

static const struct invalid_case {
	const char *what;
	enum int_layout_builtin from;
	void (*change)(struct int_layout *l);
	const char *want;	/* a part of the reason; NULL: valid */
} invalid_cases[] = {
	{ "format", INT_LAYOUT_TRIDENT3, no_format, "format" },
	{ "GNS of 5 bits", INT_LAYOUT_TRIDENT3, wide_gns, "space" },
	{ "space outside of its mask", INT_LAYOUT_LINUX_IOAM, space_outside, "space" },
	{ "type in IFA", INT_LAYOUT_TRIDENT3, ifa_type, "type has" },
	{ "undefined bit", INT_LAYOUT_LINUX_IOAM, bit_12, "type has" },
	{ "device outside of its mask", INT_LAYOUT_TRIDENT3, device_outside, "mask" },
	{ "device without a node ID", INT_LAYOUT_LINUX_IOAM, no_node, "needs a type" },
	{ "no length in IFA", INT_LAYOUT_TRIDENT3, no_words, "words" },
	{ "length in INT", INT_LAYOUT_INT_MD, words, "words" },
	{ "field behind the metadata", INT_LAYOUT_TRIDENT3, behind, "within" },
	{ "field at the end of the metadata", INT_LAYOUT_TRIDENT3, just_within, NULL },
	{ "element that the type lacks", INT_LAYOUT_LINUX_IOAM, no_element, "within" },
	{ "element beyond all", INT_LAYOUT_INT_MD, element_24, "within" },
	{ "width", INT_LAYOUT_TRIDENT3, wide, "wide" },
	{ "width of a code", INT_LAYOUT_TRIDENT3, wide_code, "wide" },
	{ "factor 0", INT_LAYOUT_TRIDENT3, no_factor, "factor" },
	{ "32 bits by 2^31", INT_LAYOUT_TRIDENT3, large_factor, "factor" },
	{ "32 bits by 2^30 - 1", INT_LAYOUT_TRIDENT3, largest_factor, NULL },
	{ "shift", INT_LAYOUT_TRIDENT3, large_shift, "factor" },
	{ "counter that wraps at a fraction", INT_LAYOUT_TRIDENT3, fraction_wrap, "whole" },
	{ "scale of a code", INT_LAYOUT_TRIDENT3, scaled_code, "no scale" },
	{ "scale of an ID", INT_LAYOUT_LINUX_IOAM, scaled_node, "no scale" },
	{ "seconds only", INT_LAYOUT_LINUX_IOAM, no_fraction, "fraction" },
	{ "no resolution", INT_LAYOUT_LINUX_IOAM, no_res, "resolution" },
	{ "speed", INT_LAYOUT_TRIDENT3, fast, "the speed is" },
	{ "speed of a code", INT_LAYOUT_TRIDENT3, fast_code, "speed of a code" },
	{ "averaging window", INT_LAYOUT_INT_MD, long_window, "interval" },
	{ "interval of a counter", INT_LAYOUT_TRIDENT3, long_refresh, "interval" },
	{ "nothing to compute with", INT_LAYOUT_TOMAHAWK4, empty, "neither" },
};

static bool is_refused(const char *why, const char *want)
{
	return want ? why && strstr(why, want) : !why;
}

static void invalid_test(struct kunit *test)
{
	static const struct int_layout_port port[] = { { 1, 2, 10 }, { 1, 3, 10 }, { 2, 0, 10 },
						{ 2, 0, 10 }, { 3, 0, 0 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(invalid_cases); i++) {
		const struct invalid_case *c = &invalid_cases[i];
		struct int_layout l = ntlm_builtin_layouts[c->from];

		c->change(&l);
		KUNIT_EXPECT_TRUE_MSG(test, is_refused(ntlm_check(&l), c->want), "%s", c->what);
	}
	KUNIT_EXPECT_FALSE(test, ntlm_check_ports(port, 3));
	KUNIT_EXPECT_TRUE(test, is_refused(ntlm_check_ports(port, 4), "order"));
	KUNIT_EXPECT_TRUE(test, is_refused(ntlm_check_ports(port + 4, 1), "speed of a port"));
}

static struct kunit_case int_layout_cases[] = {
	KUNIT_CASE(bits_test),
	KUNIT_CASE(builtin_test),
	KUNIT_CASE(trident3_test),
	KUNIT_CASE(linux_test),
	KUNIT_CASE(int_md_test),
	KUNIT_CASE(value_test),
	KUNIT_CASE(option_test),
	KUNIT_CASE(key_test),
	KUNIT_CASE(path_test),
	KUNIT_CASE(room_test),
	KUNIT_CASE(opaque_test),
	KUNIT_CASE(invalid_test),
	{}
};

static struct kunit_suite int_layout_suite = {
	.name = "int_layout",
	.test_cases = int_layout_cases,
};

kunit_test_suite(int_layout_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of telemetry layouts");
