/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver of telemetry, draft-miao-rtgwg-hpccplus-00 sections 6.2.2, 6.3.2, 7.1
 * and 9.1: what goes back to the sender.
 *
 *	records		every hop's, as they came
 *	summary		"the link with the highest inflight bytes"
 *	ratio		"only convey the relative ratio": U, no rate, queue or count of hops
 *	window		Rx-HPCC: "feedback the calculated window ... once every RTT"
 *
 * Deviations:
 * - The ratio is U, which the receiver has filtered, said to be measured over T: the
 *   sender's own filter then takes it as it is, and a lost answer costs nothing.
 * - N counts flows that came by the same device and had the link to it as their
 *   bottleneck: the last hop is who sends to that device.
 * - Who asks what this host will not tell, or cannot yet, is told less.
 * - Where every data packet collects, not every one is answered: one a T, and one an eighth of T
 *   while a port of the path has a queue of more than half of T. The law changes Wc once a round
 *   trip, and a packet for each packet would cost the hosts more than the data does.
 */
#ifndef NET_INT_INT_RECEIVER_H
#define NET_INT_INT_RECEIVER_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <net/hpcc.h>
#include <net/int.h>
#include <net/int_flow.h>

/*
 * How long an answer may wait for an ACK: data, or SACK blocks, may leave it no room.
 * Less than a sender's patience.
 */
#define INT_OWED_MAX_NS	2000000ULL

/* A flow counts as long as it was seen in this or the last so many T. */
#define INT_CROWD_TS	10U

/* Inband: where a queue is told of, an answer each T in 2^this. */
#define INT_ANSWER_SHIFT	3

/**
 * struct int_receiver - of a flow that telemetry arrives for; under its lock
 * @asked: the sender told its terms
 * @kind: it asked for
 * @flows: its N
 * @counted: ours; 0: the last hop is not its bottleneck
 * @p: for the law
 * @v: the law's state; of all kinds but records
 * @told_ns: when the sender was answered, but for probes that do not ask for W
 * @u_is_new: U has changed since
 * @crowd_epoch: of the crowd that it last was counted in
 * @crowd: device that this was
 */
struct int_receiver {
	bool asked;
	enum int_answer_kind kind;
	u32 flows;
	u32 counted;
	struct hpcc_params p;
	struct hpcc_vars v;
	u64 told_ns;
	bool u_is_new;
	u32 crowd_epoch;
	u32 crowd;
};

/**
 * struct int_reply - what goes back
 * @kind: of the answer
 * @wnd: WINDOW: bytes; RATIO: U
 * @tau_ns: RATIO
 * @flows: N; 0: not told
 * @index: SUMMARY: which hop
 */
struct int_reply {
	enum int_answer_kind kind;
	u32 wnd;
	u32 tau_ns;
	u32 flows;
	u8 index;
};

/**
 * struct int_crowd - flows that share a last hop; under a lock of the netns
 * @device: they arrive by; 0: none yet
 * @epoch: counts spans of INT_CROWD_TS * T; from 1
 * @epoch_ns: when it began
 * @flows: seen in it
 * @before: seen in the one before
 * @t_ns: the greatest T among them, halved with each epoch
 */
struct int_crowd {
	u32 device;
	u32 epoch;
	u64 epoch_ns;
	u32 flows;
	u32 before;
	u32 t_ns;
};

/**
 * int_crowd_join() - a flow whose bottleneck is the last hop
 * @c: the crowd
 * @r: the flow
 * @now_ns: now
 *
 * Return: N.
 */
static inline u32 int_crowd_join(struct int_crowd *c, struct int_receiver *r, u64 now_ns)
{
	u64 span_ns;

	/* One peer's short T is not everybody's. */
	c->t_ns = max(c->t_ns, r->p.t_ns);
	span_ns = (u64)c->t_ns * INT_CROWD_TS;
	if (!c->epoch || now_ns - c->epoch_ns > span_ns) {
		c->before = c->epoch && now_ns - c->epoch_ns <= 2 * span_ns ? c->flows : 0;
		c->flows = 0;
		c->t_ns = max(c->t_ns / 2, r->p.t_ns);
		c->epoch_ns = now_ns;
		/* Not 0: that is who was never counted. */
		c->epoch = c->epoch == U32_MAX ? 1 : c->epoch + 1;
	}
	if (r->crowd_epoch != c->epoch || r->crowd != c->device) {
		r->crowd_epoch = c->epoch;
		r->crowd = c->device;
		c->flows++;
	}
	return max(c->flows, c->before);
}

/* The law's parameters, whatever the wire says. */
static inline struct hpcc_params int_params(u32 t_ns, const struct int_terms *terms)
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
 * int_receiver_crowd() - N scales W_ai
 * @r: the flow
 * @counted: N that this host counts; 0: the last hop is not the bottleneck
 */
static inline void int_receiver_crowd(struct int_receiver *r, u32 counted)
{
	r->counted = counted;
	r->p.wnd_ai = hpcc_wnd_ai(r->p.wnd_max_bytes, r->p.eta, max(counted ?: r->flows, 1U));
}

