// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of CSIG's end-host algorithms with values that can be checked by hand; run in the kernel
 * and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "csig_carrier.c"

#define EXID 0x4353
#define MS 1000000ULL
/* In place of a format: the option is not there. */
#define NO_OPTION (CSIG_FORMS + 1)

static const struct opt_case {
	const char *what;
	u8 bytes;
	u8 opts[40];
	enum csig_form want;
	u8 data[CSIG_DATA_MAX_BYTES];
	bool has_end;
} opt_cases[] = {
	{ "none", 0, {}, NO_OPTION, {}, true },
	{ "others: timestamps", 12, { 1, 1, 8, 10 }, NO_OPTION, {}, true },
	{ "empty", 4, { 253, 4, 0x43, 0x53 }, CSIG_NONE, {}, true },
	{ "another's", 4, { 253, 4, 0x43, 0x54 }, NO_OPTION, {}, true },
	{ "another's, then ours", 8, { 253, 4, 0x43, 0x54, 253, 4, 0x43, 0x53 },
	  CSIG_NONE, {}, true },
	{ "compact, behind two NOPs", 8, { 1, 1, 253, 6, 0x43, 0x53, 0xab, 0xcd },
	  CSIG_COMPACT, { 0xab, 0xcd }, true },
	{ "expanded", 12, { 1, 1, 253, 10, 0x43, 0x53, 1, 2, 3, 4, 5, 6 },
	  CSIG_EXPANDED, { 1, 2, 3, 4, 5, 6 }, true },
	{ "of a length between", 8, { 253, 8, 0x43, 0x53 }, CSIG_FORMS, {}, true },
	{ "one more than empty", 8, { 253, 5, 0x43, 0x53, 0, 1, 1, 1 }, CSIG_FORMS, {}, true },
	{ "one more than a compact tag's", 8, { 253, 7, 0x43, 0x53, 1, 1, 1, 1 },
	  CSIG_FORMS, {}, true },
	{ "longer than the options", 4, { 253, 6, 0x43, 0x53 }, NO_OPTION, {}, false },
	{ "no room for an ExID", 3, { 253, 4, 0x43 }, NO_OPTION, {}, false },
	{ "shorter than an ExID", 4, { 253, 3, 0x43, 1 }, NO_OPTION, {}, true },
	{ "behind the end", 8, { 0, 1, 1, 1, 253, 4, 0x43, 0x53 }, NO_OPTION, {}, false },
	{ "a length of 0", 8, { 8, 0, 1, 1, 253, 4, 0x43, 0x53 }, NO_OPTION, {}, false },
	{ "a kind without its length", 4, { 1, 1, 1, 253 }, NO_OPTION, {}, false },
	{ "signed, MD5", 20, { 1, 1, 19, 18 }, NO_OPTION, {}, false },
	{ "signed, AO", 16, { 29, 16 }, NO_OPTION, {}, false },
};

static void opt_desc(const struct opt_case *c, char *desc)
{
	strcpy(desc, c->what);
}

KUNIT_ARRAY_PARAM(opt, opt_cases, opt_desc);

static void opt_test(struct kunit *test)
{
	const struct opt_case *c = test->param_value;
	const u8 *opt = hop_option_find(c->opts, c->bytes, CSIG_OPT_KIND, EXID);
	const u32 form = opt ? ctag_opt_form(opt) : NO_OPTION;

	KUNIT_EXPECT_EQ(test, form, c->want);
	if (form == CSIG_COMPACT || form == CSIG_EXPANDED)
		KUNIT_EXPECT_EQ(test, memcmp(opt + CSIG_OPT_HEAD_BYTES, c->data,
					     csig_data_bytes(form)), 0);
	KUNIT_EXPECT_EQ(test, hop_option_may_append(c->opts, c->bytes), c->has_end);
}

