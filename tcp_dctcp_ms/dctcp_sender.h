/* SPDX-License-Identifier: GPL-2.0 */
/* The DCTCP sender: the algorithm's state and functions */
#ifndef HOPCC_TCP_DCTCP_MS_DCTCP_SENDER_H
#define HOPCC_TCP_DCTCP_MS_DCTCP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define DCTCP_ALPHA_SHIFT	31
#define DCTCP_ALPHA_ONE		0x80000000U	/* 1.0 << DCTCP_ALPHA_SHIFT */
#define DCTCP_CWND_MIN_PKTS	2U
/* g = 2^-DCTCP_GAIN_SHIFT, the draft's 1/16, which every DCTCP in use has */
#define DCTCP_GAIN_SHIFT	4

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
enum dctcp_law dctcp_choose_law(u32 rtt_us, u32 rtt_max_us);

/**
 * dctcp_start() - set the initial values of section 3.3
 * @v: the state
 * @una_seq: SND.UNA
 */
void dctcp_start(struct dctcp_vars *v, u32 una_seq);

/**
 * dctcp_account_ack() - count the bytes of an ACK, steps 1 to 3
 * @v: the state
 * @ack_seq: SEG.ACK of an acceptable ACK
 * @ece: ECE flag of the ACK
 *
 * An ACK below SND.UNA is not counted.
 */
void dctcp_account_ack(struct dctcp_vars *v, u32 ack_seq, bool ece);

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
 * dctcp_update_alpha() - compute the new alpha, steps 5 and 6
 * @v: the state
 *
 * Return: the new alpha. The caller stores it, because dumps may read it at the same time.
 */
u32 dctcp_update_alpha(const struct dctcp_vars *v);

/**
 * dctcp_next_window() - start the next observation window, steps 7 and 8
 * @v: the state
 * @nxt_seq: SND.NXT
 */
void dctcp_next_window(struct dctcp_vars *v, u32 nxt_seq);

/**
 * dctcp_cwnd_after_mark() - reduce the window after a mark: cwnd * (1 - alpha / 2)
 * @cwnd_pkts: the window
 * @alpha: the estimate << DCTCP_ALPHA_SHIFT
 *
 * Return: the reduced window in packets; the reduction is rounded down.
 */
u32 dctcp_cwnd_after_mark(u32 cwnd_pkts, u32 alpha);

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
