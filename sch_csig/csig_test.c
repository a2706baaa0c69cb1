// SPDX-License-Identifier: GPL-2.0
/* Tests of CSIG's tag, its values and its locators. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/module.h>
#include "csig_layout.c"

static u64 random_state = 1;

static u32 random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

static const struct csig_tpids tpids = {
	{ 0, CSIG_TPID_COMPACT_DEFAULT, CSIG_TPID_EXPANDED_DEFAULT },
};

/* Tags encoded by hand: T 3 | R 1 | S 5 | LM 7 bits, and LM 16 | T 4 | S 20 | R 8 bits. */
static const struct {
	enum csig_form form;
	struct csig_tag tag;
	u8 bytes[CSIG_TAG_MAX_BYTES];
} wire_cases[] = {
	{ CSIG_COMPACT, { 0, 0, 0, 0 }, { 0x88, 0xb5, 0, 0 } },
	{ CSIG_COMPACT, { 7, 0, 0, 0 }, { 0x88, 0xb5, 0xe0, 0 } },
	{ CSIG_COMPACT, { 0, 31, 0, 0 }, { 0x88, 0xb5, 0x0f, 0x80 } },
	{ CSIG_COMPACT, { 0, 0, 127, 0 }, { 0x88, 0xb5, 0, 0x7f } },
	{ CSIG_COMPACT, { 0, 0, 0, 1 }, { 0x88, 0xb5, 0x10, 0 } },
	/* 010 0 10101 0110011 */
	{ CSIG_COMPACT, { 2, 21, 51, 0 }, { 0x88, 0xb5, 0x4a, 0xb3 } },
	{ CSIG_COMPACT, { 7, 31, 127, 1 }, { 0x88, 0xb5, 0xff, 0xff } },
	{ CSIG_EXPANDED, { 0, 0, 0, 0 }, { 0x88, 0xb6, 0, 0, 0, 0, 0, 0 } },
	{ CSIG_EXPANDED, { 15, 0, 0, 0 }, { 0x88, 0xb6, 0, 0, 0xf0, 0, 0, 0 } },
	{ CSIG_EXPANDED, { 0, 0xfffff, 0, 0 }, { 0x88, 0xb6, 0, 0, 0x0f, 0xff, 0xff, 0 } },
	{ CSIG_EXPANDED, { 0, 0, 0xffff, 0 }, { 0x88, 0xb6, 0xff, 0xff, 0, 0, 0, 0 } },
	{ CSIG_EXPANDED, { 0, 0, 0, 255 }, { 0x88, 0xb6, 0, 0, 0, 0, 0, 0xff } },
	{ CSIG_EXPANDED, { 2, 0x12345, 0xabcd, 0x67 },
	  { 0x88, 0xb6, 0xab, 0xcd, 0x21, 0x23, 0x45, 0x67 } },
};

static void expect_tag(struct kunit *test, const struct csig_tag *got,
		       const struct csig_tag *want, int n)
{
	KUNIT_EXPECT_EQ_MSG(test, got->type, want->type, "case %d", n);
	KUNIT_EXPECT_EQ_MSG(test, got->value, want->value, "case %d", n);
	KUNIT_EXPECT_EQ_MSG(test, got->locator, want->locator, "case %d", n);
	KUNIT_EXPECT_EQ_MSG(test, got->reserved, want->reserved, "case %d", n);
}

static void wire_test(struct kunit *test)
{
	u8 bytes[CSIG_TAG_MAX_BYTES];
	int i;

	for (i = 0; i < ARRAY_SIZE(wire_cases); i++) {
		const enum csig_form form = wire_cases[i].form;
		const struct csig_tag got = csig_read(form, wire_cases[i].bytes + CSIG_TPID_BYTES);

		expect_tag(test, &got, &wire_cases[i].tag, i);
		memset(bytes, 0, sizeof(bytes));
		csig_put(form, bytes, &tpids, &got);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(bytes, wire_cases[i].bytes, sizeof(bytes)), 0,
				    "case %d", i);
	}
	KUNIT_EXPECT_EQ(test, csig_data_bytes(CSIG_COMPACT), 2U);
	KUNIT_EXPECT_EQ(test, csig_data_bytes(CSIG_EXPANDED), 6U);
}

