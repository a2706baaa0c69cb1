/* SPDX-License-Identifier: GPL-2.0 */
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
 */
#ifndef HOPCC_TCP_LDCP_LDCP_SENDER_H
#define HOPCC_TCP_LDCP_LDCP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/lib/hop_pace.h>

#define LDCP_SHIFT		HOP_WND_SHIFT
#define LDCP_ONE		HOP_WND_ONE

/* Maximum number of packets per ACK; a larger number is capped. */
#define LDCP_ACK_MAX_PKTS	32768U
#define LDCP_WND_MAX_PKTS	HOP_WND_MAX_PKTS
#define LDCP_RTT_MAX_US		HOP_RTT_MAX_US
/* Far more than a window: no ACK is for a packet that was sent longer ago. */
#define LDCP_RESUME_MAX_PKTS	0x40000000U

#define LDCP_ALPHA_DEFAULT_PPM	1000000U
#define LDCP_BETA_DEFAULT_PPM	500000U
#define LDCP_GAMMA_DEFAULT_PPM	250000U
#define LDCP_ETA_DEFAULT_PPM	500000U
/* 1/256: one packet in 256 round trips */
#define LDCP_GAMMA_MIN_PPM	3906U
#define LDCP_RATE_MAX_MBIT	1600000U
#define LDCP_BDP_MAX_BYTES	0x40000000U
#define LDCP_BYTES_PER_MBIT	125000U
#define LDCP_US_PER_S		1000000U

/**
 * struct ldcp_params - constants of the algorithm, << LDCP_SHIFT
 * @alpha: credit granted per window of ACKs, packets; 0 < alpha <= 1
 * @beta: reduction per mark, packets; 0 < beta <= 1
 * @gamma: increase per packet below one packet, and the minimum window; 0 < gamma <= 1
 * @eta: factor per mark below one packet; 0 < eta < 1
 * @per_rtt: section 3.2: cw grows by alpha once per round trip instead
 */
struct ldcp_params {
	u32 alpha;
	u32 beta;
	u32 gamma;
	u32 eta;
	bool per_rtt;
};

/**
 * enum ldcp_stage - stage of a flow
 * @LDCP_FIRST_RTT: no packet of the first window is acked: its packets are Not-ECT
 * @LDCP_FAST: a part of the first window is acked
 * @LDCP_STABLE: the first window is acked or a loss was detected: section 2.2 applies
 */
enum ldcp_stage {
	LDCP_FIRST_RTT,
	LDCP_FAST,
	LDCP_STABLE,
};

/**
 * struct ldcp_vars - state of a sender; written under the socket lock
 * @cw: the window, packets << LDCP_SHIFT; read by dumps without the lock
 * @undo_cw: the window before the last loss; 0: no loss to undo
 * @undo_cut: reduction of the window by that loss
 * @first_pkts: size of the first window
 * @start_pkts: packets delivered before the first window
 * @resume_pkts: packets delivered when a loss was detected: only packets sent later grant credits;
 *	at most LDCP_RESUME_MAX_PKTS before @round_pkts
 * @round_pkts: packets delivered at the start of the round trip
 * @stage: enum ldcp_stage; read by dumps and when packets are sent, without the lock
 * @marked: a mark or a loss was seen since the start of the round trip
 * @path_is_free: the last whole round trip had no mark or loss, and none was seen since
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
 * struct ldcp_ack - content of an ACK
 * @acked_pkts: n, packets delivered by this ACK
 * @delivered_pkts: packets delivered by all ACKs so far, including this one
 * @prior_pkts: value of @delivered_pkts when the latest of the n packets was sent
 * @ece: ECE flag of the ACK
 * @limited: the window limited the sender
 */
struct ldcp_ack {
	u32 acked_pkts;
	u32 delivered_pkts;
	u32 prior_pkts;
	bool ece;
	bool limited;
};

/**
 * ldcp_grow() - grow the window for an ACK with ECE = 0
 * @cw: the window << LDCP_SHIFT
 * @p: constants of the algorithm
 * @n_pkts: packets that the ACK acknowledges, at most LDCP_ACK_MAX_PKTS
 *
 * Return: the new window, at most LDCP_WND_MAX_PKTS.
 */
