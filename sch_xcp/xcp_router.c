// SPDX-License-Identifier: GPL-2.0
/* The XCP algorithm of a switch port: what runs at most once per interval; see xcp_router.h. */

#include "xcp_router.h"

/* Flows assumed to share the pool after an interval without XCP traffic, which counted none */
#define XCP_START_FLOWS		4U

u64 sxcp_gain_q32(u32 ppm)
{
	/* 2^20 * 2^32 < 2^64 */
	return div_u64((u64)ppm << XCP_GAIN_SHIFT, XCP_GAIN_PPM);
}

u32 sxcp_beta_ppm(u32 alpha_ppm)
{
	/* 10^12 * 1.4 * 10^6 < 2^61 */
	u64 beta = (u64)alpha_ppm * alpha_ppm * XCP_SQRT2_PPM;
	const u64 one = (u64)XCP_GAIN_PPM * XCP_GAIN_PPM;

	return (u32)div64_u64(beta + one / 2, one);
}

struct sxcp_ratio sxcp_ratio(u64 num, u64 den)
{
	int num_shift = 64 - fls64(num), den_shift = 32 - fls64(den);
	struct sxcp_ratio r = {};

	if (!num)
		return r;
	/* [2^63, 2^64) / [2^31, 2^32): the quotient is in (2^31, 2^33). */
	num <<= num_shift;
	den = den_shift < 0 ? den >> -den_shift : den << den_shift;
	r.mul = div_u64(num, (u32)den);
	if (num_shift >= den_shift)
		r.shift = num_shift - den_shift;
	else	/* at most 31: stays below 2^64 */
		r.mul <<= den_shift - num_shift;
	return r;
}

/* Return: twice the mean RTT, weighted by bytes, in 2^-12 ns. Bound: 2 * 2^31 * 2^15 */
static u64 sxcp_most_rtt_time(const struct sxcp_vars *v)
{
	return mul_u64_u64_div_u64(v->sum_rtt_bytes,
				   2ULL << (XCP_BYTE_RTT_SHIFT + XCP_TIME_SHIFT),
				   v->asking_bytes ?: 1);
}

/*
 * Return: bytes that the port sends in min_interval, at least 1. This is how many bytes must arrive
 * between two checks if the interval is over. Bound: 2^38 * 2^34 / 2^30
 */
static u64 sxcp_bytes_between_looks(const struct sxcp_params *p)
{
	return mul_u64_u64_div_u64(p->capacity_bytes_ps, p->min_interval_ns, XCP_NS_PER_S) + 1;
}

bool sxcp_is_over(struct sxcp_vars *v, const struct sxcp_params *p, u64 elapsed_ns)
{
	v->look_bytes = v->asking_bytes + sxcp_bytes_between_looks(p);
	return elapsed_ns >= max(p->min_interval_ns, sxcp_most_rtt_time(v) >> XCP_TIME_SHIFT);
}

/*
 * Line 7, rounded; at most twice the mean RTT weighted by bytes. Without XCP traffic, the last
 * value is kept.
 */
static void sxcp_update_avg_rtt(struct sxcp_vars *v)
{
	/* At most 46, because RTTs are below 2^46. The sum of times is then above 2^(17 + s). */
	const int s = fls64(v->sum_rtt_time_hi);
	u64 num = v->sum_rtt_time_lo, den = v->sum_time >> s, rest;

	if (!v->sum_time)
		return;
	if (s)
		num = v->sum_rtt_time_hi << (64 - s) | num >> s;
	v->avg_rtt_time = div64_u64_rem(num, den, &rest);
	v->avg_rtt_time += rest >= den - rest;
	v->avg_rtt_time = min(v->avg_rtt_time, sxcp_most_rtt_time(v));
}

s64 sxcp_rate_q16(u64 bytes, u64 time)
{
	const struct sxcp_ratio bytes_ptime = sxcp_ratio(bytes, time);

	/* 2^30 * 2^28 */
	return sxcp_ratio_times(&bytes_ptime, XCP_NS_PER_S << (XCP_TIME_SHIFT + XCP_RATE_SHIFT));
}

/* Return: the mean RTT, 2^-12 ns; min_interval before the first one */
static u64 sxcp_rtt_time(const struct sxcp_vars *v, const struct sxcp_params *p)
{
	return v->avg_rtt_time ?: p->min_interval_ns << XCP_TIME_SHIFT;
}

/* Line 9: compute F; |F| < 0.56 * 2^61 + 2^61 */
static s64 sxcp_aggregate_feedback_q16(const struct sxcp_vars *v, const struct sxcp_params *p,
				       const struct sxcp_others *o)
{
	const s64 capacity_q16 = (s64)p->capacity_bytes_ps << XCP_RATE_SHIFT;

	return sxcp_gain_times(capacity_q16 - v->input_bw_q16, p->alpha_q32) -
	       sxcp_gain_times(sxcp_rate_q16(sxcp_standing_bytes(v) + o->queue_bytes,
					     sxcp_rtt_time(v, p)),
			       p->beta_q32);
}

/* Line 10: shuffled traffic, max(0, gamma * input_bw - |F|) */
static s64 sxcp_shuffled_traffic_q16(const struct sxcp_vars *v, const struct sxcp_params *p)
{
	const s64 amount_q16 = sxcp_gain_times(v->input_bw_q16, p->gamma_q32);
	const s64 size_q16 = v->feedback_q16 < 0 ? -v->feedback_q16 : v->feedback_q16;

	return max_t(s64, 0, amount_q16 - size_q16);
}

