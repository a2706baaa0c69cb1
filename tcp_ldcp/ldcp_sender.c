// SPDX-License-Identifier: GPL-2.0
/*
 * The LDCP sender, draft-dai-pfc-free-low-delay-control (April 2021), sections 2.2 and 2.3: a
 * window in fractions of a packet that each ACK adjusts, and a first window that is sent at once.
 *
 *	an ACK of n packets	cw >= 1			cw < 1, for each of the n
 *	ECE = 0			cw += n alpha / cw	cw += gamma
 *	ECE = 1			cw -= n beta		cw = max(gamma, eta cw)
 *
 *	            first ACK            all of the first window acked: cw = BDP
 *	 FIRST_RTT -----------> FAST ------------------------------------> STABLE
 *	     ^ |                  |  a loss: cw = packets cumulatively acked  ^
 *	     | +------------------+-------------------------------------------+
 *	     +--- idle for an RTO, or nothing in flight before the first window was acked
 *
 * Fixed point: cw and the constants have 24 fractional bits. n alpha / cw is rounded to the nearest
 * unit, so the error of an ACK is half a unit, 2^-25 packets.
 *
 * Deviations:
 * - Each packet follows the rule for the current cw: if n packets take cw across 1, the packets
 *   after the crossing follow the other column. n beta never reduces cw below gamma.
 * - cw grows only if the window limited the sender; otherwise an idle sender would accumulate
 *   credits.
 * - Marks also revoke credits in the first two stages but do not end them: the draft defines no
 *   other end than those in the diagram.
 * - A loss in the stable stage, which the draft does not cover, halves cw once per window; a
 *   timeout leaves one packet. Only packets sent after the loss grant credits again.
 * - If no packet was acked before the first loss, cw is gamma, the minimum window, not 0.
 * - If the base RTT is not configured, the first window is at most the rate times 1 ms: a longer
 *   RTT includes a queue, or the path leads to where the configured rate does not apply.
 */
#include "ldcp_sender.h"

/* Far more than a window: no ACK is for a packet that was sent that many packets ago. */
#define LDCP_RESUME_MAX_PKTS	0x40000000U
/* A queue below the marking threshold explains no RTT above this many minimum RTTs. */
#define LDCP_IDLE_RTTS	3
/*
 * Maximum of a base RTT that is measured, not configured: a longer one includes a queue, or the
 * path leads out of the data centre, where the configured rate does not apply.
 */
#define LDCP_NEAR_RTT_US	1000U

/**
 * ldcp_grow() - grow the window for an ACK with ECE = 0
 * @cw: the window << HOP_WND_SHIFT
 * @p: constants of the algorithm
 * @n_pkts: packets that the ACK acknowledges, at most LDCP_ACK_MAX_PKTS
 *
 * Return: the new window, at most HOP_WND_MAX_PKTS.
 */
static u64 ldcp_grow(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	for (; n_pkts && cw < HOP_WND_ONE; n_pkts--)
		cw += p->gamma;
	/* 2^15 * 2^24 * 2^24 = 2^63, plus half a window of 2^43 */
	cw += div64_u64((((u64)n_pkts * p->alpha) << HOP_WND_SHIFT) + cw / 2, cw);
	return min(cw, (u64)HOP_WND_MAX_PKTS << HOP_WND_SHIFT);
}

/**
 * ldcp_shrink() - reduce the window for an ACK with ECE = 1
 * @cw: the window << HOP_WND_SHIFT
 * @p: constants of the algorithm
 * @n_pkts: packets that the ACK acknowledges
 *
 * Return: the new window, at least gamma.
 */
static u64 ldcp_shrink(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	u64 steps;

	if (cw >= HOP_WND_ONE && n_pkts) {
		/*
		 * This number of steps takes cw below one packet: cw - steps * beta >= 1 - beta >=
		 * 0.
		 */
		steps = min_t(u64, n_pkts, div_u64(cw - HOP_WND_ONE, p->beta) + 1);
		cw -= steps * p->beta;
		n_pkts -= steps;
	}
	/* 2^24 * 2^24: cw is below one packet, or n_pkts is 0 */
	for (; n_pkts && cw > p->gamma; n_pkts--)
		cw = (cw * p->eta) >> HOP_WND_SHIFT;
	return max_t(u64, cw, p->gamma);
}

void ldcp_begin(struct ldcp_vars *v, u32 first_pkts, u32 delivered_pkts)
{
	*v = (struct ldcp_vars){
		.cw = (u64)first_pkts << HOP_WND_SHIFT,
		.first_pkts = first_pkts,
		.start_pkts = delivered_pkts,
		.resume_pkts = delivered_pkts,
		.round_pkts = delivered_pkts,
		.stage = LDCP_FIRST_RTT,
		/* Nothing is known of the round trip that the first ACK ends. */
		.marked = true,
	};
}

/*
 * Return: true if the ACK ends a round trip (3.2). The order of two 32-bit counts is known up to a
 * distance of 2^31, which a flow without a loss exceeds, so @resume_pkts does not stay that far
 * behind.
 */
static bool ldcp_round_over(struct ldcp_vars *v, const struct ldcp_ack *a)
{
	if ((s32)(a->prior_pkts - v->round_pkts) < 0)
		return false;
	v->round_pkts = a->delivered_pkts;
	if (v->round_pkts - v->resume_pkts > LDCP_RESUME_MAX_PKTS)
		v->resume_pkts = v->round_pkts - LDCP_RESUME_MAX_PKTS;
	return true;
}

