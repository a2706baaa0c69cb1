/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Discovery finds out whether the peer, and the path to it, accept a carrier's headers. The
 * drafts do not define it. SYN and SYN-ACK carry a header:
 *
 *	 active open                            passive open
 *	 NONE                                   NONE
 *	  | our SYN, with a header               | a SYN with a header
 *	 ASKED --------------+                  OFFERED
 *	  |    our SYN again |                   | our SYN-ACK, with a header
 *	  |    without ---> LOST                ANSWERED ---------+
 *	  | SYN-ACK with a   |                   | established    | our SYN-ACK again,
 *	  | header           |                   |                | without
 *	 SUPPORTED <---------+ the same         SUPPORTED        LOST
 *
 * When the connection is established, ASKED becomes UNSUPPORTED, and LOST becomes DOUBTFUL: the
 * packet with the header was dropped because of the header, or by chance (hop_may_be_loss()). They
 * do not change earlier, since then a destination that does not answer at all would be remembered
 * as one without support. A refusal by ICMP makes any of the stages UNSUPPORTED, except for that of
 * our SYN-ACK to a connection request: a SYN may be forged, and the host that it names answers our
 * SYN-ACK. So ANSWERED becomes LOST, and nothing is remembered unless the handshake ends, which
 * proves the peer's address. Timeouts in a row turn SUPPORTED into UNSUPPORTED, since the path may
 * have changed.
 *
 * DOUBTFUL sends no headers either, but a header that arrives makes it SUPPORTED. If both SYNs of
 * the peer waited for its ARP, they arrive together: the first SYN-ACK has a header and reaches the
 * peer, and the second one has none. Pure ACKs may ask as below.
 *
 * SUPPORTED also becomes UNSUPPORTED if, soon after the handshake, a reset shows that the peer does
 * not know the connection. A box on the path then treats packets with a header and packets without
 * one as two flows: if NAT is switched on while an old entry for our protocol is still valid, it
 * does not translate the handshake, but it translates the ACK that follows.
 *
 * A program may select its congestion control after the connection is established. Then pure
 * ACKs negotiate, since losing one does no harm:
 *
 *	 the end that asks                      the other end
 *	 NONE                                   NONE
 *	  | our ACK, with a header that asks     | an ACK with such a header
 *	 LATE                                   LATE, and its next pure ACK has a header
 *	  | a header that does not ask           | data with a header
 *	 SUPPORTED                              SUPPORTED
 *
 * If the data of a whole round trip is acknowledged and no header has arrived, the next ACK asks
 * again. After HOP_LATE_ASKS such ACKs, LATE becomes UNSUPPORTED. A carrier that negotiates by a
 * TCP option asks in this way even if ASKED was not answered: see hopcc/core/hop_negotiate.h.
 */
#ifndef HOPCC_LIB_HOP_DISCOVER_H
#define HOPCC_LIB_HOP_DISCOVER_H

#include <linux/types.h>

/* Number of timeouts in a row after which headers are no longer sent. */
#define HOP_TIMEOUTS_MAX	2

/*
 * Number of segments received: a reset counts as "soon after the handshake" if TCP received at
 * most this many before it.
 */
#define HOP_RESET_SEGS		16U

/* Number of ACKs of an established connection that ask for headers before discovery gives up. */
#define HOP_LATE_ASKS		3U

/**
 * enum hop_stage - stage of discovery; see the drawing above
 * @HOP_STAGE_NONE: no packet with a header was sent or received so far
 * @HOP_STAGE_ASKED: our SYN had a header
 * @HOP_STAGE_LOST: our SYN or SYN-ACK with a header was not answered, so the next had no header
 * @HOP_STAGE_OFFERED: the peer's SYN had a header
 * @HOP_STAGE_ANSWERED: our SYN-ACK had a header
 * @HOP_STAGE_LATE: an ACK of an established connection had a header that asks, ours or the peer's
 * @HOP_STAGE_SUPPORTED: headers pass in both directions
 * @HOP_STAGE_UNSUPPORTED: our data carries no headers
 * @HOP_STAGE_DOUBTFUL: neither, but the reason may be the loss of a packet: see above
 */
