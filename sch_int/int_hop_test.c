// SPDX-License-Identifier: GPL-2.0
/* Tests of a hop's entry and of the INT header; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>
#include <uapi/linux/pkt_sched_int.h>
#include "int_hop.c"

#define MBIT 125000ULL

/* Room for exactly the largest header, so that an access beyond it is detected */
#define ROOM_BYTES 132
/* Writes the complete entry of a hop that no checksum covers. */
static bool stamp(struct int_hdr *h, const struct sint_hop_params *p, const struct int_record *r)
{
	s64 change;

	return sint_hop_write(h, p, int_pack(r), &change);
}

static union {
	u32 words[ROOM_BYTES / 4];
	u8 bytes[ROOM_BYTES];
	struct int_hdr hdr;
} room;

static u64 random_state = 1;

static u32 random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

/* unit: power of two >= bytes sent in 32 ns; its time is exact in ps */
static const struct {
	u64 rate_bytes_ps;
	u32 code, unit_bytes, unit_ps;
} speed_cases[] = {
	{ 0,			0, 1, 0 },
	{ 1,			0, 1, 0 },
	{ 10 * MBIT,		1, 1, 800000 },
	{ 100 * MBIT,		2, 1, 80000 },
	{ 1000 * MBIT,		3, 4, 32000 },
	{ 2500 * MBIT,		4, 16, 51200 },
	{ 5000 * MBIT,		14, 32, 51200 },
	{ 10000 * MBIT,		5, 64, 51200 },
	{ 25000 * MBIT,		6, 128, 40960 },
	{ 40000 * MBIT,		7, 256, 51200 },
	{ 50000 * MBIT,		8, 256, 40960 },
	{ 100000 * MBIT,	9, 512, 40960 },
	{ 200000 * MBIT,	10, 1024, 40960 },
	{ 400000 * MBIT,	11, 2048, 40960 },
	{ 800000 * MBIT,	12, 4096, 40960 },
	{ 1600000 * MBIT,	13, 8192, 40960 },
	{ 10 * MBIT + 1,	0, 1, 0 },
	{ 1600000 * MBIT * 2,	0, 1, 0 },
	{ U64_MAX,		0, 1, 0 },
};

static void speed_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(speed_cases); i++) {
		const u64 rate = speed_cases[i].rate_bytes_ps;
		const u32 code = sint_hop_code(rate);

		KUNIT_EXPECT_EQ_MSG(test, code, speed_cases[i].code, "rate %llu", rate);
		KUNIT_EXPECT_EQ_MSG(test, 1U << int_speeds[code].unit_shift,
				    speed_cases[i].unit_bytes, "rate %llu", rate);
		KUNIT_EXPECT_EQ_MSG(test, int_speeds[code].unit_ps, speed_cases[i].unit_ps,
				    "rate %llu", rate);
	}
}

/* 2^32: a multiple of the period of all fields that wrap */
#define TURNS 4294967296ULL

