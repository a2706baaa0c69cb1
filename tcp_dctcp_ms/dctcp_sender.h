/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DCTCP sender, draft-bensley-tcpm-dctcp-01 section 3.3: the fraction of bytes that met
 * congestion, estimated once per window, determines the reduction of the window.
 *
 *	M     = BytesMarked / BytesSent		over one window
 *	alpha = alpha * (1 - g) + g * M		at its end
 *	cwnd  = cwnd * (1 - alpha / 2)		at most once per window
 *
 * Fixed point: alpha has 31 fractional bits and every division rounds down, so alpha reaches 0 on a
 * clean path and stays 1 on a fully marked one. One update adds an error of less than g from M and
 * less than 1 from the product, in units of 2^-31, and keeps (1 - g) of the old error. The error
 * stays below (1 + 1/16) / g = 17 units, 8e-9, and alpha is never above the exact value.
 *
 * Deviations:
 * - cwnd counts packets, as in Linux, so the reduction is rounded down to whole packets. The lost
 *   fraction is below one packet; the stack clears its own fraction of a packet of growth
 *   (snd_cwnd_cnt) at that time, so both balance.
 * - The minimum window is 2 packets; the draft names none.
 * - Loss, which the draft does not cover: a loss halves the window, once per window (RFC 8257,
 *   3.5). In a window that a mark has already reduced, a loss makes the total reduction one half;
 *   it is not a half on top of the mark's reduction.
 */
#ifndef HOPCC_TCP_DCTCP_MS_DCTCP_SENDER_H
#define HOPCC_TCP_DCTCP_MS_DCTCP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define DCTCP_ALPHA_SHIFT	31
#define DCTCP_ALPHA_ONE		0x80000000U	/* 1.0 << DCTCP_ALPHA_SHIFT */
#define DCTCP_CWND_MIN_PKTS	2U

/**
 * struct dctcp_params - parameters of the estimator
 * @gain_shift: g = 2^-gain_shift; 4 is the draft's 1/16
 */
struct dctcp_params {
	u32 gain_shift;
};

/**
 * struct dctcp_vars - DCTCP.* of section 3.3; written under the socket lock
 * @alpha: DCTCP.Alpha << DCTCP_ALPHA_SHIFT; read by dumps without the lock
 * @window_end_seq: DCTCP.WindowEnd
 * @sent_bytes: DCTCP.BytesSent, below 2^31: a window plus what was in flight
 * @marked_bytes: DCTCP.BytesMarked, at most @sent_bytes
 * @una_seq: SND.UNA before the ACK that is being processed
 */
struct dctcp_vars {
	u32 alpha;
	u32 window_end_seq;
	u32 sent_bytes;
	u32 marked_bytes;
	u32 una_seq;
};

/**
 * enum dctcp_law - reaction of a connection to congestion (section 4)
 * @DCTCP_LAW_UNDECIDED: no RTT sample yet; reacts like DCTCP_LAW_CONVENTIONAL
 * @DCTCP_LAW_DCTCP: reduction by alpha
 * @DCTCP_LAW_CONVENTIONAL: Reno; no RTT so far was as low as in a data centre
 */
enum dctcp_law {
	DCTCP_LAW_UNDECIDED,
	DCTCP_LAW_DCTCP,
	DCTCP_LAW_CONVENTIONAL,
};

/**
 * dctcp_choose_law() - automatic selection by the RTT (section 4)
 * @rtt_us: the first RTT sample, or the minimum so far
 * @rtt_max_us: DCTCP is used on paths with a smaller RTT; 0: on every path
 *
 * "DCTCP if the estimated RTT is less than 10 msec, under the assumption that if the RTT is low,
 * then the two endpoints are likely on the same datacenter network". A low RTT proves this whenever
 * it is measured. A high RTT does not prove the contrary, since a busy host or a full queue may be
 * the reason. Therefore DCTCP, once selected, is used for the life of the connection, and Reno is
 * used only until a low RTT is measured.
 *
 * Return: the reaction to use.
 */
static inline enum dctcp_law dctcp_choose_law(u32 rtt_us, u32 rtt_max_us)
{
	if (!rtt_max_us || rtt_us < rtt_max_us)
		return DCTCP_LAW_DCTCP;
	return DCTCP_LAW_CONVENTIONAL;
}

