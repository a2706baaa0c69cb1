// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the telemetry carrier with values that can be checked by hand; run in the kernel and on
 * the host
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "int_carrier.c"

#define MS 1000000ULL
#define PERIOD_NS 100000U
#define TIMEOUT_NS (4 * MS)
#define WND_BYTES 100000U
/* Sequence numbers wrap during the tests. */
#define BEGUN_SEQ 0xfffffc00U

/*
 * An event at a time in us. s: a packet with @older bytes in front of it is about to be sent; @want
 * is its turn. p: @want tells if it is sent without a request. a: an answer to the ID that is
 * @older than the latest. e: the same, but empty. q: an answer to the latest ID that reports a
 * queue of @older ns.
 */
struct step {
	u32 us;
	char what;
	u32 older;
	int want;
};

static const struct turn_case {
	const char *what;
	struct step step[14];
} turn_cases[] = {
	{ "the first is sent, and proves the path", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 's', 0, INT_TURN_WAIT },
		{ 60, 'a', 0, INT_NEWS }, { 99, 's', 0, INT_TURN_WAIT },
		{ 100, 's', 0, INT_TURN_SEND }, { 200, 's', 0, INT_TURN_SEND } } },
	{ "unproven: one a timeout, three in all", {
		{ 0, 's', 0, INT_TURN_SEND }, { 3999, 's', 0, INT_TURN_WAIT },
		{ 4000, 's', 0, INT_TURN_SEND }, { 7999, 's', 0, INT_TURN_WAIT },
		{ 8000, 's', 0, INT_TURN_SEND }, { 11999, 's', 0, INT_TURN_WAIT },
		{ 12000, 's', 0, INT_TURN_GIVE_UP } } },
	{ "proven, then no answers: a timeout of probes, then three", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'a', 0, INT_NEWS },
		{ 1000, 's', 0, INT_TURN_SEND }, { 4900, 's', 0, INT_TURN_SEND },
		{ 5001, 's', 0, INT_TURN_SEND }, { 5500, 's', 0, INT_TURN_WAIT },
		{ 9001, 's', 0, INT_TURN_SEND }, { 13001, 's', 0, INT_TURN_SEND },
		{ 17000, 's', 0, INT_TURN_WAIT }, { 17001, 's', 0, INT_TURN_GIVE_UP } } },
	{ "an answer proves the path again", {
		{ 0, 's', 0, INT_TURN_SEND }, { 4000, 's', 0, INT_TURN_SEND },
		{ 8000, 's', 0, INT_TURN_SEND }, { 11000, 'a', 2, INT_NEWS },
		{ 12000, 's', 0, INT_TURN_SEND }, { 12100, 's', 0, INT_TURN_SEND },
		{ 15000, 's', 0, INT_TURN_SEND } } },
	{ "nothing sent for long is no silence", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'a', 0, INT_NEWS },
		{ 900000, 's', 0, INT_TURN_SEND }, { 900100, 's', 0, INT_TURN_SEND } } },
	{ "after a pause: soon again until two are answered", {
		{ 20000, 's', 0, INT_TURN_SEND }, { 20005, 'a', 0, INT_NEWS },
		{ 20024, 's', 0, INT_TURN_WAIT }, { 20025, 's', 0, INT_TURN_SEND },
		{ 20049, 's', 0, INT_TURN_WAIT }, { 20050, 's', 0, INT_TURN_SEND },
		{ 20055, 'a', 0, INT_NEWS }, { 20149, 's', 0, INT_TURN_WAIT },
		{ 20150, 's', 0, INT_TURN_SEND } } },
	{ "a start behind the first data: twice as far from that", {
		{ 20000, 'p', 0, true }, { 20000, 'p', 1000, false },
		{ 20000, 's', 1000, INT_TURN_SEND }, { 20000, 'p', 1500, false },
		{ 20000, 's', 1999, INT_TURN_WAIT }, { 20000, 's', 2000, INT_TURN_SEND },
		{ 40000, 'p', 3000, true }, { 40000, 's', 4000, INT_TURN_SEND } } },
	{ "from a start: at twice the distance, one of it before an answer", {
		{ 20000, 's', 0, INT_TURN_SEND }, { 20000, 's', 0, INT_TURN_WAIT },
		{ 20000, 's', 1000, INT_TURN_SEND }, { 20001, 's', 3000, INT_TURN_WAIT },
		{ 20003, 'a', 1, INT_NEWS }, { 20004, 's', 1999, INT_TURN_WAIT },
		{ 20004, 's', 3000, INT_TURN_SEND }, { 20005, 's', 5999, INT_TURN_WAIT },
		{ 20005, 's', 6000, INT_TURN_SEND }, { 20006, 's', 2000, INT_TURN_WAIT },
		{ 20008, 'a', 2, INT_NEWS }, { 20009, 's', 24000, INT_TURN_WAIT } } },
	{ "a start that nobody answers: two, a timeout, the third", {
		{ 20000, 's', 0, INT_TURN_SEND }, { 20001, 's', 1000, INT_TURN_SEND },
		{ 20002, 's', 8000, INT_TURN_WAIT }, { 24000, 's', 9000, INT_TURN_WAIT },
		{ 24001, 's', 10000, INT_TURN_SEND }, { 28000, 's', 30000, INT_TURN_WAIT },
		{ 28001, 's', 40000, INT_TURN_GIVE_UP } } },
	{ "behind the first window distance does not count", {
		{ 20000, 's', 0, INT_TURN_SEND }, { 20000, 's', WND_BYTES, INT_TURN_SEND },
		{ 20001, 'a', 1, INT_NEWS }, { 20001, 's', 4 * WND_BYTES, INT_TURN_WAIT } } },
	{ "by distance after a pause, too", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'a', 0, INT_NEWS },
		{ 20000, 's', 5000, INT_TURN_SEND }, { 20001, 's', 6000, INT_TURN_SEND },
		{ 20002, 's', 7000, INT_TURN_SEND }, { 20003, 's', 8000, INT_TURN_WAIT },
		{ 20004, 's', 9000, INT_TURN_SEND } } },
	{ "a queue of more than half of T: an eighth of a period until two are answered", {
		{ 0, 's', 0, INT_TURN_SEND }, { 10, 'a', 0, INT_NEWS },
		{ 100, 's', 0, INT_TURN_SEND }, { 105, 'q', 50000, INT_NEWS },
		{ 112, 's', 0, INT_TURN_WAIT }, { 200, 's', 0, INT_TURN_SEND },
		{ 205, 'q', 50001, INT_NEWS }, { 212, 's', 0, INT_TURN_WAIT },
		{ 213, 's', 0, INT_TURN_SEND }, { 220, 'q', 50001, INT_NEWS },
		{ 226, 's', 0, INT_TURN_SEND } } },
	{ "the last answer lost, then idle: one unanswered", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'a', 0, INT_NEWS },
		{ 100, 's', 0, INT_TURN_SEND }, { 900000, 's', 0, INT_TURN_SEND },
		{ 900100, 's', 0, INT_TURN_WAIT }, { 900200, 'a', 0, INT_NEWS },
		{ 900300, 's', 0, INT_TURN_SEND } } },
	{ "reordered and replayed answers prove nothing", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'a', 0, INT_NEWS },
		{ 60, 'a', 0, INT_NEWS_OLD }, { 100, 's', 0, INT_TURN_SEND },
		{ 200, 's', 0, INT_TURN_SEND }, { 210, 'a', 0, INT_NEWS },
		{ 220, 'a', 1, INT_NEWS_OLD }, { 230, 'a', 2, INT_NEWS_OLD } } },
	{ "an empty answer does not take the place of a whole one", {
		{ 0, 's', 0, INT_TURN_SEND }, { 50, 'e', 0, INT_NEWS },
		{ 50, 'e', 0, INT_NEWS_OLD }, { 51, 'a', 0, INT_NEWS },
		{ 52, 'a', 0, INT_NEWS_OLD },
		{ 53, 'e', 0, INT_NEWS_OLD } } },
	{ "to what never left, or long ago", {
		{ 0, 'a', 0, INT_NEWS_FORGED }, { 10, 's', 0, INT_TURN_SEND },
		{ 50, 'a', U32_MAX, INT_NEWS_FORGED },
		{ 50, 'a', INT_IDS_MEMORY, INT_NEWS_FORGED },
		{ 50, 'a', INT_IDS_MEMORY - 1, INT_NEWS }, { 60, 'a', 0, INT_NEWS } } },
};

