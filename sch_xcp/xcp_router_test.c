// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the algorithm in xcp_router.h, by line of the draft; run in the kernel and on the host
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <uapi/linux/pkt_sched_xcp.h>
#include "xcp_router.c"

#define MS 1000000ULL
#define ONE_MS (MS << XCP_TIME_SHIFT)
#define Q16(x) ((s64)(x) * 65536)

/* 10 Mbyte/s; alpha 0.4, beta 0.2, gamma 0.1, up to rounding by 2^-32 */
/* A port with one transmit queue */
static const struct sxcp_others alone;

static struct sxcp_params params(void)
{
	return (struct sxcp_params){
		.capacity_bytes_ps = 10000000,
		.alpha_q32 = sxcp_gain_q32(400000),
		.beta_q32 = sxcp_gain_q32(200000),
		.gamma_q32 = sxcp_gain_q32(100000),
		.min_interval_ns = MS,
		.max_interval_ns = 1000 * MS,
		.allowed_queue_ns = 2 * MS,
		.e2e_share_q32 = sxcp_gain_q32(1000000),
		.protocol = XCP_PROTOCOL_DEFAULT,
	};
}

static struct sxcp_pkt asking(u32 bytes, u32 rtt_us, u32 throughput_bytes_pms, s32 delta)
{
	return (struct sxcp_pkt){
		.class = XCP_CLASS_ASKING,
		.format = XCP_FORMAT_MICRO,
		.pkts = 1,
		.bytes = bytes,
		.rtt_us = rtt_us,
		.throughput_bytes_pms = throughput_bytes_pms,
		.delta_bytes_ps = delta,
	};
}

/* Return: true if @got is within 2^-28 of @want plus @units */
static bool near(u64 got, u64 want, u64 units)
{
	u64 off = got > want ? got - want : want - got;

	return off <= (want >> 28) + units;
}

/* Values that can be checked by hand: bytes * 10^6 ns * 4096 / (bytes/ms). */
static const struct {
	u32 bytes, throughput_bytes_pms;
	u64 want;
} time_cases[] = {
	{ 0,		1,		0 },
	{ 1,		1,		4096000000ULL },
	{ 1500,		1,		6144000000000ULL },
	{ 1500,		1500,		4096000000ULL },
	{ 1500,		3,		2048000000000ULL },
	{ 1500,		7,		877714285714ULL },
	/* 10 Gbit/s: 1200 ns */
	{ 1500,		1250000,	4915200ULL },
	/* 1.6 Tbit/s */
	{ 1500,		200000000,	30720ULL },
	{ 64,		200000000,	1311ULL },
	{ 64,		U32_MAX,	61ULL },
	{ 1,		U32_MAX,	1ULL },
	{ S32_MAX,	U32_MAX,	2048000000ULL },
	{ S32_MAX,	1,		8796093018112000000ULL },
};

static void time_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(time_cases); i++) {
		u64 got = sxcp_time(time_cases[i].bytes, time_cases[i].throughput_bytes_pms);

		KUNIT_EXPECT_EQ_MSG(test, got, time_cases[i].want, "%u / %u",
				    time_cases[i].bytes, time_cases[i].throughput_bytes_pms);
	}
}

static const struct {
	u64 num, den, x;
	s64 want;
} ratio_cases[] = {
	{ 0, 1, 1000, 0 },
	{ 0, U64_MAX, U64_MAX, 0 },
	{ 1, 1, 0, 0 },
	{ 1, 1, 1, 1 },
	{ 1, 2, 1, 0 },
	{ 3, 2, 1000, 1500 },
	{ 1, U64_MAX, U64_MAX, 1 },
	{ U64_MAX, U64_MAX, 1000000000, 1000000000 },
	{ U64_MAX, 1, 1, XCP_RATE_MAX_Q16 },
	{ U64_MAX, 1, U64_MAX, XCP_RATE_MAX_Q16 },
	{ 1ULL << 59, 1, 1, 1LL << 59 },
	{ 1, 1, 1ULL << 59, 1LL << 59 },
	{ 1ULL << 40, 1ULL << 50, 1ULL << 60, 1LL << 50 },
};

static void ratio_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ratio_cases); i++) {
		const struct sxcp_ratio r = sxcp_ratio(ratio_cases[i].num, ratio_cases[i].den);
		s64 got = sxcp_ratio_times(&r, ratio_cases[i].x);

		KUNIT_EXPECT_TRUE_MSG(test, near(got, ratio_cases[i].want, 1), "case %zu: %lld", i,
				      got);
	}
}

/* Lines 1 to 6. A packet of 1500 bytes at 1500 bytes/ms has a packet time of 1 ms. */
static const struct {
	const char *name;
	enum sxcp_class class;
	u32 rtt_us;
	u64 sum_ms, sum_rtt_ms;
} arrival_cases[] = {
	{ "line 4",		XCP_CLASS_ASKING, 80000, 1, 80 },
	{ "line 3, below",	XCP_CLASS_ASKING, 999000, 1, 999 },
	{ "line 6",		XCP_CLASS_ASKING, 1000001, 1, 1000 },
	{ "line 6, far",	XCP_CLASS_ASKING, U32_MAX, 1, 1000 },
	{ "line 1 only",	XCP_CLASS_OTHER, 80000, 0, 0 },
	{ "minimal",		XCP_CLASS_MINIMAL, 80000, 0, 0 },
	{ "malformed",		XCP_CLASS_MALFORMED, 80000, 0, 0 },
	{ "not known",		XCP_CLASS_UNKNOWN, 0, 0, 0 },
};

