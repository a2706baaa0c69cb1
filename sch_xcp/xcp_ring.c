// SPDX-License-Identifier: GPL-2.0
/* The ring below a port of XCP; see xcp_ring.h. */

#include "xcp_ring.h"
#include "xcp_router.h"

static u32 sxcp_ring_bytes(const struct sxcp_ring *r, const struct sxcp_ring_look *look)
{
	const u64 elapsed_ns = min_t(u64, look->now_ns - r->now_ns, HOP_RING_TIME_MAX_NS);
	/* 2^36 ns * 2^38 B/s, divided by 2^29 */
	const u64 left_bytes = mul_u64_u64_div_u64(elapsed_ns, look->rate_bytes_ps, XCP_NS_PER_S);
	const s32 flight_bytes = look->bql.queued_bytes - look->bql.completed_bytes;
	const u64 most_bytes = min_t(u64, max(flight_bytes, 0), HOP_RING_MAX_BYTES);
	/* A forged count must not overflow: 2^62 is more than any port sends in a period. */
	const u64 bytes = r->held_bytes + min_t(u64, look->sent_bytes - r->sent_bytes, 1ULL << 62);

	if (look->bql.is_used && look->waited)
		return most_bytes;
	return min3(bytes - min(bytes, left_bytes),
		    look->bql.is_used ? most_bytes : HOP_RING_MAX_BYTES, HOP_RING_MAX_BYTES);
}

u32 sxcp_ring_close(struct sxcp_ring *r, const struct sxcp_ring_look *look)
{
	const u32 before_bytes = r->held_bytes;

	r->held_bytes = sxcp_ring_bytes(r, look);
	r->sent_bytes = look->sent_bytes;
	r->now_ns = look->now_ns;
	return min(before_bytes, r->held_bytes);
}
