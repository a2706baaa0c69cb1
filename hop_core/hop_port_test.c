// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a port's byte count while qdiscs join and leave the port. Runs in the kernel and on the
 * host.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include "hop_port_sum.h"

#define QDISCS 8

static u64 random_state = 1;

static u32 random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

/* A port, and the bytes that each qdisc has sent since it exists. */
struct port {
	u64 base_bytes;
	u64 sent_bytes[QDISCS];
	bool is_there[QDISCS];
	u32 number;
};

static u64 total(const struct port *p)
{
	u64 bytes = p->base_bytes;
	u32 i;

	for (i = 0; i < QDISCS; i++)
		bytes += p->is_there[i] ? p->sent_bytes[i] : 0;
	return bytes;
}

static void come_or_go(struct port *p, u32 i)
{
	if (p->is_there[i])
		p->base_bytes = hop_port_sum_leave(p->base_bytes, p->sent_bytes[i]);
	else
		p->base_bytes = hop_port_sum_join(p->base_bytes, p->sent_bytes[i], !p->number);
	p->number += p->is_there[i] ? -1 : 1;
	p->is_there[i] = !p->is_there[i];
}

/* A first qdisc's count is the total; a second qdisc does not change the total when it joins. */
static void table_test(struct kunit *test)
{
	struct port p = { .sent_bytes = { 1000, 500 } };

	come_or_go(&p, 0);
	KUNIT_EXPECT_EQ(test, total(&p), 1000);
	come_or_go(&p, 1);
	KUNIT_EXPECT_EQ(test, total(&p), 1000);
	p.sent_bytes[0] += 7;
	p.sent_bytes[1] += 30;
	KUNIT_EXPECT_EQ(test, total(&p), 1037);
	come_or_go(&p, 0);
	KUNIT_EXPECT_EQ(test, total(&p), 1037);
	p.sent_bytes[1] += 3;
	KUNIT_EXPECT_EQ(test, total(&p), 1040);
}

/* While the port has a qdisc, the total grows by the bytes that present qdiscs send, only. */
static void random_test(struct kunit *test)
{
	struct port p = { .sent_bytes = { U64_MAX - 1000, 5 } };
	u64 want_bytes;
	u32 n, i;

	come_or_go(&p, 0);
	want_bytes = total(&p);
	for (n = 0; n < 100000; n++) {
		i = random_u32() % QDISCS;
		if (random_u32() % 4) {
			p.sent_bytes[i] += 1500;
			want_bytes += p.is_there[i] ? 1500 : 0;
		} else if (p.number > 1 || !p.is_there[i]) {
			come_or_go(&p, i);
		}
		if (total(&p) != want_bytes)
			break;
	}
	KUNIT_EXPECT_EQ(test, n, 100000);
}

static struct kunit_case hop_port_cases[] = {
	KUNIT_CASE(table_test),
	KUNIT_CASE(random_test),
	{}
};

static struct kunit_suite hop_port_suite = {
	.name = "hop_port",
	.test_cases = hop_port_cases,
};

kunit_test_suite(hop_port_suite);

MODULE_DESCRIPTION("KUnit tests of a port's byte count that several qdiscs share");
MODULE_LICENSE("GPL");
