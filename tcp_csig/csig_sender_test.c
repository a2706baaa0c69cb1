// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the CSIG sender's algorithm with values that can be checked by hand; run in the kernel
 * and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <uapi/linux/pkt_sched_csig.h>

#include "csig_sender.c"

#define ONE	TCSIG_ONE
#define HALF	(TCSIG_ONE / 2)

/* target 10 us, ai 1 */
static const struct tcsig_params params = {
	.target_ns = 10000,
	.ai = ONE,
};

/* The target is 10 us. */
static const struct step_case {
	const char *what;
	u64 cw, delay_ns, rtt_ns, ai;
	u32 n_pkts;
	u64 want;
} step_cases[] = {
	{ "twice the target: half of 10/40", 8 * ONE, 20000, 0, ONE, 8, 7 * ONE },
	{ "the same of two packets", 8 * ONE, 20000, 0, ONE, 2, 7 * ONE + ONE * 3 / 4 },
	{ "a long RTT: less than ai's 8/16", 8 * ONE, 20000, 400000, ONE, 8, 7 * ONE + HALF },
	{ "and of a large window more: half of 64 10/200", 64 * ONE, 20000, 200000, ONE, 64,
	  62 * ONE + ONE * 2 / 5 + 1 },
	{ "ai of more packets, 1/4 at most", 8 * ONE, 30000, 4000000, 64 * ONE, 8, 6 * ONE },
	{ "the target", 8 * ONE, 10000, 0, ONE, 8, 8 * ONE },
	{ "no delay: ai, 8/16", 8 * ONE, 0, 0, ONE, 8, 8 * ONE + HALF },
	{ "half the target: half of that", 8 * ONE, 5000, 0, ONE, 8, 8 * ONE + ONE / 4 },
	{ "of a large window a 16th of 64 10/20", 64 * ONE, 0, 0, ONE, 64, 66 * ONE },
	{ "a long RTT: ai", 64 * ONE, 0, 320000, ONE, 64, 65 * ONE },
	{ "ai of four packets", 64 * ONE, 0, 320000, 4 * ONE, 64, 68 * ONE },
	{ "half a packet: half of two", HALF, 20000, 0, ONE, 2, ONE * 3 / 8 },
	{ "no delay takes more than half", ONE, 1000000000000, 0, ONE, 3, HALF },
	{ "the least window", TCSIG_WND_MIN + 1, U64_MAX, 0, ONE, 2, TCSIG_WND_MIN },
	{ "the largest", TCSIG_WND_MAX, 0, 0, ONE, 1048578, TCSIG_WND_MAX },
};

static void step_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(step_cases); i++) {
		const struct step_case *c = &step_cases[i];
		const struct tcsig_params p = { .target_ns = 10000, .ai = c->ai,
						.rtt_ns = c->rtt_ns };
		struct tcsig_vars v = { .cw = c->cw, .delay_ns = c->delay_ns };

		tcsig_step(&v, &p, c->n_pkts);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want, "%s", c->what);
	}
}

static const struct guess_case {
	const char *what;
	u64 cw, delay_ns, rtt_ns, want;
} guess_cases[] = {
	{ "30 of 50 us are too much", 10 * ONE, 40000, 50000, 4 * ONE },
	{ "1 of 11", 11 * ONE, 11000, 11000, 10 * ONE },
	{ "a flight is left", 10 * ONE, 290000, 300000, 2 * ONE },
	{ "of less than one all", HALF, 290000, 300000, HALF },
	{ "an RTT that is less than the delay: the delay", 10 * ONE, 20000, 0, 5 * ONE },
	{ "the largest", TCSIG_WND_MAX, U64_MAX, 1, 2 * ONE },
};

static void guess_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(guess_cases); i++) {
		const struct guess_case *c = &guess_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, tcsig_cut_guess(c->cw, &params, c->delay_ns, c->rtt_ns),
				    c->want, "%s", c->what);
	}
}

