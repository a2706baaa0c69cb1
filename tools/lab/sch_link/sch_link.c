// SPDX-License-Identifier: GPL-2.0
/*
 * The lab's link: a transmitter of a given rate, and a wire with a propagation delay.
 *
 *	enqueue -> [child: any qdisc] -> transmitter -> in flight -> device
 *
 * A free transmitter dequeues the head of the child at once, and only this reduces the
 * child's backlog. The packet occupies the transmitter for the time of its bytes on the wire.
 * It arrives @delay after its last bit has left; then dequeue() passes it to the device. So one
 * link is one direction of a cable, and the child is the queue of the port.
 *
 * GSO packets are segmented before they are enqueued in the child, so behind the first link
 * every packet is one packet on the wire.
 *
 * The default child, which has no handle, models the ring of a NIC. No program can read its
 * backlog, so it may be dequeued late, by up to the time of one full frame, if that saves a
 * timer; the times on the wire stay exact. A child that a user has added is dequeued on time.
 *
 * Loss, reordering, duplication and corruption happen on the wire, by a random generator with a
 * seed: the same seed and the same packets give the same result. A reordered packet is delayed
 * by the time of LINK_REORDER_FRAMES full frames, so that packets that follow closely
 * overtake it.
 *
 * This qdisc is for the lab only: it has one lock and one queue, and keeps the packets in flight
 * in memory.
 */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <hopcc/core/hop_child.h>
#include <net/netlink.h>

#include "link_clock.h"
#include "pkt_sched_link.h"

#define LINK_FRAME_BYTES 1538

/* One more than the three duplicate ACKs by which TCP detects a loss. */
#define LINK_REORDER_FRAMES 4

/**
 * struct link_params - the settings by tc, under the tree lock
 * @clock: the rate, in the form that the clock needs
 * @rate_bits_ps: the rate, bit/s
 * @delay_ns: propagation delay
 * @frame_ns: time of a full frame, rounded up
 * @seed: seed of the random generator
 * @overhead_bytes: bytes on the wire per packet besides the frame
 * @loss: probability of a loss, in units of 1 / LINK_CHANCE_ONE
 * @reorder: probability of reordering, in the same unit
 * @duplicate: probability of duplication, in the same unit
 * @corrupt: probability of corruption, in the same unit
 */
struct link_params {
	struct link_clock_params clock;
	u64 rate_bits_ps;
	u64 delay_ns;
	u64 frame_ns;
	u64 seed;
	u32 overhead_bytes;
	u32 loss;
	u32 reorder;
	u32 duplicate;
	u32 corrupt;
};

/**
 * struct link_sched_data - one direction of a cable
 * @child: the port's queue; must be first
 * @params: the settings by tc
 * @clock: the clock of the transmitter
 * @flight: packets on the wire, by time of arrival
 * @watchdog: timer for the next arrival, or for the time at which the transmitter is free
 * @rng: state of the random generator
 * @held: the child returned no packet although it was not empty
 * @stats: counters
 */
struct link_sched_data {
	struct hop_child child;
	struct link_params params;
	struct link_clock_vars clock;
	struct sk_buff_head flight;
	struct qdisc_watchdog watchdog;
	u64 rng;
	bool held;
	struct tc_link_xstats stats;
};

struct link_skb_cb {
	u64 arrival_ns;
};

