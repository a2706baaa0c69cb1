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
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/lib/hop_arrival.h>
#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_limit.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/core/hop_port.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/lib/hop_version.h>
#include <hopcc/wire/int.h>
#include <net/pkt_sched.h>
#include "csig_packet.h"
#include "csig_port.h"
#include "csig_signal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * struct scsig_settings - the qdisc's settings; replaced as a whole under RTNL and the tree lock
 * @rate_bytes_ps: rate set by tc, bytes/s; TC_CSIG_RATE_AUTO for the device's rate
 * @value: the 32-bit options, by attribute
 * @has_interval: the interval was set by tc; otherwise it follows the rate
 * @port: the estimator's parameters, computed from the attributes, as are the next three
 *	members; the rate may follow the device's
 * @types: bit n is set if tags of type n are updated
 * @tpids: TPIDs of tags
 * @attrs: attributes of the port for locators, by TC_CSIG_WHAT_*
 * @signal: configuration of the signals, by type
 */
struct scsig_settings {
	u64 rate_bytes_ps;
	u32 value[TCA_CSIG_MAX + 1];
	bool has_interval;
	struct scsig_port_params port;
	u32 types;
	struct csig_tpids tpids;
	u32 attrs[TC_CSIG_WHATS];
	struct scsig_signal signal[CSIG_TYPES];
};

/**
 * struct scsig_answer - the port's value for a tag
 * @measured: the value in kbit/s, ppm or ns, depending on the type; for the trace event
 * @code: the same value in the tag's units, by csig_encode()
 */
