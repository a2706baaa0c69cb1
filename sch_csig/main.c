// SPDX-License-Identifier: GPL-2.0
/*
 * sch_csig: a port that writes its load to CSIG tags. hopcc/wire/csig.h contains the tag and its
 * values, csig_port.h the port's estimator, csig_packet.h the handling of tags in packets.
 *
 * The qdisc wraps exactly one child, which queues the packets (hop_child). When a packet arrives,
 * its tag is examined, and removed if the configuration says so. When the packet leaves, the
 * tag's value is compared with the port's, and replaced if the port's is worse. A peek is passed
 * to the child, so a shaper above does not make us update a tag one packet time early.
 *
 * If a tag asks for the per-hop delay, the packet carries its arrival time (hop_arrival). The
 * delay is not known if the child segments the packet, which overwrites this time, or if the
 * child is another sch_csig, which clears it.
 *
 * The sch_csig qdiscs of a NIC's transmit queues below mq are one port (hop_port). Each counts the
 * bytes that it sends. They share one estimate, of which each has a copy that is valid until the
 * interval ends.
 *
 * On a hardware device, a packet's delay includes the time that it will wait in the driver's ring
 * (hop_ring). The available bandwidth is what the qdisc leaves, as on other devices: in the mean,
 * the ring sends what it gets.
 *
 * The kernel's own arrival time (skb->tstamp) cannot be used, since forwarding and redirecting
 * clear it before any qdisc.
 */
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/lib/hop_arrival.h>
#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_limit.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/core/hop_port.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/lib/hop_trust.h>
#include <hopcc/lib/hop_version.h>
#include <hopcc/wire/int.h>
#include <net/pkt_sched.h>
#include "csig_packet.h"
#include "csig_port.h"
#include "csig_signal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * struct scsig_settings - the qdisc's settings; replaced as a whole under the tree lock
 * @rate_bytes_ps: rate set by tc, bytes/s; TC_CSIG_RATE_AUTO for the device's rate
 * @value: the 32-bit options, by attribute
 * @has_interval: the interval was set by tc; otherwise it follows the rate
 * @port: the estimator's parameters, computed from the attributes, as are the next five
 *	members; the rate may follow the device's
 * @due_ns: scsig_port_due_ns() of @port
 * @types: bit n is set if the port has the signal of type n
 * @updated_types: @types in mode update, else 0
 * @tpids: TPIDs of tags
 * @attrs: attributes of the port for locators, by TC_CSIG_WHAT_*
 * @signal: configuration of the signals, by type
 * @rcu: for freeing; dump() reads the settings without a lock
 */
struct scsig_settings {
	u64 rate_bytes_ps;
	u32 value[TCA_CSIG_MAX + 1];
	bool has_interval;
	struct scsig_port_params port;
	u64 due_ns;
	u32 types;
	u32 updated_types;
	struct csig_tpids tpids;
	u32 attrs[TC_CSIG_WHATS];
	struct scsig_signal signal[CSIG_TYPES];
	struct rcu_head rcu;
};

/**
 * struct scsig_answer - the port's value for a tag
 * @measured: the value in kbit/s, ppm or ns, depending on the type
 * @code: the same value in the tag's units, by csig_encode()
 * @locator: locator that this port writes, without a TTL
 * @has_ttl: the locator depends on the packet's TTL
 */
struct scsig_answer {
	u64 measured;
	u32 code;
	u16 locator;
	bool has_ttl;
};

/**
 * struct scsig_shared - a port that several transmit queues send through
 * @port: the shared count of bytes; must be first
 * @vars: the shared estimate; under the port's lock
 */
struct scsig_shared {
	struct hop_port port;
	struct scsig_port_vars vars;
};

/**
 * struct scsig_sched_data - one port, or one transmit queue of a port
 * @child: the child qdisc; must be first
 * @sch: the qdisc that contains this structure as private data
 * @set: the settings; NULL only until init() sets them
 * @port: the estimate, or a copy of the shared port's estimate, except @port.bytes, which then
 *	counts this queue's bytes
 * @known: bit scsig_answer_bit() is set while that member of @answer is valid, which is until the
 *	estimate or the settings change
 * @departures: number of packets that left; a GSO packet is one
 * @answer: cached values for tags, by type and form; a delay is not cached, since it differs from
 *	packet to packet
 * @has_ring: hop_port_has_ring() is true
 * @is_of_queue: hop_port_is_of_queue() is true
 * @is_watched: @has_ring is true, or the option timer
 * @warned_slow: the warning of a slow port was given, for the configured rate
 * @ring: the ring below, if the device has one
 * @sent: count of bytes on the wire, sent by this queue and by the port's other queues
 * @drain_run: the current measurement of the port's rate, by this queue
 * @followed_bytes_ps: measured rate that the interval in @set is for; 0: the configured interval
 * @stats: statistics for tc; apart, so that the qdisc fits 1 KiB
 * @timer: ends intervals while no packet leaves
 * @runs: the timer runs
 * @speed: watch on the device's rate; under RTNL
 */
struct scsig_sched_data {
	struct hop_child child;
	struct Qdisc *sch;
	struct scsig_settings *set;
	struct scsig_port_vars port;
	u32 known;
	u32 departures;
	struct scsig_answer answer[CSIG_PD][CSIG_FORMS];
	bool has_ring;
	bool is_of_queue;
	bool is_watched;
	bool warned_slow;
	struct hop_ring ring;
	struct hop_port_queue sent;
	struct hop_drain_run drain_run;
	u64 followed_bytes_ps;
	struct tc_csig_xstats *stats;
	struct hrtimer timer;
	bool runs;
	struct hop_speed_watch speed;
};

static bool scsig_has(const struct scsig_settings *set, u32 type)
{
	/* A tag's type is at most 15. */
	return set->types >> type & 1;
}

/* Get the number of packets on the wire that a queued packet stands for. */
static u32 scsig_pkts(const struct sk_buff *skb)
{
	return hop_pkt_wire(skb, 0).segs_pkts;
}

/*
 * Return: true if the packet's tag must be removed, and counts why a tag is not updated. @type is
 * the tag's type, or CSIG_TYPES if the tag has a fault or this port does not update tags.
 */
static bool scsig_must_strip(struct scsig_sched_data *q,
			     const struct csig_place *place, u32 type, u32 pkts)
{
	const struct scsig_settings *set = q->set;
	const u32 mode = set->value[TCA_CSIG_MODE];

	if (place->fault)
		q->stats->malformed_pkts[place->fault - 1] += pkts;
	if (mode != TC_CSIG_MODE_UPDATE || place->fault)
		return mode == TC_CSIG_MODE_STRIP;
	if (scsig_has(set, type))
		return false;
	q->stats->unsupported_pkts += pkts;
	return set->value[TCA_CSIG_UNSUPPORTED] == TC_CSIG_MODE_STRIP;
}