static int take_step(struct nint_asker *a, const struct step *s, u32 seq)
{
	u64 now_ns = MS + s->us * 1000ULL;
	enum nint_turn turn;

	if (s->what == 'q') {
		int news = nint_answered(a, a->id, seq, false, now_ns);

		nint_hurry(a, s->older, PERIOD_NS);
		return news;
	}
	if (s->what == 'p')
		return nint_passes(a, now_ns, BEGUN_SEQ + s->older, true);
	if (s->what == 'a' || s->what == 'e')
		return nint_answered(a, a->id - s->older, seq - s->older, s->what == 'e', now_ns);
	turn = nint_is_far(a, BEGUN_SEQ + s->older, WND_BYTES) ? INT_TURN_SEND :
	       nint_turn(a, now_ns, nint_period_ns(a, PERIOD_NS, 0), TIMEOUT_NS);
	if (turn == INT_TURN_SEND)
		nint_leaves(a, now_ns, TIMEOUT_NS, BEGUN_SEQ + s->older);
	return turn;
}

static void turn_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(turn_cases); i++) {
		/* IDs wrap during the tests. */
		struct nint_asker a = { .id = U32_MAX - 1 };

		for (n = 0; n < ARRAY_SIZE(turn_cases[i].step); n++) {
			const struct step *s = &turn_cases[i].step[n];

			if (!s->what)
				break;
			KUNIT_EXPECT_EQ_MSG(test, take_step(&a, s, a.id), s->want, "%s: step %zu",
					    turn_cases[i].what, n);
		}
	}
}

/* Segments of one GSO packet have the same ID. */
/* T is 100 us, a segment 1000 bytes; the last probe left at 10 ms with BEGUN_SEQ. */
static const struct near_case {
	const char *what;
	u32 us, bytes;
	bool opening, proven, want;
} near_cases[] = {
	{ "seven segments behind it", 10100, 7999, false, true, true },
	{ "eight", 10001, 8000, false, true, false },
	{ "four T later", 10400, 1000, false, true, false },
	{ "a little less", 10399, 1000, false, true, true },
	{ "a retransmission", 10001, -1000, false, true, false },
	{ "at a start", 10001, 1000, true, true, false },
	{ "nobody has answered yet", 10001, 1000, false, false, false },
};

