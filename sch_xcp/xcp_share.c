// SPDX-License-Identifier: GPL-2.0
/* The shares of XCP and other traffic: what runs once per interval; see xcp_share.h. */

#include "xcp_share.h"

static void sxcp_share_weigh(struct sxcp_share_vars *v, s64 weight_other)
{
	int side;

	v->weight[XCP_SIDE_OTHER] = clamp_t(s64, weight_other, XCP_SHARE_MIN, XCP_SHARE_MAX);
	v->weight[XCP_SIDE_XCP] = XCP_SHARE_ONE - v->weight[XCP_SIDE_OTHER];
	for (side = 0; side < XCP_SIDES; side++)
		v->cost_q16[side] = div_u64(1ULL << (2 * XCP_SHARE_SHIFT), v->weight[side]);
}

void sxcp_share_start(struct sxcp_share_vars *v)
{
	*v = (struct sxcp_share_vars){ .flows_q16 = 1 << 16 };
	sxcp_share_weigh(v, XCP_SHARE_ONE / 2);
}

/* Return: @x * @y for @y in Q32, rounded down */
static u64 sxcp_q32_times(u64 x, u64 y)
{
	return mul_u64_u64_shr(x, y, 32);
}

/**
 * sxcp_tcp_window_q16() - window of a TCP flow with the loss rate p
 * @loss_q32: p, 0 to 1 << 32
 *
 * Return: window in packets, Q16: 1/243 to 80265.
 */
static u64 sxcp_tcp_window_q16(u64 loss_q32)
{
	const u64 p = clamp_t(u64, loss_q32, 1, 1ULL << 32);
	/* The square root of a Q64 number is Q32: 2p/3 and 3p/8 are below 2^64. */
	const u64 halving = int_sqrt64(div_u64(p << 31, 3) << 2);
	const u64 timeouts = sxcp_q32_times(12 * p, int_sqrt64(3 * p << 29));
	const u64 backoff = (1ULL << 32) + 32 * sxcp_q32_times(p, p);

	/* 2^15 to 2^40 */
	return div64_u64(1ULL << (32 + 16), halving + sxcp_q32_times(timeouts, backoff));
}

/**
 * sxcp_cubic_window_q16() - window of a CUBIC flow with the loss rate p
 * @loss_q32: p, 0 to 1 << 32
 * @rtt_ns: RTT of the flow
 *
 * Return: window in packets, Q16: the larger one of 1.054 (RTT / p)^(3/4) and Reno's.
 */
static u64 sxcp_cubic_window_q16(u64 loss_q32, u64 rtt_ns)
{
	const u64 p = clamp_t(u64, loss_q32, 1, 1ULL << 32);
	/* Divisor: 2^32 * 2^30. RTT / p in seconds is this quotient * 2^32, at most 2^30. */
	const struct sxcp_ratio quotient = sxcp_ratio(rtt_ns, p * XCP_NS_PER_S);
	const u64 quotient_q32 = 2 * (u64)sxcp_ratio_times(&quotient, 1ULL << 63);
	const u64 root_q16 = int_sqrt64(quotient_q32);
	const u64 fourth_q16 = int_sqrt64(root_q16 << 16);
	/* 2^31 * 2^24 */
	const u64 window_q16 = (root_q16 * fourth_q16) >> 16;

	return max(sxcp_tcp_window_q16(p), mul_u64_u64_shr(window_q16, XCP_CUBIC_Q16, 16));
}

/* Add the last of @n values to their mean. */
static void sxcp_mean(s64 *mean_q16, u64 value, u32 n)
{
	const s64 value_q16 = (s64)min_t(u64, value, XCP_SHARE_BYTES_MAX) << XCP_MEAN_SHIFT;

	*mean_q16 += div_s64(value_q16 - *mean_q16, n);
}

/* Return: number of intervals in the means: four windows in packets */
static u32 sxcp_share_memory(const struct sxcp_share_vars *v)
{
	return clamp_t(u64, v->window_q16 >> 14, XCP_SHARE_MEMORY_MIN, XCP_SHARE_MEMORY_MAX);
}

