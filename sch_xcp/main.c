// SPDX-License-Identifier: GPL-2.0
/*
 * sch_xcp: the XCP switch qdisc for one port. The algorithm and its deviations from the draft are
 * in xcp_router.h.
 *
 * The qdisc has a child qdisc that queues the packets (hop_child). The algorithm counts a packet as
 * arrived when it is enqueued, whatever the child does with it then, and as departed when it is
 * dequeued. peek() only returns the child's packet, so that a shaper above this qdisc, which peeks,
 * does not make a packet depart early.
 *
 * With `share`, the first child is for XCP only and a second one is for all other traffic; their
 * weights are computed in xcp_share.h. Once created, the second child stays. After a change of
 * `share`, the child that holds the older packets is drained first: nothing is lost and no flow is
 * reordered, unless `share` changes again before the child is empty.
 *
 * There are two timers, one for the control interval and one for the estimate of the persistent
 * queue. The first packet starts both. They stop when no packet arrives in a whole control interval
 * and none is queued. Their callbacks take the root's lock. reset() already holds it and cannot
 * wait for a callback; instead, a callback does nothing if the timers were stopped or restarted.
 *
 * The qdiscs of a NIC's transmit queues below mq form one port (hop_port). Each counts the bytes
 * that it receives and ends its own intervals with the counts of all of them, so no CPU waits for
 * another.
 *
 * While packets are queued but none arrives or departs, each further period would compute the same
 * values as the one before. After XCP_STILL_PERIODS such periods the queue's timer rests, and the
 * control interval's with the next interval in which nothing moves. All values stay. The next packet
 * starts the timers again. Otherwise a child that holds back a packet for hours would keep a CPU
 * busy.
 *
 * On a hardware device, what the driver's ring holds (xcp_ring.h) belongs to the persistent queue.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_drain.h>
#include <hopcc/lib/hop_limit.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/core/hop_port.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/lib/hop_trust.h>
#include <hopcc/lib/hop_version.h>
#include <net/pkt_sched.h>

#include "xcp_ring.h"
#include "xcp_share.h"
#include "xcp_look.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * struct sxcp_config - the options set by tc, in tc's units; protected by RTNL
 * @rate_bytes_ps: rate of the port; TC_XCP_RATE_AUTO: that of the device
 * @value: 32-bit options, indexed by attribute
 */
struct sxcp_config {
	u64 rate_bytes_ps;
	u32 value[TCA_XCP_MAX + 1];
};

/*
 * The timers rest only after this number of periods of the queue's timer without a change. Shorter
 * gaps, such as the time of one packet on a slow link, do not stop them, because starting a timer
 * costs more than a few expiries.
 */
#define XCP_STILL_PERIODS 16

/**
 * struct sxcp_sched_data - one port, or one transmit queue of a port
 * @child: the child qdiscs; must be first
 * @sch: the qdisc whose private data this is
 * @config: options set by tc
 * @params: parameters of the algorithm, derived from @config; with share, the capacity is XCP's
 * @port_bytes_ps: rate of the port
 * @drain: measured rate of the port, if less than @port_bytes_ps
 * @drain_run: the current measurement of that rate
 * @ring: the ring below, if @has_ring
 * @has_ring: hop_port_has_ring() is true, and there is one queue; changed under the tree lock
 * @is_of_queue: hop_port_is_of_queue() is true; changed under the tree lock
 * @warned_slow: the warning that the port sends less than its rate is already in the kernel log
 * @vars: state of the algorithm
 * @stats: counters of packets and intervals; a dump adds the state of the algorithm
 * @share: weights of the two queues, with share
 * @shares: packets are currently sent to two queues
 * @peeked: the queue whose packet was peeked; XCP_SIDES: none
 * @older: the queue that holds packets older than those in the other
 * @older_pkts: number of these packets
 * @other_arrived_bytes: bytes enqueued to the other queue, in its own units
 * @other_left_bytes: bytes dequeued from the other queue
 * @other_lost_bytes: bytes lost in the other queue that are already accounted for
 * @other_queue: the child that the counts of the other queue belong to; only compared
 * @runs: the port is in use: its timers run or rest
 * @rests: the queue's timer is not running: the next packet that arrives or departs starts it
 * @ctl_rests: nor is the control interval's
 * @still_periods: periods in a row that ended without an arrival or departure
 * @moves: number of arrivals and departures
 * @queue_moves: @moves at the start of the queue's period
 * @ctl_moves: @moves at the start of the control interval
 * @ctl_start_ns: start of the control interval
 * @ctl: ends control intervals
 * @queue: ends periods of the queue's estimate
 * @arrived: with several transmit queues, the bytes that arrived here, for the other queues
 * @arrived_time: with several transmit queues, the sum of packet times, 2^-12 ns
 * @reported_bytes: part of @arrived that belongs to intervals that have ended
 * @reported_time: part of @arrived_time that belongs to intervals that have ended
 * @others: counts of the port's other queues at @others_ns
 * @others_ns: time when @others were read, ns
 * @speed: notifies changes of the device's speed; protected by RTNL
 */
struct sxcp_sched_data {
	struct hop_child child;
	struct Qdisc *sch;
	struct sxcp_config config;
	struct sxcp_params params;
	u64 port_bytes_ps;
	struct hop_drain drain;
	struct hop_drain_run drain_run;
	struct sxcp_ring ring;
	bool has_ring;
	bool is_of_queue;
	bool warned_slow;
	struct sxcp_vars vars;
	struct tc_xcp_xstats stats;
	struct sxcp_share_vars share;
	bool shares;
	enum sxcp_side peeked;
	enum sxcp_side older;
	u32 older_pkts;
	u64 other_arrived_bytes;
	u64 other_left_bytes;
	s64 other_lost_bytes;
	const struct Qdisc *other_queue;
	bool runs;
	bool rests;
	bool ctl_rests;
	u32 still_periods;
	u64 moves;
	u64 queue_moves;
	u64 ctl_moves;
	u64 ctl_start_ns;
	struct hrtimer ctl;
	struct hrtimer queue;
	struct hop_port_queue arrived;
	atomic64_t arrived_time;
	u64 reported_bytes;
	u64 reported_time;
	struct sxcp_others others;
	u64 others_ns;
	struct hop_speed_watch speed;
};