static void arrival_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(arrival_cases); i++) {
		struct sxcp_pkt pkt = asking(1500, arrival_cases[i].rtt_us, 1500, 0);
		struct sxcp_vars v = {};

		pkt.class = arrival_cases[i].class;
		sxcp_arrive(&v, &p, &pkt);
		KUNIT_EXPECT_EQ_MSG(test, v.input_bytes, 1500ULL, "%s", arrival_cases[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.sum_time, arrival_cases[i].sum_ms * ONE_MS, 1),
				      "%s", arrival_cases[i].name);
		sxcp_update_avg_rtt(&v);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.avg_rtt_time,
						 arrival_cases[i].sum_rtt_ms * ONE_MS, 1 << 20),
				      "%s: %llu", arrival_cases[i].name, v.avg_rtt_time);
	}
}

/* Line 7: the mean is weighted by packet times; a sum that would overflow stays unchanged. */
static void avg_rtt_test(struct kunit *test)
{
	struct sxcp_params p = params();
	struct sxcp_pkt fast = asking(1500, 10000, 3000, 0), slow = asking(1500, 40000, 1000, 0);
	struct sxcp_pkt liar = asking(S32_MAX, U32_MAX, 1, 0);
	struct sxcp_vars v = { .avg_rtt_time = 7, .ctl_interval_ns = 10000 * MS };
	int i;

	sxcp_update_avg_rtt(&v);
	KUNIT_EXPECT_EQ(test, v.avg_rtt_time, 7ULL);
	/* (0.5 ms * 10 ms + 1.5 ms * 40 ms) / 2 ms */
	sxcp_arrive(&v, &p, &fast);
	sxcp_arrive(&v, &p, &slow);
	sxcp_update_avg_rtt(&v);
	KUNIT_EXPECT_TRUE(test, near(v.avg_rtt_time, 65 * ONE_MS / 2, 1 << 16));

	p.max_interval_ns = 10000 * MS;
	liar.pkts = 1 << 19;
	for (i = 0; i < 5; i++)
		sxcp_arrive(&v, &p, &liar);
	sxcp_update_avg_rtt(&v);
	KUNIT_EXPECT_TRUE(test, near(v.avg_rtt_time, 10000 * ONE_MS, 1ULL << 29));
}

static struct sxcp_vars pools(s64 pos, s64 neg)
{
	return (struct sxcp_vars){
		.residue_pos_q16 = Q16(pos),
		.residue_neg_q16 = Q16(neg),
		.cp = pos ? sxcp_ratio(Q16(1000), ONE_MS) : (struct sxcp_ratio){},
		.cn = neg ? sxcp_ratio(Q16(300), 1500) : (struct sxcp_ratio){},
	};
}

/*
 * One packet counts up to the control interval, whatever its header claims; before the first mean
 * RTT, up to max_interval, which is 1 s. 1500 bytes at 1500 bytes/ms take 1 ms.
 */
static const struct {
	const char *name;
	u64 avg_rtt_ms, ctl_ms;
	u32 pkts, throughput_bytes_pms;
	u64 want_ms, want_bounded;
} bound_cases[] = {
	{ "below",		8, 8, 1, 1500, 1, 0 },
	{ "one an interval",	8, 8, 1, 188, 8, 0 },
	{ "forged",		8, 8, 1, 1, 8, 1 },
	{ "forged GSO packet",	8, 8, 10, 1, 80, 10 },
	{ "honest GSO packet",	8, 8, 10, 188, 80, 0 },
	{ "above the mean RTT",	8, 20, 1, 100, 15, 0 },
	{ "first packets",	0, 1, 1, 15, 100, 0 },
	{ "first, forged",	0, 1, 1, 1, 1000, 1 },
};

static void bound_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bound_cases); i++) {
		struct sxcp_pkt pkt = asking(1500 * bound_cases[i].pkts, U32_MAX,
					     bound_cases[i].throughput_bytes_pms, S32_MAX);
		const u64 want_time = bound_cases[i].want_ms * ONE_MS;
		struct sxcp_vars v = pools(1000000000, 0);

		v.avg_rtt_time = bound_cases[i].avg_rtt_ms * ONE_MS;
		v.ctl_interval_ns = bound_cases[i].ctl_ms * MS;
		pkt.pkts = bound_cases[i].pkts;
		sxcp_arrive(&v, &p, &pkt);
		/* 1500 / 188 is 0.3 % below 8. */
		KUNIT_EXPECT_TRUE_MSG(test, near(v.sum_time, want_time, want_time / 256),
				      "%s: %llu", bound_cases[i].name, v.sum_time);
		KUNIT_EXPECT_EQ_MSG(test, v.bounded_pkts, bound_cases[i].want_bounded, "%s",
				    bound_cases[i].name);
		/* 1000 bytes/s per ms of each packet */
		sxcp_depart(&v, &p, &pkt);
		KUNIT_EXPECT_TRUE_MSG(test, near(pkt.delta_bytes_ps * (u64)pkt.pkts,
						 1000 * bound_cases[i].want_ms,
						 1000 * bound_cases[i].want_ms / 256 + pkt.pkts),
				      "%s: %d", bound_cases[i].name, pkt.delta_bytes_ps);
	}
}

/*
 * The mean RTT is at most twice that over bytes: 1000 packets of 8 ms, each of 1500 bytes, and
 * forged packets of 60 bytes with 1 s (max_interval).
 */
static void byte_rtt_test(struct kunit *test)
{
	static const struct {
		u32 forged, most_ms;
	} cases[] = { { 0, 8 }, { 20, 18 }, { 1000, 93 } };
	const struct sxcp_params p = params();
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sxcp_pkt honest = asking(1500, 8000, 187500, 0);
		struct sxcp_pkt forged = asking(60, U32_MAX, 1, 0);
		struct sxcp_vars v = {};

		for (n = 0; n < 1000; n++)
			sxcp_arrive(&v, &p, &honest);
		for (n = 0; n < cases[i].forged; n++)
			sxcp_arrive(&v, &p, &forged);
		sxcp_close_interval(&v, &p, &alone, 8 * MS);
		KUNIT_EXPECT_GE_MSG(test, v.ctl_interval_ns, 8 * MS - 1, "%u", cases[i].forged);
		KUNIT_EXPECT_LE_MSG(test, v.ctl_interval_ns, cases[i].most_ms * MS + 1, "%u: %llu",
				    cases[i].forged, v.ctl_interval_ns);
	}
}