static inline u64 ldcp_grow(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	for (; n_pkts && cw < LDCP_ONE; n_pkts--)
		cw += p->gamma;
	/* 2^15 * 2^24 * 2^24 = 2^63, plus half a window of 2^43 */
	cw += div64_u64((((u64)n_pkts * p->alpha) << LDCP_SHIFT) + cw / 2, cw);
	return min(cw, (u64)LDCP_WND_MAX_PKTS << LDCP_SHIFT);
}

/**
 * ldcp_shrink() - reduce the window for an ACK with ECE = 1
 * @cw: the window << LDCP_SHIFT
 * @p: constants of the algorithm
 * @n_pkts: packets that the ACK acknowledges
 *
 * Return: the new window, at least gamma.
 */
static inline u64 ldcp_shrink(u64 cw, const struct ldcp_params *p, u32 n_pkts)
{
	u64 steps;

	if (cw >= LDCP_ONE && n_pkts) {
		/*
		 * This number of steps takes cw below one packet: cw - steps * beta >= 1 - beta >=
		 * 0.
		 */
		steps = min_t(u64, n_pkts, div_u64(cw - LDCP_ONE, p->beta) + 1);
		cw -= steps * p->beta;
		n_pkts -= steps;
	}
	/* 2^24 * 2^24: cw is below one packet, or n_pkts is 0 */
	for (; n_pkts && cw > p->gamma; n_pkts--)
		cw = (cw * p->eta) >> LDCP_SHIFT;
	return max_t(u64, cw, p->gamma);
}

/**
 * ldcp_begin() - start a new flow, or one that was idle (2.3)
 * @v: the state
 * @first_pkts: the first window, 1 to LDCP_WND_MAX_PKTS
 * @delivered_pkts: packets delivered so far
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
		/* Nothing is known of the round trip that the first ACK ends. */
		.marked = true,
	};
}

/*
 * Return: true if the ACK ends a round trip (3.2). The order of two 32-bit counts is known up to a
 * distance of 2^31, which a flow without a loss exceeds, so @resume_pkts does not stay that far
 * behind.
 */
static inline bool ldcp_round_over(struct ldcp_vars *v, const struct ldcp_ack *a)
{
	if ((s32)(a->prior_pkts - v->round_pkts) < 0)
		return false;
	v->round_pkts = a->delivered_pkts;
	if (v->round_pkts - v->resume_pkts > LDCP_RESUME_MAX_PKTS)
		v->resume_pkts = v->round_pkts - LDCP_RESUME_MAX_PKTS;
	return true;
}

/* Larger bursts are allowed only after a whole round trip without a mark. */
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

/* Change the stage as the ACK demands. Return: true if the ACK may grant credits */
static inline bool ldcp_advance(struct ldcp_vars *v, const struct ldcp_ack *a)
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

/**
 * ldcp_update() - process an ACK: equations (1) and (2), and the stages
 * @v: the state
 * @p: constants of the algorithm
 * @a: the ACK
 */
