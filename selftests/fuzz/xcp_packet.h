/* SPDX-License-Identifier: GPL-2.0 */
/* Input of the sch_xcp algorithms: options that sch_xcp accepts, and packets with any header */
#ifndef HOPCC_SELFTESTS_FUZZ_XCP_PACKET_H
#define HOPCC_SELFTESTS_FUZZ_XCP_PACKET_H

#include "xcp_header.h"
#include <uapi/linux/pkt_sched_xcp.h>
#include "../../sch_xcp/xcp_router.c"

/* Like sxcp_parse() and sxcp_set_params() of sch_xcp */
static inline struct sxcp_params draw_params(void)
{
	const u32 alpha_ppm = fuzz_range(TC_XCP_ALPHA_MIN_PPM, TC_XCP_ALPHA_MAX_PPM);
	const u32 beta_ppm = fuzz_range(TC_XCP_BETA_AUTO, TC_XCP_BETA_MAX_PPM);
	const u32 min_us = fuzz_range(TC_XCP_TIME_MIN_US, TC_XCP_TIME_MAX_US);
	const u32 max_us = fuzz_range(min_us, TC_XCP_TIME_MAX_US);

	return (struct sxcp_params) {
		.capacity_bytes_ps = fuzz_range(TC_XCP_RATE_MIN_BYTES_PS,
						TC_XCP_RATE_MAX_BYTES_PS),
		.alpha_q32 = sxcp_gain_q32(alpha_ppm),
		.beta_q32 = sxcp_gain_q32(beta_ppm ?: sxcp_beta_ppm(alpha_ppm)),
		.gamma_q32 = sxcp_gain_q32(fuzz_range(0, TC_XCP_GAMMA_MAX_PPM)),
		.min_interval_ns = min_us * XCP_NS_PER_US,
		.max_interval_ns = max_us * XCP_NS_PER_US,
		.allowed_queue_ns = fuzz_range(TC_XCP_TIME_MIN_US, TC_XCP_TIME_MAX_US) *
				    XCP_NS_PER_US,
		.e2e_share_q32 = sxcp_gain_q32(fuzz_range(0, TC_XCP_SHARE_MAX_PPM)),
		.overhead_bytes = fuzz_range(0, TC_XCP_OVERHEAD_MAX_BYTES),
		.protocol = TC_XCP_PROTOCOL_DEFAULT,
	};
}

/* Draw a packet of any size that hop_pkt_wire() can return, with any fields in its header. */
static inline struct sxcp_pkt draw_packet(u8 protocol)
{
	struct sxcp_pkt pkt = { .pkts = 1, .bytes = fuzz_range(1, S32_MAX) };
	const struct xcp_hdr h = draw_header();

	if (fuzz_flag())
		pkt.pkts = fuzz_range(1, min_t(u32, pkt.bytes, 1 << 19));
	if (fuzz_choice(8))
		sxcp_read(&pkt, &h, protocol);
	return pkt;
}

#endif /* HOPCC_SELFTESTS_FUZZ_XCP_PACKET_H */