/*
 * A lone forged packet made the interval 1 s, max_interval. 10 Mbyte/s and min_interval, 1 ms: a
 * look every 10 kbytes. Packets of 1500 bytes, RTT 8 ms, end the interval at twice their mean RTT,
 * even with forged packets of 60 bytes in it.
 */
static const struct {
	const char *name;
	u32 forged, honest, elapsed_ms;
	bool want_look, want_over;
} over_cases[] = {
	{ "no bytes",		0, 0, 999, false, true },
	{ "few bytes",		0, 6, 999, false, true },
	{ "bytes of 1 ms",	0, 7, 999, true, true },
	{ "twice the RTT",	0, 7, 16, true, true },
	{ "not yet",		0, 7, 15, true, false },
	{ "forged too",		20, 1000, 18, true, true },
	{ "forged, not yet",	20, 1000, 17, true, false },
	{ "mostly forged",	1000, 10, 999, true, false },
};

static void over_test(struct kunit *test)
{
	struct sxcp_pkt honest = asking(1500, 8000, 187500, 0);
	struct sxcp_pkt forged = asking(60, U32_MAX, 1, 0);
	struct sxcp_params p = params();
	size_t i;
	u32 n;

	p.min_interval_ns = MS;
	for (i = 0; i < ARRAY_SIZE(over_cases); i++) {
		struct sxcp_vars v = {};
		bool look = false;
		u64 asked_bytes;

		sxcp_arrive(&v, &p, &forged);
		sxcp_close_interval(&v, &p, &alone, MS);
		KUNIT_EXPECT_EQ(test, v.ctl_interval_ns, p.max_interval_ns);
		for (n = 0; n < over_cases[i].forged; n++)
			sxcp_arrive(&v, &p, &forged);
		for (n = 0; n < over_cases[i].honest; n++)
			look = sxcp_arrive(&v, &p, &honest);
		KUNIT_EXPECT_EQ_MSG(test, look, over_cases[i].want_look, "%s", over_cases[i].name);
		asked_bytes = v.asking_bytes;
		KUNIT_EXPECT_EQ_MSG(test, sxcp_is_over(&v, &p, over_cases[i].elapsed_ms * MS),
				    over_cases[i].want_over, "%s", over_cases[i].name);
		KUNIT_EXPECT_EQ(test, v.look_bytes, asked_bytes + 10001);
	}
	p.min_interval_ns = 20 * MS;
	KUNIT_EXPECT_FALSE(test, sxcp_is_over(&(struct sxcp_vars){}, &p, 20 * MS - 1));
}

/* Lines 8 to 18: alpha 0.4, beta 0.2, gamma 0.1, 10 Mbyte/s, 100 ms. Rates in kbyte/s. */
static const struct {
	const char *name;
	u32 input_bytes, queue_bytes;
	s64 feedback, pos, neg;
} interval_cases[] = {
	{ "idle",		0, 0,		4000, 4000, 0 },
	{ "half",		500000, 0,	2000, 2000, 0 },
	{ "full",		1000000, 0,	0, 1000, 1000 },
	/* F = 40, shuffled traffic 990 - 40 */
	{ "nearly full",	990000, 0,	40, 990, 950 },
	{ "overload",		2000000, 0,	-4000, 0, 4000 },
	/* -0.2 * 100 kB / 0.1 s */
	{ "queue",		1000000, 100000, -200, 800, 1000 },
	{ "queue, underload",	950000, 100000,	0, 950, 950 },
	{ "deep queue",		0, 4000000,	-4000, 0, 4000 },
};

static void interval_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(interval_cases); i++) {
		struct sxcp_vars v = {
			.input_bytes = interval_cases[i].input_bytes,
			.queue_bytes = interval_cases[i].queue_bytes,
			.sum_time = ONE_MS,
			.asking_bytes = 1,
			.sum_rtt_bytes = 100 * MS >> XCP_BYTE_RTT_SHIFT,
			/* 100 ms * 1 ms, in 128 bits */
			.sum_rtt_time_hi = mul_u64_u64_shr(100 * ONE_MS, ONE_MS, 64),
			.sum_rtt_time_lo = 100 * ONE_MS * ONE_MS,
			.avg_rtt_time = 1,
		};
		const s64 want_pos = Q16(interval_cases[i].pos * 1000);
		const s64 want_neg = Q16(interval_cases[i].neg * 1000);

		sxcp_close_interval(&v, &p, &alone, 100 * MS);
		KUNIT_EXPECT_EQ_MSG(test, sxcp_avg_rtt_ns(&v), 100 * MS, "%s",
				    interval_cases[i].name);
		KUNIT_EXPECT_EQ_MSG(test, v.ctl_interval_ns, 100 * MS, "%s",
				    interval_cases[i].name);
		/* Gains are rounded down at 2^-32: 10^7 bytes/s * 2^-32 * 3 < 0.01 */
		KUNIT_EXPECT_LE_MSG(test, v.feedback_q16 - Q16(interval_cases[i].feedback * 1000),
				    6553LL, "%s", interval_cases[i].name);
		KUNIT_EXPECT_LE_MSG(test, Q16(interval_cases[i].feedback * 1000) - v.feedback_q16,
				    6553LL, "%s", interval_cases[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.residue_pos_q16, want_pos, 6553), "%s",
				      interval_cases[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.residue_neg_q16, want_neg, 6553), "%s",
				      interval_cases[i].name);
		KUNIT_EXPECT_EQ(test, v.input_bytes | v.sum_time | v.sum_rtt_time_hi |
				v.sum_rtt_time_lo, 0ULL);
	}
}

