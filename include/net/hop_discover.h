/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Discovery: does the peer, and the path to it, take a carrier's headers? It is
 * ours, the drafts have none. SYN and SYN-ACK bear one:
 *
 *	 active open                            passive open
 *	 NONE                                   NONE
 *	  | our SYN, with a header               | a SYN with a header
 *	 ASKED --------------+                  HEARD
 *	  |    our SYN again |                   | our SYN-ACK, with a header
 *	  |    without ---> LOST                ANSWERED ---------+
 *	  | SYN-ACK with a   |                   | established    | our SYN-ACK again,
 *	  | header           |                   |                | without
 *	 SPEAKS <------------+ the same         SPEAKS           LOST
 *
 * ASKED and LOST become SILENT when the connection is established: the header
 * was what got lost, if it was not any packet: hop_may_be_loss(). Not before: who is not
 * there at all would be remembered. A
 * refusal by ICMP makes any of them SILENT, and so do timeouts in a row: the path
 * has changed.
 *
 * SPEAKS becomes SILENT, too, if a reset says soon after the handshake that the peer does not
 * know the connection. Somebody on the path treats packets with a header and packets without one
 * as two flows: NAT that began while its old entry for our protocol lived lets the handshake pass
 * as it is, and translates the ACK that follows.
 *
 * A program may choose its congestion control when the connection is established. Then pure ACKs
 * negotiate, which may be lost at no cost:
 *
 *	 the one that asks                      the other one
 *	 NONE                                   NONE
 *	  | our ACK, with a header that asks     | an ACK with such a header
 *	 LATE                                   LATE, and its next pure ACK has a header
 *	  | a header that does not ask           | data with a header
 *	 SPEAKS                                 SPEAKS
 *
 * If the data of a whole round trip is acknowledged and no header has come, the next ACK asks,
 * HOP_LATE_ASKS in all; after that, LATE becomes SILENT.
 */
#ifndef HOPCC_NET_HOP_DISCOVER_H
#define HOPCC_NET_HOP_DISCOVER_H

#include <linux/types.h>

/* Timeouts in a row after which we try without a header. */
#define HOP_TIMEOUTS_MAX	2

/* A reset comes soon after the handshake if TCP received at most so many segments before it. */
#define HOP_RESET_SEGS		16U

/* ACKs of an established connection that ask for headers before we give up. */
#define HOP_LATE_ASKS		3U

/* The longest time without headers for resets, unless the knob says more. */
#define HOP_RESET_MAX_S		3600U

/**
 * enum hop_stage - how far discovery is; drawn above
 * @HOP_STAGE_NONE: nothing happened yet, or we were not there
 * @HOP_STAGE_ASKED: our SYN had a header
 * @HOP_STAGE_LOST: our SYN or SYN-ACK with a header was not answered; the next had none
 * @HOP_STAGE_HEARD: the peer's SYN had a header
 * @HOP_STAGE_ANSWERED: our SYN-ACK had one
 * @HOP_STAGE_LATE: an ACK of an established connection had a header that asks, ours or the peer's
 * @HOP_STAGE_SPEAKS: headers pass both ways
 * @HOP_STAGE_SILENT: no header on our data
 */
enum hop_stage {
	HOP_STAGE_NONE,
	HOP_STAGE_ASKED,
	HOP_STAGE_LOST,
	HOP_STAGE_HEARD,
	HOP_STAGE_ANSWERED,
	HOP_STAGE_LATE,
	HOP_STAGE_SPEAKS,
	HOP_STAGE_SILENT,
};

