// SPDX-License-Identifier: GPL-2.0
/* Tests of discovery, with cases that can be checked by hand. For the kernel and the host. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* The test has a copy of the law; its exports are those of hop_core. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(name)
#include "hop_discover.c"

/*
 * Events by letter: S our SYN leaves, A our SYN-ACK leaves, s a SYN-ACK with a header arrives, y a
 * SYN with a header arrives, h another packet with a header arrives, E the connection is
 * established, I an ICMP error refuses our header, D the same for our SYN-ACK, T timeouts,
 * R a reset, L an ACK of an established connection asks, U such ACKs were not answered, G a SYN-ACK
 * that answered by an option leaves again.
 */
static const struct stage_case {
	const char *what, *events;
	enum hop_stage want;
} stage_cases[] = {
	{ "we were not there", "E", HOP_STAGE_NONE },
	{ "asked", "S", HOP_STAGE_ASKED },
	{ "asked and answered", "SsE", HOP_STAGE_SUPPORTED },
	{ "no header on the SYN-ACK", "SE", HOP_STAGE_UNSUPPORTED },
	{ "SYN lost", "SS", HOP_STAGE_LOST },
	{ "SYN lost twice", "SSS", HOP_STAGE_LOST },
	{ "SYN lost, then open", "SSE", HOP_STAGE_DOUBTFUL },
	{ "only the answer was late", "SSsE", HOP_STAGE_SUPPORTED },
	{ "protocol unreachable", "SISE", HOP_STAGE_UNSUPPORTED },
	{ "offered", "y", HOP_STAGE_OFFERED },
	{ "offered twice", "yy", HOP_STAGE_OFFERED },
	{ "offered, answered", "yAE", HOP_STAGE_SUPPORTED },
	{ "the ACK's header proves it as well", "yAh", HOP_STAGE_SUPPORTED },
	{ "our SYN-ACK lost", "yAA", HOP_STAGE_LOST },
	{ "our SYN-ACK was only late", "yAAh", HOP_STAGE_SUPPORTED },
	{ "our SYN-ACK lost, then open", "yAAE", HOP_STAGE_DOUBTFUL },
	{ "our SYN-ACK was late, and we sent first", "yAAEh", HOP_STAGE_SUPPORTED },
	{ "SYN lost, then open and asked", "SSELh", HOP_STAGE_SUPPORTED },
	{ "SYN lost, asked, not answered", "SSELU", HOP_STAGE_UNSUPPORTED },
	{ "SYN lost, then open, then refused", "SSEI", HOP_STAGE_UNSUPPORTED },
	{ "SYN lost, then open, TCP repeats data", "SSET", HOP_STAGE_DOUBTFUL },
	{ "our SYN-ACK refused", "yAD", HOP_STAGE_LOST },
	{ "our SYN-ACK refused, the next has no header", "yADA", HOP_STAGE_LOST },
	{ "our SYN-ACK refused, then open", "yADAE", HOP_STAGE_DOUBTFUL },
	{ "our SYN-ACK refused by another host than the peer", "yADAh", HOP_STAGE_SUPPORTED },
	{ "refused behind the handshake", "yAED", HOP_STAGE_SUPPORTED },
	{ "both open at once", "SyA", HOP_STAGE_ANSWERED },
	{ "both open at once, answered", "SyAsE", HOP_STAGE_SUPPORTED },
	{ "data of a connection that began without us", "h", HOP_STAGE_SUPPORTED },
	{ "the path changed", "SsET", HOP_STAGE_UNSUPPORTED },
	{ "the path changed, by ICMP", "SsEI", HOP_STAGE_UNSUPPORTED },
	{ "reset soon after the handshake", "SsER", HOP_STAGE_UNSUPPORTED },
	{ "a reset that ends no use of headers", "yAR", HOP_STAGE_ANSWERED },
	{ "a reset of a stranger", "R", HOP_STAGE_NONE },
	{ "asked by an option, not answered, asked late", "SLh", HOP_STAGE_SUPPORTED },
	{ "asked by an option, asked late, not answered", "SLU", HOP_STAGE_UNSUPPORTED },
	{ "our SYN-ACK with an option lost", "yAG", HOP_STAGE_LATE },
	{ "our SYN-ACK with an option was only late", "yAGh", HOP_STAGE_SUPPORTED },
	{ "our SYN-ACK with an option lost, then open", "yAGE", HOP_STAGE_LATE },
	{ "asked late", "L", HOP_STAGE_LATE },
	{ "asked late, the other end too", "LL", HOP_STAGE_LATE },
	{ "asked late, opened once more", "LE", HOP_STAGE_LATE },
	{ "asked late, answered", "Lh", HOP_STAGE_SUPPORTED },
	{ "asked late, not answered", "LU", HOP_STAGE_UNSUPPORTED },
	{ "asked late, refused", "LI", HOP_STAGE_UNSUPPORTED },
	{ "asked late, TCP repeats data", "LT", HOP_STAGE_LATE },
	{ "answered, then given up", "LhU", HOP_STAGE_SUPPORTED },
	{ "asked anew where headers pass", "SsEL", HOP_STAGE_SUPPORTED },
	{ "asked anew where they do not", "SEL", HOP_STAGE_UNSUPPORTED },
	{ "unsupported stays so", "SEhE", HOP_STAGE_UNSUPPORTED },
	{ "ICMP for a stranger", "I", HOP_STAGE_NONE },
	{ "a filter would miss our SYN: asked late", "FEL", HOP_STAGE_LATE },
	{ "a filter would miss our SYN-ACK", "yFE", HOP_STAGE_UNSUPPORTED },
	{ "a filter would miss data", "SsEFh", HOP_STAGE_UNSUPPORTED },
	{ "a filter would miss the answer to it", "ELF", HOP_STAGE_UNSUPPORTED },
};