static const struct {
	u64 rate_bytes_ps;
	struct sint_hop_moment moment;
	u32 ts_ns, tx_units, qlen_units;
} record_cases[] = {
	{ 10 * MBIT,	{ 0, 0, 0 },			0, 0, 0 },
	/* unit 1: values are unchanged */
	{ 10 * MBIT,	{ 5, 1000, 65534 },		5, 1000, 65534 },
	{ 100 * MBIT,	{ 5, 1000, 65535 },		5, 1000, 65535 },
	{ 100 * MBIT,	{ 5, 1000, 65536 },		5, 1000, 65535 },
	{ 10 * MBIT,	{ 5, 1000, U64_MAX },		5, 1000, 65535 },
	/* the clock wraps at 2^24, txBytes at 2^20 units */
	{ 10 * MBIT,	{ 16777215, 1048575, 0 },	16777215, 1048575, 0 },
	{ 10 * MBIT,	{ 16777216, 1048576, 0 },	0, 0, 0 },
	{ 10 * MBIT,	{ 3 * TURNS + 7, TURNS + 9, 0 }, 7, 9, 0 },
	/* unit 4: 1514 = 378 * 4 + 2; rounded down */
	{ 1000 * MBIT,	{ 1, 1514, 1514 },		1, 378, 378 },
	{ 1000 * MBIT,	{ 1, 3, 3 },			1, 0, 0 },
	{ 1000 * MBIT,	{ 1, 4194303, 262143 },		1, 1048575, 65535 },
	{ 1000 * MBIT,	{ 1, 4194304, 262144 },		1, 0, 65535 },
	/* unit 64: 1538 = 24 * 64 + 2; wraps at 2^26 bytes */
	{ 10000 * MBIT,	{ 1, 1538, 3076 },		1, 24, 48 },
	{ 10000 * MBIT,	{ 1, 67108864 + 1538, 0 },	1, 24, 0 },
	/* unit 512: wraps at 2^29 bytes; 33554431 bytes are 65535 units */
	{ 100000 * MBIT, { 1, 536870912 + 512, 33554431 }, 1, 1, 65535 },
	{ 400000 * MBIT, { 1, 4096, 6144 },		1, 2, 3 },
	{ 1600000 * MBIT, { 1, 16384, 24576 },		1, 2, 3 },
	{ 1600000 * MBIT, { U64_MAX, U64_MAX, U64_MAX }, 16777215, 1048575, 65535 },
	/* unknown speed: unit is bytes */
	{ 7 * MBIT,	{ 1, 1514, 1514 },		1, 1514, 1514 },
};

static void record_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(record_cases); i++) {
		const struct sint_hop_params p = {
			.code = sint_hop_code(record_cases[i].rate_bytes_ps),
		};
		const struct int_record r = sint_hop_record(&p, &record_cases[i].moment);
		struct int_record same;

		KUNIT_EXPECT_EQ_MSG(test, r.speed, p.code, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, r.ts_ns, record_cases[i].ts_ns, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, r.tx_units, record_cases[i].tx_units, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, r.qlen_units, record_cases[i].qlen_units, "case %d", i);
		same = int_unpack(int_pack(&r));
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&same, &r, sizeof(r)), 0, "case %d", i);
	}
}

/* A rate without a code, the speed that its records report, and bytes in the measure of each */
static const struct {
	u64 rate_bytes_ps, speed_bytes_ps, bytes, want_bytes;
} scale_cases[] = {
	{ 7000 * MBIT,		10000 * MBIT,	7000,		10000 },
	{ 7000 * MBIT,		10000 * MBIT,	7ULL << 50,	10ULL << 50 },
	{ 14000 * MBIT,		10000 * MBIT,	14000,		10000 },
	{ 50 * MBIT,		10 * MBIT,	5000,		1000 },
	{ 1250,			10 * MBIT,	3,		3000 },
	{ 1250,			1600000 * MBIT,	1,		160000000 },
	{ 1600000 * MBIT,	10 * MBIT,	1600000000,	10000 },
};

static void scale_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(scale_cases); i++) {
		const u32 code = sint_hop_code(scale_cases[i].speed_bytes_ps);
		const u64 got = sint_hop_scaled(scale_cases[i].bytes,
			sint_hop_scale_q32(code, scale_cases[i].rate_bytes_ps));

		/* The ratio is rounded down to 2^-32, so 2^32 bytes are one byte short. */
		KUNIT_EXPECT_LE_MSG(test, got, scale_cases[i].want_bytes, "case %d", i);
		KUNIT_EXPECT_GE_MSG(test, got, scale_cases[i].want_bytes -
				    (scale_cases[i].bytes >> 32) - 1, "case %d", i);
	}
}