/* Remove all tags. Return: false if one stays: then the packet must not leave (section 6.1). */
static bool scsig_strip(struct scsig_sched_data *q, struct sk_buff *skb, u32 pkts)
{
	struct csig_place place = scsig_packet_find(skb, &q->set->tpids);

	do {
		if (place.fault == CSIG_BAD_TRUNCATED || !scsig_packet_cut(skb, &place)) {
			q->stats->fenced_pkts += pkts;
			return false;
		}
		q->stats->stripped_pkts += pkts;
		place = scsig_packet_find(skb, &q->set->tpids);
	} while (place.form);
	return true;
}

/*
 * Segment a GSO packet that had the second form, as a bridge's: a NIC would segment it as if its
 * tag were the IP header. The segments get the arrival time of the GSO packet.
 */
static int scsig_queue_segments(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	const u64 mark = *hop_arrival_mark(skb);
	struct sk_buff *segs, *seg;

	segs = skb_gso_segment(skb, NETIF_F_SG);
	if (!IS_ERR(segs))
		for (seg = segs; seg; seg = seg->next)
			*hop_arrival_mark(seg) = mark;
	return hop_child_enqueue_list(skb, segs, sch, to_free);
}

/* Convert a packet to the first form. Return: true if it must be segmented. */
static bool scsig_normalise(struct sk_buff *skb, struct net_device *dev,
			    enum csig_form form, u32 offset_bytes, u16 inner)
{
	const struct csig_place place = {
		.form = form, .offset_bytes = offset_bytes, .inner = inner,
	};

	return scsig_packet_normalise(skb, dev, &place) && skb_is_gso(skb) &&
	       !hop_device_is_veth(dev);
}

static void scsig_count(struct scsig_sched_data *q, enum csig_form form, u32 pkts)
{
	if (form == CSIG_COMPACT)
		q->stats->compact_pkts += pkts;
	else
		q->stats->expanded_pkts += pkts;
}

/* Enqueue a packet that may have a tag at any place. */
static noinline int scsig_enqueue_any(struct sk_buff *skb, struct Qdisc *sch,
				      struct sk_buff **to_free)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	const struct scsig_settings *set = q->set;
	struct csig_place place = {};
	const u32 pkts = scsig_pkts(skb);
	u32 type = CSIG_TYPES;

	if (!scsig_packet_is_plain(skb, &set->tpids))
		place = scsig_packet_find(skb, &set->tpids);
	if (!place.form)
		goto queue;
	scsig_count(q, place.form, pkts);
	if (!place.fault && set->value[TCA_CSIG_MODE] == TC_CSIG_MODE_UPDATE)
		type = scsig_packet_read(skb, &place).type;
	if (scsig_must_strip(q, &place, type, pkts)) {
		if (!scsig_strip(q, skb, pkts))
			return qdisc_drop(skb, sch, to_free);
		goto queue;
	}
	/* The tag asks for the packet's delay in this port. */
	if (type == CSIG_PD)
		hop_arrival_note(skb, sch, HOP_MARK_CSIG);
	if (!place.fault && scsig_packet_is_second_form(skb, &place) &&
	    scsig_normalise(skb, qdisc_dev(sch), place.form, place.offset_bytes, place.inner))
		return scsig_queue_segments(skb, sch, to_free);
queue:
	return hop_child_enqueue(skb, sch, to_free);
}

/* Enqueue a packet with a tag of @form, a constant, where scsig_packet_glance() finds tags. */
static __always_inline int scsig_enqueue_near(struct sk_buff *skb, struct Qdisc *sch,
					      struct sk_buff **to_free, enum csig_form form)
{
	const struct csig_place place = { .form = form, .offset_bytes = CSIG_FIRST_TAG_BYTES };
	struct scsig_sched_data *q = qdisc_priv(sch);
	const u32 type = csig_read(form, skb->data + CSIG_FIRST_TAG_BYTES + CSIG_TPID_BYTES).type;

	if (!(q->set->updated_types >> type & 1) ||
	    scsig_packet_is_second_form(skb, &place))
		return scsig_enqueue_any(skb, sch, to_free);
	scsig_count(q, form, scsig_pkts(skb));
	/* The tag asks for the packet's delay in this port. */
	if (type == CSIG_PD)
		hop_arrival_note(skb, sch, HOP_MARK_CSIG);
	return hop_child_enqueue(skb, sch, to_free);
}

static noinline int scsig_enqueue_compact(struct sk_buff *skb, struct Qdisc *sch,
					  struct sk_buff **to_free)
{
	return scsig_enqueue_near(skb, sch, to_free, CSIG_COMPACT);
}

static noinline int scsig_enqueue_expanded(struct sk_buff *skb, struct Qdisc *sch,
					   struct sk_buff **to_free)
{
	return scsig_enqueue_near(skb, sch, to_free, CSIG_EXPANDED);
}

static int scsig_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	if (q->has_ring)
		hop_port_look_stopped(&q->ring, sch, skb);
	switch (scsig_packet_glance(skb, &q->set->tpids)) {
	case CSIG_GLANCE_IP:
		return hop_child_enqueue(skb, sch, to_free);
	case CSIG_GLANCE_COMPACT:
		return scsig_enqueue_compact(skb, sch, to_free);
	case CSIG_GLANCE_EXPANDED:
		return scsig_enqueue_expanded(skb, sch, to_free);
	default:
		return scsig_enqueue_any(skb, sch, to_free);
	}
}

static void scsig_start_timer(struct scsig_sched_data *q)
{
	q->runs = true;
	hrtimer_start(&q->timer,
		      ns_to_ktime(q->port.start_ns + scsig_port_period_ns(&q->set->port)),
		      HRTIMER_MODE_ABS_SOFT);
}

/* A callback that is running already waits for our lock, and then finds @runs false. */
static void scsig_stop_timer(struct scsig_sched_data *q)
{
	q->runs = false;
	hrtimer_try_to_cancel(&q->timer);
}

/* Call this only for a queue that shares its port. */
static struct scsig_shared *scsig_shared(const struct scsig_sched_data *q)
{
	return container_of(q->sent.port, struct scsig_shared, port);
}

/* Warn once per qdisc and rate. */
static void scsig_warn_slow(struct scsig_sched_data *q, const struct hop_drain *drain)
{
	if (q->warned_slow)
		return;
	q->warned_slow = true;
	net_warn_ratelimited("%s: csig has a rate of %llu bytes/s, but the port sends %llu: using that\n",
			     qdisc_dev(q->sch)->name, q->set->port.capacity_bytes_ps,
			     drain->rate_bytes_ps);
}

/*
 * Measure the rate of the port at the end of an interval. @vars: the port's variables; @bytes:
 * bytes sent by all of its queues. Context: for a port of several queues, its lock held
 */
