/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a negotiation, which hopcc/core/hop_negotiate.h draws. The drafts do not define one.
 */
#ifndef HOPCC_LIB_HOP_DISCOVER_H
#define HOPCC_LIB_HOP_DISCOVER_H

#include <linux/types.h>

/* Number of timeouts in a row after which headers are no longer sent. */
#define HOP_TIMEOUTS_MAX	2

/* Number of ACKs of an established connection that ask before the negotiation gives up. */
#define HOP_LATE_ASKS		3U

/**
 * enum hop_stage - stage of a negotiation
 * @HOP_STAGE_NONE: neither end has asked
 * @HOP_STAGE_ASKED: our SYN or ACK asks
 * @HOP_STAGE_OFFERED: the peer's SYN asks
 * @HOP_STAGE_ANSWERED: our SYN-ACK answers
 * @HOP_STAGE_SUPPORTED: both ends take part
 * @HOP_STAGE_UNSUPPORTED: the carrier is not used (any more)
 */
enum hop_stage {
	HOP_STAGE_NONE,
	HOP_STAGE_ASKED,
	HOP_STAGE_OFFERED,
	HOP_STAGE_ANSWERED,
	HOP_STAGE_SUPPORTED,
	HOP_STAGE_UNSUPPORTED,
};

/**
 * enum hop_event - events that change the stage
 * @HOP_EVENT_ASK: our SYN or ACK asks
 * @HOP_EVENT_OFFER: a SYN that asks arrives
 * @HOP_EVENT_ANSWER: our SYN-ACK answers
 * @HOP_EVENT_AGAIN: our SYN-ACK leaves for the second time, without the answer
 * @HOP_EVENT_ESTABLISHED: the handshake is complete
 * @HOP_EVENT_RECEIVED: the peer answers, or its ACK asks, or a packet of its carrier arrives
 * @HOP_EVENT_UNANSWERED: HOP_LATE_ASKS of our ACKs that ask were not answered
 * @HOP_EVENT_REFUSED: an ICMP error shows that a host or router does not accept our headers
 * @HOP_EVENT_TIMEOUTS: TCP had HOP_TIMEOUTS_MAX timeouts in a row, or headers did not pass the path
 * @HOP_EVENT_HIDDEN: a filter of this host would miss TCP below our next header (hop_filter.h), or
 *	something else in this host keeps our ACKs from asking
 */
enum hop_event {
	HOP_EVENT_ASK,
	HOP_EVENT_OFFER,
	HOP_EVENT_ANSWER,
	HOP_EVENT_AGAIN,
	HOP_EVENT_ESTABLISHED,
	HOP_EVENT_RECEIVED,
	HOP_EVENT_UNANSWERED,
	HOP_EVENT_REFUSED,
	HOP_EVENT_TIMEOUTS,
	HOP_EVENT_HIDDEN,
};

/**
 * enum hop_peer - what a congestion control may know of the peer and of the path to it
 * @HOP_PEER_UNKNOWN: the peer was asked, or will be, and has not answered
 * @HOP_PEER_SUPPORTED: the peer takes part
 * @HOP_PEER_UNSUPPORTED: the peer does not take part (any more), or the path drops headers
 */
enum hop_peer {
	HOP_PEER_UNKNOWN,
	HOP_PEER_SUPPORTED,
	HOP_PEER_UNSUPPORTED,
};

/**
 * hop_peer_at() - get what a congestion control may know at a stage
 * @stage: the stage
 *
 * Return: the state of the peer.
 */
static inline enum hop_peer hop_peer_at(enum hop_stage stage)
{
	if (stage == HOP_STAGE_SUPPORTED)
		return HOP_PEER_SUPPORTED;
	return stage == HOP_STAGE_UNSUPPORTED ? HOP_PEER_UNSUPPORTED : HOP_PEER_UNKNOWN;
}

/**
 * hop_may_ask() - may an ACK of the established connection ask?
 * @stage: the stage
 *
 * Return: true if nothing is known yet.
 */
static inline bool hop_may_ask(enum hop_stage stage)
{
	return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ASKED;
}

/**
 * hop_next_stage() - compute the stage after an event
 * @stage: stage before the event
 * @event: the event
 *
 * Return: the stage after it.
 */
enum hop_stage hop_next_stage(enum hop_stage stage, enum hop_event event);

/**
 * struct hop_late - questions on an established connection
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
 * @HOP_LATE_GIVE_UP: give up
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