enum hop_stage {
	HOP_STAGE_NONE,
	HOP_STAGE_ASKED,
	HOP_STAGE_LOST,
	HOP_STAGE_OFFERED,
	HOP_STAGE_ANSWERED,
	HOP_STAGE_LATE,
	HOP_STAGE_SUPPORTED,
	HOP_STAGE_UNSUPPORTED,
	HOP_STAGE_DOUBTFUL,
};

/**
 * enum hop_event - events that change the stage of discovery
 * @HOP_EVENT_SYN_OUT: our SYN leaves, for the first time or again
 * @HOP_EVENT_SYN_IN: a SYN with a header arrives
 * @HOP_EVENT_SYNACK_OUT: our SYN-ACK leaves, for the first time or again
 * @HOP_EVENT_SYNACK_IN: a SYN-ACK with a header arrives
 * @HOP_EVENT_HEADER_IN: any other packet with a header arrives
 * @HOP_EVENT_ESTABLISHED: the handshake is complete
 * @HOP_EVENT_REFUSED: an ICMP error shows that a host or router does not accept our headers
 * @HOP_EVENT_DECLINED: the same for our SYN-ACK, whose destination may not have sent the SYN
 * @HOP_EVENT_TIMEOUTS: TCP had HOP_TIMEOUTS_MAX timeouts in a row
 * @HOP_EVENT_LATE: an ACK with a header that asks was sent or received
 * @HOP_EVENT_UNANSWERED: HOP_LATE_ASKS of our ACKs with such a header were not answered
 * @HOP_EVENT_RESET: a reset that does not know the connection, soon after the handshake
 * @HOP_EVENT_HIDDEN: a filter of this host would miss TCP below our next header (hop_filter.h)
 * @HOP_EVENT_AGAIN: our SYN-ACK that answered by a TCP option is sent again without it
 */
enum hop_event {
	HOP_EVENT_SYN_OUT,
	HOP_EVENT_SYN_IN,
	HOP_EVENT_SYNACK_OUT,
	HOP_EVENT_SYNACK_IN,
	HOP_EVENT_HEADER_IN,
	HOP_EVENT_ESTABLISHED,
	HOP_EVENT_REFUSED,
	HOP_EVENT_DECLINED,
	HOP_EVENT_TIMEOUTS,
	HOP_EVENT_LATE,
	HOP_EVENT_UNANSWERED,
	HOP_EVENT_RESET,
	HOP_EVENT_HIDDEN,
	HOP_EVENT_AGAIN,
};

/**
 * hop_is_given_up() - did discovery end without headers?
 * @stage: stage of discovery
 *
 * Return: true if it did; hop_may_ask() is true if it may begin again.
 */
static inline bool hop_is_given_up(enum hop_stage stage)
{
	return stage == HOP_STAGE_UNSUPPORTED || stage == HOP_STAGE_DOUBTFUL;
}

/**
 * enum hop_peer - what a congestion control may know of the peer and of the path to it
 * @HOP_PEER_UNKNOWN: the handshake is not complete, it started before the carrier was loaded, or
 *	the peer was asked later and has not answered
 * @HOP_PEER_SUPPORTED: the peer takes part
 * @HOP_PEER_UNSUPPORTED: the peer does not take part (any more), or the path drops headers
 */
enum hop_peer {
	HOP_PEER_UNKNOWN,
	HOP_PEER_SUPPORTED,
	HOP_PEER_UNSUPPORTED,
};

/**
 * hop_peer_at() - get what a congestion control may know at a stage of discovery
 * @stage: stage of discovery
 *
 * Return: the state of the peer.
 */
static inline enum hop_peer hop_peer_at(enum hop_stage stage)
{
	if (stage == HOP_STAGE_SUPPORTED)
		return HOP_PEER_SUPPORTED;
	return hop_is_given_up(stage) ? HOP_PEER_UNSUPPORTED : HOP_PEER_UNKNOWN;
}

/**
 * hop_is_loss() - was our packet with a header repeated without one?
 * @stage: stage of discovery
 *
 * Return: true if the packet, or the answer to it, may have been lost.
 */
bool hop_is_loss(enum hop_stage stage);

/**
 * hop_may_ask() - may an ACK of the established connection ask for headers?
 * @stage: stage of discovery
 *
 * Return: true if no such ACK was sent or received yet, and nothing is proved.
 */
bool hop_may_ask(enum hop_stage stage);

/**
 * hop_next_stage() - compute the stage of discovery after an event
 * @stage: stage before the event
 * @event: the event
 *
 * Return: the stage after it.
 */
