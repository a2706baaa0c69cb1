/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of telemetry, draft-miao-rtgwg-hpccplus-00 sections 6.2.2, 6.3.2, 7.1 and 9.1: what
 * it returns to the sender.
 *
 *	records		all records as they arrived
 *	summary		"the link with the highest inflight bytes"
 *	ratio		"only convey the relative ratio": U, no rate, queue or number of hops
 *	window		Rx-HPCC: "feedback the calculated window ... once every RTT"
 *
 * Deviations:
 * - The ratio is U as filtered by the receiver, and the time of measurement is given as T. So the
 *   sender's own filter uses it unchanged, and a lost answer does no harm.
 * - N is the number of flows that arrived by the same device and have the link to it as their
 *   bottleneck: the last hop is the one that sends to that device. A client reports T and the
 *   bottleneck of its flows, and may lie: it adds a bounded number to the N of other clients.
 * - If the sender requests what this host must not or cannot yet report, it gets a less detailed
 *   answer.
 * - If every data packet collects records, not every one is answered: there is one answer per T, or
 *   per T/8 while a port of the path has a queue of more than half of T. The algorithm changes Wc
 *   once per round trip, and an answer for each packet would cost the hosts more than the data
 *   does.
 */
#ifndef HOPCC_NET_INT_INT_RECEIVER_H
#define HOPCC_NET_INT_INT_RECEIVER_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/wire/int.h>
#include <hopcc/flow/int_flow.h>

/*
 * Maximum time for which an answer waits for an ACK with room for it, as data or SACK blocks may
 * take that room. It is shorter than a sender's timeout.
 */
#define INT_PENDING_MAX_NS	2000000ULL

/* A flow is counted if it was seen within the current or the last period of this many T. */
#define INT_STARTERS_TS	10U

/*
 * Number of clients of a device that are counted apart. Clients share a place by chance; the hash
 * is keyed, so that no client can choose a place.
 */
#define INT_STARTERS_CLIENTS	64U

/*
 * Maximum number that a client adds to the N of other clients. A client with more flows gets an N
 * that has all of them, so the sum of W_ai stays in bounds: at most one W (1 - eta) for each client
 * above the maximum, and one for all others.
 */
#define INT_STARTERS_OF_OTHER	64U

/* A device without such flows for this time may lose its place to another one. */
#define INT_STARTERS_IDLE_NS	1000000000LL

/*
 * With headers in data: after a report of a queue, answers are sent every T / 2^INT_ANSWER_SHIFT.
 */
#define INT_ANSWER_SHIFT	3

/**
 * struct nint_receiver - state for received telemetry of a flow; protected by the flow's lock
 * @asked: the sender has sent its parameters
 * @u_is_new: U has changed since the last answer
 * @kind: kind of answer that it requested
 * @flows: N of the sender
 * @counted: N that this host counts; 0: the last hop is not the flow's bottleneck
 * @p: parameters of the algorithm
 * @v: state of the algorithm; for all kinds but records
 * @reported_ns: time of the last answer, except answers to probes that do not request W
 * @starters_epoch: period of the client in which the flow was counted last; 0: never
 * @starters: device for which it was counted
 */
struct nint_receiver {
	bool asked;
	bool u_is_new;
	enum int_answer_kind kind;
	u32 flows;
	u32 counted;
	struct hpcc_params p;
	struct hpcc_vars v;
	u64 reported_ns;
	u32 starters_epoch;
	u32 starters;
};

/**
 * struct nint_reply - contents of an answer
 * @kind: kind of the answer
 * @wnd: WINDOW: W, bytes; RATIO: U
 * @tau_ns: RATIO: time of measurement
 * @flows: N; 0: not reported
 * @index: SUMMARY: index of the hop
 * @hops: RATIO: number of hops of other vendors; 0: none, or not reported
 * @none: RECORDS: without records, whatever the probe has
 */
struct nint_reply {
	enum int_answer_kind kind;
	u32 wnd;
	u32 tau_ns;
	u32 flows;
	u8 index;
	u8 hops;
	bool none;
};

/**
 * struct nint_client - flows of a client that share a last hop
 * @epoch_ns: time at which the current period of INT_STARTERS_TS * T started; 0: none yet
 * @epoch: number of the period, not 0
 * @t_ns: largest T of the flows, halved with each period; 0: none yet
 * @flows: number of flows seen in the period
 * @before: number of flows seen in the previous one
 */
struct nint_client {
	u64 epoch_ns;
	u32 epoch;
	u32 t_ns;
	u32 flows;
	u32 before;
};

/**
 * struct nint_starters - number of flows that share a last hop; protected by a lock of the netns
 * @device: device by which they arrive
 * @epochs: number of the last period of any client
 * @used_ns: time at which a flow was last counted
 * @client: flows by client, each with its own period
 */
struct nint_starters {
	u32 device;
	u32 epochs;
	u64 used_ns;
	struct nint_client client[INT_STARTERS_CLIENTS];
};

/* Time since the period started. Another CPU may have started it after it read the clock here. */
static inline u64 nint_client_age_ns(const struct nint_client *c, u64 now_ns)
{
	return max_t(s64, now_ns - c->epoch_ns, 0);
}

/* 10^9 ns * 10 < 2^34 */
static inline u64 nint_client_span_ns(const struct nint_client *c)
{
	return (u64)c->t_ns * INT_STARTERS_TS;
}

