// SPDX-License-Identifier: GPL-2.0
/* Tests of a port that sends less than its rate, hop_drain.h; run in the kernel and on the host */
#include <kunit/test.h>
#include <linux/module.h>

/* The test has a copy of the law; its exports are those of hop_core. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_drain.c"

#define MS 1000000ULL
#define RATE_BYTES_PS 1000000ULL

/**
 * struct port - a port that is measured
 * @drain: its measured rate
 * @run: the measurement
 * @sent: its counts
 */
struct port {
	struct hop_drain drain;
	struct hop_drain_run run;
	struct hop_drain_sent sent;
};

/* 10 ms pass in which 100 packets arrive or leave. */
static void pass(struct port *port, u64 bytes, bool waits)
{
	port->sent.bytes += bytes;
	port->sent.moves += 100;
	port->sent.now_ns += 10 * MS;
	port->sent.waits = waits;
}

/* A control interval of XCP. */
static bool interval(struct port *port, u64 bytes, bool waits)
{
	pass(port, bytes, waits);
	return hop_drain_close(&port->drain, &port->run, RATE_BYTES_PS, &port->sent);
}

/* A span of CSIG. @once: a packet waits in the middle; @all: packets wait all the time. */
static bool span(struct port *port, u64 bytes, bool once, bool all)
{
	hop_drain_depart(&port->run, once || all);
	hop_drain_depart(&port->run, all);
	pass(port, bytes, all);
	return hop_drain_look(&port->drain, &port->run, RATE_BYTES_PS, &port->sent);
}

static u64 capacity(const struct port *port)
{
	return hop_drain_capacity_bytes_ps(&port->drain, RATE_BYTES_PS);
}

static void slow_test(struct kunit *test)
{
	struct port port = {};

	KUNIT_EXPECT_FALSE(test, interval(&port, 2000, false));
	KUNIT_EXPECT_FALSE_MSG(test, interval(&port, 2000, true), "may have begun empty");
	KUNIT_EXPECT_EQ(test, capacity(&port), RATE_BYTES_PS);
	KUNIT_EXPECT_TRUE(test, interval(&port, 2000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 200000ULL, "2000 bytes in 10 ms");
	KUNIT_EXPECT_TRUE(test, interval(&port, 1000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 100000ULL, "less still");
	KUNIT_EXPECT_FALSE(test, interval(&port, 4000, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 400000ULL, "and more");
	interval(&port, 9000, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "as good as the rate");
	KUNIT_EXPECT_EQ(test, port.drain.rate_bytes_ps, 0ULL);
}

static void grow_test(struct kunit *test)
{
	struct port port = {};
	int n;

	interval(&port, 1600, true);
	interval(&port, 1600, true);
	KUNIT_EXPECT_EQ(test, capacity(&port), 160000ULL);
	interval(&port, 1600, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 165000ULL, "a 32nd more");
	interval(&port, 1650, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 170156ULL, "it may have begun empty: again");
	interval(&port, 1700, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 170000ULL, "not while packets wait: measured");
	for (n = 0; n < 16; n++)
		interval(&port, 1000, false);
	KUNIT_EXPECT_LT(test, capacity(&port), 280000ULL);
	for (n = 0; n < 6; n++)
		interval(&port, 1000, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "then soon all of it");
}

static void unsupported_test(struct kunit *test)
{
	struct port port = {};

	interval(&port, 1000, true);
	KUNIT_EXPECT_FALSE_MSG(test, interval(&port, 0, true), "a device that was stopped");
	KUNIT_EXPECT_EQ(test, capacity(&port), RATE_BYTES_PS);
	port.sent.moves -= 100;
	interval(&port, 0, true);
	interval(&port, 9000, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "nor when it goes on");
	hop_drain_stop(&port.run);
	KUNIT_EXPECT_FALSE_MSG(test, interval(&port, 1000, true), "starts anew");
	port.sent.moves -= 90;
	KUNIT_EXPECT_FALSE_MSG(test, interval(&port, 1000, true), "too few packets");
	KUNIT_EXPECT_TRUE_MSG(test, interval(&port, 1000, true), "two intervals' are enough");
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 100000ULL, "2000 bytes in 20 ms");
	interval(&port, 1, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), HOP_DRAIN_RATE_MIN_BYTES_PS, "the least rate");
	port.sent.bytes += U64_MAX / 2;
	interval(&port, 0, true);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "no overflow");
}

