// SPDX-License-Identifier: GPL-2.0
/* Two queues of an XCP port: weights, rates and the number of flows stay in range. */
#include "xcp_packet.h"
#include "../../sch_xcp/xcp_share.c"

/* A queue with more bytes than this exceeds any memory. */
#define LOST_MAX 0x20000000000LL

static void close(struct sxcp_share_vars *v, u64 port_bytes_ps)
{
	const struct sxcp_share_interval i = {
		.capacity_bytes_ps = port_bytes_ps,
		.elapsed_ns = fuzz_range(1, 1ULL << 51),
		.asking_bytes = fuzz_range(0, LOST_MAX),
		.sum_time = fuzz_flag() ? fuzz_u64() : 0,
		.avg_rtt_ns = fuzz_range(0, TC_XCP_TIME_MAX_US * XCP_NS_PER_US),
		.lost_bytes = (s64)fuzz_range(0, 2 * LOST_MAX) - LOST_MAX,
		.overhead_bytes = fuzz_range(0, TC_XCP_OVERHEAD_MAX_BYTES),
		.cubic = fuzz_flag(),
		.queue_bytes = { fuzz_u32(), fuzz_u32() },
	};
	const u64 capacity_bytes_ps = sxcp_share_close(v, &i);

	FUZZ_CLAIM(capacity_bytes_ps >= 1 && capacity_bytes_ps <= port_bytes_ps);
}

static void arrive(struct sxcp_share_vars *v)
{
	const struct sxcp_pkt pkt = draw_packet(TC_XCP_PROTOCOL_DEFAULT);

	if (sxcp_share_side(&pkt) == XCP_SIDE_OTHER)
		sxcp_share_arrive(v, pkt.pkts, pkt.bytes, fuzz_flag());
}

static void leave(struct sxcp_share_vars *v)
{
	const enum sxcp_side side = fuzz_flag() ? sxcp_share_turn(v) : fuzz_choice(XCP_SIDES);
	const u32 bytes = fuzz_range(1, S32_MAX);
	const s64 lead = v->lead;

	/* The side that is behind is served, or one that is alone. */
	sxcp_share_leave(v, side, bytes, side != sxcp_share_turn(v) || fuzz_flag());
	FUZZ_CLAIM(side == XCP_SIDE_XCP ? v->lead > min(lead, 0LL) : v->lead < max(lead, 0LL));
	if (side == XCP_SIDE_OTHER && fuzz_flag())
		sxcp_share_mark(v, bytes);
}

static void check(const struct sxcp_share_vars *v)
{
	FUZZ_CLAIM(v->weight[XCP_SIDE_XCP] + v->weight[XCP_SIDE_OTHER] == XCP_SHARE_ONE);
	FUZZ_CLAIM(v->weight[XCP_SIDE_OTHER] >= XCP_SHARE_MIN);
	FUZZ_CLAIM(v->weight[XCP_SIDE_OTHER] <= XCP_SHARE_MAX);
	FUZZ_CLAIM(v->loss_q32 <= 1ULL << XCP_LOSS_SHIFT);
	FUZZ_CLAIM(v->flows_q16 >= 1 << 16 && v->flows_q16 <= XCP_FLOWS_MAX_Q16);
	FUZZ_CLAIM(v->intervals <= XCP_SHARE_MEMORY_MAX);
	FUZZ_CLAIM(v->flow_q16[XCP_SIDE_XCP] >= 0 && v->flow_q16[XCP_SIDE_OTHER] >= 0);
	/* Both clocks differ by at most a packet of 2^31 bytes at the minimum weight. */
	FUZZ_CLAIM(v->lead > -(1LL << 55) && v->lead < 1LL << 55);
	FUZZ_CLAIM(v->unreturned_bytes <= 0);
}

static void fuzz_once(void)
{
	const u64 port_bytes_ps = fuzz_range(TC_XCP_RATE_MIN_BYTES_PS, TC_XCP_RATE_MAX_BYTES_PS);
	struct sxcp_share_vars v;

	sxcp_share_start(&v);
	while (fuzz_has_more()) {
		switch (fuzz_choice(4)) {
		case 0:
			close(&v, port_bytes_ps);
			break;
		case 1:
			leave(&v);
			break;
		default:
			arrive(&v);
		}
		check(&v);
	}
}
