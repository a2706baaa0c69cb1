// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the HPCC++ algorithm and sender with values that can be checked by hand; run in the
 * kernel and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "hpccpp_sender.c"

/* 100G, 10 us: a BDP of 125000 bytes; 512-byte units of 40.96 ns. */
#define SPEED_100G	9
#define T_NS		10000U
#define BDP_BYTES	125000U
#define ETA		996147U		/* 0.95 << 20 */
#define U(x1000)	((u32)((x1000) * 1048576ULL / 1000))

static const struct hpcc_params params = {
	.t_ns = T_NS,
	.eta = ETA,
	.max_stage = 5,
	.wnd_max_bytes = BDP_BYTES,
	.wnd_init_bytes = BDP_BYTES,
	.wnd_ai = 100 << HPCC_WND_SHIFT,
};

/* A path of one hop, as an answer reports it. */
struct one_path {
	u64 room[4];
};

static const struct int_hdr *one_hop(struct one_path *path, u32 ts_ns, u32 tx_units, u32 qlen_units)
{
	struct int_record r = { SPEED_100G, ts_ns, tx_units, qlen_units };
	struct int_hdr *h = (struct int_hdr *)path->room;

	int_write(h, 6, INT_TYPE_PROBE, 0, 1);
	h->path = cpu_to_be32(1 << 28 | 7 << 16);
	h->record[0] = int_pack(&r);
	return h;
}

static const struct measure_case {
	const char *what;
	u32 ts_ns[2];
	u32 tx_units[2];
	u32 qlen_units[2];
	enum hpcc_received want;
	u32 want_u_x1000;
	u32 tolerance_x1000;
} measure_cases[] = {
	/* 10000 / 40.96 = 244.14 units are sent in T at line rate. */
	{ "the line is full, no queue", { 0, 10000 }, { 0, 244 }, { 0, 0 },
	  HPCC_RECEIVED_NEW, 999, 1 },
	{ "half of it", { 0, 10000 }, { 0, 122 }, { 0, 0 }, HPCC_RECEIVED_NEW, 500, 1 },
	{ "full, and a BDP of queue, less two packets of 3 units", { 0, 10000 }, { 0, 244 },
	  { 244, 244 }, HPCC_RECEIVED_NEW, 1974, 2 },
	{ "full, and two packets of queue", { 0, 10000 }, { 0, 244 }, { 6, 6 },
	  HPCC_RECEIVED_NEW, 999, 1 },
	{ "the smaller of two queues counts", { 0, 10000 }, { 0, 244 }, { 244, 0 },
	  HPCC_RECEIVED_NEW, 999, 1 },
	{ "half of T weighs half: (1 + 0.5) / 2", { 0, 5000 }, { 0, 61 }, { 0, 0 },
	  HPCC_RECEIVED_NEW, 750, 1 },
	{ "three T weigh as one", { 0, 30000 }, { 0, 366 }, { 0, 0 }, HPCC_RECEIVED_NEW, 500, 1 },
	{ "the clock wraps", { 16777000, 9784 }, { 0, 122 }, { 0, 0 },
	  HPCC_RECEIVED_NEW, 500, 1 },
	{ "the counter wraps", { 0, 10000 }, { 1048500, 46 }, { 0, 0 },
	  HPCC_RECEIVED_NEW, 500, 1 },
	{ "nothing was sent for T", { 0, 10000 }, { 5, 5 }, { 0, 0 }, HPCC_RECEIVED_NEW, 0, 0 },
	{ "no time has passed", { 500, 500 }, { 0, 40 }, { 0, 0 }, HPCC_RECEIVED_SAME, 1000, 0 },
	{ "31 units in less than T are too few", { 0, 1270 }, { 0, 31 }, { 0, 0 },
	  HPCC_RECEIVED_SAME, 1000, 0 },
	{ "32 are not", { 0, 1311 }, { 0, 32 }, { 0, 0 }, HPCC_RECEIVED_NEW, 1000, 1 },
	{ "an answer that is late", { 20000, 10000 }, { 244, 0 }, { 0, 0 },
	  HPCC_RECEIVED_SAME, 1000, 0 },
	{ "a queue longer than can be said", { 0, 10000 }, { 0, 244 }, { 99999, 70000 },
	  HPCC_RECEIVED_NEW, 269432, 300 },
};

static void measure_test(struct kunit *test)
{
	struct one_path path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(measure_cases); i++) {
		const struct measure_case *c = &measure_cases[i];
		struct hpcc_vars v;
		s64 off;

		hpcc_start(&v, &params);
		KUNIT_EXPECT_EQ(test, hpcc_receive(&v, &params, one_hop(&path, c->ts_ns[0],
									c->tx_units[0],
									c->qlen_units[0]), 1000),
				HPCC_RECEIVED_FIRST);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params,
						       one_hop(&path, c->ts_ns[1], c->tx_units[1],
							       c->qlen_units[1]), 20000),
				    c->want, "%s", c->what);
		off = (s64)v.u - U(c->want_u_x1000);
		KUNIT_EXPECT_LE_MSG(test, off, (s64)U(c->tolerance_x1000), "%s", c->what);
		KUNIT_EXPECT_GE_MSG(test, off, -(s64)U(c->tolerance_x1000), "%s", c->what);
	}
}

static void path_test(struct kunit *test)
{
	struct int_hdr *h;
	struct hpcc_vars v;
	struct one_path path;

	hpcc_start(&v, &params);
	h = (struct int_hdr *)one_hop(&path, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, hpcc_receive(&v, &params, h, 1000), HPCC_RECEIVED_FIRST);
	h = (struct int_hdr *)one_hop(&path, 10000, 244, 0);
	h->path = cpu_to_be32(1 << 28 | 8 << 16);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params, h, 11000), HPCC_RECEIVED_PATH,
			    "another switch");
	one_hop(&path, 20000, 488, 0);
	h->path = cpu_to_be32(2 << 28 | 8 << 16);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params, h, 21000), HPCC_RECEIVED_PATH,
			    "a hop more, that found no room");
	one_hop(&path, 30000, 732, 0);
	h->path = cpu_to_be32(2 << 28 | 8 << 16);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params, h, 21000 + HPCC_STORED_MAX_NS + 1),
			    HPCC_RECEIVED_FIRST, "too late to compare");
	h->record[0] = 0;
	KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params, h, 31000), HPCC_RECEIVED_NOTHING,
			    "no such speed");
	KUNIT_EXPECT_EQ(test, v.u, HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), BDP_BYTES);
}

/*
 * Two answers of one hop, with the local time and the hop's time between them; the port is half
 * full, 12.2 units in 1000 ns. The hop's time wraps after 16.8 ms.
 */
static const struct far_case {
	const char *what;
	u32 local_ns, hop_ns;
	u32 wnd_bytes;
	enum hpcc_received want;
	u32 want_wnd_bytes;
} far_cases[] = {
	{ "the hop's clock has not wrapped", 8000000, 8000000, 500, HPCC_RECEIVED_NEW, 500 },
	{ "more than half a turn", 12000000, 12000000, 500, HPCC_RECEIVED_NEW, 500 },
	{ "the second answer is late", 16000000, 9000000, 500, HPCC_RECEIVED_NEW, 500 },
	{ "a turn, and the first answer was late", 17000000, 25000000, 500, HPCC_RECEIVED_NEW,
	  500 },
	{ "an older record", 1000000, (u32)-1000000, 500, HPCC_RECEIVED_SAME, 500 },
	{ "txBytes may have wrapped: a shorter round", 26000000, 26000000, 500,
	  HPCC_RECEIVED_FIRST, 1000 },
	{ "the same with a packet: the round is T", 26000000, 26000000, 2000, HPCC_RECEIVED_FIRST,
	  2000 },
};