/* The first window of many flows that start together, ten packets each. */
static const struct first_case {
	const char *what;
	u32 delivered_pkts, prior_pkts;
	s64 delay_ns, path_ns;		/* the minimum RTT is 10 us; delay -1: not reported */
	bool has_free;
	u64 want;
	enum tcsig_stage stage;
} first_cases[] = {
	{ "the first one found nobody", 101, 100, 0, 0, true, 11 * ONE, TCSIG_SEEK },
	{ "the second a queue, says the path: 10 (1 - 10/30)", 102, 100, -1, 20000, true,
	  6 * ONE + 11184811, TCSIG_SEEK },
	{ "the third waits longer: 10 (1 - 30/50)", 103, 100, -1, 40000, false, 4 * ONE,
	  TCSIG_SEEK },
	{ "less, but not reported: no more", 104, 100, -1, 10001, false, 4 * ONE, TCSIG_SEEK },
	{ "it was on the way back: half of what is free", 105, 100, 5000, 40000, false, 54 * ONE,
	  TCSIG_JUMP },
	{ "then the hop counts", 106, 100, -1, 40000, false, 54 * ONE, TCSIG_JUMP },
	{ "20 of 40 us are too much: a guess", 107, 100, 30000, 30000, false, 27 * ONE,
	  TCSIG_STEADY },
	{ "more, 30 of 50: it deepens", 108, 100, 40000, 40000, false, 21 * ONE + 10066330,
	  TCSIG_STEADY },
	{ "the round after: half of 10/40 for a packet", 130, 107, 20000, 20000, false,
	  21 * ONE + 7969178, TCSIG_STEADY },
};

static void first_test(struct kunit *test)
{
	struct tcsig_vars v;
	size_t i;

	tcsig_begin(&v, 10 * ONE, TCSIG_WND_MAX, 100);
	for (i = 0; i < ARRAY_SIZE(first_cases); i++) {
		const struct first_case *c = &first_cases[i];
		const struct tcsig_ack a = {
			.free = 100 * ONE,
			.delay_ns = c->delay_ns,
			.rtt_ns = 10000 + c->path_ns,
			.path_ns = c->path_ns,
			.acked_pkts = 1,
			.delivered_pkts = c->delivered_pkts,
			.prior_pkts = c->prior_pkts,
			.has_free = c->has_free,
			.has_delay = c->delay_ns >= 0,
			.limited = true,
		};

		tcsig_receive(&v, &params, &a);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.stage, c->stage, "%s", c->what);
	}
}

static void least_test(struct kunit *test)
{
	const struct tcsig_ack a = { .delay_ns = 40000000, .acked_pkts = 2, .has_delay = true };
	struct tcsig_vars v;

	tcsig_begin(&v, ONE, TCSIG_WND_MAX, 0);
	v.cw = 1;
	tcsig_receive(&v, &params, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, TCSIG_WND_MIN, "of a window that was smaller");
}

static void target_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, tcsig_period_ns(HALF, 20), 40000ULL, "half a packet in 20 us");
	KUNIT_EXPECT_EQ(test, tcsig_period_ns(TCSIG_WND_MIN, U32_MAX), 640000000000ULL);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_base_ns(10000, 1230), 10000ULL, "what is set");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_base_ns(10000, 12304), 12304ULL, "a packet");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(10000, 1000, 2000), 10000ULL,
			    "what is set is for two flows");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(10000, 1000, 8000), 12000ULL,
			    "two doublings more");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(10000, 1000, 12000), 12500ULL,
			    "half of the third");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(10000, 1000, 900), 10000ULL,
			    "faster than the port");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(16000, 16000, 32000), 25000ULL,
			    "a packet: for one, and 9/16 of it for each doubling");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(16000, 12000, 48000), 34000ULL,
			    "room for less than two packets: 9/16 of what is set for each");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(10000, 0, 900), 10000ULL, "nothing known");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hop_target_ns(TCSIG_TARGET_MAX_NS, TCSIG_TARGET_MAX_NS,
						      BIT_ULL(50)),
			    TCSIG_NO_DELAY - 1ULL, "below no delay");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_inferred_target_ns(10000, 5000), 10000ULL,
			    "two in the base");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_inferred_target_ns(10000, 1000), 10000ULL, "faster");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_inferred_target_ns(10000, 20000), 30000ULL,
			    "the base for each doubling");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_inferred_target_ns(TCSIG_TARGET_MAX_NS, BIT_ULL(48) - 1),
			    TCSIG_NO_DELAY - 1ULL, "below no delay");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_burst_limit_pkts(10000, 500), 10U, "half of 10 us");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_burst_limit_pkts(10000, 9600), 2U, "at least two");
	KUNIT_EXPECT_EQ(test, tcsig_burst_limit_pkts(TCSIG_TARGET_MAX_NS, 0), HOP_BURST_MAX_PKTS);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_hold_rtt_us(20, 36, 12000), 32U,
			    "28 for 32 us, and 4 for 36");
	KUNIT_EXPECT_EQ(test, tcsig_hold_rtt_us(U32_MAX, U32_MAX, U64_MAX), HOP_RTT_MAX_US);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_ai(0, 10000), ONE, "a packet");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_ai(480000, 10000), ONE, "48 targets");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_ai(960000, 10000), 2 * ONE, "96: twice");
	KUNIT_EXPECT_EQ(test, tcsig_ai(HOP_RTT_MAX_US * 1000ULL, TCSIG_TARGET_MIN_NS),
			TCSIG_AI_MAX);
}