/* CSIG's rule: 100000 bytes/s are 1000 bytes in a span. */
static void span_test(struct kunit *test)
{
	struct port port = {};

	KUNIT_EXPECT_FALSE(test, span(&port, 1000, true, true));
	KUNIT_EXPECT_TRUE(test, span(&port, 1000, true, true));
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 100000ULL, "measured");
	span(&port, 1000, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 100000ULL, "kept: packets wait now and then");
	span(&port, 1060, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 100000ULL, "less than 1/16 more");
	span(&port, 1200, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 150000ULL, "1/4 more than 120000");
	span(&port, 9000, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 300000ULL, "at most twice as much");
	span(&port, 1000, false, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 309375ULL, "no packet waited: 1/32 more");
	span(&port, 7500, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 618750ULL, "twice as much again");
	span(&port, 9000, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "at most the rate");
	span(&port, 1000, true, true);
	KUNIT_EXPECT_TRUE_MSG(test, span(&port, 1000, true, true), "measured again");
}

/* 100 ms with 250 bytes are 2500 bytes/s, a quarter of the measured rate. */
static void rest_test(struct kunit *test)
{
	struct port port = { .drain.rate_bytes_ps = 10000 };

	port.sent.moves = -90;
	span(&port, 0, false, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 10000ULL, "too few packets for a span");
	port.sent.moves -= 100;
	port.sent.now_ns = HOP_DRAIN_KEPT_NS - 10 * MS;
	span(&port, 250, false, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 10000ULL, "a slow port in use");
	port.sent.moves -= 100;
	port.sent.now_ns -= 10 * MS - 1;
	span(&port, 0, false, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "an old measurement");
	port.drain.rate_bytes_ps = 10000;
	port.sent.now_ns += HOP_DRAIN_KEPT_NS;
	span(&port, 250, true, false);
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), RATE_BYTES_PS, "however many packets");
}

/* Two queues of a port: packets wait in one, and the other has nothing that could wait. */
static void queues_test(struct kunit *test)
{
	struct hop_drain_run other = {};
	struct port port = {};
	int n;

	for (n = 0; n < 20; n++) {
		span(&port, 1000, true, true);
		hop_drain_depart(&other, false);
		port.sent.waits = false;
		hop_drain_look(&port.drain, &other, RATE_BYTES_PS, &port.sent);
	}
	KUNIT_EXPECT_EQ(test, capacity(&port), 100000ULL);
	for (n = 0; n < 2; n++) {
		pass(&port, 1000, false);
		hop_drain_look(&port.drain, &other, RATE_BYTES_PS, &port.sent);
		hop_drain_look(&port.drain, &port.run, RATE_BYTES_PS, &port.sent);
	}
	KUNIT_EXPECT_EQ_MSG(test, capacity(&port), 106347ULL, "once per span, not once per queue");
}

static struct kunit_case hop_drain_cases[] = {
	KUNIT_CASE(slow_test),
	KUNIT_CASE(grow_test),
	KUNIT_CASE(unsupported_test),
	KUNIT_CASE(span_test),
	KUNIT_CASE(rest_test),
	KUNIT_CASE(queues_test),
	{}
};

static struct kunit_suite hop_drain_suite = {
	.name = "hop_drain",
	.test_cases = hop_drain_cases,
};

kunit_test_suite(hop_drain_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the measured rate of a port");