static void near_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(near_cases); i++) {
		const struct near_case *c = &near_cases[i];
		const struct nint_asker a = {
			.left_seq = BEGUN_SEQ, .left_ns = 10 * MS,
			.opening = c->opening, .proven = c->proven,
		};

		KUNIT_EXPECT_EQ_MSG(test, nint_is_near(&a, c->us * 1000ULL, PERIOD_NS,
						       BEGUN_SEQ + c->bytes, 1000), c->want,
				    "%s", c->what);
	}
}

static void segments_test(struct kunit *test)
{
	struct nint_asker a = { };
	u32 id = nint_leaves(&a, MS, TIMEOUT_NS, 0);

	KUNIT_EXPECT_EQ(test, nint_answered(&a, id, U32_MAX, false, MS), INT_NEWS);
	KUNIT_EXPECT_EQ(test, nint_answered(&a, id, 999, false, MS), INT_NEWS);
	KUNIT_EXPECT_EQ(test, nint_answered(&a, id, 999, false, MS), INT_NEWS_OLD);
	KUNIT_EXPECT_EQ(test, nint_answered(&a, id, U32_MAX, false, MS), INT_NEWS_OLD);
	id = nint_leaves(&a, MS, TIMEOUT_NS, 0);
	/* A retransmission: its ID is newer, its sequence number is not. */
	KUNIT_EXPECT_EQ(test, nint_answered(&a, id, 10, false, MS), INT_NEWS);
}

/*
 * With headers in data, all packets sent within one timeout count as one unanswered packet,
 * independently of probes that sent the parameters before.
 */
static void inband_test(struct kunit *test)
{
	struct nint_asker a = { };
	int i;

	nint_leaves(&a, 20 * MS, TIMEOUT_NS, BEGUN_SEQ);
	nint_leaves(&a, 20 * MS, TIMEOUT_NS, a.left_seq);
	for (i = 0; i < 100; i++)
		nint_leaves(&a, 21 * MS, TIMEOUT_NS, a.left_seq);
	KUNIT_EXPECT_EQ(test, a.unanswered, 1);
	nint_leaves(&a, 24 * MS, TIMEOUT_NS, a.left_seq);
	KUNIT_EXPECT_EQ(test, a.unanswered, 2);
}

/* 1000 units of 512 bytes at 100G, 40.96 ns each; a port of unknown speed reports nothing. */
static void queue_test(struct kunit *test)
{
	struct int_record r = { .speed = 9, .qlen_units = 1000 };
	struct int_answer a = { .kind = INT_ANSWER_SUMMARY, .record = r };

	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 40960ULL);
	a.record.speed = 15;
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 0ULL);
	a.kind = INT_ANSWER_RECORDS;
	int_write(&a.hdr, 0, INT_TYPE_ECHO, 0, 2);
	a.hdr.path = cpu_to_be32(3U << INT_HOPS_SHIFT | 7 << INT_PATH_ID_SHIFT);
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 0ULL);
	a.hdr.record[1] = int_pack(&r);
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 40960ULL);
	a.kind = INT_ANSWER_RATIO;
	a.u = 3 * HPCC_U_ONE;
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 10000ULL);
	a.u = HPCC_U_ONE - 1;
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 0ULL);
	a.kind = INT_ANSWER_WINDOW;
	KUNIT_EXPECT_EQ(test, nint_answer_queue_ns(&a, 5000), 0ULL);
}

static void underway_test(struct kunit *test)
{
	struct nint_asker a = { .proven = true, .left_seq = 5000 };

	KUNIT_EXPECT_TRUE(test, nint_is_underway(&a, 4000));
	KUNIT_EXPECT_TRUE(test, nint_is_underway(&a, 5000));
	KUNIT_EXPECT_FALSE(test, nint_is_underway(&a, 5001));
	/* Sequence numbers wrap. */
	a.left_seq = 0xfffffff0;
	KUNIT_EXPECT_TRUE(test, nint_is_underway(&a, 0xfffffff0));
	KUNIT_EXPECT_FALSE(test, nint_is_underway(&a, 16));
	a.starting = 1;
	KUNIT_EXPECT_FALSE(test, nint_is_underway(&a, 0xfffffff0));
	a.starting = 0;
	a.proven = false;
	KUNIT_EXPECT_FALSE(test, nint_is_underway(&a, 0xfffffff0));
}

static void times_test(struct kunit *test)
{
	struct nint_asker a = { .opening = true };

	/* The period is T; if RTTs are longer than 4 T, a quarter of the RTT. */
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 5000, 0), 5000u);
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 5000, 20), 5000u);
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 5000, 400), 100000u);
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 5000, U32_MAX), 4000000u);
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 0, 0), 1000u);
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 100000000, 1), 4000000u);
	/* An early answer is needed, independently of the RTT. */
	a.starting = 1;
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 8000, 400), 2000u);
	a.opening = false;
	KUNIT_EXPECT_EQ(test, nint_period_ns(&a, 8000, 400), 1000u);
	KUNIT_EXPECT_EQ(test, nint_timeout_ns(5000, 0), 1000000000u);
	KUNIT_EXPECT_EQ(test, nint_timeout_ns(5000, 10), 4000000u);
	KUNIT_EXPECT_EQ(test, nint_timeout_ns(5000, 100000), 400000000u);
	KUNIT_EXPECT_EQ(test, nint_timeout_ns(U32_MAX, 1), 4ULL * U32_MAX);
	KUNIT_EXPECT_TRUE(test, nint_window_is_small(5791, 1448));
	KUNIT_EXPECT_FALSE(test, nint_window_is_small(5792, 1448));
}

