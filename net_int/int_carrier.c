// SPDX-License-Identifier: GPL-2.0
/* Which packets collect, which answers are new, and records of a handshake; see int_carrier.h. */

#include "int_carrier.h"
#include "int_receiver.h"

u32 nint_period_ns(const struct nint_asker *a, u32 t_ns, u32 srtt_us)
{
	const u32 period_ns = clamp(t_ns, INT_PERIOD_MIN_NS, INT_PERIOD_MAX_NS);

	if (a->starting)
		return period_ns >> (a->opening ? INT_OPENING_SHIFT : INT_START_SHIFT);
	return clamp_t(u64, (u64)srtt_us * NSEC_PER_USEC >> INT_RTT_SHIFT, period_ns,
		       INT_PERIOD_MAX_NS);
}

u64 nint_timeout_ns(u32 t_ns, u32 srtt_us)
{
	u64 rtt_ns = max_t(u64, t_ns, (u64)srtt_us * NSEC_PER_USEC);

	if (!srtt_us)
		return INT_TIMEOUT_UNKNOWN_NS;
	return max_t(u64, rtt_ns * INT_TIMEOUT_RTTS, INT_TIMEOUT_MIN_NS);
}

static bool nint_is_unanswered(const struct nint_asker *a, u64 now_ns, u64 timeout_ns)
{
	return !a->proven || (a->waiting && now_ns - a->waiting_ns > timeout_ns);
}

bool nint_is_far(const struct nint_asker *a, u32 seq, u32 wnd_bytes)
{
	u32 last_bytes = a->left_seq - a->begun_seq, bytes = seq - a->begun_seq;

	return a->opening && (a->proven || a->unanswered < INT_OPENING_UNANSWERED) &&
	       last_bytes < wnd_bytes >> INT_FAR_SHIFT && (s32)bytes > 0 &&
	       bytes >= 2ULL * last_bytes;
}

bool nint_is_near(const struct nint_asker *a, u64 now_ns, u32 t_ns, u32 seq, u32 mss_bytes)
{
	const u64 longest_ns = (u64)clamp(t_ns, INT_PERIOD_MIN_NS, INT_PERIOD_MAX_NS) *
			       INT_APART_PERIODS;
	const u32 apart_pkts = a->starting ? INT_APART_SOON_PKTS : INT_APART_PKTS;

	return a->proven && !a->opening && seq - a->left_seq < apart_pkts * mss_bytes &&
	       now_ns - a->left_ns < min_t(u64, longest_ns, INT_PERIOD_MAX_NS);
}

bool nint_passes(struct nint_asker *a, u64 now_ns, u32 seq, bool more)
{
	if (!more || a->passed || (a->left_ns && now_ns - a->left_ns <= INT_PAUSE_NS))
		return false;
	a->passed = true;
	a->begun_seq = seq;
	return true;
}

enum nint_turn nint_turn(const struct nint_asker *a, u64 now_ns, u32 period_ns, u64 timeout_ns)
{
	if (!nint_is_unanswered(a, now_ns, timeout_ns))
		return a->left_ns && now_ns - a->left_ns < period_ns ? INT_TURN_WAIT :
								       INT_TURN_SEND;
	if (a->unanswered && now_ns - a->unanswered_ns < timeout_ns)
		return INT_TURN_WAIT;
	return a->unanswered < INT_UNANSWERED_MAX ? INT_TURN_SEND : INT_TURN_GIVE_UP;
}

u32 nint_leaves(struct nint_asker *a, u64 now_ns, u64 timeout_ns, u32 seq)
{
	if (now_ns - a->left_ns > INT_PAUSE_NS) {
		a->starting = INT_START_ANSWERS;
		a->opening = true;
		if (!a->passed)
			a->begun_seq = seq;
	}
	a->passed = false;
	if (nint_is_unanswered(a, now_ns, timeout_ns) &&
	    (!a->unanswered || now_ns - a->unanswered_ns >= timeout_ns || nint_is_far(a, seq,
										      U32_MAX))) {
		a->unanswered += a->unanswered < INT_UNANSWERED_MAX;
		a->unanswered_ns = now_ns;
	}
	if (!a->waiting) {
		a->waiting = true;
		a->waiting_ns = now_ns;
	}
	a->left_ns = now_ns;
	a->left_seq = seq;
	WRITE_ONCE(a->id, a->id + 1);
	if (!a->timed) {
		a->timed_id = a->id;
		a->timed = (u32)(now_ns >> INT_TIMED_SHIFT) ?: 1;
	}
	return a->id;
}

