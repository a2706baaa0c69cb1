// SPDX-License-Identifier: GPL-2.0
/* The TCP option by which carriers negotiate, among any other options, at most 40 bytes */
#include "fuzz.h"
#include <hopcc/wire/hop_option.h>

#define OPTIONS_MAX_BYTES 40

static void check_written(u16 exid)
{
	u8 opts[OPTIONS_MAX_BYTES];
	const u32 before = fuzz_range(0, 6) * 4;
	struct hop_option out, in;

	memset(opts, HOP_OPTION_NOP, sizeof(opts));
	hop_option_init(&out, exid);
	out.asks = fuzz_byte();
	out.answers = fuzz_byte();
	out.cookie = cpu_to_be64(fuzz_u64());
	memcpy(opts + before, &out, sizeof(out));
	FUZZ_CLAIM(hop_option_read(opts, before + sizeof(out), exid, &in));
	FUZZ_CLAIM(!memcmp(&in, &out, sizeof(in)));
	FUZZ_CLAIM(hop_option_may_append(opts, before + sizeof(out)));
	FUZZ_CLAIM(!hop_option_read(opts, before + sizeof(out) - 1, exid, &in));
}

static void fuzz_once(void)
{
	const u16 exid = fuzz_flag() ? HOP_OPTION_EXID : fuzz_range(0, U16_MAX);
	const u32 bytes = fuzz_range(0, OPTIONS_MAX_BYTES);
	u8 *opts = fuzz_buffer(bytes);
	const u8 *found = hop_option_find(opts, bytes, HOP_OPTION_KIND, exid);
	struct hop_option o;

	if (found) {
		FUZZ_CLAIM(found >= opts && found[0] == HOP_OPTION_KIND && found[1] >= 4);
		FUZZ_CLAIM(found + found[1] <= opts + bytes);
	}
	if (hop_option_read(opts, bytes, exid, &o))
		FUZZ_CLAIM(found && o.length == HOP_OPTION_BYTES);
	hop_option_may_append(opts, bytes);
	free(opts);
	check_written(exid);
}
