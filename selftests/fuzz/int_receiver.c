// SPDX-License-Identifier: GPL-2.0
/* The INT receiver: its state and its answers stay in range for any probes. */
#include "int_header.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"

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

/* Each receiver is the flow of another client. */
#define CLIENTS	3

/* The counts of a device, and the same without the flows of client 0 */
static struct nint_starters all, others;

/* One client adds a bounded number to N of each other one, whatever it sends. */
static void check_flows(u64 now_ns)
{
	u32 i;

	for (i = 1; i < CLIENTS; i++) {
		const u32 n = nint_starters_flows(&all, i, now_ns);
		const u32 without = nint_starters_flows(&others, i, now_ns);

		FUZZ_CLAIM(n >= without && n <= without + INT_STARTERS_OF_OTHER);
	}
}

/* @copy: the flow in @others, whose periods have other numbers */
static void join(struct nint_receiver *r, struct nint_receiver *copy, u32 client, u64 now_ns)
{
	const bool counted = nint_starters_join(&all, client, r, now_ns);

	copy->p = r->p;
	if (client)
		FUZZ_CLAIM(nint_starters_join(&others, client, copy, now_ns) == counted);
}

/* Return: N of the flow; one packet adds 1 at most. */
static u32 count(struct nint_receiver *r, struct nint_receiver *copy, u32 client, u64 now_ns)
{
	u32 before[CLIENTS], i;

	for (i = 0; i < CLIENTS; i++)
		before[i] = nint_starters_flows(&all, i, now_ns);
	join(r, copy, client, now_ns);
	for (i = 0; i < CLIENTS; i++)
		FUZZ_CLAIM(nint_starters_flows(&all, i, now_ns) - before[i] <= 1);
	check_flows(now_ns);
	return nint_starters_flows(&all, client, now_ns);
}

/* Many flows of a client, each seen once */
static void join_many(u64 now_ns)
{
	const u32 client = fuzz_choice(CLIENTS), t_ns = fuzz_range(HPCC_T_MIN_NS, HPCC_T_MAX_NS);
	u32 left = fuzz_byte();

	while (left--)
		join(&(struct nint_receiver){ .p.t_ns = t_ns }, &(struct nint_receiver){}, client,
		     now_ns);
	check_flows(now_ns);
}

static void learn(struct nint_receiver *r, struct nint_receiver *copy, u32 client, u64 now_ns)
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
			counted = count(r, copy, client, now_ns);
		nint_receiver_starters(r, counted);
		FUZZ_CLAIM(r->p.wnd_ai);
	}
	free(h);
}

static void fuzz_once(void)
{
	struct nint_receiver receivers[CLIENTS] = {}, copies[CLIENTS] = {};
	u64 now_ns = fuzz_range(1, 1ULL << 60);

	nint_starters_init(&all, 1, now_ns);
	nint_starters_init(&others, 1, ~now_ns);
	while (fuzz_has_more()) {
		const u32 client = fuzz_choice(CLIENTS), what = fuzz_choice(8);
		struct nint_receiver *r = &receivers[client];

		now_ns += fuzz_range(0, 1ULL << 40);
		/* Another CPU has read its clock earlier. */
		if (!fuzz_choice(16))
			now_ns -= fuzz_range(0, 1000);
		if (what > 2)
			learn(r, &copies[client], client, now_ns);
		else if (what)
			ask(r);
		else
			join_many(now_ns);
		if (r->asked)
			FUZZ_CLAIM(hpcc_wnd_bytes(&r->v) >= HPCC_WND_MIN_BYTES &&
				   hpcc_wnd_bytes(&r->v) <= r->p.wnd_max_bytes);
	}
}