static struct link_skb_cb *link_skb_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct link_skb_cb));
	return (struct link_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* splitmix64: a counter and a mixing function; any seed will do. */
static u64 link_random(struct link_sched_data *q)
{
	u64 z = q->rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static bool link_chance(struct link_sched_data *q, u32 chance)
{
	if (likely(!chance))
		return false;
	return chance == LINK_CHANCE_ONE || (u32)link_random(q) < chance;
}

static void link_fly(struct link_sched_data *q, struct sk_buff *skb, u64 arrival_ns)
{
	struct sk_buff *before = skb_peek_tail(&q->flight);

	link_skb_cb(skb)->arrival_ns = arrival_ns;
	while (before && unlikely(link_skb_cb(before)->arrival_ns > arrival_ns))
		before = before == skb_peek(&q->flight) ? NULL : before->prev;
	if (before)
		__skb_queue_after(&q->flight, before, skb);
	else
		__skb_queue_head(&q->flight, skb);
}

/* Drop a packet, which is still counted here and in all parents. */
static void link_lose(struct Qdisc *sch, struct sk_buff *skb)
{
	unsigned int len_bytes = qdisc_pkt_len(skb);

	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_qstats_drop(sch);
	qdisc_tree_reduce_backlog(sch, 1, len_bytes);
	kfree_skb(skb);
}

static void link_duplicate(struct Qdisc *sch, struct sk_buff *skb, u64 arrival_ns)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct sk_buff *twin = skb_clone(skb, GFP_ATOMIC);

	if (!twin)
		return;
	q->stats.duplicated_pkts++;
	sch->qstats.backlog += qdisc_pkt_len(twin);
	qdisc_qlen_inc(sch);
	qdisc_tree_reduce_backlog(sch, -1, -(int)qdisc_pkt_len(twin));
	link_fly(q, twin, arrival_ns);
}

/* Flip one bit behind the link layer's header. Return: NULL if the packet was lost instead. */
static struct sk_buff *link_corrupt(struct Qdisc *sch, struct sk_buff *skb)
{
	struct link_sched_data *q = qdisc_priv(sch);
	unsigned int first = skb_network_offset(skb), bit;

	if (skb->len <= first)
		return skb;
	/* A checksum that is computed later would cover the flipped bit. */
	if ((skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) ||
	    skb_ensure_writable(skb, skb->len)) {
		link_lose(sch, skb);
		return NULL;
	}
	bit = reciprocal_scale(link_random(q) >> 32, (skb->len - first) * 8);
	skb->data[first + bit / 8] ^= 1 << (bit % 8);
	skb->ip_summed = CHECKSUM_NONE;
	q->stats.corrupted_pkts++;
	return skb;
}

/* Process a packet between the departure of its last bit and its arrival. */
static void link_propagate(struct Qdisc *sch, struct sk_buff *skb, u64 sent_ns)
{
	struct link_sched_data *q = qdisc_priv(sch);
	u64 arrival_ns = sent_ns + q->params.delay_ns;

	if (link_chance(q, q->params.loss)) {
		q->stats.lost_pkts++;
		link_lose(sch, skb);
		return;
	}
	if (link_chance(q, q->params.duplicate))
		link_duplicate(sch, skb, arrival_ns);
	if (link_chance(q, q->params.corrupt)) {
		skb = link_corrupt(sch, skb);
		if (!skb)
			return;
	}
	if (link_chance(q, q->params.reorder)) {
		q->stats.reordered_pkts++;
		arrival_ns += LINK_REORDER_FRAMES * q->params.frame_ns;
	}
	link_fly(q, skb, arrival_ns);
}

/* Send one packet of the child to the wire. Return: false if the child returns no packet. */
static bool link_transmit(struct Qdisc *sch, u64 now_ns)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_child_take(sch);
	u64 free_ns, sent_ns;
	u32 wire_bytes;

	if (!skb) {
		q->held = true;
		return false;
	}
	if (q->held) {
		q->held = false;
		link_clock_wake(&q->clock, now_ns);
	}
	wire_bytes = qdisc_pkt_len(skb) + q->params.overhead_bytes;
	free_ns = q->clock.free_ns;
	sent_ns = link_clock_send(&q->params.clock, &q->clock, wire_bytes);
	q->stats.sent_pkts++;
	q->stats.sent_bytes += wire_bytes;
	q->stats.busy_ns += q->clock.free_ns - free_ns;
	/* A NIC reports a frame as sent when it is on the wire, which ends TCP's small queues. */
	skb_orphan(skb);
	/* The sender's hash is not on the wire; the receiver computes its own. */
	skb_clear_hash(skb);
	link_propagate(sch, skb, sent_ns);
	return true;
}

/* Get the time by which the child may be dequeued late without missing an arrival; else 0. */
static u64 link_slack_ns(const struct Qdisc *sch)
{
	const struct link_sched_data *q = (const void *)sch->privdata;

	if (hop_child_of(sch)->handle)
		return 0;
	return min(q->params.frame_ns, q->params.delay_ns);
}