/* Read a field bit by bit, the most significant first, as in the draft's figures. */
static u32 bits_of(const u8 *data, u32 first, u32 count)
{
	u32 i, value = 0;

	for (i = first; i < first + count; i++)
		value = value << 1 | (data[i / 8] >> (7 - i % 8) & 1);
	return value;
}

/* All bit patterns of a compact tag, and random ones of an expanded tag. */
static void bits_test(struct kunit *test)
{
	u8 data[6], back[6];
	u32 i, n;

	for (n = 0; n < 65536; n++) {
		struct csig_tag t, want;

		data[0] = n >> 8;
		data[1] = n;
		want = (struct csig_tag) { bits_of(data, 0, 3), bits_of(data, 4, 5),
					   bits_of(data, 9, 7), bits_of(data, 3, 1) };
		t = csig_read(CSIG_COMPACT, data);
		expect_tag(test, &t, &want, n);
		csig_write(CSIG_COMPACT, back, &t);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(data, back, 2), 0, "compact %x", n);
		for (i = 0; i < 6; i++)
			data[i] = random_u32();
		want = (struct csig_tag) { bits_of(data, 16, 4), bits_of(data, 20, 20),
					   bits_of(data, 0, 16), bits_of(data, 40, 8) };
		t = csig_read(CSIG_EXPANDED, data);
		expect_tag(test, &t, &want, n);
		csig_write(CSIG_EXPANDED, back, &t);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(data, back, 6), 0, "expanded %u", n);
	}
}

#define VLAN	0x81, 0x00, 0x00, 0x05
#define AD	0x88, 0xa8, 0x00, 0x06
#define QINQ	0x91, 0x00, 0x00, 0x07
#define COMPACT	0x88, 0xb5, 0x12, 0x34
#define EXPANDED 0x88, 0xb6, 1, 2, 3, 4, 5, 6
#define IP	0x08, 0x00

/* The bytes behind the MAC addresses, up to the end of the frame, and the expected result. */
static const struct {
	u8 bytes[32];
	u32 len;
	enum csig_form form;
	enum csig_fault fault;
	u32 offset;
	u16 inner;
} place_cases[] = {
	{ { IP }, 2, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { COMPACT, IP }, 6, CSIG_COMPACT, CSIG_OK, 12, 0x800 },
	{ { EXPANDED, IP }, 10, CSIG_EXPANDED, CSIG_OK, 12, 0x800 },
	{ { VLAN, COMPACT, IP }, 10, CSIG_COMPACT, CSIG_OK, 16, 0x800 },
	{ { AD, VLAN, EXPANDED, 0x86, 0xdd }, 18, CSIG_EXPANDED, CSIG_OK, 20, 0x86dd },
	{ { QINQ, AD, VLAN, COMPACT, IP }, 18, CSIG_COMPACT, CSIG_OK, 24, 0x800 },
	{ { VLAN, VLAN, VLAN, VLAN, COMPACT, IP }, 22, CSIG_COMPACT, CSIG_OK, 28, 0x800 },
	/* a length or MPLS behind the tag */
	{ { COMPACT, 0x00, 0x40 }, 6, CSIG_COMPACT, CSIG_OK, 12, 0x40 },
	{ { COMPACT, 0x88, 0x47 }, 6, CSIG_COMPACT, CSIG_OK, 12, 0x8847 },
	/* a tag behind another header is payload; the content of MACsec is not parsed */
	{ { IP, COMPACT, IP }, 8, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { 0x88, 0xe5, COMPACT, IP }, 8, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { VLAN, IP }, 6, CSIG_NONE, CSIG_OK, 0, 0 },
	/* another tag follows */
	{ { COMPACT, COMPACT, IP }, 10, CSIG_COMPACT, CSIG_BAD_ORDER, 12, 0x88b5 },
	{ { COMPACT, EXPANDED, IP }, 14, CSIG_COMPACT, CSIG_BAD_ORDER, 12, 0x88b6 },
	{ { EXPANDED, VLAN, IP }, 14, CSIG_EXPANDED, CSIG_BAD_ORDER, 12, 0x8100 },
	{ { COMPACT, AD, IP }, 10, CSIG_COMPACT, CSIG_BAD_ORDER, 12, 0x88a8 },
	/* truncated at every byte */
	{ {}, 0, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { 0x88 }, 1, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { COMPACT, IP }, 2, CSIG_COMPACT, CSIG_BAD_TRUNCATED, 12, 0 },
	{ { COMPACT, IP }, 3, CSIG_COMPACT, CSIG_BAD_TRUNCATED, 12, 0 },
	{ { COMPACT, IP }, 4, CSIG_COMPACT, CSIG_BAD_TRUNCATED, 12, 0 },
	{ { COMPACT, IP }, 5, CSIG_COMPACT, CSIG_BAD_TRUNCATED, 12, 0 },
	{ { EXPANDED, IP }, 9, CSIG_EXPANDED, CSIG_BAD_TRUNCATED, 12, 0 },
	{ { VLAN, EXPANDED, IP }, 6, CSIG_EXPANDED, CSIG_BAD_TRUNCATED, 16, 0 },
	{ { VLAN, EXPANDED, IP }, 5, CSIG_NONE, CSIG_OK, 0, 0 },
	{ { VLAN, EXPANDED, IP }, 3, CSIG_NONE, CSIG_OK, 0, 0 },
};