/* Reports of a port: ABW from @low on, in steps of 8 Mbit/s, then ABW/C. */
static const struct port_case {
	const char *what;
	u64 low_kbit_ps;
	u32 share_ppm, want_kbit_ps;
} port_cases[] = {
	{ "one pair is not enough", 996000, 1000000, 0 },
	{ "the port was full between the two", 996000, 500000, 0 },
	{ "one that agrees with none", 996000, 1000000, 0 },
	{ "two: 1 Gbit/s", 496000, 500000, 1000000 },
	{ "full: nothing new", 0, 0, 1000000 },
	{ "less than a step of ABW: nothing", 0, 4000, 1000000 },
	{ "2 Gbit/s, once", 1996000, 1000000, 1000000 },
	{ "twice: a quarter of it", 996000, 500000, 1250000 },
};

static void port_test(struct kunit *test)
{
	struct tcsig_port port = {};
	size_t i;

	KUNIT_EXPECT_EQ(test, tcsig_packet_ns(&port, 1538, U64_MAX), 1ULL * TCSIG_TARGET_MAX_NS);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_packet_ns(&port, 1538, 16000), 1000ULL,
			    "one of sixteen flows");
	for (i = 0; i < ARRAY_SIZE(port_cases); i++) {
		const struct port_case *c = &port_cases[i];

		tcsig_port_note_free(&port, c->low_kbit_ps, c->low_kbit_ps + 8000);
		tcsig_port_note_share(&port, c->share_ppm);
		KUNIT_EXPECT_EQ_MSG(test, port.kbit_ps, c->want_kbit_ps, "%s", c->what);
	}
	tcsig_port_note_share(&port, 500000);
	KUNIT_EXPECT_EQ_MSG(test, port.kbit_ps, 1250000U, "a share alone is no pair");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_packet_ns(&port, 1250, 16000), 8000ULL, "10^4 bits");
	port.kbit_ps = 1;
	KUNIT_EXPECT_EQ(test, tcsig_packet_ns(&port, 1538, 16000), 1ULL * TCSIG_TARGET_MAX_NS);
	tcsig_port_note_free(&port, 1ULL << 60, U64_MAX);
	tcsig_port_note_share(&port, 1);
	KUNIT_EXPECT_EQ_MSG(test, port.pair_kbit_ps, TCSIG_KBIT_MAX, "no port is faster");
}

static const struct scale_case {
	const char *what;
	u64 cw;
	u32 share_ppm;
	u64 free, want;
} scale_cases[] = {
	{ "half is free: twice", 10 * ONE, 500000, 100 * ONE, 20 * ONE },
	{ "a fifth: 5/4", 8 * ONE, 200000, 100 * ONE, 10 * ONE },
	{ "no more than min(ABW)", 10 * ONE, 500000, 3 * ONE, 13 * ONE },
	{ "all of it: eight times", 10 * ONE, 1000000, 100 * ONE, 80 * ONE },
	{ "nothing", 10 * ONE, 0, 100 * ONE, 10 * ONE },
	{ "the largest", TCSIG_WND_MAX, 1000000, TCSIG_WND_MAX, TCSIG_WND_MAX },
};

static void scale_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(scale_cases); i++) {
		const struct scale_case *c = &scale_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, tcsig_scale(c->cw, c->share_ppm, c->free), c->want,
				    "%s", c->what);
	}
}

