// SPDX-License-Identifier: GPL-2.0
/* Tests of the three estimators of a port's available bandwidth. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/module.h>
#include "csig_port.c"

#define US		1000ULL
#define MBIT		125000ULL
#define GBIT		(1000 * MBIT)
#define FOREVER_NS	(1000000000ULL * 1000000)

static u64 random_state = 1;

static u32 random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* A port, and the bytes that its queues have sent. */
struct port {
	struct scsig_port_vars v;
	u64 total_bytes;
};

static bool look(struct port *port, const struct scsig_port_params *p, u64 now_ns)
{
	return scsig_port_look(&port->v, p, port->total_bytes, now_ns);
}

static void leave(struct port *port, const struct scsig_port_params *p, u64 now_ns, u32 bytes)
{
	look(port, p, now_ns);
	port->total_bytes += bytes;
}

/*
 * At 1 Gbit/s, an interval of 10 us is 1250 bytes. A case has departures (ns, bytes), the time of
 * the look, and the estimate that is expected then.
 */
static const struct {
	u32 estimator, shift;
	struct { u64 ns; u32 bytes; } sent[4];
	u64 look_ns;
	u64 used_bytes_ps;
} cases[] = {
	/* no packet left, so nothing is used */
	{ TC_CSIG_ESTIMATOR_RAW, 0, {}, 1000000, 0 },
	/* the interval started with the first departure, at 5 us, and has not ended */
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 5000, 1250 } }, 14999, 0 },
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 5000, 1250 } }, 15000, 125000000 },
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 5000, 625 } }, 15000, 62500000 },
	/* the last complete interval was empty */
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 5000, 1250 } }, 25000, 0 },
	/* 500 bytes in the second interval, 250 in the third */
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 0, 1 }, { 10000, 300 }, { 19999, 200 }, { 20000, 250 } },
	  29999, 50000000 },
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 0, 1 }, { 10000, 300 }, { 19999, 200 }, { 20000, 250 } },
	  30000, 25000000 },
	/* after a gap of T the sample counts half: 1250 bytes over 20 us */
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1250 } }, 10000, 62500000 },
	/* then 62.5 M * 10 / 20 + 1250 bytes / 20 us */
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1250 }, { 10000, 1250 } }, 20000, 93750000 },
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1250 } }, 0, 0 },
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1250 } }, 990000, 1250000 },
	/* two packets at one time count like one of their total size */
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1000 }, { 0, 250 } }, 10000, 62500000 },
	/* shift 1: periods of 5 us, X = 1250, used = X / 10 us */
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, 4999, 0 },
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, 5000, 125000000 },
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, 9999, 125000000 },
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, 10000, 62500000 },
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, 15000, 31250000 },
	/* 625 + 625, then half of that + 125 */
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 625 }, { 4000, 625 }, { 6000, 125 } }, 10000, 75000000 },
	/* the estimate has decayed to 0 */
	{ TC_CSIG_ESTIMATOR_DRE, 1, { { 0, 1250 } }, FOREVER_NS, 0 },
	{ TC_CSIG_ESTIMATOR_DRE, 8, { { 0, 1250 } }, FOREVER_NS, 0 },
	{ TC_CSIG_ESTIMATOR_RAW, 0, { { 0, 1250 } }, FOREVER_NS, 0 },
	{ TC_CSIG_ESTIMATOR_EWMA, 0, { { 0, 1250 } }, FOREVER_NS, 0 },
};