static void far_test(struct kunit *test)
{
	struct one_path path;
	struct hpcc_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(far_cases); i++) {
		const struct far_case *c = &far_cases[i];
		const u32 units = (u64)max_t(s32, c->hop_ns, 0) * 1000 / 40960 / 2;
		const struct int_hdr *h;

		hpcc_start(&v, &params);
		h = one_hop(&path, 30000000, 500, 0);
		hpcc_receive(&v, &params, h, 1000);
		v.wnd = (u64)c->wnd_bytes << HPCC_WND_SHIFT;
		v.wnd_ref = v.wnd;
		h = one_hop(&path, 30000000 + c->hop_ns, 500 + units, 0);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_receive(&v, &params, h, 1000 + c->local_ns), c->want,
				    "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), c->want_wnd_bytes, "%s", c->what);
		if (c->want == HPCC_RECEIVED_NEW)
			KUNIT_EXPECT_LE_MSG(test, abs((s32)(v.u - U(500))), (s32)U(1), "%s",
					    c->what);
	}
}

/* A full hop with a queue of one BDP: U is 1 and the queue in terms of the flow's round. */
static const struct drain_case {
	const char *what;
	u32 t_ns;
	u32 wnd_bytes;
	u32 want_u_x1000;
} drain_cases[] = {
	{ "a packet or more: T", T_NS, 1538, 1975 },
	{ "half a packet: 2 T", T_NS, 769, 1488 },
	{ "10 % of one: 10 T", T_NS, 154, 1098 },
	/* 79.3 packets of queue, without the two that do not count */
	{ "a short T: 32 packet times", T_NS / 10, 1538, 3477 },
	{ "and half a packet: 64 packet times", T_NS / 10, 769, 2239 },
};

static void drain_test(struct kunit *test)
{
	const u32 bdp_units = BDP_BYTES >> int_speeds[SPEED_100G].unit_shift;
	struct hpcc_params p = params;
	struct one_path path;
	struct hpcc_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drain_cases); i++) {
		const struct drain_case *c = &drain_cases[i];

		p.t_ns = c->t_ns;
		hpcc_start(&v, &p);
		hpcc_receive(&v, &p, one_hop(&path, 0, 0, bdp_units), 1000);
		v.wnd_ref = (u64)c->wnd_bytes << HPCC_WND_SHIFT;
		hpcc_receive(&v, &p, one_hop(&path, 2 * T_NS, 2 * bdp_units, bdp_units),
			     1000 + 2 * T_NS);
		KUNIT_EXPECT_LE_MSG(test, abs((s32)(v.u - U(c->want_u_x1000))), (s32)U(5), "%s: %u",
				    c->what, v.u);
	}
}

static const struct wind_case {
	const char *what;
	u32 u_x1000;
	u32 wnd_ref_bytes;
	u32 inc_stage;
	bool update;
	u32 want_bytes;
	u32 want_stage;
} wind_cases[] = {
	{ "room: one step", 500, 50000, 0, true, 50100, 1 },
	{ "between rounds Wc stays", 500, 50000, 2, false, 50100, 2 },
	/* W_ai is 100 of 125000: the target is 0.9492. */
	{ "twice as much as eta: half", 1900, 50000, 3, true, 25079, 0 },
	{ "room for long: at once", 475, 20000, 5, true, 40066, 0 },
	{ "more than BDP is not", 100, 100000, 5, true, BDP_BYTES, 0 },
	{ "nobody sends: the most", 0, 100000, 5, true, BDP_BYTES, 0 },
	{ "at eta there is no room", 951, 50000, 0, true, 50005, 0 },
	{ "overload beyond all bounds", 4000000, 700, 0, true, 52, 0 },
	/* A packet is 1538 bytes. 1.5 W (1 - eta) is 37 of 500 and 5 of 70; W_ai is 6 at least. */
	{ "a small window: many flows", 500, 500, 0, true, 537, 1 },
	{ "more than half is free, a packet", 460, 1538, 0, true, 1638, 1 },
	{ "more than half is free, less than a packet: at once", 460, 1000, 0, true, 2138, 0 },
	/* Less than a quarter of a packet, 384: at once, and a quarter of the way. */
	{ "a tiny one: many flows", 500, 380, 0, true, 472, 0 },
	{ "a tinier one: 16 times N at most", 500, 70, 0, true, 87, 0 },
	{ "twice as much as eta, tiny", 1900, 300, 0, true, 268, 0 },
	{ "overload beyond all bounds, tiny", 4000000, 70, 0, true, 54, 0 },
	{ "the least window", 4000000, 16, 0, true, 16, 0 },
};

/* ComputeWind; with @update, the answer ends a round. */
static void wind_of(struct hpcc_vars *v, const struct hpcc_params *p, bool update)
{
	v->updated = !update;
	hpcc_decide(v, p, v->update_seq, v->update_seq);
}

static void wind_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wind_cases); i++) {
		const struct wind_case *c = &wind_cases[i];
		struct hpcc_vars v = {
			.u = U(c->u_x1000),
			.wnd_ref = (u64)c->wnd_ref_bytes << HPCC_WND_SHIFT,
			.inc_stage = c->inc_stage,
			.stride = 1,
			.rounds = 1,
		};

		wind_of(&v, &params, c->update);
		KUNIT_EXPECT_LE_MSG(test, abs((s32)(hpcc_wnd_bytes(&v) - c->want_bytes)), 2,
				    "%s: %u", c->what, hpcc_wnd_bytes(&v));
		KUNIT_EXPECT_EQ_MSG(test, v.inc_stage, c->want_stage, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd_ref == v.wnd, c->update, "%s", c->what);
	}
}

/*
 * Answer number @n, one per T, from the path with this pathID: one hop that is full, with a queue
 * of 2 BDP.
 */
static enum hpcc_received receive_full(struct hpcc_vars *v, u32 n, u32 path_id)
{
	struct one_path path;
	struct int_hdr *h = (struct int_hdr *)one_hop(&path, n * T_NS, n * 244, 488);

	h->path = cpu_to_be32(1 << 28 | path_id << 16);
	return hpcc_new_ack(v, &params, h, n * 1000 + 500, n * 1000 + 1000, (u64)n * T_NS);
}

/* Packets alternate between several paths, each of which has the same queue. */
static const struct turns_case {
	const char *what;
	u32 paths;
	u32 want_new, want_path, want_first;
} turns_cases[] = {
	{ "one", 1, 99, 0, 1 },
	{ "two", 2, 98, 1, 1 },
	{ "as many as are kept", 4, 96, 3, 1 },
	{ "one more: its records are always gone", 5, 0, 99, 1 },
};

static void turns_test(struct kunit *test)
{
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(turns_cases); i++) {
		const struct turns_case *c = &turns_cases[i];
		u32 received[HPCC_RECEIVED_NOTHING + 1] = {};
		struct hpcc_vars v;

		hpcc_start(&v, &params);
		for (n = 1; n <= 100; n++)
			received[receive_full(&v, n, 7 + n % c->paths)]++;
		KUNIT_EXPECT_EQ_MSG(test, received[HPCC_RECEIVED_NEW], c->want_new, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, received[HPCC_RECEIVED_PATH], c->want_path, "%s",
				    c->what);
		KUNIT_EXPECT_EQ_MSG(test, received[HPCC_RECEIVED_FIRST], c->want_first, "%s",
				    c->what);
		/* U is 3: W falls to its bound, plus W_ai. */
		KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v) < 200, c->want_new > 0, "%s: %u",
				    c->what, hpcc_wnd_bytes(&v));
	}
}

/* Paths with this number of hops, and how many of them are stored. */
static const struct kept_case {
	u32 hops, want_paths;
} kept_cases[] = {
	{ 1, 4 }, { 4, 4 }, { 5, 3 }, { 6, 2 }, { 8, 2 }, { 9, 1 }, { 15, 1 },
};