static void free_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, tcsig_free(200000000, 20, 1000), 500 * ONE,
			    "200 Gbit/s * 20 us = 500 kB");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_free(100, 1000000, 1000), 12 * ONE + HALF,
			    "100 kbit/s * 1 s = 12.5 kB");
	KUNIT_EXPECT_EQ(test, tcsig_free(0, 20, 1000), 0ULL);
	KUNIT_EXPECT_EQ(test, tcsig_free(U64_MAX, U32_MAX, 1), TCSIG_WND_MAX);
}

static void believe_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, tcsig_believe(500 * ONE, 10 * ONE, 0), 500 * ONE,
			    "less than the ceiling");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_believe(U64_MAX, 10 * ONE, 0), 630 * ONE,
			    "a device of an unknown rate: 64 windows");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_believe(U64_MAX, 10 * ONE, 81 * ONE), 81 * ONE,
			    "what the device can send");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_believe(40 * ONE, 10 * ONE, 81 * ONE), 40 * ONE, "less");
	KUNIT_EXPECT_EQ(test, tcsig_believe(U64_MAX, TCSIG_WND_MAX, 0), TCSIG_WND_MAX);
}

/*
 * A peer that lies: it reports no queue and all of the path's bandwidth as free. Ten ACKs in one
 * RTT; the initial window is 10 packets of 1538 bytes on the wire.
 */
static const struct lie_case {
	const char *what;
	u32 rtt_us, line_mbit, want_pkts;
} lie_cases[] = {
	{ "10 Gbit/s, 100 us: a BDP of 81 packets, half of it at once", 100, 10000, 52 },
	{ "10 Gbit/s, 10 ms: 8127 packets", 10000, 10000, 4075 },
	{ "1 Gbit/s, 100 us: two RTTs of 8.1 packets", 100, 1000, 16 },
	{ "unknown, 100 us: 64 windows, half of it at once", 100, 0, 390 },
	{ "unknown, 10 ms", 10000, 0, 390 },
};

static void lie_test(struct kunit *test)
{
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(lie_cases); i++) {
		const struct lie_case *c = &lie_cases[i];
		const u64 line = tcsig_free(c->line_mbit * 1000ULL, c->rtt_us, 1538);
		const u64 free = tcsig_free(U64_MAX, c->rtt_us, 1538);
		struct tcsig_vars v;

		tcsig_begin(&v, 10 * ONE, TCSIG_WND_MAX, 0);
		for (n = 1; n <= 10; n++) {
			const struct tcsig_ack a = {
				.free = tcsig_believe(free, v.cw, line),
				.rtt_ns = c->rtt_us * 1000ULL,
				.acked_pkts = 1,
				.delivered_pkts = n,
				.share_ppm = HOP_PPM,
				.has_free = true,
				.has_delay = true,
				.has_share = true,
				.limited = true,
			};

			tcsig_receive(&v, &params, &a);
			tcsig_bound(&v, line);
		}
		KUNIT_EXPECT_EQ_MSG(test, (u32)(v.cw >> TCSIG_SHIFT), c->want_pkts, "%s",
				    c->what);
	}
}

/* Four connections of a host that start together. */
static void sharers_test(struct kunit *test)
{
	const struct tcsig_ack a = { .free = 80 * ONE, .acked_pkts = 3, .delivered_pkts = 103,
				     .prior_pkts = 100, .sharers = 4, .has_free = true,
				     .limited = true };
	struct tcsig_vars v;

	tcsig_begin(&v, 10 * ONE, TCSIG_WND_MAX, 100);
	tcsig_receive(&v, &params, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 20 * ONE, "half of a quarter of 80");
	KUNIT_EXPECT_EQ(test, v.goal, 30 * ONE);
}