static void table_test(struct kunit *test)
{
	int i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct scsig_port_params p = {
			.capacity_bytes_ps = GBIT, .interval_ns = 10 * US,
			.estimator = cases[i].estimator, .shift = cases[i].shift,
		};
		struct port port = {};
		bool due, runs;

		for (n = 0; n < 4 && cases[i].sent[n].bytes; n++)
			leave(&port, &p, cases[i].sent[n].ns, cases[i].sent[n].bytes);
		/* After the first departure the estimate changes exactly when it is due. */
		due = scsig_port_is_due(&port.v, &p, cases[i].look_ns);
		runs = port.v.runs;
		KUNIT_EXPECT_EQ_MSG(test, look(&port, &p, cases[i].look_ns), due && runs,
				    "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, port.v.used_bytes_ps, cases[i].used_bytes_ps, "case %d",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, scsig_port_available_bytes_ps(&port.v, &p),
				    GBIT - min(cases[i].used_bytes_ps, GBIT), "case %d", i);
	}
}

/* With raw and dre, looking more often changes nothing but rounding, so a timer has no effect. */
static void looking_test(struct kunit *test)
{
	u32 n, shift;

	for (shift = 0; shift <= 4; shift++) {
		const struct scsig_port_params p = {
			.capacity_bytes_ps = GBIT, .interval_ns = 10 * US,
			.estimator = shift ? TC_CSIG_ESTIMATOR_DRE : TC_CSIG_ESTIMATOR_RAW,
			.shift = shift,
		};
		struct port often = {}, rarely = {};
		u64 now_ns = 12345;

		leave(&often, &p, now_ns, 64);
		leave(&rarely, &p, now_ns, 64);
		for (n = 0; n < 20000; n++) {
			u64 gap_ns = random_u32() % (random_u32() % 16 ? 3000 : 100000);
			u64 look_ns = now_ns;

			while (look_ns < now_ns + gap_ns) {
				look(&often, &p, look_ns);
				look_ns += 1 + random_u32() % 999;
			}
			now_ns += gap_ns;
			leave(&often, &p, now_ns, 64 + n % 1400);
			leave(&rarely, &p, now_ns, 64 + n % 1400);
			KUNIT_ASSERT_LE(test, distance(often.v.used_bytes_ps,
						       rarely.v.used_bytes_ps),
				shift ? (u64)CSIG_BYTES_PER_KBIT : 0ULL);
		}
		KUNIT_EXPECT_GT(test, often.v.used_bytes_ps, 0ULL);
	}
}

/* Send packets evenly at @load_percent of the rate. Return: the greatest error, ppm of the rate. */
static u64 even_error_ppm(const struct scsig_port_params *p, u32 bytes, u32 load_percent)
{
	const u64 packet_ns = scsig_port_rate(bytes, p->capacity_bytes_ps);
	u64 start_ns = random_u32(), worst_bytes_ps = 0, want_bytes_ps, gap_ns;
	struct port port = {};
	u32 n, count;

	if (!load_percent)
		return look(&port, p, start_ns) || port.v.used_bytes_ps ? CSIG_PPM_MAX : 0;
	gap_ns = packet_ns * 100 / load_percent;
	want_bytes_ps = scsig_port_rate(bytes, gap_ns);
	/* After 8 intervals the initial estimate has decayed to e^-8. */
	count = div64_u64(p->interval_ns * 8, gap_ns) + 1;
	for (n = 0; n < count + count / 4 + 2; n++) {
		leave(&port, p, start_ns + n * gap_ns, bytes);
		if (n >= count)
			worst_bytes_ps = max(worst_bytes_ps, distance(port.v.used_bytes_ps,
								      want_bytes_ps));
	}
	return div64_u64(worst_bytes_ps * CSIG_PPM_MAX, p->capacity_bytes_ps);
}

/* The error is at most 1/n, at loads of 0 to 100 %, with T of n = 9 to 1000 packet times. */
static void accuracy_test(struct kunit *test)
{
	static const u32 packets[] = { 9, 10, 16, 37, 100, 128, 1000 };
	u32 i, load, estimator;

	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		for (estimator = 0; estimator < TC_CSIG_ESTIMATORS; estimator++) {
			const struct scsig_port_params p = {
				/* 1250 bytes take 1 us */
				.capacity_bytes_ps = 10 * GBIT, .interval_ns = packets[i] * US,
				.estimator = estimator, .shift = 4,
			};

			for (load = 0; load <= 100; load += 5)
				KUNIT_EXPECT_LE_MSG(test, even_error_ppm(&p, 1250, load),
						    (u64)CSIG_PPM_MAX / packets[i] + 1,
						    "n %u estimator %u load %u", packets[i],
						    estimator, load);
		}
	}
}