static void place_test(struct kunit *test)
{
	u8 frame[CSIG_WALK_BYTES];
	int i;

	for (i = 0; i < ARRAY_SIZE(place_cases); i++) {
		const u32 len = CSIG_FIRST_TAG_BYTES + place_cases[i].len;
		struct csig_place got;

		memset(frame, 0xff, sizeof(frame));
		memcpy(frame + CSIG_FIRST_TAG_BYTES, place_cases[i].bytes, place_cases[i].len);
		got = csig_find(frame, len, len, &tpids);
		KUNIT_EXPECT_EQ_MSG(test, got.form, place_cases[i].form, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.fault, place_cases[i].fault, "case %d", i);
		if (!got.form)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, got.offset_bytes, place_cases[i].offset, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, got.inner, place_cases[i].inner, "case %d", i);
	}
}

/* At most 25 VLAN tags are skipped. */
static void deep_test(struct kunit *test)
{
	const u32 walk = CSIG_WALK_BYTES;
	struct csig_place got;
	u8 frame[256] = {};
	u32 tags, i;

	for (tags = 0; tags <= 30; tags++) {
		const u32 at = CSIG_FIRST_TAG_BYTES + 4 * tags;

		memset(frame, 0, sizeof(frame));
		for (i = 0; i < tags; i++)
			frame[CSIG_FIRST_TAG_BYTES + 4 * i] = 0x81;
		frame[at] = 0x88;
		frame[at + 1] = 0xb6;
		frame[at + 8] = 0x08;
		got = csig_find(frame, min(walk, at + 10), 200, &tpids);
		KUNIT_EXPECT_EQ_MSG(test, got.form, at + 10 <= walk ? CSIG_EXPANDED : CSIG_NONE,
				    "%u tags", tags);
		KUNIT_EXPECT_EQ(test, got.form && got.fault, 0);
	}
}

/* In random frames, no byte behind the frame is read, and no tag extends beyond it. */
static void random_frame_test(struct kunit *test)
{
	static const u8 likely_bytes[] = { 0x81, 0, 0x88, 0xb5, 0xb6, 0xa8 };
	u32 n, i, found = 0;
	u8 frame[64];

	for (n = 0; n < 100000; n++) {
		const u32 len = random_u32() % (sizeof(frame) + 1);
		u8 *exact = frame + sizeof(frame) - len;
		struct csig_place got;

		for (i = 0; i < len; i++)
			exact[i] = likely_bytes[random_u32() % sizeof(likely_bytes)];
		got = csig_find(exact, len, len, &tpids);
		if (!got.form || got.fault)
			continue;
		found++;
		KUNIT_ASSERT_LE(test, got.offset_bytes + csig_shapes[got.form].tag_bytes + 2, len);
	}
	KUNIT_EXPECT_GT(test, found, 1000U);
}