/* A written option fills whole words and can be read back. */
static void write_test(struct kunit *test)
{
	static const u32 bytes[CSIG_FORMS] = { 4, 8, 12 };
	static const struct csig_tag t = { .type = 2, .value = 17, .locator = 99 };
	u8 to[CSIG_OPT_HEAD_BYTES + 2 + CSIG_DATA_MAX_BYTES];
	enum csig_form form;

	for (form = CSIG_NONE; form < CSIG_FORMS; form++) {
		const u8 *opt;

		KUNIT_ASSERT_EQ(test, ctag_opt_bytes(form), bytes[form]);
		ctag_opt_write(to, EXID, form, &t);
		opt = hop_option_find(to, bytes[form], CSIG_OPT_KIND, EXID);
		KUNIT_ASSERT_TRUE(test, opt);
		KUNIT_EXPECT_EQ(test, ctag_opt_form(opt), form);
		KUNIT_EXPECT_EQ(test, hop_option_may_append(to, bytes[form]), true);
		if (form) {
			const struct csig_tag got = csig_read(form, opt + CSIG_OPT_HEAD_BYTES);

			KUNIT_EXPECT_EQ(test, memcmp(&got, &t, sizeof(t)), 0);
		}
	}
}

/* A mark is read as it was written; with any bit changed it is not accepted. */
static void mark_test(struct kunit *test)
{
	static const struct csig_tag t = { .type = 1, .value = 30, .locator = 77, .reserved = 1 };
	const u64 secret = 0x123456789abcdef0ULL;
	u8 mark[CSIG_MARK_BYTES] = {};
	enum csig_form form;
	struct csig_tag got;
	u32 bit, taken = 0;

	KUNIT_EXPECT_EQ(test, ctag_mark_read(mark, &got, secret), CSIG_NONE);
	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++) {
		ctag_mark_write(mark, form, &t, secret);
		KUNIT_ASSERT_EQ(test, ctag_mark_read(mark, &got, secret), form);
		KUNIT_EXPECT_EQ(test, memcmp(&got, &t, sizeof(t)), 0);
		KUNIT_EXPECT_EQ(test, ctag_mark_read(mark, &got, secret + 1), CSIG_NONE);
		for (bit = 0; bit < 8 * CSIG_MARK_BYTES; bit++) {
			mark[bit / 8] ^= 1 << bit % 8;
			taken += ctag_mark_read(mark, &got, secret) != CSIG_NONE;
			mark[bit / 8] ^= 1 << bit % 8;
		}
	}
	KUNIT_EXPECT_EQ(test, taken, 0);
}

static const struct turn_case {
	const char *what;
	u32 weight_pkts[CSIG_TYPES];
	char want[12];
} turn_cases[] = {
	{ "one each", { 1, 1, 1 }, "012012012" },
	{ "in a row", { 3, 1, 2 }, "000122000" },
	{ "one never", { 1, 0, 2 }, "022022022" },
	{ "one only", { 0, 1, 0 }, "111111111" },
	{ "none", { 0, 0, 0 }, "333333333" },
};

static void turn_desc(const struct turn_case *c, char *desc)
{
	strcpy(desc, c->what);
}

KUNIT_ARRAY_PARAM(turn, turn_cases, turn_desc);

static void turn_test(struct kunit *test)
{
	const struct turn_case *c = test->param_value;
	u32 i;

	for (i = 0; c->want[i]; i++)
		KUNIT_EXPECT_EQ(test, ctag_turn(i, c->weight_pkts), c->want[i] - '0');
}