/* A port of 7 Gbit/s that reports 10 Gbit/s: 8 ms at its rate are 8 ms at the other, to a unit. */
static void scaled_record_test(struct kunit *test)
{
	const struct sint_hop_params p = { .code = sint_hop_code(10000 * MBIT) };
	const u64 scale_q32 = sint_hop_scale_q32(p.code, 7000 * MBIT);
	u64 sent_bytes = 1ULL << 60;
	struct sint_hop_moment m = {
		.tx_bytes = sint_hop_scaled(sent_bytes, scale_q32),
		.queue_bytes = sint_hop_scaled(875, scale_q32),
	};
	const struct int_record first = sint_hop_record(&p, &m);
	struct int_record last;
	u32 units;

	KUNIT_EXPECT_EQ(test, first.qlen_units, 1250 / 64);
	sent_bytes += 7000000;
	m.tx_bytes = sint_hop_scaled(sent_bytes, scale_q32);
	last = sint_hop_record(&p, &m);
	units = (last.tx_units - first.tx_units) & INT_TX_MASK;
	KUNIT_EXPECT_GE(test, units, 10000000 / 64 - 1);
	KUNIT_EXPECT_LE(test, units, 10000000 / 64 + 1);
}

/* A record as in figure 4 of the draft, bit by bit */
static void wire_test(struct kunit *test)
{
	const struct int_record r = {
		.speed = 9, .ts_ns = 0xabcdef, .tx_units = 0x12345, .qlen_units = 0x6789,
	};
	static const u8 want[] = { 0x9a, 0xbc, 0xde, 0xf1, 0x23, 0x45, 0x67, 0x89 };
	const __be64 packed = int_pack(&r);
	static const u8 header[] = {
		6, 7, 2, 0xa5, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0x20, 0, 0, 0,
	};

	KUNIT_EXPECT_EQ(test, memcmp(&packed, want, sizeof(want)), 0);
	memset(&room, 0xff, sizeof(room));
	int_write(&room.hdr, 6, INT_TYPE_DATA, 0xa5, 2);
	KUNIT_EXPECT_EQ(test, memcmp(&room, header, sizeof(header)), 0);
	KUNIT_EXPECT_EQ(test, room.bytes[sizeof(header)], 0xff);
}

/* Values that can be checked by hand: bytes/ns * ns; the former is rounded down to 2^-40. */
static const struct {
	u64 rate_bytes_ps, waited_ns, want_bytes, off_bytes;
} waited_cases[] = {
	{ 1000 * MBIT,		0,		0, 0 },
	{ 1000 * MBIT,		8,		1, 0 },
	{ 1000 * MBIT,		12304,		1538, 0 },
	{ 10 * MBIT,		1000000,	1250, 1 },
	{ 10000 * MBIT,		1230,		1537, 0 },	/* 1537.5 */
	{ 100000 * MBIT,	123,		1537, 0 },	/* 1537.5 */
	{ 1600000 * MBIT,	1000,		200000, 0 },
	/* 10 kbit/s: one byte in 800 us */
	{ 1250,			800000,		1, 1 },
	{ 1250,			8000000000ULL,	10000, 1 },
	/* 18 minutes and more: 2^40 ns */
	{ 1600000 * MBIT,	1ULL << 40,	219902325555000ULL, 0 },
	{ 1600000 * MBIT,	U64_MAX,	219902325555000ULL, 0 },
};

static void waited_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(waited_cases); i++) {
		const struct sint_hop_params p = {
			.pace_q40 = sint_hop_pace_q40(waited_cases[i].rate_bytes_ps),
		};
		const u64 bytes = sint_hop_waited_bytes(&p, waited_cases[i].waited_ns);

		KUNIT_EXPECT_LE_MSG(test, bytes, waited_cases[i].want_bytes, "case %d", i);
		KUNIT_EXPECT_GE_MSG(test, bytes + waited_cases[i].off_bytes,
				    waited_cases[i].want_bytes, "case %d", i);
	}
}