/* The number of flows: those of the current or of the last period. */
static inline u32 nint_client_flows(const struct nint_client *c, u64 now_ns)
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
static inline void nint_client_advance(struct nint_starters *s, struct nint_client *c, u32 t_ns,
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

/**
 * nint_starters_join() - count a flow whose bottleneck is the last hop
 * @s: count of the device
 * @client: place of the client that sends the flow, below INT_STARTERS_CLIENTS
 * @r: the flow
 * @now_ns: current time
 *
 * Return: false if the N of other clients does not contain the flow, since the client has more than
 * INT_STARTERS_OF_OTHER. Only the first call in a period says so.
 */
static inline bool nint_starters_join(struct nint_starters *s, u32 client, struct nint_receiver *r,
				      u64 now_ns)
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

/**
 * nint_starters_flows() - get N for a client
 * @s: count of the device
 * @client: place of the client
 * @now_ns: current time
 *
 * Whatever one client sends, N of another one grows by INT_STARTERS_OF_OTHER at most, and by one
 * packet of any client by 1 at most.
 *
 * Return: all flows of the client, and of each other client at most INT_STARTERS_OF_OTHER.
 */
static inline u32 nint_starters_flows(const struct nint_starters *s, u32 client, u64 now_ns)
{
	u32 flows = 0, i;

	for (i = 0; i < INT_STARTERS_CLIENTS; i++) {
		u32 more = nint_client_flows(&s->client[i], now_ns);

		flows += i == client ? more : min(more, INT_STARTERS_OF_OTHER);
	}
	return flows;
}

/* The periods get other numbers than those of the device that was counted here before. */
static inline void nint_starters_init(struct nint_starters *s, u32 device, u64 now_ns)
{
	memset(s, 0, sizeof(*s));
	s->device = device;
	s->epochs = now_ns;
}

/* Return: true if the place of the device may be given to another one. */
static inline bool nint_starters_is_idle(const struct nint_starters *s, u64 now_ns)
{
	return (s64)(now_ns - s->used_ns) > INT_STARTERS_IDLE_NS;
}

/* The algorithm's parameters, limited to their valid ranges. */
static inline struct hpcc_params nint_params(u32 t_ns, const struct int_terms *terms)
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

/**
 * nint_receiver_starters() - set N, which determines W_ai
 * @r: the flow
 * @counted: N that this host counts; 0: the last hop is not the bottleneck
 */
static inline void nint_receiver_starters(struct nint_receiver *r, u32 counted)
{
	r->counted = counted;
	r->p.wnd_ai = hpcc_wnd_ai(r->p.wnd_max_bytes, r->p.eta, max(counted ?: r->flows, 1U));
}

/**
 * nint_receiver_ask() - process the request in a probe
 * @r: the flow
 * @msg: message of the probe
 * @terms: parameters in the probe
 *
 * The algorithm starts with the first request; if T or the maximum window changes later, the rate
 * stays the same.
 */
static inline void nint_receiver_ask(struct nint_receiver *r, const struct int_msg *msg,
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
static inline enum int_answer_kind nint_receiver_kind(const struct nint_receiver *r,
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

/* Return: true if the last hop has a record and is the most loaded one. */
static inline bool nint_receiver_is_last_hop(const struct nint_receiver *r, const struct int_hdr *h)
{
	return int_hops(h) && int_hops(h) <= int_slots(h) &&
	       r->v.bottleneck == int_hops(h) - 1;
}

/* Return: true if a port of the path has a queue of more than half of T. */
static inline bool nint_reports_queue(const struct int_hdr *h, u32 t_ns)
{
	unsigned int i;

	for (i = 0; i < int_records(h); i++) {
		struct int_record r = int_unpack(h->record[i]);

		/* 2^16 units * 2^20 ps; 2^30 ns * 500 */
		if ((u64)r.qlen_units * int_speeds[r.speed].unit_ps >
		    (u64)t_ns * (HPCC_PS_PER_NS / 2))
			return true;
	}
	return false;
}

/*
 * Return: true if an answer is due. It always is for a probe, since the sender has chosen its time.
 */
static inline bool nint_receiver_is_due(struct nint_receiver *r, const struct int_hdr *h,
					u64 now_ns)
{
	u32 period_ns = r->p.t_ns;

	if (h->type != INT_TYPE_DATA || !r->asked)
		return true;
	if (nint_reports_queue(h, r->p.t_ns))
		period_ns >>= INT_ANSWER_SHIFT;
	if (r->reported_ns && now_ns - r->reported_ns < period_ns)
		return false;
	r->reported_ns = now_ns;
	return true;
}

/* NewINT. Also answers if nothing is new, so that the sender knows that the peer answers. */
static inline bool nint_receiver_window(struct nint_receiver *r, const struct int_hdr *h,
					u64 now_ns, struct nint_reply *reply)
{
	bool due = hpcc_new_int(&r->v, &r->p, h, now_ns) || !r->reported_ns ||
		   now_ns - r->reported_ns > r->p.t_ns;

	if (due)
		r->reported_ns = now_ns;
	reply->wnd = hpcc_wnd_bytes(&r->v);
	return due;
}

/*
 * The current U. Without a T from the sender there is none; the answer then only shows that the
 * peer answers.
 */
static inline bool nint_receiver_ratio(struct nint_receiver *r, const struct int_hdr *h, u64 now_ns,
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

/**
 * nint_receiver_update() - process received telemetry
 * @r: the flow
 * @h: its header, validated
 * @anonymous: this host reports only ratios
 * @by_ack: it answers in ACKs, which have no room for all records
 * @now_ns: local clock
 * @reply: result
 *
 * Return: true if an answer is to be sent.
 */
static inline bool nint_receiver_update(struct nint_receiver *r, const struct int_hdr *h,
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

#endif /* HOPCC_NET_INT_INT_RECEIVER_H */