static enum hop_event event_of(char letter)
{
	switch (letter) {
	case 'S': return HOP_EVENT_SYN_OUT;
	case 'A': return HOP_EVENT_SYNACK_OUT;
	case 's': return HOP_EVENT_SYNACK_IN;
	case 'y': return HOP_EVENT_SYN_IN;
	case 'h': return HOP_EVENT_HEADER_IN;
	case 'E': return HOP_EVENT_ESTABLISHED;
	case 'I': return HOP_EVENT_REFUSED;
	case 'D': return HOP_EVENT_DECLINED;
	case 'R': return HOP_EVENT_RESET;
	case 'G': return HOP_EVENT_AGAIN;
	case 'F': return HOP_EVENT_HIDDEN;
	case 'L': return HOP_EVENT_LATE;
	case 'U': return HOP_EVENT_UNANSWERED;
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

/* May a peer put headers on its data after these events? */
static const struct negotiated_case {
	const char *what, *events;
	bool want;
} negotiated_cases[] = {
	{ "we were not there", "E", false },
	{ "nobody has answered our SYN", "S", false },
	{ "a SYN with a header", "y", true },
	{ "our SYN-ACK is on its way", "yA", true },
	{ "our SYN-ACK was sent again", "yAA", true },
	{ "both ends agreed", "SsE", true },
	{ "we gave up, the peer may not know", "SsET", true },
	{ "asked late", "L", true },
};

static void negotiated_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(negotiated_cases); i++) {
		const struct negotiated_case *c = &negotiated_cases[i];
		enum hop_stage stage = HOP_STAGE_NONE;
		const char *event;

		for (event = c->events; *event; event++)
			stage = hop_next_stage(stage, event_of(*event));
		KUNIT_EXPECT_EQ_MSG(test, hop_is_negotiated(stage), c->want, "%s", c->what);
	}
}

/* May a packet loss be the reason, or is it proved that the destination accepts no headers? */
static const struct loss_case {
	const char *what, *events;
	bool want;
} loss_cases[] = {
	{ "no header on the SYN-ACK", "SE", false },
	{ "SYN lost, then open", "SSE", true },
	{ "SYN lost, then refused", "SSI", false },
	{ "our SYN-ACK lost, then open", "yAAE", true },
	{ "our SYN-ACK refused, then open", "yADAE", true },
	{ "the path changed", "SsET", false },
	{ "reset soon after the handshake", "SsER", false },
	{ "asked late, not answered", "LU", true },
	{ "asked late, refused", "LI", false },
	{ "SYN lost, asked, not answered", "SSELU", true },
};