static void scsig_measure_port(struct scsig_sched_data *q, struct scsig_port_vars *vars, u64 bytes,
			       u64 now_ns)
{
	const struct hop_drain_sent sent = {
		.bytes = bytes,
		/* All packets that left have arrived, and so have those that wait. */
		.moves = 2ULL * q->departures + q->sch->q.qlen,
		.now_ns = now_ns,
		.waits = q->sch->q.qlen,
	};

	if (q->sent.port)
		lockdep_assert_held(&q->sent.port->lock);
	if (hop_drain_look(&vars->drain, &q->drain_run, q->set->port.capacity_bytes_ps, &sent))
		scsig_warn_slow(q, &vars->drain);
}

/*
 * Update the estimate that all queues of the port share. Each of them calls this function once per
 * interval, and the first one ends the interval. Return: true if this queue was the first.
 */
static bool scsig_look_shared(struct scsig_sched_data *q, u64 now_ns)
{
	struct scsig_shared *shared = scsig_shared(q);
	u64 bytes;
	bool ended;

	spin_lock(&shared->port.lock);
	bytes = hop_port_sum(&shared->port);
	ended = scsig_port_look_total(&shared->vars, &q->set->port, q->set->due_ns, bytes, now_ns);
	scsig_measure_port(q, &shared->vars, bytes, now_ns);
	if (q->port.periods != shared->vars.periods ||
	    q->port.drain.rate_bytes_ps != shared->vars.drain.rate_bytes_ps)
		q->known = 0;
	q->port = shared->vars;
	spin_unlock(&shared->port.lock);
	q->port.bytes = 0;
	return ended;
}

/* Update the estimate of a port by itself. Return: true if an interval ended. */
static bool scsig_look_alone(struct scsig_sched_data *q, u64 now_ns)
{
	if (!scsig_port_look(&q->port, &q->set->port, now_ns))
		return false;
	/* ewma is updated at each departure, but the rate is measured over intervals. */
	if (now_ns - q->drain_run.start_ns >= q->set->port.interval_ns / 2)
		scsig_measure_port(q, &q->port, atomic64_read(&q->sent.sent_bytes), now_ns);
	return true;
}

static u64 scsig_due_ns(const struct scsig_sched_data *q)
{
	return q->sent.port ? scsig_port_shared_due_ns(&q->set->port) :
			      scsig_port_due_ns(&q->set->port);
}

/*
 * A port that is slower than its configured rate needs a longer interval to contain as many
 * packets. The options keep the configured interval.
 */
static void scsig_follow_drain(struct scsig_sched_data *q)
{
	const u64 rate_bytes_ps = q->port.drain.rate_bytes_ps;
	struct scsig_settings *set = q->set;
	u64 interval_ns = set->value[TCA_CSIG_INTERVAL];

	if (rate_bytes_ps)
		interval_ns = max(interval_ns, scsig_port_interval_ns(rate_bytes_ps));
	q->followed_bytes_ps = rate_bytes_ps;
	set->port.interval_ns = interval_ns;
	set->due_ns = scsig_due_ns(q);
}

static noinline void scsig_look(struct scsig_sched_data *q, u64 now_ns)
{
	const bool ended = q->sent.port ? scsig_look_shared(q, now_ns) :
					  scsig_look_alone(q, now_ns);

	if (q->port.drain.rate_bytes_ps != q->followed_bytes_ps)
		scsig_follow_drain(q);
	if (!ended)
		return;
	q->known = 0;
	trace_csig_interval(q->sch, q->port.used_bytes_ps,
			    scsig_port_available_bytes_ps(&q->port, &q->set->port));
}

/*
 * An interval is over. If no packet left in it, the timer stops, even if packets are queued:
 * until the next departure all intervals are empty, and scsig_look() then ends them together.
 */
static enum hrtimer_restart scsig_expired(struct hrtimer *timer)
{
	struct scsig_sched_data *q = container_of(timer, struct scsig_sched_data, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	struct Qdisc *root;

	rcu_read_lock();
	root = qdisc_root_sleeping(q->sch);
	spin_lock(qdisc_lock(root));
	/* Do nothing if the timer was stopped, or stopped and started again. */
	if (q->runs && !hrtimer_is_queued(timer)) {
		q->runs = q->port.bytes;
		scsig_look(q, ktime_get_ns());
		if (q->runs) {
			hrtimer_set_expires(timer, ns_to_ktime(q->port.start_ns +
					    scsig_port_period_ns(&q->set->port)));
			again = HRTIMER_RESTART;
		}
	}
	spin_unlock(qdisc_lock(root));
	rcu_read_unlock();
	return again;
}

static u32 scsig_answer_bit(u32 type, enum csig_form form)
{
	return BIT(type * CSIG_FORMS + form);
}

/* Compute the value for the first tag of this type and form since the estimate changed. */
static void scsig_compute_answer(struct scsig_sched_data *q, u32 type, enum csig_form form)
{
	struct scsig_answer *answer = &q->answer[type][form];

	answer->measured = scsig_port_value(&q->port, &q->set->port, type, 0);
	answer->code = csig_encode(&q->set->signal[type].scale, form, answer->measured);
	answer->locator = q->set->signal[type].locator[form];
	answer->has_ttl = q->set->signal[type].has_ttl[form];
	q->known |= scsig_answer_bit(type, form);
}

/* Return: the time that a packet will wait in the driver's ring, ns */
static u64 scsig_ring_wait_ns(struct scsig_sched_data *q, u64 now_ns)
{
	const struct hop_ring_bql bql = hop_port_bql(q->sch, q->is_of_queue);

	return hop_ring_wait_ns(&q->ring, hop_ring_held_bytes(&q->ring, now_ns, &bql));
}

/*
 * Most hops are not the worst, so the value is encoded only if needed. Return: true if the packet
 * waited longer here than its tag reports; @a: result
 */
static __always_inline bool scsig_answer_delay(struct scsig_sched_data *q, struct sk_buff *skb,
					       enum csig_form form, const struct csig_tag *t,
					       u64 now_ns, struct scsig_answer *a)
{
	const struct scsig_signal *signal = &q->set->signal[CSIG_PD];
	u64 waited_ns = hop_arrival_take(skb, q->sch, HOP_MARK_CSIG, now_ns);

	if (waited_ns == HOP_MARK_UNKNOWN_NS) {
		q->stats->untimed_pkts += scsig_pkts(skb);
		return false;
	}
	if (q->has_ring)
		waited_ns += scsig_ring_wait_ns(q, now_ns);
	if (waited_ns > q->stats->longest_ns)
		q->stats->longest_ns = waited_ns;
	if (waited_ns < csig_high(&signal->scale, form, t->value))
		return false;
	a->measured = waited_ns;
	a->code = csig_encode(&signal->scale, form, waited_ns);
	a->locator = signal->locator[form];
	a->has_ttl = signal->has_ttl[form];
	return true;
}

/* Return: true if the port's value is worse than the tag's; @a: result */
static __always_inline bool scsig_answer(struct scsig_sched_data *q, struct sk_buff *skb,
					 enum csig_form form, const struct csig_tag *t,
					 u64 now_ns, struct scsig_answer *a)
{
	if (t->type == CSIG_PD)
		return scsig_answer_delay(q, skb, form, t, now_ns, a);
	if (!(q->known & scsig_answer_bit(t->type, form)))
		scsig_compute_answer(q, t->type, form);
	*a = q->answer[t->type][form];
	return csig_worse(t->type, a->code, t->value);
}

/*
 * Make a tag writable whose bytes are shared or not in the linear part. Return: the tag, which may
 * have changed before its bytes were copied; its type is CSIG_TYPES if it cannot be written or
 * does not exist any more.
 */
static struct csig_tag scsig_read_own(struct scsig_sched_data *q, struct sk_buff *skb,
				      enum csig_form form, u32 offset_bytes)
{
	const struct csig_place before = { .form = form, .offset_bytes = offset_bytes };
	const struct csig_tag none = { .type = CSIG_TYPES };
	struct csig_place now;