/**
 * dctcp_start() - set the initial values of section 3.3
 * @v: the state
 * @una_seq: SND.UNA
 */
static inline void dctcp_start(struct dctcp_vars *v, u32 una_seq)
{
	v->alpha = DCTCP_ALPHA_ONE;
	v->window_end_seq = una_seq;
	v->sent_bytes = 0;
	v->marked_bytes = 0;
	v->una_seq = una_seq;
}

/**
 * dctcp_account_ack() - count the bytes of an ACK, steps 1 to 3
 * @v: the state
 * @ack_seq: SEG.ACK of an acceptable ACK
 * @ece: ECE flag of the ACK
 *
 * An ACK below SND.UNA is not counted.
 */
static inline void dctcp_account_ack(struct dctcp_vars *v, u32 ack_seq, bool ece)
{
	s32 acked_bytes = (s32)(ack_seq - v->una_seq);

	if (acked_bytes <= 0)
		return;
	v->una_seq = ack_seq;
	v->sent_bytes += acked_bytes;
	if (ece)
		v->marked_bytes += acked_bytes;
}

/**
 * dctcp_window_over() - is the observation window acknowledged? (step 4)
 * @v: the state
 *
 * "Less than or equal to WindowEnd, then stop": the window ends only when a byte sent after it is
 * acknowledged.
 *
 * Return: true if it is.
 */
static inline bool dctcp_window_over(const struct dctcp_vars *v)
{
	return (s32)(v->una_seq - v->window_end_seq) > 0;
}

/**
 * dctcp_marked_fraction() - compute the fraction of marked bytes, step 5
 * @v: the state
 *
 * Return: M << DCTCP_ALPHA_SHIFT, rounded down.
 */
static inline u32 dctcp_marked_fraction(const struct dctcp_vars *v)
{
	if (!v->sent_bytes)
		return 0;
	/* 2^31 bytes * 2^31 = 2^62 < U64_MAX; the quotient is at most 2^31 */
	return div_u64((u64)v->marked_bytes << DCTCP_ALPHA_SHIFT, v->sent_bytes);
}

/**
 * dctcp_update_alpha() - compute the new alpha, steps 5 and 6
 * @p: the gain
 * @v: the state
 *
 * Return: the new alpha. The caller stores it, because dumps may read it at the same time.
 */
static inline u32 dctcp_update_alpha(const struct dctcp_params *p,
				     const struct dctcp_vars *v)
{
	/* 2^31 * 2^gain_shift, gain_shift < 16: 2^47 < U64_MAX */
	u64 kept = ((u64)v->alpha << p->gain_shift) - v->alpha;

	return (kept + dctcp_marked_fraction(v)) >> p->gain_shift;
}

/**
 * dctcp_next_window() - start the next observation window, steps 7 and 8
 * @v: the state
 * @nxt_seq: SND.NXT
 */
static inline void dctcp_next_window(struct dctcp_vars *v, u32 nxt_seq)
{
	v->window_end_seq = nxt_seq;
	v->sent_bytes = 0;
	v->marked_bytes = 0;
}

/**
 * dctcp_cwnd_after_mark() - reduce the window after a mark: cwnd * (1 - alpha / 2)
 * @cwnd_pkts: the window
 * @alpha: the estimate << DCTCP_ALPHA_SHIFT
 *
 * Return: the reduced window in packets; the reduction is rounded down.
 */
static inline u32 dctcp_cwnd_after_mark(u32 cwnd_pkts, u32 alpha)
{
	/* 2^32 packets * 2^31 = 2^63 < U64_MAX */
	u32 cut_pkts = ((u64)cwnd_pkts * alpha) >> (DCTCP_ALPHA_SHIFT + 1);

	return max(cwnd_pkts - cut_pkts, DCTCP_CWND_MIN_PKTS);
}

/**
 * dctcp_cwnd_after_loss() - halve the window after a loss
 * @cwnd_pkts: the window
 *
 * Return: the reduced window in packets.
 */
static inline u32 dctcp_cwnd_after_loss(u32 cwnd_pkts)
{
	return max(cwnd_pkts >> 1, DCTCP_CWND_MIN_PKTS);
}

#endif /* HOPCC_TCP_DCTCP_MS_DCTCP_SENDER_H */
