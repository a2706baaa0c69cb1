/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XCP and other traffic on one port: two queues, and the weights by which they are served.
 *
 * Source: draft-falk-xcp-spec-00 section 4.3, which gives the idea; the algorithm is that of
 * Katabi, Handley, Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM
 * 2002, section 6 (TCP-friendly XCP). Once per control interval:
 *
 *	window = size / (sqrt(2p/3) + 12 p sqrt(3p/8) (1 + 32 p^2))	of a TCP flow
 *	weight += kappa * (x_xcp - x_tcp) / (x_xcp + x_tcp)		of the other traffic
 *
 * where p is the rate of losses and marks in the other queue. The capacity for the XCP algorithm is
 * XCP's weight times the port's capacity, plus the part that the other queue leaves unused. Packets
 * are served by a virtual clock, bytes over weight: the queue that is behind is served next, and a
 * queue that is alone gets the whole port.
 *
 * Deviations:
 * - Weights follow mean throughputs, as in the draft, not mean windows as in the paper: the other
 *   queue is a standing queue and XCP's is not, so equal windows would mean unequal rates. The RTT
 *   of TCP is XCP's plus the delay of the other queue. By Little's law, all bytes in flight and
 *   queued are flows * window: this gives the number of flows, and the current rate divided by this
 *   number is their throughput. Unlike a loss rate, the number of flows stays valid while weights
 *   change, so it adds no delay to the control loop.
 * - p counts events, as in TFRC, not packets: within an RTT, more than one loss per flow has no
 *   further effect on TCP. A slow start that overflows the buffer loses half a window at once, and
 *   a tail drop loses in bursts: N flows that each send one more packet lose N packets in the RTT
 *   until they notice, and these hit only two of three flows.
 * - p counts bytes, and size is the mean packet size weighted by bytes, so ACKs hardly count.
 * - With the option for CUBIC, the window is the larger one of the window above and RFC 9438's
 *   1.054 (RTT / p)^(3/4). At the same loss rate as Reno, a CUBIC flow has a larger window.
 * - Weights change only while each side uses three quarters of its part, or has enough packets
 *   queued to do so. A side that uses less is limited elsewhere, so its window has no meaning here.
 * - Means are over as many control intervals as four windows have packets. This is three of Reno's
 *   sawteeth if half of Reno's RTT is queueing delay. Without a loss in this time, one loss is
 *   assumed.
 * - Weights stay between 1/64 and 63/64.
 */
#ifndef HOPCC_SCH_XCP_XCP_SHARE_H
#define HOPCC_SCH_XCP_XCP_SHARE_H

#include <linux/math.h>
#include "xcp_router.h"

/* Fixed point of weights and kappa: 1 << 16 is 1. */
#define XCP_SHARE_SHIFT 16
#define XCP_SHARE_ONE 65536U
#define XCP_SHARE_MIN (XCP_SHARE_ONE / 64)
#define XCP_SHARE_MAX (XCP_SHARE_ONE - XCP_SHARE_MIN)
#define XCP_SHARE_KAPPA 6554 /* 0.1 << XCP_SHARE_SHIFT */
/* Fixed point of p: 1 << 32 is 1. */
#define XCP_LOSS_SHIFT 32
/* CUBIC's constant, (0.4 * 3.7 / 1.2)^(1/4) */
#define XCP_CUBIC_Q16 69063
/* Number of control intervals in the means */
#define XCP_SHARE_MEMORY_MIN 16
#define XCP_SHARE_MEMORY_MAX 1024
/* Fixed point of means of an interval's bytes: below 2^41 << 16. */
#define XCP_MEAN_SHIFT 16
/* At most 2^24 flows */
#define XCP_FLOWS_MAX_Q16 (1LL << (24 + 16))
/* Bytes in an interval of 10 s at 1.6 Tbit/s; larger values saturate. */
#define XCP_SHARE_BYTES_MAX (1ULL << (38 + 3))

/* Index of the two queues */
enum sxcp_side {
	XCP_SIDE_XCP,
	XCP_SIDE_OTHER,
	XCP_SIDES,
};

/**
 * struct sxcp_share_vars - state of the two queues of a port; protected by the qdisc lock
 * @arrived_bytes: bytes of other traffic that arrived in this interval
 * @sized_bytes2: sum of these bytes * size of their packet
 * @marked_bytes: bytes of other traffic marked in the queue; below 0 while packets that were marked
 *	on arrival wait
 * @left_bytes: bytes on the link that departed in this interval
 * @total_left_bytes: bytes on the link that have ever departed
 * @arrived_q16: mean bytes of other traffic that arrived in an interval
 * @lost_q16: mean bytes of those losses and marks in an interval that reduce the rate of a flow
 * @left_q16: mean bytes on the link of other traffic that departed in an interval
 * @queued_q16: mean of the other queue, bytes on the link
 * @elapsed_q16: mean length of an interval, ns
 * @size_q16: mean packet size, bytes
 * @unreturned_bytes: corrections of losses that were counted too early, at most 0
 * @event_ns: remaining time of the RTT in which a flow does not react to a second loss
 * @event_q16: bytes of one packet for each flow that has had no loss in this RTT so far
 * @flows_q16: number of other flows
 * @intervals: number of intervals in the means
 * @weight: weight of each queue; the sum is XCP_SHARE_ONE
 * @cost_q16: virtual time per byte: 1 / weight
 * @lead: difference of the virtual clocks: XCP's minus the other's
 * @loss_q32: p
 * @window_q16: mean window of another flow, packets
 * @window_bytes: mean window of a flow, XCP and other
 * @flow_q16: mean throughput of a flow, bytes/s, XCP and other
 */
