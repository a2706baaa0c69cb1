// SPDX-License-Identifier: GPL-2.0
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
 *   fraction is below one packet. At that time the stack also clears its count of acknowledged
 *   packets towards the next growth (snd_cwnd_cnt), so the two errors balance.
 * - The minimum window is 2 packets; the draft names none.
 * - Loss, which the draft does not cover: a loss halves the window, once per window (RFC 8257,
 *   3.5). If a mark has already reduced the window in this round trip, a loss increases the total
 *   reduction to one half; it does not halve the reduced window.
 */
#include "dctcp_sender.h"

enum dctcp_law dctcp_choose_law(u32 rtt_us, u32 rtt_max_us)
{
	if (!rtt_max_us || rtt_us < rtt_max_us)
		return DCTCP_LAW_DCTCP;
	return DCTCP_LAW_CONVENTIONAL;
}

void dctcp_start(struct dctcp_vars *v, u32 una_seq)
{
	v->alpha = DCTCP_ALPHA_ONE;
	v->window_end_seq = una_seq;
	v->sent_bytes = 0;
	v->marked_bytes = 0;
	v->una_seq = una_seq;
}

void dctcp_account_ack(struct dctcp_vars *v, u32 ack_seq, bool ece)
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
 * dctcp_marked_fraction() - compute the fraction of marked bytes, step 5
 * @v: the state
 *
 * Return: M << DCTCP_ALPHA_SHIFT, rounded down.
 */
static u32 dctcp_marked_fraction(const struct dctcp_vars *v)
{
	if (!v->sent_bytes)
		return 0;
	/* 2^31 bytes * 2^31 = 2^62 < U64_MAX; the quotient is at most 2^31 */
	return div_u64((u64)v->marked_bytes << DCTCP_ALPHA_SHIFT, v->sent_bytes);
}

u32 dctcp_update_alpha(const struct dctcp_vars *v)
{
	/* 2^31 * 2^4 < U64_MAX */
	u64 kept = ((u64)v->alpha << DCTCP_GAIN_SHIFT) - v->alpha;

	return (kept + dctcp_marked_fraction(v)) >> DCTCP_GAIN_SHIFT;
}

void dctcp_next_window(struct dctcp_vars *v, u32 nxt_seq)
{
	v->window_end_seq = nxt_seq;
	v->sent_bytes = 0;
	v->marked_bytes = 0;
}

u32 dctcp_cwnd_after_mark(u32 cwnd_pkts, u32 alpha)
{
	/* 2^32 packets * 2^31 = 2^63 < U64_MAX */
	u32 cut_pkts = ((u64)cwnd_pkts * alpha) >> (DCTCP_ALPHA_SHIFT + 1);

	return max(cwnd_pkts - cut_pkts, DCTCP_CWND_MIN_PKTS);
}
