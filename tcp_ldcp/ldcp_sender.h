/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LDCP's sender, draft-dai-pfc-free-low-delay-control (April 2021), sections 2.2 and
 * 2.3: a window in fractions of a packet, adjusted by every ACK, and a first window that
 * is sent at once.
 *
 *	an ACK of n packets	cw >= 1			cw < 1, each of the n
 *	ECE = 0			cw += n alpha / cw	cw += gamma
 *	ECE = 1			cw -= n beta		cw = max(gamma, eta cw)
 *
 *	            first ACK            all of the first window acked: cw = BDP
 *	 FIRST_RTT -----------> FAST ------------------------------------> STABLE
 *	     ^ |                  |  a loss: cw = packets cumulatively acked  ^
 *	     | +------------------+-------------------------------------------+
 *	     +--- idle for an RTO, or nothing in flight before the first window was acked
 *
 * Fixed point: cw has 24 fractional bits, constants have 24; n alpha / cw is rounded to the
 * nearest unit: an ACK's error is half a unit, 2^-25 packets.
 *
 * Deviations:
 * - The rule of a packet is that of the region cw is in by then: of n packets that cross
 *   cw = 1, those behind the crossing follow the other column. n beta never leads below
 *   gamma.
 * - cw grows only where the window was the limit: else an idle sender would gather credits.
 * - Marks revoke credits in the first two stages too; the draft names no other end of them.
 * - A loss in the stable stage (the draft is silent) halves cw once a window; a timeout
 *   leaves one packet. Credits are granted again by packets sent after it.
 * - No packet acked before the first loss: cw = gamma, the least window, not 0.
 */
#ifndef TCP_LDCP_LDCP_SENDER_H
#define TCP_LDCP_LDCP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <net/hop_pace.h>

#define LDCP_SHIFT		HOP_WND_SHIFT
#define LDCP_ONE		HOP_WND_ONE
#define LDCP_PPM		1000000U

/* One ACK's packets: more are taken for so many. */
#define LDCP_ACK_MAX_PKTS	32768U
#define LDCP_WND_MAX_PKTS	HOP_WND_MAX_PKTS
#define LDCP_RTT_MAX_US		HOP_RTT_MAX_US

#define LDCP_ALPHA_DEFAULT_PPM	1000000U
#define LDCP_BETA_DEFAULT_PPM	500000U
#define LDCP_GAMMA_DEFAULT_PPM	250000U
#define LDCP_ETA_DEFAULT_PPM	500000U
/* 1/256: a packet in 256 round trips. */
#define LDCP_GAMMA_MIN_PPM	3906U
#define LDCP_RATE_MAX_MBIT	1600000U
#define LDCP_BDP_MAX_BYTES	0x40000000U
#define LDCP_BYTES_PER_MBIT	125000U
#define LDCP_US_PER_S		1000000U

/**
 * struct ldcp_params - the law's constants, << LDCP_SHIFT
 * @alpha: credit an ACK grants, spread over a window; 0 < alpha <= 1
 * @beta: what a mark takes, packets; 0 < beta <= 1
 * @gamma: step below one packet, and the least window; 0 < gamma <= 1
 * @eta: factor of a mark below one packet; 0 < eta < 1
 * @per_rtt: section 3.2: cw grows by alpha once a round trip instead
 */
struct ldcp_params {
	u32 alpha;
	u32 beta;
	u32 gamma;
	u32 eta;
	bool per_rtt;
};

/**
 * enum ldcp_stage - where in its life a flow is
 * @LDCP_FIRST_RTT: nothing of the first window is acked: its packets are Not-ECT
 * @LDCP_FAST: not all of it is acked
 * @LDCP_STABLE: section 2.2
 */
enum ldcp_stage {
	LDCP_FIRST_RTT,
	LDCP_FAST,
	LDCP_STABLE,
};

/**
 * struct ldcp_vars - written under the socket lock
 * @cw: the window, packets << LDCP_SHIFT; read by dumps without the lock
 * @undo_cw: the window before the last loss; 0: none to undo
 * @undo_cut: what the loss took from it
 * @first_pkts: the first window
 * @start_pkts: packets delivered before it
 * @resume_pkts: packets delivered when a loss was found: credits wait for a packet sent later
 * @round_pkts: packets delivered when the round trip began
 * @stage: enum ldcp_stage; read by output and dumps without the lock
 * @marked: a mark or a loss was found since the round trip began
 * @path_is_free: the last whole round trip had neither, and none was found since
 */
