// SPDX-License-Identifier: GPL-2.0
/*
 * Scales and layouts of CSIG's signals in netlink: what tc cannot send, but another program can,
 * is refused with a message; what is accepted encodes every value and composes locators that fit.
 */
#include "fuzz.h"
#include "../../hop_core/hop_nla.c"
#include "../../sch_csig/csig_layout.c"
#include "../../sch_csig/csig_signal.c"

static struct nlattr *new_attr(u16 type, const void *data, u16 bytes)
{
	/* The size is exact, so that ASan detects a read beyond its end. */
	struct nlattr *attr = malloc(sizeof(*attr) + bytes);

	*attr = (struct nlattr) { .nla_len = sizeof(*attr) + bytes, .nla_type = type };
	if (bytes)
		memcpy(attr + 1, data, bytes);
	return attr;
}

/* Edges that mostly ascend, in any number of bytes that the policy admits. */
static struct nlattr *draw_edges(void)
{
	u32 edge[TC_CSIG_EDGES_MAX], count = fuzz_choice(TC_CSIG_EDGES_MAX + 1), at = 0, i;
	u16 bytes = count * sizeof(u32);

	for (i = 0; i < count; i++) {
		const u32 kind = fuzz_choice(32);

		/* Seldom as large as the one before it, or any number. */
		at = kind ? at + fuzz_range(kind > 1, U32_MAX >> kind) : fuzz_u32();
		edge[i] = at;
	}
	if (bytes && !fuzz_choice(8))
		bytes -= 1 + fuzz_choice(3);
	return new_attr(TCA_CSIG_SIGNAL_EDGES, edge, bytes);
}

/* Asks what the kernel must ask, in other words. */
static bool are_edges(const struct nlattr *attr)
{
	const u8 *data = nla_data(attr);
	u32 before = 0, edge;
	int at;

	if (!nla_len(attr) || nla_len(attr) % 4)
		return false;
	for (at = 0; at < nla_len(attr); at += 4) {
		memcpy(&edge, data + at, sizeof(edge));
		if (edge <= before)
			return false;
		before = edge;
	}
	return true;
}

static void check_codes(const struct csig_scale *s)
{
	const u64 value = fuzz_u64();
	u32 form;

	for (form = CSIG_COMPACT; form < CSIG_FORMS; form++) {
		const u32 code = csig_encode(s, form, value);

		FUZZ_CLAIM(code <= csig_shapes[form].value_max);
		FUZZ_CLAIM(csig_low(s, form, code) <= value);
	}
}

static void check_refusal(int err, bool valid, const struct netlink_ext_ack *extack)
{
	FUZZ_CLAIM(err == (valid ? 0 : -EINVAL));
	FUZZ_CLAIM(!err == !extack->_msg && !err == !extack->bad_attr);
}

static void check_scale(void)
{
	const struct csig_scale before = { .quantum = TC_CSIG_QUANTUM_DEFAULT_NS };
	const u32 quantum = fuzz_u32();
	struct nlattr *tb[TCA_CSIG_SIGNAL_MAX + 1] = {};
	struct netlink_ext_ack extack = {};
	struct csig_scale s = before;
	bool valid = true;
	int err;

	if (fuzz_flag()) {
		tb[TCA_CSIG_SIGNAL_QUANTUM] = new_attr(TCA_CSIG_SIGNAL_QUANTUM, &quantum,
						       sizeof(quantum));
		valid = quantum;
	}
	if (fuzz_flag()) {
		tb[TCA_CSIG_SIGNAL_EDGES] = draw_edges();
		valid &= are_edges(tb[TCA_CSIG_SIGNAL_EDGES]);
	}
	err = scsig_parse_scale(&s, tb, &extack);
	check_refusal(err, valid, &extack);
	if (!err) {
		FUZZ_CLAIM(s.quantum == (tb[TCA_CSIG_SIGNAL_QUANTUM] ? quantum : before.quantum));
		FUZZ_CLAIM(s.edges == (tb[TCA_CSIG_SIGNAL_EDGES] ?
				       nla_len(tb[TCA_CSIG_SIGNAL_EDGES]) / 4 : 0));
		check_codes(&s);
	}
	free(tb[TCA_CSIG_SIGNAL_QUANTUM]);
	free(tb[TCA_CSIG_SIGNAL_EDGES]);
}

static struct tc_csig_layout draw_layout(void)
{
	struct tc_csig_layout l = { .constant = fuzz_range(0, U16_MAX), .pad = fuzz_byte() };
	u32 i;

	l.fields = fuzz_choice(8) ? fuzz_choice(TC_CSIG_FIELDS_MAX + 1) : fuzz_byte();
	for (i = 0; i < TC_CSIG_FIELDS_MAX; i++) {
		l.field[i].what = fuzz_choice(8) ? fuzz_choice(TC_CSIG_WHATS + 1) : fuzz_byte();
		l.field[i].bits = fuzz_choice(8) ? fuzz_choice(5) : fuzz_byte();
	}
	return l;
}

static bool is_layout(const struct tc_csig_layout *l, u32 room_bits)
{
	u32 i, sum_bits = 0;

	if (l->fields > TC_CSIG_FIELDS_MAX)
		return false;
	for (i = 0; i < l->fields; i++) {
		if (l->field[i].what > TC_CSIG_WHAT_TTL || l->field[i].bits == 0)
			return false;
		sum_bits += l->field[i].bits;
	}
	return sum_bits <= room_bits && l->constant < 1U << room_bits;
}

static void check_layout(enum csig_form form)
{
	const u32 attrs[TC_CSIG_WHATS] = { fuzz_byte(), fuzz_u32(), fuzz_u32(), fuzz_u32(),
					fuzz_u32() };
	const struct tc_csig_layout wanted = draw_layout();
	const u32 room_bits = csig_shapes[form].locator_bits;
	struct nlattr *attr = new_attr(TCA_CSIG_SIGNAL_LM_COMPACT, &wanted, sizeof(wanted));
	struct netlink_ext_ack extack = {};
	struct tc_csig_layout l = {};
	const int err = scsig_parse_layout(&l, form, fuzz_choice(8) ? attr : NULL, &extack);

	if (err || l.fields || l.constant)
		check_refusal(err, is_layout(&wanted, room_bits), &extack);
	if (!err)
		FUZZ_CLAIM(scsig_compose(&l, attrs, fuzz_byte()) >> room_bits == 0);
	free(attr);
}

static void fuzz_once(void)
{
	check_scale();
	check_layout(CSIG_COMPACT);
	check_layout(CSIG_EXPANDED);
}