struct scsig_answer {
	u64 measured;
	u32 code;
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
 * @set: the settings
 * @port: the estimate, or a copy of the shared port's estimate
 * @look_ns: time of the next scsig_look(); 0: at the next departure
 * @known: bit scsig_answer_bit() is set while that member of @answer is valid, which is until the
 *	estimate or the settings change
 * @departures: number of packets that left; a GSO packet is one
 * @answer: cached values for tags, by type and form; a delay is not cached, since it differs from
 *	packet to packet
 * @has_ring: hop_port_has_ring() is true
 * @warned_slow: the warning of a slow port was given, for the configured rate
 * @ring: the ring below, if the device has one
 * @sent: count of bytes on the wire, sent by this queue and by the port's other queues
 * @drain_run: the current measurement of the port's rate, by this queue
 * @stats: statistics for tc
 * @speed: watch on the device's rate; under RTNL
 */
struct scsig_sched_data {
	struct hop_child child;
	struct Qdisc *sch;
	struct scsig_settings set;
	struct scsig_port_vars port;
	u64 look_ns;
	u32 known;
	u32 departures;
	struct scsig_answer answer[CSIG_PD][CSIG_FORMS];
	bool has_ring;
	bool warned_slow;
	struct hop_ring ring;
	struct hop_port_queue sent;
	struct hop_drain_run drain_run;
	struct tc_csig_xstats stats;
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
 * the tag's type, or CSIG_TYPES if the tag has a fault.
 */
static bool scsig_must_strip(struct scsig_sched_data *q,
			     const struct csig_place *place, u32 type, u32 pkts)
{
	const struct scsig_settings *set = &q->set;
	const u32 mode = set->value[TCA_CSIG_MODE];

	if (place->fault)
		q->stats.malformed_pkts[place->fault - 1] += pkts;
	if (mode != TC_CSIG_MODE_UPDATE || place->fault)
		return mode == TC_CSIG_MODE_STRIP;
	if (scsig_has(set, type))
		return false;
	q->stats.unsupported_pkts += pkts;
	return set->value[TCA_CSIG_UNSUPPORTED] == TC_CSIG_MODE_STRIP;
}

/* Remove all tags. Return: false if one stays: then the packet must not leave (section 6.1). */
static bool scsig_strip(struct scsig_sched_data *q, struct sk_buff *skb, u32 pkts)
{
	struct csig_place place = scsig_packet_find(skb, &q->set.tpids);

	do {
		if (place.fault == CSIG_BAD_TRUNCATED || !scsig_packet_cut(skb, &place)) {
			q->stats.fenced_pkts += pkts;
			return false;
		}
		q->stats.stripped_pkts += pkts;
		place = scsig_packet_find(skb, &q->set.tpids);
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

static void scsig_count(struct scsig_sched_data *q, enum csig_form form, u32 pkts)
{
	if (form == CSIG_COMPACT)
		q->stats.compact_pkts += pkts;
	else
		q->stats.expanded_pkts += pkts;
}

/* Enqueue a packet that may have a tag anywhere, or whose tag is not updated. */
static noinline int scsig_enqueue_any(struct sk_buff *skb, struct Qdisc *sch,
				      struct sk_buff **to_free)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	const struct csig_place place = scsig_packet_find(skb, &q->set.tpids);
	const u32 pkts = scsig_pkts(skb);
	u32 type = CSIG_TYPES;

	if (!place.form)
		return hop_child_enqueue(skb, sch, to_free);
	if (!place.fault)
		type = scsig_packet_read(skb, &place).type;
	scsig_count(q, place.form, pkts);
	if (scsig_must_strip(q, &place, type, pkts))
		return scsig_strip(q, skb, pkts) ? hop_child_enqueue(skb, sch, to_free) :
						   qdisc_drop(skb, sch, to_free);
	if (type == CSIG_PD && scsig_has(&q->set, type))
		hop_arrival_note(skb, sch, HOP_MARK_CSIG);
	if (!place.fault && scsig_packet_is_second_form(skb, &place) &&
	    scsig_packet_normalise(skb, qdisc_dev(sch), &place) && skb_is_gso(skb) &&
	    !hop_device_is_veth(qdisc_dev(sch)))
		return scsig_queue_segments(skb, sch, to_free);
	return hop_child_enqueue(skb, sch, to_free);
}

static int scsig_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct csig_place place = { .offset_bytes = CSIG_FIRST_TAG_BYTES };
	u32 type;

	if (q->has_ring)
		hop_port_look_stopped(&q->ring, sch, skb);
	place.form = scsig_packet_glance(skb, &q->set.tpids);
	if (!place.form)
		return hop_child_enqueue(skb, sch, to_free);
	if (place.form == CSIG_FORMS || scsig_packet_is_second_form(skb, &place))
		return scsig_enqueue_any(skb, sch, to_free);
	type = csig_read(place.form, skb->data + CSIG_FIRST_TAG_BYTES + CSIG_TPID_BYTES).type;
	if (!scsig_has(&q->set, type))
		return scsig_enqueue_any(skb, sch, to_free);
	scsig_count(q, place.form, scsig_pkts(skb));
	/* The tag asks for the packet's delay in this port. */
	if (type == CSIG_PD)
		hop_arrival_note(skb, sch, HOP_MARK_CSIG);
	return hop_child_enqueue(skb, sch, to_free);
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
			     qdisc_dev(q->sch)->name, q->set.port.capacity_bytes_ps,
			     drain->rate_bytes_ps);
}

/*
 * Measure the rate of the port, over half an interval at least: ewma is updated more often. @vars:
 * the port's variables. Context: for a port of several queues, its lock held
 */
static void scsig_measure_port(struct scsig_sched_data *q, struct scsig_port_vars *vars, u64 now_ns)
{
	const struct hop_drain_sent sent = {
		.bytes = vars->total_bytes,
		/* All packets that left have arrived, and so have those that wait. */
		.moves = 2ULL * q->departures + q->sch->q.qlen,
		.now_ns = now_ns,
		.waits = q->sch->q.qlen,
	};

	if (q->sent.port)
		lockdep_assert_held(&q->sent.port->lock);
	if (now_ns - q->drain_run.start_ns < scsig_port_t_ns(vars, &q->set.port) / 2)
		return;
	if (hop_drain_look(&vars->drain, &q->drain_run, q->set.port.capacity_bytes_ps, &sent))
		scsig_warn_slow(q, &vars->drain);
	vars->drain_interval_ns = vars->drain.rate_bytes_ps ?
				  scsig_port_interval_ns(vars->drain.rate_bytes_ps) : 0;
}

/*
 * Update the estimate that all queues of the port share. Each of them calls this function once per
 * interval, and the first one ends the interval. Return: true if this queue was the first.
 */
static bool scsig_look_shared(struct scsig_sched_data *q, u64 now_ns)
{
	struct scsig_shared *shared = scsig_shared(q);
	bool ended;

	spin_lock(&shared->port.lock);
	ended = scsig_port_look(&shared->vars, &q->set.port, hop_port_sum(&shared->port), now_ns);
	scsig_measure_port(q, &shared->vars, now_ns);
	q->port = shared->vars;
	spin_unlock(&shared->port.lock);
	return ended;
}

/* Update the estimate of a port by itself. Return: true if an interval ended. */
static bool scsig_look_alone(struct scsig_sched_data *q, u64 now_ns)
{
	const u64 bytes = atomic64_read(&q->sent.sent_bytes);

	if (!scsig_port_look(&q->port, &q->set.port, bytes, now_ns))
		return false;
	scsig_measure_port(q, &q->port, now_ns);
	return true;
}

static noinline void scsig_look(struct scsig_sched_data *q, u64 now_ns)
{
	const bool ended = q->sent.port ? scsig_look_shared(q, now_ns) :
					  scsig_look_alone(q, now_ns);

	q->look_ns = q->port.start_ns + scsig_port_due_ns(&q->port, &q->set.port);
	q->known = 0;
	if (ended)
		trace_csig_interval(q->sch, q->port.used_bytes_ps,
				    scsig_port_available_bytes_ps(&q->port, &q->set.port));
}

static u32 scsig_answer_bit(u32 type, enum csig_form form)
{
	return BIT(type * CSIG_FORMS + form);
}

/* Return: the time that a packet will wait in the driver's ring, ns */
static u64 scsig_ring_wait_ns(struct scsig_sched_data *q, u64 now_ns)
{
	const struct hop_ring_bql bql = hop_port_bql(q->sch, q->set.port.shared);

	return hop_ring_wait_ns(&q->ring, hop_ring_held_bytes(&q->ring, now_ns, &bql));
}

/*
 * Most hops are not the worst, so the value is encoded only if needed. Return: true if the packet
 * waited longer here than its tag reports; @a: result
 */
static bool scsig_answer_delay(struct scsig_sched_data *q, struct sk_buff *skb,
			       enum csig_form form, const struct csig_tag *t, u64 now_ns,
			       struct scsig_answer *a)
{
	const struct scsig_signal *signal = &q->set.signal[CSIG_PD];
	u64 waited_ns = hop_arrival_take(skb, q->sch, HOP_MARK_CSIG, now_ns);

