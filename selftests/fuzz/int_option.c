// SPDX-License-Identifier: GPL-2.0
/* The TCP option of INT among any other options, at most 40 bytes */
#include "fuzz.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"

#define OPTIONS_MAX_BYTES 40

static void check_written(void)
{
	const struct nint_summary out = {
		.id = fuzz_u32(),
		.hops = fuzz_range(1, INT_HOPS_SATURATED),
		.path_id = fuzz_range(0, INT_SWITCH_ID_MAX),
		.index = fuzz_range(0, INT_SLOTS_MAX - 1),
		.record = cpu_to_be64(fuzz_u64()),
	};
	struct nint_summary in;
	struct nint_opt opt;

	nint_opt_write(&opt, &out);
	FUZZ_CLAIM(nint_opt_read((const u8 *)&opt, sizeof(opt), &in) == (out.index < out.hops));
	FUZZ_CLAIM(in.id == (out.id & INT_OPT_ID_MASK) && in.hops == out.hops);
	FUZZ_CLAIM(in.path_id == out.path_id && in.index == out.index);
	FUZZ_CLAIM(in.record == out.record);
}

static void fuzz_once(void)
{
	const u32 bytes = fuzz_range(0, OPTIONS_MAX_BYTES);
	u8 *opts = fuzz_buffer(bytes);
	struct nint_summary s;

	if (nint_opt_read(opts, bytes, &s)) {
		FUZZ_CLAIM(s.index < s.hops && s.index < INT_SLOTS_MAX);
		FUZZ_CLAIM(s.hops <= INT_HOPS_SATURATED && s.path_id <= INT_SWITCH_ID_MAX);
		FUZZ_CLAIM(s.id <= INT_OPT_ID_MASK);
	}
	free(opts);
	check_written();
}