/* Sleep until the next arrival or, with packets waiting, until the transmitter is free. */
static void link_sleep(struct Qdisc *sch, u64 now_ns)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&q->flight);
	u64 wake_ns = U64_MAX, free_ns = link_clock_free_ns(&q->clock);

	if (skb)
		wake_ns = link_skb_cb(skb)->arrival_ns;
	/* A throttled child schedules the root by itself. */
	if (free_ns > now_ns && hop_child_of(sch)->q.qlen &&
	    wake_ns > free_ns + link_slack_ns(sch))
		wake_ns = free_ns;
	if (wake_ns != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->watchdog, wake_ns);
}

static struct sk_buff *link_dequeue(struct Qdisc *sch)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now_ns = ktime_get_ns();

	while (hop_child_of(sch)->q.qlen && link_clock_free_ns(&q->clock) <= now_ns)
		if (!link_transmit(sch, now_ns))
			break;

	skb = skb_peek(&q->flight);
	if (!skb || link_skb_cb(skb)->arrival_ns > now_ns) {
		link_sleep(sch, now_ns);
		return NULL;
	}
	__skb_unlink(skb, &q->flight);
	hop_child_leave(sch, skb);
	return skb;
}

/* Packets are segmented as in front of a NIC that can do nothing. */
static int link_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	const netdev_features_t features = netif_skb_features(skb);

	return hop_child_enqueue_list(skb, skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK), sch,
				      to_free);
}

static int link_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct link_sched_data *q = qdisc_priv(sch);

	if (!hop_child_of(sch)->q.qlen)
		link_clock_wake(&q->clock, ktime_get_ns());
	if (skb_is_gso(skb))
		return link_enqueue_segments(skb, sch, to_free);
	return hop_child_enqueue(skb, sch, to_free);
}

static void link_reset(struct Qdisc *sch)
{
	struct link_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	hop_child_reset(sch);
	__skb_queue_purge(&q->flight);
	memset(&q->clock, 0, sizeof(q->clock));
	q->held = false;
}

static const struct nla_policy link_policy[TCA_LINK_MAX + 1] = {
	[TCA_LINK_RATE] = { .type = NLA_U64 },
	[TCA_LINK_DELAY] = { .type = NLA_U64 },
	[TCA_LINK_OVERHEAD] = { .type = NLA_U32 },
	[TCA_LINK_LOSS] = { .type = NLA_U32 },
	[TCA_LINK_REORDER] = { .type = NLA_U32 },
	[TCA_LINK_DUPLICATE] = { .type = NLA_U32 },
	[TCA_LINK_CORRUPT] = { .type = NLA_U32 },
	[TCA_LINK_SEED] = { .type = NLA_U64 },
};

static void link_read_u32(u32 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static void link_read_u64(u64 *value, const struct nlattr *attr)
{
	if (attr)
		*value = nla_get_u64(attr);
}

/* Check the bounds here and not in the policy, whose error message cannot name the option. */
static int link_check(const struct link_params *params, struct nlattr *tb[],
		      struct netlink_ext_ack *extack)
{
	if (!params->rate_bits_ps && !tb[TCA_LINK_RATE]) {
		NL_SET_ERR_MSG_MOD(extack, "a link needs a rate");
		return -EINVAL;
	}
	if (params->rate_bits_ps < LINK_RATE_MIN_BITS_PS ||
	    params->rate_bits_ps > LINK_RATE_MAX_BITS_PS) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LINK_RATE], "rate: 10kbit to 1600gbit");
		return -ERANGE;
	}
	if (params->delay_ns > LINK_DELAY_MAX_NS) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LINK_DELAY], "delay: at most 10s");
		return -ERANGE;
	}
	if (params->overhead_bytes > LINK_OVERHEAD_MAX_BYTES) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LINK_OVERHEAD],
				    "overhead: at most 1024 bytes");
		return -ERANGE;
	}
	return 0;
}

