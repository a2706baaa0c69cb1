// SPDX-License-Identifier: GPL-2.0
/*
 * sch_wred: a leaf qdisc that marks or drops packets by its instantaneous backlog. The algorithm
 * and its deviations are in wred.h.
 *
 * The qdisc keeps two backlogs. sch->qstats.backlog counts qdisc_pkt_len(), as parents do in
 * qdisc_tree_reduce_backlog(). The algorithm's backlog counts wire bytes. The size with which a
 * packet was counted is kept in its control block, so that a change of `overhead` while packets are
 * queued leaves no remainder.
 *
 * TCQ_F_CAN_BYPASS is not set: a packet that finds an empty queue is still subject to the algorithm
 * (min may be 0) and still counted.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/lib/hop_pkt.h>
#include <hopcc/lib/hop_version.h>
#include "wred.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Default for a device without a queue length, as in the kernel */
#define WRED_LIMIT_DEFAULT_PKTS 1000

/* The backlog is in @vars alone until @stats is dumped. */
struct wred_sched {
	struct wred_params params;
	struct wred_vars vars;
	struct tc_wred_xstats stats;
};

/* Control block of a packet while it is queued here */
struct wred_skb_cb {
	u32 wire_bytes;
};

static struct wred_skb_cb *wred_skb_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct wred_skb_cb));
	return (struct wred_skb_cb *)qdisc_skb_cb(skb)->data;
}

static enum wred_class wred_classify(const struct sk_buff *skb)
{
	switch (hop_pkt_ecn(skb)) {
	case INET_ECN_ECT_0:
	case INET_ECN_ECT_1:
		return WRED_ECT;
	case INET_ECN_CE:
		return WRED_CE;
	case INET_ECN_NOT_ECT:
		return WRED_NECT;
	}
	return WRED_OTHER;
}

/* Decide what happens to a packet, and mark it if the decision is to mark. */
static enum wred_action wred_decide_skb(struct wred_sched *q, struct sk_buff *skb,
					enum wred_class class, u32 wire_bytes)
{
	u32 random = wred_needs_random(&q->params, &q->vars, class) ? get_random_u32() : 0;
	enum wred_action decision;

	decision = wred_decide(&q->params, &q->vars, class, wire_bytes, random);
	if (decision == WRED_MARK && !hop_pkt_set_ce(skb))
		decision = WRED_DROP_UNMARKABLE;
	return decision;
}

static int wred_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct wred_sched *q = qdisc_priv(sch);
	struct hop_pkt_wire wire = hop_pkt_wire(skb, q->params.overhead_bytes);
	enum wred_class class = wred_classify(skb);
	enum wred_action decision = wred_decide_skb(q, skb, class, wire.bytes);

	wred_count(&q->stats, class, decision, wire.segs_pkts);
	if (decision != WRED_PASS) {
		qdisc_qstats_overlimit(sch);
		trace_wred_decision(sch, decision, q->vars.backlog_bytes, wire.bytes,
				    wire.segs_pkts);
	}
	if (decision > WRED_MARK) {
		qdisc_drop(skb, sch, to_free);
		return decision == WRED_DROP_LIMIT ? NET_XMIT_DROP : NET_XMIT_CN;
	}
	wred_skb_cb(skb)->wire_bytes = wire.bytes;
	wred_add(&q->vars, wire.bytes);
	return qdisc_enqueue_tail(skb, sch);
}

static struct sk_buff *wred_dequeue(struct Qdisc *sch)
{
	struct wred_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_head(sch);

	if (skb)
		wred_remove(&q->vars, wred_skb_cb(skb)->wire_bytes);
	return skb;
}

/* Counters survive a reset, which also happens when the device goes down; the peak does not. */
static void wred_reset(struct Qdisc *sch)
{
	struct wred_sched *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	memset(&q->vars, 0, sizeof(q->vars));
}

static const struct nla_policy wred_profile_policy[TCA_WRED_PROFILE_MAX_ATTR + 1] = {
	[TCA_WRED_PROFILE_MIN]	= { .type = NLA_U32 },
	[TCA_WRED_PROFILE_MAX]	= { .type = NLA_U32 },
	[TCA_WRED_PROFILE_PROB]	= { .type = NLA_U32 },
	[TCA_WRED_PROFILE_OFF]	= { .type = NLA_FLAG },
};