/* Line 18 with its lower and upper bound */
static void bounds_test(struct kunit *test)
{
	static const struct {
		u32 rtt_us;
		u64 want_ns;
	} cases[] = {
		{ 1, MS }, { 999, MS }, { 1000, MS }, { 20000, 20 * MS },
		{ 1000000, 1000 * MS }, { U32_MAX, 1000 * MS },
	};
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sxcp_pkt pkt = asking(1500, cases[i].rtt_us, 1500, 0);
		struct sxcp_vars v = {};

		sxcp_arrive(&v, &p, &pkt);
		sxcp_close_interval(&v, &p, &alone, MS);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.ctl_interval_ns, cases[i].want_ns, 1),
				      "RTT %u us: %llu ns", cases[i].rtt_us, v.ctl_interval_ns);
	}
}

/*
 * Lines 20 to 31: 1500 bytes at 1500 bytes/ms; Cp is 1000 bytes/s per ms, Cn 0.2 per byte, so
 * pos_fbk is 1000 and neg_fbk is 300.
 */
static const struct {
	const char *name;
	s32 pos_pool, neg_pool;
	s32 delta, want;
	s64 want_pos_pool, want_neg_pool;
} departure_cases[] = {
	{ "line 24",		10000, 3000, 5000,	700, 9000, 2700 },
	{ "equal: line 26",	10000, 3000, 700,	700, 9000, 2700 },
	{ "one above",		10000, 3000, 701,	700, 9000, 2700 },
	/* neg 300 + 200, pos 500 + 500 */
	{ "asks for less",	10000, 3000, 500,	500, 9000, 2500 },
	{ "asks for nothing",	10000, 3000, 0,		0, 9000, 2000 },
	{ "upstream took",	10000, 3000, -500,	-500, 9000, 1500 },
	/* neg is the pool, pos = -2500 + 3000 */
	{ "upstream took most",	10000, 3000, -2500,	-2500, 9500, 0 },
	/* line 27 below 0: the packet's decrease is available to others */
	{ "upstream took all",	10000, 3000, -4000,	-4000, 11000, 0 },
	{ "no positive pool",	0, 3000, 5000,		-300, 0, 2700 },
	{ "no negative pool",	10000, 0, 5000,		1000, 9000, 0 },
	{ "no pools",		0, 0, 5000,		0, 0, 0 },
	{ "no pools, gives",	0, 0, -10,		-10, 10, 0 },
	{ "rest of the pool",	400, 3000, 5000,	100, 0, 2700 },
	{ "rest of the other",	10000, 100, 5000,	900, 9000, 0 },
	{ "less than a unit left", 10000, 301, 5000,	700, 9000, 1 },
	{ "an empty pool",	1000, 3000, 5000,	700, 0, 2700 },
	{ "greatest",		10000, 3000, S32_MAX,	700, 9000, 2700 },
	{ "least",		10000, 3000, -S32_MAX - 1, -S32_MAX - 1, 2147490648LL, 0 },
};

static void departure_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(departure_cases); i++) {
		struct sxcp_vars v = pools(departure_cases[i].pos_pool,
					   departure_cases[i].neg_pool);
		struct sxcp_pkt pkt = asking(1500, 80000, 1500, departure_cases[i].delta);
		bool lowered;

		/* The rounding of ratios must not lower the result by one. */
		v.carry_q16 = 3;
		lowered = sxcp_depart(&v, &p, &pkt);
		KUNIT_EXPECT_EQ_MSG(test, pkt.delta_bytes_ps, departure_cases[i].want, "%s",
				    departure_cases[i].name);
		KUNIT_EXPECT_EQ_MSG(test, lowered,
				    departure_cases[i].want != departure_cases[i].delta, "%s",
				    departure_cases[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.residue_pos_q16,
						 Q16(departure_cases[i].want_pos_pool), 3), "%s",
				      departure_cases[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.residue_neg_q16,
						 Q16(departure_cases[i].want_neg_pool), 3), "%s",
				      departure_cases[i].name);
		/* Lines 30 and 31. */
		KUNIT_EXPECT_TRUE(test, v.residue_pos_q16 || !v.cp.mul);
		KUNIT_EXPECT_TRUE(test, v.residue_neg_q16 || !v.cn.mul);
	}
}

/* Packets without a demand are not changed. */
static void untouched_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	int class;

	for (class = XCP_CLASS_OTHER; class < XCP_CLASS_ASKING; class++) {
		struct sxcp_vars v = pools(10000, 3000);
		struct sxcp_pkt pkt = asking(1500, 80000, 1500, S32_MAX);

		pkt.class = class;
		KUNIT_EXPECT_FALSE(test, sxcp_depart(&v, &p, &pkt));
		KUNIT_EXPECT_EQ(test, pkt.delta_bytes_ps, S32_MAX);
		KUNIT_EXPECT_EQ(test, v.residue_pos_q16, Q16(10000));
	}
}

/* Section 4.1: a quarter of 1000 and of 300 is charged. */
static void e2e_share_test(struct kunit *test)
{
	struct sxcp_vars v = pools(10000, 3000);
	struct sxcp_pkt pkt = asking(1500, 80000, 1500, 5000);
	struct sxcp_params p = params();

	p.e2e_share_q32 = sxcp_gain_q32(250000);
	pkt.flags = XCP_FLAG_E2E_LIMITED;
	v.carry_q16 = 3;
	KUNIT_EXPECT_TRUE(test, sxcp_depart(&v, &p, &pkt));
	KUNIT_EXPECT_EQ(test, pkt.delta_bytes_ps, 700);
	KUNIT_EXPECT_TRUE(test, near(v.residue_pos_q16, Q16(9750), 3));
	KUNIT_EXPECT_TRUE(test, near(v.residue_neg_q16, Q16(2925), 3));
}

