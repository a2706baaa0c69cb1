// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the texts of net.hopcc.csig_rules and csig_buckets, and of lists of names; run in the
 * kernel and on the host. In the kernel they also check that the host's in4_pton() and so on behave
 * as the kernel's do.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <hopcc/lib/hop_names.h>

#include "csig_text.c"

#define TEXT_BYTES 320

static const struct rule_case {
	const char *text;
	int err;
	u8 prefix_bits;
	u8 prefix_end[4];
	u16 port;
	u32 mark;
	u32 mark_mask;
	u32 every_pkts;
	u8 packets;
	u8 form;
	bool udp;
} rule_cases[] = {
	{ "to 192.0.2.0/24", 0, 120, { 192, 0, 2, 0 }, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "to 192.0.2.1", 0, 128, { 192, 0, 2, 1 }, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "to 192.0.2.1/0", 0, 96, { 192, 0, 2, 1 }, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "to 2001:db8::1:2/64", 0, 64, { 0, 1, 0, 2 }, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "to ::ffff:1.2.3.4", 0, 128, { 1, 2, 3, 4 }, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "\t port 5001  every 10 expanded", 0, .port = 5001, .every_pkts = 10,
	  .form = CSIG_EXPANDED },
	{ "udp mark 0x10/0xff", 0, .mark = 16, .mark_mask = 255, .every_pkts = 1,
	  .form = CSIG_COMPACT, .udp = true },
	{ "mark 010 probes", 0, .mark = 8, .mark_mask = U32_MAX, .every_pkts = 1,
	  .packets = CTAG_PROBES, .form = CSIG_COMPACT },
	{ "every +1000000", 0, .every_pkts = 1000000, .form = CSIG_COMPACT },
	{ "every 1\xa0", 0, .every_pkts = 1, .form = CSIG_COMPACT },
	{ "to 2001:db8::1 to 192.0.2.1", 0, 128, { 192, 0, 2, 1 }, .every_pkts = 1,
	  .form = CSIG_COMPACT },
	{ "to 192.0.2.1/33", .err = -EINVAL },
	{ "to 192.0.2.1/", .err = -EINVAL },
	{ "to 192.0.2.1/8/8", .err = -EINVAL },
	{ "to 192.0.2.1/-1", .err = -EINVAL },
	{ "to 192.0.2.1-192.0.2.9", .err = -EINVAL },
	{ "to 192.0.2.1:5001", .err = -EINVAL },
	{ "to 192.0.2", .err = -EINVAL },
	{ "to 192.0.2.1.", .err = -EINVAL },
	{ "to 2001:db8::/129", .err = -EINVAL },
	{ "to 2001:db8::1-2", .err = -EINVAL },
	{ "to 2001:db8::1%eth0", .err = -EINVAL },
	{ "to ::1.2.3.4:5", .err = -EINVAL },
	{ "to", .err = -EINVAL },
	{ "port 0", .err = -EINVAL },
	{ "port 65536", .err = -EINVAL },
	{ "port 1x", .err = -EINVAL },
	{ "every 0", .err = -EINVAL },
	{ "every 1000001", .err = -EINVAL },
	{ "every 4294967297", .err = -EINVAL },
	{ "mark 3/1", .err = -EINVAL },
	{ "mark 1/", .err = -EINVAL },
	{ "mark", .err = -EINVAL },
	{ "udp probes", .err = -EINVAL },
	{ "often 1", .err = -EINVAL },
	{ "Compact", .err = -EINVAL },
};

static void rule_desc(const struct rule_case *c, char *desc)
{
	strcpy(desc, c->text);
}

KUNIT_ARRAY_PARAM(rule, rule_cases, rule_desc);

static void rule_test(struct kunit *test)
{
	const struct rule_case *c = test->param_value;
	struct ctag_rule rule[CTAG_RULES_MAX];
	char text[TEXT_BYTES];
	u32 count;

	strcpy(text, c->text);
	KUNIT_ASSERT_EQ(test, ctag_parse_rules(text, rule, &count), c->err);
	KUNIT_EXPECT_EQ(test, count, 1);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, rule->prefix_bits, c->prefix_bits);
	KUNIT_EXPECT_EQ(test, memcmp(&rule->prefix.s6_addr[12], c->prefix_end, 4), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rule->port), c->port);
	KUNIT_EXPECT_EQ(test, rule->mark, c->mark);
	KUNIT_EXPECT_EQ(test, rule->mark_mask, c->mark_mask);
	KUNIT_EXPECT_EQ(test, rule->every_pkts, c->every_pkts);
	KUNIT_EXPECT_EQ(test, rule->packets, c->packets);
	KUNIT_EXPECT_EQ(test, rule->form, c->form);
	KUNIT_EXPECT_EQ(test, rule->udp, c->udp);
}