/* Return: RTT of another flow: XCP's plus the queueing delay by Little's law */
static u64 sxcp_share_rtt_ns(const struct sxcp_share_vars *v, u64 avg_rtt_ns)
{
	const struct sxcp_ratio delay = sxcp_ratio(v->queued_q16, max_t(s64, v->left_q16, 1));

	return avg_rtt_ns + sxcp_ratio_times(&delay, v->elapsed_q16 >> XCP_MEAN_SHIFT);
}

/*
 * Losses hit random flows: after k losses, each of N flows is still without one with a probability
 * of (1 - 1/N)^k, which is exp(-k / (N - 1/2)) with an error of 1 %. The exponential is computed as
 * (1 + x/16)^-16, which is 3 % too large at x = 1.
 *
 * Return: this probability in Q32.
 */
static u64 sxcp_share_missed_q32(const struct sxcp_share_vars *v, u64 lost_q16)
{
	/* 2^40 * 2^32 >> 16 */
	const u64 flows_q16 = mul_u64_u64_shr(v->flows_q16 - (1 << 15), v->size_q16, 16) ?: 1;
	const struct sxcp_ratio root = sxcp_ratio(flows_q16, flows_q16 + (lost_q16 >> 4));
	u64 missed_q32 = min_t(u64, sxcp_ratio_times(&root, 1ULL << 32), 1ULL << 32);
	int squarings;

	for (squarings = 4; squarings; squarings--)
		missed_q32 = sxcp_q32_times(missed_q32, missed_q32);
	return missed_q32;
}

/*
 * @lost_q16: bytes lost during an event. Return: the part that affects flows without a loss so far
 */
static u64 sxcp_share_hit_q16(struct sxcp_share_vars *v, u64 lost_q16)
{
	/* 2^56 */
	const u64 before_q16 = v->event_q16;

	v->event_q16 = sxcp_q32_times(before_q16, sxcp_share_missed_q32(v, lost_q16));
	return before_q16 - v->event_q16;
}

/*
 * Return: the part of an interval's losses that affects flows, bytes in Q16: at most one packet per
 * flow and RTT
 */
static u64 sxcp_share_noticed_q16(struct sxcp_share_vars *v, const struct sxcp_share_interval *i)
{
	const s64 lost_bytes = i->lost_bytes + v->marked_bytes + v->unreturned_bytes;
	u64 noticed_q16 = 0, lost_q16;

	v->unreturned_bytes = min_t(s64, lost_bytes, 0);
	if (lost_bytes > 0) {
		lost_q16 = min_t(u64, lost_bytes, XCP_SHARE_BYTES_MAX) << XCP_MEAN_SHIFT;
		if (!v->event_ns) {
			v->event_ns = sxcp_share_rtt_ns(v, i->avg_rtt_ns);
			v->event_q16 = mul_u64_u64_shr(v->flows_q16 - (1 << 16), v->size_q16, 16);
			/* The first loss always hits a flow without one. */
			noticed_q16 = min_t(u64, lost_q16, v->size_q16);
			lost_q16 -= noticed_q16;
		}
		noticed_q16 += sxcp_share_hit_q16(v, lost_q16);
	}
	v->event_ns -= min(v->event_ns, i->elapsed_ns);
	return noticed_q16;
}

/* Add the interval to the means. */
static void sxcp_share_remember(struct sxcp_share_vars *v, const struct sxcp_share_interval *i)
{
	u32 n;

	v->intervals = min(v->intervals + 1, sxcp_share_memory(v));
	n = v->intervals;
	sxcp_mean(&v->arrived_q16, v->arrived_bytes, n);
	sxcp_mean(&v->left_q16, v->left_bytes[XCP_SIDE_OTHER], n);
	sxcp_mean(&v->queued_q16, i->queue_bytes[XCP_SIDE_OTHER], n);
	sxcp_mean(&v->elapsed_q16, i->elapsed_ns, n);
	if (v->arrived_bytes)
		sxcp_mean(&v->size_q16, div64_u64(v->sized_bytes2, v->arrived_bytes), n);
	v->lost_q16 += div_s64((s64)sxcp_share_noticed_q16(v, i) - v->lost_q16, n);
}

