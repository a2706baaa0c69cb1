// SPDX-License-Identifier: GPL-2.0
/* The TCP option of INT among any other options, at most 40 bytes */
#include "fuzz.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"

#define OPTIONS_MAX_BYTES 40

static void check_written(void)
{
	const u32 id = fuzz_u32(), index = fuzz_range(0, INT_SLOTS_MAX - 1);
	u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES] __aligned(4) = {};
	struct int_hdr *h = (struct int_hdr *)room;
	struct int_answer a;
	struct nint_opt opt;
	u32 low;

	h->path = cpu_to_be32(fuzz_range(1, INT_HOPS_SATURATED) << INT_HOPS_SHIFT |
			      fuzz_range(0, INT_SWITCH_ID_MAX) << INT_PATH_ID_SHIFT);
	h->record[index] = cpu_to_be64(fuzz_u64());
	nint_opt_write(&opt, id, h, index);
	FUZZ_CLAIM(nint_opt_read((const u8 *)&opt, sizeof(opt), &low, &a) == (index < int_hops(h)));
	FUZZ_CLAIM(low == (id & INT_OPT_ID_MASK) && a.hops == int_hops(h));
	FUZZ_CLAIM(a.path_id == int_path_id(h) && a.index == index);
	FUZZ_CLAIM(int_pack(&a.record) == h->record[index]);
}

static void fuzz_once(void)
{
	const u32 bytes = fuzz_range(0, OPTIONS_MAX_BYTES);
	u8 *opts = fuzz_buffer(bytes);
	struct int_answer a;
	u32 id;

	if (nint_opt_read(opts, bytes, &id, &a)) {
		FUZZ_CLAIM(a.index < a.hops && a.index < INT_SLOTS_MAX);
		FUZZ_CLAIM(a.hops <= INT_HOPS_SATURATED && a.path_id <= INT_SWITCH_ID_MAX);
		FUZZ_CLAIM(id <= INT_OPT_ID_MASK);
	}
	free(opts);
	check_written();
}
