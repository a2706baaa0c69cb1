// SPDX-License-Identifier: GPL-2.0
/* The TCP option of CSIG among any other options, and the mark that stores a tag with a packet */
#include "fuzz.h"
#include "../../net_csig_tag/csig_carrier.c"

#define OPTIONS_MAX_BYTES 40

static struct csig_tag draw_tag(enum csig_form form)
{
	const struct csig_shape *shape = &csig_shapes[form];

	return (struct csig_tag) {
		.type = fuzz_range(0, shape->type_max),
		.value = fuzz_range(0, shape->value_max),
		.locator = fuzz_range(0, (1U << shape->locator_bits) - 1),
		.reserved = fuzz_range(0, shape->reserved_max),
	};
}

static void check_written(u16 exid, enum csig_form form, const struct csig_tag *t)
{
	u8 *opt = malloc(ctag_opt_bytes(form));
	struct csig_tag read;
	const u8 *found;

	ctag_opt_write(opt, exid, form, t);
	FUZZ_CLAIM(hop_option_may_append(opt, ctag_opt_bytes(form)));
	found = hop_option_find(opt, ctag_opt_bytes(form), CSIG_OPT_KIND, exid);
	FUZZ_CLAIM(found && ctag_opt_form(found) == form);
	if (form) {
		read = csig_read(form, found + CSIG_OPT_HEAD_BYTES);
		FUZZ_CLAIM(!memcmp(&read, t, sizeof(read)));
	}
	free(opt);
}

static void check_mark(enum csig_form form, const struct csig_tag *t)
{
	const u64 secret = fuzz_u64();
	u8 *mark = fuzz_buffer(CSIG_MARK_BYTES);
	struct csig_tag read;

	FUZZ_CLAIM(ctag_mark_read(mark, &read, secret) < CSIG_FORMS);
	ctag_mark_write(mark, form, t, secret);
	/* One in 2^16 marks also passes the check of the other form. */
	if (ctag_mark_read(mark, &read, secret) == form)
		FUZZ_CLAIM(!memcmp(&read, t, sizeof(read)));
	else
		FUZZ_CLAIM(form == CSIG_EXPANDED && ctag_mark_read(mark, &read, secret));
	memset(mark, 0, CSIG_MARK_BYTES);
	FUZZ_CLAIM(!ctag_mark_read(mark, &read, secret));
	free(mark);
}

static void fuzz_once(void)
{
	const u16 exid = fuzz_flag() ? CSIG_EXID_DEFAULT : fuzz_range(0, U16_MAX);
	const enum csig_form form = fuzz_range(CSIG_NONE, CSIG_EXPANDED);
	const u32 bytes = fuzz_range(0, OPTIONS_MAX_BYTES);
	u8 *opts = fuzz_buffer(bytes);
	const u8 *found = hop_option_find(opts, bytes, CSIG_OPT_KIND, exid);
	const struct csig_tag t = draw_tag(form ?: CSIG_COMPACT);

	if (found && ctag_opt_form(found) != CSIG_FORMS)
		FUZZ_CLAIM(found + ctag_opt_length(ctag_opt_form(found)) <= opts + bytes);
	hop_option_may_append(opts, bytes);
	free(opts);
	check_written(exid, form, &t);
	check_mark(form ?: CSIG_COMPACT, &t);
}
