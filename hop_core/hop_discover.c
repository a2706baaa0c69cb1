// SPDX-License-Identifier: GPL-2.0
/* The state of a negotiation; see hopcc/lib/hop_discover.h. */

#include <linux/module.h>
#include <hopcc/lib/hop_discover.h>

/* Return: @to at the stage @from, else the same stage. */
static enum hop_stage hop_stage_at(enum hop_stage stage, enum hop_stage from, enum hop_stage to)
{
	return stage == from ? to : stage;
}

enum hop_stage hop_next_stage(enum hop_stage stage, enum hop_event event)
{
	switch (event) {
	case HOP_EVENT_ASK:
		return hop_stage_at(stage, HOP_STAGE_NONE, HOP_STAGE_ASKED);
	case HOP_EVENT_OFFER:
		/* ASKED: simultaneous open. */
		return hop_may_ask(stage) ? HOP_STAGE_OFFERED : stage;
	case HOP_EVENT_ANSWER:
		return hop_stage_at(stage, HOP_STAGE_OFFERED, HOP_STAGE_ANSWERED);
	case HOP_EVENT_AGAIN:
		return hop_stage_at(stage, HOP_STAGE_ANSWERED, HOP_STAGE_NONE);
	case HOP_EVENT_ESTABLISHED:
		/* The SYN-ACK left without an answer. */
		if (stage == HOP_STAGE_OFFERED)
			return HOP_STAGE_NONE;
		return hop_stage_at(stage, HOP_STAGE_ANSWERED, HOP_STAGE_SUPPORTED);
	case HOP_EVENT_RECEIVED:
		return stage == HOP_STAGE_UNSUPPORTED || stage == HOP_STAGE_OFFERED ?
			stage : HOP_STAGE_SUPPORTED;
	case HOP_EVENT_UNANSWERED:
		return hop_stage_at(stage, HOP_STAGE_ASKED, HOP_STAGE_UNSUPPORTED);
	case HOP_EVENT_TIMEOUTS:
		return hop_stage_at(stage, HOP_STAGE_SUPPORTED, HOP_STAGE_UNSUPPORTED);
	case HOP_EVENT_REFUSED:
	case HOP_EVENT_HIDDEN:
		return stage == HOP_STAGE_NONE ? stage : HOP_STAGE_UNSUPPORTED;
	}
	return stage;
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