	if (!hop_pkt_writable(skb, scsig_packet_behind_bytes(&before))) {
		q->stats->unwritable_pkts += scsig_pkts(skb);
		return none;
	}
	now = scsig_packet_find(skb, &q->set->tpids);
	if (now.form != form || now.offset_bytes != offset_bytes)
		return none;
	return scsig_packet_read(skb, &now);
}

static u32 scsig_locator_with_ttl(const struct scsig_settings *set,
				  const struct sk_buff *skb, enum csig_form form, u32 type)
{
	const struct csig_place place = scsig_packet_find(skb, &set->tpids);

	return scsig_compose(&set->signal[type].layout[form], set->attrs,
			    scsig_packet_ttl(skb, &place));
}

static void scsig_trace_update(const struct Qdisc *sch, enum csig_form form,
			       const u8 *data, u64 measured)
{
	const struct csig_tag t = csig_read(form, data);

	trace_csig_update(sch, form, &t, measured);
}

/* Update a tag whose bytes can be written. @t: the tag's current fields */
static __always_inline void scsig_write_update(struct scsig_sched_data *q, struct sk_buff *skb,
					       const struct csig_place *place, struct csig_tag t,
					       const struct scsig_answer *a)
{
	u8 *data = skb->data + place->offset_bytes + CSIG_TPID_BYTES;
	u32 locator = a->locator;

	if (a->has_ttl)
		locator = scsig_locator_with_ttl(q->set, skb, place->form, t.type);
	if (!csig_replace(&t, a->code, locator))
		return;
	csig_write(place->form, data, &t);
	scsig_packet_forget_sum(skb);
	q->stats->updated_pkts[t.type] += scsig_pkts(skb);
	if (trace_csig_update_enabled())
		scsig_trace_update(q->sch, place->form, data, a->measured);
}

/* Update a tag to the port's worse value @a if the packet's bytes are shared or not linear. */
static void scsig_update_shared(struct scsig_sched_data *q, struct sk_buff *skb,
				enum csig_form form, u32 offset_bytes, u32 type,
				const struct scsig_answer *a)
{
	const struct csig_place place = { .form = form, .offset_bytes = offset_bytes };
	const struct csig_tag t = scsig_read_own(q, skb, form, offset_bytes);

	if (t.type == type)
		scsig_write_update(q, skb, &place, t, a);
}

/* Compare the port's value with a tag without a fault. Most hops are not the worst. */
static __always_inline void scsig_update_at(struct scsig_sched_data *q, struct sk_buff *skb,
					    const struct csig_place *place,
					    const struct csig_tag *t, u64 now_ns)
{
	struct scsig_answer a;

	if (!(q->set->updated_types >> t->type & 1) ||
	    !scsig_answer(q, skb, place->form, t, now_ns, &a))
		return;
	if (scsig_packet_is_own(skb, place->offset_bytes + CSIG_TAG_MAX_BYTES +
				       CSIG_TPID_BYTES))
		scsig_write_update(q, skb, place, *t, &a);
	else
		scsig_update_shared(q, skb, place->form, place->offset_bytes, t->type, &a);
}

/* Update a packet that leaves at @now_ns and may have a tag at any place. */
static noinline void scsig_update_any(struct scsig_sched_data *q, struct sk_buff *skb, u64 now_ns)
{
	struct csig_place place;
	struct csig_tag t;

	if (!q->set->updated_types || scsig_packet_is_plain(skb, &q->set->tpids))
		return;
	place = scsig_packet_find(skb, &q->set->tpids);
	if (!place.form || place.fault)
		return;
	t = scsig_packet_read(skb, &place);
	scsig_update_at(q, skb, &place, &t, now_ns);
}

/* Update a packet with a tag of @form, a constant, where scsig_packet_glance() finds tags. */
static __always_inline void scsig_update_near(struct scsig_sched_data *q, struct sk_buff *skb,
					      enum csig_form form, u64 now_ns)
{
	const struct csig_place place = { .form = form, .offset_bytes = CSIG_FIRST_TAG_BYTES };
	const struct csig_tag t = csig_read(form, skb->data + CSIG_FIRST_TAG_BYTES +
					    CSIG_TPID_BYTES);