/**
 * enum hop_event - what discovery learns from
 * @HOP_EVENT_SYN_OUT: our SYN leaves, the first or again
 * @HOP_EVENT_SYN_IN: a SYN with a header
 * @HOP_EVENT_SYNACK_OUT: our SYN-ACK leaves, the first or again
 * @HOP_EVENT_SYNACK_IN: a SYN-ACK with a header
 * @HOP_EVENT_HEADER_IN: any other packet with a header
 * @HOP_EVENT_ESTABLISHED: the handshake is over
 * @HOP_EVENT_REFUSED: an ICMP error says that somebody does not take our headers
 * @HOP_EVENT_TIMEOUTS: HOP_TIMEOUTS_MAX of TCP's timeouts in a row
 * @HOP_EVENT_LATE: our ACK, or the peer's, with a header that asks
 * @HOP_EVENT_UNANSWERED: HOP_LATE_ASKS of our ACKs with such a header were not answered
 * @HOP_EVENT_RESET: a reset that does not know the connection, soon after the handshake
 */
enum hop_event {
	HOP_EVENT_SYN_OUT,
	HOP_EVENT_SYN_IN,
	HOP_EVENT_SYNACK_OUT,
	HOP_EVENT_SYNACK_IN,
	HOP_EVENT_HEADER_IN,
	HOP_EVENT_ESTABLISHED,
	HOP_EVENT_REFUSED,
	HOP_EVENT_TIMEOUTS,
	HOP_EVENT_LATE,
	HOP_EVENT_UNANSWERED,
	HOP_EVENT_RESET,
};

static inline enum hop_stage hop_stage_when_established(enum hop_stage stage)
{
	switch (stage) {
	case HOP_STAGE_ASKED:
	case HOP_STAGE_LOST:
		return HOP_STAGE_SILENT;
	case HOP_STAGE_ANSWERED:
		return HOP_STAGE_SPEAKS;
	default:
		return stage;
	}
}

static inline enum hop_stage hop_stage_when_sent(enum hop_stage stage, enum hop_stage before,
						 enum hop_stage once, enum hop_stage again)
{
	if (stage == before)
		return once;
	return stage == once ? again : stage;
}

/**
 * hop_next_stage() - discovery goes on
 * @stage: where it is
 * @event: what happened
 *
 * Return: where it is now.
 */
static inline enum hop_stage hop_next_stage(enum hop_stage stage, enum hop_event event)
{
	switch (event) {
	case HOP_EVENT_SYN_OUT:
		return hop_stage_when_sent(stage, HOP_STAGE_NONE, HOP_STAGE_ASKED,
					   HOP_STAGE_LOST);
	case HOP_EVENT_SYN_IN:
		/* ASKED: both ends open at once. */
		return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ASKED ?
			HOP_STAGE_HEARD : stage;
	case HOP_EVENT_SYNACK_OUT:
		return hop_stage_when_sent(stage, HOP_STAGE_HEARD, HOP_STAGE_ANSWERED,
					   HOP_STAGE_LOST);
	case HOP_EVENT_SYNACK_IN:
		/* It answers a SYN of ours that had a header, whatever ICMP said. */
		return HOP_STAGE_SPEAKS;
	case HOP_EVENT_HEADER_IN:
		/* LOST: who sends it has got our SYN-ACK's after all. */
		return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ANSWERED ||
		       stage == HOP_STAGE_LOST || stage == HOP_STAGE_LATE ?
			HOP_STAGE_SPEAKS : stage;
	case HOP_EVENT_ESTABLISHED:
		return hop_stage_when_established(stage);
	case HOP_EVENT_REFUSED:
		return stage == HOP_STAGE_NONE ? stage : HOP_STAGE_SILENT;
	case HOP_EVENT_LATE:
		return stage == HOP_STAGE_NONE ? HOP_STAGE_LATE : stage;
	case HOP_EVENT_UNANSWERED:
		return stage == HOP_STAGE_LATE ? HOP_STAGE_SILENT : stage;
	case HOP_EVENT_TIMEOUTS:
	case HOP_EVENT_RESET:
		return stage == HOP_STAGE_SPEAKS ? HOP_STAGE_SILENT : stage;
	}
	return stage;
}

