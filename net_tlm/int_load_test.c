// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of u from reduced records with values that can be checked by hand; run in the kernel and on
 * the host. A port of 10 Gbit/s and T = 100 us: a BDP is 125000 bytes. tlm_sim.t has whole flows.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "int_load.c"

#define T_NS		100000U
#define BDP_BYTES	125000U
#define US		1000ULL
#define ETA		996147U		/* 0.95 */
/* 0.97 of the target, scaled to eta: 0.9215 */
#define IDLE		966262U
#define TX		(TLM_HAS(INT_LAYOUT_TX) | TLM_HAS(INT_LAYOUT_NS))
#define BASE		(TLM_HAS(INT_LAYOUT_QUEUE) | TLM_HAS(INT_LAYOUT_SPEED))

static const struct hpcc_params params = {
	.t_ns = T_NS, .eta = ETA,
};

/* The kernel's stack is small. */
static struct tlm_vars vars;
static struct tlm_path path;

static const struct tlm_record empty_record = {
	.ts_period_ns = 1ULL << 40, .tx_period_bytes = 1ULL << 32, .mbit_ps = 10000,
	.node_id = 1, .port_id = 2, .ts_res_ns = 1,
};

static struct tlm_record record(u16 has, u64 us, u64 tx_bytes, u32 queue_bytes)
{
	struct tlm_record r = empty_record;

	r.has = has | BASE;
	r.ts_ns = us * US;
	r.tx_bytes = tx_bytes;
	r.queue_bytes = queue_bytes;
	return r;
}

static void start(void)
{
	memset(&vars, 0, sizeof(vars));
	memset(&path, 0, sizeof(path));
	path.hops = 1;
	path.records = 1;
}

/* An answer with one record at a time. @own_mbit: rate of the flow */
static enum hpcc_received answer(struct tlm_load *load, struct tlm_record r, u64 us, u32 rtt_us,
				 u32 own_mbit)
{
	const struct tlm_sample s = { .now_ns = (us + 1) * US, .rtt_ns = rtt_us * US,
				      .own_bytes_ps = own_mbit * 125000ULL };

	path.record[0] = r;
	return ntlm_receive(&vars, &params, &path, &s, load);
}

static void share_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntlm_share(BDP_BYTES, 10000, T_NS), HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, ntlm_share(0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, ntlm_share(1, 1, 8000), HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, ntlm_share(U64_MAX, 1, 1), U32_MAX);
	KUNIT_EXPECT_EQ(test, ntlm_share(U64_MAX, TLM_MBIT_MAX, 1ULL << 40), U32_MAX);
	/* Scaled down, to within 2^-20 */
	KUNIT_EXPECT_EQ(test, ntlm_share(200000000000ULL, TLM_MBIT_MAX, TLM_NS_PER_S),
			HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, ntlm_since(5, 3, 0), 2);
	KUNIT_EXPECT_EQ(test, ntlm_since(3, U64_MAX, 0), 4);
	KUNIT_EXPECT_EQ(test, ntlm_since(3, 253, 256), 6);
}

/* Two records T apart: what u is. */
static const struct pair_case {
	const char *what;
	u16 has;
	u32 sent_bytes, util, queue_first, queue, own_mbit, u;
} pair_cases[] = {
	{ "counter: three quarters", TX, BDP_BYTES * 3 / 4, 0, 0, 0, 0, HPCC_U_ONE * 3 / 4 },
	{ "counter: full, queue of half a BDP", TX, BDP_BYTES, 0, 65576, 70000, 0,
	  HPCC_U_ONE * 3 / 2 },
	{ "counter: the shorter queue counts", TX, BDP_BYTES, 0, 900000, 3076, 0, HPCC_U_ONE },
	{ "counter: nearly idle, the least u", TX, 1538, 0, 0, 0, 0, ETA / 2 },
	{ "counter: slightly above the speed counts as full", TX, 130000, 0, 0, 0, 0, HPCC_U_ONE },
	{ "utilisation: a half", TLM_HAS(INT_LAYOUT_UTIL), 0, HPCC_U_ONE * 3 / 5, 0, 0, 0,
	  HPCC_U_ONE * 3 / 5 },
	{ "utilisation: 1.25 counts as full", TLM_HAS(INT_LAYOUT_UTIL), 0, TLM_UTIL_MAX, 0, 0, 0,
	  HPCC_U_ONE },
	{ "queue of 10 %: 1.1 of 1.05, scaled", 0, 0, 0, 12500, 20000, 0, 1043583 },
	{ "queue in one of both only: idle", 0, 0, 0, 0, 20000, 1000, IDLE },
	{ "queue 0, the own rate is 1.05 of the port", 0, 0, 0, 0, 1, 10500, ETA },
};