/* Count the edges at or below a value one by one. */
static u32 naive_bucket(const struct csig_scale *s, u64 value)
{
	u32 i, count = 0;

	for (i = 0; i < s->edges; i++)
		count += value >= s->edge[i];
	return count;
}

static void expect_every_boundary(struct kunit *test, const struct csig_scale *s,
				  const char *name)
{
	u32 i;

	KUNIT_EXPECT_TRUE_MSG(test, csig_scale_ok(s), "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, csig_bucket(s, 0), 0U, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, csig_bucket(s, U64_MAX), s->edges, "%s", name);
	for (i = 0; i < s->edges; i++) {
		const u64 edge = s->edge[i];

		KUNIT_EXPECT_EQ_MSG(test, csig_bucket(s, edge - 1), i, "%s: below %u", name, i);
		KUNIT_EXPECT_EQ_MSG(test, csig_bucket(s, edge), i + 1, "%s: at %u", name, i);
		KUNIT_EXPECT_EQ_MSG(test, csig_low(s, CSIG_COMPACT, i + 1), edge, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, csig_high(s, CSIG_COMPACT, i), edge, "%s", name);
	}
	KUNIT_EXPECT_EQ_MSG(test, csig_low(s, CSIG_COMPACT, 0), 0ULL, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, csig_high(s, CSIG_COMPACT, s->edges), U64_MAX, "%s", name);
}

static void presets_test(struct kunit *test)
{
	static const u32 bases[] = { TC_CSIG_POW2_DEFAULT_KBIT_PS, TC_CSIG_POW2_DEFAULT_PPM,
				     TC_CSIG_POW2_DEFAULT_NS, 2, TC_CSIG_POW2_BASE_MAX };
	struct csig_scale s = { .quantum = 1 };
	int i;

	s.edges = TC_CSIG_EDGES_MAX;
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		tc_csig_pow2(s.edge, bases[i]);
		KUNIT_EXPECT_EQ(test, s.edge[0], bases[i]);
		KUNIT_EXPECT_EQ(test, s.edge[1], bases[i] + bases[i] / 2);
		KUNIT_EXPECT_EQ(test, s.edge[30], bases[i] << 15);
		expect_every_boundary(test, &s, "pow2");
	}
	s.edges = TC_CSIG_APPENDIX_A_EDGES;
	for (i = 0; i < CSIG_TYPES; i++) {
		tc_csig_appendix_a(s.edge, i);
		expect_every_boundary(test, &s, "appendix A");
	}
	/* max(PD) of table 2, in us */
	KUNIT_EXPECT_EQ(test, csig_encode(&s, CSIG_COMPACT, 9999), 0U);
	KUNIT_EXPECT_EQ(test, csig_encode(&s, CSIG_COMPACT, 10000), 1U);
	KUNIT_EXPECT_EQ(test, csig_encode(&s, CSIG_COMPACT, 800000), 6U);
	KUNIT_EXPECT_EQ(test, csig_encode(&s, CSIG_COMPACT, 2000001), 7U);
	KUNIT_EXPECT_EQ(test, csig_low(&s, CSIG_COMPACT, 8), U64_MAX);
}

static void random_scale(struct csig_scale *s)
{
	u32 i, edge = 0;

	s->quantum = 1 + random_u32() % 10000;
	s->edges = 1 + random_u32() % CSIG_EDGES;
	for (i = 0; i < s->edges; i++) {
		edge += 1 + (random_u32() & ((1U << random_u32() % 27) - 1));
		s->edge[i] = edge;
	}
}