/* 0.3 bytes/s per packet: three of ten packets get 1, with any number of packets per GSO packet. */
static void carry_test(struct kunit *test)
{
	static const u32 sizes_pkts[] = { 1, 2, 5, 10, 30 };
	const struct sxcp_params p = params();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes_pkts); i++) {
		struct sxcp_vars v = {
			.residue_pos_q16 = Q16(100000),
			.cp = sxcp_ratio(Q16(3), 10 * ONE_MS),
		};
		s64 given = 0;
		u32 n;

		for (n = 0; n < 30000; n += sizes_pkts[i]) {
			struct sxcp_pkt pkt = asking(1500 * sizes_pkts[i], 80000, 1500, 5000);

			pkt.pkts = sizes_pkts[i];
			sxcp_depart(&v, &p, &pkt);
			given += (s64)pkt.delta_bytes_ps * pkt.pkts;
		}
		/* Each time, up to 2^-16 is lost to rounding: for 30000 packets less than one. */
		KUNIT_EXPECT_LE_MSG(test, given, 9000LL, "%u packets", sizes_pkts[i]);
		KUNIT_EXPECT_LE_MSG(test, 9000LL - given, (s64)sizes_pkts[i], "%u packets",
				    sizes_pkts[i]);
	}
}

/* A GSO packet has the same effect as its packets one after the other. */
static void gso_packet_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	struct sxcp_vars one = pools(100000, 30000), many = one;
	struct sxcp_pkt allow_gso = asking(15000, 80000, 1500, 5000);
	int i;

	allow_gso.pkts = 10;
	sxcp_arrive(&one, &p, &allow_gso);
	sxcp_depart(&one, &p, &allow_gso);
	for (i = 0; i < 10; i++) {
		struct sxcp_pkt pkt = asking(1500, 80000, 1500, 5000);

		sxcp_arrive(&many, &p, &pkt);
		sxcp_depart(&many, &p, &pkt);
	}
	KUNIT_EXPECT_EQ(test, one.input_bytes, many.input_bytes);
	KUNIT_EXPECT_TRUE(test, near(one.sum_time, many.sum_time, 10));
	KUNIT_EXPECT_TRUE(test, near(one.residue_pos_q16, many.residue_pos_q16, 10));
	KUNIT_EXPECT_TRUE(test, near(one.residue_neg_q16, many.residue_neg_q16, 10));
}

/* Lines 32 to 36. At 10 Mbyte/s, 10 kB take 1 ms. */
static void queue_test(struct kunit *test)
{
	static const struct {
		u32 avg_rtt_us, queue_bytes;
		u64 want_us;
	} cases[] = {
		{ 0, 0, 2000 }, { 3998, 0, 2000 }, { 4002, 0, 2001 }, { 80000, 0, 40000 },
		{ 80000, 100000, 35000 },
		{ 80000, 760000, 2000 }, { 80000, 800000, 2000 }, { 80000, U32_MAX, 2000 },
	};
	const struct sxcp_params p = params();
	struct sxcp_vars v = { .min_queue_bytes = 5000 };
	size_t i;

	sxcp_see_queue(&v, 6000);
	KUNIT_EXPECT_EQ(test, v.min_queue_bytes, 5000U);
	sxcp_see_queue(&v, 4000);
	sxcp_see_queue(&v, 4500);
	sxcp_close_queue(&v, &p, 9000);
	KUNIT_EXPECT_EQ(test, v.queue_bytes, 4000U);
	KUNIT_EXPECT_EQ(test, v.min_queue_bytes, 9000U);

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		v.avg_rtt_time = (cases[i].avg_rtt_us * 1000ULL) << XCP_TIME_SHIFT;
		KUNIT_EXPECT_EQ_MSG(test, sxcp_close_queue(&v, &p, cases[i].queue_bytes),
				    cases[i].want_us * 1000, "case %zu", i);
	}
}

/*
 * Nobody was counted, so four flows share the pool of 4 Mbyte/s: a packet time of 1 ms is a quarter
 * of four min_interval. Then the mean RTT, 80 ms, is known: 32 ms are 10 % of four.
 */
static void start_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	struct sxcp_vars v = {};
	struct sxcp_pkt first = asking(1500, 80000, 1500, S32_MAX);
	struct sxcp_pkt slow = asking(1500, 80000, 1, S32_MAX);
	struct sxcp_pkt later = asking(1600, 80000, 50, S32_MAX);

	sxcp_start(&v, &p);
	KUNIT_EXPECT_EQ(test, v.ctl_interval_ns, MS);
	KUNIT_EXPECT_TRUE(test, sxcp_depart(&v, &p, &first));
	KUNIT_EXPECT_TRUE(test, near(first.delta_bytes_ps, 1000000, 1));
	KUNIT_EXPECT_TRUE(test, sxcp_depart(&v, &p, &slow));
	KUNIT_EXPECT_TRUE(test, near(slow.delta_bytes_ps, 3000000, 1));
	KUNIT_EXPECT_EQ(test, v.residue_pos_q16, 0LL);
	sxcp_arrive(&v, &p, &first);
	sxcp_close_interval(&v, &p, &alone, MS);
	sxcp_start(&v, &p);
	KUNIT_EXPECT_TRUE(test, sxcp_depart(&v, &p, &later));
	KUNIT_EXPECT_TRUE(test, near(later.delta_bytes_ps, 400000, 1));
}