/* Compare with (1 - 2^-shift)^n by n multiplications, each of which is truncated to 2^-32. */
static void discount_test(struct kunit *test)
{
	u32 shift, n;

	for (shift = 1; shift <= TC_CSIG_SHIFT_MAX; shift++) {
		u64 want = 1ULL << 32;

		for (n = 0; n < 3000; n++) {
			const u64 got = scsig_port_discount(shift, n);

			/* Fewer results are truncated when the power is computed by squares. */
			KUNIT_ASSERT_LE(test, distance(got, want), 300ULL);
			want -= want >> shift;
		}
		KUNIT_EXPECT_EQ(test, scsig_port_discount(shift, U64_MAX), 0ULL);
	}
}

/* The fastest port, with 300 forged GSO packets at each ns. */
static void saturation_test(struct kunit *test)
{
	u32 n, estimator;

	for (estimator = 0; estimator < TC_CSIG_ESTIMATORS; estimator++) {
		const struct scsig_port_params p = {
			.capacity_bytes_ps = TC_CSIG_RATE_MAX_BYTES_PS,
			.interval_ns = TC_CSIG_INTERVAL_MIN_NS << (estimator & 1),
			.estimator = estimator, .shift = TC_CSIG_SHIFT_MAX,
		};
		struct port port = {}, bounded;

		for (n = 0; n < 300 * 2000; n++)
			leave(&port, &p, n / 300, S32_MAX);
		for (n = 0; n < 20000; n++)
			leave(&port, &p, 2000 + n, S32_MAX);
		KUNIT_EXPECT_EQ(test, scsig_port_available_bytes_ps(&port.v, &p), 0ULL);
		KUNIT_EXPECT_EQ(test, scsig_port_value(&port.v, &p, CSIG_ABW_C), 0ULL);
		/* A number of bytes above the bound counts as the bound. */
		bounded = port;
		port.total_bytes += CSIG_BYTES_MAX * 3;
		bounded.total_bytes += CSIG_BYTES_MAX;
		look(&port, &p, 1 << 20);
		look(&bounded, &p, 1 << 20);
		KUNIT_EXPECT_EQ(test, port.v.used_bytes_ps, bounded.v.used_bytes_ps);
		KUNIT_EXPECT_EQ(test, port.v.dre_x, bounded.v.dre_x);
		if (estimator == TC_CSIG_ESTIMATOR_EWMA)
			KUNIT_EXPECT_LE(test, port.v.used_bytes_ps, CSIG_USED_MAX_BYTES_PS);
	}
}

static const struct {
	u64 capacity_bytes_ps, used_bytes_ps;
	u32 type;
	u64 want;
} value_cases[] = {
	{ GBIT, 0, CSIG_ABW, 1000000 },
	{ GBIT, 125 * MBIT, CSIG_ABW, 875000 },
	{ GBIT, 2 * GBIT, CSIG_ABW, 0 },
	{ GBIT, 0, CSIG_ABW_C, 1000000 },
	{ GBIT, 125 * MBIT, CSIG_ABW_C, 875000 },
	{ GBIT, GBIT, CSIG_ABW_C, 0 },
	{ 800 * GBIT, 700 * GBIT, CSIG_ABW_C, 125000 },
	{ 800 * GBIT, 700 * GBIT, CSIG_ABW, 100000000 },
	{ TC_CSIG_RATE_MAX_BYTES_PS, 0, CSIG_ABW_C, 1000000 },
	{ TC_CSIG_RATE_MAX_BYTES_PS, 0, CSIG_ABW, 1600000000 },
	{ TC_CSIG_RATE_MIN_BYTES_PS, 625, CSIG_ABW, 5 },
	{ TC_CSIG_RATE_MIN_BYTES_PS, 625, CSIG_ABW_C, 500000 },
};