	if (waited_ns == HOP_MARK_UNKNOWN_NS) {
		q->stats.untimed_pkts += scsig_pkts(skb);
		return false;
	}
	if (q->has_ring)
		waited_ns += scsig_ring_wait_ns(q, now_ns);
	if (waited_ns > q->stats.longest_ns)
		q->stats.longest_ns = waited_ns;
	if (waited_ns < csig_high(&signal->scale, form, t->value))
		return false;
	a->measured = waited_ns;
	a->code = csig_encode(&signal->scale, form, waited_ns);
	return true;
}

/* Return: true if the port's value is worse than the tag's; @a: result */
static bool scsig_answer(struct scsig_sched_data *q, struct sk_buff *skb, enum csig_form form,
			 const struct csig_tag *t, u64 now_ns, struct scsig_answer *a)
{
	struct scsig_answer *known;

	if (t->type == CSIG_PD)
		return scsig_answer_delay(q, skb, form, t, now_ns, a);
	known = &q->answer[t->type][form];
	/* The first tag of this type and form since the estimate changed. */
	if (!(q->known & scsig_answer_bit(t->type, form))) {
		known->measured = scsig_port_value(&q->port, &q->set.port, t->type);
		known->code = csig_encode(&q->set.signal[t->type].scale, form, known->measured);
		q->known |= scsig_answer_bit(t->type, form);
	}
	*a = *known;
	return csig_worse(t->type, a->code, t->value);
}

/* Get the port's locator for a tag. Most are constants. */
static u32 scsig_locator(const struct scsig_settings *set, const struct sk_buff *skb, u32 type,
			 enum csig_form form)
{
	const struct tc_csig_layout *layout = &set->signal[type].layout[form];

	return layout->fields ? scsig_compose(layout, set->attrs,
					      scsig_packet_ttl(skb, &set->tpids)) :
				layout->constant;
}

/*
 * Compare the port's value with a tag in the linear part of a packet that leaves. Most hops are not
 * the worst.
 */
static noinline void scsig_update_tag(struct scsig_sched_data *q, struct sk_buff *skb,
				      enum csig_form form, u32 offset_bytes, u64 now_ns)
{
	const u32 data_bytes = offset_bytes + CSIG_TPID_BYTES;
	struct csig_tag t = csig_read(form, skb->data + data_bytes);
	struct scsig_answer a;