/* With random tables and values, the code equals a simple reference, and its bucket matches. */
static void reference_test(struct kunit *test)
{
	struct csig_scale s;
	int n, form;

	for (n = 0; n < 1000000; n++) {
		const u64 value = random_u32() >> random_u32() % 32;
		u32 want;

		if (n % 100 == 0) {
			random_scale(&s);
			expect_every_boundary(test, &s, "random");
		}
		want = naive_bucket(&s, value);
		KUNIT_ASSERT_EQ(test, csig_encode(&s, CSIG_COMPACT, value), want);
		want = min_t(u64, value / s.quantum, 1048575);
		KUNIT_ASSERT_EQ(test, csig_encode(&s, CSIG_EXPANDED, value), want);
		for (form = CSIG_COMPACT; form < CSIG_FORMS; form++) {
			const u32 code = csig_encode(&s, form, value);

			KUNIT_ASSERT_TRUE(test, csig_low(&s, form, code) <= value &&
					  value < csig_high(&s, form, code));
			/* csig_high() tells if a value has a greater code, without encoding it. */
			want = (random_u32() & csig_shapes[form].value_max) >> random_u32() % 20;
			KUNIT_ASSERT_EQ(test, code > want, value >= csig_high(&s, form, want));
		}
	}
}

static const struct {
	u32 quantum;
	u64 value;
	u32 want;
} quantum_cases[] = {
	{ 1, 0, 0 }, { 1, 1, 1 }, { 1, 1048574, 1048574 }, { 1, 1048575, 1048575 },
	{ 1, 1048576, 1048575 }, { 1, U64_MAX, 1048575 },
	/* 8 Mbit/s: up to 8 Tbit/s */
	{ 8000, 7999, 0 }, { 8000, 8000, 1 }, { 8000, 20000000, 2500 },
	{ 8000, 8388600000ULL, 1048575 }, { 8000, 8388599999ULL, 1048574 },
	{ 8000, 9000000000ULL, 1048575 },
	/* 128 ns: up to 134 ms */
	{ 128, 127, 0 }, { 128, 18000, 140 }, { 128, 134217599, 1048574 },
	{ 128, 134217600, 1048575 }, { 128, 1000000000, 1048575 },
	{ U32_MAX, U32_MAX - 1, 0 }, { U32_MAX, U32_MAX, 1 }, { U32_MAX, U64_MAX, 1048575 },
};

static void quantum_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(quantum_cases); i++) {
		const struct csig_scale s = { .quantum = quantum_cases[i].quantum };

		KUNIT_EXPECT_EQ_MSG(test, csig_encode(&s, CSIG_EXPANDED, quantum_cases[i].value),
				    quantum_cases[i].want, "case %d", i);
	}
}

static void scale_ok_test(struct kunit *test)
{
	struct csig_scale s = { .quantum = 1, .edges = 2, .edge = { 1, 2 } };

	KUNIT_EXPECT_TRUE(test, csig_scale_ok(&s));
	s.edge[1] = 1;
	KUNIT_EXPECT_FALSE(test, csig_scale_ok(&s));
	s.edge[1] = 0;
	KUNIT_EXPECT_FALSE(test, csig_scale_ok(&s));
	s = (struct csig_scale) { .quantum = 1, .edges = 2, .edge = { 0, 2 } };
	KUNIT_EXPECT_FALSE(test, csig_scale_ok(&s));
	s = (struct csig_scale) { .quantum = 0, .edges = 1, .edge = { 1 } };
	KUNIT_EXPECT_FALSE(test, csig_scale_ok(&s));
	s = (struct csig_scale) { .quantum = 1, .edges = 32, .edge = { 1 } };
	KUNIT_EXPECT_FALSE(test, csig_scale_ok(&s));
	s = (struct csig_scale) { .quantum = 1 };
	KUNIT_EXPECT_TRUE(test, csig_scale_ok(&s));
}

