// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the receiver of other vendors' telemetry, with values that can be checked by hand; run
 * in the kernel and on the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of its own, which it does not export. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "../hop_core/hop_ifa.c"
#include "../hop_core/hop_intmd.c"
#include "../hop_core/hop_ioam.c"
#include "int_layout.c"
#include "int_load.c"
#include "int_tlm.c"

#define T_NS 100000U
#define MBIT 1000U
/* Bytes that the port sends in T. */
#define BDP_BYTES 12500U

struct one {
	struct ntlm_state t;
	struct hpcc_params p;
	struct hpcc_vars v;
	struct nint_reply reply;
	struct tlm_sample s;
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + 2 * INT_RECORD_BYTES];
	};
};

/* A flow whose path has one hop with a queue only, of 1 Gbit/s. */
static void start(struct one *o)
{
	*o = (struct one) {
		.p = { .t_ns = T_NS, .eta = HPCC_U_ONE * 95 / 100,
		       .wnd_max_bytes = 2 * BDP_BYTES, .wnd_init_bytes = BDP_BYTES },
		.s = { .now_ns = 1000000, .own_bytes_ps = 125000000 },
	};
	hpcc_start(&o->v, &o->p);
	int_write(&o->hdr, 0, INT_TYPE_PROBE, 0, 2);
	o->t.path.records = 1;
	o->t.path.hops = 1;
	o->t.path.record[0] = (struct tlm_record) {
		.mbit_ps = MBIT, .node_id = 5, .port_id = 7,
		.has = TLM_HAS(INT_LAYOUT_QUEUE) | TLM_HAS(INT_LAYOUT_SPEED),
	};
}

static enum ntlm_news step(struct one *o, u32 queue_bytes)
{
	o->s.now_ns += T_NS;
	o->t.path.record[0].queue_bytes = queue_bytes;
	return ntlm_update(&o->t, &o->p, &o->v, &o->hdr, &o->s, &o->reply);
}

/* The first answer has no U; then U follows the queue. */
static void queue_test(struct kunit *test)
{
	static struct one o;

	start(&o);
	KUNIT_EXPECT_EQ(test, step(&o, BDP_BYTES), NTLM_USED);
	KUNIT_EXPECT_EQ(test, o.reply.kind, INT_ANSWER_RATIO);
	KUNIT_EXPECT_EQ(test, o.reply.tau_ns, 0);
	KUNIT_EXPECT_EQ(test, step(&o, BDP_BYTES), NTLM_USED);
	KUNIT_EXPECT_EQ(test, o.reply.tau_ns, T_NS);
	KUNIT_EXPECT_EQ(test, o.reply.hops, 1);
	/* 2 of the target 1.05 is 2 * 0.95 / 1.05 = 1.8095 of eta's. */
	KUNIT_EXPECT_EQ(test, (u64)o.reply.wnd * 1000 >> HPCC_U_SHIFT, 1809);
	step(&o, 0);
	KUNIT_EXPECT_TRUE(test, o.reply.wnd < HPCC_U_ONE);
}

/* A probe without telemetry between data that has some: U stays, and nothing is new. */
static void repeat_test(struct kunit *test)
{
	static struct one o;
	u32 u;

	start(&o);
	step(&o, BDP_BYTES);
	step(&o, BDP_BYTES);
	u = o.reply.wnd;
	ntlm_reply(&o.t, &o.p, &o.v, &o.hdr, o.s.now_ns + T_NS, false, &o.reply);
	KUNIT_EXPECT_EQ(test, o.reply.kind, INT_ANSWER_RATIO);
	KUNIT_EXPECT_EQ(test, o.reply.wnd, u);
	KUNIT_EXPECT_EQ(test, o.reply.tau_ns, 0);
	KUNIT_EXPECT_EQ(test, o.reply.hops, 1);
	/* After records that were of no use there is none either. */
	o.t.path.record[0] = (struct tlm_record){};
	o.t.path.bad = TLM_BAD_LAYOUT;
	step(&o, 0);
	ntlm_reply(&o.t, &o.p, &o.v, &o.hdr, o.s.now_ns + T_NS, false, &o.reply);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
}

/* Without a layout there is an answer without records, by which the sender falls back to Reno. */
static void unknown_test(struct kunit *test)
{
	static struct one o;

	start(&o);
	o.t.path.record[0] = (struct tlm_record){};
	o.t.path.bad = TLM_BAD_LAYOUT;
	step(&o, 0);
	KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_NO_LAYOUT);
	KUNIT_EXPECT_EQ(test, o.reply.kind, INT_ANSWER_RECORDS);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
	o.t.path.bad = 0;
	KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_USELESS);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
}

/* An RTT of 10 T with an empty queue: a queue is hidden. */
static void guard_test(struct kunit *test)
{
	static struct one o;
	u32 i;

	start(&o);
	o.s.rtt_ns = 10 * T_NS;
	/* A round is as long as the RTT, and 8 of them are enough. */
	for (i = 0; i < 100; i++)
		step(&o, i & 1 ? 2000 : 1600);
	KUNIT_EXPECT_EQ(test, step(&o, 1600), NTLM_CONTRADICTED);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
}