static inline void ldcp_update(struct ldcp_vars *v, const struct ldcp_params *p,
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
 * ldcp_lose() - reduce the window after a loss
 * @v: the state
 * @p: constants of the algorithm
 * @delivered_pkts: packets delivered so far
 * @cumulative_pkts: those of them that were not only selectively acked
 * @timeout: the loss was detected by a timeout
 *
 * The caller must call this once per window, unless a timeout follows, whose reduction is added to
 * the amount that ldcp_undo() restores.
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
 * ldcp_forget() - make the losses so far permanent
 * @v: the state
 */
static inline void ldcp_forget(struct ldcp_vars *v)
{
	v->undo_cw = 0;
	v->undo_cut = 0;
}

/**
 * ldcp_undo() - undo a loss that was spurious
 * @v: the state
 *
 * Restores the amount by which the loss reduced the window. Reductions by later marks stay.
 */
static inline void ldcp_undo(struct ldcp_vars *v)
{
	/* 2^44 + 2^44 */
	v->cw = max(v->cw, min(v->cw + v->undo_cut, v->undo_cw));
	ldcp_forget(v);
}

/* RTTs, in minimum RTTs, that no queue below the threshold of marks explains. */
#define LDCP_IDLE_RTTS	3

/* Return: what marks report of the path */
static inline enum hop_path ldcp_path(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us)
{
	if (!v->path_is_free)
		return HOP_PATH_BUSY;
	return rtt_us / LDCP_IDLE_RTTS > min_rtt_us ? HOP_PATH_IDLE : HOP_PATH_FREE;
}

/**
 * ldcp_burst_pkts() - maximum number of packets sent back to back
 * @v: the state
 * @rtt_us: smoothed RTT
 * @min_rtt_us: minimum RTT
 *
 * Return: packets per GSO packet, at least 1; the first window is one burst.
 */
static inline u32 ldcp_burst_pkts(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us)
{
	if (v->stage == LDCP_FIRST_RTT)
		return HOP_BURST_MAX_PKTS;
	return hop_burst_pkts(hop_wnd_pkts(v->cw, 1), ldcp_path(v, rtt_us, min_rtt_us), rtt_us,
			      min_rtt_us);
}

/**
 * struct ldcp_bdp - sysctls that determine the first window; read without a lock
 * @bytes: the bandwidth-delay product; 0: computed from the rate
 * @rate_mbit: the path's rate; 0: not known
 * @rtt_us: the path's base RTT; 0: use the measured RTT
 */
struct ldcp_bdp {
	u32 bytes;
	u32 rate_mbit;
	u32 rtt_us;
};

/**
 * ldcp_first_pkts() - compute the first window
 * @b: the sysctls
 * @rtt_us: measured RTT; 0: none yet
 * @wire_bytes: size of a full packet on the wire
 * @default_pkts: window if the sysctls define none; clamped to the valid range
 *
 * Return: packets, rounded up, 1 to LDCP_WND_MAX_PKTS.
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
 * struct ldcp_flight - limits of a sender while it sends new data
 * @room_pkts: packets that the window still allows, including the ones being sent
 * @room_bytes: bytes that the receiver still allows, including those being sent
 * @left_bytes: bytes that remain to be sent, including those being sent
 * @mss_bytes: payload of a full packet
 * @defer_bytes: the stack may leave room below this size unused until the next ACK
 */
struct ldcp_flight {
	u32 room_pkts;
	u32 room_bytes;
	u32 left_bytes;
	u32 mss_bytes;
	u32 defer_bytes;
};

/**
 * ldcp_defer_bytes() - room that the stack may leave unused to build larger GSO packets
 * @window_bytes: the smaller one of the receiver's and the sender's windows
 * @segs_pkts: packets per GSO packet as currently sent; single packets are not deferred
 * @mss_bytes: payload of a full packet
 *
 * Return: a third of the window (the default of tcp_tso_win_divisor) or a full GSO packet.
 */
static inline u32 ldcp_defer_bytes(u32 window_bytes, u32 segs_pkts, u32 mss_bytes)
{
	return segs_pkts > 1 ? min(window_bytes / 3, HOP_BURST_MAX_PKTS * mss_bytes) : 0;
}

/**
 * ldcp_has_tail() - is the last packet of the first window among these? (3.1)
 * @f: limits of the sender
 * @segs_pkts: packets in the GSO packet being sent
 * @payload_bytes: data in these packets
 *
 * The last packet of the first window, of the message, or of the receiver's window is ECN-capable:
 * it is not dropped early, and its ACK shows which packets were.
 *
 * Return: true if the last of these packets is such a packet.
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
 * ldcp_is_midway() - did the stack itself set PSH here, in the middle of a write?
 * @written_bytes: bytes written since nothing was in flight
 * @full_bytes: size of a full GSO packet
 * @window_bytes: the largest window that the receiver has announced
 *
 * The stack sets PSH on each GSO packet that ends beyond half of that window, and then starts to
 * count again: this is not the end of a message. A message that ends at exactly such a place cannot
 * be distinguished from this.
 *
 * Return: true if the bytes written are a whole number of such steps.
 */
static inline bool ldcp_is_midway(u32 written_bytes, u32 full_bytes, u32 window_bytes)
{
	u32 step_bytes;

	/* Most messages are smaller than a step and need no division. */
	if (written_bytes <= window_bytes / 2 || !written_bytes)
		return false;
	/* At most half of 2^30, plus a GSO packet */
	step_bytes = (window_bytes / 2 / full_bytes + 1) * full_bytes;
	return written_bytes % step_bytes == 0;
}

#endif /* HOPCC_TCP_LDCP_LDCP_SENDER_H */