struct ldcp_vars {
	u64 cw;
	u64 undo_cw;
	u64 undo_cut;
	u32 first_pkts;
	u32 start_pkts;
	u32 resume_pkts;
	u32 round_pkts;
	u8 stage;
	bool marked;
	bool path_is_free;
};

/**
 * struct ldcp_ack - what an ACK says
 * @acked_pkts: n, packets delivered by it
 * @delivered_pkts: by all ACKs so far, this one included
 * @prior_pkts: as @delivered_pkts was when the newest of the n was sent
 * @ece: its ECE flag
 * @limited: the window was the limit
 */
struct ldcp_ack {
	u32 acked_pkts;
	u32 delivered_pkts;
	u32 prior_pkts;
	bool ece;
	bool limited;
};

/**
 * ldcp_of_ppm() - a knob's value in the law's fixed point
 * @ppm: millionths, at most 10^6
 *
 * Return: rounded to the nearest, << LDCP_SHIFT; at least 1.
 */
static inline u32 ldcp_of_ppm(u32 ppm)
{
	/* 10^6 * 2^24 < 2^44 */
	return max_t(u32, div_u64(((u64)ppm << LDCP_SHIFT) + LDCP_PPM / 2, LDCP_PPM), 1);
}

/**
 * ldcp_grow() - an ACK with ECE = 0
 * @cw: the window << LDCP_SHIFT
 * @p: constants
 * @n_pkts: packets it acknowledges, at most LDCP_ACK_MAX_PKTS
 *
 * Return: the new window, bounded by LDCP_WND_MAX_PKTS.
 */
static inline u64 ldcp_grow(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	for (; n_pkts && cw < LDCP_ONE; n_pkts--)
		cw += p->gamma;
	/* 2^15 * 2^24 * 2^24 = 2^63, and half a window of 2^43 */
	cw += div64_u64((((u64)n_pkts * p->alpha) << LDCP_SHIFT) + cw / 2, cw);
	return min(cw, (u64)LDCP_WND_MAX_PKTS << LDCP_SHIFT);
}

/**
 * ldcp_shrink() - an ACK with ECE = 1
 * @cw: the window << LDCP_SHIFT
 * @p: constants
 * @n_pkts: packets it acknowledges
 *
 * Return: the new window, at least gamma.
 */
static inline u64 ldcp_shrink(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	u64 steps;

	if (cw >= LDCP_ONE && n_pkts) {
		/* So many lead below one packet: cw - steps * beta >= 1 - beta >= 0. */
		steps = min_t(u64, n_pkts, div_u64(cw - LDCP_ONE, p->beta) + 1);
		cw -= steps * p->beta;
		n_pkts -= steps;
	}
	/* 2^24 * 2^24: below one packet, or nothing is left of n */
	for (; n_pkts && cw > p->gamma; n_pkts--)
		cw = (cw * p->eta) >> LDCP_SHIFT;
	return max_t(u64, cw, p->gamma);
}

/**
 * ldcp_begin() - section 2.3: a new flow, or one whose path was idle
 * @v: the state
 * @first_pkts: the first window, 1 to LDCP_WND_MAX_PKTS
 * @delivered_pkts: so far
 */
static inline void ldcp_begin(struct ldcp_vars *v, u32 first_pkts, u32 delivered_pkts)
{
	*v = (struct ldcp_vars){
		.cw = (u64)first_pkts << LDCP_SHIFT,
		.first_pkts = first_pkts,
		.start_pkts = delivered_pkts,
		.resume_pkts = delivered_pkts,
		.round_pkts = delivered_pkts,
		.stage = LDCP_FIRST_RTT,
		/* The first ACK ends a round trip of which nothing is known. */
		.marked = true,
	};
}

/* Section 3.2: has a round trip ended? */
static inline bool ldcp_round_over(struct ldcp_vars *v, const struct ldcp_ack *a)
{
	if ((s32)(a->prior_pkts - v->round_pkts) < 0)
		return false;
	v->round_pkts = a->delivered_pkts;
	return true;
}

