/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows in fractions of a packet. The kernel's window is a whole number of packets; the
 * fractional part of a window below one flight delays the next packet. These are pure functions,
 * for the congestion controls' arithmetic.
 */
#ifndef HOPCC_LIB_HOP_PACE_H
#define HOPCC_LIB_HOP_PACE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define HOP_WND_SHIFT		24
#define HOP_WND_ONE		0x1000000ULL	/* 1.0 << HOP_WND_SHIFT */
#define HOP_RTT_MAX_US		10000000U
#define HOP_NS_PER_US		1000U
#define HOP_US_PER_S		1000000U
#define HOP_PPM			1000000U

/*
 * The largest window, packets: 1.6 Tbit/s over 8 ms. For segments of more than 1024 bytes TCP's
 * receive window, at most 2^30 bytes, is a tighter limit.
 */
#define HOP_WND_MAX_PKTS	1048576U
#define HOP_WND_MAX		((u64)HOP_WND_MAX_PKTS << HOP_WND_SHIFT)

/* Ethernet's header, preamble, FCS and gap. */
#define HOP_FRAME_BYTES		38U
/* A burst is a fraction of the window: a GSO packet of the whole window would build a queue. */
#define HOP_BURST_SHIFT		4
/* Larger fraction where the hosts, not the network, are the bottleneck: see hop_burst_pkts(). */
#define HOP_BURST_SLOW_SHIFT	2
#define HOP_BURST_MAX_PKTS	44U

/* hop_wnd_of_ppm() of a constant */
#define HOP_WND_OF_PPM(ppm)	((((u64)(ppm) << HOP_WND_SHIFT) + HOP_PPM / 2) / HOP_PPM)

/**
 * hop_wnd_of_ppm() - convert packets to fixed point
 * @ppm: millionths of a packet, below 2^27
 *
 * Return: packets << HOP_WND_SHIFT, rounded to the nearest value.
 */
static inline u32 hop_wnd_of_ppm(u32 ppm)
{
	/* 2^27 * 2^24 */
	return div_u64(((u64)ppm << HOP_WND_SHIFT) + HOP_PPM / 2, HOP_PPM);
}

/**
 * hop_wnd_pkts() - convert a window to whole packets
 * @wnd: packets << HOP_WND_SHIFT
 * @flight_pkts: least number of packets that leave together
 *
 * Return: the window, rounded down, but at least @flight_pkts; a smaller window is enforced by
 * a delay, see hop_gap_ns().
 */
static inline u32 hop_wnd_pkts(u64 wnd, u32 flight_pkts)
{
	return max_t(u64, wnd >> HOP_WND_SHIFT, flight_pkts);
}

/**
 * hop_gap_ns() - get the interval between flights for a window below one flight
 * @wnd: packets << HOP_WND_SHIFT; 0 counts as the smallest window, 1
 * @flight_pkts: least number of packets that leave together, at most 16
 * @rtt_us: RTT, microseconds
 *
 * Return: nanoseconds from one flight to the next; 0 if the window is a flight or more.
 */
static inline u64 hop_gap_ns(u64 wnd, u32 flight_pkts, u32 rtt_us)
{
	/* 10^7 us * 10^3 * 2^4 < 2^38 */
	const u64 all_ns = (u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US * flight_pkts;

	if (wnd >= flight_pkts * HOP_WND_ONE)
		return 0;
	/* 2^38 * 2^24 = 2^62 */
	return div64_u64(all_ns << HOP_WND_SHIFT, max(wnd, 1ULL));
}

/**
 * enum hop_path - what the network has reported of a path
 * @HOP_PATH_BUSY: there may be a queue
 * @HOP_PATH_FREE: there is no queue
 * @HOP_PATH_IDLE: there is no queue, and the window is as large as the path ever allows
 */
enum hop_path {
	HOP_PATH_BUSY,
	HOP_PATH_FREE,
	HOP_PATH_IDLE,
};

/**
 * hop_hosts_are_slow() - check if the hosts, not the network, are a flow's bottleneck
 * @path: what the network has reported
 * @rtt_us: smoothed RTT, microseconds
 * @min_rtt_us: minimum RTT, microseconds
 *
 * Return: true if the RTT is more than twice the minimum although there is no queue on the path.
 */
static inline bool hop_hosts_are_slow(enum hop_path path, u32 rtt_us, u32 min_rtt_us)
{
	return path != HOP_PATH_BUSY && rtt_us / 2 > min_rtt_us;
}

/**
 * hop_burst_pkts() - get the number of packets that may leave back to back
 * @wnd_pkts: the window, packets
 * @path: what the network has reported
 * @rtt_us: smoothed RTT, microseconds
 * @min_rtt_us: minimum RTT, microseconds
 *
 * A burst costs a host as much CPU time as one packet. But a burst may build a queue, and a window
 * that is just large enough for the path keeps the path busy only if its packets are spread out.
 * If the hosts are the bottleneck, larger bursts do no harm. They do not exceed half of the window,
 * rounded up: with a burst of the whole window, one host would wait while the other works, and RTTs
 * would be long because of that alone.
 *
 * Return: packets per GSO packet, 1 to HOP_BURST_MAX_PKTS.
 */
static inline u32 hop_burst_pkts(u32 wnd_pkts, enum hop_path path, u32 rtt_us, u32 min_rtt_us)
{
	u32 pkts = wnd_pkts >> HOP_BURST_SHIFT;

	/* Two bursts of an odd window shall not leave a third one of a single packet. */
	if (hop_hosts_are_slow(path, rtt_us, min_rtt_us))
		pkts = path == HOP_PATH_IDLE ? wnd_pkts - wnd_pkts / 2 :
					       wnd_pkts >> HOP_BURST_SLOW_SHIFT;
	return clamp(pkts, 1U, HOP_BURST_MAX_PKTS);
}

/**
 * hop_wnd_bytes_ps() - convert a window to a rate
 * @wnd: packets << HOP_WND_SHIFT; any value: more than HOP_WND_MAX counts as HOP_WND_MAX
 * @mss_bytes: payload of a full packet, below 2^17
 * @rtt_us: RTT, microseconds; 0 counts as 1
 *
 * A dump reads @wnd and @rtt_us without the socket lock, so neither value can be trusted.
 *
 * Return: payload, bytes/s.
 */
static inline u64 hop_wnd_bytes_ps(u64 wnd, u32 mss_bytes, u32 rtt_us)
{
	/* 2^(44 - 8) * 2^17 = 2^53; the quotient is at most 2^53 * 10^6 / 2^16 < 2^57 */
	const u64 bytes = (min(wnd, HOP_WND_MAX) >> 8) * mss_bytes;

	return mul_u64_u64_div_u64(bytes, HOP_US_PER_S,
				   (u64)max(rtt_us, 1U) << (HOP_WND_SHIFT - 8));
}

#endif /* HOPCC_LIB_HOP_PACE_H */