struct telemetry {
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + 2 * INT_RECORD_BYTES];
	};
};

/* Two hops at 100G that sent @units in 10 us; the second one has a queue. */
static struct telemetry records(unsigned int hops, u32 units, u32 ts_ns, u32 qlen)
{
	struct int_record r = { .speed = 9, .ts_ns = ts_ns, .tx_units = units };
	struct telemetry t;

	int_write(&t.hdr, 0, INT_TYPE_PROBE, 0, 2);
	t.hdr.path = cpu_to_be32(hops << 28 | (hops ? 5 << 16 : 0));
	t.hdr.record[0] = int_pack(&r);
	r.qlen_units = qlen;
	if (hops > 1)
		t.hdr.record[1] = int_pack(&r);
	return t;
}

static void slots_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nint_slots_for(5, 0), 5u);
	KUNIT_EXPECT_EQ(test, nint_slots_for(5, 6), 6u);
	KUNIT_EXPECT_EQ(test, nint_slots_for(5, 255), INT_SLOTS_MAX);
	KUNIT_EXPECT_EQ_MSG(test, nint_slots_for(0, 6), 0u, "none are wanted");
}

/* TCP options as bytes, and the position of ours; -1: not found. */
static const struct opt_case {
	const char *what;
	int before, length;
	u16 exid;
	u8 hops, index;
	bool want;
} opt_cases[] = {
	{ "alone", 0, 16, INT_OPT_EXID, 3, 2, true },
	{ "behind timestamps", 12, 16, INT_OPT_EXID, 15, 14, true },
	{ "another experiment", 12, 16, 0xf989, 3, 2, false },
	{ "shorter", 12, 12, INT_OPT_EXID, 3, 2, false },
	{ "longer than the header", 12, 40, INT_OPT_EXID, 3, 2, false },
	{ "of length 0", 12, 0, INT_OPT_EXID, 3, 2, false },
	{ "of length 1", 12, 1, INT_OPT_EXID, 3, 2, false },
	{ "a hop that is not there", 12, 16, INT_OPT_EXID, 2, 2, false },
	{ "no hop", 0, 16, INT_OPT_EXID, 0, 0, false },
};

static void option_test(struct kunit *test)
{
	static const u8 stamps[12] = { 1, 1, 8, 10 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opt_cases); i++) {
		const struct opt_case *c = &opt_cases[i];
		union {
			struct int_hdr h;
			u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
		} in = { };
		struct int_answer out;
		struct nint_opt opt;
		u8 bytes[40] = { };
		u32 id;

		in.h.path = cpu_to_be32((u32)c->hops << INT_HOPS_SHIFT |
					0xabc << INT_PATH_ID_SHIFT);
		in.h.record[c->index] = cpu_to_be64(77);
		nint_opt_write(&opt, 0x12345678, &in.h, c->index);
		opt.length = c->length;
		opt.exid = cpu_to_be16(c->exid);
		memcpy(bytes, stamps, c->before);
		memcpy(bytes + c->before, &opt, sizeof(opt));
		KUNIT_EXPECT_EQ_MSG(test, nint_opt_read(bytes, c->before + sizeof(opt), &id, &out),
				    c->want, "%s", c->what);
		if (!c->want)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, id, 0x678u, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, out.kind, INT_ANSWER_SUMMARY, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, out.hops, c->hops, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, out.index, c->index, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, out.path_id, 0xabcu, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, out.record.qlen_units, 77u, "%s", c->what);
	}
}

/* The parser accepts every length of every prefix of noise; ASan detects errors. */
static void option_noise_test(struct kunit *test)
{
	struct int_answer a;
	u32 dice = 1, id;
	int n, found = 0;

	for (n = 0; n < 100000; n++) {
		u8 bytes[40];
		unsigned int i, length = n % 41;

		for (i = 0; i < length; i++) {
			dice = dice * 1664525 + 1013904223;
			bytes[i] = dice >> 24 & 0x80 ? dice >> 16 : dice >> 28;
		}
		found += nint_opt_read(bytes, length, &id, &a);
	}
	KUNIT_EXPECT_EQ(test, found, 0);
}

static void whole_id_test(struct kunit *test)
{
	struct nint_asker a = { .id = 0x10000005 };

	KUNIT_EXPECT_EQ(test, nint_whole_id(&a, 0x005), 0x10000005u);
	KUNIT_EXPECT_EQ(test, nint_whole_id(&a, 0x004), 0x10000004u);
	KUNIT_EXPECT_EQ(test, nint_whole_id(&a, 0x006), 0x0ffff006u);
	KUNIT_EXPECT_EQ(test, nint_whole_id(&a, 0xfff), 0x0fffffffu);
}

static void ask(struct nint_receiver *r, enum int_answer_kind kind)
{
	const struct int_msg msg = {
		.t_ns = cpu_to_be32(10000), .kind = cpu_to_be16(kind) };
	const struct int_terms terms = {
		.wnd_max = cpu_to_be32(125000), .eta = cpu_to_be32(996147),
		.flows = cpu_to_be16(100) };

	nint_receiver_ask(r, &msg, &terms);
}