/* The type, the tag's value, the hop's value, and if the tag is replaced. */
static const struct {
	u32 type, had, own;
	bool replaced;
} replace_cases[] = {
	{ CSIG_ABW, 31, 31, false }, { CSIG_ABW, 31, 30, true }, { CSIG_ABW, 5, 6, false },
	{ CSIG_ABW, 0, 0, false }, { CSIG_ABW, 1, 0, true },
	{ CSIG_ABW_C, 5, 4, true }, { CSIG_ABW_C, 5, 5, false }, { CSIG_ABW_C, 5, 31, false },
	{ CSIG_PD, 0, 0, false }, { CSIG_PD, 0, 1, true }, { CSIG_PD, 7, 6, false },
	{ CSIG_PD, 30, 31, true }, { CSIG_PD, 31, 31, false },
};

/* Value and locator are replaced together or not at all; reserved bits stay. */
static void replace_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(replace_cases); i++) {
		struct csig_tag t = { replace_cases[i].type, replace_cases[i].had, 99, 1 };
		const bool replaced = csig_replace(&t, replace_cases[i].own, 55);
		const struct csig_tag want = {
			replace_cases[i].type,
			replaced ? replace_cases[i].own : replace_cases[i].had,
			replaced ? 55 : 99, 1,
		};

		KUNIT_EXPECT_EQ_MSG(test, replaced, replace_cases[i].replaced, "case %d", i);
		expect_tag(test, &t, &want, i);
	}
	KUNIT_EXPECT_EQ(test, csig_initial(CSIG_COMPACT, CSIG_ABW), 31U);
	KUNIT_EXPECT_EQ(test, csig_initial(CSIG_EXPANDED, CSIG_ABW_C), 1048575U);
	KUNIT_EXPECT_EQ(test, csig_initial(CSIG_EXPANDED, CSIG_PD), 0U);
}

/* The path of figure 5: ABW in kbit/s, ABW/C in ppm and PD in ns of each hop. */
static void figure5_test(struct kunit *test)
{
	static const u32 hops[5][CSIG_TYPES] = {
		{ 100000000, 125000, 10000 }, { 95000000, 950000, 3000 },
		{ 70000000, 700000, 18000 }, { 90000000, 900000, 5000 },
		{ 20000000, 500000, 8000 },
	};
	static const u32 worst[CSIG_TYPES] = { 4, 0, 2 };
	static const u32 quanta[CSIG_TYPES] = { 8000, 1, 128 };
	u32 hop, type;

	for (type = 0; type < CSIG_TYPES; type++) {
		const struct csig_scale s = { .quantum = quanta[type] };
		struct csig_tag t = { type, csig_initial(CSIG_EXPANDED, type), 0, 0 };

		for (hop = 0; hop < 5; hop++)
			csig_replace(&t, csig_encode(&s, CSIG_EXPANDED, hops[hop][type]), hop + 1);
		KUNIT_EXPECT_EQ(test, t.locator, worst[type] + 1);
		KUNIT_EXPECT_EQ(test, t.value, hops[worst[type]][type] / quanta[type]);
	}
}