	scsig_update_at(q, skb, &place, &t, now_ns);
}

static noinline void scsig_update_compact(struct scsig_sched_data *q, struct sk_buff *skb,
					  u64 now_ns)
{
	scsig_update_near(q, skb, CSIG_COMPACT, now_ns);
}

static noinline void scsig_update_expanded(struct scsig_sched_data *q, struct sk_buff *skb,
					   u64 now_ns)
{
	scsig_update_near(q, skb, CSIG_EXPANDED, now_ns);
}

static void scsig_update(struct scsig_sched_data *q, struct sk_buff *skb, u64 now_ns)
{
	switch (scsig_packet_glance(skb, &q->set->tpids)) {
	case CSIG_GLANCE_IP:
		break;
	case CSIG_GLANCE_COMPACT:
		scsig_update_compact(q, skb, now_ns);
		break;
	case CSIG_GLANCE_EXPANDED:
		scsig_update_expanded(q, skb, now_ns);
		break;
	default:
		scsig_update_any(q, skb, now_ns);
	}
}

/* A packet of a port with a timer or a ring leaves. */
static void scsig_watch_departure(struct scsig_sched_data *q, u64 now_ns, u32 bytes)
{
	if (q->has_ring) {
		const struct hop_ring_bql bql = hop_port_bql(q->sch, q->is_of_queue);

		hop_ring_give(&q->ring, now_ns, bytes, &bql);
	}
	if (q->set->value[TCA_CSIG_TIMER] && !q->runs)
		scsig_start_timer(q);
}

/* If packets are left, the child holds them back: do not take this for a slow port. */
static void scsig_get_none(struct scsig_sched_data *q)
{
	hop_ring_idle(&q->ring);
	hop_drain_stop(&q->drain_run);
}

static struct sk_buff *scsig_dequeue(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_child_dequeue(sch);
	const struct scsig_settings *set = q->set;
	struct hop_pkt_wire wire;
	u64 now_ns;

	if (!skb) {
		scsig_get_none(q);
		return NULL;
	}
	now_ns = ktime_get_ns();
	if (scsig_port_is_due(&q->port, set->due_ns, now_ns))
		scsig_look(q, now_ns);
	scsig_update(q, skb, now_ns);
	wire = hop_pkt_wire(skb, set->value[TCA_CSIG_OVERHEAD]);
	scsig_port_sent(&q->port, now_ns, wire.bytes);
	hop_port_count(&q->sent, wire.bytes);
	q->departures++;
	hop_drain_depart(&q->drain_run, sch->q.qlen);
	if (q->is_watched)
		scsig_watch_departure(q, now_ns, wire.bytes);
	return skb;
}

/* The counters in @stats survive a reset, as when the device goes down. */
static void scsig_reset(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	hop_child_reset(sch);
	scsig_stop_timer(q);
	memset(&q->port, 0, sizeof(q->port));
	hop_drain_stop(&q->drain_run);
	q->known = 0;
}

static const struct hop_nla_option scsig_options_u32[TCA_CSIG_MAX + 1] = {
	[TCA_CSIG_OVERHEAD] = HOP_NLA_OPTION("overhead", " bytes", TC_CSIG_OVERHEAD_DEFAULT_BYTES,
					     0, TC_CSIG_OVERHEAD_MAX_BYTES),
	[TCA_CSIG_MODE] = { TC_CSIG_MODE_DEFAULT, 0, TC_CSIG_MODE_MAX,
			    "mode must be update, pass or strip" },
	[TCA_CSIG_UNSUPPORTED] = { TC_CSIG_UNSUPPORTED_DEFAULT, TC_CSIG_UNSUPPORTED_MIN,
				   TC_CSIG_UNSUPPORTED_MAX, "unsupported must be pass or strip" },
	[TCA_CSIG_ESTIMATOR] = { TC_CSIG_ESTIMATOR_DEFAULT, 0, TC_CSIG_ESTIMATOR_MAX,
				 "estimator must be raw, ewma or dre" },
	[TCA_CSIG_INTERVAL] = HOP_NLA_OPTION("interval", " ns", TC_CSIG_INTERVAL_MIN_NS,
					     TC_CSIG_INTERVAL_MIN_NS, TC_CSIG_INTERVAL_MAX_NS),
	[TCA_CSIG_SHIFT] = HOP_NLA_OPTION("shift", "", TC_CSIG_SHIFT_DEFAULT, TC_CSIG_SHIFT_MIN,
					  TC_CSIG_SHIFT_MAX),
	[TCA_CSIG_TIMER] = HOP_NLA_OPTION("timer", "", 0, 0, 1),
	[TCA_CSIG_TPID_COMPACT] = HOP_NLA_OPTION("tpid_compact", "", TC_CSIG_TPID_COMPACT_DEFAULT,
						 TC_CSIG_TPID_MIN, TC_CSIG_TPID_MAX),
	[TCA_CSIG_TPID_EXPANDED] = HOP_NLA_OPTION("tpid_expanded", "",
						  TC_CSIG_TPID_EXPANDED_DEFAULT, TC_CSIG_TPID_MIN,
						  TC_CSIG_TPID_MAX),
	[TCA_CSIG_STAGE] = HOP_NLA_OPTION("stage", "", 0, 0, TC_CSIG_STAGE_MAX),
	[TCA_CSIG_ORIENTATION] = HOP_NLA_OPTION("orientation", "", 0, 0, TC_CSIG_ORIENTATION_MAX),
	[TCA_CSIG_PORT_ID] = HOP_NLA_OPTION("port_id", "", 0, 0, TC_CSIG_PORT_ID_MAX),
	[TCA_CSIG_DEVICE_ID] = HOP_NLA_OPTION("device_id", "", 0, 0, TC_CSIG_DEVICE_ID_MAX),
};

/* The policy does not check ranges, since its error message could not name the option. */
static const struct nla_policy scsig_policy[TCA_CSIG_MAX + 1] = {
	[TCA_CSIG_RATE] = { .type = NLA_U64 },
	[TCA_CSIG_OVERHEAD ... TCA_CSIG_LIMIT] = { .type = NLA_U32 },
	[TCA_CSIG_SIGNAL_ABW ... TCA_CSIG_SIGNAL_PD] = { .type = NLA_NESTED },
};

static const struct nla_policy scsig_signal_policy[TCA_CSIG_SIGNAL_MAX + 1] = {
	[TCA_CSIG_SIGNAL_ON]		= { .type = NLA_U32 },
	[TCA_CSIG_SIGNAL_QUANTUM]	= { .type = NLA_U32 },
	[TCA_CSIG_SIGNAL_EDGES]		= { .type = NLA_BINARY,
					    .len = TC_CSIG_EDGES_MAX * sizeof(u32) },
	[TCA_CSIG_SIGNAL_LM_COMPACT]	= NLA_POLICY_EXACT_LEN(sizeof(struct tc_csig_layout)),
	[TCA_CSIG_SIGNAL_LM_EXPANDED]	= NLA_POLICY_EXACT_LEN(sizeof(struct tc_csig_layout)),
};

/* The netlink attribute of a layout, by form. */
static const u8 scsig_layout_attr[CSIG_FORMS] = {
	[CSIG_COMPACT] = TCA_CSIG_SIGNAL_LM_COMPACT,
	[CSIG_EXPANDED] = TCA_CSIG_SIGNAL_LM_EXPANDED,
};

static int scsig_parse_signal(struct scsig_signal *signal, const struct nlattr *nest,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CSIG_SIGNAL_MAX + 1];
	u32 on = signal->on;
	int err, form;

	if (!nest)
		return 0;
	err = hop_nla_parse(tb, TCA_CSIG_SIGNAL_MAX, nest, scsig_signal_policy, extack);
	if (!err)
		err = hop_nla_u32(&on, 0, 1, tb[TCA_CSIG_SIGNAL_ON], "a signal is on, 1, or off, 0",
				  extack);
	if (!err)
		err = scsig_parse_scale(&signal->scale, tb, extack);
	for (form = CSIG_COMPACT; form < CSIG_FORMS && !err; form++)
		err = scsig_parse_layout(&signal->layout[form], form, tb[scsig_layout_attr[form]],
					 extack);
	signal->on = on;
	return err;
}

static int scsig_parse(struct scsig_settings *set, struct nlattr **tb,
		       struct netlink_ext_ack *extack)
{
	int type, err = hop_nla_rate(&set->rate_bytes_ps, tb[TCA_CSIG_RATE], extack);

	set->has_interval |= !!tb[TCA_CSIG_INTERVAL];
	if (!err)
		err = hop_nla_options(set->value, scsig_options_u32, TCA_CSIG_MAX, tb, extack);
	for (type = 0; type < CSIG_TYPES && !err; type++)
		err = scsig_parse_signal(&set->signal[type], tb[TCA_CSIG_SIGNAL_ABW + type],
					 extack);
	return err;
}

