// SPDX-License-Identifier: GPL-2.0
/* Tests of the weights of two queues, xcp_share.h; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include "xcp_router.c"
#include "xcp_share.c"

#define MS 1000000ULL
#define ONE_MS (MS << XCP_TIME_SHIFT)
#define MBYTE 1000000ULL

/* Return: true if @got is within 1 / @part of @want plus @units */
static bool near(u64 got, u64 want, u64 part, u64 units)
{
	u64 off = got > want ? got - want : want - got;

	return off <= want / part + units;
}

/*
 * Values that can be checked by hand: 1 / (sqrt(2p/3) + 12 p sqrt(3p/8) (1 + 32 p^2)), in
 * thousandths.
 */
static const struct {
	u64 loss_ppb, want_mpkts;
} reno_cases[] = {
	{ 1000000000, 4 },
	{ 500000000, 41 },
	{ 100000000, 1770 },
	{ 10000000, 11233 },
	{ 1000000, 38384 },
	{ 100000, 122364 },
	{ 1000, 1224734 },
	{ 10, 12247449 },
};

static void reno_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reno_cases); i++) {
		u64 p = div_u64(reno_cases[i].loss_ppb << 32, 1000000000);
		u64 got = (sxcp_tcp_window_q16(p) * 1000) >> 16;

		KUNIT_EXPECT_TRUE_MSG(test, near(got, reno_cases[i].want_mpkts, 50, 1),
				      "p = %llu ppb: %llu", reno_cases[i].loss_ppb, got);
	}
	/* Without losses the window is unlimited: the maximum is returned. */
	KUNIT_EXPECT_EQ(test, sxcp_tcp_window_q16(0), sxcp_tcp_window_q16(1));
	KUNIT_EXPECT_EQ(test, sxcp_tcp_window_q16(U64_MAX), sxcp_tcp_window_q16(1ULL << 32));
}

/* Values that can be checked by hand: 1.0538 (RTT / p)^(3/4), or Reno's window; RTT in ms */
static const struct {
	u64 loss_ppb, rtt_ms, want_mpkts;
} cubic_cases[] = {
	/* Reno's window; RTT / p is 1, 10 */
	{ 10000000, 10, 11233 },
	{ 1000000, 10, 38384 },
	/* 100^(3/4) = 31.6, 1000^(3/4) = 177.8, 10^4 -> 1000, 10^6 -> 31623 */
	{ 1000000, 100, 38384 },
	{ 100000, 100, 187400 },
	{ 10000, 100, 1053800 },
	{ 1000, 1000, 33324000 },
};

static void cubic_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cubic_cases); i++) {
		u64 p = div_u64(cubic_cases[i].loss_ppb << 32, 1000000000);
		u64 got = (sxcp_cubic_window_q16(p, cubic_cases[i].rtt_ms * MS) * 1000) >> 16;

		KUNIT_EXPECT_TRUE_MSG(test, near(got, cubic_cases[i].want_mpkts, 500, 1),
				      "p = %llu ppb, RTT %llu ms: %llu", cubic_cases[i].loss_ppb,
				      cubic_cases[i].rtt_ms, got);
	}
	KUNIT_EXPECT_LE(test, sxcp_cubic_window_q16(0, 10000 * MS), 1ULL << 40);
}

static struct sxcp_share_vars started(u32 weight_other)
{
	struct sxcp_share_vars v;

	sxcp_share_start(&v);
	sxcp_share_weigh(&v, weight_other);
	return v;
}

/* Weight of the other queue in 2^-16; packet size of each queue; expected part of XCP's bytes */
static const struct {
	u32 weight_other, xcp_bytes, other_bytes;
	u32 want_xcp_ppm;
} service_cases[] = {
	{ 32768, 1500, 1500, 500000 },
	{ 32768, 1500, 64, 500000 },
	{ 32768, 64, 9000, 500000 },
	{ 16384, 1500, 1500, 750000 },
	{ 49152, 1500, 100, 250000 },
	{ 0, 1500, 1500, 984375 },
	{ 65536, 1500, 1500, 15625 },
};

