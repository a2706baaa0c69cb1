/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LDCP's receiver, draft-dai-pfc-free-low-delay-control (April 2021), section 2.2: an ACK
 * for each packet, or one for two that bear no mark; a packet with a mark is acknowledged at
 * once, alone, with ECE.
 *
 *	what waits for an ACK | CE	flush, then ACK now (ECE = 1)
 *	with a mark           | not CE	flush, then ACK now (ECE = 0)
 *	without one           | not CE	ACK now if m = 1, else as usual (ECE = 0)
 *
 * flush: what arrived before this packet is acknowledged with RCV.NXT and ECE as they were.
 * A mark waits where the stack puts off an ACK that is wanted now: in the backlog of a socket
 * that its application holds, from 6.12 on.
 *
 * Deviations:
 * - m is 1 or 2: Linux itself acknowledges every second full segment.
 * - The stack reports no Not-ECT packet. An ACK that goes beyond the packet with the mark
 *   is told by its number instead: it is ldcp_echoes() that decides.
 * - Before the first ECT packet of a connection the stack's quick ACKs are what acknowledges
 *   each packet.
 */
#ifndef TCP_LDCP_LDCP_RECEIVER_H
#define TCP_LDCP_LDCP_RECEIVER_H

#include <linux/types.h>

/**
 * struct ldcp_receiver - written under the socket lock
 * @rcv_nxt_seq: RCV.NXT before the packet that is being processed
 * @ece_seq: the SEG.ACK that tells of the last packet with a mark
 * @ce: the last packet had one; read by output without the lock
 */
struct ldcp_receiver {
	u32 rcv_nxt_seq;
	u32 ece_seq;
	bool ce;
};

/**
 * enum ldcp_answer - what a received packet calls for
 * @LDCP_ACK_AS_USUAL: the delayed ACK's rules
 * @LDCP_ACK_NOW: an ACK at once
 * @LDCP_ACK_FLUSH: an ACK of what came before, then one at once
 */
enum ldcp_answer {
	LDCP_ACK_AS_USUAL,
	LDCP_ACK_NOW,
	LDCP_ACK_FLUSH,
};

/**
 * ldcp_classify() - the receiver's policy
 * @r: the state before the packet
 * @ce: the packet's CE codepoint
 * @acked_seq: the last SEG.ACK sent
 * @ack_pkts: m
 */
static inline enum ldcp_answer ldcp_classify(const struct ldcp_receiver *r, bool ce,
					     u32 acked_seq, u32 ack_pkts)
{
	if ((ce || r->ce) && (s32)(r->rcv_nxt_seq - acked_seq) > 0)
		return LDCP_ACK_FLUSH;
	return ce || ack_pkts == 1 ? LDCP_ACK_NOW : LDCP_ACK_AS_USUAL;
}

/**
 * ldcp_echoes() - may an ACK bear ECE?
 * @r: the state
 * @ack_seq: its SEG.ACK
 *
 * Return: whether it tells of the packet with the mark and of no later one.
 */
static inline bool ldcp_echoes(const struct ldcp_receiver *r, u32 ack_seq)
{
	return r->ce && ack_seq == r->ece_seq;
}

#endif /* TCP_LDCP_LDCP_RECEIVER_H */
