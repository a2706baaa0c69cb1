// SPDX-License-Identifier: GPL-2.0
/* When a flow requests INT data, and which answers it accepts */
#include "int_header.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"

static void answer(struct nint_asker *a, u64 now_ns, u32 t_ns)
{
	const u32 id = fuzz_flag() ? a->id - fuzz_range(0, 4) : fuzz_u32();
	const struct nint_asker before = *a;
	struct int_answer answer = {
		.kind = fuzz_choice(INT_ANSWER_WINDOW + 1),
		.u = fuzz_u32(),
		.record = int_unpack(cpu_to_be64(fuzz_u64())),
	};
	const enum nint_news news = nint_answered(a, id, fuzz_u32(), fuzz_flag(), now_ns);

	/* A packet that was never sent cannot be answered. */
	FUZZ_CLAIM(before.left_ns || news == INT_NEWS_FORGED);
	FUZZ_CLAIM((s32)(a->id - id) >= 0 || news == INT_NEWS_FORGED);
	FUZZ_CLAIM(news == INT_NEWS || !memcmp(a, &before, sizeof(before)));
	FUZZ_CLAIM(news != INT_NEWS || (a->proven && !a->unanswered));
	if (answer.kind == INT_ANSWER_RECORDS)
		int_write(&answer.hdr, 0, INT_TYPE_ECHO, 0, 0);
	nint_hurry(a, nint_answer_queue_ns(&answer, t_ns), t_ns);
}

static void leave(struct nint_asker *a, u64 now_ns, u64 timeout_ns, u32 seq)
{
	const u32 id = a->id;

	FUZZ_CLAIM(nint_leaves(a, now_ns, timeout_ns, seq) == id + 1);
	FUZZ_CLAIM(a->unanswered <= INT_UNANSWERED_MAX && a->waiting);
}

static void fuzz_once(void)
{
	const u32 t_ns = fuzz_range(HPCC_T_MIN_NS, HPCC_T_MAX_NS);
	struct nint_asker a = { .id = fuzz_u32() };
	u64 now_ns = fuzz_range(1, 1ULL << 60);
	u32 seq = fuzz_u32();

	while (fuzz_has_more()) {
		const u32 srtt_us = fuzz_u32();
		const u64 timeout_ns = nint_timeout_ns(t_ns, srtt_us);
		const u32 period_ns = nint_period_ns(&a, t_ns, srtt_us);
		enum nint_turn turn;

		FUZZ_CLAIM(timeout_ns >= INT_TIMEOUT_MIN_NS);
		FUZZ_CLAIM(period_ns >= INT_PERIOD_MIN_NS >> INT_START_SHIFT);
		FUZZ_CLAIM(period_ns <= INT_PERIOD_MAX_NS);
		FUZZ_CLAIM(a.starting || period_ns >= min(t_ns, INT_PERIOD_MAX_NS));
		FUZZ_CLAIM(!nint_is_underway(&a, a.left_seq + 1));
		FUZZ_CLAIM(!nint_is_underway(&a, seq) || (a.proven && !a.starting));
		now_ns += fuzz_range(0, 1ULL << 40);
		seq += fuzz_range(0, 1 << 20);
		nint_passes(&a, now_ns, seq, fuzz_flag());
		turn = nint_turn(&a, now_ns, period_ns, timeout_ns);
		/* Without any answer, no more than INT_UNANSWERED_MAX probes are sent. */
		FUZZ_CLAIM(turn != INT_TURN_GIVE_UP || a.unanswered == INT_UNANSWERED_MAX);
		if (turn == INT_TURN_SEND || nint_is_far(&a, seq, fuzz_u32()))
			leave(&a, now_ns, timeout_ns, seq);
		if (fuzz_flag())
			answer(&a, now_ns, t_ns);
		FUZZ_CLAIM(((a.id - nint_whole_id(&a, fuzz_range(0, INT_OPT_ID_MASK))) &
			    ~INT_OPT_ID_MASK) == 0);
		FUZZ_CLAIM(a.starting <= INT_START_ANSWERS);
	}
}