/* A path of five hops with slots for three */
static const struct {
	u32 code, qlen_units, switch_id, port_id;
	u32 path_id, port_after;
	bool written;
} path_cases[] = {
	{ 2, 1, 0x0ff, 7, 0x0ff, 7, true },		/* 80 ns */
	{ 3, 2, 0xff0, 8, 0xf0f, 7, true },		/* 64 ns: not longer */
	{ 9, 2, 0xf0f, 9, 0x000, 9, true },		/* 81.92 ns */
	{ 13, 60000, 0x123, 10, 0x123, 9, false },	/* no slot: no port ID is written */
	{ 13, 60000, 0x123, 11, 0x000, 9, false },
};

static void path_test(struct kunit *test)
{
	u32 i;

	memset(&room, 0, sizeof(room));
	int_write(&room.hdr, 6, INT_TYPE_PROBE, 0, 3);
	room.hdr.path |= cpu_to_be32(0xbeef);
	*int_options(&room.hdr) |= cpu_to_be32(0xabc);
	for (i = 0; i < ARRAY_SIZE(path_cases); i++) {
		const struct sint_hop_params p = {
			.switch_id = path_cases[i].switch_id, .port_id = path_cases[i].port_id,
		};
		const struct int_record r = {
			.speed = path_cases[i].code, .ts_ns = i + 1, .tx_units = i + 2,
			.qlen_units = path_cases[i].qlen_units,
		};

		KUNIT_EXPECT_EQ_MSG(test, stamp(&room.hdr, &p, &r),
				    path_cases[i].written, "hop %u", i);
		KUNIT_EXPECT_EQ_MSG(test, int_hops(&room.hdr), i + 1, "hop %u", i);
		KUNIT_EXPECT_EQ_MSG(test, int_records(&room.hdr), min(i + 1, 3U), "hop %u", i);
		KUNIT_EXPECT_EQ_MSG(test, int_path_id(&room.hdr), path_cases[i].path_id,
				    "hop %u", i);
		KUNIT_EXPECT_EQ_MSG(test, int_port_id(&room.hdr), path_cases[i].port_after,
				    "hop %u", i);
		KUNIT_EXPECT_EQ_MSG(test, int_check(&room.hdr, int_hdr_bytes(3)), INT_OK,
				    "hop %u", i);
		if (i < 3)
			KUNIT_EXPECT_EQ_MSG(test, room.hdr.record[i], int_pack(&r), "hop %u", i);
	}
	KUNIT_EXPECT_EQ(test, be32_to_cpu(room.hdr.path) & 0xffff, 0xbeefU);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(*int_options(&room.hdr)), 0x30009abcU);
	for (i = int_hdr_bytes(3); i < ROOM_BYTES; i++)
		KUNIT_EXPECT_EQ(test, room.bytes[i], 0);
}

/* nHop saturates at 15, with 15 slots and with none. */
static void saturation_test(struct kunit *test)
{
	const struct sint_hop_params p = { .switch_id = 1, .port_id = 65535 };
	const struct int_record r = { .speed = 1, .qlen_units = 65535 };
	u32 slots, i, written;

	for (slots = 0; slots <= INT_SLOTS_MAX; slots += INT_SLOTS_MAX) {
		int_write(&room.hdr, 6, INT_TYPE_DATA, 0, slots);
		for (i = 0, written = 0; i < 40; i++)
			written += stamp(&room.hdr, &p, &r);
		KUNIT_EXPECT_EQ(test, written, slots);
		KUNIT_EXPECT_EQ(test, int_hops(&room.hdr), 15U);
		KUNIT_EXPECT_EQ(test, int_path_id(&room.hdr), 0U);
		KUNIT_EXPECT_EQ(test, int_slots(&room.hdr), slots);
		KUNIT_EXPECT_EQ(test, int_port_id(&room.hdr), slots ? 65535U : 0U);
	}
}