/*
 * Write the feedback that replaces a packet's demand. TCP's checksum does not cover the header, but
 * CHECKSUM_COMPLETE, computed by the NIC over the frame, does; the header's offset in it is even.
 */
static void sxcp_write_delta(struct sxcp_sched_data *q, struct sk_buff *skb,
			     const struct sxcp_pkt *pkt)
{
	struct xcp_hdr *h;

	if (!hop_pkt_writable(skb, pkt->offset_bytes + XCP_HDR_BYTES)) {
		q->stats.unwritable_pkts += pkt->pkts;
		return;
	}
	h = (struct xcp_hdr *)(skb->data + pkt->offset_bytes);
	skb_postpull_rcsum(skb, h, sizeof(*h));
	h->delta = cpu_to_be32((u32)pkt->delta_bytes_ps);
	/* Each segment of a GSO packet now gets the same feedback. */
	if (pkt->sum)
		h->flags &= ~XCP_FLAG_SUM;
	skb_postpush_rcsum(skb, h, sizeof(*h));
	q->stats.reduced_pkts += pkt->pkts;
}

/* Return: backlog of a qdisc, in bytes on the link, capped to 32 bits */
static u32 sxcp_backlog_bytes(const struct Qdisc *sch, const struct sxcp_params *p)
{
	return min_t(u64, U32_MAX, sch->qstats.backlog + (u64)sch->q.qlen * p->overhead_bytes);
}

/* Return: the queue of the algorithm, in bytes on the link */
static u32 sxcp_queue_bytes(const struct sxcp_sched_data *q)
{
	return sxcp_backlog_bytes(q->shares ? hop_child_at(q->sch, XCP_SIDE_XCP) : q->sch,
				  &q->params);
}

/*
 * Return: bytes that the other queue has lost since the last call. A byte that arrived, did not
 * leave and is not queued is lost, independent of what dropped it and when.
 */
static s64 sxcp_other_lost_bytes(struct sxcp_sched_data *q)
{
	const struct Qdisc *other = hop_child_at(q->sch, XCP_SIDE_OTHER);
	const s64 all_bytes = q->other_arrived_bytes - q->other_left_bytes - other->qstats.backlog;
	const s64 lost_bytes = all_bytes - q->other_lost_bytes;

	q->other_lost_bytes = all_bytes;
	/* Another child was grafted: losing the old child's packets is not congestion. */
	if (other != q->other_queue) {
		q->other_queue = other;
		return 0;
	}
	return lost_bytes;
}

static u64 sxcp_capacity_bytes_ps(const struct sxcp_sched_data *q)
{
	return hop_drain_capacity_bytes_ps(&q->drain, q->port_bytes_ps);
}

/* Return: the capacity that XCP gets in the next interval, bytes/s */
static u64 sxcp_weigh(struct sxcp_sched_data *q, u64 elapsed_ns)
{
	const struct sxcp_share_interval interval = {
		.capacity_bytes_ps = sxcp_capacity_bytes_ps(q),
		.elapsed_ns = max_t(u64, elapsed_ns, 1),
		.asking_bytes = q->vars.asking_bytes,
		.sum_time = q->vars.sum_time,
		.avg_rtt_ns = sxcp_avg_rtt_ns(&q->vars),
		.lost_bytes = sxcp_other_lost_bytes(q),
		.overhead_bytes = q->params.overhead_bytes,
		.cubic = q->config.value[TCA_XCP_SHARE] == TC_XCP_SHARE_CUBIC,
		.queue_bytes = {
			sxcp_backlog_bytes(hop_child_at(q->sch, XCP_SIDE_XCP), &q->params),
			sxcp_backlog_bytes(hop_child_at(q->sch, XCP_SIDE_OTHER), &q->params),
		},
	};

	return sxcp_share_close(&q->share, &interval);
}

/* Keep the sums of the interval, which are about to be cleared. */
static void sxcp_keep_sums(struct sxcp_sched_data *q)
{
	q->reported_bytes += q->vars.input_bytes;
	q->reported_time += q->vars.sum_time;
}

/* Read the current counts of the port's other queues. Return: true if one of them is in use */
static bool sxcp_read_others(struct sxcp_sched_data *q, u64 now_ns)
{
	struct hop_port *port = q->arrived.port;
	struct sxcp_others *o = &q->others;
	struct sxcp_sched_data *other;
	bool in_use = false;

	spin_lock_bh(&port->lock);
	o->input_bytes = hop_port_sum(port) - atomic64_read(&q->arrived.sent_bytes);
	o->sum_time = 0;
	o->queue_bytes = 0;
	list_for_each_entry(other, &port->queues, arrived.list) {
		if (other == q)
			continue;
		o->sum_time += atomic64_read(&other->arrived_time);
		o->queue_bytes += READ_ONCE(other->vars.queue_bytes) +
				  READ_ONCE(other->vars.ring_bytes);
		in_use |= READ_ONCE(other->runs);
	}
	spin_unlock_bh(&port->lock);
	q->others_ns = now_ns;
	return in_use;
}

/* Return: the traffic of the port's other queues in the interval that ends now */
static struct sxcp_others sxcp_others_in_interval(struct sxcp_sched_data *q, u64 now_ns,
						  u64 elapsed_ns)
{
	const struct sxcp_others before = q->others;
	const u64 since_ns = now_ns - q->others_ns;

	if (!q->arrived.port)
		return (struct sxcp_others) {};
	sxcp_read_others(q, now_ns);
	return sxcp_others_since(&q->others, &before, since_ns, elapsed_ns);
}

