/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that a driver's ring holds below a qdisc. A qdisc does not see them, so they are
 * computed, and corrected by what the driver shows:
 *
 *	held = held + bytes				when a packet is handed to the driver
 *	held = max(held - pace * passed, 0)		as time passes
 *	held = in flight, if that is less		with byte queue limits (BQL)
 *	held = in flight				with BQL, while the ring limits the port
 *	held = as after the first stop			without BQL, when the driver stops the queue
 *
 * The pace is the port's rate. The ring limits the port from the first time that its driver is
 * seen to have stopped the queue, until the qdisc has no packet for the driver: in this time the
 * driver decides when the next packet leaves. The ring is full at each stop, so between two stops
 * it has sent as many bytes as it has accepted. That gives the measured pace, which replaces the
 * rate until HOP_RING_MEASURED_NS after the last stop.
 *
 * BQL alone would report too much if the ring is not the bottleneck: its bytes in flight include
 * those that have left the ring but that no interrupt has reported yet, up to an interrupt's delay
 * times the rate.
 *
 * Bytes that have left do not return: a correction may reduce "held" at any time, but only bytes
 * that are handed over increase it. So the number of bytes that have left never falls.
 */
#ifndef HOPCC_LIB_HOP_RING_H
#define HOPCC_LIB_HOP_RING_H

#include <linux/bits.h>
#include <linux/types.h>

#define HOP_RING_NS_PER_S	1000000000U
/* Fixed point of bytes in the ring, 2^-16: a million packets round by 15 bytes. */
#define HOP_RING_SHIFT		16
/* Fixed point of bytes/ns, 2^-40: 200 bytes/ns (1.6 Tbit/s) are less than 2^48. */
#define HOP_RING_PACE_SHIFT	40
/* Fixed point of ns/byte, 2^-32: 800000 ns/byte (10 kbit/s) are less than 2^52. */
#define HOP_RING_BYTE_SHIFT	32
/* Upper bound of a pace, 1.6 Tbit/s */
#define HOP_RING_PACE_MAX	200
/* A longer time counts as this, 69 s: 2^36 ns * 2^48 >> (40 - 16) = 2^60 */
#define HOP_RING_TIME_MAX_NS	BIT_ULL(36)
/* Upper bound of bytes in a ring: 256 slots with GSO packets of 64 KB */
#define HOP_RING_MAX_BYTES	BIT_ULL(24)
/* Minimum number of bytes over which a pace is measured: 43 full packets */
#define HOP_RING_WINDOW_BYTES	BIT_ULL(16)
/* A measured pace is valid for this time after the last stop. */
#define HOP_RING_MEASURED_NS	100000000U
/* Upper bound with a measured pace while it is not known what a full ring holds */
#define HOP_RING_MEASURED_BYTES	BIT_ULL(19)

/**
 * struct hop_ring_bql - the counters of byte queue limits; they wrap
 * @is_used: the driver counts
 * @queued_bytes: bytes that the driver has put into the ring
 * @completed_bytes: bytes that the driver knows to have left
 */
struct hop_ring_bql {
	bool is_used;
	u32 queued_bytes;
	u32 completed_bytes;
};

/**
 * struct hop_ring_pace - how fast a ring sends
 * @bytes_q40: bytes/ns in 2^-HOP_RING_PACE_SHIFT
 * @ns_q32: ns/byte in 2^-HOP_RING_BYTE_SHIFT
 */
struct hop_ring_pace {
	u64 bytes_q40;
	u64 ns_q32;
};

/**
 * struct hop_ring - the ring below a port; all zero at first, then hop_ring_set_rate()
 * @rate: the port's rate
 * @pace: the pace in use: the rate, or what was measured
 * @now_ns: time of @work_q16
 * @work_q16: bytes on the wire in the ring, in 2^-HOP_RING_SHIFT
 * @given_bytes: bytes on the wire handed to the driver so far
 * @left_bytes: those of @given_bytes that have left the ring; never falls
 * @full_q16: @work_q16 after the first stop since the qdisc was last empty
 * @stop_bytes: @given_bytes when the driver was last seen to have stopped the queue
 * @stop_ns: @now_ns at that time: the last packet before the stop
 * @mark_bytes: @stop_bytes at the start of a measurement of the pace
 * @mark_ns: @stop_ns at the start of that measurement
 * @queued_bytes: BQL's counter when the last packet was handed over
 * @pending_bytes: bytes handed over that this counter does not have yet: with BQL, the stack takes
 *	several packets from the qdisc before it gives the first one to the driver
 * @has_bql: the driver counts for BQL
 * @limits: the ring limits the port; the five members from @full_q16 on are valid
 * @is_measured: @pace was measured
 */
struct hop_ring {
	struct hop_ring_pace rate;
	struct hop_ring_pace pace;
	u64 now_ns;
	u64 work_q16;
	u64 given_bytes;
	u64 left_bytes;
	u64 full_q16;
	u64 stop_bytes;
	u64 stop_ns;
	u64 mark_bytes;
	u64 mark_ns;
	u32 queued_bytes;
	u32 pending_bytes;
	bool has_bql;
	bool limits;
	bool is_measured;
};

/**
 * hop_ring_set_rate() - set the rate of the port
 * @r: the ring
 * @rate_bytes_ps: the rate, bytes/s, 1 to 200 * 10^9
 */
void hop_ring_set_rate(struct hop_ring *r, u64 rate_bytes_ps);

/**
 * hop_ring_held_bytes() - get the bytes in the ring
 * @r: the ring
 * @now_ns: current time, ns, of any clock that does not jump
 * @bql: the counters
 *
 * Return: bytes on the wire, at most HOP_RING_MAX_BYTES; BQL counts without overhead.
 */
u64 hop_ring_held_bytes(struct hop_ring *r, u64 now_ns, const struct hop_ring_bql *bql);

/**
 * hop_ring_give() - hand a packet to the driver
 * @r: the ring
 * @now_ns: current time, ns
 * @bytes: the packet's size on the wire
 * @bql: the counters
 */
void hop_ring_give(struct hop_ring *r, u64 now_ns, u32 bytes, const struct hop_ring_bql *bql);

/**
 * hop_ring_stopped() - note that the driver has stopped the queue
 * @r: the ring
 *
 * Call this when a packet arrives in the qdisc and the queue is stopped. Only the first call after
 * a packet was handed over counts: then the ring was full.
 */
void hop_ring_stopped(struct hop_ring *r);

/**
 * hop_ring_idle() - note that the qdisc has no packet for the driver
 * @r: the ring
 */
static inline void hop_ring_idle(struct hop_ring *r)
{
	r->limits = false;
}

/**
 * hop_ring_wait_ns() - get the time that a packet waits in the ring
 * @r: the ring
 * @held_bytes: bytes before the packet, from hop_ring_held_bytes()
 *
 * Return: ns. 2^24 * 2^52 >> 32
 */
u64 hop_ring_wait_ns(const struct hop_ring *r, u64 held_bytes);

#endif /* HOPCC_LIB_HOP_RING_H */
