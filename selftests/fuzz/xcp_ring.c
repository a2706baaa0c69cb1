// SPDX-License-Identifier: GPL-2.0
/* The content of a ring is bounded, and does not exceed what is in flight. */
#include "fuzz.h"
#include <uapi/linux/pkt_sched_xcp.h>
#include "../../sch_xcp/xcp_ring.c"

static void fuzz_once(void)
{
	struct sxcp_ring_look look = { .sent_bytes = fuzz_u64(), .now_ns = fuzz_u64() };
	struct sxcp_ring r = {};

	look.rate_bytes_ps = fuzz_range(TC_XCP_RATE_MIN_BYTES_PS, TC_XCP_RATE_MAX_BYTES_PS);
	while (fuzz_has_more()) {
		const u32 before_bytes = r.held_bytes;
		u32 bytes;

		look.sent_bytes += fuzz_flag() ? fuzz_u64() : fuzz_u32();
		look.now_ns += fuzz_flag() ? fuzz_u64() : fuzz_u32();
		look.waited = fuzz_flag();
		look.bql.is_used = fuzz_flag();
		look.bql.queued_bytes += fuzz_u32();
		look.bql.completed_bytes += fuzz_u32();
		bytes = sxcp_ring_close(&r, &look);
		FUZZ_CLAIM(r.held_bytes <= HOP_RING_MAX_BYTES);
		FUZZ_CLAIM(bytes <= r.held_bytes && bytes <= before_bytes);
		FUZZ_CLAIM(!look.bql.is_used ||
			   r.held_bytes <= max((s32)(look.bql.queued_bytes -
						     look.bql.completed_bytes), 0));
	}
}