/* Update @params from the attributes; the other members stay. */
static int link_parse(struct link_params *params, struct nlattr *opt, bool *reseed,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LINK_MAX + 1] = {};
	struct link_clock_vars frame = {};
	int err = 0;

	if (opt)
		err = nla_parse_nested_deprecated(tb, TCA_LINK_MAX, opt, link_policy, extack);
	if (err)
		return err;

	link_read_u64(&params->rate_bits_ps, tb[TCA_LINK_RATE]);
	link_read_u64(&params->delay_ns, tb[TCA_LINK_DELAY]);
	link_read_u32(&params->overhead_bytes, tb[TCA_LINK_OVERHEAD]);
	link_read_u32(&params->loss, tb[TCA_LINK_LOSS]);
	link_read_u32(&params->reorder, tb[TCA_LINK_REORDER]);
	link_read_u32(&params->duplicate, tb[TCA_LINK_DUPLICATE]);
	link_read_u32(&params->corrupt, tb[TCA_LINK_CORRUPT]);
	link_read_u64(&params->seed, tb[TCA_LINK_SEED]);
	*reseed = tb[TCA_LINK_SEED];

	err = link_check(params, tb, extack);
	if (err)
		return err;
	link_clock_set_rate(&params->clock, params->rate_bits_ps);
	params->frame_ns = link_clock_send(&params->clock, &frame, LINK_FRAME_BYTES);
	return 0;
}

static int link_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct link_params params = q->params;
	bool reseed;
	int err;

	err = link_parse(&params, opt, &reseed, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	q->params = params;
	if (reseed)
		q->rng = params.seed;
	sch_tree_unlock(sch);
	return 0;
}

static int link_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct link_sched_data *q = qdisc_priv(sch);
	int err;

	hop_child_prepare(sch);
	__skb_queue_head_init(&q->flight);
	qdisc_watchdog_init(&q->watchdog, sch);
	q->params.overhead_bytes = LINK_OVERHEAD_BYTES;

	err = link_change(sch, opt, extack);
	if (err)
		return err;
	return hop_child_init(sch, 0, extack);
}

static void link_destroy(struct Qdisc *sch)
{
	struct link_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	hop_child_destroy(sch);
}

static int link_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct link_sched_data *q = qdisc_priv(sch);
	const struct link_params *params = &q->params;
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_LINK_RATE, params->rate_bits_ps, TCA_LINK_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LINK_DELAY, params->delay_ns, TCA_LINK_PAD) ||
	    nla_put_u32(skb, TCA_LINK_OVERHEAD, params->overhead_bytes) ||
	    nla_put_u32(skb, TCA_LINK_LOSS, params->loss) ||
	    nla_put_u32(skb, TCA_LINK_REORDER, params->reorder) ||
	    nla_put_u32(skb, TCA_LINK_DUPLICATE, params->duplicate) ||
	    nla_put_u32(skb, TCA_LINK_CORRUPT, params->corrupt) ||
	    nla_put_u64_64bit(skb, TCA_LINK_SEED, params->seed, TCA_LINK_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static int link_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct link_sched_data *q = qdisc_priv(sch);
	struct tc_link_xstats stats = q->stats;

	stats.in_flight_pkts = skb_queue_len(&q->flight);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

static struct Qdisc_ops link_qdisc_ops __read_mostly = {
	.cl_ops = &hop_child_class_ops,
	.id = "link",
	.priv_size = sizeof(struct link_sched_data),
	.enqueue = link_enqueue,
	.dequeue = link_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = link_init,
	.reset = link_reset,
	.destroy = link_destroy,
	.change = link_change,
	.dump = link_dump,
	.dump_stats = link_dump_stats,
	.owner = THIS_MODULE,
};

static int __init link_module_init(void)
{
	BUILD_BUG_ON(offsetof(struct link_sched_data, child));
	return register_qdisc(&link_qdisc_ops);
}

static void __exit link_module_exit(void)
{
	unregister_qdisc(&link_qdisc_ops);
}

module_init(link_module_init);
module_exit(link_module_exit);
MODULE_ALIAS_NET_SCH("link");
MODULE_DESCRIPTION("hopcc: a link with rate, delay and loss for the lab");
MODULE_LICENSE("GPL");