/*
 * The control timer starts after an idle time. If other queues are in use, empty the pools, which
 * were filled before the idle time.
 */
static void sxcp_meet_others(struct sxcp_sched_data *q, u64 now_ns)
{
	if (q->arrived.port && sxcp_read_others(q, now_ns))
		sxcp_close_pools(&q->vars);
}

/* Return: bytes that the qdisc has ever sent, on the link */
static u64 sxcp_sent_bytes(const struct sxcp_sched_data *q)
{
	const struct gnet_stats_basic_sync *stats = &q->sch->bstats;

	return u64_stats_read(&stats->bytes) +
	       u64_stats_read(&stats->packets) * q->params.overhead_bytes;
}

/* End a period of the driver's ring. Return: the persistent queue in it, bytes */
static u32 sxcp_look_into_ring(struct sxcp_sched_data *q, u64 now_ns)
{
	struct sxcp_ring_look look = {
		.sent_bytes = sxcp_sent_bytes(q),
		.now_ns = now_ns,
		.rate_bytes_ps = sxcp_capacity_bytes_ps(q),
		.waited = q->vars.min_queue_bytes,
	};

	if (!q->has_ring)
		return 0;
	look.bql = hop_port_bql(q->sch, q->is_of_queue);
	return sxcp_ring_close(&q->ring, &look);
}

