// SPDX-License-Identifier: GPL-2.0
/* Locators composed of the port's attributes; see csig_layout.h. */

#include "csig_layout.h"

bool scsig_layout_ok(const struct tc_csig_layout *l, enum csig_form form)
{
	const u32 room_bits = csig_shapes[form].locator_bits;
	u32 i, bits = 0;

	if (l->fields > TC_CSIG_FIELDS_MAX || l->constant >> room_bits)
		return false;
	for (i = 0; i < l->fields; i++) {
		if (l->field[i].what >= TC_CSIG_WHATS || !l->field[i].bits ||
		    l->field[i].bits > room_bits)
			return false;
		bits += l->field[i].bits;
	}
	return bits <= room_bits;
}

u32 scsig_layout_misfit(const struct tc_csig_layout *l, const u32 *attrs)
{
	u32 i;

	for (i = 0; i < l->fields; i++)
		if (l->field[i].what != TC_CSIG_WHAT_TTL &&
		    attrs[l->field[i].what] >> l->field[i].bits)
			return l->field[i].what;
	return TC_CSIG_WHATS;
}

u32 scsig_compose(const struct tc_csig_layout *l, const u32 *attrs, u32 ttl)
{
	u32 i, locator = 0;

	if (!l->fields)
		return l->constant;
	for (i = 0; i < l->fields; i++) {
		const u32 most = (1U << l->field[i].bits) - 1;
		const u32 what = l->field[i].what;

		locator = locator << l->field[i].bits |
			  min(what == TC_CSIG_WHAT_TTL ? ttl : attrs[what], most);
	}
	return locator;
}
