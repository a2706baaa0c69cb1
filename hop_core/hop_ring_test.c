// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the bytes that a driver's ring holds. Runs in the kernel and on the host. The ring of
 * these tests sends a byte per ns unless a row says otherwise, so that a packet of 1000 bytes
 * takes 1000 ns.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of the law; its exports are those of hop_core. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_ring.c"

#define LEN_BYTES	1000U
#define RATE_BYTES_PS	1000000000U

/* A true ring, of packets of LEN_BYTES, which sends one in pkt_ns. */
struct nic {
	struct hop_ring model;
	struct hop_ring_bql bql;
	u64 now_ns;
	u64 free_ns;	/* the last packet has left the ring */
	u32 pkt_ns;
	u32 slots;
};

static struct nic nic_new(u64 rate_bytes_ps, u32 pkt_ns, u32 slots, bool has_bql)
{
	struct nic n = { .pkt_ns = pkt_ns, .slots = slots, .now_ns = 5000, .free_ns = 5000,
			 .bql.is_used = has_bql };

	hop_ring_set_rate(&n.model, rate_bytes_ps);
	return n;
}

static u64 nic_wait_ns(const struct nic *n)
{
	return n->free_ns > n->now_ns ? n->free_ns - n->now_ns : 0;
}

/* The packet that is being sent counts as a whole for BQL. */
static u32 nic_pkts(const struct nic *n)
{
	return DIV_ROUND_UP(nic_wait_ns(n), n->pkt_ns);
}

static u64 nic_held(struct nic *n)
{
	n->bql.completed_bytes = n->bql.queued_bytes - nic_pkts(n) * LEN_BYTES;
	return hop_ring_held_bytes(&n->model, n->now_ns, &n->bql);
}

static void nic_give(struct nic *n)
{
	hop_ring_give(&n->model, n->now_ns, LEN_BYTES, &n->bql);
	n->bql.queued_bytes += n->bql.is_used ? LEN_BYTES : 0;
	n->free_ns = max(n->free_ns, n->now_ns) + n->pkt_ns;
}

/* Keep the ring full for @pkts packets. The largest difference of the delay, ppm of the true one */
static u32 nic_saturate(struct nic *n, u32 pkts, u32 settle_pkts)
{
	u32 i, worst_ppm = 0;

	for (i = 0; i < pkts; i++) {
		u64 true_ns, said_ns;

		if (nic_pkts(n) == n->slots) {
			hop_ring_stopped(&n->model);
			n->now_ns = n->free_ns - (u64)(n->slots - 1) * n->pkt_ns;
		}
		true_ns = nic_wait_ns(n);
		said_ns = hop_ring_wait_ns(&n->model, nic_held(n));
		if (i >= settle_pkts && true_ns)
			worst_ppm = max_t(u64, worst_ppm,
					  (said_ns > true_ns ? said_ns - true_ns :
					   true_ns - said_ns) * 1000000 / true_ns);
		nic_give(n);
	}
	return worst_ppm;
}

/* Packets that are handed over at once wait for those before them; then time empties the ring. */
static void fifo_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS, LEN_BYTES, 256, false);
	u32 i;

	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, nic_held(&n), (u64)i * LEN_BYTES);
		KUNIT_EXPECT_EQ(test, hop_ring_wait_ns(&n.model, nic_held(&n)),
				(u64)i * LEN_BYTES);
		nic_give(&n);
	}
	n.now_ns += 3500;
	KUNIT_EXPECT_EQ(test, nic_held(&n), 6500);
	n.now_ns += 6499;
	KUNIT_EXPECT_EQ(test, nic_held(&n), 1);
	n.now_ns += 2;
	KUNIT_EXPECT_EQ(test, nic_held(&n), 0);
	KUNIT_EXPECT_EQ(test, n.model.left_bytes, n.model.given_bytes);
}

/*
 * Half the rate, regularly: nothing waits, whatever BQL has in flight. An interrupt reports packets
 * to the driver 64 us late.
 */
static void late_completion_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS, LEN_BYTES, 256, true);
	u32 i;

	for (i = 0; i < 1000; i++) {
		n.bql.completed_bytes = n.bql.queued_bytes - min(i, 32U) * LEN_BYTES;
		KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&n.model, n.now_ns, &n.bql), 0);
		nic_give(&n);
		n.now_ns += 2 * LEN_BYTES;
	}
}

/* With BQL, a rate that is too low does not let the ring grow above what is in flight. */
static void bql_bounds_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS / 10, LEN_BYTES, 256, true);
	u32 i;

	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_LE(test, nic_held(&n), LEN_BYTES);
		nic_give(&n);
		n.now_ns += LEN_BYTES;
	}
}

/* The stack takes packets from the qdisc, and then gives them to the driver together. */
static void bulk_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS, LEN_BYTES, 256, true);
	u32 i, bulk;

	for (bulk = 0; bulk < 5; bulk++) {
		for (i = 0; i < 8; i++) {
			KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&n.model, n.now_ns, &n.bql),
					(bulk * 8 + i) * LEN_BYTES);
			hop_ring_give(&n.model, n.now_ns, LEN_BYTES, &n.bql);
		}
		n.bql.queued_bytes += 8 * LEN_BYTES;
	}
}