/* A header of two slots with one byte changed */
static const struct {
	unsigned int room_bytes, at, value;
	enum int_fault want;
} check_cases[] = {
	{ 28, 0, 6,	INT_OK },
	{ 132, 0, 6,	INT_OK },
	{ 27, 0, 6,	INT_BAD_TRUNCATED },
	{ 12, 0, 6,	INT_BAD_TRUNCATED },
	{ 11, 0, 6,	INT_BAD_TRUNCATED },
	{ 0, 0, 6,	INT_BAD_TRUNCATED },
	{ 132, 1, 0,	INT_BAD_LENGTH },
	{ 132, 1, 2,	INT_BAD_LENGTH },
	{ 132, 1, 6,	INT_BAD_LENGTH },
	{ 132, 1, 8,	INT_BAD_LENGTH },
	{ 132, 1, 34,	INT_BAD_LENGTH },
	{ 132, 1, 35,	INT_BAD_LENGTH },
	{ 132, 1, 255,	INT_BAD_LENGTH },
	{ 132, 1, 5,	INT_BAD_SLOTS },	/* the last word is then part of a record */
	{ 132, 1, 9,	INT_BAD_SLOTS },
	{ 132, 1, 3,	INT_OK },		/* and 0: the header has no slots */
	{ 28, 1, 9,	INT_BAD_TRUNCATED },
	{ 132, 2, 0,	INT_BAD_TYPE },
	{ 132, 2, 5,	INT_BAD_TYPE },
	{ 132, 2, 255,	INT_BAD_TYPE },
	{ 132, 2, 1,	INT_BAD_TYPE },
	{ 132, 2, 2,	INT_OK },
	{ 132, 2, 4,	INT_OK },
	{ 132, 24, 0x10, INT_BAD_SLOTS },
	{ 132, 24, 0x30, INT_BAD_SLOTS },
	{ 132, 5, 1,	INT_BAD_HOPS },
	{ 132, 4, 0x0f,	INT_BAD_HOPS },
	{ 132, 4, 0x1f,	INT_OK },
	{ 132, 3, 255,	INT_OK },
	{ 132, 7, 255,	INT_OK },
};

static void check_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(check_cases); i++) {
		memset(&room, 0, sizeof(room));
		int_write(&room.hdr, 6, INT_TYPE_DATA, 0, 2);
		room.bytes[check_cases[i].at] = check_cases[i].value;
		KUNIT_EXPECT_EQ_MSG(test, int_check(&room.hdr, check_cases[i].room_bytes),
				    check_cases[i].want, "case %d", i);
	}
	KUNIT_EXPECT_EQ(test, int_check(NULL, 132), INT_BAD_TRUNCATED);
}

/* A header at the end of the room: random bytes, or a valid header with some bytes changed */
static struct int_hdr *random_header(unsigned int *bytes)
{
	const unsigned int slots = random_u32() % (INT_SLOTS_MAX + 1);
	unsigned int changes = random_u32() % 4;
	struct int_hdr *h;
	u32 i;

	*bytes = int_hdr_bytes(slots);
	for (i = 0; i < ROOM_BYTES / 4; i++)
		room.words[i] = random_u32();
	h = (struct int_hdr *)(room.bytes + ROOM_BYTES - *bytes);
	if (changes == 3)
		return h;
	int_write(h, random_u32(), 1 + random_u32() % 4, random_u32(), slots);
	while (changes--)
		((u8 *)h)[random_u32() % *bytes] = random_u32();
	return h;
}