/* The latest tag is reflected, whatever came before it, also in the other format. */
static void received_test(struct kunit *test)
{
	static const struct csig_tag bad = { .type = CSIG_PD, .value = 30, .locator = 3 };
	static const struct csig_tag good = { .type = CSIG_PD, .value = 2, .locator = 1 };
	struct ctag_received h = {};

	ctag_receive(&h, CSIG_COMPACT, &good);
	ctag_receive(&h, CSIG_COMPACT, &bad);
	KUNIT_EXPECT_EQ(test, h.latest.value, 30);
	KUNIT_EXPECT_EQ(test, h.latest.locator, 3);
	KUNIT_EXPECT_TRUE(test, h.fresh);
	ctag_reflected(&h, 3);
	KUNIT_EXPECT_FALSE(test, h.fresh);
	ctag_receive(&h, CSIG_EXPANDED, &good);
	KUNIT_EXPECT_EQ(test, h.form, CSIG_EXPANDED);
	KUNIT_EXPECT_EQ(test, h.latest.locator, 1);
	KUNIT_EXPECT_TRUE(test, h.fresh);
}

/* Among the fresh signals, the one that was not reflected for longest is chosen. */
static void pick_test(struct kunit *test)
{
	static const struct csig_tag t;
	struct ctag_received h[CSIG_TYPES] = {};
	static const u32 want[] = { 0, 1, 2, 0, 1, 2 };
	u32 i, j;

	KUNIT_EXPECT_EQ(test, ctag_reflect_pick(h), CSIG_TYPES);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		for (j = 0; j < CSIG_TYPES; j++)
			ctag_receive(&h[j], CSIG_COMPACT, &t);
		KUNIT_ASSERT_EQ(test, ctag_reflect_pick(h), want[i]);
		ctag_reflected(&h[want[i]], 10 + i);
	}
	h[0].fresh = false;
	KUNIT_EXPECT_EQ(test, ctag_reflect_pick(h), CSIG_ABW_C);
}

/*
 * An event at a time in ms. t: a packet is about to be sent; @arg: it may carry a tag, and then
 * does. u: the tag was not sent after all. v: a value is reflected. e: an ACK of @arg tagged
 * packets reports that no tag was received.
 */
struct path_step {
	u32 ms;
	char what;
	u32 arg;
};

#define TIMEOUT_NS (40 * MS)
#define RETRY_NS (1000 * MS)

static const struct path_case {
	const char *what;
	struct path_step step[14];
	enum ctag_path_state want;
} path_cases[] = {
	{ "one until a value comes back, then all",
	  { { 0, 't', 1 }, { 1, 't', 0 }, { 2, 't', 0 }, { 10, 'v', 0 }, { 10, 't', 1 },
	    { 11, 't', 1 } },
	  CSIG_PATH_PROVEN },
	{ "three that nobody answers",
	  { { 0, 't', 1 }, { 40, 't', 0 }, { 41, 't', 1 }, { 81, 't', 0 }, { 82, 't', 1 },
	    { 123, 't', 0 }, { 200, 't', 0 } }, CSIG_PATH_STRIPPED },
	{ "three that did not come", { { 0, 't', 1 }, { 1, 'e', 1 }, { 1, 't', 1 }, { 2, 'e', 2 },
	  { 2, 't', 1 }, { 3, 'e', 3 }, { 3, 't', 0 } }, CSIG_PATH_STRIPPED },
	{ "one that did not come, one that did", { { 0, 't', 1 }, { 1, 'e', 1 }, { 1, 't', 1 },
	  { 2, 'v', 0 }, { 2, 't', 1 }, { 2, 't', 1 } }, CSIG_PATH_PROVEN },
	{ "an empty one for what left before is none", { { 0, 't', 1 }, { 1, 'e', 0 },
	  { 1, 't', 0 } }, CSIG_PATH_UNPROVEN },
	{ "proven, then stripped", { { 0, 't', 1 }, { 1, 'v', 0 }, { 1, 't', 1 }, { 2, 't', 1 },
	  { 2, 'e', 2 }, { 2, 't', 1 }, { 3, 't', 0 }, { 3, 'e', 4 }, { 3, 't', 1 }, { 4, 'e', 9 },
	  { 5, 't', 0 } }, CSIG_PATH_STRIPPED },
	{ "another try after a while", { { 0, 't', 1 }, { 1, 'e', 1 }, { 1, 't', 1 }, { 2, 'e', 2 },
	  { 2, 't', 1 }, { 3, 'e', 3 }, { 1002, 't', 0 }, { 1003, 't', 1 }, { 1004, 't', 0 },
	  { 1005, 'v', 0 }, { 1005, 't', 1 }, { 1005, 't', 1 } }, CSIG_PATH_PROVEN },
	{ "one try, no more", { { 0, 't', 1 }, { 1, 'e', 1 }, { 1, 't', 1 }, { 2, 'e', 2 },
	  { 2, 't', 1 }, { 3, 'e', 3 }, { 1003, 't', 1 }, { 1004, 'e', 4 }, { 1005, 't', 0 },
	  { 2003, 't', 0 }, { 2004, 't', 1 } }, CSIG_PATH_UNPROVEN },
	{ "one that did not leave is not waited for", { { 0, 't', 1 }, { 0, 'u', 0 }, { 1, 't', 1 },
	  { 1, 'u', 0 }, { 50, 't', 1 }, { 50, 'u', 0 }, { 99, 't', 1 }, { 99, 't', 0 },
	  { 100, 'v', 0 } }, CSIG_PATH_PROVEN },
	{ "of a proven path neither", { { 0, 't', 1 }, { 1, 'v', 0 }, { 2, 't', 1 }, { 2, 'u', 0 },
	  { 99, 't', 1 } }, CSIG_PATH_PROVEN },
	{ "it was not the one that is waited for", { { 0, 't', 1 }, { 1, 'v', 0 }, { 2, 't', 1 },
	  { 3, 't', 1 }, { 3, 'u', 0 }, { 43, 't', 1 } }, CSIG_PATH_UNPROVEN },
	{ "an idle flow stays proven", { { 0, 't', 1 }, { 1, 'v', 0 }, { 9000, 't', 1 },
	  { 9001, 't', 1 } }, CSIG_PATH_PROVEN },
};