/* wred_parse() checks the ranges: an error message from the policy could not name the option. */
static const struct nla_policy wred_policy[TCA_WRED_MAX + 1] = {
	[TCA_WRED_LIMIT]	= { .type = NLA_U32 },
	[TCA_WRED_OVERHEAD]	= { .type = NLA_U32 },
	[TCA_WRED_ECT]		= NLA_POLICY_NESTED(wred_profile_policy),
	[TCA_WRED_NECT]		= NLA_POLICY_NESTED(wred_profile_policy),
};

/* Error messages for an invalid profile */
struct wred_refusals {
	const char *min, *max, *prob, *off, *incomplete, *order, *limit;
};

#define WRED_REFUSALS(name) {							\
	.min = name ": min must be 0 to " __stringify(TC_WRED_THRESHOLD_MAX_BYTES) " bytes", \
	.max = name ": max must be 0 to " __stringify(TC_WRED_THRESHOLD_MAX_BYTES) " bytes", \
	.prob = name ": prob must be 0 to " __stringify(TC_WRED_PROB_MAX_PPM) " ppm", \
	.off = name ": off excludes min, max and prob",				\
	.incomplete = name ": needs min and max",				\
	.order = name ": min must not exceed max",				\
	.limit = name ": max must not exceed limit",				\
}

static const struct wred_refusals wred_ect_refusals = WRED_REFUSALS("ect");
static const struct wred_refusals wred_nect_refusals = WRED_REFUSALS("nect");

/* Update @f with the attributes of one profile's nest. */
static int wred_parse_profile(struct wred_profile *f, const struct nlattr *nest,
			      const struct wred_refusals *say, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WRED_PROFILE_MAX_ATTR + 1];
	const struct nlattr *min, *max, *prob;
	int err;

	if (!nest)
		return 0;
	err = hop_nla_parse(tb, TCA_WRED_PROFILE_MAX_ATTR, nest, wred_profile_policy, extack);
	if (err)
		return err;
	min = tb[TCA_WRED_PROFILE_MIN];
	max = tb[TCA_WRED_PROFILE_MAX];
	prob = tb[TCA_WRED_PROFILE_PROB];
	if (tb[TCA_WRED_PROFILE_OFF]) {
		if (min || max || prob)
			return hop_nla_refuse(extack, tb[TCA_WRED_PROFILE_OFF], say->off);
		*f = (struct wred_profile){ .prob_ppm = TC_WRED_PROB_DEFAULT_PPM };
		return 0;
	}
	if (!f->on && !(min && max))
		return hop_nla_refuse(extack, nest, say->incomplete);
	f->on = true;
	return hop_nla_u32(&f->min_bytes, 0, TC_WRED_THRESHOLD_MAX_BYTES, min, say->min, extack) ?:
	       hop_nla_u32(&f->max_bytes, 0, TC_WRED_THRESHOLD_MAX_BYTES, max, say->max, extack) ?:
	       hop_nla_u32(&f->prob_ppm, 0, TC_WRED_PROB_MAX_PPM, prob, say->prob, extack);
}

/* Check the relations between values, whether new or kept. */
static int wred_check_profile(struct wred_profile *f, u32 limit_bytes, struct nlattr *nest,
			      struct nlattr *limit, const struct wred_refusals *say,
			      struct netlink_ext_ack *extack)
{
	if (!f->on)
		return 0;
	if (f->min_bytes > f->max_bytes)
		return hop_nla_refuse(extack, nest, say->order);
	/* The backlog could never reach max. */
	if (f->max_bytes > limit_bytes)
		return hop_nla_refuse(extack, nest ? nest : limit, say->limit);
	wred_profile_set_slope(f);
	return 0;
}

/* Update @p with the attributes of a request; on error the content of @p is undefined. */
static int wred_parse(struct wred_params *p, const struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WRED_MAX + 1];

	return hop_nla_parse(tb, TCA_WRED_MAX, opt, wred_policy, extack) ?:
	       hop_nla_u32(&p->limit_bytes, TC_WRED_LIMIT_MIN_BYTES, TC_WRED_LIMIT_MAX_BYTES,
			   tb[TCA_WRED_LIMIT],
			   "limit must be " __stringify(TC_WRED_LIMIT_MIN_BYTES) " to "
			   __stringify(TC_WRED_LIMIT_MAX_BYTES) " bytes", extack) ?:
	       hop_nla_u32(&p->overhead_bytes, 0, TC_WRED_OVERHEAD_MAX_BYTES,
			   tb[TCA_WRED_OVERHEAD], "overhead must be 0 to "
			   __stringify(TC_WRED_OVERHEAD_MAX_BYTES) " bytes", extack) ?:
	       wred_parse_profile(&p->ect, tb[TCA_WRED_ECT], &wred_ect_refusals, extack) ?:
	       wred_parse_profile(&p->nect, tb[TCA_WRED_NECT], &wred_nect_refusals, extack) ?:
	       wred_check_profile(&p->ect, p->limit_bytes, tb[TCA_WRED_ECT], tb[TCA_WRED_LIMIT],
				  &wred_ect_refusals, extack) ?:
	       wred_check_profile(&p->nect, p->limit_bytes, tb[TCA_WRED_NECT], tb[TCA_WRED_LIMIT],
				  &wred_nect_refusals, extack);
}