/* For any input, nothing beyond the packet is read, and only the entry is written. */
static void fuzz_test(struct kunit *test)
{
	static u8 before[ROOM_BYTES];
	u32 seen[INT_FAULTS] = {};
	int i, n;

	for (n = 0; n < 1000000; n++) {
		struct sint_hop_params p = { .switch_id = random_u32() & 0xfff,
					    .port_id = random_u32() & 0xffff };
		struct int_record r = { .speed = random_u32() & 15, .ts_ns = random_u32(),
					.tx_units = random_u32(), .qlen_units = random_u32() };
		unsigned int bytes, hops, changed = 0;
		struct int_hdr *h = random_header(&bytes);
		/* Some packets end earlier. */
		unsigned int room_bytes = random_u32() & 3 ? bytes : random_u32() % (bytes + 1);
		enum int_fault fault = int_check(h, room_bytes);

		seen[fault]++;
		if (fault)
			continue;
		KUNIT_ASSERT_LE(test, h->words * 4U, room_bytes);
		memcpy(before, room.bytes, ROOM_BYTES);
		hops = int_hops(h);
		stamp(h, &p, &r);
		KUNIT_ASSERT_EQ(test, int_hops(h), min(hops + 1, 15U));
		for (i = 0; i < ROOM_BYTES; i++)
			changed += room.bytes[i] != before[i];
		KUNIT_ASSERT_LE(test, changed, 2 + 8 + 3);
		KUNIT_ASSERT_EQ(test, int_check(h, room_bytes), INT_OK);
	}
	for (i = 0; i < INT_FAULTS; i++)
		KUNIT_EXPECT_GT_MSG(test, seen[i], 1000U, "fault %d", i);
}

/* A class with half of 10 Gbit/s: what the others send in 200 us, in which the port sends 250 kB */
static const struct {
	u64 others_bytes, want_bytes;
} class_cases[] = {
	{ 0,		1000 },
	{ 50000,	1250 },
	{ 100000,	1666 },
	/* The class is guaranteed 5.15625 Gbit/s, 1/32 more than half: 1000 bytes are 1939.4. */
	{ 121094,	1939 },
	{ 125000,	1939 },
	{ 250000,	1939 },
	{ 300000,	1939 },
	{ U64_MAX / 2,	1939 },
};

static void class_test(struct kunit *test)
{
	const struct sint_hop_params p = {
		.pace_q40 = sint_hop_pace_q40(10000 * MBIT),
		.least_q40 = sint_class_least_q40(5000 * MBIT),
	};
	const u64 begin_ns = 5000000000ULL, next_ns = begin_ns + 200000;
	int i;

	for (i = 0; i < ARRAY_SIZE(class_cases); i++) {
		const u64 others = class_cases[i].others_bytes, want = class_cases[i].want_bytes;
		struct sint_class c = {};

		KUNIT_EXPECT_EQ_MSG(test, sint_class_count(&c, &p, begin_ns, 0, 7), 0,
				    "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, sint_class_count(&c, &p, next_ns, 1000, 7 + others), want,
				    "case %d", i);
		/* The next measurement is not complete. */
		KUNIT_EXPECT_EQ_MSG(test, sint_class_count(&c, &p, next_ns + 1000, 2000, 7),
				    2 * want, "case %d", i);
		/* Nobody knows when in two seconds the others have sent. */
		KUNIT_EXPECT_EQ_MSG(test, sint_class_count(&c, &p, next_ns + 2 * begin_ns, 3000, 7),
				    2 * want + 1939, "case %d", i);
	}
}

static struct kunit_case sint_hop_cases[] = {
	KUNIT_CASE(speed_test),
	KUNIT_CASE(record_test),
	KUNIT_CASE(scale_test),
	KUNIT_CASE(scaled_record_test),
	KUNIT_CASE(wire_test),
	KUNIT_CASE(waited_test),
	KUNIT_CASE(class_test),
	KUNIT_CASE(path_test),
	KUNIT_CASE(saturation_test),
	KUNIT_CASE(check_test),
	KUNIT_CASE(fuzz_test),
	{}
};

static struct kunit_suite sint_hop_suite = {
	.name = "int_hop",
	.test_cases = sint_hop_cases,
};

kunit_test_suite(sint_hop_suite);

MODULE_DESCRIPTION("KUnit tests of the INT header and of the records that a hop writes");
MODULE_LICENSE("GPL");