static void pair_test(struct kunit *test)
{
	struct tlm_load load;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pair_cases); i++) {
		const struct pair_case *c = &pair_cases[i];
		struct tlm_record r = record(c->has, 1000, 4294900000ULL, c->queue_first);

		start();
		r.util = c->util;
		KUNIT_EXPECT_EQ_MSG(test, answer(&load, r, 0, 100, c->own_mbit),
				    HPCC_RECEIVED_FIRST, "%s", c->what);
		r.ts_ns += T_NS;
		/* The counter wraps. */
		r.tx_bytes = (r.tx_bytes + c->sent_bytes) & U32_MAX;
		r.queue_bytes = c->queue;
		KUNIT_EXPECT_EQ_MSG(test, answer(&load, r, 100, 100, c->own_mbit),
				    HPCC_RECEIVED_NEW, "%s", c->what);
		/* Rounding is up to 2 in 2^20. */
		KUNIT_EXPECT_LE_MSG(test, abs((int)load.u - (int)c->u), 2, "%s: %u", c->what,
				    load.u);
		KUNIT_EXPECT_EQ_MSG(test, load.tau_ns, T_NS, "%s", c->what);
	}
}

/* Answers T apart: in each, the clock and the counter advance by these. */
static const struct lie_case {
	const char *what;
	u64 dt_ns;
	u32 sent_bytes;
	u32 res_ns, refresh_ns;
	enum tlm_source want;		/* after 40 answers */
	bool implausible;
} lie_cases[] = {
	{ "the truth", T_NS, BDP_BYTES / 2, 1, 0, TLM_SOURCE_TX, false },
	{ "a clock in us, a busy port", T_NS / 1000, BDP_BYTES / 2, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "a clock in ns, read as us", T_NS * 1000ULL, BDP_BYTES / 2, 1, 0, TLM_SOURCE_QUEUE,
	  true },
	{ "a clock that runs backwards", -(u64)T_NS, BDP_BYTES / 2, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "a clock that stands still", 0, BDP_BYTES / 2, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "a counter that stands still", T_NS, 0, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "it may do so, for longer", T_NS, 0, 1, 2 * T_NS * TLM_FROZEN_RTTS, TLM_SOURCE_TX,
	  false },
	{ "1 1/16 of the speed", T_NS, BDP_BYTES + BDP_BYTES / 16, 1, 0, TLM_SOURCE_TX, false },
	{ "more than that", T_NS, BDP_BYTES + BDP_BYTES / 16 + 2, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "ten times the speed", T_NS, BDP_BYTES * 10, 1, 0, TLM_SOURCE_QUEUE, true },
	{ "a coarse clock: every second answer", T_NS, BDP_BYTES / 2, T_NS / 10, 0, TLM_SOURCE_TX,
	  false },
};

static void lie_test(struct kunit *test)
{
	struct tlm_load load;
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(lie_cases); i++) {
		const struct lie_case *c = &lie_cases[i];
		struct tlm_record r = record(TX, 500000000, 0, 0);

		start();
		r.ts_res_ns = c->res_ns;
		r.tx_refresh_ns = c->refresh_ns;
		for (n = 0; n < 40; n++) {
			/* A queue that changes, so that it is not the one that is frozen */
			r.queue_bytes = 5000 + n % 2;
			answer(&load, r, n * 100, 100, 5000);
			r.ts_ns = (r.ts_ns + c->dt_ns) & (r.ts_period_ns - 1);
			r.tx_bytes = (r.tx_bytes + c->sent_bytes) & U32_MAX;
		}
		KUNIT_EXPECT_EQ_MSG(test, vars.hop[0].source, c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, !!vars.implausible, c->implausible, "%s", c->what);
	}
}

/* Answers 20 T apart, and a hop that sends less than a unit of its counter each time. */
static void coarse_test(struct kunit *test)
{
	struct tlm_record r = record(TX, 1000, 0, 0);
	struct tlm_load load;
	u32 n;

	start();
	for (n = 0; n < 100; n++) {
		answer(&load, r, n * 2000, 100, 5000);
		r.ts_ns = (r.ts_ns + 20ULL * T_NS) & (r.ts_period_ns - 1);
		r.tx_bytes += n % (TLM_FROZEN_ANSWERS / 2) ? 0 : 2048;
	}
	KUNIT_EXPECT_EQ(test, vars.hop[0].source, TLM_SOURCE_TX);
	KUNIT_EXPECT_EQ(test, vars.implausible, 0);
}