static int scsig_check_layouts(const struct scsig_settings *set, struct nlattr **tb,
			       struct netlink_ext_ack *extack)
{
	static const char *const misfits[TC_CSIG_WHATS] = {
		[TC_CSIG_WHAT_CAPACITY] = "the code of the capacity does not fit its bits in lm",
		[TC_CSIG_WHAT_STAGE] = "stage does not fit its bits in lm",
		[TC_CSIG_WHAT_ORIENTATION] = "orientation does not fit its bits in lm",
		[TC_CSIG_WHAT_PORT] = "port_id does not fit its bits in lm",
		[TC_CSIG_WHAT_DEVICE] = "device_id does not fit its bits in lm",
	};
	int type, form;

	for (type = 0; type < CSIG_TYPES; type++) {
		for (form = CSIG_COMPACT; form < CSIG_FORMS; form++) {
			u32 what = scsig_layout_misfit(&set->signal[type].layout[form], set->attrs);

			if (what != TC_CSIG_WHATS)
				return hop_nla_refuse(extack, tb[TCA_CSIG_SIGNAL_ABW + type],
						      misfits[what]);
		}
	}
	return 0;
}

/* Refuse short timer periods in a container, since the whole machine pays for the CPU time. */
static int scsig_check_period(const struct Qdisc *sch, const struct scsig_settings *set,
			      struct nlattr **tb, struct netlink_ext_ack *extack)
{
	static const int attrs[] = { TCA_CSIG_TIMER, TCA_CSIG_INTERVAL, TCA_CSIG_SHIFT,
				     TCA_CSIG_ESTIMATOR, TCA_CSIG_RATE };
	int i;

	if (scsig_port_period_ns(&set->port) >= TC_CSIG_TIMER_CONTAINER_MIN_NS ||
	    hop_is_trusted(dev_net(qdisc_dev(sch))))
		return 0;
	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (tb[attrs[i]])
			return hop_nla_refuse(extack, tb[attrs[i]],
					      "in a user namespace the period of timer must be "
					      __stringify(TC_CSIG_TIMER_CONTAINER_MIN_NS)
					      " ns at least: interval, of dre interval / 2^shift");
	return 0;
}

static int scsig_check_timer(const struct Qdisc *sch, const struct scsig_settings *set,
			     struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!set->value[TCA_CSIG_TIMER])
		return 0;
	if (set->port.estimator == TC_CSIG_ESTIMATOR_EWMA)
		return hop_nla_refuse(extack, tb[TCA_CSIG_TIMER],
				      "timer is for raw and dre: ewma counts at departures only");
	if (scsig_port_period_ns(&set->port) < TC_CSIG_INTERVAL_MIN_NS)
		return hop_nla_refuse(extack, tb[TCA_CSIG_TIMER],
				      "with timer, the interval over 2^shift of dre must be 10us at least");
	return scsig_check_period(sch, set, tb, extack);
}

/* Is it an EtherType by which frames without a tag are recognised? */
static bool scsig_is_taken(u16 tpid)
{
	return csig_is_vlan(tpid) || tpid == ETH_P_IP || tpid == ETH_P_IPV6;
}

/* Check the conditions that involve more than one option. */
static int scsig_check(const struct Qdisc *sch, const struct scsig_settings *set,
		       struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int err;

	if (set->tpids.tpid[CSIG_COMPACT] == set->tpids.tpid[CSIG_EXPANDED])
		return hop_nla_refuse(extack, tb[TCA_CSIG_TPID_COMPACT],
				      "tpid_compact and tpid_expanded must differ");
	if (scsig_is_taken(set->tpids.tpid[CSIG_COMPACT]) ||
	    scsig_is_taken(set->tpids.tpid[CSIG_EXPANDED]))
		return hop_nla_refuse(extack, tb[TCA_CSIG_TPID_COMPACT],
				      "a tpid must not be that of a VLAN tag, IPv4 or IPv6");
	err = scsig_check_timer(sch, set, tb, extack);
	return err ?: scsig_check_layouts(set, tb, extack);
}

static void scsig_derive_locator(struct scsig_settings *set, struct scsig_signal *signal,
				 enum csig_form form)
{
	const struct tc_csig_layout *layout = &signal->layout[form];

	signal->locator[form] = scsig_compose(layout, set->attrs, 0);
	signal->has_ttl[form] = scsig_layout_needs_ttl(layout);
}

/* The interval follows the rate unless tc set it. The options contain a copy, for dumps. */
static void scsig_set_interval(struct scsig_settings *set, u64 rate_bytes_ps)
{
	if (!set->has_interval)
		set->value[TCA_CSIG_INTERVAL] = scsig_port_interval_ns(rate_bytes_ps);
	set->port.interval_ns = set->value[TCA_CSIG_INTERVAL];
}

/* The locators depend on the rate and on other attributes, so they are computed here too. */
static void scsig_set_rate(struct scsig_settings *set, u64 rate_bytes_ps)
{
	u32 type, form, rest, mbit_ps = div_u64_rem(rate_bytes_ps, 125000, &rest);

	set->port.capacity_bytes_ps = rate_bytes_ps;
	set->attrs[TC_CSIG_WHAT_CAPACITY] = rest ? 0 : int_speed_code(mbit_ps);
	for (type = 0; type < CSIG_TYPES; type++)
		for (form = CSIG_COMPACT; form < CSIG_FORMS; form++)
			scsig_derive_locator(set, &set->signal[type], form);
}

static u32 scsig_types_on(const struct scsig_settings *set)
{
	u32 type, types = 0;

	for (type = 0; type < CSIG_TYPES; type++)
		if (set->signal[type].on)
			types |= BIT(type);
	return types;
}

static void scsig_derive(struct scsig_settings *set, u64 rate_bytes_ps)
{
	scsig_set_interval(set, rate_bytes_ps);
	set->port.estimator = set->value[TCA_CSIG_ESTIMATOR];
	set->port.shift = set->value[TCA_CSIG_SHIFT];
	set->due_ns = scsig_port_due_ns(&set->port);
	set->types = scsig_types_on(set);
	set->updated_types =
		set->value[TCA_CSIG_MODE] == TC_CSIG_MODE_UPDATE ? set->types : 0;
	set->tpids.tpid[CSIG_COMPACT] = set->value[TCA_CSIG_TPID_COMPACT];
	set->tpids.tpid[CSIG_EXPANDED] = set->value[TCA_CSIG_TPID_EXPANDED];
	set->attrs[TC_CSIG_WHAT_STAGE] = set->value[TCA_CSIG_STAGE];
	set->attrs[TC_CSIG_WHAT_ORIENTATION] = set->value[TCA_CSIG_ORIENTATION];
	set->attrs[TC_CSIG_WHAT_PORT] = set->value[TCA_CSIG_PORT_ID];
	set->attrs[TC_CSIG_WHAT_DEVICE] = set->value[TCA_CSIG_DEVICE_ID];
	scsig_set_rate(set, rate_bytes_ps);
}