/* Consecutive readings of a delay; the RTT is 20 us. */
static void compute_test(struct kunit *test)
{
	static const struct {
		const char *what;
		u64 low, high, cw, want_ns;
	} cases[] = {
		{ "the first: where it starts", 8192, 12288, 100 * ONE, 8192 },
		{ "5 % of a window more is 5 % of the RTT", 8192, 12288, 105 * ONE, 9192 },
		{ "the same window, the same delay", 8192, 12288, 105 * ONE, 9192 },
		{ "20 % less: not below", 8192, 12288, 84 * ONE, 8192 },
		{ "50 % more: not beyond", 8192, 12288, 126 * ONE, 12287 },
		{ "from above", 6144, 8192, 126 * ONE, 8191 },
		{ "10 % less", 6144, 8192, 113 * ONE + 2 * ONE / 5, 6191 },
		{ "a narrow range is its own place", 9984, 10112, 226 * ONE, 10111 },
		{ "no end", 4194304, U64_MAX, 226 * ONE, 4194304 },
		{ "from far above: its end", 0, 128, 226 * ONE, 127 },
		{ "much less than nothing", 0, 128, ONE, 0 },
	};
	struct tcsig_estimate r = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const u64 got_ns = tcsig_compute(&r, cases[i].low, cases[i].high, cases[i].cw, 20);

		KUNIT_EXPECT_EQ_MSG(test, got_ns, cases[i].want_ns, "%s", cases[i].what);
	}
	r = (struct tcsig_estimate){ .delay_ns = 1, .cw = TCSIG_WND_MIN };
	KUNIT_EXPECT_EQ_MSG(test, tcsig_compute(&r, 0, 1ULL << 40, TCSIG_WND_MAX, U32_MAX),
			    (1ULL << 40) - 1, "no overflow");
}

/*
 * A connection, one ACK per line: the initial window is 4 packets, 100 were delivered before. free
 * 0: not reported; delay -1: not reported.
 */
static const struct life_case {
	const char *what;
	u32 n_pkts, delivered_pkts, prior_pkts;
	s64 delay_ns;
	u32 free_pkts;
	u32 share_ppm;
	bool limited;
	u64 want;
	enum tcsig_stage stage;
} life_cases[] = {
	{ "slow start: 4 + 1", 1, 101, 100, 0, 0, 0, true, 5 * ONE, TCSIG_SEEK },
	{ "not the limit: no growth", 1, 102, 100, 0, 0, 0, false, 5 * ONE, TCSIG_SEEK },
	{ "nor a jump", 1, 103, 100, -1, 95, 0, false, 5 * ONE, TCSIG_SEEK },
	{ "95 packets are free: half", 1, 104, 100, -1, 95, 0, true, 52 * ONE + HALF, TCSIG_JUMP },
	{ "what the first window still tells is nothing new", 1, 105, 102, -1, 95, 500000, true,
	  52 * ONE + HALF, TCSIG_JUMP },
	{ "its own packets: the rest, packet by packet", 4, 109, 104, 0, 0, 0, true,
	  56 * ONE + HALF, TCSIG_JUMP },
	{ "above half the target: no more", 4, 113, 105, 5001, 0, 0, true, 56 * ONE + HALF,
	  TCSIG_JUMP },
	{ "and more", 10, 123, 106, 5000, 0, 0, true, 66 * ONE + HALF, TCSIG_JUMP },
	{ "17 are free: up to there", 50, 173, 107, -1, 17, 0, true, 83 * ONE + HALF,
	  TCSIG_STEADY },
	{ "then by the delay, when that is reported", 1, 174, 107, -1, 0, 0, true, 83 * ONE + HALF,
	  TCSIG_STEADY },
	{ "for the 52 packets until then: a 16th of half", 1, 175, 107, 0, 0, 0, true,
	  85 * ONE + ONE / 8, TCSIG_STEADY },
};

static struct tcsig_ack ack_of(const struct life_case *c)
{
	return (struct tcsig_ack){
		.free = (u64)c->free_pkts << TCSIG_SHIFT,
		.delay_ns = c->delay_ns,
		.acked_pkts = c->n_pkts,
		.delivered_pkts = c->delivered_pkts,
		.prior_pkts = c->prior_pkts,
		.share_ppm = c->share_ppm,
		.has_free = c->free_pkts,
		.has_delay = c->delay_ns >= 0,
		.has_share = c->share_ppm,
		.limited = c->limited,
	};
}