/* A single step of the clock costs one answer; the counter goes on. */
static void step_test(struct kunit *test)
{
	struct tlm_record r = record(TX, 1000, 0, 0);
	struct tlm_load load;
	u32 n, got = 0;

	start();
	for (n = 0; n < 30; n++) {
		r.ts_ns += n == 10 ? TLM_NS_PER_S : n == 20 ? -(u64)TLM_NS_PER_S : T_NS;
		r.tx_bytes += BDP_BYTES / 2;
		got += answer(&load, r, n * 100, 100, 5000) == HPCC_RECEIVED_NEW;
	}
	KUNIT_EXPECT_EQ(test, got, 30 - 1 - 2);
	KUNIT_EXPECT_EQ(test, vars.implausible, 2);
	KUNIT_EXPECT_EQ(test, vars.hop[0].source, TLM_SOURCE_TX);
}

/* A counter that is updated every 4 T is used when it has changed, over that time. */
static void refresh_test(struct kunit *test)
{
	struct tlm_record r = record(TX, 1000, 0, 0);
	struct tlm_load load;
	u32 n;

	start();
	r.tx_refresh_ns = 4 * T_NS;
	for (n = 0; n <= 8; n++) {
		enum hpcc_received want = n % 4 ? HPCC_RECEIVED_SAME : HPCC_RECEIVED_NEW;

		r.tx_bytes = n / 4 * 3 * BDP_BYTES;
		KUNIT_EXPECT_EQ_MSG(test, answer(&load, r, n * 100, 100, 5000),
				    n ? want : HPCC_RECEIVED_FIRST, "answer %u", n);
		r.ts_ns += T_NS;
	}
	KUNIT_EXPECT_EQ(test, load.u, HPCC_U_ONE * 3 / 4);
	KUNIT_EXPECT_EQ(test, load.tau_ns, 4 * T_NS);
}

/* Until a queue was seen, an empty one only lets the window grow by W_ai. */
static void unproven_test(struct kunit *test)
{
	struct tlm_load load;

	start();
	answer(&load, record(0, 0, 0, 0), 0, 100, 1000);
	answer(&load, record(0, 0, 0, 0), 100, 100, 1000);
	KUNIT_EXPECT_LE(test, abs((int)load.u - (int)ETA), 1);
	answer(&load, record(0, 0, 0, 1), 200, 100, 1000);
	answer(&load, record(0, 0, 0, 0), 300, 100, 1000);
	KUNIT_EXPECT_LE(test, abs((int)load.u - (int)IDLE), 2);
}

/* A queue that stands although the flow reduces its rate is not true; one that does not may be. */
static void frozen_test(struct kunit *test)
{
	struct tlm_load load;
	u32 n;

	start();
	for (n = 0; n < 100; n++)
		answer(&load, record(0, 0, 0, 100000), n * 100, 100, 5000);
	KUNIT_EXPECT_EQ(test, vars.hop[0].source, TLM_SOURCE_QUEUE);
	for (; n < 120; n++)
		answer(&load, record(0, 0, 0, 100000), n * 100, 100, 2000);
	KUNIT_EXPECT_EQ(test, vars.hop[0].source, TLM_SOURCE_NONE);
	KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, 0), n * 100, 100, 2000),
			HPCC_RECEIVED_NOTHING);
	/* Longer than a BDP */
	start();
	for (n = 0; n < 20; n++)
		answer(&load, record(0, 0, 0, 130000), n * 100, 100, 5000);
	KUNIT_EXPECT_EQ(test, vars.hop[0].source, TLM_SOURCE_NONE);
}

/* RTTs of 2 T and the slack are possible without a queue; longer ones end in Reno. */
static void guard_test(struct kunit *test)
{
	struct tlm_load load;
	u32 n;

	start();
	for (n = 0; n < 100; n++)
		KUNIT_EXPECT_NE(test, answer(&load, record(0, 0, 0, 0), n * 250, 250, 1000),
				HPCC_RECEIVED_NOTHING);
	/* The round in which it is longer: no growth */
	KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, 0), n++ * 251, 251, 1000),
			HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_EQ(test, load.u, HPCC_U_ONE);
	for (; n < 107; n++)
		KUNIT_EXPECT_NE(test, answer(&load, record(0, 0, 0, 0), n * 251, 251, 1000),
				HPCC_RECEIVED_NOTHING);
	for (; n < 110; n++)
		KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, 0), n * 251, 251, 1000),
				HPCC_RECEIVED_NOTHING);
	/* A reported queue of 200 us explains it. */
	start();
	for (n = 0; n < 100; n++)
		KUNIT_EXPECT_NE(test, answer(&load, record(0, 0, 0, 250000 + n), n * 500, 500,
					     1000), HPCC_RECEIVED_NOTHING);
}

