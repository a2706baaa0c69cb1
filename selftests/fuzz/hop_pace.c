// SPDX-License-Identifier: GPL-2.0
/* Windows in fractions of a packet: conversion to packets, timer for small windows, burst sizes */
#include "fuzz.h"
#include <hopcc/lib/hop_pace.h>

/* Minimum and maximum window of the algorithms: 1/256 and 2^20 packets */
#define WND_MIN (HOP_WND_ONE >> 8)
#define WND_MAX (HOP_WND_ONE << 20)

/* A dump reads window and RTT without a lock, so any values are possible. */
static void check_rate(void)
{
	const u64 wnd = fuzz_u64();
	const u32 mss_bytes = fuzz_range(0, (1 << 17) - 1), rtt_us = fuzz_u32();
	const u64 rate_bytes_ps = hop_wnd_bytes_ps(wnd, mss_bytes, rtt_us);
	/* The 8 lowest of the window's 24 fractional bits are ignored. */
	const u64 counted = min(wnd, HOP_WND_MAX) >> 8;
	const __uint128_t exact = ((__uint128_t)counted * mss_bytes * HOP_US_PER_S >>
				   (HOP_WND_SHIFT - 8)) / max(rtt_us, 1U);

	FUZZ_CLAIM(rate_bytes_ps == exact);
	FUZZ_CLAIM(rate_bytes_ps <= (u64)HOP_WND_MAX_PKTS * mss_bytes * HOP_US_PER_S);
	/* A window of 0 counts as the minimum: one packet in 2^24 RTTs. */
	FUZZ_CLAIM(hop_gap_ns(wnd, 1, rtt_us) >> HOP_WND_SHIFT <=
		   (u64)HOP_RTT_MAX_US * HOP_NS_PER_US);
}

static void check_burst(u32 pkts, u32 rtt_us, u32 min_rtt_us)
{
	const u32 busy_pkts = hop_burst_pkts(pkts, HOP_PATH_BUSY, rtt_us, min_rtt_us);
	const u32 free_pkts = hop_burst_pkts(pkts, HOP_PATH_FREE, rtt_us, min_rtt_us);
	const u32 idle_pkts = hop_burst_pkts(pkts, HOP_PATH_IDLE, rtt_us, min_rtt_us);

	FUZZ_CLAIM(busy_pkts >= 1 && busy_pkts <= free_pkts);
	FUZZ_CLAIM(free_pkts <= idle_pkts && idle_pkts <= pkts - pkts / 2);
	FUZZ_CLAIM(idle_pkts <= HOP_BURST_MAX_PKTS);
	FUZZ_CLAIM(idle_pkts == busy_pkts || rtt_us > min_rtt_us);
}

static void fuzz_once(void)
{
	while (fuzz_has_more()) {
		const u64 wnd = fuzz_range(WND_MIN, WND_MAX);
		const u32 flight_pkts = fuzz_range(1, 16), rtt_us = fuzz_u32();
		const u64 rtt_ns = (u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US;
		const u64 gap_ns = hop_gap_ns(wnd, flight_pkts, rtt_us);
		const u32 pkts = hop_wnd_pkts(wnd, flight_pkts);

		FUZZ_CLAIM(pkts >= flight_pkts);
		FUZZ_CLAIM(pkts == flight_pkts || (u64)pkts << HOP_WND_SHIFT <= wnd);
		/*
		 * The timer is used only for windows below a flight, and is then longer than an
		 * RTT.
		 */
		FUZZ_CLAIM(wnd < flight_pkts * HOP_WND_ONE || !gap_ns);
		FUZZ_CLAIM(wnd >= flight_pkts * HOP_WND_ONE || gap_ns >= rtt_ns);
		FUZZ_CLAIM(gap_ns <= rtt_ns * flight_pkts * 256);
		check_burst(pkts, rtt_us, (u32)wnd);
		check_rate();
	}
}
