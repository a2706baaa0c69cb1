// SPDX-License-Identifier: GPL-2.0
/* The measured rate of a slow port stays in the range of configurable rates. */
#include "fuzz.h"
#include "xcp_drain.h"

static void fuzz_once(void)
{
	u64 rate_bytes_ps = fuzz_range(TC_XCP_RATE_MIN_BYTES_PS, TC_XCP_RATE_MAX_BYTES_PS);
	struct sxcp_drain_sent sent = { .bytes = fuzz_u64(), .moves = fuzz_u64() };
	struct sxcp_drain d = {};

	while (fuzz_has_more()) {
		const u64 before_bytes_ps = sxcp_drain_capacity_bytes_ps(&d, rate_bytes_ps);
		u64 capacity_bytes_ps;
		bool slower;

		sent.bytes += fuzz_flag() ? fuzz_u64() : fuzz_u32();
		sent.moves += fuzz_u32();
		sent.now_ns += fuzz_u32();
		sent.waits = fuzz_flag();
		slower = sxcp_drain_close(&d, rate_bytes_ps, &sent);
		capacity_bytes_ps = sxcp_drain_capacity_bytes_ps(&d, rate_bytes_ps);
		FUZZ_CLAIM(capacity_bytes_ps >= TC_XCP_RATE_MIN_BYTES_PS);
		FUZZ_CLAIM(capacity_bytes_ps <= rate_bytes_ps);
		FUZZ_CLAIM(slower == (capacity_bytes_ps < before_bytes_ps));
		FUZZ_CLAIM(sent.waits || capacity_bytes_ps >= before_bytes_ps);
		FUZZ_CLAIM(!d.rate_bytes_ps || d.rate_bytes_ps < rate_bytes_ps);
	}
}