/* Compare by member, as the struct has padding. */
static bool same_ratio(const struct sxcp_ratio *a, const struct sxcp_ratio *b)
{
	return a->mul == b->mul && a->shift == b->shift;
}

static bool same_port(const struct sxcp_vars *a, const struct sxcp_vars *b)
{
	return a->input_bytes == b->input_bytes && a->sum_time == b->sum_time &&
	       a->avg_rtt_time == b->avg_rtt_time && a->ctl_interval_ns == b->ctl_interval_ns &&
	       a->input_bw_q16 == b->input_bw_q16 && a->feedback_q16 == b->feedback_q16 &&
	       a->residue_pos_q16 == b->residue_pos_q16 &&
	       a->residue_neg_q16 == b->residue_neg_q16 && a->carry_q16 == b->carry_q16 &&
	       a->queue_bytes == b->queue_bytes && a->min_queue_bytes == b->min_queue_bytes &&
	       same_ratio(&a->cp, &b->cp) && same_ratio(&a->cn, &b->cn);
}

/*
 * A standing queue: after two periods of the queue's estimate and one control interval, further
 * ones change nothing. So the timers of such a port may rest.
 */
static void stand_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	struct sxcp_pkt pkt = asking(1500, 80000, 15, S32_MAX);
	struct sxcp_vars v = {}, later;
	int i;

	sxcp_start(&v, &p);
	sxcp_arrive(&v, &p, &pkt);
	sxcp_close_interval(&v, &p, &alone, MS);
	sxcp_depart(&v, &p, &pkt);
	sxcp_close_queue(&v, &p, 9000);
	sxcp_close_queue(&v, &p, 9000);
	sxcp_close_interval(&v, &p, &alone, v.ctl_interval_ns);
	KUNIT_EXPECT_EQ(test, v.queue_bytes, 9000U);
	/* 0.4 * 10^7 - 0.2 * 9000 / 0.08 s */
	KUNIT_EXPECT_TRUE(test, near(v.feedback_q16, Q16(3977500), 65536));

	later = v;
	for (i = 0; i < 1000; i++) {
		sxcp_close_queue(&later, &p, 9000);
		sxcp_close_interval(&later, &p, &alone, later.ctl_interval_ns);
	}
	KUNIT_EXPECT_TRUE(test, same_port(&later, &v));
}