/* The estimate continues only if the way of measuring is unchanged. */
static bool scsig_measures_alike(const struct scsig_settings *a, const struct scsig_settings *b)
{
	return a->value[TCA_CSIG_INTERVAL] == b->value[TCA_CSIG_INTERVAL] &&
	       a->port.estimator == b->port.estimator && a->port.shift == b->port.shift;
}

/* The configured rate has changed: it may be right now. Context: tree lock held. */
static void scsig_forget_drain(struct scsig_sched_data *q)
{
	hop_assert_qdisc_lock(q->sch);
	q->warned_slow = false;
	q->port.drain = (struct hop_drain){};
	if (!q->sent.port)
		return;
	spin_lock_bh(&q->sent.port->lock);
	scsig_shared(q)->vars.drain = (struct hop_drain){};
	spin_unlock_bh(&q->sent.port->lock);
}

/* Context: tree lock held. Return: the old settings. */
static struct scsig_settings *scsig_use(struct scsig_sched_data *q, struct scsig_settings *set,
					struct hop_port *port)
{
	struct scsig_settings *old = q->set;

	hop_assert_qdisc_lock(q->sch);
	if (port != q->sent.port || (old && !scsig_measures_alike(old, set))) {
		scsig_stop_timer(q);
		memset(&q->port, 0, sizeof(q->port));
	}
	hop_port_use(&q->sent, port);
	if (old && old->port.capacity_bytes_ps != set->port.capacity_bytes_ps)
		scsig_forget_drain(q);
	/* The overhead may have changed. */
	hop_drain_stop(&q->drain_run);
	/* The new settings have the configured interval. */
	q->followed_bytes_ps = 0;
	q->is_of_queue = hop_port_is_of_queue(q->sch);
	q->has_ring = hop_port_has_ring(q->sch);
	q->is_watched = q->has_ring || set->value[TCA_CSIG_TIMER];
	hop_ring_set_rate(&q->ring, set->port.capacity_bytes_ps);
	if (!set->value[TCA_CSIG_TIMER])
		scsig_stop_timer(q);
	q->known = 0;
	smp_store_release(&q->set, set);	/* for dump() */
	return old;
}

static int scsig_prepare(const struct Qdisc *sch, struct scsig_settings *set, struct nlattr **tb,
			 u32 *limit_bytes, struct netlink_ext_ack *extack)
{
	u64 rate_bytes_ps;
	int err = scsig_parse(set, tb, extack);

	if (!err)
		err = hop_limit_parse(sch, limit_bytes, tb[TCA_CSIG_LIMIT], extack);
	if (err)
		return err;
	rate_bytes_ps = set->rate_bytes_ps ?: hop_speed_ask_bytes_ps(qdisc_dev(sch));
	if (!rate_bytes_ps)
		return hop_nla_refuse(extack, tb[TCA_CSIG_RATE],
				      "the device does not tell its speed: say rate, e.g. rate 10gbit");
	scsig_derive(set, rate_bytes_ps);
	return scsig_check(sch, set, tb, extack);
}

/* Queues form one port if they have the same port ID and the same way of measuring. */
static u64 scsig_port_key(const struct scsig_settings *set)
{
	/* A default interval changes with the rate, so it is not part of the key. */
	const u64 interval_ns = set->has_interval ? set->port.interval_ns : 0;

	/* 16 + 30 + 2 + 4 bits */
	return set->value[TCA_CSIG_PORT_ID] | interval_ns << 16 |
	       (u64)set->port.estimator << 46 | (u64)set->port.shift << 48;
}

/* Find the port that a transmit queue shares; @port: NULL for a port by itself. Context: RTNL. */
static int scsig_find_port(const struct Qdisc *sch, struct scsig_settings *set,
			   struct hop_port **port)
{
	ASSERT_RTNL();
	*port = NULL;
	if (!hop_port_is_of_queue(sch))
		return 0;
	*port = hop_port_get(sch, scsig_port_key(set), sizeof(struct scsig_shared));
	set->due_ns = scsig_port_shared_due_ns(&set->port);
	return *port ? 0 : -ENOMEM;
}

/* @set: a copy of the old settings, or the defaults; this function takes it over. */
static int scsig_configure(struct Qdisc *sch, struct scsig_settings *set, struct nlattr **tb,
			   struct netlink_ext_ack *extack)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct hop_port *port = NULL, *old_port;
	u32 limit_bytes = 0;
	int err = scsig_prepare(sch, set, tb, &limit_bytes, extack);

	if (!err)
		err = scsig_find_port(sch, set, &port);
	if (!err)
		err = hop_limit_set(sch, limit_bytes);
	if (err) {
		hop_port_put(port);
		kfree(set);
		return err;
	}
	sch_tree_lock(sch);
	old_port = q->sent.port;
	set = scsig_use(q, set, port);
	sch_tree_unlock(sch);
	hop_port_put(old_port);
	if (set)
		kfree_rcu(set, rcu);
	return 0;
}

static int scsig_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_CSIG_MAX + 1];
	struct scsig_settings *set;
	int err = hop_nla_parse(tb, TCA_CSIG_MAX, opt, scsig_policy, extack);

	if (err)
		return err;
	set = kmemdup(q->set, sizeof(*set), GFP_KERNEL);
	return set ? scsig_configure(sch, set, tb, extack) : -ENOMEM;
}

/*
 * The current interval gets the new length. With a timer, the interval is kept, since the user who
 * set the timer might not have been allowed a shorter period. Context: tree lock held.
 */
static void scsig_follow_interval(struct scsig_sched_data *q, u64 rate_bytes_ps)
{
	struct scsig_settings *set = q->set;

	hop_assert_qdisc_lock(q->sch);
	if (set->value[TCA_CSIG_TIMER])
		return;
	scsig_set_interval(set, rate_bytes_ps);
	set->due_ns = scsig_due_ns(q);
}

/* The speed of the port's device may have changed. Context: RTNL. */
static void scsig_follow_speed(struct Qdisc *sch, u64 rate_bytes_ps)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	ASSERT_RTNL();
	if (q->set->rate_bytes_ps != TC_CSIG_RATE_AUTO)
		return;
	if (rate_bytes_ps != q->set->port.capacity_bytes_ps) {
		scsig_forget_drain(q);
		hop_drain_stop(&q->drain_run);
	}
	scsig_set_rate(q->set, rate_bytes_ps);
	hop_ring_set_rate(&q->ring, rate_bytes_ps);
	scsig_follow_interval(q, rate_bytes_ps);
	q->known = 0;
}

static void scsig_signal_defaults(struct scsig_signal *signal, u32 quantum, u32 base)
{
	signal->on = true;
	signal->scale.quantum = quantum;
	signal->scale.edges = TC_CSIG_EDGES_MAX;
	tc_csig_pow2(signal->scale.edge, base);
}

