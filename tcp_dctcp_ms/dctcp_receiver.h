/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DCTCP receiver, draft-bensley-tcpm-dctcp-01 section 3.2: one bit of state is enough to report
 * exactly which bytes met congestion, in spite of delayed ACKs.
 *
 *	            CE: flush (ECE = 0)
 *	  +------+ ----------------------> +------+
 *	  | CE=0 |                         | CE=1 |
 *	  +------+ <---------------------- +------+
 *	          not CE: flush (ECE = 1)
 *
 * flush: data that arrived before this packet and is unacknowledged is acknowledged immediately,
 * with the ECE of the old state and RCV.NXT from before this packet.
 *
 * Deviations:
 * - The packet that changes the state is also acknowledged immediately, with the new state (RFC
 *   8257, 3.2), so that the sender learns of the change without a delay.
 * - The stack does not report Not-ECT packets: such a packet does not change the state. Linux
 *   senders of all DCTCP variants send every data packet as ECT.
 */
#ifndef HOPCC_TCP_DCTCP_MS_DCTCP_RECEIVER_H
#define HOPCC_TCP_DCTCP_MS_DCTCP_RECEIVER_H

#include <linux/types.h>

/**
 * struct dctcp_receiver - state of a receiver; written under the socket lock
 * @rcv_nxt_seq: RCV.NXT before the packet that is being processed
 * @ce: DCTCP.CE; read by dumps without the lock
 */
struct dctcp_receiver {
	u32 rcv_nxt_seq;
	bool ce;
};

/**
 * enum dctcp_ack - the ACK that a received packet needs
 * @DCTCP_ACK_AS_USUAL: delayed ACK as in the stack
 * @DCTCP_ACK_NOW: an immediate ACK with the new state
 * @DCTCP_ACK_FLUSH: an ACK with the old state and RCV.NXT, then one with the new
 */
enum dctcp_ack {
	DCTCP_ACK_AS_USUAL,
	DCTCP_ACK_NOW,
	DCTCP_ACK_FLUSH,
};

/**
 * dctcp_classify_packet() - rules 1 to 3 of section 3.2
 * @r: the state before the packet
 * @ce: the packet is marked CE
 * @acked_seq: SEG.ACK of the last ACK sent
 *
 * Return: the ACKs that the packet requires.
 */
static inline enum dctcp_ack dctcp_classify_packet(const struct dctcp_receiver *r,
						   bool ce, u32 acked_seq)
{
	if (ce == r->ce)
		return DCTCP_ACK_AS_USUAL;
	if ((s32)(r->rcv_nxt_seq - acked_seq) > 0)
		return DCTCP_ACK_FLUSH;
	return DCTCP_ACK_NOW;
}

#endif /* HOPCC_TCP_DCTCP_MS_DCTCP_RECEIVER_H */