static void kept_test(struct kunit *test)
{
	u64 room[(INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + 7) / 8];
	struct int_hdr *h = (struct int_hdr *)room;
	size_t i;
	u32 n, k;

	for (i = 0; i < ARRAY_SIZE(kept_cases); i++) {
		const struct kept_case *c = &kept_cases[i];
		struct hpcc_vars v;
		u32 measured = 0;

		hpcc_start(&v, &params);
		for (n = 0; n < 2 * c->want_paths; n++) {
			struct int_record r = { SPEED_100G, n * T_NS, n * 244, 488 };

			int_write(h, 6, INT_TYPE_PROBE, 0, c->hops);
			for (k = 0; k < c->hops; k++)
				h->record[k] = int_pack(&r);
			h->path = cpu_to_be32(c->hops << 28 | (1 + n % c->want_paths) << 16);
			measured += hpcc_receive(&v, &params, h, n * T_NS) == HPCC_RECEIVED_NEW;
		}
		KUNIT_EXPECT_EQ_MSG(test, measured, c->want_paths, "%u hops", c->hops);
	}
}

/* A sixth hop without room for its record reports as soon as there is room. */
static void room_test(struct kunit *test)
{
	u64 room[(INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + 7) / 8];
	struct int_hdr *h = (struct int_hdr *)room;
	enum hpcc_received received = HPCC_RECEIVED_NOTHING;
	struct hpcc_vars v;
	u32 n, k;

	hpcc_start(&v, &params);
	for (n = 0; n < 4; n++) {
		int_write(h, 6, INT_TYPE_PROBE, 0, n < 2 ? 5 : 6);
		h->path = cpu_to_be32(6U << 28 | 7 << 16);
		for (k = 0; k < int_records(h); k++) {
			struct int_record r = { SPEED_100G, n * T_NS, n * 24, k == 5 ? 488 : 0 };

			h->record[k] = int_pack(&r);
		}
		received = hpcc_receive(&v, &params, h, n * T_NS);
		KUNIT_EXPECT_EQ_MSG(test, received, n == 0 ? HPCC_RECEIVED_FIRST : n == 2 ?
				    HPCC_RECEIVED_PATH : HPCC_RECEIVED_NEW, "answer %u", n);
	}
	KUNIT_EXPECT_EQ(test, v.bottleneck, 5);
	KUNIT_EXPECT_GE(test, v.u, 2 * HPCC_U_ONE);
}

/* Two hops with these loads: which of them counts after the one that did, and U. */
static const struct stay_case {
	const char *what;
	u8 was;
	u32 load_x1000[2];
	u8 want;
	u32 want_u_x1000;
} stay_cases[] = {
	{ "the other one has more, within the error", 0, { 900, 950 }, 0, 900 },
	{ "it has more than that", 0, { 900, 980 }, 1, 980 },
	{ "the same for the last hop", 1, { 950, 900 }, 1, 900 },
	{ "the first one has more", 1, { 980, 900 }, 0, 980 },
	{ "a hop that no record is of", 2, { 900, 950 }, 1, 950 },
	{ "a hop that was not used, and hardly is", 0, { 0, 50 }, 1, 50 },
};

static void stay_test(struct kunit *test)
{
	u64 room[4];
	struct int_hdr *h = (struct int_hdr *)room;
	struct hpcc_vars v;
	size_t i;
	u32 n, k;

	for (i = 0; i < ARRAY_SIZE(stay_cases); i++) {
		const struct stay_case *c = &stay_cases[i];

		hpcc_start(&v, &params);
		for (n = 0; n < 3; n++) {
			int_write(h, 6, INT_TYPE_PROBE, 0, 2);
			h->path = cpu_to_be32(2U << 28 | 7 << 16);
			for (k = 0; k < 2; k++) {
				struct int_record r = { SPEED_100G, n * T_NS,
							n * 244 * c->load_x1000[k] / 1000, 0 };

				h->record[k] = int_pack(&r);
			}
			if (n == 2)
				v.bottleneck = c->was;
			hpcc_receive(&v, &params, h, n * T_NS);
		}
		KUNIT_EXPECT_EQ_MSG(test, v.bottleneck, c->want, "%s", c->what);
		KUNIT_EXPECT_LE_MSG(test, abs((s32)(v.u - U(c->want_u_x1000))), (s32)U(5), "%s: %u",
				    c->what, v.u);
	}
}

static void rescale_test(struct kunit *test)
{
	struct hpcc_params p = params;
	struct hpcc_vars v;

	hpcc_start(&v, &p);
	v.wnd = 30000ULL << HPCC_WND_SHIFT;
	v.wnd_ref = 20000ULL << HPCC_WND_SHIFT;
	p.t_ns = T_NS / 10 * 9;
	p.wnd_max_bytes = BDP_BYTES / 10 * 9;
	hpcc_rescale(&v, T_NS, &p);
	KUNIT_EXPECT_EQ(test, v.wnd, 27000ULL << HPCC_WND_SHIFT);
	KUNIT_EXPECT_EQ(test, v.wnd_ref, 18000ULL << HPCC_WND_SHIFT);
	p.t_ns = HPCC_T_MAX_NS;
	hpcc_rescale(&v, HPCC_T_MIN_NS, &p);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), p.wnd_max_bytes, "the line takes no more");
	v.wnd = (16ULL << HPCC_WND_SHIFT) + (1 << (HPCC_WND_SHIFT - 1));
	p.wnd_max_bytes = 16000001;
	hpcc_rescale(&v, HPCC_T_MIN_NS, &p);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), 16000001U, "a part of a byte counts");
	p.t_ns = HPCC_T_MIN_NS;
	hpcc_rescale(&v, HPCC_T_MAX_NS, &p);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), HPCC_WND_MIN_BYTES);
}

/* Two ports with 40.96 ns per unit, of four hops of which two had no room for a record. */
static void queues_test(struct kunit *test)
{
	struct int_record r = { SPEED_100G, 0, 0, 1000 };
	u64 room[4];
	struct int_hdr *h = (struct int_hdr *)room;

	int_write(h, 6, INT_TYPE_PROBE, 0, 2);
	KUNIT_EXPECT_EQ(test, hpcc_queues_ns(h), 0ULL);
	h->path = cpu_to_be32(4 << 28 | 7 << 16);
	h->record[0] = int_pack(&r);
	h->record[1] = int_pack(&r);
	KUNIT_EXPECT_EQ(test, hpcc_queues_ns(h), 81920ULL);
	r.speed = 15;
	h->record[1] = int_pack(&r);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_queues_ns(h), 40960ULL, "of an unknown speed");
	r.qlen_units = INT_QLEN_MAX;
	h->record[1] = int_pack(&r);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_queues_ns(h), 40960ULL, "of an unknown speed");
	r.speed = SPEED_100G;
	h->record[1] = int_pack(&r);
	KUNIT_EXPECT_GE_MSG(test, hpcc_queues_ns(h), (u64)HPCC_QUEUE_LONG_NS, "longer than said");
}

/* Consecutive rounds with one U each, and W after the last one. Wc is 50000 before the first. */
static const struct memory_case {
	const char *what;
	u32 u_x1000[8];
	u32 want_bytes, tolerance_bytes;
} memory_cases[] = {
	{ "a burst of one round, then room: as before", { 900, 1900, 475 }, 50000, 2 },
	{ "no more than there is room for", { 900, 1900, 760 }, 31500, 300 },
	{ "a sixteenth of the rest forgotten in each of two", { 900, 1900, 950, 950, 475 },
	  46993, 10 },
	{ "a 64th in a round of overload", { 900, 1900, 1900, 450, 230 }, 49218, 100 },
	{ "it was never quiet: one step", { 1900, 475 }, 25179, 2 },
	{ "steady above eta in the fifth round", { 951, 951, 951, 951, 1900, 475 }, 50005, 20 },
	{ "not in the fourth", { 951, 951, 951, 1900, 475 }, 25184, 20 },
	{ "little room: one step", { 900, 1900, 900 }, 25229, 60 },
};

