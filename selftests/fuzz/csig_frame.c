// SPDX-License-Identifier: GPL-2.0
/* A CSIG tag in any frame: found within the frame, rewritten in place; scales of its values */
#include "fuzz.h"
#include "../../sch_csig/csig_layout.c"

static struct csig_scale draw_scale(void)
{
	struct csig_scale s = { .quantum = fuzz_range(TC_CSIG_QUANTUM_MIN, U32_MAX) };
	const u32 edges = fuzz_range(0, CSIG_EDGES);
	u32 last = 0;

	while (s.edges < edges && last < U32_MAX) {
		last = fuzz_range(last + 1, U32_MAX);
		s.edge[s.edges++] = last;
	}
	FUZZ_CLAIM(csig_scale_ok(&s));
	return s;
}

static void check_scale(enum csig_form form)
{
	const struct csig_scale s = draw_scale();
	const u64 value = fuzz_u64();
	const u32 code = csig_encode(&s, form, value);

	FUZZ_CLAIM(code <= csig_shapes[form].value_max);
	FUZZ_CLAIM(csig_low(&s, form, code) <= value);
	FUZZ_CLAIM(csig_high(&s, form, code) > value || csig_high(&s, form, code) == U64_MAX);
}

static void check_layout(enum csig_form form)
{
	const u32 attrs[TC_CSIG_WHATS] = { fuzz_byte(), fuzz_u32(), fuzz_u32(), fuzz_u32(),
					fuzz_u32() };
	struct tc_csig_layout l = { .constant = fuzz_range(0, U16_MAX), .fields = fuzz_byte() };
	u32 i;

	for (i = 0; i < TC_CSIG_FIELDS_MAX; i++) {
		l.field[i].what = fuzz_byte();
		l.field[i].bits = fuzz_byte();
	}
	if (!scsig_layout_ok(&l, form))
		return;
	FUZZ_CLAIM(scsig_layout_misfit(&l, attrs) <= TC_CSIG_WHATS);
	FUZZ_CLAIM(scsig_compose(&l, attrs, fuzz_byte()) >> csig_shapes[form].locator_bits == 0);
}

/*
 * Reading returns what was written; a hop sets both value and locator to its own or changes
 * nothing.
 */
static void check_tag(u8 *data, enum csig_form form)
{
	struct csig_tag t = csig_read(form, data), before = t;
	const u32 value = fuzz_range(0, csig_shapes[form].value_max);
	const u32 locator = fuzz_range(0, (1U << csig_shapes[form].locator_bits) - 1);
	u8 copy[CSIG_TAG_MAX_BYTES];

	FUZZ_CLAIM(t.type <= csig_shapes[form].type_max && t.value <= csig_shapes[form].value_max);
	csig_write(form, copy, &t);
	FUZZ_CLAIM(!memcmp(copy, data, csig_data_bytes(form)));
	if (csig_replace(&t, value, locator))
		FUZZ_CLAIM(t.value == value && t.locator == locator);
	else
		FUZZ_CLAIM(!memcmp(&t, &before, sizeof(t)));
	FUZZ_CLAIM(!csig_worse(t.type, value, t.value));
	FUZZ_CLAIM(t.type == before.type && t.reserved == before.reserved);
	csig_write(form, data, &t);
}

/* Put VLAN tags and a CSIG tag after them into the frame, as far as they fit. */
static void put_tags(u8 *frame, u32 frame_bytes, const struct csig_tpids *tpids, u32 vlans)
{
	const u16 tpid = tpids->tpid[fuzz_range(CSIG_COMPACT, CSIG_EXPANDED)];
	u32 at = CSIG_FIRST_TAG_BYTES;

	for (; at + CSIG_TPID_BYTES <= frame_bytes; at += CSIG_VLAN_BYTES) {
		const u16 ether_type = vlans-- ? CSIG_TPID_8021Q : tpid;

		frame[at] = ether_type >> 8;
		frame[at + 1] = ether_type;
		if (ether_type == tpid)
			return;
	}
}

static void check_frame(const struct csig_tpids *tpids)
{
	const u32 vlans = fuzz_range(0, 30), at = CSIG_FIRST_TAG_BYTES + vlans * CSIG_VLAN_BYTES;
	const u32 frame_bytes = fuzz_flag() ? fuzz_range(0, 256) : at + fuzz_range(0, 12);
	const u32 walk_bytes = min(frame_bytes, CSIG_WALK_BYTES);
	u8 *frame = fuzz_buffer(frame_bytes);
	struct csig_place place;

	if (fuzz_flag())
		put_tags(frame, frame_bytes, tpids, vlans);
	place = csig_find(frame, walk_bytes, frame_bytes, tpids);
	FUZZ_CLAIM(place.form < CSIG_FORMS && place.fault < CSIG_FAULTS);
	if (place.form && !place.fault) {
		/* The EtherType after the tag is within the frame, too. */
		FUZZ_CLAIM(place.offset_bytes + csig_shapes[place.form].tag_bytes <=
			   walk_bytes - CSIG_TPID_BYTES);
		check_tag(frame + place.offset_bytes + CSIG_TPID_BYTES, place.form);
	}
	free(frame);
}

static void fuzz_once(void)
{
	const struct csig_tpids tpids = { .tpid = {
		[CSIG_COMPACT] = fuzz_flag() ? CSIG_TPID_COMPACT_DEFAULT :
				 fuzz_range(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX),
		[CSIG_EXPANDED] = fuzz_flag() ? CSIG_TPID_EXPANDED_DEFAULT :
				  fuzz_range(TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX),
	} };

	check_frame(&tpids);
	check_scale(CSIG_COMPACT);
	check_scale(CSIG_EXPANDED);
	check_layout(fuzz_flag() ? CSIG_COMPACT : CSIG_EXPANDED);
}