	if (!scsig_has(&q->set, t.type) || !scsig_answer(q, skb, form, &t, now_ns, &a))
		return;
	if (!hop_pkt_writable(skb, data_bytes + csig_data_bytes(form))) {
		q->stats.unwritable_pkts += scsig_pkts(skb);
		return;
	}
	t.value = a.code;
	t.locator = scsig_locator(&q->set, skb, t.type, form);
	csig_write(form, skb->data + data_bytes, &t);
	hop_pkt_forget_sum(skb);
	q->stats.updated_pkts[t.type] += scsig_pkts(skb);
	trace_csig_update(q->sch, form, skb->data + data_bytes, a.measured);
}

/* Update a packet that may have a tag anywhere. Bytes that a program may still write are copied. */
static noinline void scsig_update_any(struct scsig_sched_data *q, struct sk_buff *skb, u64 now_ns)
{
	const struct csig_place place = scsig_packet_find(skb, &q->set.tpids);

	if (!place.form || place.fault || !q->set.types)
		return;
	if (skb_headlen(skb) >= scsig_packet_behind_bytes(&place) ||
	    hop_pkt_writable(skb, scsig_packet_behind_bytes(&place)))
		scsig_update_tag(q, skb, place.form, place.offset_bytes, now_ns);
	else
		q->stats.unwritable_pkts += scsig_pkts(skb);
}

static void scsig_give_to_ring(struct scsig_sched_data *q, u64 now_ns, u32 bytes)
{
	const struct hop_ring_bql bql = hop_port_bql(q->sch, q->set.port.shared);

	hop_ring_give(&q->ring, now_ns, bytes, &bql);
}

static struct sk_buff *scsig_dequeue(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_child_dequeue(sch);
	const struct scsig_settings *set = &q->set;
	struct hop_pkt_wire wire;
	enum csig_form form;
	u64 now_ns;

	if (!skb) {
		hop_ring_idle(&q->ring);
		/* If packets are left, the child holds them back: the port may not be slow. */
		hop_drain_stop(&q->drain_run);
		return NULL;
	}
	now_ns = ktime_get_ns();
	if ((s64)(now_ns - q->look_ns) >= 0)
		scsig_look(q, now_ns);
	form = scsig_packet_glance(skb, &set->tpids);
	if (form == CSIG_FORMS)
		scsig_update_any(q, skb, now_ns);
	else if (form)
		scsig_update_tag(q, skb, form, CSIG_FIRST_TAG_BYTES, now_ns);
	wire = hop_pkt_wire(skb, set->value[TCA_CSIG_OVERHEAD]);
	hop_port_count(&q->sent, wire.bytes);
	q->departures++;
	hop_drain_depart(&q->drain_run, sch->q.qlen);
	if (q->has_ring)
		scsig_give_to_ring(q, now_ns, wire.bytes);
	return skb;
}

/* The settings or the estimate have changed. */
static void scsig_look_soon(struct scsig_sched_data *q)
{
	q->look_ns = 0;
	q->known = 0;
}

/* The counters in @stats survive a reset, as when the device goes down. */
static void scsig_reset(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	hop_child_reset(sch);
	memset(&q->port, 0, sizeof(q->port));
	hop_drain_stop(&q->drain_run);
	scsig_look_soon(q);
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

/* Is it an EtherType by which frames without a tag are recognised? */
static bool scsig_is_taken(u16 tpid)
{
	return csig_is_vlan(tpid) || tpid == ETH_P_IP || tpid == ETH_P_IPV6;
}

/* Check the conditions that involve more than one option. */
static int scsig_check(const struct scsig_settings *set, struct nlattr **tb,
		       struct netlink_ext_ack *extack)
{
	if (set->tpids.tpid[CSIG_COMPACT] == set->tpids.tpid[CSIG_EXPANDED])
		return hop_nla_refuse(extack, tb[TCA_CSIG_TPID_COMPACT],
				      "tpid_compact and tpid_expanded must differ");
	if (scsig_is_taken(set->tpids.tpid[CSIG_COMPACT]) ||
	    scsig_is_taken(set->tpids.tpid[CSIG_EXPANDED]))
		return hop_nla_refuse(extack, tb[TCA_CSIG_TPID_COMPACT],
				      "a tpid must not be that of a VLAN tag, IPv4 or IPv6");
	return scsig_check_layouts(set, tb, extack);
}

/* The interval follows the rate unless tc set it. The options contain a copy, for dumps. */
static void scsig_set_interval(struct scsig_settings *set, u64 rate_bytes_ps)
{
	if (!set->has_interval)
		set->value[TCA_CSIG_INTERVAL] = scsig_port_interval_ns(rate_bytes_ps);
	set->port.interval_ns = set->value[TCA_CSIG_INTERVAL];
}

static void scsig_set_rate(struct scsig_settings *set, u64 rate_bytes_ps)
{
	u32 rest, mbit_ps = div_u64_rem(rate_bytes_ps, 125000, &rest);

	set->port.capacity_bytes_ps = rate_bytes_ps;
	set->attrs[TC_CSIG_WHAT_CAPACITY] = rest ? 0 : int_speed_code(mbit_ps);
}

static u32 scsig_types(const struct scsig_settings *set)
{
	u32 type, types = 0;

	if (set->value[TCA_CSIG_MODE] != TC_CSIG_MODE_UPDATE)
		return 0;
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
	set->types = scsig_types(set);
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
	scsig_port_forget_drain(&q->port);
	if (!q->sent.port)
		return;
	spin_lock_bh(&q->sent.port->lock);
	scsig_port_forget_drain(&scsig_shared(q)->vars);
	spin_unlock_bh(&q->sent.port->lock);
}

/* Context: tree lock held. */
static void scsig_use(struct scsig_sched_data *q, const struct scsig_settings *set,
		      struct hop_port *port)
{
	hop_assert_qdisc_lock(q->sch);
	if (port != q->sent.port || !scsig_measures_alike(&q->set, set))
		memset(&q->port, 0, sizeof(q->port));
	hop_port_use(&q->sent, port);
	if (q->set.port.capacity_bytes_ps &&
	    q->set.port.capacity_bytes_ps != set->port.capacity_bytes_ps)
		scsig_forget_drain(q);
	q->set = *set;
	/* The overhead may have changed. */
	hop_drain_stop(&q->drain_run);
	q->has_ring = hop_port_has_ring(q->sch);
	hop_ring_set_rate(&q->ring, set->port.capacity_bytes_ps);
	scsig_look_soon(q);
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
	return scsig_check(set, tb, extack);
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
	set->port.shared = hop_port_is_of_queue(sch);
	if (!set->port.shared)
		return 0;
	*port = hop_port_get(sch, scsig_port_key(set), sizeof(struct scsig_shared));
	return *port ? 0 : -ENOMEM;
}

static int scsig_configure(struct Qdisc *sch, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct scsig_settings *set = kmemdup(&q->set, sizeof(*set), GFP_KERNEL);
	struct hop_port *port = NULL;
	u32 limit_bytes = 0;
	int err;

	if (!set)
		return -ENOMEM;
	err = scsig_prepare(sch, set, tb, &limit_bytes, extack);
	if (!err)
		err = scsig_find_port(sch, set, &port);
	if (!err)
		err = hop_limit_set(sch, limit_bytes);
	if (err) {
		hop_port_put(port);
	} else {
		sch_tree_lock(sch);
		scsig_use(q, set, port);
		sch_tree_unlock(sch);
	}
	kfree(set);
	return err;
}

static int scsig_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_CSIG_MAX + 1];
	int err = hop_nla_parse(tb, TCA_CSIG_MAX, opt, scsig_policy, extack);