static const struct reply_case {
	const char *what;
	int asked;	/* -1: no request */
	unsigned int hops;
	bool anonymous, by_ack;
	int want;	/* kind of the second answer; -1: none */
} reply_cases[] = {
	{ "records", INT_ANSWER_RECORDS, 2, false, false, INT_ANSWER_RECORDS },
	{ "nobody asked", -1, 2, false, false, INT_ANSWER_RECORDS },
	{ "nobody asked, by ACK", -1, 2, false, true, INT_ANSWER_RECORDS },
	{ "records, by ACK", INT_ANSWER_RECORDS, 2, false, true, INT_ANSWER_SUMMARY },
	{ "records of no hop, by ACK", INT_ANSWER_RECORDS, 0, false, true, INT_ANSWER_RECORDS },
	{ "summary", INT_ANSWER_SUMMARY, 2, false, false, INT_ANSWER_SUMMARY },
	{ "ratio", INT_ANSWER_RATIO, 2, false, false, INT_ANSWER_RATIO },
	{ "ratio, by ACK", INT_ANSWER_RATIO, 2, false, true, INT_ANSWER_RATIO },
	{ "window", INT_ANSWER_WINDOW, 2, false, false, INT_ANSWER_WINDOW },
	{ "window of no hop", INT_ANSWER_WINDOW, 0, false, false, INT_ANSWER_RECORDS },
	{ "records, anonymous", INT_ANSWER_RECORDS, 2, true, false, INT_ANSWER_RATIO },
	{ "window, anonymous", INT_ANSWER_WINDOW, 2, true, false, INT_ANSWER_RATIO },
	{ "window of no hop, anonymous", INT_ANSWER_WINDOW, 0, true, false, INT_ANSWER_RATIO },
	{ "nobody asked, anonymous", -1, 2, true, true, INT_ANSWER_RATIO },
};

static void reply_test(struct kunit *test)
{
	struct telemetry one, two;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reply_cases); i++) {
		const struct reply_case *c = &reply_cases[i];
		struct nint_receiver r = { };
		struct nint_reply reply;
		bool answer;

		one = records(c->hops, 0, 0, 0);
		two = records(c->hops, 244, 10000, 10);
		if (c->asked >= 0)
			ask(&r, c->asked);
		nint_receiver_update(&r, &one.hdr, c->anonymous, c->by_ack, MS, &reply);
		answer = nint_receiver_update(&r, &two.hdr, c->anonymous, c->by_ack,
					      MS + 10001, &reply);
		KUNIT_EXPECT_EQ_MSG(test, answer ? (int)reply.kind : -1, c->want, "%s", c->what);
	}
}

/* T is 10 us, a unit 40.96 ns: a queue of 122 units is less than half of T, 123 is more. */
static const struct due_case {
	const char *what;
	enum int_type type;
	u32 after_ns, qlen;
	bool want;
} due_cases[] = {
	{ "the first", INT_TYPE_DATA, 1000, 0, true },
	{ "within T", INT_TYPE_DATA, 9999, 122, false },
	{ "T after the first", INT_TYPE_DATA, 1, 122, true },
	{ "a queue, within an eighth of T", INT_TYPE_DATA, 1249, 123, false },
	{ "a queue, an eighth of T later", INT_TYPE_DATA, 1, 123, true },
	{ "a probe at once", INT_TYPE_PROBE, 0, 0, true },
	{ "the probe does not count", INT_TYPE_DATA, 10000, 0, true },
};

static void due_test(struct kunit *test)
{
	static const enum int_answer_kind kinds[] = {
		INT_ANSWER_RECORDS, INT_ANSWER_SUMMARY, INT_ANSWER_RATIO };
	struct telemetry t;
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct nint_receiver r = { };
		struct nint_reply reply;
		u64 now_ns = MS;

		ask(&r, kinds[k]);
		for (i = 0; i < ARRAY_SIZE(due_cases); i++) {
			const struct due_case *c = &due_cases[i];

			now_ns += c->after_ns;
			t = records(2, 244 * i, now_ns, c->qlen);
			t.hdr.type = c->type;
			KUNIT_EXPECT_EQ_MSG(test, c->want,
					    nint_receiver_update(&r, &t.hdr, false, false, now_ns,
								 &reply),
					    "kind %d: %s", kinds[k], c->what);
		}
	}
}

/* 244 units of 512 bytes in 10 us at 100G: txRate/B = 0.9994; qlen 10 of 244. */
static void law_test(struct kunit *test)
{
	struct telemetry one = records(2, 0, 0, 10), two = records(2, 244, 10000, 10);
	struct nint_receiver r = { };
	struct nint_reply reply;

	ask(&r, INT_ANSWER_RATIO);
	nint_receiver_update(&r, &one.hdr, false, false, MS, &reply);
	KUNIT_EXPECT_EQ_MSG(test, reply.tau_ns, 0u, "nothing to compare with");
	nint_receiver_update(&r, &two.hdr, false, false, MS + 10001, &reply);
	/* Two packets of the queue, 6 units, do not count: 248 * 40.96 ns / 10000 ns * 2^20 */
	KUNIT_EXPECT_LE(test, reply.wnd, 1065152u);
	KUNIT_EXPECT_GE(test, reply.wnd, 1065150u);
	KUNIT_EXPECT_EQ(test, reply.tau_ns, 10000u);
	KUNIT_EXPECT_TRUE(test, nint_receiver_is_last_hop(&r, &two.hdr));

	ask(&r, INT_ANSWER_WINDOW);
	one = records(2, 488, 20000, 10);
	KUNIT_EXPECT_TRUE(test, nint_receiver_update(&r, &one.hdr, false, false, MS + 20002,
						     &reply));
	/* 125000 * (0.95 - W_ai / W_init) / 1.0158 + W_ai 62 = 116902 */
	KUNIT_EXPECT_GE(test, reply.wnd, 116852u);
	KUNIT_EXPECT_LE(test, reply.wnd, 116952u);
	two = records(2, 732, 30000, 10);
	KUNIT_EXPECT_FALSE_MSG(test, nint_receiver_update(&r, &two.hdr, false, false, MS + 25000,
							  &reply), "once a T");
}