/**
 * int_receiver_ask() - a probe brought what the sender wants
 * @r: the flow
 * @msg: of the probe
 * @terms: of the probe
 *
 * The law starts with the first; where T or the bound changes, its rate stays as it is.
 */
static inline void int_receiver_ask(struct int_receiver *r, const struct int_msg *msg,
				    const struct int_terms *terms)
{
	struct hpcc_params p = int_params(be32_to_cpu(msg->t_ns), terms);
	u32 kind = be16_to_cpu(msg->kind);

	if (!r->asked)
		hpcc_start(&r->v, &p);
	else if (p.t_ns != r->p.t_ns || p.wnd_max_bytes != r->p.wnd_max_bytes)
		hpcc_rescale(&r->v, r->p.t_ns, &p);
	r->asked = true;
	r->kind = kind <= INT_ANSWER_WINDOW ? kind : INT_ANSWER_RECORDS;
	r->flows = be16_to_cpu(terms->flows);
	r->p = p;
	int_receiver_crowd(r, r->counted);
}

/* What may be told of what was asked. */
static inline enum int_answer_kind int_receiver_kind(const struct int_receiver *r,
						     const struct int_hdr *h, bool anonymous,
						     bool by_ack)
{
	if (anonymous)
		return INT_ANSWER_RATIO;
	/* Nothing to sum up, or to compute with: the sender is to know. */
	if (!r->asked || !hpcc_understands(h))
		return INT_ANSWER_RECORDS;
	return by_ack && r->kind == INT_ANSWER_RECORDS ? INT_ANSWER_SUMMARY : r->kind;
}

/* The last hop has a record, and no other hop more load. */
static inline bool int_receiver_is_last_hop(const struct int_receiver *r, const struct int_hdr *h)
{
	return int_hops(h) && int_hops(h) <= int_slots(h) &&
	       r->v.bottleneck == int_hops(h) - 1;
}

/* Is a port of the path behind by more than half of T? */
static inline bool int_tells_of_queue(const struct int_hdr *h, u32 t_ns)
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

/* Is an answer due? A probe's always is: its sender has chosen the time. */
static inline bool int_receiver_is_due(struct int_receiver *r, const struct int_hdr *h, u64 now_ns)
{
	u32 period_ns = r->p.t_ns;

	if (h->type != INT_TYPE_DATA || !r->asked)
		return true;
	if (int_tells_of_queue(h, r->p.t_ns))
		period_ns >>= INT_ANSWER_SHIFT;
	if (r->told_ns && now_ns - r->told_ns < period_ns)
		return false;
	r->told_ns = now_ns;
	return true;
}

/* NewINT. Also where nothing is new: who asks is to know that somebody listens. */
static inline bool int_receiver_window(struct int_receiver *r, const struct int_hdr *h,
				       u64 now_ns, struct int_reply *reply)
{
	bool due = hpcc_new_int(&r->v, &r->p, h, now_ns) || !r->told_ns ||
		   now_ns - r->told_ns > r->p.t_ns;

	if (due)
		r->told_ns = now_ns;
	reply->wnd = hpcc_wnd_bytes(&r->v);
	return due;
}

/* U as it is now. Where nobody told T there is none: an answer says that somebody listens. */
static inline bool int_receiver_ratio(struct int_receiver *r, const struct int_hdr *h, u64 now_ns,
				      struct int_reply *reply)
{
	if (r->asked && hpcc_hear(&r->v, &r->p, h, now_ns) == HPCC_HEARD_NEW)
		r->u_is_new = true;
	if (!int_receiver_is_due(r, h, now_ns))
		return false;
	reply->wnd = r->v.u;
	reply->tau_ns = r->u_is_new ? r->p.t_ns : 0;
	r->u_is_new = false;
	return true;
}

/**
 * int_receiver_hear() - telemetry arrived
 * @r: the flow
 * @h: its header, checked
 * @anonymous: this host tells ratios only
 * @by_ack: it answers on ACKs, which have no room for all records
 * @now_ns: local clock
 * @reply: result
 *
 * Return: whether to answer.
 */
static inline bool int_receiver_hear(struct int_receiver *r, const struct int_hdr *h,
				     bool anonymous, bool by_ack, u64 now_ns,
				     struct int_reply *reply)
{
	*reply = (struct int_reply) { .kind = int_receiver_kind(r, h, anonymous, by_ack) };
	switch (reply->kind) {
	case INT_ANSWER_RECORDS:
		return int_receiver_is_due(r, h, now_ns);
	case INT_ANSWER_WINDOW:
		return int_receiver_window(r, h, now_ns, reply);
	case INT_ANSWER_SUMMARY:
		hpcc_hear(&r->v, &r->p, h, now_ns);
		/* One of an earlier path may be beyond this header's end. */
		reply->index = r->v.bottleneck < int_records(h) ? r->v.bottleneck : 0;
		return int_receiver_is_due(r, h, now_ns);
	case INT_ANSWER_RATIO:
		return int_receiver_ratio(r, h, now_ns, reply);
	}
	return false;
}

#endif /* NET_INT_INT_RECEIVER_H */
