// SPDX-License-Identifier: GPL-2.0
/* The INT receiver: its state and its answers stay in range for any probes. */
#include "int_header.h"
#include "int_receiver.h"

static void ask(struct nint_receiver *r)
{
	const struct int_msg msg = {
		.t_ns = cpu_to_be32(fuzz_u32()),
		.kind = cpu_to_be16(fuzz_range(0, U16_MAX)),
	};
	const struct int_terms terms = {
		.wnd_max = cpu_to_be32(fuzz_u32()),
		.eta = cpu_to_be32(fuzz_u32()),
		.max_stage = cpu_to_be16(fuzz_range(0, U16_MAX)),
		.flows = cpu_to_be16(fuzz_range(0, U16_MAX)),
	};

	nint_receiver_ask(r, &msg, &terms);
	FUZZ_CLAIM(r->asked && r->kind <= INT_ANSWER_WINDOW);
	FUZZ_CLAIM(r->p.t_ns >= HPCC_T_MIN_NS && r->p.t_ns <= HPCC_T_MAX_NS);
	FUZZ_CLAIM(r->p.eta >= 1 && r->p.eta <= HPCC_U_ONE && r->p.wnd_ai);
}

static void check_reply(const struct nint_receiver *r, const struct int_hdr *h,
			const struct nint_reply *reply, bool anonymous)
{
	/* Data that this host must not reveal: section 9.1 */
	FUZZ_CLAIM(!anonymous || reply->kind == INT_ANSWER_RATIO);
	FUZZ_CLAIM(r->asked || anonymous || reply->kind == INT_ANSWER_RECORDS);
	if (reply->kind == INT_ANSWER_SUMMARY)
		FUZZ_CLAIM(reply->index < int_records(h));
	if (reply->kind == INT_ANSWER_WINDOW)
		FUZZ_CLAIM(reply->wnd >= HPCC_WND_MIN_BYTES && reply->wnd <= r->p.wnd_max_bytes);
}

static void learn(struct nint_receiver *r, struct nint_starters *c, u64 now_ns)
{
	const bool anonymous = fuzz_flag(), by_ack = fuzz_flag();
	struct nint_reply reply;
	u32 bytes, counted = 0;
	struct int_hdr *h = draw_header(&bytes);

	if (int_check(bytes < INT_HDR_BYTES ? NULL : h, bytes) != INT_OK) {
		free(h);
		return;
	}
	if (nint_receiver_update(r, h, anonymous, by_ack, now_ns, &reply))
		check_reply(r, h, &reply, anonymous);
	if (r->asked && reply.kind != INT_ANSWER_RECORDS) {
		if (nint_receiver_is_last_hop(r, h))
			counted = nint_starters_join(c, r, now_ns);
		nint_receiver_starters(r, counted);
		FUZZ_CLAIM(r->p.wnd_ai);
	}
	free(h);
}

static void fuzz_once(void)
{
	struct nint_receiver receivers[3] = {};
	struct nint_starters starters = { .device = 1 };
	u64 now_ns = fuzz_range(0, 1ULL << 60);

	while (fuzz_has_more()) {
		struct nint_receiver *r = &receivers[fuzz_choice(3)];

		now_ns += fuzz_range(0, 1ULL << 40);
		if (fuzz_choice(4))
			learn(r, &starters, now_ns);
		else
			ask(r);
		if (r->asked)
			FUZZ_CLAIM(hpcc_wnd_bytes(&r->v) >= HPCC_WND_MIN_BYTES &&
				   hpcc_wnd_bytes(&r->v) <= r->p.wnd_max_bytes);
		/* Each flow counts once per epoch. */
		FUZZ_CLAIM(starters.flows <= 3 && starters.before <= 3);
	}
}