/*
 * T becomes 9 us, and the BDP follows. W was 116902, as in law_test(), and becomes 0.9 of that.
 * With the next answer the algorithm computes 105212 * 0.95 / 1.0176 + W_ai, about 98300.
 */
static void t_changes_test(struct kunit *test)
{
	const struct int_msg msg = {
		.t_ns = cpu_to_be32(9000), .kind = cpu_to_be16(INT_ANSWER_WINDOW) };
	const struct int_terms terms = {
		.wnd_max = cpu_to_be32(112500), .eta = cpu_to_be32(996147),
		.flows = cpu_to_be16(100) };
	struct telemetry t = records(2, 0, 0, 10);
	struct nint_receiver r = { };
	struct nint_reply reply;
	u32 u;

	ask(&r, INT_ANSWER_WINDOW);
	nint_receiver_update(&r, &t.hdr, false, false, MS, &reply);
	t = records(2, 244, 10000, 10);
	KUNIT_EXPECT_TRUE(test, nint_receiver_update(&r, &t.hdr, false, false, MS + 10001, &reply));
	KUNIT_EXPECT_GE(test, reply.wnd, 116852u);
	KUNIT_EXPECT_LE(test, reply.wnd, 116952u);
	u = r.v.u;
	nint_receiver_ask(&r, &msg, &terms);
	KUNIT_EXPECT_GE(test, hpcc_wnd_bytes(&r.v), 105167u);
	KUNIT_EXPECT_LE(test, hpcc_wnd_bytes(&r.v), 105257u);
	KUNIT_EXPECT_EQ_MSG(test, r.v.u, u, "U is what it was");
	t = records(2, 488, 20000, 10);
	KUNIT_EXPECT_TRUE(test, nint_receiver_update(&r, &t.hdr, false, false, MS + 20002, &reply));
	KUNIT_EXPECT_LE_MSG(test, reply.wnd, 98800u, "not from the line's rate");
	KUNIT_EXPECT_GE(test, reply.wnd, 97800u);
}

/* Parameters in a probe are limited to their ranges. */
static void terms_test(struct kunit *test)
{
	const struct int_msg msg = { .t_ns = cpu_to_be32(U32_MAX), .kind = cpu_to_be16(999) };
	const struct int_terms none = { }, all = { .wnd_max = cpu_to_be32(U32_MAX),
		.eta = cpu_to_be32(U32_MAX), .max_stage = cpu_to_be16(U16_MAX) };
	struct nint_receiver r = { };

	nint_receiver_ask(&r, &msg, &all);
	KUNIT_EXPECT_EQ(test, r.kind, INT_ANSWER_RECORDS);
	KUNIT_EXPECT_EQ(test, r.p.t_ns, HPCC_T_MAX_NS);
	KUNIT_EXPECT_EQ(test, r.p.eta, HPCC_U_ONE);
	KUNIT_EXPECT_EQ(test, r.p.wnd_max_bytes, HPCC_WND_MAX_BYTES);
	nint_receiver_ask(&r, &(struct int_msg){ }, &none);
	KUNIT_EXPECT_EQ(test, r.p.t_ns, HPCC_T_MIN_NS);
	KUNIT_EXPECT_EQ(test, r.p.wnd_max_bytes, HPCC_WND_MIN_BYTES);
	KUNIT_EXPECT_GE(test, r.p.wnd_ai, 1u);
	KUNIT_EXPECT_EQ(test, hpcc_wnd_bytes(&r.v), HPCC_WND_MIN_BYTES);
}

static struct nint_starters starters;

/* Flows by letter, each seen at a time in T, and N that is reported for the last one. */
static const struct starters_case {
	const char *what, *flows;
	u32 at_ts[8];
	u32 want;
} starters_cases[] = {
	{ "one", "aaaa", { 0, 1, 2, 3 }, 1 },
	{ "three", "abcabc", { 0, 0, 0, 1, 1, 1 }, 3 },
	{ "one comes", "aaab", { 0, 5, 9, 9 }, 2 },
	{ "in the next span the last one counts", "abca", { 0, 0, 0, 11 }, 3 },
	{ "two spans later who has left does not", "abcaa", { 0, 0, 0, 11, 22 }, 1 },
	{ "after a long pause nobody does", "abca", { 0, 0, 0, 31 }, 1 },
};