/* Records that come from another path each time are of no use. */
static void path_test(struct kunit *test)
{
	static struct one o;

	start(&o);
	step(&o, 0);
	o.t.path.record[0].port_id++;
	o.t.path.path_id++;
	KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_USED);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
	step(&o, 0);
	KUNIT_EXPECT_EQ(test, o.reply.kind, INT_ANSWER_RATIO);
	o.t.path.path_id++;
	KUNIT_EXPECT_EQ_MSG(test, step(&o, 0), NTLM_USED, "it has changed once more");
	o.t.path.path_id++;
	KUNIT_EXPECT_EQ_MSG(test, step(&o, 0), NTLM_PATHS, "and again");
	KUNIT_EXPECT_TRUE(test, o.reply.none);
}

/* A sender that cannot make room for all hops becomes Reno; one that can has time to. */
static void no_room_test(struct kunit *test)
{
	static struct one o;
	u32 i;

	start(&o);
	o.t.path.full = true;
	for (i = 1; i < NTLM_FULL_MAX; i++)
		KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_USED);
	KUNIT_EXPECT_EQ_MSG(test, o.reply.hops, 2, "room for one more is asked for");
	KUNIT_EXPECT_GE_MSG(test, o.reply.wnd, o.p.eta, "and the window must not grow");
	o.t.path.full = false;
	KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_USED);
	o.t.path.full = true;
	for (i = 1; i < 2 * NTLM_FULL_MAX; i++) {
		o.t.path.hops = 1 + i * 2 / NTLM_FULL_MAX;
		step(&o, 0);
	}
	KUNIT_EXPECT_FALSE_MSG(test, o.reply.none, "room for one hop more now and then");
	for (i = 1; i < NTLM_FULL_MAX; i++)
		step(&o, 0);
	for (i = 0; i < 300; i++)
		KUNIT_EXPECT_EQ(test, step(&o, 0), NTLM_NO_ROOM);
	KUNIT_EXPECT_TRUE(test, o.reply.none);
}

/* A hop of our own on the same path: the larger U counts, and a speed that is not known holds. */
static void mixed_test(struct kunit *test)
{
	struct int_record r = { .speed = 3, .ts_ns = 1000, .tx_units = 0 };
	static struct one o;
	u32 i;

	start(&o);
	o.hdr.path = cpu_to_be32(1U << INT_HOPS_SHIFT | 9U << INT_PATH_ID_SHIFT);
	for (i = 0; i < 20; i++) {
		/* 1 Gbit/s with a queue of 64 full packets, in units of 4 bytes. */
		r.ts_ns += T_NS;
		r.tx_units += BDP_BYTES / 4;
		r.qlen_units = 64 * HPCC_PACKET_BYTES / 4;
		o.hdr.record[0] = int_pack(&r);
		step(&o, 0);
	}
	KUNIT_EXPECT_TRUE(test, o.reply.wnd > HPCC_U_ONE * 5 / 2);
	r.speed = 0;
	o.hdr.record[0] = int_pack(&r);
	step(&o, 0);
	KUNIT_EXPECT_TRUE(test, o.reply.wnd >= o.p.eta);
}

/*
 * Another table counts the same queue in other units: its first record is not compared with one of
 * the old table, and there is no U until the second.
 */
static void table_test(struct kunit *test)
{
	static struct one o;

	start(&o);
	ntlm_use_table(&o.t, 1, false);
	step(&o, BDP_BYTES);
	step(&o, BDP_BYTES);
	KUNIT_EXPECT_EQ(test, (u64)o.reply.wnd * 1000 >> HPCC_U_SHIFT, 1809);
	ntlm_use_table(&o.t, 1, true);
	KUNIT_EXPECT_FALSE(test, o.t.trust_idle);
	ntlm_use_table(&o.t, 2, true);
	KUNIT_EXPECT_TRUE(test, o.t.trust_idle);
	KUNIT_EXPECT_EQ(test, step(&o, 2 * BDP_BYTES), NTLM_USED);
	KUNIT_EXPECT_EQ(test, o.reply.kind, INT_ANSWER_RATIO);
	KUNIT_EXPECT_EQ(test, o.reply.tau_ns, 0);
	step(&o, 2 * BDP_BYTES);
	KUNIT_EXPECT_EQ(test, o.reply.tau_ns, T_NS);
	/* 3 of 1.05 */
	KUNIT_EXPECT_EQ(test, (u64)o.reply.wnd * 1000 >> HPCC_U_SHIFT, 2714);
}

/* Room for the hops of a trace: a multiple of 8 that an option has. */
static void room_test(struct kunit *test)
{
	u32 i;

	KUNIT_EXPECT_EQ(test, ntlm_ioam_data_bytes(5), 104);
	for (i = 1; i <= INT_SLOTS_MAX; i++) {
		KUNIT_EXPECT_EQ(test, ntlm_ioam_data_bytes(i) % 8, 0);
		KUNIT_EXPECT_TRUE(test, ntlm_ioam_data_bytes(i) <= IOAM_DATA_MAX_BYTES);
		KUNIT_EXPECT_TRUE(test, ntlm_ioam_data_bytes(i) >= min(i, 12U) * 20);
	}
}

static struct kunit_case int_tlm_cases[] = {
	KUNIT_CASE(queue_test),
	KUNIT_CASE(repeat_test),
	KUNIT_CASE(unknown_test),
	KUNIT_CASE(guard_test),
	KUNIT_CASE(path_test),
	KUNIT_CASE(no_room_test),
	KUNIT_CASE(mixed_test),
	KUNIT_CASE(table_test),
	KUNIT_CASE(room_test),
	{}
};

static struct kunit_suite int_tlm_suite = {
	.name = "int_tlm",
	.test_cases = int_tlm_cases,
};

kunit_test_suite(int_tlm_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the receiver of other vendors' telemetry");
