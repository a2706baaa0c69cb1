// SPDX-License-Identifier: GPL-2.0
/* The receiver of telemetry of other vendors; see int_tlm.h. */
#include "int_tlm.h"

u32 ntlm_ioam_data_bytes(u32 slots)
{
	return min((slots * NTLM_IOAM_NODE_BYTES + 7) & ~7U, IOAM_DATA_MAX_BYTES & ~7U);
}

void ntlm_use_table(struct ntlm_state *t, u32 generation, bool trust_idle)
{
	if (t->generation == generation)
		return;
	memset(&t->v, 0, sizeof(t->v));
	t->u = 0;
	t->full = 0;
	t->elsewhere = false;
	t->generation = generation;
	t->trust_idle = trust_idle;
}

/* Lines 8 and 9 of the algorithm. The first measurement is taken as it is. */
static void ntlm_filter(struct ntlm_state *t, u32 u, u32 tau_ns, u32 t_ns)
{
	/* |u - U| < 2^32, tau < 2^30 */
	const s64 step = ((s64)u - t->u) * min(tau_ns, t_ns);

	t->u = t->u ? t->u + (s32)div_s64(step, t_ns) : u;
}

/* Return: true if the sender cannot make room for all hops. */
static bool ntlm_is_full(struct ntlm_state *t)
{
	if (!t->path.full || t->path.hops != t->full_hops)
		t->full = 0;
	t->full_hops = t->path.hops;
	t->full += t->path.full && t->full < NTLM_FULL_MAX;
	return t->full == NTLM_FULL_MAX;
}

static enum ntlm_news ntlm_why(const struct ntlm_state *t)
{
	if (t->v.guard >= TLM_GUARD_MAX)
		return NTLM_CONTRADICTED;
	return t->path.bad & (TLM_BAD_LAYOUT | TLM_BAD_SPEED) || !t->path.records ?
		NTLM_NO_LAYOUT : NTLM_USELESS;
}

/*
 * Also uses the records of our own hops in the probe. Return: true if they have changed U. Without
 * the speed of one of these hops the window must not grow.
 */
static bool ntlm_own_hops(const struct hpcc_params *p, struct hpcc_vars *v,
			  const struct int_hdr *h, u64 now_ns, struct nint_reply *reply)
{
	bool is_new;

	if (!int_hops(h))
		return false;
	if (!hpcc_understands(h)) {
		reply->wnd = max(reply->wnd, p->eta);
		return false;
	}
	is_new = hpcc_receive(v, p, h, now_ns) == HPCC_RECEIVED_NEW;
	reply->wnd = max(reply->wnd, v->u);
	return is_new;
}

void ntlm_reply(const struct ntlm_state *t, const struct hpcc_params *p, struct hpcc_vars *v,
		const struct int_hdr *h, u64 now_ns, bool is_new, struct nint_reply *reply)
{
	if (t->none) {
		*reply = (struct nint_reply) { .kind = INT_ANSWER_RECORDS, .none = true };
		return;
	}
	*reply = (struct nint_reply) {
		.kind = INT_ANSWER_RATIO,
		.wnd = t->u,
		/* The sender makes room for all. */
		.hops = min_t(u32, t->path.hops + t->path.full, INT_HOPS_SATURATED),
	};
	is_new |= ntlm_own_hops(p, v, h, now_ns, reply);
	/* Without a measurement of all hops there is no U. */
	reply->tau_ns = is_new && t->u ? p->t_ns : 0;
}

enum ntlm_news ntlm_update(struct ntlm_state *t, const struct hpcc_params *p, struct hpcc_vars *v,
			   const struct int_hdr *h, const struct tlm_sample *s,
			   struct nint_reply *reply)
{
	struct tlm_load load;
	enum hpcc_received received = ntlm_receive(&t->v, p, &t->path, s, &load);
	const bool was_elsewhere = t->elsewhere, is_full = ntlm_is_full(t);
	bool is_new = received == HPCC_RECEIVED_NEW;

	t->elsewhere = received == HPCC_RECEIVED_PATH;
	/* Records that are from another path each time are of no use either. */
	t->none = received == HPCC_RECEIVED_NOTHING || t->elsewhere || is_full;
	if (is_new)
		ntlm_filter(t, load.u, load.tau_ns, p->t_ns);
	ntlm_reply(t, p, v, h, s->now_ns, is_new, reply);
	if (received == HPCC_RECEIVED_NOTHING)
		return ntlm_why(t);
	if (is_full)
		return NTLM_NO_ROOM;
	/* A path that has changed once has not the next time. */
	return t->elsewhere && was_elsewhere ? NTLM_PATHS : NTLM_USED;
}