static void memory_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(memory_cases); i++) {
		const struct memory_case *c = &memory_cases[i];
		struct hpcc_vars v = { .wnd_ref = 50000ULL << HPCC_WND_SHIFT, .rounds = 1 };

		for (n = 0; n < ARRAY_SIZE(c->u_x1000) && c->u_x1000[n]; n++) {
			v.u = U(c->u_x1000[n]);
			wind_of(&v, &params, true);
		}
		KUNIT_EXPECT_LE_MSG(test, abs((s32)(hpcc_wnd_bytes(&v) - c->want_bytes)),
				    (s32)c->tolerance_bytes, "%s: %u", c->what, hpcc_wnd_bytes(&v));
	}
}

/* W and Wc when a loss is detected; W and the remembered window after it. */
static const struct loss_case {
	const char *what;
	u32 wnd, wnd_ref, want, want_quiet;
} loss_cases[] = {
	{ "half the window", 8000, 8000, 4000, 7875 },
	{ "of the round before", 6000, 8000, 4000, 7875 },
	{ "U has cut it already", 3000, 8000, 3000, 7875 },
	{ "the least", 16, 16, 16, 15 },
};

static void loss_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loss_cases); i++) {
		const struct loss_case *c = &loss_cases[i];
		struct hpcc_vars v = {
			.wnd = (u64)c->wnd << HPCC_WND_SHIFT,
			.wnd_ref = (u64)c->wnd_ref << HPCC_WND_SHIFT,
			.wnd_quiet = 10000ULL << HPCC_WND_SHIFT,
		};

		hpcc_halve(&v);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), c->want, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd_ref, v.wnd, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd_quiet >> HPCC_WND_SHIFT, (u64)c->want_quiet, "%s",
				    c->what);
	}
}

static void restart_test(struct kunit *test)
{
	struct hpcc_vars v = { .u = U(1900), .wnd = 100, .wnd_ref = 100, .hops = 3 };

	hpcc_restart(&v, &params);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), BDP_BYTES, "nothing is remembered");
	v.wnd_quiet = 30000ULL << HPCC_WND_SHIFT;
	hpcc_restart(&v, &params);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), 30000U);
	KUNIT_EXPECT_EQ(test, v.wnd_ref, v.wnd);
	KUNIT_EXPECT_EQ(test, v.u, HPCC_U_ONE);
	KUNIT_EXPECT_EQ_MSG(test, v.hops, (u8)0, "another path");
	v.wnd_quiet = (u64)2 * BDP_BYTES << HPCC_WND_SHIFT;
	hpcc_restart(&v, &params);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), BDP_BYTES, "no more than the line takes");
}

/* Wc is updated once per round trip; the receiver uses periods of T. */
static void round_test(struct kunit *test)
{
	struct hpcc_vars v;
	struct one_path path;

	hpcc_start(&v, &params);
	hpcc_new_ack(&v, &params, one_hop(&path, 0, 0, 0), 1000, 5000, 1000);
	hpcc_new_ack(&v, &params, one_hop(&path, 10000, 488, 0), 1500, 6000, 11000);
	KUNIT_EXPECT_EQ_MSG(test, v.update_seq, 6000U, "the first that is new");
	hpcc_new_ack(&v, &params, one_hop(&path, 20000, 976, 0), 6000, 7000, 21000);
	KUNIT_EXPECT_EQ_MSG(test, v.update_seq, 6000U, "of the same round");
	hpcc_new_ack(&v, &params, one_hop(&path, 30000, 1464, 0), 6001, 8000, 31000);
	KUNIT_EXPECT_EQ_MSG(test, v.update_seq, 8000U, "of the next");

	hpcc_start(&v, &params);
	KUNIT_EXPECT_FALSE(test, hpcc_new_int(&v, &params, one_hop(&path, 0, 0, 0), 50000));
	KUNIT_EXPECT_TRUE(test, hpcc_new_int(&v, &params, one_hop(&path, 5000, 122, 0), 55000));
	KUNIT_EXPECT_FALSE(test, hpcc_new_int(&v, &params, one_hop(&path, 15000, 366, 0), 65000));
	KUNIT_EXPECT_TRUE(test, hpcc_new_int(&v, &params, one_hop(&path, 20000, 488, 0), 70000));
}

static void bounds_test(struct kunit *test)
{
	struct hpcc_vars v;

	KUNIT_EXPECT_EQ(test, hpcc_bdp_bytes(12500000000ULL, T_NS), BDP_BYTES);
	KUNIT_EXPECT_EQ(test, hpcc_bdp_bytes(1250, 1000), HPCC_WND_MIN_BYTES);
	KUNIT_EXPECT_EQ(test, hpcc_bdp_bytes(200000000000ULL, 1000000000), HPCC_WND_MAX_BYTES);
	/* 125000 * 0.05 / 100 = 62.5 */
	KUNIT_EXPECT_EQ(test, hpcc_wnd_ai(BDP_BYTES, ETA, 100) >> (HPCC_WND_SHIFT - 1), 125ULL);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_ai(BDP_BYTES, HPCC_U_ONE, 100), 1ULL);
	hpcc_start(&v, &params);
	hpcc_halve(&v);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), BDP_BYTES / 2);
	v.wnd = 0;
	hpcc_halve(&v);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), HPCC_WND_MIN_BYTES);
}

/*
 * A base RTT of 10 us: the minimum RTT, and answers with the RTT of their packet and the queues
 * that they report, in units of 40.96 ns.
 */
static const struct least_case {
	const char *what;
	u32 min_rtt_ns, known_ns;
	struct {
		enum int_answer_kind kind;
		u32 rtt_ns, qlen_units;
	} answer[3];
	u32 want_start_ns, want_ns[3];
} least_cases[] = {
	{ "no answer: the minimum RTT", 11000, 0, { }, 11000, { } },
	{ "no queue", 11000, 0,
	  { { INT_ANSWER_RECORDS, 10500, 0 }, { INT_ANSWER_RECORDS, 40000, 500 } },
	  11000, { 11000, 11000 } },
	{ "less than an eighth is left in", 11000, 0, { { INT_ANSWER_RECORDS, 11000, 33 } },
	  11000, { 11000 } },
	{ "a standing queue", 40000, 0,
	  { { INT_ANSWER_RECORDS, 40000, 733 }, { INT_ANSWER_SUMMARY, 30000, 489 } },
	  40000, { 10000, 9971 } },
	{ "a longer queue later", 40000, 0,
	  { { INT_ANSWER_RECORDS, 40000, 733 }, { INT_ANSWER_RECORDS, 60000, 1000 } },
	  40000, { 10000, 10000 } },
	{ "it is gone with the second answer", 20000, 0,
	  { { INT_ANSWER_RECORDS, 40000, 733 }, { INT_ANSWER_RECORDS, 10000, 0 } },
	  20000, { 10000, 20000 } },
	{ "a queue that grew: a quarter at least", 15000, 0,
	  { { INT_ANSWER_RECORDS, 40000, 1700 } }, 15000, { 10000 } },
	{ "an RTT that was not measured", 40000, 0,
	  { { INT_ANSWER_RECORDS, 0, 733 } }, 40000, { 40000 } },
	{ "longer than all bounds", 4000000000U, 0, { }, 1000000000, { } },
	/* 4000 of 25.6 us */
	{ "queues longer than can be reported", 128000, 0,
	  { { INT_ANSWER_RECORDS, 128000, INT_QLEN_MAX }, { INT_ANSWER_SUMMARY, 20000, 244 } },
	  128000, { 4000, 10006 } },
	{ "known from an earlier connection", 40000, 10000,
	  { { INT_ANSWER_RECORDS, 41000, 733 }, { INT_ANSWER_RECORDS, 12000, 0 } },
	  10000, { 10977, 40000 } },
	{ "a shorter path than that one's", 9000, 10000, { }, 9000, { } },
};