/* Larger bursts are allowed only after a whole round trip without a mark. */
static void ldcp_note_mark(struct ldcp_vars *v, bool ece, bool round)
{
	if (round) {
		v->path_is_free = !v->marked;
		v->marked = false;
	}
	if (ece) {
		v->path_is_free = false;
		v->marked = true;
	}
}

/* Change the stage as the ACK demands. Return: true if the ACK may grant credits */
static bool ldcp_advance(struct ldcp_vars *v, const struct ldcp_ack *a)
{
	if (v->stage == LDCP_STABLE)
		return (s32)(a->prior_pkts - v->resume_pkts) >= 0;
	if (a->acked_pkts)
		v->stage = LDCP_FAST;
	/* "When a full IW of packets have all been acknowledged", cw is the BDP. */
	if (a->delivered_pkts - v->start_pkts >= v->first_pkts)
		v->stage = LDCP_STABLE;
	return false;
}

void ldcp_update(struct ldcp_vars *v, const struct ldcp_params *p, const struct ldcp_ack *a)
{
	const u32 n_pkts = min(a->acked_pkts, LDCP_ACK_MAX_PKTS);
	const bool grants = ldcp_advance(v, a);
	const bool round = ldcp_round_over(v, a);

	ldcp_note_mark(v, a->ece, round);
	if (a->ece)
		v->cw = ldcp_shrink(v->cw, p, n_pkts);
	if (!grants || !a->limited || !n_pkts)
		return;
	if (!p->per_rtt || v->cw < HOP_WND_ONE)
		v->cw = a->ece ? v->cw : ldcp_grow(v->cw, p, n_pkts);
	else if (round)
		v->cw = min(v->cw + p->alpha, (u64)HOP_WND_MAX_PKTS << HOP_WND_SHIFT);
}

void ldcp_lose(struct ldcp_vars *v, const struct ldcp_params *p, u32 delivered_pkts,
	       u32 cumulative_pkts, bool timeout)
{
	const u64 cw = v->cw;

	v->undo_cw = v->undo_cw ?: cw;
	/* "The number of packets that are accumulatively acknowledged before packet loss." */
	if (v->stage != LDCP_STABLE)
		v->cw = min(v->cw, (u64)(cumulative_pkts - v->start_pkts) << HOP_WND_SHIFT);
	else
		v->cw = min(v->cw, max(v->cw / 2, HOP_WND_ONE));
	if (timeout)
		v->cw = min(v->cw, HOP_WND_ONE);
	v->cw = max_t(u64, v->cw, p->gamma);
	v->undo_cut = min(v->undo_cut + cw - min(cw, v->cw), HOP_WND_MAX);
	v->stage = LDCP_STABLE;
	v->resume_pkts = delivered_pkts;
	v->marked = true;
	v->path_is_free = false;
}

void ldcp_forget(struct ldcp_vars *v)
{
	v->undo_cw = 0;
	v->undo_cut = 0;
}

void ldcp_undo(struct ldcp_vars *v)
{
	/* 2^44 + 2^44 */
	v->cw = max(v->cw, min(v->cw + v->undo_cut, v->undo_cw));
	ldcp_forget(v);
}

/* Return: what marks report of the path */
static enum hop_path ldcp_path(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us)
{
	if (!v->path_is_free)
		return HOP_PATH_BUSY;
	return rtt_us / LDCP_IDLE_RTTS > min_rtt_us ? HOP_PATH_IDLE : HOP_PATH_FREE;
}

u32 ldcp_burst_pkts(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us)
{
	if (v->stage == LDCP_FIRST_RTT)
		return HOP_BURST_MAX_PKTS;
	return hop_burst_pkts(hop_wnd_pkts(v->cw, 1), ldcp_path(v, rtt_us, min_rtt_us), rtt_us,
			      min_rtt_us);
}

u32 ldcp_first_pkts(const struct ldcp_bdp *b, u32 rtt_us, u32 wire_bytes, u32 default_pkts)
{
	u64 bytes = b->bytes;

	rtt_us = b->rtt_us ? min(b->rtt_us, HOP_RTT_MAX_US) : min(rtt_us, LDCP_NEAR_RTT_US);
	/* 1.6 * 10^6 * 125000 * 10^7 < 2^61 */
	if (!bytes)
		bytes = div_u64((u64)b->rate_mbit * LDCP_BYTES_PER_MBIT * rtt_us, HOP_US_PER_S);
	if (!bytes)
		return clamp(default_pkts, 1U, HOP_WND_MAX_PKTS);
	return min_t(u64, div_u64(bytes + wire_bytes - 1, wire_bytes), HOP_WND_MAX_PKTS);
}

bool ldcp_has_tail(const struct ldcp_flight *f, u32 segs_pkts, u32 payload_bytes)
{
	u64 room_bytes;

	if (segs_pkts >= f->room_pkts || payload_bytes >= f->left_bytes ||
	    payload_bytes >= f->room_bytes)
		return true;
	/* 2^32 packets of less than 2^16 bytes */
	room_bytes = min_t(u64, (u64)(f->room_pkts - segs_pkts) * f->mss_bytes,
			   f->room_bytes - payload_bytes);
	return room_bytes < max(min(f->mss_bytes, f->left_bytes - payload_bytes), f->defer_bytes);
}

bool ldcp_is_midway(u32 written_bytes, u32 full_bytes, u32 window_bytes)
{
	u32 step_bytes;

	/* Most messages are smaller than a step and need no division. */
	if (written_bytes <= window_bytes / 2 || !written_bytes)
		return false;
	/* At most half of 2^30, plus a GSO packet */
	step_bytes = (window_bytes / 2 / full_bytes + 1) * full_bytes;
	return written_bytes % step_bytes == 0;
}