/* Queued packets stay, even above a lowered limit: a change loses no packets. */
static int wred_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct wred_sched *q = qdisc_priv(sch);
	struct wred_params params = q->params;
	int err;

	err = wred_parse(&params, opt, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	q->params = params;
	sch_tree_unlock(sch);
	return 0;
}

static u32 wred_default_limit_bytes(const struct Qdisc *sch)
{
	const struct net_device *dev = qdisc_dev(sch);
	/* tx_queue_len may be any value: 2^32 packets * 2^17 bytes < 2^64 */
	u64 bytes = (u64)(dev->tx_queue_len ?: WRED_LIMIT_DEFAULT_PKTS) * psched_mtu(dev);

	return clamp_t(u64, bytes, TC_WRED_LIMIT_MIN_BYTES, TC_WRED_LIMIT_MAX_BYTES);
}

static int wred_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct wred_sched *q = qdisc_priv(sch);

	q->params.limit_bytes = wred_default_limit_bytes(sch);
	q->params.overhead_bytes = TC_WRED_OVERHEAD_DEFAULT_BYTES;
	q->params.ect.prob_ppm = TC_WRED_PROB_DEFAULT_PPM;
	q->params.nect.prob_ppm = TC_WRED_PROB_DEFAULT_PPM;
	return opt ? wred_change(sch, opt, extack) : 0;
}

static int wred_dump_profile(struct sk_buff *skb, int attr, const struct wred_profile *f)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, attr);

	if (!nest)
		return -EMSGSIZE;
	if (!f->on && nla_put_flag(skb, TCA_WRED_PROFILE_OFF))
		return -EMSGSIZE;
	if (f->on && (nla_put_u32(skb, TCA_WRED_PROFILE_MIN, f->min_bytes) ||
		      nla_put_u32(skb, TCA_WRED_PROFILE_MAX, f->max_bytes) ||
		      nla_put_u32(skb, TCA_WRED_PROFILE_PROB, f->prob_ppm)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int wred_put(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct wred_sched *q = qdisc_priv(sch);

	return nla_put_u32(skb, TCA_WRED_LIMIT, q->params.limit_bytes) ?:
	       nla_put_u32(skb, TCA_WRED_OVERHEAD, q->params.overhead_bytes) ?:
	       wred_dump_profile(skb, TCA_WRED_ECT, &q->params.ect) ?:
	       wred_dump_profile(skb, TCA_WRED_NECT, &q->params.nect);
}

/* RTNL excludes a concurrent change(). */
static int wred_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return hop_nla_dump(sch, skb, wred_put);
}

static int wred_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct wred_sched *q = qdisc_priv(sch);
	struct tc_wred_xstats st;

	/* The lock gives a consistent snapshot without torn counters on 32-bit machines. */
	sch_tree_lock(sch);
	st = q->stats;
	st.backlog_bytes = q->vars.backlog_bytes;
	st.peak_bytes = q->vars.peak_bytes;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops wred_qdisc_ops __read_mostly = {
	.id		= "wred",
	.priv_size	= sizeof(struct wred_sched),
	.enqueue	= wred_enqueue,
	.dequeue	= wred_dequeue,
	.peek		= qdisc_peek_head,
	.init		= wred_init,
	.reset		= wred_reset,
	.change		= wred_change,
	.dump		= wred_dump,
	.dump_stats	= wred_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("wred");

module_driver(wred_qdisc_ops, register_qdisc, unregister_qdisc);
MODULE_DESCRIPTION("WRED/ECN queue on the instantaneous backlog");
MODULE_VERSION(HOPCC_VERSION);
MODULE_LICENSE("GPL");