static void least_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(least_cases); i++) {
		const struct least_case *c = &least_cases[i];
		struct hpccpp_start s = {};
		struct hpccpp_least l = {};

		if (c->known_ns) {
			hpccpp_remember(&s, 7, 1000, 125000000, c->known_ns);
			KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 7, 2000, &l), 125000000ULL);
		}
		KUNIT_EXPECT_EQ_MSG(test, hpccpp_least_t_ns(&l, c->min_rtt_ns), c->want_start_ns,
				    "%s", c->what);
		for (n = 0; n < ARRAY_SIZE(c->answer) && c->want_ns[n]; n++) {
			struct int_record r = { SPEED_100G, 0, 0, c->answer[n].qlen_units };
			struct int_answer a = { .kind = c->answer[n].kind, .record = r,
						.rtt_ns = c->answer[n].rtt_ns };

			if (a.kind == INT_ANSWER_RECORDS) {
				int_write(&a.hdr, 0, INT_TYPE_ECHO, 0, 1);
				a.hdr.path = cpu_to_be32(1 << 28 | 7 << 16);
				a.hdr.record[0] = int_pack(&r);
			}
			hpccpp_update_least(&l, &a);
			KUNIT_EXPECT_EQ_MSG(test, hpccpp_least_t_ns(&l, c->min_rtt_ns),
					    c->want_ns[n], "%s: answer %zu", c->what, n);
		}
	}
}

/* What is known of a path is another peer's, or is forgotten after a minute. */
static void known_test(struct kunit *test)
{
	struct hpccpp_start s = {};
	struct hpccpp_least l = {};

	KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 0, 1000, &l), 0ULL);
	hpccpp_join_start(&s, 7, T_NS, 1000);
	KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 7, 1000, &l), 0ULL);
	hpccpp_remember(&s, 7, 2000, 1250000, 30000);
	KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 8, 3000, &l), 0ULL);
	KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 7, 60000003000ULL, &l), 0ULL);
	KUNIT_EXPECT_EQ(test, l.queues_ns, 0U);
	KUNIT_EXPECT_EQ(test, hpccpp_recall(&s, 7, 60000002000ULL, &l), 1250000ULL);
	KUNIT_EXPECT_EQ(test, l.t_ns, 30000U);
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_join_start(&s, 7, T_NS, 1500), 2U, "flows still count");
	hpccpp_join_start(&s, 8, T_NS, 4000);
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_recall(&s, 7, 5000, &l), 0ULL, "replaced");
}

/* Clocks that are apart, wrap, and drift; a queue that comes and goes. */
static const struct back_case {
	const char *what;
	struct {
		u32 back_ns;
		u64 at_ns;
		u32 times;
	} answer[3];
	u32 want_least_ns;
	u32 want_mean_ns;
} back_cases[] = {
	{ "not known", { { 0, 1000, 5 } }, 0, 0 },
	{ "no queue", { { 5000, 1000, 5 } }, 5000, 0 },
	{ "a queue", { { 5000, 1000, 1 }, { 21000, 1000, 1 } }, 5000, 2000 },
	{ "a queue that stays", { { 5000, 1000, 1 }, { 21000, 1000, 100 } }, 5000, 15993 },
	{ "a queue that ends", { { 5000, 1000, 1 }, { 21000, 1000, 100 }, { 5000, 1000, 100 } },
	  5000, 7 },
	{ "it was a queue", { { 21000, 1000, 5 }, { 5000, 1000, 1 } }, 5000, 0 },
	{ "the clock wraps", { { U32_MAX, 1000, 1 }, { 15999, 1000, 1 } }, U32_MAX, 2000 },
	{ "a clock that is slower by 2^-14", { { 5000, 1000, 1 }, { 6000, 16385000, 1 } },
	  6000, 0 },
	{ "after an hour", { { 5000, 1000, 1 }, { 70000, 3600000000000ULL, 1 } }, 66035, 495 },
};

static void back_test(struct kunit *test)
{
	size_t i, n, times;

	for (i = 0; i < ARRAY_SIZE(back_cases); i++) {
		const struct back_case *c = &back_cases[i];
		struct hpccpp_back b = {};

		for (n = 0; n < ARRAY_SIZE(c->answer); n++)
			for (times = 0; times < c->answer[n].times; times++)
				hpccpp_note_back(&b, c->answer[n].back_ns, c->answer[n].at_ns);
		KUNIT_EXPECT_EQ_MSG(test, b.least_ns, c->want_least_ns, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, b.mean_ns, c->want_mean_ns, "%s", c->what);
	}
}

static const struct late_case {
	const char *what;
	struct hpccpp_back back;
	u32 wnd_bytes;
	u64 rtt_ns;
	u32 want_ns;
	u32 want_bytes;
} late_cases[] = {
	{ "no delay", { }, 30000, T_NS, 0, 30000 },
	{ "an eighth of T", { .mean_ns = T_NS / 8 }, 30000, 2 * T_NS, 0, 30000 },
	{ "half of T", { .mean_ns = T_NS / 2 }, 30000, 2 * T_NS, T_NS / 2, 45000 },
	{ "and by turns none and T", { .mean_ns = T_NS / 2, .deviation_ns = T_NS / 2 },
	  30000, 2 * T_NS, 3 * T_NS / 2, 75000 },
	{ "more than the RTT has", { .mean_ns = 100 * T_NS }, 30000, 2 * T_NS, 2 * T_NS, 90000 },
	{ "a deviation alone", { .deviation_ns = 100 * T_NS }, 30000, T_NS, 0, 30000 },
	{ "an RTT below T", { .mean_ns = T_NS }, 30000, T_NS / 2, 0, 30000 },
	{ "not known", { }, 30000, 2 * T_NS, 0, 30000 },
	{ "the largest", { .mean_ns = S32_MAX, .deviation_ns = S32_MAX }, U32_MAX, S32_MAX,
	  HPCC_T_MAX_NS, U32_MAX },
};

static void late_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(late_cases); i++) {
		const struct late_case *c = &late_cases[i];
		const u32 late_ns = hpccpp_late_ns(&c->back, T_NS, c->rtt_ns);

		KUNIT_EXPECT_EQ_MSG(test, late_ns, c->want_ns, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hpccpp_flight_bytes(c->wnd_bytes, T_NS, late_ns),
				    c->want_bytes, "%s", c->what);
	}
}

static const struct pace_case {
	const char *what;
	u32 wnd_bytes;
	u32 wnd_init_bytes;
	u32 want_pkts;
	u64 want_bytes_ps;
} pace_cases[] = {
	/* 1448 of 1538 bytes are payload. */
	{ "a BDP", BDP_BYTES, BDP_BYTES, 82, 11768530559ULL },
	{ "a packet", 1538, BDP_BYTES, 1, 144800000 },
	{ "a byte more", 1539, BDP_BYTES, 2, 144894148 },
	{ "a small part of one", 64, BDP_BYTES, 1, 6025487 },
	{ "much", 4000000000U, U32_MAX, 2600781, 376592977893368ULL },
	{ "a BDP of one packet", 1538, 1538, 2, 144800000 },
	{ "half of it", 769, 1538, 2, 72400000 },
	{ "less than half of it", 768, 1538, 1, 72305851 },
	{ "a packet, a BDP of two", 1538, 3076, 1, 144800000 },
};

static void pace_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pace_cases); i++) {
		const struct pace_case *c = &pace_cases[i];
		u32 cwnd_pkts = hpccpp_cwnd_pkts(c->wnd_bytes, c->wnd_init_bytes, 1538, false);

		KUNIT_EXPECT_EQ_MSG(test, cwnd_pkts, c->want_pkts, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hpccpp_pace_bytes_ps(c->wnd_bytes, T_NS, 1448, 1538),
				    c->want_bytes_ps, "%s", c->what);
	}
}

