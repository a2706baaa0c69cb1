// SPDX-License-Identifier: GPL-2.0
/* The algorithm at the receiver, and N; see int_receiver.h. */
#include "int_receiver.h"

/* Time since the period started. Another CPU may have started it after it read the clock here. */
static u64 nint_client_age_ns(const struct nint_client *c, u64 now_ns)
{
	return max_t(s64, now_ns - c->epoch_ns, 0);
}

/* 10^9 ns * 10 < 2^34 */
static u64 nint_client_span_ns(const struct nint_client *c)
{
	return (u64)c->t_ns * INT_STARTERS_TS;
}

/* The number of flows: those of the current or of the last period. */
static u32 nint_client_flows(const struct nint_client *c, u64 now_ns)
{
	const u64 age_ns = nint_client_age_ns(c, now_ns), span_ns = nint_client_span_ns(c);

	if (age_ns <= span_ns)
		return max(c->flows, c->before);
	return age_ns <= 2 * span_ns ? c->flows : 0;
}

/*
 * Start a period if the last one is over: by the T of the flows that it has, so that a packet with
 * a long T does not bring ended flows back.
 */
static void nint_client_advance(struct nint_starters *s, struct nint_client *c, u32 t_ns,
				u64 now_ns)
{
	if (c->epoch_ns && nint_client_age_ns(c, now_ns) <= nint_client_span_ns(c)) {
		/* A short T of one flow must not shorten the period of the client's others. */
		c->t_ns = max(c->t_ns, t_ns);
		return;
	}
	c->before = nint_client_flows(c, now_ns);
	c->flows = 0;
	c->t_ns = max(c->t_ns / 2, t_ns);
	c->epoch_ns = now_ns;
	/* 0 means that a flow was never counted. */
	s->epochs = s->epochs == U32_MAX ? 1 : s->epochs + 1;
	c->epoch = s->epochs;
}

bool nint_starters_join(struct nint_starters *s, u32 client, struct nint_receiver *r, u64 now_ns)
{
	struct nint_client *c = &s->client[client];

	s->used_ns = now_ns;
	nint_client_advance(s, c, r->p.t_ns, now_ns);
	if (r->starters_epoch == c->epoch && r->starters == s->device)
		return true;
	r->starters_epoch = c->epoch;
	r->starters = s->device;
	return ++c->flows <= INT_STARTERS_OF_OTHER;
}

u32 nint_starters_flows(const struct nint_starters *s, u32 client, u64 now_ns)
{
	u32 flows = 0, i;

	for (i = 0; i < INT_STARTERS_CLIENTS; i++) {
		u32 more = nint_client_flows(&s->client[i], now_ns);

		flows += i == client ? more : min(more, INT_STARTERS_OF_OTHER);
	}
	return flows;
}

void nint_starters_init(struct nint_starters *s, u32 device, u64 now_ns)
{
	memset(s, 0, sizeof(*s));
	s->device = device;
	s->epochs = now_ns;
}

bool nint_starters_is_idle(const struct nint_starters *s, u64 now_ns)
{
	return (s64)(now_ns - s->used_ns) > INT_STARTERS_IDLE_NS;
}

/* The algorithm's parameters, limited to their valid ranges. */
static struct hpcc_params nint_params(u32 t_ns, const struct int_terms *terms)
{
	u32 wnd_max_bytes = max(be32_to_cpu(terms->wnd_max), HPCC_WND_MIN_BYTES);
	u32 eta = clamp(be32_to_cpu(terms->eta), 1U, HPCC_U_ONE);

	return (struct hpcc_params) {
		.t_ns = clamp(t_ns, HPCC_T_MIN_NS, HPCC_T_MAX_NS),
		.eta = eta,
		.max_stage = be16_to_cpu(terms->max_stage),
		.wnd_max_bytes = wnd_max_bytes,
		.wnd_init_bytes = wnd_max_bytes,
	};
}

void nint_receiver_starters(struct nint_receiver *r, u32 counted)
{
	r->counted = counted;
	r->p.wnd_ai = hpcc_wnd_ai(r->p.wnd_max_bytes, r->p.eta, max(counted ?: r->flows, 1U));
}