static const struct {
	enum csig_form form;
	struct tc_csig_layout layout;
	bool ok;
	u32 locator;
} layout_cases[] = {
	{ CSIG_COMPACT, { .constant = 0 }, true, 0 },
	{ CSIG_COMPACT, { .constant = 127 }, true, 127 },
	{ CSIG_COMPACT, { .constant = 128 }, false, 0 },
	{ CSIG_EXPANDED, { .constant = 65535 }, true, 65535 },
	/* capacity 9 | stage 5 -> 1001 101 */
	{ CSIG_COMPACT, { .fields = 2, .field = { { TC_CSIG_WHAT_CAPACITY, 4 },
						  { TC_CSIG_WHAT_STAGE, 3 } } }, true, 0x4d },
	/* one bit too many */
	{ CSIG_COMPACT, { .fields = 2, .field = { { TC_CSIG_WHAT_CAPACITY, 4 },
						  { TC_CSIG_WHAT_STAGE, 4 } } }, false, 0 },
	/* stage 5 | orientation 2 -> 0..0 101 10 */
	{ CSIG_COMPACT, { .fields = 2, .field = { { TC_CSIG_WHAT_STAGE, 3 },
						  { TC_CSIG_WHAT_ORIENTATION, 2 } } }, true, 0x16 },
	/* a TTL of 200 saturates at 127 */
	{ CSIG_COMPACT, { .fields = 1, .field = { { TC_CSIG_WHAT_TTL, 7 } } }, true, 127 },
	{ CSIG_EXPANDED, { .fields = 2, .field = { { TC_CSIG_WHAT_DEVICE, 8 },
						   { TC_CSIG_WHAT_TTL, 8 } } }, true, 0x33c8 },
	{ CSIG_EXPANDED, { .fields = 1, .field = { { TC_CSIG_WHAT_PORT, 16 } } }, true, 0x1234 },
	{ CSIG_EXPANDED, { .fields = 1, .field = { { TC_CSIG_WHAT_PORT, 17 } } }, false, 0 },
	{ CSIG_EXPANDED, { .fields = 1, .field = { { TC_CSIG_WHATS, 4 } } }, false, 0 },
	{ CSIG_EXPANDED, { .fields = 1, .field = { { TC_CSIG_WHAT_PORT, 0 } } }, false, 0 },
	{ CSIG_EXPANDED, { .fields = 7 }, false, 0 },
	{ CSIG_EXPANDED, { .fields = 6, .field = { { TC_CSIG_WHAT_CAPACITY, 4 },
						   { TC_CSIG_WHAT_STAGE, 3 },
						   { TC_CSIG_WHAT_ORIENTATION, 2 },
						   { TC_CSIG_WHAT_TTL, 1 },
						   { TC_CSIG_WHAT_ORIENTATION, 2 },
						   { TC_CSIG_WHAT_CAPACITY, 4 } } },
	  true, 0x9b69 },
};

static void layout_test(struct kunit *test)
{
	static const u32 attrs[TC_CSIG_WHATS] = { 9, 5, 2, 0x1234, 0x33, 0 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(layout_cases); i++) {
		const struct tc_csig_layout *l = &layout_cases[i].layout;

		KUNIT_EXPECT_EQ_MSG(test, scsig_layout_ok(l, layout_cases[i].form),
				    layout_cases[i].ok, "case %u", i);
		if (layout_cases[i].ok)
			KUNIT_EXPECT_EQ_MSG(test, scsig_compose(l, attrs, 200),
					    layout_cases[i].locator, "case %u", i);
	}
}

static void misfit_test(struct kunit *test)
{
	static const struct tc_csig_layout l = {
		.fields = 2, .field = { { TC_CSIG_WHAT_STAGE, 3 }, { TC_CSIG_WHAT_TTL, 2 } },
	};
	u32 attrs[TC_CSIG_WHATS] = { 15, 7, 65535, 65535, 65535, 255 };

	KUNIT_EXPECT_EQ(test, scsig_layout_misfit(&l, attrs), (u32)TC_CSIG_WHATS);
	attrs[TC_CSIG_WHAT_STAGE] = 8;
	KUNIT_EXPECT_EQ(test, scsig_layout_misfit(&l, attrs), (u32)TC_CSIG_WHAT_STAGE);
}

static struct kunit_case scsig_cases[] = {
	KUNIT_CASE(wire_test),
	KUNIT_CASE(bits_test),
	KUNIT_CASE(place_test),
	KUNIT_CASE(deep_test),
	KUNIT_CASE(random_frame_test),
	KUNIT_CASE(presets_test),
	KUNIT_CASE(reference_test),
	KUNIT_CASE(quantum_test),
	KUNIT_CASE(scale_ok_test),
	KUNIT_CASE(replace_test),
	KUNIT_CASE(figure5_test),
	KUNIT_CASE(layout_test),
	KUNIT_CASE(misfit_test),
	{}
};

static struct kunit_suite scsig_suite = {
	.name = "csig",
	.test_cases = scsig_cases,
};

kunit_test_suite(scsig_suite);

MODULE_DESCRIPTION("KUnit tests of CSIG's tag");
MODULE_LICENSE("GPL");