/* A single packet whose ACK the receiver may delay. */
static void held_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hpccpp_cwnd_pkts(64, BDP_BYTES, 1538, true), 2u);
	KUNIT_EXPECT_EQ(test, hpccpp_cwnd_pkts(1538, BDP_BYTES, 1538, true), 2u);
	KUNIT_EXPECT_EQ(test, hpccpp_cwnd_pkts(1539, BDP_BYTES, 1538, true), 2u);
	KUNIT_EXPECT_EQ(test, hpccpp_cwnd_pkts(3 * 1538, BDP_BYTES, 1538, true), 3u);
}

static void free_path_test(struct kunit *test)
{
	struct hpcc_vars v;

	hpcc_start(&v, &params);
	KUNIT_EXPECT_EQ(test, hpccpp_path(&v, &params), HOP_PATH_BUSY);
	v.u = params.eta / 2;
	KUNIT_EXPECT_EQ(test, hpccpp_path(&v, &params), HOP_PATH_BUSY);
	v.u = params.eta / 2 - 1;
	KUNIT_EXPECT_NE(test, hpccpp_path(&v, &params), HOP_PATH_BUSY);
}

/* An incast that has just ended: U is low, but so is W. */
static void idle_path_test(struct kunit *test)
{
	const struct hpcc_params params = { .eta = 1000000, .wnd_max_bytes = 36000 };
	struct hpcc_vars v = { .wnd = 36000ULL << HPCC_WND_SHIFT, .u = 500000 };

	KUNIT_EXPECT_EQ(test, hpccpp_path(&v, &params), HOP_PATH_BUSY);
	v.u = 499999;
	KUNIT_EXPECT_EQ(test, hpccpp_path(&v, &params), HOP_PATH_IDLE);
	v.wnd -= 1ULL << HPCC_WND_SHIFT;
	KUNIT_EXPECT_EQ(test, hpccpp_path(&v, &params), HOP_PATH_FREE);
}

static void slow_hosts_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(24, HOP_PATH_BUSY, 1000, 30), 1u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(24, HOP_PATH_FREE, 62, 30), 6u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(24, HOP_PATH_IDLE, 62, 30), 12u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(25, HOP_PATH_IDLE, 62, 30), 13u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(24, HOP_PATH_IDLE, 61, 30), 1u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(1, HOP_PATH_IDLE, 62, 30), 1u);
	KUNIT_EXPECT_EQ(test, hop_burst_pkts(500, HOP_PATH_IDLE, 62, 30), HOP_BURST_MAX_PKTS);
}

static void burst_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(1, 1538), HPCCPP_BURST_MIN_PKTS);
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(125000000, 1538), HPCCPP_BURST_MIN_PKTS);
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(1250000000, 1538), 4U);
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(3125000000ULL, 1538), 10U);
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(50000000000ULL, 1538), HOP_BURST_MAX_PKTS);
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_burst_pkts(0, 1538), HOP_BURST_MAX_PKTS, "not known");
	KUNIT_EXPECT_EQ(test, hpccpp_burst_pkts(U64_MAX, 1538), HOP_BURST_MAX_PKTS);
}

/* The parameters by the knobs' defaults for 10 Gbit/s, T 100 us, and a port of this rate. */
static struct hpcc_params params_of_port(u64 port_bytes_ps)
{
	const struct hpccpp_config config = {
		.eta_ppm = HPCCPP_ETA_DEFAULT_PPM,
		.max_stage = HPCCPP_STAGE_DEFAULT,
	};
	const struct hpccpp_path path = {
		.rate_bytes_ps = 1250000000,
		.port_bytes_ps = port_bytes_ps,
		.t_ns = 100000,
		.flows = HPCCPP_FLOWS_DEFAULT,
	};
	struct hpcc_params p;

	hpccpp_set_params(&p, &config, &path);
	return p;
}

static const struct port_case {
	const char *what;
	u64 port_bytes_ps;
	u32 want_init_bytes, want_ai_bytes;
} port_cases[] = {
	/* 125000 * 0.05 / 6 */
	{ "not known: the line's BDP", 0, 125000, 1041 },
	{ "as fast as the line", 1250000000, 125000, 1041 },
	{ "faster: W is the line's BDP, and W_ai the port's", 12500000000ULL, 125000, 10416 },
	{ "10 % of the line", 125000000, 12500, 104 },
	{ "a BDP of less than the least window", 1250, HPCC_WND_MIN_BYTES, 0 },
};

static void port_test(struct kunit *test)
{
	struct hpcc_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(port_cases); i++) {
		const struct port_case *c = &port_cases[i];
		const struct hpcc_params p = params_of_port(c->port_bytes_ps);

		hpcc_start(&v, &p);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), c->want_init_bytes, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, p.wnd_ai >> HPCC_WND_SHIFT, c->want_ai_bytes, "%s",
				    c->what);
		KUNIT_EXPECT_EQ_MSG(test, p.wnd_max_bytes, 125000U, "%s", c->what);
	}
}

/*
 * Two flows with 9 and 1.5 kB of a port's BDP of 12.5 kB, the line ten times as fast: their windows
 * after 200 rounds in which both see what they keep in flight together.
 */
static void fair_test(struct kunit *test)
{
	const struct hpcc_params p = params_of_port(125000000);
	struct hpcc_vars v[2];
	u32 i, rounds, sum_bytes;

	for (i = 0; i < 2; i++)
		hpcc_start(&v[i], &p);
	v[0].wnd_ref = 9000ULL << HPCC_WND_SHIFT;
	v[1].wnd_ref = 1500ULL << HPCC_WND_SHIFT;
	for (rounds = 0; rounds < 200; rounds++) {
		sum_bytes = hpcc_wnd_bytes(&v[0]) + hpcc_wnd_bytes(&v[1]);
		for (i = 0; i < 2; i++) {
			v[i].u = (u64)sum_bytes * HPCC_U_ONE / 12500;
			wind_of(&v[i], &p, true);
		}
	}
	KUNIT_EXPECT_LT_MSG(test, hpcc_wnd_bytes(&v[0]), hpcc_wnd_bytes(&v[1]) * 11 / 10,
			    "%u beside %u", hpcc_wnd_bytes(&v[0]), hpcc_wnd_bytes(&v[1]));
	KUNIT_EXPECT_LT_MSG(test, v[0].u, HPCC_U_ONE, "no queue stays");
	KUNIT_EXPECT_GT(test, v[0].u, U(930));
}

/* TCP's least RTT in whole microseconds, and the SYN's. */
static const struct rtt_case {
	const char *what;
	u32 rtt_us;
	u64 syn_rtt_ns, want_ns;
} rtt_cases[] = {
	{ "not known: a microsecond more", 9, 0, 10000 },
	{ "the SYN's, which TCP has cut off", 8, 8830, 8830 },
	{ "the same, and the difference of what was cut off is a microsecond more", 9, 8830, 8830 },
	{ "a shorter one since", 7, 8830, 8000 },
	{ "a longer one, of another time", 9, 10000, 10000 },
	{ "of a choice that was made late", 9, 5000000000ULL, 10000 },
	{ "of a clock that went back", 9, U64_MAX, 10000 },
	{ "less than TCP's clock tells", 0, 700, 700 },
	{ "nothing is known", 0, 0, 1000 },
	{ "any value", U32_MAX, U64_MAX, 4294967296000ULL },
};

static void rtt_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rtt_cases); i++) {
		const struct rtt_case *c = &rtt_cases[i];

		KUNIT_EXPECT_EQ_MSG(test, hpccpp_rtt_ns(c->rtt_us, c->syn_rtt_ns), c->want_ns,
				    "%s", c->what);
	}
}

/* 1538 bytes at 100 Gbit/s take 123 ns, at 1 Gbit/s 12304. */
static void forward_test(struct kunit *test)
{
	const struct int_record slow = { .speed = 3 };
	struct one_path path;
	struct int_hdr *h = (struct int_hdr *)one_hop(&path, 0, 0, 0);

	KUNIT_EXPECT_EQ(test, hpcc_forward_ns(h, 1538), 123U);
	h->record[0] = int_pack(&slow);
	KUNIT_EXPECT_EQ(test, hpcc_forward_ns(h, 1538), 12304U);
	h->path = 0;
	KUNIT_EXPECT_EQ_MSG(test, hpcc_forward_ns(h, 1538), 0U, "no hop");
}