/* Is there room for larger bursts? Only a whole round trip without a mark tells. */
static inline void ldcp_note_mark(struct ldcp_vars *v, bool ece, bool round)
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

/* The stages' transitions that an ACK makes. Returns whether credits count. */
static inline bool ldcp_advance(struct ldcp_vars *v, const struct ldcp_ack *a)
{
	if (v->stage == LDCP_STABLE)
		return (s32)(a->prior_pkts - v->resume_pkts) >= 0;
	if (a->acked_pkts)
		v->stage = LDCP_FAST;
	/* "When a full IW of packets have all been acknowledged": cw is BDP. */
	if (a->delivered_pkts - v->start_pkts >= v->first_pkts)
		v->stage = LDCP_STABLE;
	return false;
}

/**
 * ldcp_hear() - equations (1) and (2), and the stages
 * @v: the state
 * @p: constants
 * @a: the ACK
 */
static inline void ldcp_hear(struct ldcp_vars *v, const struct ldcp_params *p,
			     const struct ldcp_ack *a)
{
	const u32 n_pkts = min(a->acked_pkts, LDCP_ACK_MAX_PKTS);
	const bool grants = ldcp_advance(v, a);
	const bool round = ldcp_round_over(v, a);

	ldcp_note_mark(v, a->ece, round);
	if (a->ece)
		v->cw = ldcp_shrink(v->cw, p, n_pkts);
	if (!grants || !a->limited || !n_pkts)
		return;
	if (!p->per_rtt || v->cw < LDCP_ONE)
		v->cw = a->ece ? v->cw : ldcp_grow(v->cw, p, n_pkts);
	else if (round)
		v->cw = min(v->cw + p->alpha, (u64)LDCP_WND_MAX_PKTS << LDCP_SHIFT);
}

/**
 * ldcp_lose() - a loss was found
 * @v: the state
 * @p: constants
 * @delivered_pkts: so far
 * @cumulative_pkts: of these, without those acked selectively
 * @timeout: by a timeout
 *
 * Not twice in a window, unless a timeout follows: it adds to what ldcp_undo() restores.
 */
static inline void ldcp_lose(struct ldcp_vars *v, const struct ldcp_params *p,
			     u32 delivered_pkts, u32 cumulative_pkts, bool timeout)
{
	const u64 cw = v->cw;

	v->undo_cw = v->undo_cw ?: cw;
	/* "The number of packets that are accumulatively acknowledged before packet loss." */
	if (v->stage != LDCP_STABLE)
		v->cw = min(v->cw, (u64)(cumulative_pkts - v->start_pkts) << LDCP_SHIFT);
	else
		v->cw = min(v->cw, max(v->cw / 2, LDCP_ONE));
	if (timeout)
		v->cw = min(v->cw, LDCP_ONE);
	v->cw = max_t(u64, v->cw, p->gamma);
	v->undo_cut = min(v->undo_cut + cw - min(cw, v->cw), HOP_WND_MAX);
	v->stage = LDCP_STABLE;
	v->resume_pkts = delivered_pkts;
	v->marked = true;
	v->path_is_free = false;
}

/**
 * ldcp_forget() - the losses so far cannot be undone any more
 * @v: the state
 */
static inline void ldcp_forget(struct ldcp_vars *v)
{
	v->undo_cw = 0;
	v->undo_cut = 0;
}

/**
 * ldcp_undo() - nothing was lost after all
 * @v: the state
 *
 * The window gets back what the loss took. What marks took since stays taken.
 */
static inline void ldcp_undo(struct ldcp_vars *v)
{
	/* 2^44 + 2^44 */
	v->cw = max(v->cw, min(v->cw + v->undo_cut, v->undo_cw));
	ldcp_forget(v);
}

/**
 * ldcp_burst_pkts() - packets that may leave back to back
 * @v: the state
 * @rtt_us: smoothed RTT
 * @min_rtt_us: the least RTT
 *
 * Return: packets of a GSO packet, at least 1; the first window is one burst.
 */
static inline u32 ldcp_burst_pkts(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us)
{
	if (v->stage == LDCP_FIRST_RTT)
		return HOP_BURST_MAX_PKTS;
	return hop_burst_pkts(hop_wnd_pkts(v->cw, 1), v->path_is_free, rtt_us, min_rtt_us);
}

