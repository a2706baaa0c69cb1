// SPDX-License-Identifier: GPL-2.0
/*
 * The law of the carrier: which packets collect, which answers are new, and what they say
 * (int_carrier.h); what the receiver answers, and N (int_receiver.h).
 */

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

enum int_fault nint_control_check(struct nint_control *ctl, unsigned int bytes,
				  enum int_type type)
{
	enum int_fault fault;

	if (bytes < INT_MSG_BYTES + INT_HDR_BYTES)
		return INT_BAD_TRUNCATED;
	fault = int_check(&ctl->hdr, bytes - INT_MSG_BYTES);
	if (fault)
		return fault;
	if (ctl->hdr.type == INT_TYPE_DATA)
		return INT_BAD_TYPE;
	if (bytes != nint_control_bytes(ctl))
		return INT_BAD_LENGTH;
	return ctl->hdr.type == type ? INT_OK : INT_BAD_TYPE;
}

bool nint_control_answer(const struct nint_control *ctl, u64 now_ns, struct int_answer *a)
{
	const u32 kind = be16_to_cpu(ctl->msg.kind), t_ns = be32_to_cpu(ctl->msg.t_ns);

	*a = (struct int_answer) {
		.kind = kind,
		.seq = be32_to_cpu(ctl->msg.seq),
		.flows = be16_to_cpu(ctl->msg.flows),
		.hops = int_hops(&ctl->hdr),
		.path_id = int_path_id(&ctl->hdr),
		.back_ns = t_ns && kind != INT_ANSWER_RATIO ? ((u32)now_ns - t_ns ?: 1) : 0,
	};
	switch (kind) {
	case INT_ANSWER_RECORDS:
		memcpy(a->room, ctl->room, ctl->hdr.words * INT_WORD_BYTES);
		return true;
	case INT_ANSWER_SUMMARY:
		a->index = ctl->hdr.flags & INT_FLAGS_VALUE;
		a->record = int_unpack(ctl->hdr.record[0]);
		return int_slots(&ctl->hdr) == 1 && a->index < a->hops &&
		       a->index < INT_SLOTS_MAX;
	case INT_ANSWER_RATIO:
		a->u = be32_to_cpu(ctl->msg.wnd);
		a->tau_ns = t_ns;
		return true;
	case INT_ANSWER_WINDOW:
		a->wnd_bytes = be32_to_cpu(ctl->msg.wnd);
		return true;
	}
	return false;
}

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