static void value_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(value_cases); i++) {
		const struct scsig_port_params p = {
			.capacity_bytes_ps = value_cases[i].capacity_bytes_ps,
		};
		const struct scsig_port_vars v = {
			.used_bytes_ps = value_cases[i].used_bytes_ps,
		};

		KUNIT_EXPECT_EQ_MSG(test, scsig_port_value(&v, &p, value_cases[i].type),
				    value_cases[i].want, "case %d", i);
	}
}

#define QUEUES 4

/* Send by one transmit queue of a port, which updates its copy of the estimate when due. */
static void leave_by_queue(struct port *shared, struct scsig_port_vars *copy,
			   const struct scsig_port_params *p, u64 now_ns, u32 bytes)
{
	if (scsig_port_is_due(copy, p, now_ns)) {
		look(shared, p, now_ns);
		*copy = shared->v;
	}
	shared->total_bytes += bytes;
}

/* Several queues that send in turn have the same estimate as one queue that sends everything. */
static void queues_test(struct kunit *test)
{
	u32 n, shift;

	for (shift = 0; shift <= 4; shift++) {
		const struct scsig_port_params p = {
			.capacity_bytes_ps = GBIT, .interval_ns = 10 * US,
			.estimator = shift ? TC_CSIG_ESTIMATOR_DRE : TC_CSIG_ESTIMATOR_RAW,
			.shift = shift, .shared = true,
		};
		struct port shared = { .total_bytes = U64_MAX - 5000 }, one = {};
		struct scsig_port_vars copy[QUEUES] = {};
		u64 now_ns = 12345;

		for (n = 0; n < 20000; n++) {
			const u32 queue = random_u32() % QUEUES, bytes = 64 + n % 1400;

			now_ns += random_u32() % (random_u32() % 16 ? 3000 : 100000);
			leave(&one, &p, now_ns, bytes);
			leave_by_queue(&shared, &copy[queue], &p, now_ns, bytes);
			KUNIT_ASSERT_EQ(test, copy[queue].used_bytes_ps, one.v.used_bytes_ps);
			KUNIT_ASSERT_EQ(test, shared.v.start_ns, one.v.start_ns);
		}
		KUNIT_EXPECT_GT(test, one.v.used_bytes_ps, 0ULL);
	}
}

/* On a port of several queues ewma is updated 16 times per T; packets are sent evenly. */
static void queues_ewma_test(struct kunit *test)
{
	const struct scsig_port_params p = {
		.capacity_bytes_ps = GBIT, .interval_ns = 160 * US,
		.estimator = TC_CSIG_ESTIMATOR_EWMA, .shared = true,
	};
	struct scsig_port_vars copy[QUEUES] = {};
	struct port shared = {};
	u64 now_ns = 12345, worst_bytes_ps = 0;
	u32 n;

	for (n = 0; n < 10000; n++) {
		now_ns += 2 * US;
		leave_by_queue(&shared, &copy[n % QUEUES], &p, now_ns, 125);
		if (n > 2000)
			worst_bytes_ps = max(worst_bytes_ps,
					     distance(shared.v.used_bytes_ps, GBIT / 2));
	}
	KUNIT_EXPECT_LE(test, worst_bytes_ps, GBIT / 100);
}

