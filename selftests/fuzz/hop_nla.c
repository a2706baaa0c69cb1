// SPDX-License-Identifier: GPL-2.0
/* Options of qdiscs in netlink: a refused option has a message, an accepted one is in its range. */
#include "fuzz.h"
#include "../../hop_core/hop_nla.c"

#define OPTIONS 4

/*
 * Draw options with any range, not only those that qdiscs have today; the last type is not such an
 * option.
 */
static void draw_options(struct hop_nla_option *options)
{
	int i;

	for (i = 0; i < OPTIONS; i++) {
		const u32 min = fuzz_u32(), max = fuzz_range(min, U32_MAX);

		options[i] = (struct hop_nla_option) {
			.initial = fuzz_range(min, max),
			.min = min,
			.max = max,
			.refusal = i < OPTIONS - 1 ? "refused" : NULL,
		};
	}
}

static bool is_allowed(const struct hop_nla_option *o, const struct nlattr *attr)
{
	return !attr || (nla_get_u32(attr) >= o->min && nla_get_u32(attr) <= o->max);
}

/* __nla_parse() has verified that each attribute has 4 bytes. */
static struct nlattr *draw_attr(u32 type)
{
	const u32 value = fuzz_u32();
	struct nlattr *attr;

	if (!fuzz_choice(3))
		return NULL;
	attr = malloc(sizeof(*attr) + sizeof(value));
	*attr = (struct nlattr) { .nla_len = sizeof(*attr) + sizeof(value), .nla_type = type };
	memcpy(attr + 1, &value, sizeof(value));
	return attr;
}

static void fuzz_once(void)
{
	struct hop_nla_option options[OPTIONS];
	struct netlink_ext_ack extack = {};
	struct nlattr *tb[OPTIONS];
	u32 values[OPTIONS];
	bool allowed = true;
	int err, i;

	draw_options(options);
	hop_nla_defaults(values, options, OPTIONS - 1);
	for (i = 0; i < OPTIONS; i++) {
		tb[i] = draw_attr(i);
		allowed &= !options[i].refusal || is_allowed(&options[i], tb[i]);
	}
	err = hop_nla_options(values, options, OPTIONS - 1, tb, fuzz_flag() ? &extack : NULL);
	FUZZ_CLAIM(err == (allowed ? 0 : -EINVAL));
	FUZZ_CLAIM(err || (!extack._msg && !extack.bad_attr));
	for (i = 0; i < OPTIONS; i++) {
		FUZZ_CLAIM(values[i] >= options[i].min && values[i] <= options[i].max);
		FUZZ_CLAIM(err || !tb[i] || !options[i].refusal || values[i] == nla_get_u32(tb[i]));
		free(tb[i]);
	}
}