/**
 * hop_is_negotiated() - may the peer put headers on its data?
 * @stage: how far discovery is
 *
 * A peer does so once both its handshake and ours had a header; whether ours arrived, this
 * end may not know, and what it gave up afterwards the peer need not have given up yet.
 *
 * Return: false where it cannot have happened.
 */
static inline bool hop_is_negotiated(enum hop_stage stage)
{
	return stage != HOP_STAGE_NONE && stage != HOP_STAGE_ASKED;
}

/**
 * hop_may_be_loss() - may a lost packet be why a connection became SILENT?
 * @from: stage before @event
 * @event: what made it SILENT
 *
 * Our SYN or SYN-ACK with a header was not answered, and one without was; or ACKs were not
 * answered, which TCP does not repeat. All else proves that the destination or the path takes no
 * headers.
 *
 * Return: true if any packet might have been lost as that one was.
 */
static inline bool hop_may_be_loss(enum hop_stage from, enum hop_event event)
{
	return (from == HOP_STAGE_LOST && event == HOP_EVENT_ESTABLISHED) ||
	       event == HOP_EVENT_UNANSWERED;
}

/**
 * hop_doubt_s() - how long to do without headers after what may be a loss
 * @doubts: times in a row before
 * @first_s: how long the first time, seconds
 * @most_s: how long at most, seconds
 *
 * Return: seconds, twice as many each time.
 */
static inline unsigned int hop_doubt_s(unsigned int doubts, unsigned int first_s,
				       unsigned int most_s)
{
	/* Above any bound in use: first_s < 2^8 and 2^16 times, or < 2^17 and 2^8 times. */
	const unsigned int wait_s = first_s << (doubts < 16 ? doubts : 16);

	return wait_s < most_s ? wait_s : most_s;
}

/**
 * hop_reset_s() - how long to do without headers after a reset
 * @resets: resets in a row before
 * @first_s: how long the first time, seconds, at most 86400
 *
 * A reset has cost a connection, and each further attempt may cost another one. It also renews
 * the entry of a NAT that is the reason, so the pause must once outlast that entry's life: 600 s
 * in Linux.
 *
 * Return: seconds, twice as many each time, up to HOP_RESET_MAX_S; never less than @first_s.
 */
static inline unsigned int hop_reset_s(unsigned int resets, unsigned int first_s)
{
	return hop_doubt_s(resets < 8 ? resets : 8, first_s,
			   first_s > HOP_RESET_MAX_S ? first_s : HOP_RESET_MAX_S);
}

/**
 * struct hop_late - negotiation on an established connection
 * @end_seq: SND.NXT when an ACK asked last
 * @asks: number of ACKs that asked
 */
struct hop_late {
	u32 end_seq;
	u8 asks;
};

/**
 * enum hop_late_turn - what to do next
 * @HOP_LATE_WAIT: nothing
 * @HOP_LATE_ASK: send an ACK that asks
 * @HOP_LATE_GIVE_UP: HOP_EVENT_UNANSWERED
 */
enum hop_late_turn {
	HOP_LATE_WAIT,
	HOP_LATE_ASK,
	HOP_LATE_GIVE_UP,
};

/**
 * hop_late_turn() - no answer has come so far
 * @l: the state; zero at first
 * @una_seq: SND.UNA
 * @nxt_seq: SND.NXT
 *
 * An answer comes before the ACK of data that left behind the question does, or with it.
 *
 * Return: what to do.
 */
static inline enum hop_late_turn hop_late_turn(struct hop_late *l, u32 una_seq, u32 nxt_seq)
{
	if (l->asks && (s32)(una_seq - l->end_seq) <= 0)
		return HOP_LATE_WAIT;
	if (l->asks == HOP_LATE_ASKS)
		return HOP_LATE_GIVE_UP;
	l->asks++;
	l->end_seq = nxt_seq;
	return HOP_LATE_ASK;
}

#endif /* HOPCC_NET_HOP_DISCOVER_H */
