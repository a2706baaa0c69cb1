// SPDX-License-Identifier: GPL-2.0
/* Tests of the option by which carriers negotiate, among others. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <hopcc/wire/hop_option.h>

#define MSS	0x02, 0x04, 0x05, 0xb4
#define NOP	0x01
#define ASKS	0xfe, 0x10, 0x48, 0x4f, 0x01, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8

static const struct option_case {
	const char *what;
	u8 opts[40];
	unsigned int bytes;
	bool want, want_append;
} option_cases[] = {
	{ "none", { }, 0, false, true },
	{ "alone", { ASKS }, 16, true, true },
	{ "behind others", { MSS, NOP, NOP, NOP, NOP, ASKS }, 24, true, true },
	{ "behind the end", { MSS, 0, 0, 0, 0, ASKS }, 24, false, false },
	{ "truncated", { ASKS }, 15, false, false },
	{ "another experiment", { 0xfe, 0x10, 0x48, 0x50 }, 16, false, true },
	{ "another kind", { 0xfd, 0x10, 0x48, 0x4f }, 16, false, true },
	{ "another length", { 0xfe, 0x04, 0x48, 0x4f }, 4, false, true },
	{ "too short for an ID", { 0xfe, 0x03, 0x48, NOP }, 4, false, true },
	{ "no length", { 0xfe }, 1, false, false },
	{ "a length of 0", { 0xfe, 0, 0x48, 0x4f }, 4, false, false },
	{ "signed by MD5", { 19, 18, [18] = NOP, [19] = NOP }, 20, false, false },
	{ "signed by AO", { 29, 4, 1, 1, ASKS }, 20, true, false },
};

static void option_test(struct kunit *test)
{
	struct hop_option o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(option_cases); i++) {
		const struct option_case *c = &option_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, hop_option_read(c->opts, c->bytes, HOP_OPTION_EXID, &o),
				    c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hop_option_may_append(c->opts, c->bytes), c->want_append,
				    "%s", c->what);
		if (!c->want)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, o.asks, HOP_OPTION_INT, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, o.answers, 0, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(o.cookie), 0x0102030405060708ULL, "%s",
				    c->what);
	}
}

static void written_test(struct kunit *test)
{
	struct hop_option o, read;

	hop_option_init(&o, 0x1234);
	o.answers = HOP_OPTION_INT | HOP_OPTION_CSIG;
	KUNIT_EXPECT_EQ(test, sizeof(o), HOP_OPTION_BYTES);
	KUNIT_EXPECT_TRUE(test, hop_option_read((const u8 *)&o, sizeof(o), 0x1234, &read));
	KUNIT_EXPECT_EQ(test, memcmp(&o, &read, sizeof(o)), 0);
	KUNIT_EXPECT_FALSE(test, hop_option_read((const u8 *)&o, sizeof(o), 0x1235, &read));
}

static struct kunit_case hop_option_cases[] = {
	KUNIT_CASE(option_test),
	KUNIT_CASE(written_test),
	{}
};

static struct kunit_suite hop_option_suite = {
	.name = "hop_option",
	.test_cases = hop_option_cases,
};

kunit_test_suite(hop_option_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the TCP option by which carriers negotiate");