void nint_receiver_ask(struct nint_receiver *r, const struct int_msg *msg,
		       const struct int_terms *terms)
{
	struct hpcc_params p = nint_params(be32_to_cpu(msg->t_ns), terms);
	u32 kind = be16_to_cpu(msg->kind);

	if (!r->asked)
		hpcc_start(&r->v, &p);
	else if (p.t_ns != r->p.t_ns || p.wnd_max_bytes != r->p.wnd_max_bytes)
		hpcc_rescale(&r->v, r->p.t_ns, &p);
	r->asked = true;
	r->kind = kind <= INT_ANSWER_WINDOW ? kind : INT_ANSWER_RECORDS;
	r->flows = be16_to_cpu(terms->flows);
	r->p = p;
	nint_receiver_starters(r, r->counted);
}

/* The kind of answer that may be given to the request. */
static enum int_answer_kind nint_receiver_kind(const struct nint_receiver *r,
					       const struct int_hdr *h, bool anonymous,
					       bool by_ack)
{
	if (anonymous)
		return INT_ANSWER_RATIO;
	/* The sender must know that there are no records to summarise or to compute with. */
	if (!r->asked || !hpcc_understands(h))
		return INT_ANSWER_RECORDS;
	return by_ack && r->kind == INT_ANSWER_RECORDS ? INT_ANSWER_SUMMARY : r->kind;
}

bool nint_receiver_is_last_hop(const struct nint_receiver *r, const struct int_hdr *h)
{
	return int_hops(h) && int_hops(h) <= int_slots(h) &&
	       r->v.bottleneck == int_hops(h) - 1;
}

/*
 * Return: true if an answer is due. It always is for a probe, since the sender has chosen its time.
 */
static bool nint_receiver_is_due(struct nint_receiver *r, const struct int_hdr *h, u64 now_ns)
{
	u32 period_ns = r->p.t_ns;

	if (h->type != INT_TYPE_DATA || !r->asked)
		return true;
	if (nint_longest_queue_ns(h) > r->p.t_ns / 2)
		period_ns >>= INT_ANSWER_SHIFT;
	if (r->reported_ns && now_ns - r->reported_ns < period_ns)
		return false;
	r->reported_ns = now_ns;
	return true;
}

/* NewINT. Also answers if nothing is new, so that the sender knows that the peer answers. */
static bool nint_receiver_window(struct nint_receiver *r, const struct int_hdr *h,
				 u64 now_ns, struct nint_reply *reply)
{
	bool due = hpcc_new_int(&r->v, &r->p, h, now_ns) || !r->reported_ns ||
		   now_ns - r->reported_ns > r->p.t_ns;

	if (due)
		r->reported_ns = now_ns;
	reply->wnd = hpcc_wnd_bytes(&r->v);
	reply->hops = int_hops(h);
	return due;
}

/*
 * The current U. Without a T from the sender there is none; the answer then only shows that the
 * peer answers.
 */
static bool nint_receiver_ratio(struct nint_receiver *r, const struct int_hdr *h, u64 now_ns,
				struct nint_reply *reply)
{
	if (r->asked && hpcc_receive(&r->v, &r->p, h, now_ns) == HPCC_RECEIVED_NEW)
		r->u_is_new = true;
	if (!nint_receiver_is_due(r, h, now_ns))
		return false;
	reply->wnd = r->v.u;
	reply->tau_ns = r->u_is_new ? r->p.t_ns : 0;
	r->u_is_new = false;
	return true;
}

bool nint_receiver_update(struct nint_receiver *r, const struct int_hdr *h,
			  bool anonymous, bool by_ack, u64 now_ns,
			  struct nint_reply *reply)
{
	*reply = (struct nint_reply) { .kind = nint_receiver_kind(r, h, anonymous, by_ack) };
	switch (reply->kind) {
	case INT_ANSWER_RECORDS:
		return nint_receiver_is_due(r, h, now_ns);
	case INT_ANSWER_WINDOW:
		return nint_receiver_window(r, h, now_ns, reply);
	case INT_ANSWER_SUMMARY:
		hpcc_receive(&r->v, &r->p, h, now_ns);
		/* The bottleneck of an earlier path may be behind the end of this header. */
		reply->index = r->v.bottleneck < int_records(h) ? r->v.bottleneck : 0;
		return nint_receiver_is_due(r, h, now_ns);
	case INT_ANSWER_RATIO:
		return nint_receiver_ratio(r, h, now_ns, reply);
	}
	return false;
}
