/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit's surface on the host: the same source becomes a program that prints
 * TAP, one line a case, and exits 1 if one failed.
 */
#ifndef SHIM_KUNIT_TEST_H
#define SHIM_KUNIT_TEST_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define KUNIT_PARAM_DESC_SIZE 128

struct kunit {
	void *priv;
	const void *param_value;
	bool failed;
	jmp_buf abort;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[256];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn) { .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen) { .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(name, array, get_desc)				\
	static const void *name##_gen_params(const void *prev, char *desc)	\
	{									\
		__typeof__((array)[0]) *next = (array);				\
		void (*describe)(__typeof__(next), char *) = get_desc;		\
										\
		if (prev)							\
			next = (__typeof__(next))prev + 1;			\
		if (next == (array) + ARRAY_SIZE(array))			\
			return NULL;						\
		if (describe)							\
			describe(next, desc);					\
		return next;							\
	}

#define kunit_info(test, fmt, ...) ((void)(test), printf("# " fmt "\n", ##__VA_ARGS__))
#define kunit_err kunit_info

#define shim_fail(test, fmt, ...) do {						\
	(test)->failed = true;							\
	printf("# %s:%d: ", __FILE__, __LINE__);				\
	printf(fmt "\n", ##__VA_ARGS__);					\
} while (0)

#define shim_check(test, a, op, b, stop, fmt, ...) do {				\
	__typeof__((a) + 0) l_ = (a);						\
	__typeof__((b) + 0) r_ = (b);						\
	_Static_assert(sizeof(l_) <= 8 && sizeof(r_) <= 8, "");			\
	if (!(l_ op r_)) {							\
		shim_fail(test, "want %s %s %s: %lld (0x%llx), %lld (0x%llx) " fmt, \
			  #a, #op, #b, (long long)l_, (long long)l_,		\
			  (long long)r_, (long long)r_, ##__VA_ARGS__);		\
		if (stop)							\
			longjmp((test)->abort, 1);				\
	}									\
} while (0)

#define KUNIT_FAIL(test, fmt, ...) shim_fail(test, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_EQ(t, a, b) shim_check(t, a, ==, b, 0, "")
#define KUNIT_EXPECT_NE(t, a, b) shim_check(t, a, !=, b, 0, "")
#define KUNIT_EXPECT_LT(t, a, b) shim_check(t, a, <, b, 0, "")
#define KUNIT_EXPECT_LE(t, a, b) shim_check(t, a, <=, b, 0, "")
#define KUNIT_EXPECT_GT(t, a, b) shim_check(t, a, >, b, 0, "")
#define KUNIT_EXPECT_GE(t, a, b) shim_check(t, a, >=, b, 0, "")
#define KUNIT_EXPECT_TRUE(t, a) shim_check(t, !!(a), ==, 1, 0, "")
#define KUNIT_EXPECT_FALSE(t, a) shim_check(t, !!(a), ==, 0, 0, "")
#define KUNIT_ASSERT_EQ(t, a, b) shim_check(t, a, ==, b, 1, "")
#define KUNIT_ASSERT_NE(t, a, b) shim_check(t, a, !=, b, 1, "")
#define KUNIT_ASSERT_LE(t, a, b) shim_check(t, a, <=, b, 1, "")
#define KUNIT_ASSERT_TRUE(t, a) shim_check(t, !!(a), ==, 1, 1, "")
#define KUNIT_EXPECT_EQ_MSG(t, a, b, ...) shim_check(t, a, ==, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, a, b, ...) shim_check(t, a, !=, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, a, b, ...) shim_check(t, a, <, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, a, b, ...) shim_check(t, a, <=, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, a, b, ...) shim_check(t, a, >, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, a, b, ...) shim_check(t, a, >=, b, 0, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE_MSG(t, a, ...) shim_check(t, !!(a), ==, 1, 0, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, a, ...) shim_check(t, !!(a), ==, 0, 0, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, a, b, ...) shim_check(t, a, ==, b, 1, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(t, a, ...) shim_check(t, !!(a), ==, 1, 1, __VA_ARGS__)
#define KUNIT_EXPECT_STREQ(t, a, b) shim_check(t, strcmp(a, b), ==, 0, 0, "")

static inline void shim_run_once(const struct kunit_suite *suite,
				 const struct kunit_case *c, struct kunit *test)
{
	if (setjmp(test->abort))
		return;
	if (suite->init && suite->init(test)) {
		test->failed = true;
		return;
	}
	c->run_case(test);
	if (suite->exit)
		suite->exit(test);
}

static inline bool shim_run_case(const struct kunit_suite *suite,
				 const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	struct kunit test = { 0 };
	bool before;

	if (!c->generate_params) {
		shim_run_once(suite, c, &test);
		return !test.failed;
	}
	for (;;) {
		test.param_value = c->generate_params(test.param_value, desc);
		if (!test.param_value)
			return !test.failed;
		before = test.failed;
		test.failed = false;
		shim_run_once(suite, c, &test);
		if (test.failed)
			printf("# in %s: %s\n", c->name, desc);
		test.failed |= before;
	}
}

static inline int shim_run_suites(struct kunit_suite *const *suites, size_t n)
{
	int count = 0, failures = 0;
	const struct kunit_case *c;
	size_t i;

	for (i = 0; i < n; i++) {
		for (c = suites[i]->test_cases; c->run_case; c++) {
			bool ok = shim_run_case(suites[i], c);

			failures += !ok;
			printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", ++count,
			       suites[i]->name, c->name);
		}
	}
	printf("1..%d\n", count);
	return failures ? 1 : 0;
}

#define kunit_test_suites(...)							\
	int main(void)								\
	{									\
		struct kunit_suite *const suites[] = { __VA_ARGS__ };		\
										\
		return shim_run_suites(suites, ARRAY_SIZE(suites));		\
	}									\
	_Static_assert(1, "")

#define kunit_test_suite(suite) kunit_test_suites(&(suite))

#endif