/**
 * struct ldcp_bdp - what the first window is made of; knobs, read without a lock
 * @bytes: the bandwidth-delay product; 0: by rate
 * @rate_mbit: the path's rate; 0: not known
 * @rtt_us: its base RTT; 0: the one measured
 */
struct ldcp_bdp {
	u32 bytes;
	u32 rate_mbit;
	u32 rtt_us;
};

/**
 * ldcp_first_pkts() - the first window
 * @b: the knobs
 * @rtt_us: RTT measured; 0: none yet
 * @wire_bytes: a full packet on the wire
 * @default_pkts: where the knobs say nothing; any value: the nearest window counts
 *
 * Return: packets, 1 to LDCP_WND_MAX_PKTS; a part of a packet counts as one.
 */
static inline u32 ldcp_first_pkts(const struct ldcp_bdp *b, u32 rtt_us, u32 wire_bytes,
				  u32 default_pkts)
{
	u64 bytes = b->bytes;

	rtt_us = min(b->rtt_us ?: rtt_us, LDCP_RTT_MAX_US);
	/* 1.6 * 10^6 * 125000 * 10^7 < 2^61 */
	if (!bytes)
		bytes = div_u64((u64)b->rate_mbit * LDCP_BYTES_PER_MBIT * rtt_us, LDCP_US_PER_S);
	if (!bytes)
		return clamp(default_pkts, 1U, LDCP_WND_MAX_PKTS);
	return min_t(u64, div_u64(bytes + wire_bytes - 1, wire_bytes), LDCP_WND_MAX_PKTS);
}

/**
 * struct ldcp_flight - what a sender knows as it sends new data
 * @room_pkts: packets that the window still allows, with those at hand
 * @room_bytes: bytes that the receiver still allows, with those at hand
 * @left_bytes: bytes there are to send, with those at hand
 * @mss_bytes: payload of a full packet
 * @defer_bytes: of less room than this the stack may make no use before an ACK comes
 */
struct ldcp_flight {
	u32 room_pkts;
	u32 room_bytes;
	u32 left_bytes;
	u32 mss_bytes;
	u32 defer_bytes;
};

/**
 * ldcp_defer_bytes() - room that the stack may leave unused for now, for larger super-packets
 * @window_bytes: of the receiver or the sender, whichever is less
 * @segs_pkts: packets of a super-packet as it makes them now; single packets are not put off
 * @mss_bytes: payload of a full packet
 *
 * Return: a third of the window (tcp_tso_win_divisor's default) or a full super-packet.
 */
static inline u32 ldcp_defer_bytes(u32 window_bytes, u32 segs_pkts, u32 mss_bytes)
{
	return segs_pkts > 1 ? min(window_bytes / 3, HOP_BURST_MAX_PKTS * mss_bytes) : 0;
}

/**
 * ldcp_has_tail() - section 3.1: are these the last of the first window?
 * @f: what is known
 * @segs_pkts: packets at hand, of a super-packet
 * @payload_bytes: their data
 *
 * The last packet of the first window, of the message, and of what the receiver takes
 * is ECN-capable: it is not dropped early, and shows what was.
 *
 * Return: whether the last of them is such a packet.
 */
static inline bool ldcp_has_tail(const struct ldcp_flight *f, u32 segs_pkts, u32 payload_bytes)
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

/**
 * ldcp_is_midway() - does the stack push here by itself, in the midst of a write?
 * @written_bytes: since nothing was in flight
 * @full_bytes: a full super-packet
 * @window_bytes: the largest that the receiver has told
 *
 * It does so after each super-packet that ends beyond half of that window, and counts anew:
 * no message's last packet. A message that ends in just such a place is not told from it.
 *
 * Return: whether all that was written is a whole number of such steps.
 */
static inline bool ldcp_is_midway(u32 written_bytes, u32 full_bytes, u32 window_bytes)
{
	u32 step_bytes;

	/* Less than a step: most messages, for which nothing need be divided. */
	if (written_bytes <= window_bytes / 2 || !written_bytes)
		return false;
	/* At most half of 2^30, and a super-packet. */
	step_bytes = (window_bytes / 2 / full_bytes + 1) * full_bytes;
	return written_bytes % step_bytes == 0;
}

#endif /* TCP_LDCP_LDCP_SENDER_H */