static void sxcp_start_timer(struct hrtimer *timer, u64 end_ns)
{
	hrtimer_start(timer, ns_to_ktime(end_ns), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Line 19, and the equivalent for the queue's timer: the first packet, and the next one after a
 * rest, start the timers. The queue was the same until then.
 */
static void sxcp_start_timers(struct sxcp_sched_data *q)
{
	const u64 now_ns = ktime_get_ns();
	const u64 queue_ns = sxcp_close_queue(&q->vars, &q->params, sxcp_queue_bytes(q));

	WRITE_ONCE(q->runs, true);
	q->rests = false;
	q->still_periods = 0;
	q->queue_moves = q->moves;
	sxcp_look_into_ring(q, now_ns);
	sxcp_start_timer(&q->queue, now_ns + queue_ns);
	if (!q->ctl_rests)
		return;
	q->ctl_rests = false;
	q->ctl_moves = q->moves;
	q->ctl_start_ns = now_ns;
	hop_drain_stop(&q->drain_run);
	sxcp_meet_others(q, now_ns);
	sxcp_start_timer(&q->ctl, now_ns + q->vars.ctl_interval_ns);
}

/* A timer that still expires finds that it is too late. */
static void sxcp_sleep(struct sxcp_sched_data *q)
{
	WRITE_ONCE(q->runs, false);
	q->rests = true;
	q->ctl_rests = true;
	hop_drain_stop(&q->drain_run);
	q->params.capacity_bytes_ps = sxcp_capacity_bytes_ps(q);
	sxcp_keep_sums(q);
	sxcp_start(&q->vars, &q->params);
}

/*
 * Measure the rate of the port. Not with several transmit queues: the part of the rate that one
 * queue gets is unknown.
 */
static void sxcp_measure_port(struct sxcp_sched_data *q, u64 now_ns)
{
	const struct hop_drain_sent sent = {
		.bytes = sxcp_sent_bytes(q),
		.moves = q->moves,
		.now_ns = now_ns,
		.waits = q->sch->q.qlen,
	};

	if (q->arrived.port)
		return;
	/* Warn once per qdisc and rate. */
	if (hop_drain_close(&q->drain, &q->drain_run, q->port_bytes_ps, &sent) && !q->warned_slow) {
		q->warned_slow = true;
		net_warn_ratelimited("%s: xcp has a rate of %llu bytes/s, but the port sends %llu: using that\n",
				     qdisc_dev(q->sch)->name, q->port_bytes_ps,
				     q->drain.rate_bytes_ps);
	}
	q->params.capacity_bytes_ps = sxcp_capacity_bytes_ps(q);
}

/* End a control interval. Return: the time when the next one ends; 0 if the timer stops */
static u64 sxcp_end_interval(struct sxcp_sched_data *q)
{
	const bool idle = !q->vars.input_bytes && !q->share.arrived_bytes && !q->sch->q.qlen;
	const u64 now_ns = ktime_get_ns(), elapsed_ns = now_ns - q->ctl_start_ns;
	const struct sxcp_others others = sxcp_others_in_interval(q, now_ns, elapsed_ns);

	q->stats.intervals++;
	sxcp_measure_port(q, now_ns);
	if (q->shares)
		q->params.capacity_bytes_ps = sxcp_weigh(q, elapsed_ns);
	sxcp_keep_sums(q);
	sxcp_close_interval(&q->vars, &q->params, &others, elapsed_ns);
	trace_xcp_interval(q->sch, &q->vars, elapsed_ns);
	q->ctl_rests = q->rests && q->moves == q->ctl_moves;
	q->ctl_moves = q->moves;
	q->ctl_start_ns = now_ns;
	if (idle)
		sxcp_sleep(q);
	return q->ctl_rests ? 0 : now_ns + q->vars.ctl_interval_ns;
}

/* End a period of the queue's estimate. Return: as sxcp_end_interval() */
static u64 sxcp_end_queue_period(struct sxcp_sched_data *q)
{
	const u64 now_ns = ktime_get_ns();
	u64 period_ns;

	WRITE_ONCE(q->vars.ring_bytes, sxcp_look_into_ring(q, now_ns));
	period_ns = sxcp_close_queue(&q->vars, &q->params, sxcp_queue_bytes(q));
	q->still_periods = q->moves == q->queue_moves ? q->still_periods + 1 : 0;
	q->queue_moves = q->moves;
	q->rests = q->still_periods >= XCP_STILL_PERIODS;
	return q->rests ? 0 : now_ns + period_ns;
}

/* Run a timer's function under the root's lock, unless the timer was stopped or restarted. */
static enum hrtimer_restart sxcp_expire(struct sxcp_sched_data *q, struct hrtimer *timer,
					u64 (*end)(struct sxcp_sched_data *q))
{
	struct Qdisc *root;
	u64 next_ns = 0;

	rcu_read_lock();
	root = qdisc_root_sleeping(q->sch);
	spin_lock(qdisc_lock(root));
	if (q->runs && !hrtimer_is_queued(timer))
		next_ns = end(q);
	if (next_ns)
		hrtimer_set_expires(timer, ns_to_ktime(next_ns));
	spin_unlock(qdisc_lock(root));
	rcu_read_unlock();
	return next_ns ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static enum hrtimer_restart sxcp_ctl_expired(struct hrtimer *timer)
{
	return sxcp_expire(container_of(timer, struct sxcp_sched_data, ctl), timer,
			   sxcp_end_interval);
}

static enum hrtimer_restart sxcp_queue_expired(struct hrtimer *timer)
{
	return sxcp_expire(container_of(timer, struct sxcp_sched_data, queue), timer,
			   sxcp_end_queue_period);
}

/* If the arriving bytes have a shorter RTT than the current interval, its timer expires now. */
static void sxcp_check_rtt(struct sxcp_sched_data *q)
{
	const u64 now_ns = ktime_get_ns();

	if (sxcp_is_over(&q->vars, &q->params, now_ns - q->ctl_start_ns))
		sxcp_start_timer(&q->ctl, now_ns);
}

static __always_inline void sxcp_receive(struct sxcp_sched_data *q, const struct sxcp_pkt *pkt)
{
	sxcp_count(&q->stats, pkt);
	if (sxcp_arrive(&q->vars, &q->params, pkt))
		sxcp_check_rtt(q);
}

static bool sxcp_is_marked(const struct sk_buff *skb)
{
	return hop_pkt_ecn(skb) == INET_ECN_CE;
}

/* With share, the XCP algorithm sees only XCP packets. */
static enum sxcp_side sxcp_receive_shared(struct sxcp_sched_data *q, const struct sk_buff *skb)
{
	const struct sxcp_pkt pkt = sxcp_look(skb, &q->params);
	const enum sxcp_side side = sxcp_share_side(&pkt);
	const u32 bytes = qdisc_pkt_len(skb);

	if (side == XCP_SIDE_XCP) {
		sxcp_receive(q, &pkt);
	} else {
		sxcp_count(&q->stats, &pkt);
		q->other_arrived_bytes += bytes;
		sxcp_share_arrive(&q->share, pkt.pkts, bytes, sxcp_is_marked(skb));
	}
	return side;
}

/* A packet arrives while a timer is not running. */
static void sxcp_rouse(struct sxcp_sched_data *q)
{
	/*
	 * If the child dropped all of its packets, treat the port like one that has not been used.
	 * Not with several transmit queues: a queue that starts while others are in use gives no
	 * feedback at first, so a flow with pauses would never get any.
	 */
	if (q->runs && !q->sch->q.qlen && !q->arrived.port)
		sxcp_sleep(q);
	sxcp_start_timers(q);
}

/* Enqueue with the option share: one queue is for XCP, the other for all other traffic. */
static int sxcp_enqueue_shared(struct sxcp_sched_data *q, struct sk_buff *skb,
			       struct sk_buff **to_free)
{
	const u32 before_bytes = q->sch->qstats.backlog, bytes = qdisc_pkt_len(skb);
	const enum sxcp_side side = sxcp_receive_shared(q, skb);
	s32 grown_bytes;
	int ret;

	ret = hop_child_enqueue_at(skb, q->sch, side, to_free);
	grown_bytes = q->sch->qstats.backlog - before_bytes -
		      (ret == NET_XMIT_SUCCESS ? bytes : 0);
	/* A child that segments GSO packets queues more bytes than it received. */
	if (side == XCP_SIDE_OTHER && grown_bytes > 0)
		q->other_arrived_bytes += grown_bytes;
	return ret;
}

static int sxcp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);

	q->moves++;
	if (q->rests)
		sxcp_rouse(q);
	if (q->shares)
		return sxcp_enqueue_shared(q, skb, to_free);
	if (hop_pkt_lacks(skb, q->params.protocol)) {
		/* A packet without a congestion header is counted, but gets no feedback. */
		const struct hop_pkt_wire wire = hop_pkt_wire(skb, q->params.overhead_bytes);

		q->stats.other_pkts += wire.segs_pkts;
		q->vars.input_bytes += wire.bytes;
	} else {
		const struct sxcp_pkt pkt = sxcp_look(skb, &q->params);

		sxcp_receive(q, &pkt);
	}
	/* Publish the counts for the port's other queues; there is one writer. */
	if (q->arrived.port) {
		atomic64_set(&q->arrived.sent_bytes, q->reported_bytes + q->vars.input_bytes);
		atomic64_set(&q->arrived_time, q->reported_time + q->vars.sum_time);
	}
	return hop_child_enqueue(skb, sch, to_free);
}

/* Return: the queue to serve first. A peeked packet must be the next one dequeued */
static enum sxcp_side sxcp_turn(const struct sxcp_sched_data *q)
{
	if (!hop_child_at(q->sch, XCP_SIDE_OTHER))
		return XCP_SIDE_XCP;
	if (q->peeked != XCP_SIDES)
		return q->peeked;
	return q->older_pkts ? q->older : sxcp_share_turn(&q->share);
}

/* The port could send, but the child holds its packets back: this does not show a slow port. */
static void sxcp_get_none(struct sxcp_sched_data *q)
{
	if (q->sch->q.qlen)
		hop_drain_stop(&q->drain_run);
}

/* Peek into the queue whose turn it is, or into the other if that is empty or throttled. */
static struct sk_buff *sxcp_peek(struct Qdisc *sch)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);
	enum sxcp_side side = sxcp_turn(q);
	struct Qdisc *child = hop_child_at(sch, side);
	struct sk_buff *skb = child->ops->peek(child);

	if (!skb) {
		side = XCP_SIDES - 1 - side;
		child = hop_child_at(sch, side);
		skb = child ? child->ops->peek(child) : NULL;
	}
	if (!skb)
		sxcp_get_none(q);
	q->peeked = skb ? side : XCP_SIDES;
	return skb;
}