static void answer_test(struct kunit *test)
{
	struct int_answer a = { .kind = INT_ANSWER_WINDOW, .wnd_bytes = 1000 };
	struct hpcc_vars v;

	hpcc_start(&v, &params);
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 0, 0), HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), 1000U);
	a.wnd_bytes = U32_MAX;
	hpccpp_receive(&v, &params, &a, 0, 0);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), BDP_BYTES, "no more than the line takes");
	a.wnd_bytes = 0;
	hpccpp_receive(&v, &params, &a, 0, 0);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&v), HPCC_WND_MIN_BYTES);

	hpcc_start(&v, &params);
	a = (struct int_answer){ .kind = INT_ANSWER_RATIO, .u = U(1900), .tau_ns = T_NS, .seq = 9 };
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 5, 0), HPCC_RECEIVED_NEW);
	/* In the first round W_ai is a third of 100; the target is reduced by W_ai / W_init. */
	KUNIT_EXPECT_LE(test, abs((s32)(hpcc_wnd_bytes(&v) - (BDP_BYTES / 2 + 33 - 18))), 2);
	a.tau_ns = 0;
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 5, 0), HPCC_RECEIVED_SAME);

	hpcc_start(&v, &params);
	a = (struct int_answer){ .kind = INT_ANSWER_SUMMARY, .hops = 3, .path_id = 5, .index = 1,
				 .record = { SPEED_100G, 0, 0, 0 } };
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 5, 1000), HPCC_RECEIVED_FIRST);
	a.record = (struct int_record){ SPEED_100G, 10000, 122, 0 };
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 5, 11000), HPCC_RECEIVED_NEW);
	KUNIT_EXPECT_LE(test, abs((s32)(v.u - U(500))), 1000);
	a.index = 2;
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_receive(&v, &params, &a, 5, 12000), HPCC_RECEIVED_FIRST,
			    "another hop is the most loaded");
	a.index = INT_SLOTS_MAX;
	KUNIT_EXPECT_EQ(test, hpccpp_receive(&v, &params, &a, 5, 13000), HPCC_RECEIVED_NOTHING);
}

static const struct start_case {
	const char *what;
	u32 peer;
	u64 now_ns;
	u32 want_flows, want_wnd_bytes;
} start_cases[] = {
	{ "the first", 7, 1000000, 1, BDP_BYTES },
	{ "beside it", 7, 1000000, 2, BDP_BYTES / 2 },
	{ "T after that", 7, 1000000 + T_NS, 3, BDP_BYTES / 3 },
	{ "more than T later", 7, 1000001 + 2 * T_NS, 1, BDP_BYTES },
	{ "to another peer of this place", 8, 1000001 + 2 * T_NS, 1, BDP_BYTES },
	{ "which took it", 7, 1000002 + 2 * T_NS, 1, BDP_BYTES },
};

static void start_test(struct kunit *test)
{
	struct hpccpp_start s = { .peer = 7 };
	struct hpcc_vars v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(start_cases); i++) {
		const struct start_case *c = &start_cases[i];
		u32 flows = hpccpp_join_start(&s, c->peer, T_NS, c->now_ns);

		KUNIT_EXPECT_EQ_MSG(test, flows, c->want_flows, "%s", c->what);
		hpcc_start(&v, &params);
		hpccpp_share_start(&v, &params, flows, 1538);
		KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), c->want_wnd_bytes, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, v.wnd_ref, v.wnd, "%s", c->what);
	}
	hpccpp_share_start(&v, &params, 1000, 1538);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), 1538U, "a packet at least");
	hpccpp_share_start(&v, &params, 1, 2 * BDP_BYTES);
	KUNIT_EXPECT_EQ_MSG(test, hpcc_wnd_bytes(&v), BDP_BYTES, "but no more than the line takes");
}

/* T 10 us; a window of 10 packets of 1538 bytes is 1.538 GB/s. */
static const struct believe_case {
	const char *what;
	u64 path_bytes_ps, believed_bytes_ps;
	bool round;
	u64 want_bytes_ps;
} believe_cases[] = {
	{ "10 Gbit/s: less than 64 windows", 1250000000, 0, false, 1250000000 },
	{ "1.6 Tbit/s: 64 windows", 200000000000ULL, 0, false, 98432000000ULL },
	{ "no more within a round", 200000000000ULL, 50000000000ULL, false, 50000000000ULL },
	{ "a round later", 200000000000ULL, 50000000000ULL, true, 98432000000ULL },
	{ "less at once", 1250000000, 50000000000ULL, false, 1250000000 },
	{ "a small window takes nothing back", 200000000000ULL, 150000000000ULL, true,
	  150000000000ULL },
	{ "not known", 0, 50000000000ULL, true, 0 },
	{ "any value", U64_MAX, 0, true, 98432000000ULL },
};

static void believe_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(believe_cases); i++) {
		const struct believe_case *c = &believe_cases[i];

		const u64 got = hpccpp_believe_bytes_ps(c->path_bytes_ps, c->believed_bytes_ps,
							15380, 10000, c->round);

		KUNIT_EXPECT_EQ_MSG(test, got, c->want_bytes_ps, "%s", c->what);
	}
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_believe_bytes_ps(U64_MAX, 0, U32_MAX, HPCC_T_MIN_NS, true),
			    4294967295000000ULL * 64, "no overflow");
}

/* The maximum window is a BDP; u_x1000 is U. */
static const struct next_case {
	const char *what;
	u32 u_x1000, wnd_bytes, t_ns;
	u64 want_bytes_ps;
} next_cases[] = {
	{ "the path has room", 500, BDP_BYTES, 10000, 2ULL * BDP_BYTES * 100000 },
	{ "just so", 949, BDP_BYTES, 10000, 2ULL * BDP_BYTES * 100000 },
	{ "it is full", 951, BDP_BYTES, 10000, 0 },
	{ "the window is not the largest", 500, BDP_BYTES - 1, 10000, 0 },
	{ "1.6 Tbit/s at most", 500, BDP_BYTES, 1000, 200000000000ULL },
};

static void next_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(next_cases); i++) {
		const struct next_case *c = &next_cases[i];
		struct hpcc_params p = { .eta = HPCC_U_ONE / 100 * 95, .t_ns = c->t_ns,
					 .wnd_max_bytes = BDP_BYTES };
		struct hpcc_vars v = { .u = HPCC_U_ONE / 1000 * c->u_x1000,
				       .wnd = (u64)c->wnd_bytes << HPCC_WND_SHIFT };

		KUNIT_EXPECT_EQ_MSG(test, hpccpp_next_bytes_ps(&v, &p), c->want_bytes_ps, "%s",
				    c->what);
	}
}

/*
 * Four consecutive rounds. ETA is 0.95, so a move needs U of at least 0.855; half of a BDP is
 * 62500.
 */
static const struct move_case {
	const char *what;
	u32 u_x1000, wnd_bytes;
	u8 bottleneck;
	bool want;
} move_cases[] = {
	{ "as full as the law leaves it", 856, 62500, 1, true },
	{ "the first hop", 1200, 1000, 0, true },
	{ "not full", 854, 1000, 1, false },
	{ "the last hop", 1200, 1000, 2, false },
	{ "it has more than half of the line", 1200, 62501, 1, false },
};

static void move_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(move_cases); i++) {
		const struct move_case *c = &move_cases[i];
		struct hpcc_vars v = { .u = U(c->u_x1000), .hops = 3, .bottleneck = c->bottleneck,
				       .wnd = (u64)c->wnd_bytes << HPCC_WND_SHIFT };
		struct hpccpp_move m = {};

		for (n = 0; n < HPCCPP_MOVE_ROUNDS - 1; n++)
			KUNIT_EXPECT_FALSE_MSG(test, hpccpp_should_move(&m, &v, &params, 0, 0),
					       "%s: too early", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hpccpp_should_move(&m, &v, &params, 0, 6), c->want,
				    "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, m.rounds, (s8)(c->want ? -3 : 0), "%s: 6 mod 4", c->what);
	}
}