static void starters_test(struct kunit *test)
{
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(starters_cases); i++) {
		const struct starters_case *c = &starters_cases[i];
		struct nint_receiver r[3] = { };
		u64 now_ns = MS;

		nint_starters_init(&starters, 7, now_ns);
		for (n = 0; n < ARRAY_SIZE(r); n++)
			ask(&r[n], INT_ANSWER_WINDOW);
		for (n = 0; c->flows[n]; n++) {
			now_ns = MS + c->at_ts[n] * 10000;
			KUNIT_EXPECT_TRUE(test, nint_starters_join(&starters, 3,
								   &r[c->flows[n] - 'a'],
								   now_ns));
		}
		KUNIT_EXPECT_EQ_MSG(test, nint_starters_flows(&starters, 3, now_ns), c->want,
				    "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, nint_starters_flows(&starters, 4, now_ns), c->want,
				    "%s, for another client", c->what);
	}
}

#define LIAR	9
#define HONEST	2

/* A client with many flows, or with a false T, adds a bounded number to the N of another client. */
static const struct lie_case {
	const char *what;
	u32 t_ns, flows, after_ts;
	u32 want, want_clipped;	/* N of the other client */
} lie_cases[] = {
	{ "no other client", 10000, 0, 0, 1, 0 },
	{ "as many flows as count", 10000, INT_STARTERS_OF_OTHER, 0, 1 + INT_STARTERS_OF_OTHER, 0 },
	{ "one flow more", 10000, INT_STARTERS_OF_OTHER + 1, 0, 1 + INT_STARTERS_OF_OTHER, 1 },
	{ "many flows", 10000, 1000, 0, 1 + INT_STARTERS_OF_OTHER, 1000 - INT_STARTERS_OF_OTHER },
	{ "20 T after they ended", 10000, 1000, 20, 1 + INT_STARTERS_OF_OTHER,
	  1000 - INT_STARTERS_OF_OTHER },
	{ "22 T after they ended", 10000, 1000, 22, 1, 1000 - INT_STARTERS_OF_OTHER },
	{ "with the maximum of T", HPCC_T_MAX_NS, 1, 0, 2, 0 },
	{ "long after, with the maximum of T", HPCC_T_MAX_NS, 1000, 500,
	  1 + INT_STARTERS_OF_OTHER, 1000 - INT_STARTERS_OF_OTHER },
};

/* The flows of the liar. Return: how many of them N of others does not contain. */
static u32 lie(const struct lie_case *c, u64 now_ns)
{
	u32 clipped = 0, i;

	for (i = 0; i < c->flows; i++) {
		struct nint_receiver r = { .p.t_ns = c->t_ns };

		clipped += !nint_starters_join(&starters, LIAR, &r, now_ns);
		/* A flow counts once in a period. */
		clipped += !nint_starters_join(&starters, LIAR, &r, now_ns);
	}
	return clipped;
}

static void lie_test(struct kunit *test)
{
	size_t i;
	u32 t;

	for (i = 0; i < ARRAY_SIZE(lie_cases); i++) {
		const struct lie_case *c = &lie_cases[i];
		struct nint_receiver gone = { .p.t_ns = 10000 }, honest = { .p.t_ns = 10000 };
		u64 now_ns = MS;

		nint_starters_init(&starters, 7, now_ns);
		nint_starters_join(&starters, HONEST, &gone, now_ns);
		KUNIT_EXPECT_EQ_MSG(test, lie(c, now_ns), c->want_clipped, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, nint_starters_flows(&starters, LIAR, now_ns),
				    c->flows + 1, "%s: its own N has all", c->what);
		for (t = 0; t <= c->after_ts; t++)
			nint_starters_join(&starters, HONEST, &honest, now_ns + t * 10000);
		now_ns += c->after_ts * 10000;
		/* The honest client's flow that has ended counts for two periods of its own T. */
		KUNIT_EXPECT_EQ_MSG(test, nint_starters_flows(&starters, HONEST, now_ns),
				    c->want + (c->after_ts < 22), "%s", c->what);
	}
}

/* The clock of another CPU may be earlier: the period goes on. */
static void clock_test(struct kunit *test)
{
	struct nint_receiver r[2] = { { .p.t_ns = 10000 }, { .p.t_ns = 10000 } };

	nint_starters_init(&starters, 7, MS);
	nint_starters_join(&starters, HONEST, &r[0], MS);
	nint_starters_join(&starters, HONEST, &r[1], MS - 1);
	KUNIT_EXPECT_EQ(test, nint_starters_flows(&starters, HONEST, MS - 1), 2u);
	KUNIT_EXPECT_FALSE(test, nint_starters_is_idle(&starters, MS - 2));
	KUNIT_EXPECT_TRUE(test, nint_starters_is_idle(&starters, MS + INT_STARTERS_IDLE_NS));
}

/* W_ai = W (1 - eta) / N: 125000 * 0.05 / 100 = 62.5, / 5 = 1250. */
static void scale_test(struct kunit *test)
{
	struct nint_receiver r = { };

	ask(&r, INT_ANSWER_WINDOW);
	KUNIT_EXPECT_EQ(test, r.p.wnd_ai >> HPCC_WND_SHIFT, 62u);
	nint_receiver_starters(&r, 5);
	KUNIT_EXPECT_EQ(test, r.p.wnd_ai >> HPCC_WND_SHIFT, 1250u);
	ask(&r, INT_ANSWER_WINDOW);
	KUNIT_EXPECT_EQ_MSG(test, r.p.wnd_ai >> HPCC_WND_SHIFT, 1250u, "asked again");
	nint_receiver_starters(&r, 0);
	KUNIT_EXPECT_EQ(test, r.p.wnd_ai >> HPCC_WND_SHIFT, 62u);
}