static struct sk_buff *sxcp_take(struct sxcp_sched_data *q, enum sxcp_side *side, bool *alone)
{
	struct sk_buff *skb;
	struct Qdisc *other;

	*side = sxcp_turn(q);
	q->peeked = XCP_SIDES;
	other = hop_child_at(q->sch, XCP_SIDES - 1 - *side);
	skb = qdisc_dequeue_peeked(hop_child_at(q->sch, *side));
	*alone = !other || !other->q.qlen;
	if (!skb && !*alone) {
		*side = XCP_SIDES - 1 - *side;
		*alone = true;
		skb = qdisc_dequeue_peeked(other);
	}
	if (skb)
		hop_child_leave(q->sch, skb);
	return skb;
}

static void sxcp_depart_shared(struct sxcp_sched_data *q, const struct sk_buff *skb,
			       enum sxcp_side side, bool alone)
{
	if (q->older_pkts && side == q->older) {
		q->older_pkts--;
		/* The packet is served for its age, not for its side's virtual clock. */
		alone = true;
	}
	/* Packets that were dropped or purged do not count any more. */
	q->older_pkts = min(q->older_pkts, hop_child_at(q->sch, q->older)->q.qlen);
	sxcp_share_leave(&q->share, side, hop_pkt_wire(skb, q->params.overhead_bytes).bytes, alone);
	if (side == XCP_SIDE_XCP)
		return;
	q->other_left_bytes += qdisc_pkt_len(skb);
	if (sxcp_is_marked(skb))
		sxcp_share_mark(&q->share, qdisc_pkt_len(skb));
}

/* Update the estimates for a packet that departs. */
static inline void sxcp_see_departure(struct sxcp_sched_data *q)
{
	q->moves++;
	if (q->rests && q->runs)
		sxcp_start_timers(q);
	sxcp_see_queue(&q->vars, sxcp_queue_bytes(q));
	if (!q->sch->q.qlen)
		hop_drain_stop(&q->drain_run);
}

/* A packet departs that may have a congestion header. */
static void sxcp_answer(struct sxcp_sched_data *q, struct sk_buff *skb)
{
	struct sxcp_pkt pkt = sxcp_look(skb, &q->params);

	if (sxcp_depart(&q->vars, &q->params, &pkt))
		sxcp_write_delta(q, skb, &pkt);
}

/* Dequeue from one of two children. */
static struct sk_buff *sxcp_dequeue_shared(struct sxcp_sched_data *q)
{
	struct sk_buff *skb;
	enum sxcp_side side;
	bool alone;

	skb = sxcp_take(q, &side, &alone);
	if (!skb) {
		sxcp_get_none(q);
		return NULL;
	}
	sxcp_see_departure(q);
	sxcp_depart_shared(q, skb, side, alone);
	sxcp_answer(q, skb);
	return skb;
}

static struct sk_buff *sxcp_dequeue(struct Qdisc *sch)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (hop_child_at(sch, XCP_SIDE_OTHER))
		return sxcp_dequeue_shared(q);
	q->peeked = XCP_SIDES;
	skb = hop_child_dequeue(sch);
	if (!skb) {
		sxcp_get_none(q);
		return NULL;
	}
	sxcp_see_departure(q);
	if (!hop_pkt_lacks(skb, q->params.protocol))
		sxcp_answer(q, skb);
	return skb;
}

/* Counters survive a reset, which also happens when the device goes down. */
static void sxcp_reset(struct Qdisc *sch)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);

	hop_child_reset(sch);
	sxcp_keep_sums(q);
	memset(&q->vars, 0, sizeof(q->vars));
	memset(&q->ring, 0, sizeof(q->ring));
	/* All packets are removed at once: this is not congestion. */
	q->other_lost_bytes = q->other_arrived_bytes - q->other_left_bytes;
	q->older_pkts = 0;
	q->peeked = XCP_SIDES;
	sxcp_share_clear(&q->share);
	sxcp_sleep(q);
}

static const struct hop_nla_option sxcp_options[TCA_XCP_MAX + 1] = {
	[TCA_XCP_OVERHEAD] = HOP_NLA_OPTION("overhead", " bytes", TC_XCP_OVERHEAD_DEFAULT_BYTES, 0,
					    TC_XCP_OVERHEAD_MAX_BYTES),
	[TCA_XCP_ALPHA] = HOP_NLA_OPTION("alpha", " ppm", TC_XCP_ALPHA_DEFAULT_PPM,
					 TC_XCP_ALPHA_MIN_PPM, TC_XCP_ALPHA_MAX_PPM),
	[TCA_XCP_BETA] = HOP_NLA_OPTION("beta", " ppm", TC_XCP_BETA_AUTO, 0, TC_XCP_BETA_MAX_PPM),
	[TCA_XCP_GAMMA] = HOP_NLA_OPTION("gamma", " ppm", TC_XCP_GAMMA_DEFAULT_PPM, 0,
					 TC_XCP_GAMMA_MAX_PPM),
	[TCA_XCP_MIN_INTERVAL] = HOP_NLA_OPTION("min_interval", " us",
						TC_XCP_MIN_INTERVAL_DEFAULT_US, TC_XCP_TIME_MIN_US,
						TC_XCP_TIME_MAX_US),
	[TCA_XCP_MAX_INTERVAL] = HOP_NLA_OPTION("max_interval", " us",
						TC_XCP_MAX_INTERVAL_DEFAULT_US, TC_XCP_TIME_MIN_US,
						TC_XCP_TIME_MAX_US),
	[TCA_XCP_ALLOWED_QUEUE] = HOP_NLA_OPTION("allowed_queue", " us",
						 TC_XCP_ALLOWED_QUEUE_DEFAULT_US,
						 TC_XCP_TIME_MIN_US, TC_XCP_TIME_MAX_US),
	[TCA_XCP_E2E_SHARE] = HOP_NLA_OPTION("e2e_share", " ppm", TC_XCP_E2E_SHARE_DEFAULT_PPM, 0,
					     TC_XCP_SHARE_MAX_PPM),
	[TCA_XCP_SHARE] = HOP_NLA_OPTION("share", "", TC_XCP_SHARE_OFF, TC_XCP_SHARE_OFF,
					 TC_XCP_SHARE_CUBIC),
	[TCA_XCP_PROTOCOL] = HOP_NLA_OPTION("protocol", "", TC_XCP_PROTOCOL_DEFAULT,
					    TC_XCP_PROTOCOL_MIN, TC_XCP_PROTOCOL_MAX),
};