struct sxcp_share_vars {
	u64 arrived_bytes;
	u64 sized_bytes2;
	s64 marked_bytes;
	u64 left_bytes[XCP_SIDES];
	u64 total_left_bytes[XCP_SIDES];
	s64 arrived_q16;
	s64 lost_q16;
	s64 left_q16;
	s64 queued_q16;
	s64 elapsed_q16;
	s64 size_q16;
	s64 unreturned_bytes;
	u64 event_ns;
	u64 event_q16;
	u64 flows_q16;
	u32 intervals;
	u32 weight[XCP_SIDES];
	u32 cost_q16[XCP_SIDES];
	s64 lead;
	u64 loss_q32;
	u64 window_q16;
	u64 window_bytes[XCP_SIDES];
	s64 flow_q16[XCP_SIDES];
};

/**
 * struct sxcp_share_interval - further values of an interval
 * @capacity_bytes_ps: capacity of the port
 * @elapsed_ns: length of the interval, not 0
 * @asking_bytes: bytes on the link of the XCP packets in @sum_time
 * @sum_time: sum of XCP's packet times, 2^-12 ns (sxcp_vars)
 * @avg_rtt_ns: mean RTT of XCP's flows
 * @lost_bytes: bytes that the other queue dropped; below 0 to correct an earlier value
 * @overhead_bytes: bytes that the link adds to each packet
 * @cubic: the other flows use CUBIC
 * @queue_bytes: bytes on the link queued at the end of the interval
 */
struct sxcp_share_interval {
	u64 capacity_bytes_ps;
	u64 elapsed_ns;
	u64 asking_bytes;
	u64 sum_time;
	u64 avg_rtt_ns;
	s64 lost_bytes;
	u32 overhead_bytes;
	bool cubic;
	u32 queue_bytes[XCP_SIDES];
};

/**
 * sxcp_share_start() - initialize the state of two new queues
 * @v: the queues
 */
void sxcp_share_start(struct sxcp_share_vars *v);

/**
 * sxcp_share_side() - get the queue that a packet belongs to
 * @pkt: the packet
 *
 * Packets without a congestion header, or with a malformed one, are not controlled by XCP.
 *
 * Return: the queue.
 */
static inline enum sxcp_side sxcp_share_side(const struct sxcp_pkt *pkt)
{
	return pkt->class == XCP_CLASS_OTHER || pkt->class == XCP_CLASS_MALFORMED ?
	       XCP_SIDE_OTHER : XCP_SIDE_XCP;
}

/**
 * sxcp_share_arrive() - count a packet of other traffic that arrives
 * @v: the queues
 * @pkts: number of packets on the wire
 * @bytes: size of the packet as its queue counts it
 * @marked: the packet is marked CE on arrival
 */
void sxcp_share_arrive(struct sxcp_share_vars *v, u32 pkts, u32 bytes, bool marked);

/**
 * sxcp_share_turn() - get the queue to serve next if both hold packets
 * @v: the queues
 *
 * Return: the queue.
 */
static inline enum sxcp_side sxcp_share_turn(const struct sxcp_share_vars *v)
{
	return v->lead > 0 ? XCP_SIDE_OTHER : XCP_SIDE_XCP;
}

/**
 * sxcp_share_leave() - count a packet that departs
 * @v: the queues
 * @side: queue of the packet
 * @link_bytes: size of the packet on the link
 * @alone: no packet of the other queue could be served
 *
 * If only one queue holds packets, the other queue's clock advances with it: an idle queue gets no
 * credit for the past, and is behind by at most one packet.
 */
void sxcp_share_leave(struct sxcp_share_vars *v, enum sxcp_side side, u32 link_bytes, bool alone);

/**
 * sxcp_share_mark() - count a packet of the other queue that departs with a CE mark
 * @v: the queues
 * @bytes: size of the packet as its queue counts it
 */
void sxcp_share_mark(struct sxcp_share_vars *v, u32 bytes);

/* Clear the counts for the next interval. */
void sxcp_share_clear(struct sxcp_share_vars *v);

/**
 * sxcp_share_close() - update the weights at the end of an interval, before sxcp_close_interval()
 * @v: the queues
 * @i: the interval
 *
 * Return: XCP's capacity in the next interval, bytes/s, not 0.
 */
u64 sxcp_share_close(struct sxcp_share_vars *v, const struct sxcp_share_interval *i);

#endif /* HOPCC_SCH_XCP_XCP_SHARE_H */