enum hop_stage hop_next_stage(enum hop_stage stage, enum hop_event event);

/**
 * hop_is_negotiated() - may the peer put headers on its data?
 * @stage: stage of discovery
 *
 * A peer does so once the handshake packets of both ends had a header. This end may not know
 * whether its own packet arrived. If it has given up headers since, the peer may not have done
 * so yet.
 *
 * Return: false if the peer cannot have negotiated headers.
 */
static inline bool hop_is_negotiated(enum hop_stage stage)
{
	return stage != HOP_STAGE_NONE && stage != HOP_STAGE_ASKED;
}

/**
 * hop_may_be_loss() - may a lost packet be the reason why a connection gave up headers?
 * @from: stage before @event
 * @event: the event after which hop_is_given_up() is true
 *
 * Either our SYN or SYN-ACK with a header was not answered, and the next one, without a header,
 * was; or our ACKs, which TCP does not retransmit, were not answered. Any other event proves that
 * the destination or the path does not accept headers.
 *
 * Return: true if the packet may have been lost for another reason than its header.
 */
bool hop_may_be_loss(enum hop_stage from, enum hop_event event);

/**
 * hop_is_of_peer() - does an event show that the peer, or the path to it, does not accept headers?
 * @event: the event after which hop_is_given_up() is true
 *
 * Return: false if the reason is on this host, and may be gone when the next connection opens.
 */
bool hop_is_of_peer(enum hop_event event);

/**
 * hop_loss_wait_s() - get the time without headers after a packet loss that may have another reason
 * @losses: number of such losses in a row before this one
 * @first_s: time after the first such loss, seconds
 * @most_s: longest time, seconds
 *
 * Return: seconds, doubled each time.
 */
unsigned int hop_loss_wait_s(unsigned int losses, unsigned int first_s, unsigned int most_s);

/**
 * hop_reset_s() - get the time without headers after a reset
 * @resets: number of resets in a row before this one
 * @first_s: time after the first reset, seconds, at most 86400
 *
 * A reset has broken a connection, and each further attempt may break another one. An attempt
 * also renews the NAT entry that caused the reset. So the pause must eventually become longer
 * than the lifetime of such an entry, which is 600 s in Linux.
 *
 * Return: seconds, doubled each time up to HOP_RESET_MAX_S, but never less than @first_s.
 */
unsigned int hop_reset_s(unsigned int resets, unsigned int first_s);

/**
 * hop_syn_wait_jiffies() - get the time after which a SYN is sent again without our header
 * @usual_jiffies: time after which TCP sends a SYN again
 * @shift: log2 of the part of it that a box which drops our header may cost
 *
 * A program of the user may have set a timeout of a few jiffies. A part of it would be less than
 * TCP's timers can wait, or 0, and TCP would send all SYNs at once. The usual time is short then.
 *
 * Return: jiffies, at least HOP_SYN_WAIT_MIN_JIFFIES or the usual time.
 */
u32 hop_syn_wait_jiffies(u32 usual_jiffies, u8 shift);

/**
 * struct hop_late - negotiation on an established connection
 * @end_seq: SND.NXT when the last ACK that asks was sent
 * @asks: number of ACKs that asked
 * @asked: number of ACKs of the peer that asked
 */
struct hop_late {
	u32 end_seq;
	u8 asks;
	u8 asked;
};

/**
 * enum hop_late_turn - next step of a negotiation on an established connection
 * @HOP_LATE_WAIT: wait for the answer
 * @HOP_LATE_ASK: send an ACK that asks
 * @HOP_LATE_GIVE_UP: give up, by HOP_EVENT_UNANSWERED
 */
enum hop_late_turn {
	HOP_LATE_WAIT,
	HOP_LATE_ASK,
	HOP_LATE_GIVE_UP,
};

/**
 * hop_late_turn() - decide what to do while no answer has arrived
 * @l: the state of the negotiation, updated; zero at first
 * @una_seq: SND.UNA
 * @nxt_seq: SND.NXT
 *
 * The answer arrives no later than the ACK of data that was sent after the ACK that asks.
 *
 * Return: the next step.
 */
enum hop_late_turn hop_late_turn(struct hop_late *l, u32 una_seq, u32 nxt_seq);

#endif /* HOPCC_LIB_HOP_DISCOVER_H */