/* Return: a queue's part of a pool, @own / @all */
static s64 sxcp_pool_of_queue(s64 pool_q16, u64 own, u64 all)
{
	return own < all ? (s64)mul_u64_u64_div_u64(pool_q16, own, all) : pool_q16;
}

/* Return: @a + @b, saturated */
static u64 sxcp_sum(u64 a, u64 b)
{
	u64 sum;

	return check_add_overflow(a, b, &sum) ? U64_MAX : sum;
}

/* Lines 11 to 14: fill the pools. */
static void sxcp_fill_pools(struct sxcp_vars *v, const struct sxcp_params *p,
			    const struct sxcp_others *o, s64 shuffled_q16)
{
	const u64 sum_time = sxcp_sum(v->sum_time, o->sum_time);
	const u64 input_bytes = sxcp_sum(v->input_bytes, o->input_bytes);
	const s64 pos_q16 = min_t(s64, XCP_RATE_MAX_Q16,
				  shuffled_q16 + max_t(s64, v->feedback_q16, 0));
	const s64 neg_q16 = min_t(s64, XCP_RATE_MAX_Q16,
				  shuffled_q16 + max_t(s64, -v->feedback_q16, 0));

	v->residue_pos_q16 = sxcp_pool_of_queue(pos_q16, v->sum_time, sum_time);
	v->residue_neg_q16 = sxcp_pool_of_queue(neg_q16, v->input_bytes, input_bytes);
	v->cp = sxcp_ratio(pos_q16, sum_time ?: XCP_START_FLOWS * sxcp_rtt_time(v, p));
	/* Nothing arrived: F is negative because of the queue, so the queued bytes are charged. */
	v->cn = sxcp_ratio(neg_q16, input_bytes ?: sxcp_standing_bytes(v) + o->queue_bytes ?: 1);
}

/* Lines 15 to 17: clear the sums. */
static void sxcp_clear_sums(struct sxcp_vars *v)
{
	v->input_bytes = 0;
	v->sum_time = 0;
	v->asking_bytes = 0;
	v->sum_rtt_bytes = 0;
	v->sum_rtt_time_hi = 0;
	v->sum_rtt_time_lo = 0;
}

void sxcp_close_interval(struct sxcp_vars *v, const struct sxcp_params *p,
			 const struct sxcp_others *o, u64 elapsed_ns)
{
	sxcp_update_avg_rtt(v);
	v->input_bw_q16 = sxcp_rate_q16(sxcp_sum(v->input_bytes, o->input_bytes),
					max_t(u64, elapsed_ns, 1) << XCP_TIME_SHIFT);
	v->feedback_q16 = sxcp_aggregate_feedback_q16(v, p, o);
	sxcp_fill_pools(v, p, o, sxcp_shuffled_traffic_q16(v, p));
	sxcp_clear_sums(v);
	v->look_bytes = sxcp_bytes_between_looks(p);
	v->ctl_interval_ns = clamp_t(u64, sxcp_avg_rtt_ns(v), p->min_interval_ns,
				     p->max_interval_ns);
}

void sxcp_close_pools(struct sxcp_vars *v)
{
	v->residue_pos_q16 = 0;
	v->residue_neg_q16 = 0;
	v->cp.mul = 0;
	v->cn.mul = 0;
}

/* Return: @x * @num / @den, or less if the result would exceed 2^64; @den is not 0 */
static u64 sxcp_in_proportion(u64 x, u64 num, u64 den)
{
	const u64 most = div64_u64(U64_MAX, div64_u64(num, den) + 1);

	return mul_u64_u64_div_u64(min(x, most), num, den);
}

struct sxcp_others sxcp_others_since(const struct sxcp_others *now,
				     const struct sxcp_others *before, u64 since_ns,
				     u64 elapsed_ns)
{
	struct sxcp_others o = {
		.input_bytes = max_t(s64, now->input_bytes - before->input_bytes, 0),
		.sum_time = max_t(s64, now->sum_time - before->sum_time, 0),
		.queue_bytes = now->queue_bytes,
	};

	if (since_ns && since_ns < elapsed_ns) {
		o.input_bytes = sxcp_in_proportion(o.input_bytes, elapsed_ns, since_ns);
		o.sum_time = sxcp_in_proportion(o.sum_time, elapsed_ns, since_ns);
	}
	return o;
}

void sxcp_start(struct sxcp_vars *v, const struct sxcp_params *p)
{
	sxcp_clear_sums(v);
	v->queue_bytes = 0;
	v->min_queue_bytes = 0;
	v->ring_bytes = 0;
	sxcp_close_interval(v, p, &(struct sxcp_others){}, p->min_interval_ns);
}

u64 sxcp_close_queue(struct sxcp_vars *v, const struct sxcp_params *p, u32 queue_bytes)
{
	/* 2^32 * 2^30 */
	const u64 drain_ns = div64_u64(queue_bytes * XCP_NS_PER_S, p->capacity_bytes_ps);
	const u64 avg_rtt_ns = sxcp_avg_rtt_ns(v);

	v->queue_bytes = v->min_queue_bytes;
	v->min_queue_bytes = queue_bytes;
	if (drain_ns >= avg_rtt_ns)
		return p->allowed_queue_ns;
	return max_t(u64, p->allowed_queue_ns, (avg_rtt_ns - drain_ns) / 2);
}
