// SPDX-License-Identifier: GPL-2.0
/* The sampler of XCP senders: sums stay in range, and it samples one flow at a time. */
#include "xcp_packet.h"
#include "xcp_sampler.h"

static void check_rate(s64 rate_bytes_ps)
{
	FUZZ_CLAIM(rate_bytes_ps >= -XCP_SAMPLE_RATE_MAX && rate_bytes_ps <= XCP_SAMPLE_RATE_MAX);
}

static void fuzz_once(void)
{
	const u64 pause_ns = fuzz_range(1, TC_XCP_TIME_MAX_US) * XCP_NS_PER_US;
	struct sxcp_sampler s = {};
	u64 now_ns = fuzz_range(0, 1ULL << 50);

	while (fuzz_has_more()) {
		const struct sxcp_pkt pkt = draw_packet(TC_XCP_PROTOCOL_DEFAULT);
		const struct xcp_sample *r = &s.result;
		bool complete;

		now_ns += fuzz_range(0, 1ULL << 40);
		if (pkt.class != XCP_CLASS_ASKING)
			continue;
		complete = sxcp_sampler_see(&s, &pkt, fuzz_choice(3), now_ns, pause_ns);
		FUZZ_CLAIM(s.phase <= XCP_SAMPLE_AFTER);
		FUZZ_CLAIM(!complete || s.phase == XCP_SAMPLE_PAUSE);
		FUZZ_CLAIM(!complete || s.end_ns == now_ns + pause_ns);
		FUZZ_CLAIM(!r->ignores || r->reported_bytes_ps < 0);
		check_rate(r->advertised_bytes_ps);
		check_rate(r->before_bytes_ps);
		check_rate(r->reported_bytes_ps);
		check_rate(r->granted_bytes_ps);
		check_rate(r->after_bytes_ps);
	}
}