	return err ?: scsig_configure(sch, tb, extack);
}

/* The speed of the port's device may have changed. Context: RTNL. */
static void scsig_follow_speed(struct Qdisc *sch, u64 rate_bytes_ps)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	ASSERT_RTNL();
	if (q->set.rate_bytes_ps != TC_CSIG_RATE_AUTO)
		return;
	if (rate_bytes_ps != q->set.port.capacity_bytes_ps) {
		scsig_forget_drain(q);
		hop_drain_stop(&q->drain_run);
	}
	scsig_set_rate(&q->set, rate_bytes_ps);
	hop_ring_set_rate(&q->ring, rate_bytes_ps);
	/* The current interval gets the new length. */
	scsig_set_interval(&q->set, rate_bytes_ps);
	scsig_look_soon(q);
}

static void scsig_signal_defaults(struct scsig_signal *signal, u32 quantum, u32 base)
{
	signal->on = true;
	signal->scale.quantum = quantum;
	signal->scale.edges = TC_CSIG_EDGES_MAX;
	tc_csig_pow2(signal->scale.edge, base);
}

static void scsig_defaults(struct scsig_settings *set)
{
	hop_nla_defaults(set->value, scsig_options_u32, TCA_CSIG_MAX);
	scsig_signal_defaults(&set->signal[CSIG_ABW], TC_CSIG_QUANTUM_DEFAULT_KBIT_PS,
			      TC_CSIG_POW2_DEFAULT_KBIT_PS);
	scsig_signal_defaults(&set->signal[CSIG_ABW_C], TC_CSIG_QUANTUM_DEFAULT_PPM,
			      TC_CSIG_POW2_DEFAULT_PPM);
	scsig_signal_defaults(&set->signal[CSIG_PD], TC_CSIG_QUANTUM_DEFAULT_NS,
			      TC_CSIG_POW2_DEFAULT_NS);
}

