/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that the driver's ring below the qdisc holds, and that the qdisc no longer sees. They
 * are computed once per period of the queue's estimate, so that they cost nothing per packet:
 *
 *	held = max(held + sent - rate * elapsed, 0)	at the end of a period
 *	held = in flight, if that is less		with byte queue limits (BQL)
 *	held = in flight				with BQL, if the qdisc was never empty
 *
 * "sent" is what the qdisc handed to the driver in the period. If the link was busy during the
 * whole period, the first line is exact. If the link was idle for a time, the ring was empty then,
 * so it held no persistent queue; the result is too low by what the link could have sent in that
 * time.
 *
 * BQL's bytes in flight include bytes that have left but that no interrupt has reported yet. With
 * these alone, a port without a queue would seem to have one. A qdisc that was never empty has kept
 * the ring full.
 *
 * The persistent queue in the ring is the smaller one of what it held at both ends of a period,
 * just as the estimate of the qdisc's queue is a minimum.
 *
 * struct hop_ring (hop_ring.h) does the same for each packet, in qdiscs that report the queue in
 * each packet.
 */
#ifndef HOPCC_SCH_XCP_XCP_RING_H
#define HOPCC_SCH_XCP_XCP_RING_H

#include <hopcc/lib/hop_ring.h>
#include <linux/types.h>

/**
 * struct sxcp_ring - the ring below a port
 * @sent_bytes: bytes that the qdisc had sent at @now_ns
 * @now_ns: end of the last period
 * @held_bytes: bytes in the ring at @now_ns, at most HOP_RING_MAX_BYTES
 */
struct sxcp_ring {
	u64 sent_bytes;
	u64 now_ns;
	u32 held_bytes;
};

/**
 * struct sxcp_ring_look - what is known at the end of a period
 * @sent_bytes: bytes on the link that the qdisc has sent; only differences are used
 * @now_ns: current time; never decreases
 * @rate_bytes_ps: capacity of the port, at most TC_XCP_RATE_MAX_BYTES_PS
 * @waited: packets were queued in the qdisc during the whole period
 * @bql: the driver's counters
 */
struct sxcp_ring_look {
	u64 sent_bytes;
	u64 now_ns;
	u64 rate_bytes_ps;
	bool waited;
	struct hop_ring_bql bql;
};

/**
 * sxcp_ring_close() - end a period of the queue's estimate
 * @r: the ring; all zero at first
 * @look: what is known now
 *
 * Return: the persistent queue in the ring, bytes, at most HOP_RING_MAX_BYTES.
 */
u32 sxcp_ring_close(struct sxcp_ring *r, const struct sxcp_ring_look *look);

#endif /* HOPCC_SCH_XCP_XCP_RING_H */