/* A path with an unknown hop is neither idle nor saturated; with unknown hops only, nothing. */
static void unknown_test(struct kunit *test)
{
	const struct tlm_sample first = { .now_ns = US }, second = { .now_ns = 101 * US };
	const struct tlm_record none = { .bad = TLM_BAD_LAYOUT };
	struct tlm_load load;

	start();
	path.records = 2;
	path.hops = 2;
	path.record[0] = none;
	path.record[1] = record(TX, 1000, 0, 0);
	KUNIT_EXPECT_EQ(test, ntlm_receive(&vars, &params, &path, &first, &load),
			HPCC_RECEIVED_FIRST);
	path.record[1] = record(TX, 1100, BDP_BYTES / 2, 0);
	KUNIT_EXPECT_EQ(test, ntlm_receive(&vars, &params, &path, &second, &load),
			HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_EQ(test, load.u, ETA);
	KUNIT_EXPECT_EQ(test, load.unknown, 1);
	KUNIT_EXPECT_EQ(test, vars.hop[0].u, 0);
	KUNIT_EXPECT_GT(test, vars.hop[1].u, 0);
	start();
	KUNIT_EXPECT_EQ(test, answer(&load, none, 0, 100, 1000), HPCC_RECEIVED_FIRST);
	KUNIT_EXPECT_EQ(test, answer(&load, none, 100, 100, 1000), HPCC_RECEIVED_NOTHING);
	path.records = 0;
	KUNIT_EXPECT_EQ(test, ntlm_receive(&vars, &params, &path, &second, &load),
			HPCC_RECEIVED_NOTHING);
}

/* Another path, another speed, and a pause: records are only stored. */
static void restart_test(struct kunit *test)
{
	struct tlm_record r = record(TX, 1000, 0, 0);
	struct tlm_load load;

	start();
	KUNIT_EXPECT_EQ(test, answer(&load, r, 0, 100, 0), HPCC_RECEIVED_FIRST);
	path.path_id = 7;
	KUNIT_EXPECT_EQ(test, answer(&load, r, 100, 100, 0), HPCC_RECEIVED_PATH);
	r.port_id++;
	KUNIT_EXPECT_EQ(test, answer(&load, r, 200, 100, 0), HPCC_RECEIVED_PATH);
	r.mbit_ps = 40000;
	r.ts_ns += T_NS;
	r.tx_bytes += BDP_BYTES;
	KUNIT_EXPECT_EQ(test, answer(&load, r, 300, 100, 0), HPCC_RECEIVED_SAME);
	r.ts_ns += T_NS;
	r.tx_bytes += BDP_BYTES * 3;
	KUNIT_EXPECT_EQ(test, answer(&load, r, 400, 100, 0), HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_EQ(test, load.u, HPCC_U_ONE * 3 / 4);
	r.ts_ns += 65000 * US;
	KUNIT_EXPECT_EQ(test, answer(&load, r, 65400, 100, 0), HPCC_RECEIVED_SAME);
	KUNIT_EXPECT_EQ(test, vars.implausible, 0);
}

/* A flow with the minimum window and packets of 9000 bytes has an answer every 565 T. */
static void slow_test(struct kunit *test)
{
	struct tlm_load load;

	start();
	KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, BDP_BYTES), 0, 100, 1),
			HPCC_RECEIVED_FIRST);
	KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, BDP_BYTES * 2), 56500, 100, 1),
			HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_TRUE(test, load.u > HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, answer(&load, record(0, 0, 0, 0), 113000, 100, 1), HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_TRUE(test, load.u <= ETA);
	start();
	KUNIT_EXPECT_EQ(test, answer(&load, record(TX, 1000, 0, 0), 0, 100, 1),
			HPCC_RECEIVED_FIRST);
	KUNIT_EXPECT_EQ(test, answer(&load, record(TX, 57500, BDP_BYTES * 280, 0), 56500, 100, 1),
			HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_EQ(test, load.u, (u32)((280ULL << HPCC_U_SHIFT) / 565));
}

static struct kunit_case int_load_cases[] = {
	KUNIT_CASE(share_test),
	KUNIT_CASE(pair_test),
	KUNIT_CASE(lie_test),
	KUNIT_CASE(coarse_test),
	KUNIT_CASE(step_test),
	KUNIT_CASE(refresh_test),
	KUNIT_CASE(unproven_test),
	KUNIT_CASE(frozen_test),
	KUNIT_CASE(guard_test),
	KUNIT_CASE(unknown_test),
	KUNIT_CASE(restart_test),
	KUNIT_CASE(slow_test),
	{}
};

static struct kunit_suite int_load_suite = {
	.name = "int_load",
	.test_cases = int_load_cases,
};

kunit_test_suite(int_load_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of u from reduced records");