static void loss_test(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loss_cases); i++) {
		const struct loss_case *c = &loss_cases[i];
		enum hop_stage stage = HOP_STAGE_NONE, from = stage;
		const char *event;

		for (event = c->events; *event; event++) {
			from = stage;
			stage = hop_next_stage(stage, event_of(*event));
		}
		KUNIT_EXPECT_TRUE_MSG(test, hop_is_given_up(stage), "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, hop_may_be_loss(from, event_of(event[-1])), c->want,
				    "%s", c->what);
	}
}

/* A forged SYN makes our SYN-ACK reach a host that refuses it: that host is not remembered. */
static void declined_test(struct kunit *test)
{
	enum hop_stage stage;

	for (stage = HOP_STAGE_NONE; stage <= HOP_STAGE_DOUBTFUL; stage++) {
		const enum hop_stage to = hop_next_stage(stage, HOP_EVENT_DECLINED);

		KUNIT_EXPECT_TRUE_MSG(test, to == stage || to == HOP_STAGE_LOST, "stage %u", stage);
		KUNIT_EXPECT_TRUE_MSG(test, to == stage || !hop_is_given_up(to), "stage %u", stage);
	}
}

/* A filter of this host is no fault of the peer, which is not remembered. */
static void hidden_test(struct kunit *test)
{
	enum hop_event event;

	for (event = HOP_EVENT_SYN_OUT; event <= HOP_EVENT_AGAIN; event++)
		KUNIT_EXPECT_EQ_MSG(test, hop_is_of_peer(event), event != HOP_EVENT_HIDDEN,
				    "event %u", event);
}

static void loss_wait_test(struct kunit *test)
{
	static const unsigned int want_s[] = { 15, 30, 60, 60 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want_s); i++)
		KUNIT_EXPECT_EQ(test, hop_loss_wait_s(i, 15, 60), want_s[i]);
	KUNIT_EXPECT_EQ(test, hop_loss_wait_s(255, 15, 86400), 86400);
	KUNIT_EXPECT_EQ(test, hop_loss_wait_s(0, 15, 1), 1);
}

/* A NAT entry of an unknown protocol lives for 600 s: the fifth pause is longer than that. */
static void reset_test(struct kunit *test)
{
	static const unsigned int want_s[] = { 60, 120, 240, 480, 960, 1920, 3600, 3600 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want_s); i++)
		KUNIT_EXPECT_EQ(test, hop_reset_s(i, 60), want_s[i]);
	KUNIT_EXPECT_EQ(test, hop_reset_s(255, 1), 256);
	KUNIT_EXPECT_EQ(test, hop_reset_s(0, 86400), 86400);
	KUNIT_EXPECT_EQ(test, hop_reset_s(255, 86400), 86400);
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

static void syn_wait_test(struct kunit *test)
{
	static const struct {
		u32 usual_jiffies;
		u8 shift;
		u32 want_jiffies;
	} cases[] = {
		{ 1000, 3, 125 }, { 1000, 2, 250 }, { 250, 3, 31 }, { 100, 3, 12 },
		{ 16, 3, 2 }, { 15, 3, 15 }, { 8, 2, 2 }, { 7, 3, 7 }, { 7, 2, 7 }, { 3, 2, 3 },
		{ 1, 3, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, hop_syn_wait_jiffies(cases[i].usual_jiffies,
							       cases[i].shift),
				    cases[i].want_jiffies, "case %zu", i);
}

static struct kunit_case hop_discover_cases[] = {
	KUNIT_CASE(stage_test),
	KUNIT_CASE(negotiated_test),
	KUNIT_CASE(loss_test),
	KUNIT_CASE(declined_test),
	KUNIT_CASE(hidden_test),
	KUNIT_CASE(loss_wait_test),
	KUNIT_CASE(reset_test),
	KUNIT_CASE(late_test),
	KUNIT_CASE(syn_wait_test),
	{}
};

static struct kunit_suite hop_discover_suite = {
	.name = "hop_discover",
	.test_cases = hop_discover_cases,
};

kunit_test_suite(hop_discover_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how a carrier discovers peers with support");
