/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of tcp_ldcp share */
#ifndef HOPCC_TCP_LDCP_TCP_LDCP_H
#define HOPCC_TCP_LDCP_TCP_LDCP_H

#include <linux/netfilter.h>
#include <hopcc/core/hop_cc.h>

#include "ldcp_receiver.h"
#include "ldcp_sender.h"

/**
 * struct ldcp_sock - state of a connection, as sender and receiver; written under the socket lock
 * @v: state of the sender
 * @receiver: state of the receiver
 * @default_pkts: the stack's initial window, used if the sysctls define none
 * @undo_retrans_pkts: tp->total_retrans at the last loss, minus the retransmissions that DSACKs may
 *	still report
 * @undo_dsack_pkts: tp->dsack_dups at the last loss
 * @ack_ece: the ACK that is being processed has ECE
 * @tail_lost: this ACK acknowledges data beyond a loss probe that repaired a lost tail
 */
struct ldcp_sock {
	struct ldcp_vars v;
	struct ldcp_receiver receiver;
	u32 default_pkts;
	u32 undo_retrans_pkts;
	u32 undo_dsack_pkts;
	bool ack_ece;
	bool tail_lost;
};

/**
 * struct ldcp_gain - a constant of the algorithm
 * @ppm: the value as written, millionths
 * @value: the same << HOP_WND_SHIFT
 */
struct ldcp_gain {
	unsigned int ppm;
	u32 value;
};

/**
 * struct ldcp_knobs - sysctls of a netns; read without a lock
 * @alpha: constant of the algorithm, see struct ldcp_params
 * @beta: constant of the algorithm
 * @gamma: constant of the algorithm
 * @eta: constant of the algorithm
 * @per_rtt: grow once per round trip, section 3.2
 * @ack_pkts: m of the receiver
 * @bdp: values that determine the first window
 */
struct ldcp_knobs {
	struct ldcp_gain alpha;
	struct ldcp_gain beta;
	struct ldcp_gain gamma;
	struct ldcp_gain eta;
	u8 per_rtt;
	u8 ack_pkts;
	struct ldcp_bdp bdp;
};

/**
 * struct ldcp_net - state of a netns
 * @sysctl: the registered table
 * @knobs: values of the sysctls
 */
struct ldcp_net {
	struct hop_sysctl sysctl;
	struct ldcp_knobs knobs;
};

unsigned int ldcp_output(struct sk_buff *skb, const struct hop_cc *cc,
			 const struct nf_hook_state *state);

#endif /* HOPCC_TCP_LDCP_TCP_LDCP_H */