/* xcp_options has the ranges: an error message from the policy could not name the option. */
static const struct nla_policy sxcp_policy[TCA_XCP_MAX + 1] = {
	[TCA_XCP_RATE] = { .type = NLA_U64 },
	[TCA_XCP_OVERHEAD ... TCA_XCP_SHARE] = { .type = NLA_U32 },
};

/* Convert the options in @c to parameters of the algorithm, except for the capacity. */
static void sxcp_set_params(struct sxcp_params *p, const struct sxcp_config *c)
{
	const u32 alpha_ppm = c->value[TCA_XCP_ALPHA];

	p->alpha_q32 = sxcp_gain_q32(alpha_ppm);
	p->beta_q32 = sxcp_gain_q32(c->value[TCA_XCP_BETA] ?: sxcp_beta_ppm(alpha_ppm));
	p->gamma_q32 = sxcp_gain_q32(c->value[TCA_XCP_GAMMA]);
	p->min_interval_ns = c->value[TCA_XCP_MIN_INTERVAL] * XCP_NS_PER_US;
	p->max_interval_ns = c->value[TCA_XCP_MAX_INTERVAL] * XCP_NS_PER_US;
	p->allowed_queue_ns = c->value[TCA_XCP_ALLOWED_QUEUE] * XCP_NS_PER_US;
	p->e2e_share_q32 = sxcp_gain_q32(c->value[TCA_XCP_E2E_SHARE]);
	p->overhead_bytes = c->value[TCA_XCP_OVERHEAD];
	p->protocol = c->value[TCA_XCP_PROTOCOL];
}

/* Each of these times is the period of a timer, whose cost affects the whole machine. */
static int sxcp_check_times(const struct Qdisc *sch, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	static const int attrs[] = { TCA_XCP_MIN_INTERVAL, TCA_XCP_MAX_INTERVAL,
				     TCA_XCP_ALLOWED_QUEUE };
	int i;

	if (hop_is_trusted(dev_net(qdisc_dev(sch))))
		return 0;
	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (tb[attrs[i]] && nla_get_u32(tb[attrs[i]]) < TC_XCP_TIME_CONTAINER_MIN_US)
			return hop_nla_refuse(extack, tb[attrs[i]],
					      "in a user namespace, intervals and allowed_queue must be "
					      __stringify(TC_XCP_TIME_CONTAINER_MIN_US)
					      " us at least");
	return 0;
}

/* Update @c with the attributes of a request; on error the content of @c is undefined. */
static int sxcp_parse(const struct Qdisc *sch, struct sxcp_config *c, struct nlattr **tb,
		      struct netlink_ext_ack *extack)
{
	int err = hop_nla_rate(&c->rate_bytes_ps, tb[TCA_XCP_RATE], extack);

	if (!err)
		err = hop_nla_options(c->value, sxcp_options, TCA_XCP_MAX, tb, extack);
	if (err)
		return err;
	if (c->value[TCA_XCP_MIN_INTERVAL] > c->value[TCA_XCP_MAX_INTERVAL])
		return hop_nla_refuse(extack, tb[TCA_XCP_MIN_INTERVAL] ?: tb[TCA_XCP_MAX_INTERVAL],
				      "min_interval must not exceed max_interval");
	return sxcp_check_times(sch, tb, extack);
}

/*
 * Start to send packets to two queues, or to one again. The queue that received all packets until
 * now holds the older ones: it is served first in both cases.
 */
static void sxcp_switch_share(struct sxcp_sched_data *q, bool shares)
{
	if (q->shares == shares)
		return;
	q->older = shares ? XCP_SIDE_XCP : XCP_SIDE_OTHER;
	q->older_pkts = hop_child_at(q->sch, q->older)->q.qlen;
	q->shares = shares;
	sxcp_share_clear(&q->share);
}

/*
 * Join @port; the published counts start at 0 on each port. A qdisc in the tree is moved under the
 * tree lock. Context: process, RTNL held.
 */
static void sxcp_use_port(struct sxcp_sched_data *q, struct hop_port *port)
{
	const bool moves = port != q->arrived.port;

	ASSERT_RTNL();
	if (moves) {
		hop_port_use(&q->arrived, NULL);
		atomic64_set(&q->arrived.sent_bytes, 0);
		atomic64_set(&q->arrived_time, 0);
		q->reported_bytes = -q->vars.input_bytes;
		q->reported_time = -q->vars.sum_time;
	}
	hop_port_use(&q->arrived, port);
	if (moves && port)
		sxcp_read_others(q, ktime_get_ns());
}

/* A new rate invalidates the measured rate. */
static void sxcp_set_rate(struct sxcp_sched_data *q, u64 rate_bytes_ps)
{
	if (rate_bytes_ps != q->port_bytes_ps) {
		q->drain = (struct hop_drain){};
		hop_drain_stop(&q->drain_run);
		q->warned_slow = false;
	}
	q->port_bytes_ps = rate_bytes_ps;
}

