/* SPDX-License-Identifier: GPL-2.0 */
/* The LDCP sender: the algorithm's parameters, state and functions */
#ifndef HOPCC_TCP_LDCP_LDCP_SENDER_H
#define HOPCC_TCP_LDCP_LDCP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/lib/hop_pace.h>

/* Maximum number of packets per ACK; a larger number is capped. */
#define LDCP_ACK_MAX_PKTS	32768U

#define LDCP_ALPHA_DEFAULT_PPM	1000000U
#define LDCP_BETA_DEFAULT_PPM	500000U
#define LDCP_GAMMA_DEFAULT_PPM	250000U
#define LDCP_ETA_DEFAULT_PPM	500000U
/* 1/256: one packet in 256 round trips */
#define LDCP_GAMMA_MIN_PPM	3906U
#define LDCP_RATE_MAX_MBIT	1600000U
#define LDCP_BDP_MAX_BYTES	0x40000000U
#define LDCP_BYTES_PER_MBIT	125000U

/**
 * struct ldcp_params - constants of the algorithm, << HOP_WND_SHIFT
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
 * @cw: the window, packets << HOP_WND_SHIFT; read by dumps without the lock
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
 * ldcp_begin() - start a new flow, or one that was idle (2.3)
 * @v: the state
 * @first_pkts: the first window, 1 to HOP_WND_MAX_PKTS
 * @delivered_pkts: packets delivered so far
 */
void ldcp_begin(struct ldcp_vars *v, u32 first_pkts, u32 delivered_pkts);

/**
 * ldcp_update() - process an ACK: equations (1) and (2), and the stages
 * @v: the state
 * @p: constants of the algorithm
 * @a: the ACK
 */
void ldcp_update(struct ldcp_vars *v, const struct ldcp_params *p, const struct ldcp_ack *a);

/**
 * ldcp_lose() - reduce the window after a loss
 * @v: the state
 * @p: constants of the algorithm
 * @delivered_pkts: packets delivered so far
 * @cumulative_pkts: number of these that were acked cumulatively, not only selectively
 * @timeout: the loss was detected by a timeout
 *
 * The caller must call this once per window, unless a timeout follows, whose reduction is added to
 * the amount that ldcp_undo() restores.
 */
void ldcp_lose(struct ldcp_vars *v, const struct ldcp_params *p, u32 delivered_pkts,
	       u32 cumulative_pkts, bool timeout);

/**
 * ldcp_forget() - make the losses so far permanent
 * @v: the state
 */
void ldcp_forget(struct ldcp_vars *v);

/**
 * ldcp_undo() - undo a loss that was spurious
 * @v: the state
 *
 * Restores the amount by which the loss reduced the window. Reductions by later marks stay.
 */
void ldcp_undo(struct ldcp_vars *v);

/**
 * ldcp_burst_pkts() - maximum number of packets sent back to back
 * @v: the state
 * @rtt_us: smoothed RTT
 * @min_rtt_us: minimum RTT
 *
 * Return: packets per GSO packet, at least 1; the first window is one burst.
 */
u32 ldcp_burst_pkts(const struct ldcp_vars *v, u32 rtt_us, u32 min_rtt_us);

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
 * Return: packets, rounded up, 1 to HOP_WND_MAX_PKTS.
 */
u32 ldcp_first_pkts(const struct ldcp_bdp *b, u32 rtt_us, u32 wire_bytes, u32 default_pkts);

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
 * ldcp_has_tail() - does a GSO packet include the last packet of the first window? (3.1)
 * @f: limits of the sender
 * @segs_pkts: packets in the GSO packet being sent
 * @payload_bytes: data in these packets
 *
 * The last packet of the first window, of the message, or of the receiver's window is sent as
 * ECN-capable: switches do not drop it early, and its ACK shows which packets they dropped.
 *
 * Return: true if the last packet of the GSO packet is such a packet.
 */
bool ldcp_has_tail(const struct ldcp_flight *f, u32 segs_pkts, u32 payload_bytes);

/**
 * ldcp_is_midway() - did the stack itself set PSH here, in the middle of a write?
 * @written_bytes: bytes written since nothing was in flight
 * @full_bytes: size of a full GSO packet
 * @window_bytes: the largest window that the receiver has announced
 *
 * The stack sets PSH on a GSO packet when more than half of that window was written since the last
 * PSH. Such a PSH does not end a message. A message that ends at exactly such a place cannot be
 * distinguished from this case.
 *
 * Return: true if @written_bytes is a whole number of such steps.
 */
bool ldcp_is_midway(u32 written_bytes, u32 full_bytes, u32 window_bytes);

#endif /* HOPCC_TCP_LDCP_LDCP_SENDER_H */