static void path_desc(const struct path_case *c, char *desc)
{
	strcpy(desc, c->what);
}

KUNIT_ARRAY_PARAM(path, path_cases, path_desc);

static void path_test(struct kunit *test)
{
	const struct path_case *c = test->param_value;
	struct csig_path p = {};
	const struct path_step *s;
	u32 tags = 0;

	for (s = c->step; s->what; s++) {
		const u64 now_ns = (s->ms + 5000) * MS;
		bool may;

		switch (s->what) {
		case 't':
			may = ctag_path_may_tag(&p, now_ns, TIMEOUT_NS, RETRY_NS);
			KUNIT_EXPECT_EQ(test, may, s->arg);
			if (may)
				ctag_path_tagged(&p, ++tags, now_ns);
			break;
		case 'u':
			ctag_path_unsent(&p);
			break;
		case 'v':
			ctag_path_answered(&p);
			break;
		case 'e':
			ctag_path_empty(&p, s->arg, now_ns);
			break;
		}
	}
	KUNIT_EXPECT_EQ(test, p.state, c->want);
}

/* Sequence numbers wrap. */
static void path_wrap_test(struct kunit *test)
{
	struct csig_path p = {};

	ctag_path_tagged(&p, 5, 1);
	ctag_path_empty(&p, 0xfffffff0, 2);
	KUNIT_EXPECT_EQ(test, p.misses, 0);
	ctag_path_empty(&p, 5, 3);
	KUNIT_EXPECT_EQ(test, p.misses, 1);
}

static void timeout_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ctag_timeout_ns(0), 1000 * MS);
	KUNIT_EXPECT_EQ(test, ctag_timeout_ns(20), 4 * MS);
	KUNIT_EXPECT_EQ(test, ctag_timeout_ns(100000), 400 * MS);
}