/* Compute p from the means: at least one packet in the time that they cover. */
static void sxcp_share_estimate_loss(struct sxcp_share_vars *v)
{
	const u64 least_q16 = div_u64(v->size_q16, v->intervals);
	const u64 lost_q16 = max_t(s64, v->lost_q16, least_q16);
	const u64 arrived_q16 = max_t(u64, v->arrived_q16, lost_q16);
	const struct sxcp_ratio p = sxcp_ratio(lost_q16, arrived_q16 ?: 1);

	/* A ratio of 1 may be rounded up. */
	v->loss_q32 = min_t(u64, sxcp_ratio_times(&p, 1ULL << XCP_LOSS_SHIFT),
			    1ULL << XCP_LOSS_SHIFT);
}

/* Compute the number of other flows: bytes in flight and queued, divided by a window. */
static void sxcp_share_estimate_flows(struct sxcp_share_vars *v, u64 avg_rtt_ns,
				      u64 window_bytes_q16)
{
	/* 2^57 / 2^50, times 2^34 */
	const struct sxcp_ratio rate = sxcp_ratio(v->left_q16, max_t(s64, v->elapsed_q16, 1));
	const s64 path_bytes = sxcp_ratio_times(&rate, avg_rtt_ns);
	const u64 bytes = path_bytes + (v->queued_q16 >> XCP_MEAN_SHIFT);
	const struct sxcp_ratio flows = sxcp_ratio(bytes, window_bytes_q16 ?: 1);

	v->flows_q16 = clamp_t(s64, sxcp_ratio_times(&flows, 1ULL << 32), 1 << 16,
			       XCP_FLOWS_MAX_Q16);
}

/* Compute the mean window and throughput of another flow. */
static void sxcp_share_estimate_other(struct sxcp_share_vars *v,
				      const struct sxcp_share_interval *i)
{
	const s64 left_q16 = sxcp_rate_q16(v->left_bytes[XCP_SIDE_OTHER],
					   i->elapsed_ns << XCP_TIME_SHIFT);
	const u64 size_q16 = v->size_q16 + ((u64)i->overhead_bytes << XCP_MEAN_SHIFT);
	const u64 rtt_ns = sxcp_share_rtt_ns(v, i->avg_rtt_ns);
	struct sxcp_ratio flow;
	u64 window_bytes_q16;

	sxcp_share_estimate_loss(v);
	v->window_q16 = i->cubic ? sxcp_cubic_window_q16(v->loss_q32, rtt_ns) :
				   sxcp_tcp_window_q16(v->loss_q32);
	/* 2^40 * 2^33 >> 16 */
	window_bytes_q16 = mul_u64_u64_shr(v->window_q16, size_q16, 16);
	v->window_bytes[XCP_SIDE_OTHER] = window_bytes_q16 >> 16;
	sxcp_share_estimate_flows(v, i->avg_rtt_ns, window_bytes_q16);
	flow = sxcp_ratio(left_q16, v->flows_q16);
	v->flow_q16[XCP_SIDE_OTHER] = sxcp_ratio_times(&flow, 1 << 16);
}

/* Compute the mean throughput of an XCP flow: bytes divided by the sum of packet times. */
static void sxcp_share_estimate_xcp(struct sxcp_share_vars *v, const struct sxcp_share_interval *i)
{
	const s64 flow_q16 = sxcp_rate_q16(i->asking_bytes, i->sum_time);
	const struct sxcp_ratio rtt_s = sxcp_ratio(i->avg_rtt_ns, XCP_NS_PER_S);

	v->flow_q16[XCP_SIDE_XCP] = flow_q16;
	v->window_bytes[XCP_SIDE_XCP] = sxcp_ratio_times(&rtt_s, flow_q16) >> XCP_RATE_SHIFT;
}

/* Return: the rate that a side could have used: departed and still queued bytes */
static s64 sxcp_share_offered_q16(const struct sxcp_share_vars *v,
				  const struct sxcp_share_interval *i, enum sxcp_side side)
{
	return sxcp_rate_q16(v->left_bytes[side] + i->queue_bytes[side],
			     i->elapsed_ns << XCP_TIME_SHIFT);
}

/* Return: a side's part of the port, bytes/s in Q16: 2^38 * 2^16 */
static s64 sxcp_share_part_q16(const struct sxcp_share_vars *v,
			       const struct sxcp_share_interval *i, enum sxcp_side side)
{
	return i->capacity_bytes_ps * v->weight[side];
}