static void move_again_test(struct kunit *test)
{
	struct hpcc_vars v = { .u = U(1200), .hops = 3, .wnd = 1000 << HPCC_WND_SHIFT };
	struct hpccpp_move m = { .rounds = -2 };
	size_t n;

	for (n = 0; n < 5; n++)
		KUNIT_EXPECT_FALSE(test, hpccpp_should_move(&m, &v, &params, 0, 0));
	KUNIT_EXPECT_TRUE_MSG(test, hpccpp_should_move(&m, &v, &params, 0, 0), "two later");
	m.rounds = 3;
	v.u = U(500);
	KUNIT_EXPECT_FALSE(test, hpccpp_should_move(&m, &v, &params, 0, 0));
	v.u = U(1200);
	KUNIT_EXPECT_FALSE_MSG(test, hpccpp_should_move(&m, &v, &params, 0, 0), "in a row");
	m.rounds = -2;
	v.u = U(500);
	KUNIT_EXPECT_FALSE(test, hpccpp_should_move(&m, &v, &params, 0, 0));
	KUNIT_EXPECT_EQ_MSG(test, m.rounds, (s8)-2, "the back-off stays");
}

/* A flow left path 7 when SND.NXT was 1000; every answer until the next line. */
static const struct came_case {
	const char *what;
	u32 seq, snd_nxt;
	u16 path_id;
	enum hpccpp_came want;
} came_cases[] = {
	{ "a probe that left before", 1000, 1500, 7, HPCCPP_CAME_UNKNOWN },
	{ "back: the second try", 1001, 1500, 7, HPCCPP_CAME_BACK },
	{ "a probe of the first", 1500, 1600, 7, HPCCPP_CAME_UNKNOWN },
	{ "the third", 1501, 2000, 7, HPCCPP_CAME_BACK },
	{ "another path: as a new flow", 2001, 3000, 5, HPCCPP_CAME_LATE },
	{ "it is known since", 3001, 4000, 7, HPCCPP_CAME_UNKNOWN },
};

static void came_test(struct kunit *test)
{
	const struct hpccpp_move left = { .left = 7, .tries = 1, .seq = 1000 };
	struct hpcc_vars v = { .hops = 3, .path_id = 5 };
	struct hpccpp_move m = left;
	u32 n, seq = 1001;

	KUNIT_EXPECT_EQ_MSG(test, hpccpp_came(&m, &v, seq, 1500), HPCCPP_CAME_ELSEWHERE,
			    "the first try: the flow began anew with it");
	m = left;
	for (n = 0; n < ARRAY_SIZE(came_cases); n++) {
		const struct came_case *c = &came_cases[n];

		v.path_id = c->path_id;
		KUNIT_EXPECT_EQ_MSG(test, hpccpp_came(&m, &v, c->seq, c->snd_nxt), c->want, "%s",
				    c->what);
	}
	m = left;
	v.path_id = 7;
	for (n = 1; n < HPCCPP_MOVE_TRIES; n++, seq++)
		KUNIT_EXPECT_EQ(test, hpccpp_came(&m, &v, seq, seq), HPCCPP_CAME_BACK);
	KUNIT_EXPECT_EQ_MSG(test, hpccpp_came(&m, &v, seq, seq), HPCCPP_CAME_ELSEWHERE,
			    "there is no other path");
	KUNIT_EXPECT_EQ(test, hpccpp_came(&m, &v, seq + 1, seq + 1), HPCCPP_CAME_UNKNOWN);
}

/* A round trip in which one answer comes. */
static bool round_of(struct hpccpp_blind *b, enum hpcc_received received)
{
	b->counted = false;
	return hpccpp_is_blind(b, received);
}

/* Round trips in a row, each with one such answer, until the sender gives up; at most 100. */
static int rounds_to_reno(struct hpccpp_blind *b, enum hpcc_received received)
{
	int n = 1;

	while (n < 100 && !round_of(b, received))
		n++;
	return n;
}

static void blind_test(struct kunit *test)
{
	struct hpccpp_blind b = {};
	int n;

	for (n = 0; n < 1000; n++)
		KUNIT_EXPECT_FALSE_MSG(test, hpccpp_is_blind(&b, HPCC_RECEIVED_NOTHING),
				       "of one round trip");
	KUNIT_EXPECT_TRUE_MSG(test, round_of(&b, HPCC_RECEIVED_NOTHING), "a new path");
	b = (struct hpccpp_blind){};
	KUNIT_EXPECT_EQ_MSG(test, rounds_to_reno(&b, HPCC_RECEIVED_FIRST), 100, "after silences");
	KUNIT_EXPECT_EQ_MSG(test, rounds_to_reno(&b, HPCC_RECEIVED_NEW), 100, "measured");
	KUNIT_EXPECT_EQ(test, rounds_to_reno(&b, HPCC_RECEIVED_NOTHING), HPCCPP_BLIND_ROUNDS_MAX);
	KUNIT_EXPECT_FALSE_MSG(test, hpccpp_is_blind(&b, HPCC_RECEIVED_NEW),
			       "in the same round trip");
	KUNIT_EXPECT_EQ_MSG(test, rounds_to_reno(&b, HPCC_RECEIVED_SAME), 100, "nothing new");
	KUNIT_EXPECT_EQ_MSG(test, rounds_to_reno(&b, HPCC_RECEIVED_PATH), HPCCPP_BLIND_ROUNDS_MAX,
			    "never the same path");
	b = (struct hpccpp_blind){};
	for (n = 1; n < HPCCPP_BLIND_ROUNDS_MAX; n++) {
		KUNIT_EXPECT_FALSE(test, round_of(&b, HPCC_RECEIVED_NOTHING));
		KUNIT_EXPECT_FALSE(test, round_of(&b, HPCC_RECEIVED_SAME));
	}
	KUNIT_EXPECT_TRUE_MSG(test, round_of(&b, HPCC_RECEIVED_NOTHING), "every second one absurd");
}

static struct kunit_case hpccpp_sender_cases[] = {
	KUNIT_CASE(blind_test),
	KUNIT_CASE(next_test),
	KUNIT_CASE(measure_test),
	KUNIT_CASE(path_test),
	KUNIT_CASE(far_test),
	KUNIT_CASE(drain_test),
	KUNIT_CASE(wind_test),
	KUNIT_CASE(turns_test),
	KUNIT_CASE(kept_test),
	KUNIT_CASE(room_test),
	KUNIT_CASE(stay_test),
	KUNIT_CASE(rescale_test),
	KUNIT_CASE(queues_test),
	KUNIT_CASE(memory_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(restart_test),
	KUNIT_CASE(round_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(least_test),
	KUNIT_CASE(known_test),
	KUNIT_CASE(pace_test),
	KUNIT_CASE(held_test),
	KUNIT_CASE(back_test),
	KUNIT_CASE(late_test),
	KUNIT_CASE(idle_path_test),
	KUNIT_CASE(slow_hosts_test),
	KUNIT_CASE(burst_test),
	KUNIT_CASE(port_test),
	KUNIT_CASE(fair_test),
	KUNIT_CASE(rtt_test),
	KUNIT_CASE(forward_test),
	KUNIT_CASE(free_path_test),
	KUNIT_CASE(answer_test),
	KUNIT_CASE(start_test),
	KUNIT_CASE(believe_test),
	KUNIT_CASE(move_test),
	KUNIT_CASE(move_again_test),
	KUNIT_CASE(came_test),
	{}
};

static struct kunit_suite hpccpp_sender_suite = {
	.name = "hpccpp_sender",
	.test_cases = hpccpp_sender_cases,
};

kunit_test_suites(&hpccpp_sender_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of HPCC++'s sender");
