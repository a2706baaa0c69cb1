/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LDCP receiver, draft-dai-pfc-free-low-delay-control (April 2021), section 2.2: it sends an
 * ACK for each packet, or one ACK for two packets without a CE mark. A packet with a mark is
 * acknowledged immediately and separately, with ECE.
 *
 *	packets waiting for an ACK | received packet
 *	with a mark or without one | CE		flush, then ACK now (ECE = 1)
 *	with a mark                | not CE	flush, then ACK now (ECE = 0)
 *	without one                | not CE	ACK now if m = 1, else delayed (ECE = 0)
 *
 * flush: packets that arrived before this one are acknowledged with the earlier RCV.NXT and ECE. A
 * packet with a mark waits only if the stack defers an immediate ACK: in the backlog of a socket
 * that is owned by its application, from kernel 6.12 on.
 *
 * Deviations:
 * - m is 1 or 2: Linux itself acknowledges every second full segment.
 * - The stack does not report Not-ECT packets. An ACK for more than the packet with the mark is
 *   recognized by its number instead, in ldcp_echoes().
 * - Before the first ECT packet of a connection, the stack's quick ACKs acknowledge each packet.
 */
#ifndef HOPCC_TCP_LDCP_LDCP_RECEIVER_H
#define HOPCC_TCP_LDCP_LDCP_RECEIVER_H

#include <linux/types.h>

/**
 * struct ldcp_receiver - state of a receiver; written under the socket lock
 * @rcv_nxt_seq: RCV.NXT before the packet that is being processed
 * @ece_seq: SEG.ACK of the ACK for the last packet with a mark
 * @ce: the last packet had a mark; read without the lock when packets are sent
 */
struct ldcp_receiver {
	u32 rcv_nxt_seq;
	u32 ece_seq;
	bool ce;
};

/**
 * enum ldcp_answer - the ACK that a received packet needs
 * @LDCP_ACK_AS_USUAL: delayed ACK as in the stack
 * @LDCP_ACK_NOW: an immediate ACK
 * @LDCP_ACK_FLUSH: an ACK for the packets before, then an immediate one
 */
enum ldcp_answer {
	LDCP_ACK_AS_USUAL,
	LDCP_ACK_NOW,
	LDCP_ACK_FLUSH,
};

/**
 * ldcp_classify() - decide which ACK a received packet needs
 * @r: the state before the packet
 * @ce: the packet is marked CE
 * @acked_seq: SEG.ACK of the last ACK sent
 * @ack_pkts: m, packets per ACK, 1 or 2
 *
 * Return: the ACKs that the packet requires.
 */
static inline enum ldcp_answer ldcp_classify(const struct ldcp_receiver *r, bool ce,
					     u32 acked_seq, u32 ack_pkts)
{
	if ((ce || r->ce) && (s32)(r->rcv_nxt_seq - acked_seq) > 0)
		return LDCP_ACK_FLUSH;
	return ce || ack_pkts == 1 ? LDCP_ACK_NOW : LDCP_ACK_AS_USUAL;
}

/**
 * ldcp_echoes() - may an ACK carry ECE?
 * @r: the state
 * @ack_seq: SEG.ACK of the ACK
 *
 * Return: true if the ACK acknowledges the packet with the mark and no later one.
 */
static inline bool ldcp_echoes(const struct ldcp_receiver *r, u32 ack_seq)
{
	return r->ce && ack_seq == r->ece_seq;
}

#endif /* HOPCC_TCP_LDCP_LDCP_RECEIVER_H */