/* Ends the measurement of an RTT if the packet, or a later one, is answered. */
static void nint_time(struct nint_asker *a, u32 id, u64 now_ns)
{
	const u32 rtt = (u32)(now_ns >> INT_TIMED_SHIFT) - a->timed;

	if (!a->timed || (s32)(id - a->timed_id) < 0)
		return;
	a->timed = 0;
	if (id == a->timed_id)
		a->rtt_ns = min_t(u64, (u64)rtt << INT_TIMED_SHIFT, U32_MAX);
}

enum nint_news nint_answered(struct nint_asker *a, u32 id, u32 seq, bool empty, u64 now_ns)
{
	const bool again = a->received && id == a->received_id;

	if (!a->left_ns || a->id - id >= INT_IDS_MEMORY)
		return INT_NEWS_FORGED;
	if (a->received && (s32)(id - a->received_id) < 0)
		return INT_NEWS_OLD;
	if (again && (s32)(seq - a->received_seq) <= 0 && (empty || !a->received_empty))
		return INT_NEWS_OLD;
	if (!again)
		nint_time(a, id, now_ns);
	a->received = true;
	a->received_empty = empty;
	a->received_id = id;
	a->received_seq = seq;
	a->proven = true;
	a->unanswered = 0;
	a->starting -= a->starting > 0;
	a->opening &= a->starting > 0;
	/* From now on, answers to packets sent since then are expected. */
	a->waiting = id != a->id;
	a->waiting_ns = now_ns;
	return INT_NEWS;
}

u64 nint_answer_queue_ns(const struct int_answer *a, u32 t_ns)
{
	switch (a->kind) {
	case INT_ANSWER_RECORDS:
		return nint_longest_queue_ns(&a->hdr);
	case INT_ANSWER_SUMMARY:
		return hpcc_queue_ns(&a->record);
	case INT_ANSWER_RATIO:
		/* 2^32 * 2^30 < 2^64 */
		return a->u > HPCC_U_ONE ?
		       (u64)(a->u - HPCC_U_ONE) * t_ns >> HPCC_U_SHIFT : 0;
	case INT_ANSWER_WINDOW:
		break;
	}
	return 0;
}

void nint_hurry(struct nint_asker *a, u64 queue_ns, u32 t_ns)
{
	if (queue_ns > t_ns >> INT_QUEUE_SHIFT)
		a->starting = INT_START_ANSWERS;
}

void nint_opt_write(struct nint_opt *opt, u32 id, const struct int_hdr *h, unsigned int index)
{
	*opt = (struct nint_opt) {
		.kind = INT_OPT_KIND,
		.length = INT_OPT_BYTES,
		.exid = cpu_to_be16(INT_OPT_EXID),
		.id_index = cpu_to_be16((id & INT_OPT_ID_MASK) << 4 | index),
		.path = cpu_to_be16(be32_to_cpu(h->path) >> INT_PATH_ID_SHIFT),
		.record = h->record[index],
	};
}

bool nint_opt_read(const u8 *opts, unsigned int bytes, u32 *id, struct int_answer *a)
{
	const u8 *found = hop_option_find(opts, bytes, INT_OPT_KIND, INT_OPT_EXID);
	struct nint_opt opt;

	if (!found || found[1] != INT_OPT_BYTES)
		return false;
	memcpy(&opt, found, sizeof(opt));
	*id = be16_to_cpu(opt.id_index) >> 4;
	*a = (struct int_answer) {
		.kind = INT_ANSWER_SUMMARY,
		.hops = be16_to_cpu(opt.path) >> 12,
		.index = be16_to_cpu(opt.id_index) & 0xf,
		.path_id = be16_to_cpu(opt.path) & INT_SWITCH_ID_MAX,
		.record = int_unpack(opt.record),
	};
	return a->index < a->hops && a->index < INT_SLOTS_MAX;
}

u32 nint_whole_id(const struct nint_asker *a, u32 low)
{
	const u32 id = READ_ONCE(a->id);

	return id - ((id - low) & INT_OPT_ID_MASK);
}

unsigned int nint_slots_for(unsigned int slots, unsigned int hops)
{
	return slots ? clamp(hops, slots, INT_SLOTS_MAX) : 0;
}