/* The RTT of one probe at a time; a lost one has none. */
static void rtt_test(struct kunit *test)
{
	struct nint_asker a = {};
	u32 first, id;

	first = nint_leaves(&a, 1000000, 1000000, 0);
	id = nint_leaves(&a, 1010000, 1000000, 1000);
	nint_answered(&a, first, 1, false, 1100000);
	KUNIT_EXPECT_EQ(test, a.rtt_ns, 100000);
	nint_answered(&a, id, 2, false, 1110000);
	KUNIT_EXPECT_EQ(test, a.rtt_ns, 100000);
	nint_leaves(&a, 1200000, 1000000, 2000);
	id = nint_leaves(&a, 1210000, 1000000, 3000);
	nint_answered(&a, id, 4, false, 1400000);
	KUNIT_EXPECT_EQ(test, a.rtt_ns, 100000);
	id = nint_leaves(&a, 1500000, 1000000, 4000);
	nint_answered(&a, id, 5, false, 1548000);
	KUNIT_EXPECT_EQ(test, a.rtt_ns, 48000);
}

#define MERGE_SLOTS 2
#define COOKIE 0x55667788

struct shim {
	struct int_hdr h;
	u8 room[INT_HDR_BYTES - sizeof(struct int_hdr) + MERGE_SLOTS * INT_RECORD_BYTES +
		INT_TAIL_BYTES];
};

/* A header from a path of one hop, whose record is @mark. */
static struct shim shim_header(u32 id, u32 mark)
{
	struct shim s;
	struct int_tail *tail;

	int_write(&s.h, 6, INT_TYPE_DATA, 0, MERGE_SLOTS);
	s.h.path = cpu_to_be32(1 << INT_HOPS_SHIFT | 5 << INT_PATH_ID_SHIFT);
	s.h.record[0] = cpu_to_be64(mark);
	tail = (struct int_tail *)nint_tail_of(&s.h);
	*tail = (struct int_tail){ .first = cpu_to_be32(id), .second = cpu_to_be32(COOKIE) };
	return s;
}

static const struct id_case {
	u32 held, next;
	bool want;
} id_cases[] = {
	{ 5, 5, true }, { 5, 6, true }, { 5, 1005, true }, { 5, 4, false },
	{ U32_MAX, 0, true }, { 0, U32_MAX, false },
};

static void merge_id_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(id_cases); i++) {
		const struct id_case *c = &id_cases[i];
		const struct shim held = shim_header(c->held, 1), s = shim_header(c->next, 2);

		KUNIT_EXPECT_EQ_MSG(test, nint_may_merge(&held.h, &s.h), c->want, "%u, %u",
				    c->held, c->next);
	}
}

/* The latest header replaces the held one, to the last byte of its tail and no further. */
static void merge_newest_test(struct kunit *test)
{
	struct { struct shim s; u8 behind; } held = { .s = shim_header(1, 7), .behind = 0xa5 };
	const struct shim s = shim_header(2, 9);

	KUNIT_EXPECT_EQ(test, nint_shim_bytes(&s.h), sizeof(s));
	nint_merge(&held.s.h, &s.h);
	KUNIT_EXPECT_EQ(test, memcmp(&held.s, &s, sizeof(s)), 0);
	KUNIT_EXPECT_EQ(test, held.behind, 0xa5);
}

/*
 * A difference in any bit of the fields that must be equal prevents merging; records, options and
 * padding may differ.
 */
static void merge_apart_test(struct kunit *test)
{
	const u32 records = offsetof(struct int_hdr, record);
	const u32 id = sizeof(struct shim) - INT_TAIL_BYTES;
	const struct shim held = shim_header(4, 1);
	struct shim s;
	u32 bit;

	for (bit = 0; bit < 8 * sizeof(s); bit++) {
		const u32 at = bit / 8;

		s = held;
		((u8 *)&s)[at] ^= 1 << bit % 8;
		/* merge_id_test() tests IDs. */
		if (at >= id && at < id + 4)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, nint_may_merge(&held.h, &s.h), at >= records && at < id,
				    "byte %u", at);
	}
}

static struct kunit_case nint_carrier_cases[] = {
	KUNIT_CASE(turn_test),
	KUNIT_CASE(near_test),
	KUNIT_CASE(segments_test),
	KUNIT_CASE(inband_test),
	KUNIT_CASE(queue_test),
	KUNIT_CASE(underway_test),
	KUNIT_CASE(times_test),
	KUNIT_CASE(slots_test),
	KUNIT_CASE(option_test),
	KUNIT_CASE(option_noise_test),
	KUNIT_CASE(whole_id_test),
	KUNIT_CASE(reply_test),
	KUNIT_CASE(due_test),
	KUNIT_CASE(law_test),
	KUNIT_CASE(t_changes_test),
	KUNIT_CASE(terms_test),
	KUNIT_CASE(starters_test),
	KUNIT_CASE(lie_test),
	KUNIT_CASE(clock_test),
	KUNIT_CASE(scale_test),
	KUNIT_CASE(rtt_test),
	KUNIT_CASE(merge_id_test),
	KUNIT_CASE(merge_newest_test),
	KUNIT_CASE(merge_apart_test),
	{}
};

static struct kunit_suite nint_carrier_suite = {
	.name = "int_carrier",
	.test_cases = nint_carrier_cases,
};

kunit_test_suite(nint_carrier_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the INT carrier");
