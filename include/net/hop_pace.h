/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows in fractions of a packet: what a whole number of packets cannot say is said by
 * the time at which the next one may leave. For laws: pure functions.
 */
#ifndef HOPCC_NET_HOP_PACE_H
#define HOPCC_NET_HOP_PACE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define HOP_WND_SHIFT		24
#define HOP_WND_ONE		0x1000000ULL	/* 1.0 << HOP_WND_SHIFT */
#define HOP_RTT_MAX_US		10000000U
#define HOP_NS_PER_US		1000U

/* Ethernet's header, preamble, FCS and gap. */
#define HOP_FRAME_BYTES		38U
/* A burst is a part of the window: a super-packet of all of it would be a queue. */
#define HOP_BURST_SHIFT		4
#define HOP_BURST_MAX_PKTS	44U

/**
 * hop_wnd_pkts() - a window in whole packets
 * @wnd: packets << HOP_WND_SHIFT
 * @flight_pkts: least number of packets that leave together
 *
 * Return: rounded down, at least @flight_pkts: what is below is the timer's, see
 * hop_gap_ns().
 */
static inline u32 hop_wnd_pkts(u64 wnd, u32 flight_pkts)
{
	return max_t(u64, wnd >> HOP_WND_SHIFT, flight_pkts);
}

/**
 * hop_gap_ns() - the timer of a window below one flight
 * @wnd: packets << HOP_WND_SHIFT, not 0
 * @flight_pkts: least number of packets that leave together, at most 16
 * @rtt_us: RTT, microseconds
 *
 * Return: from one flight to the next; 0 if the window is a flight or more.
 */
static inline u64 hop_gap_ns(u64 wnd, u32 flight_pkts, u32 rtt_us)
{
	/* 10^7 us * 10^3 * 2^4 < 2^38 */
	const u64 all_ns = (u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US * flight_pkts;

	if (wnd >= flight_pkts * HOP_WND_ONE)
		return 0;
	/* 2^38 * 2^24 = 2^62 */
	return div64_u64(all_ns << HOP_WND_SHIFT, wnd);
}

/**
 * hop_burst_pkts() - packets that may leave back to back
 * @wnd: packets << HOP_WND_SHIFT
 *
 * Return: packets of a super-packet, at least 1.
 */
static inline u32 hop_burst_pkts(u64 wnd)
{
	return clamp_t(u64, wnd >> (HOP_WND_SHIFT + HOP_BURST_SHIFT), 1, HOP_BURST_MAX_PKTS);
}

#endif /* HOPCC_NET_HOP_PACE_H */