static void life_test(struct kunit *test)
{
	struct tcsig_vars v;
	size_t i;

	tcsig_begin(&v, 4 * ONE, TCSIG_WND_MAX, 100);
	for (i = 0; i < ARRAY_SIZE(life_cases); i++) {
		const struct life_case *c = &life_cases[i];
		const struct tcsig_ack a = ack_of(c);

		tcsig_receive(&v, &params, &a);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, (enum tcsig_stage)v.stage, c->stage, "%s", c->what);
	}
}

/* Steady state, 88 packets. */
static const struct life_case round_cases[] = {
	{ "twice the target: half of 10/40 for a packet", 1, 201, 150, 20000, 0, 0, true,
	  88 * ONE - ONE / 8, TCSIG_STEADY },
	{ "no report of the delay: nothing", 7, 208, 151, -1, 0, 0, true, 88 * ONE - ONE / 8,
	  TCSIG_STEADY },
	{ "one stands for all packets since", 1, 209, 152, 20000, 0, 0, true,
	  87 * ONE - ONE / 8, TCSIG_STEADY },
	{ "above the target nothing grows", 1, 210, 154, -1, 0, 500000, true, 87 * ONE - ONE / 8,
	  TCSIG_STEADY },
	{ "of the target, nothing", 5, 215, 201, 10000, 0, 0, true, 87 * ONE - ONE / 8,
	  TCSIG_STEADY },
	{ "no queue: a 16th of half for eight", 8, 223, 202, 0, 0, 0, true, 87 * ONE + ONE / 8,
	  TCSIG_STEADY },
	{ "not limited: no growth", 8, 231, 203, 0, 0, 0, false, 87 * ONE + ONE / 8,
	  TCSIG_STEADY },
	{ "but a cut", 8, 239, 204, 20000, 0, 0, false, 86 * ONE + ONE / 8, TCSIG_STEADY },
};

static void round_test(struct kunit *test)
{
	struct tcsig_vars v;
	size_t i;

	tcsig_begin(&v, 88 * ONE, TCSIG_WND_MAX, 200);
	v.stage = TCSIG_STEADY;
	for (i = 0; i < ARRAY_SIZE(round_cases); i++) {
		const struct life_case *c = &round_cases[i];
		const struct tcsig_ack a = ack_of(c);

		tcsig_receive(&v, &params, &a);
		KUNIT_EXPECT_LE_MSG(test, v.cw, c->want + 2, "%s", c->what);
		KUNIT_EXPECT_LE_MSG(test, c->want, v.cw + 2, "%s", c->what);
	}
}

/* An RTT so long that only min(ABW/C) moves the window of 40 packets. */
static const struct life_case share_cases[] = {
	{ "a fifth is free: 5/4", 1, 301, 250, 0, 200, 200000, true, 50 * ONE, TCSIG_STEADY },
	{ "the same again: no more", 1, 302, 251, 0, 200, 200000, true, 50 * ONE, TCSIG_STEADY },
	{ "half: twice the 40", 1, 303, 252, 0, 200, 500000, true, 80 * ONE, TCSIG_STEADY },
	{ "its own packets: a new round", 1, 304, 301, 0, 200, 200000, true, 100 * ONE,
	  TCSIG_STEADY },
	{ "a packet more or less is nothing", 1, 340, 310, 0, 200, 19999, true, 100 * ONE,
	  TCSIG_STEADY },
	{ "a queue stands: it counted late", 1, 345, 341, 5001, 200, 200000, true, 100 * ONE,
	  TCSIG_STEADY },
	{ "none stands", 1, 346, 342, 5000, 200, 200000, true, 125 * ONE, TCSIG_STEADY },
};

static void share_test(struct kunit *test)
{
	const struct tcsig_params p = { .target_ns = 10000, .rtt_ns = 1ULL << 62 };
	struct tcsig_vars v;
	size_t i;

	tcsig_begin(&v, 40 * ONE, TCSIG_WND_MAX, 300);
	v.stage = TCSIG_STEADY;
	for (i = 0; i < ARRAY_SIZE(share_cases); i++) {
		const struct life_case *c = &share_cases[i];
		const struct tcsig_ack a = ack_of(c);

		tcsig_receive(&v, &p, &a);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want, "%s", c->what);
	}
}