/* Context: tree lock held */
static void sxcp_apply(struct sxcp_sched_data *q, const struct sxcp_config *config,
		       const struct sxcp_params *params, struct Qdisc *second,
		       struct hop_port *port)
{
	hop_assert_qdisc_lock(q->sch);
	/*
	 * The rate is not measured with several transmit queues, and the overhead may have changed.
	 */
	if (port != q->arrived.port)
		q->drain = (struct hop_drain){};
	hop_drain_stop(&q->drain_run);
	sxcp_use_port(q, port);
	q->config = *config;
	q->params = *params;
	q->is_of_queue = hop_port_is_of_queue(q->sch);
	/* With share, the ring holds packets of both queues: how many of each is unknown. */
	q->has_ring = config->value[TCA_XCP_SHARE] == TC_XCP_SHARE_OFF &&
		      hop_port_has_ring(q->sch);
	/* The overhead may have changed. */
	q->ring.sent_bytes = sxcp_sent_bytes(q);
	sxcp_set_rate(q, params->capacity_bytes_ps);
	q->params.capacity_bytes_ps = sxcp_capacity_bytes_ps(q);
	if (second)
		hop_child_adopt(q->sch, second);
	sxcp_switch_share(q, config->value[TCA_XCP_SHARE] != TC_XCP_SHARE_OFF);
	if (!q->runs)
		sxcp_start(&q->vars, &q->params);
	else if (q->rests)
		sxcp_start_timers(q);
}

static bool sxcp_lacks_second(const struct Qdisc *sch, const struct sxcp_config *config)
{
	return config->value[TCA_XCP_SHARE] != TC_XCP_SHARE_OFF &&
	       !hop_child_at(sch, XCP_SIDE_OTHER);
}

/* Create the second child if @config needs one that is missing; NULL otherwise. */
static struct Qdisc *sxcp_make_second(struct Qdisc *sch, const struct sxcp_config *config,
				      u32 limit_bytes, struct netlink_ext_ack *extack)
{
	const struct Qdisc *first = hop_limit_child(sch);

	if (!sxcp_lacks_second(sch, config))
		return NULL;
	return hop_child_create(sch, XCP_SIDE_OTHER, limit_bytes ?: first ? first->limit : 0,
				extack);
}

/*
 * Find the port that a transmit queue shares with others; @port: NULL if it shares none. Context:
 * RTNL
 */
static int sxcp_find_port(const struct Qdisc *sch, const struct sxcp_config *config,
			  struct hop_port **port, struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	*port = NULL;
	if (!hop_port_is_of_queue(sch))
		return 0;
	if (config->value[TCA_XCP_SHARE] != TC_XCP_SHARE_OFF) {
		NL_SET_ERR_MSG(extack,
			       "with share, each transmit queue is a port by itself: say rate, its part of the device's");
		return 0;
	}
	*port = hop_port_get(sch, 0, sizeof(**port));
	return *port ? 0 : -ENOMEM;
}

static int sxcp_configure(struct Qdisc *sch, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct hop_port *port = NULL;
	struct sxcp_sched_data *q = qdisc_priv(sch);
	struct sxcp_config config = q->config;
	struct sxcp_params params = {};
	struct Qdisc *second;
	u32 limit_bytes = 0;
	int err;

	err = sxcp_parse(sch, &config, tb, extack);
	/* A default child will be the second one: a limit is valid whatever the first one is. */
	if (!err)
		err = sxcp_lacks_second(sch, &config) ?
		      hop_limit_read(&limit_bytes, tb[TCA_XCP_LIMIT], extack) :
		      hop_limit_parse(sch, &limit_bytes, tb[TCA_XCP_LIMIT], extack);
	if (err)
		return err;
	params.capacity_bytes_ps = config.rate_bytes_ps ?: hop_speed_ask_bytes_ps(qdisc_dev(sch));
	if (!params.capacity_bytes_ps)
		return hop_nla_refuse(extack, tb[TCA_XCP_RATE],
				      "the device does not tell its speed: say rate, e.g. rate 1gbit");
	sxcp_set_params(&params, &config);
	second = sxcp_make_second(sch, &config, limit_bytes, extack);
	if (IS_ERR(second))
		return PTR_ERR(second);
	err = sxcp_find_port(sch, &config, &port, extack);
	/* This must be the last step that can fail. */
	if (!err)
		err = hop_limit_set(sch, limit_bytes);
	if (err) {
		hop_port_put(port);
		qdisc_put(second);
		return err;
	}

	sch_tree_lock(sch);
	sxcp_apply(q, &config, &params, second, port);
	sch_tree_unlock(sch);
	return 0;
}

static int sxcp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_XCP_MAX + 1];
	int err = hop_nla_parse(tb, TCA_XCP_MAX, opt, sxcp_policy, extack);

	return err ?: sxcp_configure(sch, tb, extack);
}

/* The speed of the port's device may have changed. Context: RTNL */
static void sxcp_follow_speed(struct Qdisc *sch, u64 rate_bytes_ps)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);

	ASSERT_RTNL();
	if (q->config.rate_bytes_ps != TC_XCP_RATE_AUTO)
		return;
	sxcp_set_rate(q, rate_bytes_ps);
	/* With share, the capacity is divided at the end of the interval. */
	if (!q->shares || !q->runs)
		q->params.capacity_bytes_ps = sxcp_capacity_bytes_ps(q);
	if (!q->runs)
		sxcp_start(&q->vars, &q->params);
	else if (q->rests)
		sxcp_start_timers(q);
}

