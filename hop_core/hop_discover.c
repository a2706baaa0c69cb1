// SPDX-License-Identifier: GPL-2.0
/* Discovery of peers; see hopcc/lib/hop_discover.h. */

#include <linux/module.h>
#include <hopcc/lib/hop_discover.h>

/* The shortest time until a SYN is sent again without a header, jiffies: TCP_TIMEOUT_MIN */
#define HOP_SYN_WAIT_MIN_JIFFIES	2U

/* The longest time without headers after resets, unless the sysctl is set to a longer one. */
#define HOP_RESET_MAX_S		3600U

bool hop_is_loss(enum hop_stage stage)
{
	return stage == HOP_STAGE_LOST || stage == HOP_STAGE_DOUBTFUL;
}
EXPORT_SYMBOL_GPL(hop_is_loss);

bool hop_may_ask(enum hop_stage stage)
{
	return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ASKED ||
	       stage == HOP_STAGE_DOUBTFUL;
}
EXPORT_SYMBOL_GPL(hop_may_ask);

static enum hop_stage hop_stage_when_established(enum hop_stage stage)
{
	switch (stage) {
	case HOP_STAGE_ASKED:
		return HOP_STAGE_UNSUPPORTED;
	case HOP_STAGE_LOST:
		return HOP_STAGE_DOUBTFUL;
	case HOP_STAGE_ANSWERED:
		return HOP_STAGE_SUPPORTED;
	default:
		return stage;
	}
}

static enum hop_stage hop_stage_when_sent(enum hop_stage stage, enum hop_stage before,
					  enum hop_stage once, enum hop_stage again)
{
	if (stage == before)
		return once;
	return stage == once ? again : stage;
}

enum hop_stage hop_next_stage(enum hop_stage stage, enum hop_event event)
{
	switch (event) {
	case HOP_EVENT_SYN_OUT:
		return hop_stage_when_sent(stage, HOP_STAGE_NONE, HOP_STAGE_ASKED,
					   HOP_STAGE_LOST);
	case HOP_EVENT_SYN_IN:
		/* ASKED: simultaneous open. */
		return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ASKED ?
			HOP_STAGE_OFFERED : stage;
	case HOP_EVENT_SYNACK_OUT:
		return hop_stage_when_sent(stage, HOP_STAGE_OFFERED, HOP_STAGE_ANSWERED,
					   HOP_STAGE_LOST);
	case HOP_EVENT_SYNACK_IN:
		/* The SYN-ACK answers our SYN with a header, whatever ICMP errors arrived. */
		return HOP_STAGE_SUPPORTED;
	case HOP_EVENT_HEADER_IN:
		/* LOST, DOUBTFUL: the peer has received our SYN-ACK with the header after all. */
		return stage == HOP_STAGE_NONE || stage == HOP_STAGE_ANSWERED ||
		       stage == HOP_STAGE_LATE || hop_is_loss(stage) ?
			HOP_STAGE_SUPPORTED : stage;
	case HOP_EVENT_ESTABLISHED:
		return hop_stage_when_established(stage);
	case HOP_EVENT_REFUSED:
	case HOP_EVENT_HIDDEN:
		return stage == HOP_STAGE_NONE ? stage : HOP_STAGE_UNSUPPORTED;
	case HOP_EVENT_DECLINED:
		return stage == HOP_STAGE_ANSWERED ? HOP_STAGE_LOST : stage;
	case HOP_EVENT_AGAIN:
		return stage == HOP_STAGE_ANSWERED ? HOP_STAGE_LATE : stage;
	case HOP_EVENT_LATE:
		return hop_may_ask(stage) ? HOP_STAGE_LATE : stage;
	case HOP_EVENT_UNANSWERED:
		return stage == HOP_STAGE_LATE ? HOP_STAGE_UNSUPPORTED : stage;
	case HOP_EVENT_TIMEOUTS:
	case HOP_EVENT_RESET:
		return stage == HOP_STAGE_SUPPORTED ? HOP_STAGE_UNSUPPORTED : stage;
	}
	return stage;
}

bool hop_may_be_loss(enum hop_stage from, enum hop_event event)
{
	return (from == HOP_STAGE_LOST && event == HOP_EVENT_ESTABLISHED) ||
	       event == HOP_EVENT_UNANSWERED;
}

bool hop_is_of_peer(enum hop_event event)
{
	return event != HOP_EVENT_HIDDEN;
}

unsigned int hop_loss_wait_s(unsigned int losses, unsigned int first_s, unsigned int most_s)
{
	/* No overflow: callers use first_s < 2^8 with a shift of 16, or < 2^17 with one of 8. */
	const unsigned int wait_s = first_s << (losses < 16 ? losses : 16);

	return wait_s < most_s ? wait_s : most_s;
}

unsigned int hop_reset_s(unsigned int resets, unsigned int first_s)
{
	return hop_loss_wait_s(resets < 8 ? resets : 8, first_s,
			       first_s > HOP_RESET_MAX_S ? first_s : HOP_RESET_MAX_S);
}

u32 hop_syn_wait_jiffies(u32 usual_jiffies, u8 shift)
{
	const u32 wait_jiffies = usual_jiffies >> shift;

	return wait_jiffies >= HOP_SYN_WAIT_MIN_JIFFIES ? wait_jiffies : usual_jiffies;
}

enum hop_late_turn hop_late_turn(struct hop_late *l, u32 una_seq, u32 nxt_seq)
{
	if (l->asks && (s32)(una_seq - l->end_seq) <= 0)
		return HOP_LATE_WAIT;
	if (l->asks == HOP_LATE_ASKS)
		return HOP_LATE_GIVE_UP;
	l->asks++;
	l->end_seq = nxt_seq;
	return HOP_LATE_ASK;
}
EXPORT_SYMBOL_GPL(hop_late_turn);