/* The ends of the value ranges and beyond: nothing overflows, and pools stay in range. */
static void extremes_test(struct kunit *test)
{
	static const u64 capacities[] = {
		TC_XCP_RATE_MIN_BYTES_PS, 12500000, TC_XCP_RATE_MAX_BYTES_PS,
	};
	static const u32 sizes[] = { 1, 64, 1500, 65535, S32_MAX };
	static const u32 fields[] = { 1, 2, 1000, 1U << 31, U32_MAX };
	static const s32 deltas[] = { -S32_MAX - 1, -1, 0, 1, S32_MAX };
	u32 n = 0, wrong = 0;

	for (; n < 3 * 5 * 5 * 5 * 5 * 4; n++) {
		struct sxcp_params p = params();
		struct sxcp_pkt pkt = asking(sizes[n % 5], fields[n / 5 % 5], fields[n / 25 % 5],
					     deltas[n / 125 % 5]);
		struct sxcp_vars v = { .avg_rtt_time = n & 1 };
		u64 elapsed_ns = n % 2 ? 1 : 10000 * MS;

		p.capacity_bytes_ps = capacities[n / 625 % 3];
		p.max_interval_ns = 10000 * MS;
		pkt.pkts = n / 1875 & 1 ? 1 : 524280;
		pkt.flags = n / 3750 & 1;
		v.queue_bytes = n % 3 ? 0 : U32_MAX;
		sxcp_arrive(&v, &p, &pkt);
		sxcp_arrive(&v, &p, &pkt);
		sxcp_arrive(&v, &p, &pkt);
		sxcp_close_interval(&v, &p, &alone, elapsed_ns);
		sxcp_depart(&v, &p, &pkt);
		sxcp_depart(&v, &p, &pkt);
		sxcp_close_queue(&v, &p, U32_MAX);
		wrong += v.residue_pos_q16 < 0 || v.residue_pos_q16 > XCP_RATE_MAX_Q16 ||
			 v.residue_neg_q16 < 0 || v.residue_neg_q16 > XCP_RATE_MAX_Q16 ||
			 v.input_bw_q16 < 0 || v.input_bw_q16 > XCP_RATE_MAX_Q16 ||
			 v.ctl_interval_ns < MS || v.ctl_interval_ns > 10000 * MS ||
			 pkt.delta_bytes_ps > deltas[n / 125 % 5];
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static const struct {
	const char *name;
	u8 version_format, protocol, length, flags;
	u32 rtt, throughput;
	enum sxcp_class class;
	enum xcp_fault fault;
	u32 rtt_us;
} header_cases[] = {
	{ "standard",	0x11, 6, 20, 0, 80, 1500, XCP_CLASS_ASKING, XCP_OK, 80000 },
	{ "microseconds", 0x13, 6, 20, 0, 80, 1500, XCP_CLASS_ASKING, XCP_OK, 80 },
	{ "minimal",	0x12, 6, 20, 0, 80, 1500, XCP_CLASS_MINIMAL, XCP_OK, 0 },
	{ "no RTT",	0x11, 6, 20, 0, 0, 1500, XCP_CLASS_UNKNOWN, XCP_OK, 0 },
	{ "no Throughput", 0x13, 6, 20, 0, 80, 0, XCP_CLASS_UNKNOWN, XCP_OK, 80 },
	{ "flags",	0x13, 6, 20, 0xff, 80, 1, XCP_CLASS_ASKING, XCP_OK, 80 },
	{ "RTT of months", 0x11, 6, 20, 0, U32_MAX, 1, XCP_CLASS_ASKING, XCP_OK, U32_MAX },
	{ "version",	0x21, 6, 20, 0, 80, 1, XCP_CLASS_MALFORMED, XCP_BAD_VERSION, 0 },
	{ "format 0",	0x10, 6, 20, 0, 80, 1, XCP_CLASS_MALFORMED, XCP_BAD_FORMAT, 0 },
	{ "format 4",	0x14, 6, 20, 0, 80, 1, XCP_CLASS_MALFORMED, XCP_BAD_FORMAT, 0 },
	{ "length 40",	0x11, 6, 40, 0, 80, 1, XCP_CLASS_MALFORMED, XCP_BAD_LENGTH, 0 },
	{ "nested",	0x11, XCP_PROTOCOL_DEFAULT, 20, 0, 80, 1, XCP_CLASS_MALFORMED,
	  XCP_BAD_NEXT, 0 },
};

static void header_test(struct kunit *test)
{
	struct tc_xcp_xstats s = {};
	struct sxcp_pkt pkt;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(header_cases); i++) {
		const struct xcp_hdr h = {
			.version_format = header_cases[i].version_format,
			.protocol = header_cases[i].protocol,
			.length = header_cases[i].length,
			.flags = header_cases[i].flags,
			.rtt = cpu_to_be32(header_cases[i].rtt),
			.throughput = cpu_to_be32(header_cases[i].throughput),
			.delta = cpu_to_be32(0xffffffff),
		};

		pkt = (struct sxcp_pkt){ .pkts = 1 };
		sxcp_read(&pkt, &h, XCP_PROTOCOL_DEFAULT);
		sxcp_count(&s, &pkt);
		KUNIT_EXPECT_EQ_MSG(test, (int)pkt.class, (int)header_cases[i].class, "%s",
				    header_cases[i].name);
		KUNIT_EXPECT_EQ_MSG(test, (int)pkt.fault, (int)header_cases[i].fault, "%s",
				    header_cases[i].name);
		KUNIT_EXPECT_EQ_MSG(test, pkt.rtt_us, header_cases[i].rtt_us, "%s",
				    header_cases[i].name);
	}
	pkt = (struct sxcp_pkt){ .pkts = 3 };
	sxcp_read(&pkt, NULL, XCP_PROTOCOL_DEFAULT);
	sxcp_count(&s, &pkt);
	pkt = (struct sxcp_pkt){ .pkts = 5 };
	sxcp_count(&s, &pkt);
	KUNIT_EXPECT_EQ(test, s.other_pkts, 5ULL);
	KUNIT_EXPECT_EQ(test, s.standard_pkts, 3ULL);
	KUNIT_EXPECT_EQ(test, s.micro_pkts, 3ULL);
	KUNIT_EXPECT_EQ(test, s.minimal_pkts, 1ULL);
	KUNIT_EXPECT_EQ(test, s.unknown_pkts, 2ULL);
	KUNIT_EXPECT_EQ(test, s.e2e_limited_pkts, 1ULL);
	KUNIT_EXPECT_EQ(test, s.flagged_pkts, 1ULL);
	KUNIT_EXPECT_EQ(test, s.malformed_pkts[TC_XCP_MALFORMED_TRUNCATED], 3ULL);
	KUNIT_EXPECT_EQ(test, s.malformed_pkts[TC_XCP_MALFORMED_FORMAT], 2ULL);
}

/* b = a^2 sqrt(2): 0.226 in the draft */
static void gains_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sxcp_beta_ppm(400000), 226274U);
	KUNIT_EXPECT_EQ(test, sxcp_beta_ppm(554999), 435612U);
	KUNIT_EXPECT_EQ(test, sxcp_beta_ppm(1), 0U);
	KUNIT_EXPECT_EQ(test, sxcp_gain_q32(1000000), 1ULL << 32);
	KUNIT_EXPECT_EQ(test, sxcp_gain_q32(500000), 1ULL << 31);
	KUNIT_EXPECT_EQ(test, sxcp_gain_q32(1), 4294ULL);
	KUNIT_EXPECT_EQ(test, sxcp_gain_times(-1000, 1ULL << 31), -500LL);
}

#define QUEUES 4

/* Return: true if equal within 2^-24, because each queue rounds the mean RTT by itself */
static bool alike(s64 got, s64 want)
{
	if (want < 0)
		return got < 0 && alike(-got, -want);
	return got >= 0 && near(got, want, (want >> 24) + QUEUES);
}

static struct sxcp_others others_of(const struct sxcp_vars *queue, u32 i)
{
	struct sxcp_others o = {};
	u32 n;

	for (n = 0; n < QUEUES; n++) {
		o.input_bytes += n == i ? 0 : queue[n].input_bytes;
		o.sum_time += n == i ? 0 : queue[n].sum_time;
		o.queue_bytes += n == i ? 0 : queue[n].queue_bytes;
	}
	return o;
}

/* All packets have an RTT of 100 ms. The first @queues queues have one flow each. */
static void queues_arrive(struct sxcp_vars *queue, struct sxcp_vars *one,
			  const struct sxcp_params *p,
			  u32 queues, u32 pkts, u32 queued_bytes)
{
	u32 i, n;

	for (i = 0; i < queues; i++) {
		struct sxcp_pkt pkt = asking(1000 + 100 * i, 100000, 50 + 200 * i, 0);

		for (n = 0; n < pkts * (i + 1); n++) {
			sxcp_arrive(&queue[i], p, &pkt);
			sxcp_arrive(one, p, &pkt);
		}
		queue[i].queue_bytes = queued_bytes;
		one->queue_bytes += queued_bytes;
	}
}

