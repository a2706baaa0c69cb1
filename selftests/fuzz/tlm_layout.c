// SPDX-License-Identifier: GPL-2.0
/*
 * Layouts: any that ntlm_check() accepts reads within the metadata of any packet that a parser
 * accepts, and its records state nothing implausible.
 */
#include "fuzz.h"
#include "hop_ifa.c"
#include "hop_intmd.c"
#include "hop_ioam.c"
#include "int_layout.c"

#define LAYOUTS_MAX 3

static void draw_field(struct int_layout_field *f)
{
	*f = (struct int_layout_field) {
		.element = fuzz_choice(13),
		.width = fuzz_range(0, 64),
		.shift = fuzz_range(0, 40),
		.bit = fuzz_range(0, 512),
		.mul = fuzz_u32(),
		.ones_missing = fuzz_flag(),
	};
}

/* A built-in layout with some values changed. */
static void draw_layout(struct int_layout *l)
{
	u32 changes = fuzz_choice(4);

	*l = ntlm_builtin_layouts[fuzz_choice(INT_LAYOUT_BUILTINS)];
	l->flags = 0;
	if (fuzz_flag())
		l->flags |= INT_LAYOUT_F_CODE;
	if (fuzz_flag())
		l->flags |= INT_LAYOUT_F_RESIDENCE_REDUCE;
	if (fuzz_flag())
		l->flags |= INT_LAYOUT_F_EGRESS_TIME;
	l->mbit_ps = fuzz_flag() ? fuzz_u32() : 0;
	while (changes--)
		draw_field(&l->field[fuzz_choice(INT_LAYOUT_FIELDS)]);
	if (!fuzz_choice(4))
		l->node_words = fuzz_byte();
	if (!fuzz_choice(4))
		l->type = fuzz_u32();
	if (!fuzz_choice(4)) {
		l->space_mask = fuzz_u32();
		l->space = fuzz_u32();
		l->device_mask = fuzz_u32();
		l->device = fuzz_u32();
	}
}

static void check_record(const struct tlm_record *r)
{
	if (r->has & TLM_HAS(INT_LAYOUT_NS) && r->ts_period_ns)
		FUZZ_CLAIM(r->ts_ns < r->ts_period_ns);
	if (r->has & TLM_HAS(INT_LAYOUT_TX) && r->tx_period_bytes)
		FUZZ_CLAIM(r->tx_bytes < r->tx_period_bytes);
	if (r->has & TLM_HAS(INT_LAYOUT_QUEUE))
		FUZZ_CLAIM(r->queue_bytes <= TLM_QUEUE_MAX_BYTES);
	if (r->has & TLM_HAS(INT_LAYOUT_UTIL))
		FUZZ_CLAIM(r->util <= TLM_UTIL_MAX);
	if (r->has & TLM_HAS(INT_LAYOUT_RESIDENCE))
		FUZZ_CLAIM(r->residence_ns < TLM_NS_PER_S);
	FUZZ_CLAIM(!(r->has & TLM_HAS(INT_LAYOUT_SPEED)) == !r->mbit_ps &&
		   r->mbit_ps <= TLM_MBIT_MAX);
}

/* Parses the packet as a format, and finds the metadata. */
static bool parse(struct tlm_stack *s, const u8 *packet, u32 bytes)
{
	struct intmd_view md;
	struct ioam_view ioam;
	struct ifa_view ifa;

	switch (fuzz_choice(TLM_FORMATS)) {
	case TLM_IFA:
		if (hop_ifa_parse(&ifa, packet, bytes))
			return false;
		ntlm_stack_ifa(s, &ifa, packet);
		return true;
	case TLM_IOAM:
		if (hop_ioam_parse(&ioam, packet, bytes))
			return false;
		ntlm_stack_ioam(s, &ioam, packet);
		return true;
	default:
		if (hop_intmd_parse(&md, packet, bytes))
			return false;
		ntlm_stack_intmd(s, &md, packet);
		return true;
	}
}

static void fuzz_once(void)
{
	static const struct int_layout_port port[] = { { 0, 0, 100 }, { 1, 2, 10000 },
						       { 9, 1, 400000 } };
	struct int_layout layout[LAYOUTS_MAX];
	struct tlm_table t = { .layout = layout, .port = port, .schema = fuzz_flag() };
	static struct tlm_path path;
	struct tlm_stack s;
	u32 bytes, i;
	u8 *packet;

	t.ports = fuzz_choice(4);
	for (i = 0; i < LAYOUTS_MAX; i++) {
		draw_layout(&layout[t.layouts]);
		t.layouts += !ntlm_check(&layout[t.layouts]);
	}
	bytes = fuzz_range(0, 400);
	packet = fuzz_buffer(bytes);
	if (parse(&s, packet, bytes)) {
		ntlm_reduce(&path, &t, &s);
		FUZZ_CLAIM(path.records <= TLM_HOPS_MAX && path.records <= path.hops);
		FUZZ_CLAIM(path.path_id <= 0xfff);
		for (i = 0; i < path.records; i++)
			check_record(&path.record[i]);
	}
	free(packet);
}