/* The worst tag of a signal is kept; signals are taken in the order of their arrival or by type. */
static void decap_test(struct kunit *test)
{
	static const struct csig_tag abw = { .type = CSIG_ABW, .value = 20, .locator = 1 };
	static const struct csig_tag less = { .type = CSIG_ABW, .value = 12, .locator = 2 };
	static const struct csig_tag more = { .type = CSIG_ABW, .value = 30, .locator = 3 };
	static const struct csig_tag late = { .type = CSIG_PD, .value = 5, .locator = 4 };
	static const struct csig_tag later = { .type = CSIG_PD, .value = 9, .locator = 5 };
	struct ctag_decap d = {};
	struct csig_tag t;

	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_TYPES, &t, MS), CSIG_NONE);
	ctag_decap_put(&d, CSIG_COMPACT, &late, MS);
	ctag_decap_put(&d, CSIG_COMPACT, &abw, 2 * MS);
	ctag_decap_put(&d, CSIG_COMPACT, &less, 3 * MS);
	ctag_decap_put(&d, CSIG_COMPACT, &more, 3 * MS);
	ctag_decap_put(&d, CSIG_COMPACT, &later, 3 * MS);
	KUNIT_EXPECT_EQ(test, ctag_decap_waiting(&d, 3 * MS), 2);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_ABW_C, &t, 3 * MS), CSIG_NONE);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_TYPES, &t, 3 * MS), CSIG_COMPACT);
	KUNIT_EXPECT_EQ(test, memcmp(&t, &later, sizeof(t)), 0);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_PD, &t, 3 * MS), CSIG_NONE);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_ABW, &t, 3 * MS), CSIG_COMPACT);
	KUNIT_EXPECT_EQ(test, memcmp(&t, &less, sizeof(t)), 0);
	KUNIT_EXPECT_EQ(test, ctag_decap_waiting(&d, 3 * MS), 0);
}

/* A tag that was not taken expires; a tag of the other format replaces a waiting one. */
static void decap_old_test(struct kunit *test)
{
	static const struct csig_tag bad = { .type = CSIG_PD, .value = 31 };
	static const struct csig_tag good = { .type = CSIG_PD, .value = 1 };
	struct ctag_decap d = {};
	struct csig_tag t;

	ctag_decap_put(&d, CSIG_COMPACT, &bad, MS);
	KUNIT_EXPECT_EQ(test, ctag_decap_waiting(&d, 11 * MS), 1);
	KUNIT_EXPECT_EQ(test, ctag_decap_waiting(&d, 11 * MS + 1), 0);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_TYPES, &t, 11 * MS + 1), CSIG_NONE);
	ctag_decap_put(&d, CSIG_COMPACT, &good, 12 * MS);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_TYPES, &t, 22 * MS), CSIG_COMPACT);
	KUNIT_EXPECT_EQ(test, t.value, 1);
	ctag_decap_put(&d, CSIG_COMPACT, &bad, 30 * MS);
	ctag_decap_put(&d, CSIG_EXPANDED, &good, 30 * MS);
	KUNIT_EXPECT_EQ(test, ctag_decap_take(&d, CSIG_PD, &t, 30 * MS), CSIG_EXPANDED);
	KUNIT_EXPECT_EQ(test, t.value, 1);
}

static struct kunit_case ctag_carrier_cases[] = {
	KUNIT_CASE_PARAM(opt_test, opt_gen_params),
	KUNIT_CASE(write_test),
	KUNIT_CASE(mark_test),
	KUNIT_CASE_PARAM(turn_test, turn_gen_params),
	KUNIT_CASE(received_test),
	KUNIT_CASE(pick_test),
	KUNIT_CASE_PARAM(path_test, path_gen_params),
	KUNIT_CASE(path_wrap_test),
	KUNIT_CASE(timeout_test),
	KUNIT_CASE(decap_test),
	KUNIT_CASE(decap_old_test),
	{}
};

static struct kunit_suite ctag_carrier_suite = {
	.name = "csig_carrier",
	.test_cases = ctag_carrier_cases,
};

kunit_test_suite(ctag_carrier_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the CSIG carrier");