/* Rules are separated by semicolons and newlines; empty ones do not count; 16 are allowed. */
static void rules_test(struct kunit *test)
{
	struct ctag_rule rule[CTAG_RULES_MAX];
	char text[TEXT_BYTES] = "port 1;;\t\n port 2\n";
	u32 count, i;

	KUNIT_EXPECT_EQ(test, ctag_parse_rules(text, rule, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rule[1].port), 2);
	text[0] = 0;
	KUNIT_EXPECT_EQ(test, ctag_parse_rules(text, rule, &count), 0);
	KUNIT_EXPECT_EQ(test, count, 0);
	for (i = 0; i < CTAG_RULES_MAX; i++)
		memcpy(text + 4 * i, "udp;", 5);
	KUNIT_EXPECT_EQ(test, ctag_parse_rules(text, rule, &count), 0);
	KUNIT_EXPECT_EQ(test, count, CTAG_RULES_MAX);
	for (i = 0; i <= CTAG_RULES_MAX; i++)
		memcpy(text + 4 * i, "udp;", 5);
	KUNIT_EXPECT_EQ(test, ctag_parse_rules(text, rule, &count), -E2BIG);
}

#define EDGES_31 "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 " \
	"29 30 31"

static const struct scale_case {
	const char *text;
	int err;
	u32 type;
	u32 edges;
	u32 first;
	u32 last;
} scale_cases[] = {
	{ "", 0, CSIG_ABW, 31, 32000, 1048576000 },
	{ "abw 1000000 5000000", 0, CSIG_ABW, 2, 1000000, 5000000 },
	{ "abw 1; pd 7\nabw_c pow2 2", 0, CSIG_ABW_C, 31, 2, 65536 },
	{ "abw pow2 131071", 0, CSIG_ABW, 31, 131071, 4294934528U },
	{ "abw 3; abw 5", 0, CSIG_ABW, 1, 5, 5 },
	{ "abw_c 3", 0, CSIG_ABW, 31, 32000, 1048576000 },
	{ "pd appendix_a", 0, CSIG_PD, 7, 10000, 2000000 },
	{ "pd 4294967295", 0, CSIG_PD, 1, U32_MAX, U32_MAX },
	{ "pd " EDGES_31,
	  0, CSIG_PD, 31, 1, 31 },
	{ "pd " EDGES_31 " 32",
	  .err = -EINVAL },
	{ "pd 4294967296", .err = -EINVAL },
	{ "pd 0", .err = -EINVAL },
	{ "pd 2 2", .err = -EINVAL },
	{ "pd", .err = -EINVAL },
	{ "pd 1 x", .err = -EINVAL },
	{ "pd pow2", .err = -EINVAL },
	{ "pd pow2 1", .err = -EINVAL },
	{ "pd pow2 131072", .err = -EINVAL },
	{ "pd pow2 2 3", .err = -EINVAL },
	{ "pd appendix_a 1", .err = -EINVAL },
	{ "loss 1", .err = -EINVAL },
	{ "1 2", .err = -EINVAL },
};

static void scale_desc(const struct scale_case *c, char *desc)
{
	strcpy(desc, c->text);
}

KUNIT_ARRAY_PARAM(scale, scale_cases, scale_desc);

static void scale_test(struct kunit *test)
{
	const struct scale_case *c = test->param_value;
	struct csig_scale scale[CSIG_TYPES];
	char text[TEXT_BYTES];

	strcpy(text, c->text);
	KUNIT_ASSERT_EQ(test, ctag_parse_scales(text, scale), c->err);
	if (c->err)
		return;
	KUNIT_EXPECT_EQ(test, scale[c->type].edges, c->edges);
	KUNIT_EXPECT_EQ(test, scale[c->type].edge[0], c->first);
	KUNIT_EXPECT_EQ(test, scale[c->type].edge[c->edges - 1], c->last);
	KUNIT_EXPECT_EQ(test, scale[c->type].quantum, 1);
}

static void names_test(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, hop_names_has("csig", "csig"));
	KUNIT_EXPECT_TRUE(test, hop_names_has("csig2 xcsig,\tcsig\n", "csig"));
	KUNIT_EXPECT_FALSE(test, hop_names_has("csig2 xcsig", "csig"));
	KUNIT_EXPECT_FALSE(test, hop_names_has("csi", "csig"));
	KUNIT_EXPECT_FALSE(test, hop_names_has(" ,", "csig"));
	KUNIT_EXPECT_FALSE(test, hop_names_has("", "csig"));
}

static struct kunit_case ctag_text_cases[] = {
	KUNIT_CASE_PARAM(rule_test, rule_gen_params),
	KUNIT_CASE(rules_test),
	KUNIT_CASE_PARAM(scale_test, scale_gen_params),
	KUNIT_CASE(names_test),
	{}
};

static struct kunit_suite ctag_text_suite = {
	.name = "csig_text",
	.test_cases = ctag_text_cases,
};

kunit_test_suite(ctag_text_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the texts of CSIG's sysctls");