/* The queues of a port decide like a single queue, and their pools add up to its pools. */
static void queues_test(struct kunit *test)
{
	static const struct {
		u32 queues, pkts, queued_bytes;
	} cases[] = {
		{ QUEUES, 1, 0 }, { QUEUES, 30, 0 }, { QUEUES, 100, 0 }, { QUEUES, 100, 20000 },
		{ QUEUES, 300, 0 }, { 1, 300, 0 }, { 2, 500, 1000 },
	};
	const struct sxcp_params p = params();
	size_t c;
	u32 i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		struct sxcp_vars queue[QUEUES] = {}, before[QUEUES], one = {};
		s64 pos_q16 = 0, neg_q16 = 0;

		queues_arrive(queue, &one, &p, cases[c].queues, cases[c].pkts,
			      cases[c].queued_bytes);
		memcpy(before, queue, sizeof(before));
		sxcp_close_interval(&one, &p, &alone, 100 * MS);
		for (i = 0; i < QUEUES; i++) {
			const struct sxcp_others o = others_of(before, i);

			/* A queue without packets has no RTT estimate. */
			queue[i].avg_rtt_time = one.avg_rtt_time;
			sxcp_close_interval(&queue[i], &p, &o, 100 * MS);
			KUNIT_EXPECT_EQ(test, queue[i].input_bw_q16, one.input_bw_q16);
			KUNIT_EXPECT_TRUE(test, alike(queue[i].feedback_q16, one.feedback_q16));
			KUNIT_EXPECT_TRUE(test, alike(queue[i].cp.mul, one.cp.mul));
			KUNIT_EXPECT_TRUE(test, alike(queue[i].cn.mul, one.cn.mul));
			KUNIT_EXPECT_EQ(test, !queue[i].residue_pos_q16,
					i >= cases[c].queues || !one.residue_pos_q16);
			pos_q16 += queue[i].residue_pos_q16;
			neg_q16 += queue[i].residue_neg_q16;
		}
		KUNIT_EXPECT_TRUE(test, alike(pos_q16, one.residue_pos_q16));
		KUNIT_EXPECT_TRUE(test, alike(neg_q16, one.residue_neg_q16));
	}
}

/* From two readings of the others' counts, compute their traffic for the length of the interval. */
static void others_test(struct kunit *test)
{
	static const struct {
		u64 before, now, since_ns, elapsed_ns, want;
	} cases[] = {
		{ 1000, 1500, MS, MS, 500 },
		/* the count wraps */
		{ U64_MAX - 99, 400, MS, MS, 500 },
		/* a queue was removed */
		{ 1500, 1000, MS, MS, 0 },
		/* the interval started before the counts were first read */
		{ 1000, 1500, MS, 4 * MS, 2000 },
		{ 0, 1ULL << 62, 1, 1ULL << 51, 1ULL << 63 },
		/* the counts were first read before the interval started */
		{ 1000, 1500, 2 * MS, MS, 500 },
		{ 1000, 1000, 0, MS, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct sxcp_others before = { cases[i].before, cases[i].before, 7 };
		const struct sxcp_others now = { cases[i].now, cases[i].now, 9 };
		const struct sxcp_others o = sxcp_others_since(&now, &before, cases[i].since_ns,
							       cases[i].elapsed_ns);

		KUNIT_EXPECT_GE_MSG(test, o.input_bytes, cases[i].want, "case %zu", i);
		if (cases[i].want < 1ULL << 63)
			KUNIT_EXPECT_EQ_MSG(test, o.input_bytes, cases[i].want, "case %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, o.sum_time, o.input_bytes, "case %zu", i);
		KUNIT_EXPECT_EQ(test, o.queue_bytes, 9ULL);
	}
}

/* After an idle time, a queue gives and takes no feedback until the end of the interval. */
static void close_pools_test(struct kunit *test)
{
	const struct sxcp_params p = params();
	struct sxcp_pkt pkt = asking(1500, 20000, 1500, 1000);
	struct sxcp_vars v = {};

	sxcp_start(&v, &p);
	KUNIT_EXPECT_GT(test, v.residue_pos_q16, 0LL);
	sxcp_close_pools(&v);
	KUNIT_EXPECT_TRUE(test, sxcp_depart(&v, &p, &pkt));
	KUNIT_EXPECT_EQ(test, pkt.delta_bytes_ps, 0);
	pkt.delta_bytes_ps = -5;
	KUNIT_EXPECT_FALSE(test, sxcp_depart(&v, &p, &pkt));
	KUNIT_EXPECT_EQ(test, pkt.delta_bytes_ps, -5);
}

static struct kunit_case sxcp_router_cases[] = {
	KUNIT_CASE(time_test),
	KUNIT_CASE(ratio_test),
	KUNIT_CASE(arrival_test),
	KUNIT_CASE(avg_rtt_test),
	KUNIT_CASE(bound_test),
	KUNIT_CASE(byte_rtt_test),
	KUNIT_CASE(over_test),
	KUNIT_CASE(interval_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(departure_test),
	KUNIT_CASE(untouched_test),
	KUNIT_CASE(e2e_share_test),
	KUNIT_CASE(carry_test),
	KUNIT_CASE(gso_packet_test),
	KUNIT_CASE(queue_test),
	KUNIT_CASE(start_test),
	KUNIT_CASE(stand_test),
	KUNIT_CASE(extremes_test),
	KUNIT_CASE(header_test),
	KUNIT_CASE(gains_test),
	KUNIT_CASE(queues_test),
	KUNIT_CASE(others_test),
	KUNIT_CASE(close_pools_test),
	{}
};

static struct kunit_suite sxcp_router_suite = {
	.name = "xcp_router",
	.test_cases = sxcp_router_cases,
};

kunit_test_suite(sxcp_router_suite);

MODULE_DESCRIPTION("KUnit tests of XCP's router");
MODULE_LICENSE("GPL");