static int sxcp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);
	struct nlattr *none[TCA_XCP_MAX + 1] = {};
	int err;

	hop_child_prepare(sch);
	hrtimer_setup(&q->ctl, sxcp_ctl_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&q->queue, sxcp_queue_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	q->sch = sch;
	q->arrived.sch = sch;
	hop_nla_defaults(q->config.value, sxcp_options, TCA_XCP_MAX);
	q->peeked = XCP_SIDES;
	q->rests = true;
	q->ctl_rests = true;
	sxcp_share_start(&q->share);
	err = hop_child_init(sch, 0, extack);
	if (!err)
		err = opt ? sxcp_change(sch, opt, extack) : sxcp_configure(sch, none, extack);
	if (!err)
		hop_speed_watch(&q->speed, sch, sxcp_follow_speed);
	return err;
}

static void sxcp_destroy(struct Qdisc *sch)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);

	hop_speed_unwatch(&q->speed);
	hrtimer_cancel(&q->ctl);
	hrtimer_cancel(&q->queue);
	sxcp_use_port(q, NULL);
	hop_child_destroy(sch);
}

static int sxcp_put(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);
	int err;

	err = nla_put_u64_64bit(skb, TCA_XCP_RATE, q->config.rate_bytes_ps, TCA_XCP_PAD);
	if (!err)
		err = hop_nla_put_options(skb, q->config.value, sxcp_options, TCA_XCP_MAX);
	return err ?: hop_limit_put(skb, sch, TCA_XCP_LIMIT);
}

/* RTNL excludes a concurrent change(). */
static int sxcp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return hop_nla_dump(sch, skb, sxcp_put);
}

/* Return: rounded to whole bytes/s */
static s64 sxcp_shown(s64 q16)
{
	return (q16 + (1 << (XCP_RATE_SHIFT - 1))) >> XCP_RATE_SHIFT;
}

static void sxcp_copy_vars(struct tc_xcp_xstats *st, const struct sxcp_vars *v)
{
	st->feedback_bytes_ps = sxcp_shown(v->feedback_q16);
	st->input_bw_bytes_ps = sxcp_shown(v->input_bw_q16);
	st->residue_pos_bytes_ps = sxcp_shown(v->residue_pos_q16);
	st->residue_neg_bytes_ps = sxcp_shown(v->residue_neg_q16);
	st->cp_bytes_ps2 = sxcp_shown(sxcp_ratio_times(&v->cp, XCP_NS_PER_S << XCP_TIME_SHIFT));
	st->cn_ppm_ps = sxcp_shown(sxcp_ratio_times(&v->cn, XCP_GAIN_PPM));
	st->avg_rtt_ns = sxcp_avg_rtt_ns(v);
	st->ctl_interval_ns = v->ctl_interval_ns;
	st->queue_bytes = sxcp_standing_bytes(v);
	st->bounded_pkts = v->bounded_pkts;
}

static void sxcp_copy_share(struct tc_xcp_xstats *st, const struct sxcp_sched_data *q)
{
	const struct sxcp_share_vars *v = &q->share;

	st->xcp_capacity_bytes_ps = q->params.capacity_bytes_ps;
	st->share_weight_ppm = mul_u64_u32_shr(v->weight[XCP_SIDE_XCP], XCP_GAIN_PPM,
					       XCP_SHARE_SHIFT);
	st->share_loss_ppb = mul_u64_u32_shr(v->loss_q32, XCP_NS_PER_S, XCP_LOSS_SHIFT);
	st->xcp_window_bytes = v->window_bytes[XCP_SIDE_XCP];
	st->other_window_bytes = v->window_bytes[XCP_SIDE_OTHER];
	st->xcp_flow_bytes_ps = sxcp_shown(v->flow_q16[XCP_SIDE_XCP]);
	st->other_flow_bytes_ps = sxcp_shown(v->flow_q16[XCP_SIDE_OTHER]);
	st->xcp_sent_bytes = v->total_left_bytes[XCP_SIDE_XCP];
	st->other_sent_bytes = v->total_left_bytes[XCP_SIDE_OTHER];
}

static int sxcp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct sxcp_sched_data *q = qdisc_priv(sch);
	struct tc_xcp_xstats st;

	/* The lock gives a consistent snapshot without torn counters on 32-bit machines. */
	sch_tree_lock(sch);
	st = q->stats;
	st.capacity_bytes_ps = sxcp_capacity_bytes_ps(q);
	st.measured_bytes_ps = q->drain.rate_bytes_ps;
	st.qdiscs = hop_port_qdiscs(&q->arrived);
	sxcp_copy_vars(&st, &q->vars);
	if (hop_child_at(sch, XCP_SIDE_OTHER))
		sxcp_copy_share(&st, q);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops sxcp_qdisc_ops __read_mostly = {
	.cl_ops		= &hop_child_class_ops,
	.id		= "xcp",
	.priv_size	= sizeof(struct sxcp_sched_data),
	.enqueue	= sxcp_enqueue,
	.dequeue	= sxcp_dequeue,
	.peek		= sxcp_peek,
	.init		= sxcp_init,
	.reset		= sxcp_reset,
	.destroy	= sxcp_destroy,
	.change		= sxcp_change,
	.dump		= sxcp_dump,
	.dump_stats	= sxcp_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("xcp");

static_assert(!offsetof(struct sxcp_sched_data, child));
static_assert(sizeof(struct xcp_hdr) == XCP_HDR_BYTES);
static_assert(TC_XCP_RATE_MIN_BYTES_PS == HOP_DRAIN_RATE_MIN_BYTES_PS);
static_assert(TC_XCP_RATE_MAX_BYTES_PS == HOP_DRAIN_RATE_MAX_BYTES_PS);
static_assert(TC_XCP_LIMIT_MIN_BYTES == HOP_LIMIT_MIN_BYTES);
static_assert(TC_XCP_MALFORMED_CAUSES + 1 == XCP_FAULTS);
static_assert(TC_XCP_PROTOCOL_DEFAULT == XCP_PROTOCOL_DEFAULT);

module_driver(sxcp_qdisc_ops, register_qdisc, unregister_qdisc);
MODULE_DESCRIPTION("XCP router: allots the capacity of its port to flows");
MODULE_VERSION(HOPCC_VERSION);
MODULE_LICENSE("GPL");
