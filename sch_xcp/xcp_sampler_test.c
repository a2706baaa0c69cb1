// SPDX-License-Identifier: GPL-2.0
/* Tests of xcp_sampler.h with honest and lying senders; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include "xcp_router.c"
#include "xcp_sampler.h"

#define MS 1000000ULL
#define PAUSE_NS (50 * MS)

/**
 * struct sender - a flow of packets of 1000 bytes with an RTT of 10 ms
 * @name: name of the case
 * @before_pms: packets/ms until the end of WAIT
 * @after_pms: packets/ms in AFTER
 * @claims_bytes_pms: advertised throughput
 * @reported: Delta_Throughput of each packet in SUM, the second 80 ms
 * @granted: Delta_Throughput of each packet in the other phases
 * @understates: expected result
 * @ignores: expected result
 */
struct sender {
	const char *name;
	u32 before_pms, after_pms, claims_bytes_pms;
	s32 reported, granted;
	bool understates, ignores;
};

/* 4 packets/ms are 4 Mbyte/s; 320 packets get the feedback in SUM. */
static const struct sender senders[] = {
	{ "honest",			4, 4, 4000, 0, 0, false, false },
	{ "claims a bit less",		4, 4, 3300, 0, 0, false, false },
	{ "claims three quarters",	4, 4, 3000, 0, 0, true, false },
	{ "claims 10 %",		4, 4, 400, 0, 0, true, false },
	{ "claims more",		4, 4, 40000, 0, 0, false, false },
	{ "halves as asked",		4, 2, 4000, -6250, 0, false, false },
	{ "asked to halve, does not",	4, 4, 4000, -6250, 0, false, true },
	{ "asked to halve, doubles",	4, 8, 4000, -6250, 0, false, true },
	{ "asked a little, not seen",	4, 4, 4000, -1000, 0, false, false },
	{ "asked, and granted more",	4, 4, 4000, -6250, 6250, false, false },
	{ "doubles as allowed",		4, 8, 4000, 12500, 0, false, false },
	/* the floor is 4 packets per RTT, 0.4 per ms; more is sent */
	{ "asked to stop, does not",	4, 4, 4000, -100000, 0, false, true },
	{ "not asked, doubles",		4, 8, 4000, 0, 0, false, false },
	{ "lies in both ways",		4, 4, 400, -6250, 0, true, true },
};

static bool run(struct sxcp_sampler *s, const struct sender *from, u32 key)
{
	u64 now_ns;

	for (now_ns = 0; now_ns < 400 * MS; now_ns += MS / 8) {
		const u64 ms = now_ns / MS, eighth = now_ns % MS * 8 / MS;
		const u32 pms = ms < 180 ? from->before_pms : from->after_pms;
		struct sxcp_pkt pkt = {
			.class = XCP_CLASS_ASKING,
			.pkts = 1,
			.bytes = 1000,
			.rtt_us = 10000,
			.throughput_bytes_pms = from->claims_bytes_pms,
			.delta_bytes_ps = ms >= 80 && ms < 160 ? from->reported : from->granted,
		};

		if (eighth * pms % 8)
			continue;
		if (sxcp_sampler_see(s, &pkt, key, now_ns, PAUSE_NS))
			return true;
	}
	return false;
}

static void senders_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(senders); i++) {
		struct sxcp_sampler s = {};

		KUNIT_ASSERT_EQ_MSG(test, run(&s, &senders[i], 7), true, "%s", senders[i].name);
		KUNIT_EXPECT_EQ_MSG(test, s.result.understates, senders[i].understates, "%s",
				    senders[i].name);
		KUNIT_EXPECT_EQ_MSG(test, s.result.ignores, senders[i].ignores, "%s",
				    senders[i].name);
		/* 320 packets in 80 ms */
		KUNIT_EXPECT_EQ_MSG(test, s.result.before_bytes_ps,
				    senders[i].before_pms * 1000000LL, "%s", senders[i].name);
		KUNIT_EXPECT_EQ_MSG(test, s.result.after_bytes_ps,
				    senders[i].after_pms * 1000000LL, "%s", senders[i].name);
		KUNIT_EXPECT_EQ_MSG(test, s.result.reported_bytes_ps, senders[i].reported * 320LL,
				    "%s",
				    senders[i].name);
	}
}

static struct sxcp_pkt packet(u32 bytes)
{
	return (struct sxcp_pkt){
		.class = XCP_CLASS_ASKING, .pkts = 1, .bytes = bytes, .rtt_us = 10000,
		.throughput_bytes_pms = 100,
	};
}