/* min(ABW/C) is the minimum of the last round with a report and of the latest one. */
static void shares_test(struct kunit *test)
{
	struct tcsig_shares shares = { .least_ppm = TCSIG_NO_SHARE };

	tcsig_shares_turn(&shares);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_shares_note(&shares, 500000), 0U, "no whole round yet");
	tcsig_shares_note(&shares, 200000);
	tcsig_shares_note(&shares, 300000);
	tcsig_shares_turn(&shares);
	tcsig_shares_turn(&shares);
	KUNIT_EXPECT_EQ_MSG(test, tcsig_shares_note(&shares, 500000), 200000U,
			    "a fifth was free in all of the round; the next one had no report");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_shares_note(&shares, 100000), 100000U, "it is less now");
	tcsig_shares_turn(&shares);
	KUNIT_EXPECT_EQ(test, tcsig_shares_note(&shares, 500000), 100000U);
}

static void loss_test(struct kunit *test)
{
	struct tcsig_vars v;

	tcsig_begin(&v, 80 * ONE, TCSIG_WND_MAX, 100);
	tcsig_lose(&v, 130, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 40 * ONE, "half");
	KUNIT_EXPECT_EQ(test, (enum tcsig_stage)v.stage, TCSIG_STEADY);
	tcsig_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 80 * ONE, "it was none");
	tcsig_lose(&v, 200, true);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, ONE, "a timeout: one packet");
	KUNIT_EXPECT_EQ_MSG(test, v.goal, 40 * ONE, "and slow start up to half");
	KUNIT_EXPECT_EQ(test, (enum tcsig_stage)v.stage, TCSIG_SEEK);
	tcsig_lose(&v, 200, true);
	tcsig_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 80 * ONE, "none of both was one");
	v.undo_cw = 0;
	v.cw = HALF;
	tcsig_lose(&v, 300, false);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, HALF, "a window below one packet is the timer's");
}

/* Without a hop the window is Reno's, and the algorithm goes on from there. */
static const struct follow_case {
	const char *what;
	u64 cw;
	enum tcsig_stage was, want;
	bool slow_start;
	u64 want_cw;
} follow_cases[] = {
	{ "slow start goes on", 33 * ONE, TCSIG_SEEK, TCSIG_SEEK, true, 33 * ONE },
	{ "Reno's slow start has ended", 33 * ONE, TCSIG_SEEK, TCSIG_STEADY, false, 33 * ONE },
	{ "a jump ends: no hop reports what is free", 50 * ONE, TCSIG_JUMP, TCSIG_STEADY, true,
	  50 * ONE },
	{ "steady", 7 * ONE, TCSIG_STEADY, TCSIG_STEADY, false, 7 * ONE },
	{ "slow start after an RTO of Reno's", ONE, TCSIG_STEADY, TCSIG_STEADY, true, ONE },
	{ "at least the minimum window", 0, TCSIG_STEADY, TCSIG_STEADY, false, TCSIG_WND_MIN },
	{ "at most the maximum window", U64_MAX, TCSIG_SEEK, TCSIG_SEEK, true, TCSIG_WND_MAX },
};

static void follow_test(struct kunit *test)
{
	struct tcsig_ack a = { .delay_ns = 20000, .acked_pkts = 1, .delivered_pkts = 301,
			       .prior_pkts = 250, .has_delay = true };
	struct tcsig_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(follow_cases); i++) {
		const struct follow_case *c = &follow_cases[i];

		tcsig_begin(&v, 20 * ONE, TCSIG_WND_MAX, 300);
		v.stage = c->was;
		v.delay_ns = 20000;
		v.cut = true;
		tcsig_follow(&v, c->cw, c->slow_start);
		KUNIT_EXPECT_EQ_MSG(test, v.cw, c->want_cw, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.ref, c->want_cw, "%s: window of the round", c->what);
		KUNIT_EXPECT_EQ_MSG(test, (enum tcsig_stage)v.stage, c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.delay_ns, 0ULL, "%s: no delay is reported", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.round_pkts, 300U, "%s: the round goes on", c->what);
		KUNIT_EXPECT_FALSE_MSG(test, v.cut, "%s: the round has no cut", c->what);
	}
	/* A hop reports again: the cut reduces Reno's window. Reno has undone what there was. */
	tcsig_begin(&v, 20 * ONE, TCSIG_WND_MAX, 300);
	tcsig_lose(&v, 300, false);
	tcsig_follow(&v, 8 * ONE, false);
	tcsig_undo(&v);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 8 * ONE, "there is nothing to undo");
	tcsig_receive(&v, &params, &a);
	KUNIT_EXPECT_EQ_MSG(test, v.cw, 8 * ONE - ONE / 8, "half of 10/40");
	KUNIT_EXPECT_FALSE_MSG(test, v.guess, "the window was no guess");
}

