// SPDX-License-Identifier: GPL-2.0
/* The ring of a driver; see hopcc/lib/hop_ring.h. */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <hopcc/lib/hop_ring.h>

/*
 * @bytes: 1 to HOP_RING_PACE_MAX * @ns. @ns: up to 2^36
 * 2^38 * 2^40 / 2^30 (10^9 ns), and 2^44 * 2^40 / 2^36, are at most 2^48. 2^36 * 2^32 / 2^16
 */
static struct hop_ring_pace hop_ring_pace_of(u64 bytes, u64 ns)
{
	return (struct hop_ring_pace) {
		.bytes_q40 = mul_u64_u64_div_u64(bytes, BIT_ULL(HOP_RING_PACE_SHIFT), ns),
		.ns_q32 = mul_u64_u64_div_u64(ns, BIT_ULL(HOP_RING_BYTE_SHIFT), bytes),
	};
}

void hop_ring_set_rate(struct hop_ring *r, u64 rate_bytes_ps)
{
	r->rate = hop_ring_pace_of(rate_bytes_ps, HOP_RING_NS_PER_S);
	r->pace = r->rate;
	r->is_measured = false;
}
EXPORT_SYMBOL_GPL(hop_ring_set_rate);

/* The time that passes empties the ring. */
static void hop_ring_pass(struct hop_ring *r, u64 now_ns)
{
	const u64 passed_ns = min_t(u64, now_ns - r->now_ns, HOP_RING_TIME_MAX_NS);

	r->work_q16 -= min(r->work_q16,
			   mul_u64_u64_shr(passed_ns, r->pace.bytes_q40,
					   HOP_RING_PACE_SHIFT - HOP_RING_SHIFT));
	r->now_ns = now_ns;
	if (r->is_measured && now_ns - r->stop_ns > HOP_RING_MEASURED_NS) {
		r->pace = r->rate;
		r->is_measured = false;
	}
}

/*
 * Return: true if the ring limits the port. A queue that gave the ring twice what it can hold and
 * was not seen to be stopped is limited by something else, as by the CPU.
 */
static bool hop_ring_still_limits(const struct hop_ring *r)
{
	return r->limits && r->given_bytes - r->stop_bytes <=
	       2 * (r->full_q16 >> HOP_RING_SHIFT) + HOP_RING_WINDOW_BYTES;
}

/* Return: bytes in flight, in 2^-HOP_RING_SHIFT. Counters of several queues may be read apart. */
static u64 hop_ring_flight_q16(const struct hop_ring *r, const struct hop_ring_bql *bql)
{
	const s32 flight_bytes = bql->queued_bytes - bql->completed_bytes;
	u64 bytes = max(flight_bytes, 0);

	if (bql->queued_bytes == r->queued_bytes)
		bytes += r->pending_bytes;
	return min_t(u64, bytes, HOP_RING_MAX_BYTES) << HOP_RING_SHIFT;
}

u64 hop_ring_held_bytes(struct hop_ring *r, u64 now_ns, const struct hop_ring_bql *bql)
{
	u64 held_bytes;

	hop_ring_pass(r, now_ns);
	if (bql->is_used) {
		const u64 flight_q16 = hop_ring_flight_q16(r, bql);

		if (hop_ring_still_limits(r) || flight_q16 < r->work_q16)
			r->work_q16 = flight_q16;
	}
	held_bytes = min_t(u64, r->given_bytes - r->left_bytes, HOP_RING_MAX_BYTES);
	r->work_q16 = min(r->work_q16, held_bytes << HOP_RING_SHIFT);
	held_bytes = (r->work_q16 + BIT_ULL(HOP_RING_SHIFT) - 1) >> HOP_RING_SHIFT;
	r->left_bytes = r->given_bytes - held_bytes;
	return held_bytes;
}
EXPORT_SYMBOL_GPL(hop_ring_held_bytes);

/*
 * Without BQL, nothing shows that a pace is too low that was measured during a pause. But a ring
 * that was full then holds no more now. One that a wrong rate has let seem empty does not count.
 */
static u64 hop_ring_max_q16(const struct hop_ring *r)
{
	if (!r->is_measured || r->has_bql)
		return HOP_RING_MAX_BYTES << HOP_RING_SHIFT;
	if (r->full_q16 >> HOP_RING_SHIFT < HOP_RING_WINDOW_BYTES)
		return HOP_RING_MEASURED_BYTES << HOP_RING_SHIFT;
	return r->full_q16;
}

void hop_ring_give(struct hop_ring *r, u64 now_ns, u32 bytes, const struct hop_ring_bql *bql)
{
	const u64 bytes_q16 = (u64)bytes << HOP_RING_SHIFT;

	hop_ring_pass(r, now_ns);
	r->work_q16 = min(r->work_q16 + bytes_q16, max(hop_ring_max_q16(r), bytes_q16));
	r->work_q16 = min(r->work_q16, HOP_RING_MAX_BYTES << HOP_RING_SHIFT);
	r->given_bytes += bytes;
	if (bql->queued_bytes != r->queued_bytes)
		r->pending_bytes = 0;
	r->has_bql = bql->is_used;
	r->queued_bytes = bql->queued_bytes;
	r->pending_bytes += bytes;
}
EXPORT_SYMBOL_GPL(hop_ring_give);

static void hop_ring_measure(struct hop_ring *r)
{
	const u64 passed_ns = r->stop_ns - r->mark_ns;
	const u64 bytes = r->stop_bytes - r->mark_bytes;

	if (bytes < max_t(u64, HOP_RING_WINDOW_BYTES, r->full_q16 >> HOP_RING_SHIFT))
		return;
	if (passed_ns <= HOP_RING_TIME_MAX_NS && bytes <= HOP_RING_PACE_MAX * passed_ns) {
		r->pace = hop_ring_pace_of(bytes, passed_ns);
		r->is_measured = true;
	}
	r->mark_bytes = r->stop_bytes;
	r->mark_ns = r->stop_ns;
}

void hop_ring_stopped(struct hop_ring *r)
{
	const bool limited = hop_ring_still_limits(r);

	if (r->given_bytes == r->stop_bytes)
		return;
	r->limits = true;
	r->stop_bytes = r->given_bytes;
	r->stop_ns = r->now_ns;
	/* BQL shows what the ring holds, and changes its limit. */
	if (limited && !r->has_bql)
		r->work_q16 = r->full_q16;
	r->full_q16 = r->work_q16;
	if (limited) {
		hop_ring_measure(r);
		return;
	}
	r->mark_bytes = r->stop_bytes;
	r->mark_ns = r->stop_ns;
}
EXPORT_SYMBOL_GPL(hop_ring_stopped);

u64 hop_ring_wait_ns(const struct hop_ring *r, u64 held_bytes)
{
	return mul_u64_u64_shr(held_bytes, r->pace.ns_q32, HOP_RING_BYTE_SHIFT);
}
EXPORT_SYMBOL_GPL(hop_ring_wait_ns);