/* Other flows do not count; the sampler pauses after a sample; a flow that ends is dropped. */
static void one_flow_test(struct kunit *test)
{
	struct sxcp_pkt pkt = packet(1000);
	struct sxcp_sampler s = {};

	KUNIT_EXPECT_FALSE(test, sxcp_sampler_see(&s, &pkt, 1, 100 * MS, PAUSE_NS));
	KUNIT_EXPECT_FALSE(test, sxcp_sampler_see(&s, &pkt, 2, 101 * MS, PAUSE_NS));
	KUNIT_EXPECT_EQ(test, s.result.key, 1U);
	KUNIT_EXPECT_EQ(test, s.bytes, 1000ULL);
	/* The phase ends at 180 ms; 80 ms later the sample is dropped. */
	sxcp_sampler_see(&s, &pkt, 2, 260 * MS, PAUSE_NS);
	KUNIT_EXPECT_EQ(test, s.result.key, 1U);
	sxcp_sampler_see(&s, &pkt, 2, 261 * MS, PAUSE_NS);
	KUNIT_EXPECT_EQ(test, s.result.key, 2U);

	s.phase = XCP_SAMPLE_PAUSE;
	s.end_ns = 400 * MS;
	sxcp_sampler_see(&s, &pkt, 3, 399 * MS, PAUSE_NS);
	KUNIT_EXPECT_EQ(test, s.result.key, 2U);
	sxcp_sampler_see(&s, &pkt, 4, 400 * MS, PAUSE_NS);
	KUNIT_EXPECT_EQ(test, s.result.key, 4U);
}

/*
 * The flow is asked to stop but sends a packet of 1000 bytes every @every_ns: four per RTT are
 * allowed.
 */
static bool stays(u64 every_ns)
{
	struct sxcp_sampler s = {};
	u64 now_ns = 0;
	bool complete;

	do {
		struct sxcp_pkt pkt = packet(1000);

		pkt.delta_bytes_ps = now_ns >= 80 * MS && now_ns < 160 * MS ? -100000 : 0;
		complete = sxcp_sampler_see(&s, &pkt, 1, now_ns, PAUSE_NS);
		now_ns += every_ns;
	} while (!complete && now_ns < 400 * MS);
	return complete && s.result.ignores;
}

static void floor_test(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, stays(2 * MS));
	KUNIT_EXPECT_FALSE(test, stays(5 * MS / 2));
}

/* The feedback of a GSO packet counts for each of its packets. */
static void gso_packet_test(struct kunit *test)
{
	struct sxcp_sampler s = { .phase = XCP_SAMPLE_SUM };
	struct sxcp_pkt pkt = packet(10000);

	pkt.pkts = 10;
	pkt.delta_bytes_ps = -7;
	sxcp_sample_add(&s, &pkt);
	KUNIT_EXPECT_EQ(test, s.result.reported_bytes_ps, -70LL);
	s.phase = XCP_SAMPLE_WAIT;
	pkt.delta_bytes_ps = 3;
	sxcp_sample_add(&s, &pkt);
	KUNIT_EXPECT_EQ(test, s.result.granted_bytes_ps, 30LL);
}

/* Extreme values in packets: no overflow, and each sample ends. */
static void extremes_test(struct kunit *test)
{
	static const u32 fields[] = { 1, 1000, U32_MAX };
	u32 n, complete = 0;

	for (n = 0; n < 3 * 3 * 2; n++) {
		struct sxcp_pkt pkt = packet(n & 1 ? 1 : S32_MAX);
		struct sxcp_sampler s = {};
		u64 now_ns = 1;
		int i;

		pkt.rtt_us = fields[n % 3];
		pkt.throughput_bytes_pms = fields[n / 3 % 3];
		pkt.delta_bytes_ps = n & 2 ? S32_MAX : -S32_MAX - 1;
		pkt.pkts = n & 4 ? 1 : 524280;
		for (i = 0; i < 100; i++) {
			complete += sxcp_sampler_see(&s, &pkt, 1, now_ns, U64_MAX >> 1);
			now_ns += (u64)pkt.rtt_us * 1000;
		}
	}
	KUNIT_EXPECT_EQ(test, complete, 3U * 3 * 2);
}

static struct kunit_case sxcp_sampler_cases[] = {
	KUNIT_CASE(senders_test),
	KUNIT_CASE(one_flow_test),
	KUNIT_CASE(floor_test),
	KUNIT_CASE(gso_packet_test),
	KUNIT_CASE(extremes_test),
	{}
};

static struct kunit_suite sxcp_sampler_suite = {
	.name = "xcp_sampler",
	.test_cases = sxcp_sampler_cases,
};

kunit_test_suite(sxcp_sampler_suite);

MODULE_DESCRIPTION("KUnit tests of XCP's sampler of senders");
MODULE_LICENSE("GPL");