static void pace_test(struct kunit *test)
{
	struct tcsig_vars v = { .cw = 10 * ONE, .stage = TCSIG_STEADY };

	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 1000, 100), 100000000ULL,
			    "10 kB in 100 us");
	v.stage = TCSIG_SEEK;
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 1000, 100), 200000000ULL,
			    "slow start: twice that");
	v.stage = TCSIG_JUMP;
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 1000, 100), 100000000ULL,
			    "half of what is free is half of it");
	v.proven = true;
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 1000, 100), 200000000ULL,
			    "the rest");
	v = (struct tcsig_vars){ .cw = ONE, .stage = TCSIG_STEADY };
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 1000, 100), 40000000ULL,
			    "two packets, held by the timer: a quarter of an RTT between them");
	KUNIT_EXPECT_EQ_MSG(test, hop_gap_ns(ONE, TCSIG_FLIGHT_PKTS, 100), 200000ULL,
			    "two in 2 RTT");
	KUNIT_EXPECT_EQ_MSG(test, hop_gap_ns(ONE / 8, TCSIG_FLIGHT_PKTS, 100), 1600000ULL,
			    "two in 16 RTT");
	KUNIT_EXPECT_EQ(test, hop_gap_ns(2 * ONE, TCSIG_FLIGHT_PKTS, 100), 0ULL);
	v = (struct tcsig_vars){ .cw = TCSIG_WND_MAX, .stage = TCSIG_JUMP, .proven = true };
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_bytes_ps(&v, 65535, 1),
			    2ULL * TCSIG_WND_MAX_PKTS * 65535 * 1000000, "the greatest");
}

static void pace_rtt_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_rtt_us(100, 110, 10000), 100U,
			    "a queue that hops report");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_rtt_us(100, 150, 0), 100U,
			    "half of the minimum RTT is no queue that lasts");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_rtt_us(100, 2000, 10000), 1940U,
			    "a queue on the way back");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_rtt_us(100, 50, 1000000), 100U,
			    "an older mean");
	KUNIT_EXPECT_EQ_MSG(test, tcsig_pace_rtt_us(U32_MAX, 150, 10000), 150U,
			    "no minimum is known");
}

/* With compact tags, the algorithm's estimate is best at the ends of a bucket. */
static void default_test(struct kunit *test)
{
	u32 edge[TC_CSIG_EDGES_MAX], i, found = 0;

	tc_csig_pow2(edge, TC_CSIG_POW2_DEFAULT_NS);
	for (i = 0; i < TC_CSIG_EDGES_MAX; i++)
		found += edge[i] == TCSIG_TARGET_DEFAULT_NS;
	KUNIT_EXPECT_EQ_MSG(test, found, 1U, "the default target is an edge of default buckets");
}

static struct kunit_case csig_sender_cases[] = {
	KUNIT_CASE(step_test),
	KUNIT_CASE(guess_test),
	KUNIT_CASE(first_test),
	KUNIT_CASE(least_test),
	KUNIT_CASE(target_test),
	KUNIT_CASE(port_test),
	KUNIT_CASE(scale_test),
	KUNIT_CASE(free_test),
	KUNIT_CASE(believe_test),
	KUNIT_CASE(lie_test),
	KUNIT_CASE(sharers_test),
	KUNIT_CASE(compute_test),
	KUNIT_CASE(life_test),
	KUNIT_CASE(round_test),
	KUNIT_CASE(share_test),
	KUNIT_CASE(shares_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(follow_test),
	KUNIT_CASE(pace_test),
	KUNIT_CASE(pace_rtt_test),
	KUNIT_CASE(default_test),
	{ }
};

static struct kunit_suite csig_sender_suite = {
	.name = "csig_sender",
	.test_cases = csig_sender_cases,
};

kunit_test_suite(csig_sender_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of CSIG's sender");