/* Return: true if a side needs at least three quarters of its part */
static bool sxcp_share_wants(const struct sxcp_share_vars *v, const struct sxcp_share_interval *i,
			     enum sxcp_side side)
{
	const s64 part_q16 = sxcp_share_part_q16(v, i, side);

	return sxcp_share_offered_q16(v, i, side) >= part_q16 - (part_q16 >> 2);
}

/* Katabi's rule: weight += kappa (x_xcp - x_other) / (x_xcp + x_other) */
static void sxcp_share_move(struct sxcp_share_vars *v)
{
	/* 2^61 + 2^61 */
	const u64 sum_q16 = v->flow_q16[XCP_SIDE_XCP] + v->flow_q16[XCP_SIDE_OTHER];
	const int shift = max(0, fls64(sum_q16) - 32);
	const s64 difference = (v->flow_q16[XCP_SIDE_XCP] - v->flow_q16[XCP_SIDE_OTHER]) >> shift;
	const u32 sum = sum_q16 >> shift;

	/* 2^32 * 2^13 / 2^32 */
	if (sum)
		sxcp_share_weigh(v, v->weight[XCP_SIDE_OTHER] +
				 div64_s64(difference * XCP_SHARE_KAPPA, sum));
}

/* Return: XCP's part plus the unused part of the other side; bytes/s, not 0 */
static u64 sxcp_share_capacity(const struct sxcp_share_vars *v,
			       const struct sxcp_share_interval *i)
{
	const s64 left_over_q16 = sxcp_share_part_q16(v, i, XCP_SIDE_OTHER) -
				  sxcp_share_offered_q16(v, i, XCP_SIDE_OTHER);
	const s64 part_q16 = sxcp_share_part_q16(v, i, XCP_SIDE_XCP);

	return max_t(u64, (part_q16 + max_t(s64, left_over_q16, 0)) >> XCP_SHARE_SHIFT, 1);
}

void sxcp_share_clear(struct sxcp_share_vars *v)
{
	v->arrived_bytes = 0;
	v->sized_bytes2 = 0;
	v->marked_bytes = 0;
	v->left_bytes[XCP_SIDE_XCP] = 0;
	v->left_bytes[XCP_SIDE_OTHER] = 0;
}

u64 sxcp_share_close(struct sxcp_share_vars *v, const struct sxcp_share_interval *i)
{
	u64 capacity_bytes_ps;

	if (v->arrived_bytes || (v->intervals && v->left_bytes[XCP_SIDE_OTHER])) {
		sxcp_share_remember(v, i);
		sxcp_share_estimate_other(v, i);
	}
	if (i->sum_time)
		sxcp_share_estimate_xcp(v, i);
	/* Both sides are limited by this port. */
	if (i->sum_time && v->intervals && sxcp_share_wants(v, i, XCP_SIDE_XCP) &&
	    sxcp_share_wants(v, i, XCP_SIDE_OTHER))
		sxcp_share_move(v);
	capacity_bytes_ps = sxcp_share_capacity(v, i);
	sxcp_share_clear(v);
	return capacity_bytes_ps;
}

void sxcp_share_arrive(struct sxcp_share_vars *v, u32 pkts, u32 bytes, bool marked)
{
	v->arrived_bytes += bytes;
	/* 2^41 bytes of packets below 2^16; a forged packet may be larger. */
	v->sized_bytes2 += (u64)bytes * min_t(u32, U16_MAX, pkts > 1 ? bytes / pkts : bytes);
	if (marked)
		v->marked_bytes -= bytes;
}

void sxcp_share_leave(struct sxcp_share_vars *v, enum sxcp_side side, u32 link_bytes, bool alone)
{
	/* 2^31 * 2^22 */
	const s64 cost = (u64)link_bytes * v->cost_q16[side];

	v->left_bytes[side] += link_bytes;
	v->total_left_bytes[side] += link_bytes;
	if (side == XCP_SIDE_XCP)
		v->lead = (alone ? min_t(s64, v->lead, 0) : v->lead) + cost;
	else
		v->lead = (alone ? max_t(s64, v->lead, 0) : v->lead) - cost;
}

void sxcp_share_mark(struct sxcp_share_vars *v, u32 bytes)
{
	v->marked_bytes += bytes;
}
