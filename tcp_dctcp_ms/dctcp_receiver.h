/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCTCP's receiver, draft-bensley-tcpm-dctcp-01 section 3.2: one bit of state
 * tells the sender exactly which bytes met congestion, with delayed ACKs.
 *
 *	            CE: flush (ECE = 0)
 *	  +------+ ----------------------> +------+
 *	  | CE=0 |                         | CE=1 |
 *	  +------+ <---------------------- +------+
 *	          not CE: flush (ECE = 1)
 *
 * flush: what arrived before this packet and is unacknowledged is acknowledged
 * now, with the old state's ECE and RCV.NXT as it was before this packet.
 *
 * Deviations:
 * - The packet that changes the state is acknowledged at once too, with the new
 *   state (RFC 8257, 3.2): the sender hears of the change without a delay.
 * - The stack reports no Not-ECT packet: such a packet leaves the state alone.
 *   Linux senders of a DCTCP kind send every data packet ECT.
 */
#ifndef TCP_DCTCP_MS_DCTCP_RECEIVER_H
#define TCP_DCTCP_MS_DCTCP_RECEIVER_H

#include <linux/types.h>

/**
 * struct dctcp_receiver - written under the socket lock
 * @rcv_nxt_seq: RCV.NXT before the packet that is being processed
 * @ce: DCTCP.CE; read by dumps without the lock
 */
struct dctcp_receiver {
	u32 rcv_nxt_seq;
	bool ce;
};

/**
 * enum dctcp_ack - what a received packet calls for
 * @DCTCP_ACK_AS_USUAL: the delayed ACK's rules
 * @DCTCP_ACK_NOW: an ACK of the new state at once
 * @DCTCP_ACK_FLUSH: an ACK of the old state and RCV.NXT, then one of the new
 */
enum dctcp_ack {
	DCTCP_ACK_AS_USUAL,
	DCTCP_ACK_NOW,
	DCTCP_ACK_FLUSH,
};

/**
 * dctcp_classify_packet() - rules 1 to 3 of section 3.2
 * @r: the state before the packet
 * @ce: the packet's CE codepoint
 * @acked_seq: the last SEG.ACK sent
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

#endif /* TCP_DCTCP_MS_DCTCP_RECEIVER_H */