/* A saturated ring: the delay for rates that are right, wrong by 1 % and wrong by a factor. */
static void saturated_test(struct kunit *test)
{
	static const struct {
		u32 rate_percent, slots, pkts, settle_pkts;
		bool has_bql;
		u32 max_ppm;
	} rows[] = {
		{ 100, 16, 100000, 0, false, 1000 },
		{ 100, 256, 1000000, 0, false, 1000 },
		{ 100, 256, 1000000, 0, true, 10000 },
		{ 101, 256, 1000000, 0, false, 12000 },
		{ 99, 256, 1000000, 0, false, 12000 },
		{ 99, 256, 1000000, 0, true, 12000 },
		/* Without BQL, the first pace is known when the ring has been filled again. */
		{ 200, 256, 100000, 1000, false, 5000 },
		{ 1000, 16, 100000, 1000, false, 70000 },
		{ 1000, 16, 100000, 1000, true, 70000 },
		{ 50, 256, 100000, 1000, true, 10000 },
		{ 50, 256, 100000, 1000, false, 5000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nic n = nic_new(RATE_BYTES_PS / 100 * rows[i].rate_percent, LEN_BYTES,
				       rows[i].slots, rows[i].has_bql);
		const u32 ppm = nic_saturate(&n, rows[i].pkts, rows[i].settle_pkts);

		KUNIT_EXPECT_LE_MSG(test, ppm, rows[i].max_ppm, "row %u", i);
	}
}

/* A port that is paused to 10 % of its rate, and then released. */
static void pause_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS, LEN_BYTES, 128, false);
	u32 i;

	nic_saturate(&n, 1000, 0);
	n.pkt_ns = 10 * LEN_BYTES;
	KUNIT_EXPECT_LE(test, nic_saturate(&n, 2000, 500), 20000);
	n.pkt_ns = LEN_BYTES;
	n.free_ns = n.now_ns;
	hop_ring_idle(&n.model);
	/* The ring is not the bottleneck any more. At most a full ring is reported, for 100 ms. */
	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_LE(test, nic_held(&n), 128 * LEN_BYTES);
		nic_give(&n);
		n.now_ns += 2 * LEN_BYTES;
	}
	/* After 100 ms without a stop the port's rate counts again. */
	n.now_ns += HOP_RING_MEASURED_NS;
	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_EQ(test, nic_held(&n), 0);
		nic_give(&n);
		n.now_ns += 2 * LEN_BYTES;
	}
}

/* The bytes that have left never fall, and those in the ring never exceed those handed over. */
static void never_back_test(struct kunit *test)
{
	struct nic n = nic_new(RATE_BYTES_PS, LEN_BYTES, 64, true);
	u64 left_bytes = 0, state = 1;
	u32 i;

	for (i = 0; i < 200000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		n.now_ns += state >> 33 & 4095;
		n.bql.completed_bytes = n.bql.queued_bytes - (state >> 45 & 0xffff);
		if (!(state >> 60))
			hop_ring_idle(&n.model);
		if (state >> 63)
			hop_ring_stopped(&n.model);
		hop_ring_held_bytes(&n.model, n.now_ns, &n.bql);
		if (n.model.left_bytes < left_bytes || n.model.left_bytes > n.model.given_bytes)
			break;
		left_bytes = n.model.left_bytes;
		nic_give(&n);
	}
	KUNIT_EXPECT_EQ(test, i, 200000);
}

/* The lowest and the highest rate: no product overflows. */
static void bounds_test(struct kunit *test)
{
	const struct hop_ring_bql none = {};
	struct hop_ring r = {};

	hop_ring_set_rate(&r, 1250);
	hop_ring_give(&r, 1, S32_MAX, &none);
	KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&r, 1, &none), HOP_RING_MAX_BYTES);
	KUNIT_EXPECT_EQ(test, hop_ring_wait_ns(&r, HOP_RING_MAX_BYTES),
			HOP_RING_MAX_BYTES * 800000);
	KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&r, 8001001, &none), HOP_RING_MAX_BYTES - 10);
	hop_ring_set_rate(&r, 200000000000ULL);
	hop_ring_give(&r, 8001001, 2000, &none);
	KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&r, 8001011, &none), HOP_RING_MAX_BYTES - 2000);
	KUNIT_EXPECT_EQ(test, hop_ring_wait_ns(&r, 2000), 9);
	KUNIT_EXPECT_EQ(test, hop_ring_held_bytes(&r, U64_MAX, &none), 0);
}

static struct kunit_case hop_ring_cases[] = {
	KUNIT_CASE(fifo_test),
	KUNIT_CASE(late_completion_test),
	KUNIT_CASE(bql_bounds_test),
	KUNIT_CASE(bulk_test),
	KUNIT_CASE(saturated_test),
	KUNIT_CASE(pause_test),
	KUNIT_CASE(never_back_test),
	KUNIT_CASE(bounds_test),
	{}
};

static struct kunit_suite hop_ring_suite = {
	.name = "hop_ring",
	.test_cases = hop_ring_cases,
};

kunit_test_suite(hop_ring_suite);

MODULE_DESCRIPTION("KUnit tests of the bytes that a driver's ring holds below a qdisc");
MODULE_LICENSE("GPL");