/* Both queues always have packets: bytes are proportional to the weights. */
static void service_test(struct kunit *test)
{
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(service_cases); i++) {
		struct sxcp_share_vars v = started(service_cases[i].weight_other);
		const u64 sizes[] = { service_cases[i].xcp_bytes, service_cases[i].other_bytes };
		u64 all, xcp;

		for (n = 0; n < 100000; n++) {
			enum sxcp_side side = sxcp_share_turn(&v);

			sxcp_share_leave(&v, side, sizes[side], false);
		}
		xcp = v.left_bytes[XCP_SIDE_XCP];
		all = xcp + v.left_bytes[XCP_SIDE_OTHER];
		KUNIT_EXPECT_TRUE_MSG(test, near(div64_u64(xcp * 1000000, all),
						 service_cases[i].want_xcp_ppm, 500, 100),
				      "case %zu: %llu of %llu", i, xcp, all);
	}
}

/* A queue that was idle is next, but gets no credit for the other's packets in the meantime. */
static void idle_test(struct kunit *test)
{
	struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);
	enum sxcp_side idle;
	int n;

	/* Neither queue is ahead. */
	KUNIT_EXPECT_EQ(test, (int)sxcp_share_turn(&v), (int)XCP_SIDE_XCP);
	for (idle = 0; idle < XCP_SIDES; idle++) {
		const enum sxcp_side busy = XCP_SIDES - 1 - idle;

		for (n = 0; n < 1000; n++)
			sxcp_share_leave(&v, busy, 1500, true);
		KUNIT_EXPECT_EQ(test, (int)sxcp_share_turn(&v), (int)idle);
		sxcp_share_leave(&v, idle, 1500, false);
		/* After one packet each, the idle queue has no priority any more. */
		KUNIT_EXPECT_EQ(test, v.lead, 0LL);
	}
}

/* The queue depends on the class of the packet. */
static void side_test(struct kunit *test)
{
	static const enum sxcp_side want[] = {
		[XCP_CLASS_OTHER] = XCP_SIDE_OTHER,
		[XCP_CLASS_MALFORMED] = XCP_SIDE_OTHER,
		[XCP_CLASS_MINIMAL] = XCP_SIDE_XCP,
		[XCP_CLASS_UNKNOWN] = XCP_SIDE_XCP,
		[XCP_CLASS_ASKING] = XCP_SIDE_XCP,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		struct sxcp_pkt pkt = { .class = i };

		KUNIT_EXPECT_EQ(test, (int)sxcp_share_side(&pkt), (int)want[i]);
	}
}

/* 10 Mbyte/s and 100 ms, so 1 Mbyte per interval; equal weights; values in kbyte */
static const struct {
	const char *name;
	u32 xcp, sxcp_queue, other, other_queue;
	bool asking;
	u32 want_capacity;	/* kbyte/s */
	bool contended;
} capacity_cases[] = {
	{ "both full",			500, 0, 500, 100, true, 5000, true },
	{ "the other is idle",		990, 0, 0, 0, true, 10000, false },
	{ "the other wants a fifth",	790, 0, 200, 0, true, 8000, false },
	{ "the other wants three quarters", 500, 0, 376, 0, true, 6240, true },
	{ "XCP is idle",		0, 0, 990, 100, false, 5000, false },
	{ "XCP wants a fifth",		100, 0, 890, 100, true, 5000, false },
	{ "XCP waits",			100, 300, 890, 100, true, 5000, true },
	{ "the other waits",		500, 0, 100, 400, true, 5000, true },
	{ "nothing at all",		0, 0, 0, 0, false, 10000, false },
};

static void capacity_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(capacity_cases); i++) {
		struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);
		const struct sxcp_share_interval interval = {
			.capacity_bytes_ps = 10 * MBYTE,
			.elapsed_ns = 100 * MS,
			.asking_bytes = capacity_cases[i].xcp * 1000,
			.sum_time = capacity_cases[i].asking ? 100 * ONE_MS : 0,
			.avg_rtt_ns = 100 * MS,
			.queue_bytes = { capacity_cases[i].sxcp_queue * 1000,
					 capacity_cases[i].other_queue * 1000 },
		};
		u64 got;

		v.left_bytes[XCP_SIDE_XCP] = capacity_cases[i].xcp * 1000;
		v.left_bytes[XCP_SIDE_OTHER] = capacity_cases[i].other * 1000;
		v.arrived_bytes = capacity_cases[i].other * 1000;
		v.sized_bytes2 = v.arrived_bytes * 1000;
		/* Compute the capacity before the weights move and the counts are cleared. */
		got = sxcp_share_capacity(&v, &interval);
		KUNIT_EXPECT_TRUE_MSG(test, near(got, capacity_cases[i].want_capacity * 1000ULL,
						 1 << 20, 1), "%s: %llu", capacity_cases[i].name,
				      got);
		sxcp_share_close(&v, &interval);
		KUNIT_EXPECT_EQ_MSG(test, v.weight[XCP_SIDE_OTHER] != XCP_SHARE_ONE / 2,
				    capacity_cases[i].contended, "%s", capacity_cases[i].name);
		KUNIT_EXPECT_EQ(test, v.arrived_bytes | v.sized_bytes2 |
				v.left_bytes[XCP_SIDE_XCP] | v.left_bytes[XCP_SIDE_OTHER], 0ULL);
	}
}

