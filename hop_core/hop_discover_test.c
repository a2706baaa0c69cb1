// SPDX-License-Identifier: GPL-2.0
/* Tests of the negotiation, with cases that can be checked by hand. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of the law; its exports are those of hop_core. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_discover.c"

/*
 * Events by letter: S our SYN or ACK asks, y a SYN asks, A our SYN-ACK answers, G it leaves again
 * without, E the connection is established, h the peer answers, asks by an ACK, or sends a packet
 * of its carrier, U our ACKs were not answered, I an ICMP error refuses our header, T timeouts or
 * no header passes, F a filter would miss our header.
 */
static const struct stage_case {
	const char *what, *events;
	enum hop_stage want;
} stage_cases[] = {
	{ "we were not there", "E", HOP_STAGE_NONE },
	{ "asked", "S", HOP_STAGE_ASKED },
	{ "asked and answered", "ShE", HOP_STAGE_SUPPORTED },
	{ "no answer by the SYN-ACK: ACKs ask", "SES", HOP_STAGE_ASKED },
	{ "asked by ACKs, answered", "SESh", HOP_STAGE_SUPPORTED },
	{ "asked by ACKs, not answered", "SESU", HOP_STAGE_UNSUPPORTED },
	{ "answered, and then given up", "ShU", HOP_STAGE_SUPPORTED },
	{ "offered", "y", HOP_STAGE_OFFERED },
	{ "offered twice", "yy", HOP_STAGE_OFFERED },
	{ "not answered, as with a helper of conntrack", "yE", HOP_STAGE_NONE },
	{ "offered, answered", "yAE", HOP_STAGE_SUPPORTED },
	{ "the ACK that ends the handshake proves it as well", "yAh", HOP_STAGE_SUPPORTED },
	{ "our SYN-ACK lost", "yAG", HOP_STAGE_NONE },
	{ "our SYN-ACK lost twice", "yAGGE", HOP_STAGE_NONE },
	{ "our SYN-ACK lost, the peer asks by an ACK", "yAGEh", HOP_STAGE_SUPPORTED },
	{ "our SYN-ACK lost, we ask by an ACK", "yAGES", HOP_STAGE_ASKED },
	{ "both open at once", "SyA", HOP_STAGE_ANSWERED },
	{ "both open at once, answered", "SyAhE", HOP_STAGE_SUPPORTED },
	{ "the peer asks by an ACK", "h", HOP_STAGE_SUPPORTED },
	{ "both ask by ACKs", "Sh", HOP_STAGE_SUPPORTED },
	{ "asked anew where the carrier is in use", "ShES", HOP_STAGE_SUPPORTED },
	{ "asked anew where it is not", "SESUS", HOP_STAGE_UNSUPPORTED },
	{ "unsupported stays so", "SESUhE", HOP_STAGE_UNSUPPORTED },
	{ "the path changed", "ShET", HOP_STAGE_UNSUPPORTED },
	{ "TCP repeats data while we ask", "SET", HOP_STAGE_ASKED },
	{ "the path changed, by ICMP", "ShEI", HOP_STAGE_UNSUPPORTED },
	{ "ICMP for a stranger", "I", HOP_STAGE_NONE },
	{ "a filter would miss our header", "ShEF", HOP_STAGE_UNSUPPORTED },
	{ "a filter would miss a header, nobody has asked", "F", HOP_STAGE_NONE },
};

static enum hop_event event_of(char letter)
{
	switch (letter) {
	case 'S': return HOP_EVENT_ASK;
	case 'y': return HOP_EVENT_OFFER;
	case 'A': return HOP_EVENT_ANSWER;
	case 'G': return HOP_EVENT_AGAIN;
	case 'E': return HOP_EVENT_ESTABLISHED;
	case 'h': return HOP_EVENT_RECEIVED;
	case 'U': return HOP_EVENT_UNANSWERED;
	case 'I': return HOP_EVENT_REFUSED;
	case 'F': return HOP_EVENT_HIDDEN;
	default: return HOP_EVENT_TIMEOUTS;
	}
}

static void stage_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stage_cases); i++) {
		const struct stage_case *c = &stage_cases[i];
		enum hop_stage stage = HOP_STAGE_NONE;
		const char *event;

		for (event = c->events; *event; event++)
			stage = hop_next_stage(stage, event_of(*event));
		KUNIT_EXPECT_EQ_MSG(test, stage, c->want, "%s", c->what);
	}
}

/* The next question leaves when data that was sent after the last one is acknowledged. */
static void late_test(struct kunit *test)
{
	static const struct {
		u32 una, nxt;
		enum hop_late_turn want;
	} steps[] = {
		{ 0xfffffff0, 0xfffffff0, HOP_LATE_ASK },
		{ 0xfffffff0, 0x00000400, HOP_LATE_WAIT },
		{ 0x00000010, 0x00000800, HOP_LATE_ASK },
		{ 0x00000400, 0x00000800, HOP_LATE_WAIT },
		{ 0x00000800, 0x00001000, HOP_LATE_WAIT },
		{ 0x00000801, 0x00001000, HOP_LATE_ASK },
		{ 0x00001000, 0x00001800, HOP_LATE_WAIT },
		{ 0x00001400, 0x00001800, HOP_LATE_GIVE_UP },
	};
	struct hop_late late = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		KUNIT_EXPECT_EQ_MSG(test, hop_late_turn(&late, steps[i].una, steps[i].nxt),
				    steps[i].want, "step %zu", i);
}

static struct kunit_case hop_discover_cases[] = {
	KUNIT_CASE(stage_test),
	KUNIT_CASE(late_test),
	{}
};

static struct kunit_suite hop_discover_suite = {
	.name = "hop_discover",
	.test_cases = hop_discover_cases,
};

kunit_test_suite(hop_discover_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how carriers negotiate");