static struct scsig_settings *scsig_defaults(void)
{
	struct scsig_settings *set = kzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	hop_nla_defaults(set->value, scsig_options_u32, TCA_CSIG_MAX);
	scsig_signal_defaults(&set->signal[CSIG_ABW], TC_CSIG_QUANTUM_DEFAULT_KBIT_PS,
			      TC_CSIG_POW2_DEFAULT_KBIT_PS);
	scsig_signal_defaults(&set->signal[CSIG_ABW_C], TC_CSIG_QUANTUM_DEFAULT_PPM,
			      TC_CSIG_POW2_DEFAULT_PPM);
	scsig_signal_defaults(&set->signal[CSIG_PD], TC_CSIG_QUANTUM_DEFAULT_NS,
			      TC_CSIG_POW2_DEFAULT_NS);
	return set;
}

static int scsig_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	const struct net_device *dev = qdisc_dev(sch);
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_CSIG_MAX + 1] = {};
	struct scsig_settings *set;
	int err = 0;

	hop_child_prepare(sch);
	hrtimer_setup(&q->timer, scsig_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	q->sch = sch;
	q->sent.sch = sch;
	if (dev->type != ARPHRD_ETHER && dev->type != ARPHRD_LOOPBACK)
		return hop_nla_refuse(extack, NULL, "the device has no Ethernet frames: no tags");
	if (opt)
		err = hop_nla_parse(tb, TCA_CSIG_MAX, opt, scsig_policy, extack);
	if (!err)
		err = hop_child_init(sch, 0, extack);
	if (err)
		return err;
	q->stats = kzalloc(sizeof(*q->stats), GFP_KERNEL);
	set = q->stats ? scsig_defaults() : NULL;
	if (!set)
		return -ENOMEM;
	err = scsig_configure(sch, set, tb, extack);
	if (err)
		return err;
	hop_speed_watch(&q->speed, sch, scsig_follow_speed);
	return 0;
}

static void scsig_destroy(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct hop_port *port = q->sent.port;

	hop_speed_unwatch(&q->speed);
	hrtimer_cancel(&q->timer);
	hop_port_use(&q->sent, NULL);
	hop_port_put(port);
	hop_child_destroy(sch);
	kfree(q->stats);
	if (q->set)
		kfree_rcu(q->set, rcu);
}

static int scsig_dump_signal(struct sk_buff *skb, const struct scsig_signal *signal, int attr)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, attr);
	const struct tc_csig_layout *layout = signal->layout;

	if (!nest || nla_put_u32(skb, TCA_CSIG_SIGNAL_ON, signal->on) ||
	    nla_put_u32(skb, TCA_CSIG_SIGNAL_QUANTUM, signal->scale.quantum) ||
	    nla_put(skb, TCA_CSIG_SIGNAL_EDGES, signal->scale.edges * sizeof(u32),
		    signal->scale.edge) ||
	    nla_put(skb, TCA_CSIG_SIGNAL_LM_COMPACT, sizeof(*layout), &layout[CSIG_COMPACT]) ||
	    nla_put(skb, TCA_CSIG_SIGNAL_LM_EXPANDED, sizeof(*layout), &layout[CSIG_EXPANDED]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int scsig_put(struct Qdisc *sch, struct sk_buff *skb)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	const struct scsig_settings *set = READ_ONCE(q->set);
	int type, err = nla_put_u64_64bit(skb, TCA_CSIG_RATE, set->rate_bytes_ps, TCA_CSIG_PAD);

	if (!err)
		err = hop_nla_put_options(skb, set->value, scsig_options_u32, TCA_CSIG_MAX);
	for (type = 0; type < CSIG_TYPES && !err; type++)
		err = scsig_dump_signal(skb, &set->signal[type], TCA_CSIG_SIGNAL_ABW + type);
	return err ?: hop_limit_put(skb, sch, TCA_CSIG_LIMIT);
}

/* RCU protects the settings, since the kernel need not hold RTNL here against change(). */
static int scsig_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	int ret;

	rcu_read_lock();
	ret = hop_nla_dump(sch, skb, scsig_put);
	rcu_read_unlock();
	return ret;
}

/* Compute the estimate that the next tag would get. Context: tree lock held. */
static struct scsig_port_vars scsig_estimate_now(struct scsig_sched_data *q)
{
	struct scsig_port_vars now = q->port;

	hop_assert_qdisc_lock(q->sch);
	if (!q->sent.port) {
		scsig_port_look(&now, &q->set->port, ktime_get_ns());
		return now;
	}
	spin_lock_bh(&q->sent.port->lock);
	now = scsig_shared(q)->vars;
	scsig_port_look_total(&now, &q->set->port, q->set->due_ns, hop_port_sum(q->sent.port),
			      ktime_get_ns());
	spin_unlock_bh(&q->sent.port->lock);
	return now;
}

static int scsig_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct scsig_port_vars now;
	struct tc_csig_xstats st;

	/* The lock makes the numbers consistent, and prevents torn counters on 32-bit machines. */
	sch_tree_lock(sch);
	st = *q->stats;
	now = scsig_estimate_now(q);
	st.available_bytes_ps = scsig_port_available_bytes_ps(&now, &q->set->port);
	st.rate_bytes_ps = q->set->port.capacity_bytes_ps;
	st.measured_bytes_ps = now.drain.rate_bytes_ps;
	st.tx_bytes = hop_port_total_bytes(&q->sent);
	st.qdiscs = hop_port_qdiscs(&q->sent);
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops scsig_qdisc_ops __read_mostly = {
	.cl_ops		= &hop_child_class_ops,
	.id		= "csig",
	.priv_size	= sizeof(struct scsig_sched_data),
	.enqueue	= scsig_enqueue,
	.dequeue	= scsig_dequeue,
	.peek		= hop_child_peek,
	.init		= scsig_init,
	.reset		= scsig_reset,
	.destroy	= scsig_destroy,
	.change		= scsig_change,
	.dump		= scsig_dump,
	.dump_stats	= scsig_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("csig");

static_assert(!offsetof(struct scsig_sched_data, child));
static_assert(TC_CSIG_RATE_MIN_BYTES_PS == HOP_DRAIN_RATE_MIN_BYTES_PS);
static_assert(TC_CSIG_RATE_MAX_BYTES_PS == HOP_DRAIN_RATE_MAX_BYTES_PS);
static_assert(TC_CSIG_LIMIT_MIN_BYTES == HOP_LIMIT_MIN_BYTES);
static_assert((int)TC_CSIG_SIGNALS == CSIG_TYPES);
static_assert(TC_CSIG_EDGES_MAX == CSIG_EDGES);
static_assert(TC_CSIG_MALFORMED_CAUSES + 1 == CSIG_FAULTS);
static_assert(TC_CSIG_TPID_COMPACT_DEFAULT == CSIG_TPID_COMPACT_DEFAULT);
static_assert(TC_CSIG_TPID_EXPANDED_DEFAULT == CSIG_TPID_EXPANDED_DEFAULT);

module_driver(scsig_qdisc_ops, register_qdisc, unregister_qdisc);
MODULE_DESCRIPTION("CSIG transit device: updates CSIG tags with the load of its port");
MODULE_VERSION(HOPCC_VERSION);
MODULE_LICENSE("GPL");