/* The weight moves by kappa = 0.1 times the difference over the sum, starting at one half. */
static const struct {
	s64 xcp, other;
	u32 want;
} move_cases[] = {
	{ 1000, 1000, 32768 },
	{ 1000, 0, 39322 },
	{ 0, 1000, 26214 },
	{ 3000, 1000, 36045 },
	{ 1000, 3000, 29491 },
	{ XCP_RATE_MAX_Q16, 0, 39322 },
	{ XCP_RATE_MAX_Q16, XCP_RATE_MAX_Q16, 32768 },
	{ 0, 0, 32768 },
};

static void move_test(struct kunit *test)
{
	struct sxcp_share_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(move_cases); i++) {
		v = started(XCP_SHARE_ONE / 2);
		v.flow_q16[XCP_SIDE_XCP] = move_cases[i].xcp;
		v.flow_q16[XCP_SIDE_OTHER] = move_cases[i].other;
		sxcp_share_move(&v);
		KUNIT_EXPECT_TRUE_MSG(test, near(v.weight[XCP_SIDE_OTHER], move_cases[i].want,
						 1 << 20, 1), "case %zu: %u", i,
				      v.weight[XCP_SIDE_OTHER]);
		KUNIT_EXPECT_EQ(test, v.weight[XCP_SIDE_XCP] + v.weight[XCP_SIDE_OTHER],
				XCP_SHARE_ONE);
	}
	v.flow_q16[XCP_SIDE_XCP] = 1000;
	for (i = 0; i < 20; i++)
		sxcp_share_move(&v);
	KUNIT_EXPECT_EQ(test, v.weight[XCP_SIDE_OTHER], XCP_SHARE_MAX);
	v.flow_q16[XCP_SIDE_XCP] = 0;
	v.flow_q16[XCP_SIDE_OTHER] = 1000;
	for (i = 0; i < 20; i++)
		sxcp_share_move(&v);
	KUNIT_EXPECT_EQ(test, v.weight[XCP_SIDE_OTHER], XCP_SHARE_MIN);
}

/*
 * Five flows, packets of 1000 bytes, an RTT of 100 ms, intervals of 40 ms: the losses that affect
 * flows
 */
static const struct {
	const char *name;
	s32 lost_bytes, marked_bytes;
	u64 want;
} event_steps[] = {
	/* 1000 + 4000 (1 - (1 + 1/72)^-16); exact expectation: 1000 + 4000 / 5 */
	{ "two",			2000, 0, 1792 },
	/* (1 + 9/72)^-16 of 3207.8 is left; exact expectation: 430 */
	{ "a burst in the same RTT",	9000, 0, 2720 },
	{ "more of it",			1000, 0, 96 },
	/* exact expectation: 1000 + 4000 (1 - 0.8^8) = 4329 */
	{ "the next RTT",		9000, 0, 4258 },
	{ "nothing",			0, 0, 0 },
	{ "still the same RTT",		3000, 0, 355 },
	{ "a mark counts as a loss",	0, 1000, 1000 },
	{ "counted too early",		-3000, 0, 0 },
	{ "so not again",		4000, 0, 792 },
};

static void event_test(struct kunit *test)
{
	struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);
	size_t i;

	v.flows_q16 = 5 << 16;
	v.size_q16 = 1000 << 16;
	for (i = 0; i < ARRAY_SIZE(event_steps); i++) {
		const struct sxcp_share_interval interval = {
			.elapsed_ns = 40 * MS,
			.avg_rtt_ns = 100 * MS,
			.lost_bytes = event_steps[i].lost_bytes,
		};

		v.marked_bytes = event_steps[i].marked_bytes;
		KUNIT_EXPECT_EQ_MSG(test, sxcp_share_noticed_q16(&v, &interval) >> XCP_MEAN_SHIFT,
				    event_steps[i].want, "%s", event_steps[i].name);
	}
}