/* A look with an earlier time than another CPU's look leaves the estimate unchanged. */
static void late_look_test(struct kunit *test)
{
	struct scsig_port_params p = { .capacity_bytes_ps = GBIT, .interval_ns = 10 * US,
				       .shift = 4, .shared = true };

	for (p.estimator = 0; p.estimator <= TC_CSIG_ESTIMATOR_MAX; p.estimator++) {
		struct scsig_port_vars v = {};

		scsig_port_look(&v, &p, 0, 50000);
		KUNIT_EXPECT_FALSE(test, scsig_port_look(&v, &p, 1250, 49990));
		KUNIT_EXPECT_EQ(test, v.bytes, 1250ULL);
		KUNIT_EXPECT_EQ(test, v.used_bytes_ps, 0ULL);
		KUNIT_EXPECT_TRUE(test, scsig_port_look(&v, &p, 1250, 60000));
		KUNIT_EXPECT_GT(test, v.used_bytes_ps, 0ULL);
	}
}

static void interval_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_interval_ns(125000000), 256000ULL, "1 Gbit/s");
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_interval_ns(1250000000), 25600ULL, "10 Gbit/s");
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_interval_ns(12500000000), 10000ULL, "100: the least");
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_interval_ns(1250), 1000000000ULL,
			    "10 kbit/s: the most");
}

/* A port of 10 Gbit/s that sends 1 Gbit/s. */
static void measured_test(struct kunit *test)
{
	const struct scsig_port_params p = { .capacity_bytes_ps = 10 * GBIT, .interval_ns = 50000 };
	struct scsig_port_vars v = { .used_bytes_ps = 750 * MBIT,
				     .drain.rate_bytes_ps = GBIT };

	KUNIT_EXPECT_EQ(test, scsig_port_available_bytes_ps(&v, &p), 250 * MBIT);
	KUNIT_EXPECT_EQ(test, scsig_port_value(&v, &p, CSIG_ABW), 250000ULL);
	KUNIT_EXPECT_EQ(test, scsig_port_value(&v, &p, CSIG_ABW_C), 250000ULL);
	v.used_bytes_ps = 2 * GBIT;
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_available_bytes_ps(&v, &p), 0ULL,
			    "what was used before the port became slower");
	v.drain.rate_bytes_ps = 0;
	KUNIT_EXPECT_EQ_MSG(test, scsig_port_value(&v, &p, CSIG_ABW_C), 800000ULL,
			    "not measured: the configured rate");
}

/* A port that is found to be slower gets a longer interval. No estimator jumps for that. */
static void longer_interval_test(struct kunit *test)
{
	struct scsig_port_params p = { .capacity_bytes_ps = GBIT, .interval_ns = 64 * US,
				       .shift = TC_CSIG_SHIFT_DEFAULT };
	u64 now_ns;

	for (p.estimator = 0; p.estimator <= TC_CSIG_ESTIMATOR_MAX; p.estimator++) {
		struct port port = {};

		for (now_ns = 0; now_ns < 20 * 256 * US; now_ns += US) {
			if (now_ns == 10 * 256 * US)
				port.v.drain_interval_ns = 256 * US;
			leave(&port, &p, now_ns, 100);
			if (now_ns >= 5 * 256 * US)
				KUNIT_EXPECT_LE(test, distance(port.v.used_bytes_ps, 800 * MBIT),
						20 * MBIT);
		}
	}
}

static struct kunit_case scsig_port_cases[] = {
	KUNIT_CASE(interval_test),
	KUNIT_CASE(measured_test),
	KUNIT_CASE(longer_interval_test),
	KUNIT_CASE(table_test),
	KUNIT_CASE(looking_test),
	KUNIT_CASE(accuracy_test),
	KUNIT_CASE(discount_test),
	KUNIT_CASE(saturation_test),
	KUNIT_CASE(value_test),
	KUNIT_CASE(queues_test),
	KUNIT_CASE(queues_ewma_test),
	KUNIT_CASE(late_look_test),
	{}
};

static struct kunit_suite scsig_port_suite = {
	.name = "csig_port",
	.test_cases = scsig_port_cases,
};

kunit_test_suite(scsig_port_suite);

MODULE_DESCRIPTION("KUnit tests of CSIG's estimate of a port's load");
MODULE_LICENSE("GPL");
