// SPDX-License-Identifier: GPL-2.0
/* At the sender: stores answers in the flow, where nint_flow_take() reads them. */

#include "net_int.h"
#include "trace.h"

/*
 * Return: true if hops had no room for their records. The next probes have room for all. Data has
 * it after the congestion control has reserved it: nint_flow_grow(). Context: f->lock is held.
 */
static bool nint_is_short(struct int_flow *f, const struct int_answer *a)
{
	unsigned int slots = a->kind == INT_ANSWER_RECORDS ? int_slots(&a->hdr) : f->slots;

	if (a->hops <= slots || !f->slots)
		return false;
	f->hops = a->hops;
	if (!nint_is_inband(f))
		f->slots = nint_slots_for(f->slots, f->hops);
	return true;
}

/*
 * Stores the answer; an empty answer does not replace one that was not taken yet. Context: f->lock
 * is held.
 */
static void nint_keep_answer(struct int_flow *f, u32 id, const struct int_answer *a)
{
	lockdep_assert_held(&f->lock);
	if (f->answer_is_new && nint_answer_is_empty(a))
		return;
	f->answer = *a;
	f->answer.rtt_ns = nint_rtt_ns(&f->asker, id);
	WRITE_ONCE(f->answer_is_new, true);
	nint_hurry(&f->asker, nint_answer_queue_ns(a, f->ask.t_ns), f->ask.t_ns);
}

/* Return: INT_COUNTS, or the counter of the reason why the answer is not new. */
unsigned int nint_answer_store(struct hop_flow *flow, u32 id, const struct int_answer *a)
{
	struct int_flow *f = hop_flow_state(flow);
	bool lacks_records = false;
	enum nint_news news;

	spin_lock_bh(&f->lock);
	if (!f->sk) {
		spin_unlock_bh(&f->lock);
		return INT_COUNT_IN_UNASKED;
	}
	news = nint_answered(&f->asker, id, a->seq, nint_answer_is_empty(a), ktime_get_ns());
	if (news == INT_NEWS) {
		if (id == f->proof_id && f->proof.asks)
			hop_carrier_note_passed(flow);
		lacks_records = nint_is_short(f, a);
		nint_keep_answer(f, id, a);
	}
	spin_unlock_bh(&f->lock);
	trace_int_answer_in(&flow->key, id, a->kind, a->kind == INT_ANSWER_RATIO ? a->u :
			    a->wnd_bytes, a->flows, news);
	switch (news) {
	case INT_NEWS:
		return lacks_records ? INT_COUNT_IN_SHORT : INT_COUNTS;
	case INT_NEWS_OLD:
		return INT_COUNT_IN_OLD;
	default:
		return INT_COUNT_IN_FORGED;
	}
}
