/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A law of one page, as an example: additive increase, multiplicative decrease over a delay.
 *
 *	delay <= target		wnd += n / wnd for n packets delivered
 *	delay > target		wnd *= 3/4, once a round trip
 *	a loss			wnd *= 1/2
 *
 * The delay is max(PD) of CSIG, or else the RTT above its minimum. Fixed point: 24 fractional bits.
 */
#ifndef HOPCC_TOOLS_EXAMPLES_AIMD_AIMD_H
#define HOPCC_TOOLS_EXAMPLES_AIMD_AIMD_H

#include <hopcc/lib/hop_pace.h>

#define AIMD_WND_MIN	(2 * HOP_WND_ONE)

/**
 * struct aimd_vars - state of a sender; written under the socket lock
 * @wnd: window, packets << HOP_WND_SHIFT
 * @undo_wnd: window before the last loss
 * @cut: the window was reduced in this round trip
 */
struct aimd_vars {
	u64 wnd;
	u64 undo_wnd;
	bool cut;
};

/**
 * aimd_receive() - process an ACK
 * @v: the state
 * @acked_pkts: packets that it delivered, below 2^15
 * @delay_ns: the delay that it reports
 * @target_ns: the largest delay at which the window grows
 * @round: a round trip ended with this ACK
 */
static inline void aimd_receive(struct aimd_vars *v, u32 acked_pkts, u64 delay_ns, u64 target_ns,
				bool round)
{
	v->cut = v->cut && !round;
	/* 2^15 * 2^48 = 2^63 */
	if (delay_ns <= target_ns)
		v->wnd += div64_u64((u64)acked_pkts << (2 * HOP_WND_SHIFT), v->wnd);
	else if (!v->cut)
		v->wnd -= v->wnd / 4;
	v->cut = v->cut || delay_ns > target_ns;
	v->wnd = clamp(v->wnd, AIMD_WND_MIN, HOP_WND_MAX);
}

/**
 * aimd_lose() - process a loss
 * @v: the state
 */
static inline void aimd_lose(struct aimd_vars *v)
{
	v->undo_wnd = v->wnd;
	v->wnd = max(v->wnd / 2, AIMD_WND_MIN);
}

#endif /* HOPCC_TOOLS_EXAMPLES_AIMD_AIMD_H */