static int scsig_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	const struct net_device *dev = qdisc_dev(sch);
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct nlattr *none[TCA_CSIG_MAX + 1] = {};
	int err;

	hop_child_prepare(sch);
	q->sch = sch;
	q->sent.sch = sch;
	if (dev->type != ARPHRD_ETHER && dev->type != ARPHRD_LOOPBACK)
		return hop_nla_refuse(extack, NULL, "the device has no Ethernet frames: no tags");
	scsig_defaults(&q->set);
	err = hop_child_init(sch, 0, extack);
	if (!err)
		err = opt ? scsig_change(sch, opt, extack) : scsig_configure(sch, none, extack);
	if (!err)
		hop_speed_watch(&q->speed, sch, scsig_follow_speed);
	return err;
}

static void scsig_destroy(struct Qdisc *sch)
{
	struct scsig_sched_data *q = qdisc_priv(sch);

	hop_speed_unwatch(&q->speed);
	hop_port_use(&q->sent, NULL);
	hop_child_destroy(sch);
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
	const struct scsig_settings *set = &q->set;
	int type, err = nla_put_u64_64bit(skb, TCA_CSIG_RATE, set->rate_bytes_ps, TCA_CSIG_PAD);

	if (!err)
		err = hop_nla_put_options(skb, set->value, scsig_options_u32, TCA_CSIG_MAX);
	for (type = 0; type < CSIG_TYPES && !err; type++)
		err = scsig_dump_signal(skb, &set->signal[type], TCA_CSIG_SIGNAL_ABW + type);
	return err ?: hop_limit_put(skb, sch, TCA_CSIG_LIMIT);
}

/* RTNL excludes a concurrent change(). */
static int scsig_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return hop_nla_dump(sch, skb, scsig_put);
}

/* Compute the estimate that the next tag would get. Context: tree lock held. */
static struct scsig_port_vars scsig_estimate_now(struct scsig_sched_data *q)
{
	struct scsig_port_vars now = q->port;
	u64 bytes = atomic64_read(&q->sent.sent_bytes);

	hop_assert_qdisc_lock(q->sch);
	if (q->sent.port) {
		spin_lock_bh(&q->sent.port->lock);
		now = scsig_shared(q)->vars;
		bytes = hop_port_sum(q->sent.port);
		spin_unlock_bh(&q->sent.port->lock);
	}
	scsig_port_look(&now, &q->set.port, bytes, ktime_get_ns());
	return now;
}

static int scsig_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct scsig_sched_data *q = qdisc_priv(sch);
	struct scsig_port_vars now;
	struct tc_csig_xstats st;

	/* The lock makes the numbers consistent, and prevents torn counters on 32-bit machines. */
	sch_tree_lock(sch);
	st = q->stats;
	now = scsig_estimate_now(q);
	st.available_bytes_ps = scsig_port_available_bytes_ps(&now, &q->set.port);
	st.rate_bytes_ps = q->set.port.capacity_bytes_ps;
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