/* ACKs of 50 bytes among as many packets of 1450 bytes: the mean is weighted by bytes. */
static void size_test(struct kunit *test)
{
	struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);
	const struct sxcp_share_interval interval = {
		.capacity_bytes_ps = MBYTE,
		.elapsed_ns = MS,
	};
	int i;

	for (i = 0; i < 10; i++)
		sxcp_share_arrive(&v, 1, 50, false);
	sxcp_share_arrive(&v, 10, 14500, false);
	KUNIT_EXPECT_EQ(test, v.arrived_bytes, 15000ULL);
	sxcp_share_close(&v, &interval);
	/* (500 * 50 + 14500 * 1450) / 15000 */
	KUNIT_EXPECT_EQ(test, v.size_q16 >> 16, 1403LL);
}

/* Packets marked before they arrive do not count as marked here. */
static void arrival_test(struct kunit *test)
{
	struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);

	sxcp_share_arrive(&v, 1, 1000, true);
	sxcp_share_mark(&v, 1000);
	KUNIT_EXPECT_EQ(test, v.marked_bytes, 0LL);
	sxcp_share_arrive(&v, 1, 1000, false);
	sxcp_share_mark(&v, 1000);
	KUNIT_EXPECT_EQ(test, v.marked_bytes, 1000LL);
	KUNIT_EXPECT_EQ(test, v.arrived_bytes, 2000ULL);
}

/* The ends of all value ranges and beyond: results stay in range, and XCP always has a capacity. */
static void extremes_test(struct kunit *test)
{
	static const u64 capacities[] = { 1250, 12500000, 200000000000ULL };
	static const u64 values[] = { 0, 1, 1500, 1ULL << 31, 1ULL << 41 };
	static const u64 times_ns[] = { 1, 1000, 100 * MS, 10000 * MS };
	struct sxcp_share_vars v = started(XCP_SHARE_ONE / 2);
	u32 n, wrong = 0;

	for (n = 0; n < 3 * 5 * 5 * 5 * 4 * 4 * 2; n++) {
		const struct sxcp_share_interval interval = {
			.capacity_bytes_ps = capacities[n % 3],
			.elapsed_ns = times_ns[n / 375 % 4],
			.avg_rtt_ns = times_ns[n / 1500 % 4],
			.asking_bytes = values[n / 15 % 5],
			.sum_time = values[n / 3 % 5] << 20,
			.lost_bytes = n & 1 ? values[n / 15 % 5] : -(s64)values[n / 15 % 5],
			.overhead_bytes = 1024,
			.cubic = n / 6000,
			.queue_bytes = { n & 2 ? U32_MAX : 0, n & 4 ? U32_MAX : 0 },
		};
		u64 capacity;

		v.arrived_bytes = values[n / 75 % 5];
		v.sized_bytes2 = v.arrived_bytes * U16_MAX;
		v.left_bytes[XCP_SIDE_XCP] = values[n / 3 % 5];
		v.left_bytes[XCP_SIDE_OTHER] = values[n / 75 % 5];
		capacity = sxcp_share_close(&v, &interval);
		sxcp_share_leave(&v, sxcp_share_turn(&v), S32_MAX, n & 1);
		wrong += !capacity || capacity > interval.capacity_bytes_ps ||
			 v.weight[XCP_SIDE_OTHER] < XCP_SHARE_MIN ||
			 v.weight[XCP_SIDE_OTHER] > XCP_SHARE_MAX ||
			 v.loss_q32 > 1ULL << 32 || v.lost_q16 < 0 ||
			 v.flow_q16[XCP_SIDE_OTHER] < 0 ||
			 v.flow_q16[XCP_SIDE_XCP] < 0 ||
			 v.intervals > XCP_SHARE_MEMORY_MAX ||
			 v.lead > 1LL << 60 || v.lead < -(1LL << 60);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static struct kunit_case sxcp_share_cases[] = {
	KUNIT_CASE(reno_test),
	KUNIT_CASE(cubic_test),
	KUNIT_CASE(service_test),
	KUNIT_CASE(idle_test),
	KUNIT_CASE(side_test),
	KUNIT_CASE(capacity_test),
	KUNIT_CASE(move_test),
	KUNIT_CASE(event_test),
	KUNIT_CASE(size_test),
	KUNIT_CASE(arrival_test),
	KUNIT_CASE(extremes_test),
	{}
};

static struct kunit_suite sxcp_share_suite = {
	.name = "xcp_share",
	.test_cases = sxcp_share_cases,
};

kunit_test_suite(sxcp_share_suite);

MODULE_DESCRIPTION("KUnit tests of XCP's share of a port");
MODULE_LICENSE("GPL");
