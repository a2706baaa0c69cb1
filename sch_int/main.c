// SPDX-License-Identifier: GPL-2.0
/*
 * sch_int: the INT switch qdisc, which writes the load of its port into the INT header (telemetry).
 * The entry is described in int_hop.h, its position in a packet in int_packet.h.
 *
 * The qdisc has exactly one child qdisc that queues the packets (hop_child). A packet is stamped
 * when it is dequeued. peek() returns the child's packet without stamping it, so that a shaper
 * above this qdisc, which peeks, does not cause a stamp one packet time early.
 *
 * With `sojourn`, the arrival time of a packet is kept in the packet (hop_arrival). Segmentation by
 * a child overwrites it: such a packet reports the backlog instead.
 *
 * The qdiscs of a NIC's transmit queues below mq that have the same port ID form one port
 * (hop_port). With `share`, so do the classes of a device that have the same port ID. txBytes
 * counts for the whole port. With transmit queues, the queue length is that of the whole port, too.
 *
 * On a hardware device, bytes in the driver's ring (hop_ring) count as queued and not as sent: the
 * queue is all that waits in front of the wire, and txBytes is what has left.
 *
 * With `formats`, the qdisc also writes into telemetry of other switches (int_foreign.h).
 */
#include <linux/jhash.h>
#include <linux/module.h>
#include <hopcc/lib/hop_arrival.h>
#include <hopcc/core/hop_child.h>
#include <hopcc/lib/hop_drain.h>
#include <hopcc/lib/hop_limit.h>
#include <hopcc/lib/hop_nla.h>
#include <hopcc/lib/hop_version.h>
#include <hopcc/core/hop_port.h>
#include <hopcc/core/hop_speed.h>
#include <net/pkt_sched.h>
#include "int_foreign.h"
#include "int_hop.h"
#include "int_packet.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Number of elements of sint_config.value */
#define SINT_VALUES	(TCA_INT_BORDER + 1)

/**
 * struct sint_config - the options set by tc, in tc's units; protected by RTNL
 * @rate_bytes_ps: rate of the port; TC_INT_RATE_AUTO: that of the device
 * @speed_bytes_ps: speed in the records; TC_INT_SPEED_AUTO: the rate
 * @value: 32-bit options, indexed by attribute
 */
struct sint_config {
	u64 rate_bytes_ps;
	u64 speed_bytes_ps;
	u32 value[SINT_VALUES];
};

/**
 * struct sint_params - parameters derived from the options; written under the tree lock
 * @hop: parameters of the hop's entry
 * @protocol: IP protocol number of inband packets
 * @foreign: the option formats and what belongs to it
 * @formats_only: write no records of our own
 * @border: the port leads out of the domain: clear what hops have written
 * @rate_bytes_ps: rate of the port or class
 * @full_bytes_ps: rate at which txBytes grows while the port or class is full, not scaled
 * @untimed_q32: speed in the records divided by @rate_bytes_ps, in 2^-INT_SCALE_SHIFT. With
 *	@sojourn, it scales the queue of a packet whose arrival time is lost; 0: unknown
 * @overhead_bytes: bytes that the link adds to each packet
 * @sojourn: compute the queue from the time that a packet waited
 * @timed: note the time at which packets arrive, for @sojourn or @foreign
 * @has_ring: hop_port_has_ring() is true
 * @is_of_queue: the port is shared by transmit queues
 */
struct sint_params {
	struct sint_hop_params hop;
	u8 protocol;
	bool formats_only;
	bool border;
	struct sint_foreign_params foreign;
	u64 rate_bytes_ps;
	u64 full_bytes_ps;
	u64 untimed_q32;
	u32 overhead_bytes;
	bool sojourn;
	bool timed;
	bool has_ring;
	bool is_of_queue;
};

/**
 * struct sint_sched_data - one port, or one class of a port
 * @child: the child qdisc; must be first
 * @config: options set by tc
 * @params: parameters derived from @config
 * @sent: counts bytes sent here and by the port's other queues or classes
 * @ring: the ring below, if the device has one
 * @class: with a guaranteed rate, what the class may send
 * @util: utilisation of the port, for INT-MD
 * @stats: counters for tc
 * @speed: notifies changes of the device's speed; protected by RTNL
 */
struct sint_sched_data {
	struct hop_child child;
	struct sint_config config;
	struct sint_params params;
	struct hop_port_queue sent;
	struct hop_ring ring;
	struct sint_class class;
	struct sint_util util;
	struct tc_int_xstats stats;
	struct hop_speed_watch speed;
};

static int sint_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sint_sched_data *q = qdisc_priv(sch);

	if (q->params.timed)
		hop_arrival_note(skb, sch, HOP_MARK_INT);
	if (q->params.has_ring)
		hop_port_look_stopped(&q->ring, sch, skb);
	return hop_child_enqueue(skb, sch, to_free);
}

/* Return: the queue that the packet leaves behind, in bytes on the link */
static u64 sint_backlog_bytes(const struct Qdisc *sch, const struct sint_params *p)
{
	return sch->qstats.backlog + (u64)sch->q.qlen * p->overhead_bytes;
}

/*
 * Return: with the option sojourn, the bytes that a port of the reported speed can send in
 * @waited_ns; if that is HOP_MARK_UNKNOWN_NS, the backlog in the same measure
 */
static u64 sint_waited_bytes(const struct sint_sched_data *q, u64 waited_ns)
{
	if (waited_ns != HOP_MARK_UNKNOWN_NS)
		return sint_hop_waited_bytes(&q->params.hop, waited_ns);
	return sint_hop_scaled(sint_backlog_bytes(q->sent.sch, &q->params), q->params.untimed_q32);
}

static u64 sint_queue_bytes(struct sint_sched_data *q, struct sk_buff *skb,
			    u32 pkts, u64 now_ns)
{
	u64 waited_ns;

	if (!q->params.sojourn)
		return sint_backlog_bytes(q->sent.sch, &q->params);
	waited_ns = hop_arrival_waited_ns(skb, q->sent.sch, HOP_MARK_INT, now_ns);
	if (waited_ns == HOP_MARK_UNKNOWN_NS)
		q->stats.untimed_pkts += pkts;
	return sint_waited_bytes(q, waited_ns);
}

/*
 * Write one snapshot into one packet. @check: the complete checksum that covers @h; NULL: none.
 *
 * Return: true if there was a slot for the record.
 */
static __always_inline bool sint_write_stamp(struct sint_sched_data *q, struct sk_buff *skb,
					     struct int_hdr *h, __sum16 *check,
					     const struct sint_hop_moment *moment)
{
	const struct int_record record = sint_hop_record(&q->params.hop, moment);
	bool written;
	s64 change;

	written = sint_hop_write(h, &q->params.hop, int_pack(&record), &change);
	if (check)
		sint_correct_check(check, change);
	hop_pkt_forget_sum(skb);
	trace_int_stamp(q->sent.sch, h, &record, written);
	return written;
}

/* Return: bytes sent by the port's other queues or classes */
static u64 sint_others_bytes(struct sint_sched_data *q, u64 now_ns)
{
	hop_port_refresh(&q->sent, now_ns);
	return atomic64_read(&q->sent.others_bytes);
}

/* Return: backlog of the port's other queues; call sint_others_bytes() first */
static u64 sint_others_backlog_bytes(const struct sint_sched_data *q)
{
	if (!q->params.is_of_queue || q->params.sojourn)
		return 0;
	return atomic64_read(&q->sent.others_backlog_bytes) +
	       (u64)(u32)atomic_read(&q->sent.others_backlog_pkts) * q->params.overhead_bytes;
}

/* Return: bytes in the driver's ring, which are queued, and not yet sent */
static u64 sint_ring_bytes(struct sint_sched_data *q, u64 now_ns)
{
	const struct hop_ring_bql bql = hop_port_bql(q->sent.sch, q->params.is_of_queue);

	return hop_ring_held_bytes(&q->ring, now_ns, &bql);
}

/*
 * Add what the qdisc does not see: packets in the driver's ring, and those of the port's other
 * qdiscs. Return: bytes in the ring
 */
static __always_inline u64 sint_look_below(struct sint_sched_data *q,
					   struct sint_hop_moment *moment)
{
	const bool is_class = q->params.hop.least_q40;
	u64 ring_bytes = 0;

	if (q->params.has_ring) {
		ring_bytes = sint_ring_bytes(q, moment->now_ns);
		moment->tx_bytes -= ring_bytes;
		moment->queue_bytes += ring_bytes;
	}
	if (q->sent.port && !is_class) {
		moment->tx_bytes += sint_others_bytes(q, moment->now_ns);
		moment->queue_bytes += sint_others_backlog_bytes(q);
	}
	if (moment->queue_bytes > q->stats.longest_queue_bytes)
		q->stats.longest_queue_bytes = moment->queue_bytes;
	if (q->sent.port && is_class) {
		moment->tx_bytes = sint_class_count(&q->class, &q->params.hop, moment->now_ns,
						    moment->tx_bytes,
						    sint_others_bytes(q, moment->now_ns));
		if (!q->params.sojourn)
			moment->queue_bytes = sint_hop_scaled(moment->queue_bytes,
							      q->class.scale_q32);
	}
	return ring_bytes;
}

/* With `speed`, the record is that of an equally loaded port of that speed. */
static __always_inline void sint_scale(const struct sint_sched_data *q,
				       struct sint_hop_moment *moment)
{
	const u64 scale_q32 = q->params.hop.scale_q32;

	if (!scale_q32)
		return;
	moment->tx_bytes = sint_hop_scaled(moment->tx_bytes, scale_q32);
	moment->queue_bytes = sint_hop_scaled(moment->queue_bytes, scale_q32);
}

/* Write the entry of a port at @moment into a header in memory that is not shared, and count it. */
static __always_inline void sint_stamp_own(struct sint_sched_data *q, struct sk_buff *skb,
					   struct int_hdr *h, __sum16 *check, u32 pkts,
					   struct sint_hop_moment *moment)
{
	const bool is_probe = h->type == INT_TYPE_PROBE;

	sint_look_below(q, moment);
	sint_scale(q, moment);
	if (!sint_write_stamp(q, skb, h, check, moment))
		q->stats.full_pkts += pkts;
	q->stats.stamped_pkts[is_probe ? TC_INT_STAMPED_PROBE : TC_INT_STAMPED_DATA] += pkts;
}

/*
 * Return: the header to be written, anywhere in a packet, which is in memory that is not shared;
 * NULL: there is none, or the counters have the reason
 */
static struct int_hdr *sint_take(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts,
				 struct sint_place *place)
{
	struct int_hdr *h = NULL;
	enum int_fault fault;
	const void *before;
	unsigned int bytes;
	u8 type;

	sint_find(skb, q->params.protocol, q->params.border, place);
	if (place->carrier == INT_CARRIER_NONE)
		return NULL;
	fault = sint_read(skb, place, &type, &bytes);
	if (!fault && type == INT_TYPE_ECHO && !q->params.border) {
		q->stats.echo_pkts += pkts;
		return NULL;
	}
	if (!fault) {
		before = hop_pkt_linear(skb, place->offset_bytes, bytes);
		if (!hop_pkt_writable(skb, place->offset_bytes + bytes)) {
			q->stats.unwritable_pkts += pkts;
			return NULL;
		}
		h = (struct int_hdr *)(skb->data + place->offset_bytes);
		/* A program may write to mapped pages, so validate the copy again. */
		fault = h == before ? INT_OK : int_check(h, bytes);
		if (!fault && h->type != type)
			fault = INT_BAD_TYPE;
	}
	if (fault) {
		q->stats.malformed_pkts[fault - 1] += pkts;
		return NULL;
	}
	return h;
}

/*
 * Stamp a packet with an INT header anywhere in it. @tx_bytes: sent by this qdisc before this
 * packet
 */
static noinline void sint_stamp_any(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts,
				    u64 tx_bytes)
{
	struct sint_hop_moment moment = { .tx_bytes = tx_bytes };
	struct sint_place place = {};
	struct int_hdr *h = sint_take(q, skb, pkts, &place);
	__sum16 *check = NULL;

	if (!h)
		return;
	if (sint_check_stands(skb, &place))
		check = (__sum16 *)(skb->data + place.check_bytes);
	moment.now_ns = ktime_get_ns();
	moment.queue_bytes = sint_queue_bytes(q, skb, pkts, moment.now_ns);
	sint_stamp_own(q, skb, h, check, pkts, &moment);
}

/* At a border, clear what hops have written into a packet, also into an answer (9.1). */
static noinline void sint_clear(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts)
{
	struct sint_place place = {};
	struct int_hdr *h = sint_take(q, skb, pkts, &place);
	unsigned int bytes;
	__wsum before;

	if (!h)
		return;
	bytes = h->words * INT_WORD_BYTES;
	before = csum_partial(h, bytes, 0);
	sint_hop_clear(h);
	if (sint_check_stands(skb, &place))
		csum_replace_by_diff((__sum16 *)(skb->data + place.check_bytes),
				     csum_sub(csum_partial(h, bytes, 0), before));
	hop_pkt_forget_sum(skb);
	q->stats.cleared_pkts += pkts;
}

/*
 * Stamp a packet whose header @h is in its linear part, at the most frequent position. NULL: the
 * header must be searched for. @check: as for sint_write_stamp()
 */
static noinline void sint_stamp_near(struct sint_sched_data *q, struct sk_buff *skb,
				     struct int_hdr *h, __sum16 *check, u32 pkts, u64 tx_bytes)
{
	struct sint_hop_moment moment = { .tx_bytes = tx_bytes };

	/* A cloned skb shares its data with others. */
	if (!h || skb_cloned(skb)) {
		sint_stamp_any(q, skb, pkts, tx_bytes);
		return;
	}
	moment.now_ns = ktime_get_ns();
	moment.queue_bytes = sint_backlog_bytes(q->sent.sch, &q->params);
	sint_stamp_own(q, skb, h, check, pkts, &moment);
}

/* Stamp a packet that departs if it has an INT header, by the fastest applicable function. */
static void sint_stamp(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts, u64 tx_bytes)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));

	if (!ip) {
		if (!sint_lacks(skb, q->params.protocol))
			sint_stamp_any(q, skb, pkts, tx_bytes);
		return;
	}
	if (ip->protocol == IPPROTO_TCP) {
		if (!sint_lacks_tcp(skb, ip))
			sint_stamp_near(q, skb, sint_near_probe(skb, ip),
					&((struct tcphdr *)(ip + 1))->check, pkts, tx_bytes);
	} else if (ip->protocol == q->params.protocol) {
		sint_stamp_near(q, skb, sint_near_inband(skb, ip), NULL, pkts, tx_bytes);
	} else if (ip->protocol == IFA_PROTOCOL) {
		sint_stamp_any(q, skb, pkts, tx_bytes);
	}
}

/*
 * Observe the port for a packet of another format, which has waited @waited_ns or
 * HOP_MARK_UNKNOWN_NS. IFA and the record in IOAM report the port's speed, so their counter and
 * queue are scaled to it; the other fields are as measured.
 */
static void sint_observe(struct sint_sched_data *q, const struct sk_buff *skb,
			 const struct sint_ip *ip, unsigned int format, u64 waited_ns,
			 struct sint_hop_moment *moment, struct sint_node *n)
{
	const u64 ring_bytes = sint_look_below(q, moment);
	struct int_record record;

	*n = (struct sint_node) {
		.now_ns = moment->now_ns,
		.real_ns = ktime_get_real_ns(),
		.waited_ns = (waited_ns != HOP_MARK_UNKNOWN_NS ? waited_ns : 0) +
			     hop_ring_wait_ns(&q->ring, ring_bytes),
		.queue_bytes = moment->queue_bytes,
		.id = q->params.foreign.node_id,
		.mbit_ps = int_speeds[q->params.hop.code].mbit_ps,
		.schema = q->params.foreign.schema,
		.egress = q->params.hop.port_id,
		.ingress = skb->skb_iif,
		.ttl = ip->ttl,
	};
	if (format == TC_INT_FORMAT_INTMD)
		n->util_ppm = sint_util_ppm(&q->util, n->now_ns, moment->tx_bytes,
					    q->params.full_bytes_ps);
	sint_scale(q, moment);
	n->scaled_queue_bytes = moment->queue_bytes;
	n->scaled_tx_bytes = moment->tx_bytes;
	record = sint_hop_record(&q->params.hop, moment);
	n->record = int_pack(&record);
}

static void sint_count_foreign(struct sint_sched_data *q, const struct sk_buff *skb, u32 pkts,
			       unsigned int format, u64 waited_ns)
{
	struct sint_place place = {};

	q->stats.format_pkts[format] += pkts;
	if (!q->params.sojourn || waited_ns != HOP_MARK_UNKNOWN_NS)
		return;
	/* A probe may also have our own header, and is counted for that. */
	if (!q->params.formats_only)
		sint_find(skb, q->params.protocol, false, &place);
	if (place.carrier == INT_CARRIER_NONE)
		q->stats.untimed_pkts += pkts;
}

/* Write this hop's data into a packet with telemetry of another format. */
static void sint_stamp_foreign(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts,
			       u64 tx_bytes)
{
	struct sint_hop_moment moment = { .tx_bytes = tx_bytes };
	const unsigned int before_bytes = skb->len;
	unsigned int format, why;
	struct sint_node node;
	struct sint_ip ip;
	u64 waited_ns;

	if (!sint_ip_read(skb, &ip))
		return;
	format = sint_foreign_format(&ip, &q->params.foreign);
	if (format == TC_INT_FORMATS)
		return;
	ip.mtu_bytes = READ_ONCE(qdisc_dev(q->sent.sch)->mtu);
	moment.now_ns = ktime_get_ns();
	waited_ns = hop_arrival_waited_ns(skb, q->sent.sch, HOP_MARK_INT, moment.now_ns);
	moment.queue_bytes = q->params.sojourn ? sint_waited_bytes(q, waited_ns) :
						 sint_backlog_bytes(q->sent.sch, &q->params);
	sint_observe(q, skb, &ip, format, waited_ns, &moment, &node);
	why = sint_foreign_write(skb, &ip, format, &node);
	if (why == SINT_NO_FORMAT)
		return;
	if (why)
		q->stats.refused_pkts[why - 1] += pkts;
	else
		sint_count_foreign(q, skb, pkts, format, waited_ns);
	hop_port_count(&q->sent, skb->len - before_bytes);
}

/* With the options sojourn or formats, stamp a packet and remove its arrival time. */
static noinline void sint_stamp_timed(struct sint_sched_data *q, struct sk_buff *skb, u32 pkts,
				      u64 tx_bytes)
{
	if (q->params.foreign.formats)
		sint_stamp_foreign(q, skb, pkts, tx_bytes);
	if (!q->params.formats_only && !sint_lacks(skb, q->params.protocol))
		sint_stamp_any(q, skb, pkts, tx_bytes);
	hop_arrival_forget(skb, q->sent.sch, HOP_MARK_INT);
}

/* Count a packet that the driver's ring receives. */
static noinline void sint_give_ring(struct sint_sched_data *q, u32 bytes)
{
	const struct hop_ring_bql bql = hop_port_bql(q->sent.sch, q->params.is_of_queue);

	hop_ring_give(&q->ring, ktime_get_ns(), bytes, &bql);
}

/*
 * A packet changes the state that flows share, txBytes and the ring, only by its size on the wire,
 * which is read before its header, and by the bytes that this hop inserts. The contents of a header
 * affect only that header: sint_hop_write() cannot change the port (selftests/fuzz/int_port.c).
 */
static struct sk_buff *sint_dequeue(struct Qdisc *sch)
{
	struct sint_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_child_dequeue(sch);
	struct hop_pkt_wire wire;
	u64 tx_bytes;

	if (!skb) {
		hop_ring_idle(&q->ring);
		return NULL;
	}
	wire = hop_pkt_wire(skb, q->params.overhead_bytes);
	tx_bytes = hop_port_count(&q->sent, wire.bytes);
	if (q->params.border)
		sint_clear(q, skb, wire.segs_pkts);
	else if (q->params.timed)
		sint_stamp_timed(q, skb, wire.segs_pkts, tx_bytes);
	else
		sint_stamp(q, skb, wire.segs_pkts, tx_bytes);
	if (q->params.has_ring)
		sint_give_ring(q, wire.bytes);
	return skb;
}

#define INT_OPTION HOP_NLA_OPTION

static const struct hop_nla_option sint_options_u32[SINT_VALUES] = {
	[TCA_INT_SWITCH_ID] = INT_OPTION("switch_id", "", 0, 0, TC_INT_SWITCH_ID_MAX),
	[TCA_INT_PORT_ID] = INT_OPTION("port_id", "", TC_INT_PORT_ID_DEFAULT,
				       0, TC_INT_PORT_ID_MAX),
	[TCA_INT_OVERHEAD] = INT_OPTION("overhead", " bytes", TC_INT_OVERHEAD_DEFAULT_BYTES,
					0, TC_INT_OVERHEAD_MAX_BYTES),
	[TCA_INT_SOJOURN] = INT_OPTION("sojourn", "", 0, 0, 1),
	[TCA_INT_SHARE] = INT_OPTION("share", "", 0, 0, 1),
	[TCA_INT_PROTOCOL] = INT_OPTION("protocol", "", TC_INT_PROTOCOL_DEFAULT,
					TC_INT_PROTOCOL_MIN, TC_INT_PROTOCOL_MAX),
};

/* Options of other formats; a dump has them only if there are any. */
static const struct hop_nla_option sint_options_formats[SINT_VALUES] = {
	[TCA_INT_FORMATS] = INT_OPTION("formats", "", TC_INT_FORMATS_DEFAULT,
				       0, TC_INT_FORMATS_MAX),
	[TCA_INT_NODE_ID] = INT_OPTION("node_id", "", TC_INT_NODE_ID_DEFAULT,
				       0, TC_INT_NODE_ID_MAX),
	[TCA_INT_SCHEMA] = INT_OPTION("schema", "", TC_INT_SCHEMA_DEFAULT, 0, TC_INT_SCHEMA_MAX),
	[TCA_INT_DSCP_INTMD] = INT_OPTION("dscp_intmd", "", TC_INT_DSCP_INTMD_DEFAULT,
					  0, TC_INT_DSCP_INTMD_MAX),
	[TCA_INT_FORMATS_ONLY] = INT_OPTION("formats_only", "", 0, 0, 1),
};

/* sint_options_u32 has the ranges: an error message of the policy could not name the option. */
static const struct nla_policy sint_policy[TCA_INT_MAX + 1] = {
	[TCA_INT_SWITCH_ID ... TCA_INT_LIMIT] = { .type = NLA_U32 },
	[TCA_INT_RATE ... TCA_INT_SPEED] = { .type = NLA_U64 },
};

static int sint_parse_speed(u64 *speed_bytes_ps, const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	*speed_bytes_ps = nla_get_u64(attr);
	if (*speed_bytes_ps != TC_INT_SPEED_AUTO && !sint_hop_code(*speed_bytes_ps))
		return hop_nla_refuse(extack, attr,
				      "speed must be one that has a code: 10, 100mbit, 1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800 or 1600gbit");
	return 0;
}

/*
 * Return: true if the records report another speed than the port's rate. With share or sojourn
 * (9.3) the qdisc is a class: the speed is its port's, the rate its own.
 */
static bool sint_must_scale(const struct sint_config *c, u64 rate_bytes_ps)
{
	return c->speed_bytes_ps && c->speed_bytes_ps != rate_bytes_ps &&
	       !c->value[TCA_INT_SHARE] && !c->value[TCA_INT_SOJOURN];
}

static void sint_set_rate(struct sint_params *p, const struct sint_config *c, u64 rate_bytes_ps)
{
	p->rate_bytes_ps = rate_bytes_ps;
	p->hop.code = sint_hop_code(c->speed_bytes_ps ?: rate_bytes_ps);
	p->hop.pace_q40 = sint_hop_pace_q40(c->speed_bytes_ps ?: rate_bytes_ps);
	/* A class with a guaranteed rate on a port that it shares with other classes */
	p->hop.least_q40 = c->value[TCA_INT_SHARE] && c->speed_bytes_ps > rate_bytes_ps ?
		sint_class_least_q40(rate_bytes_ps) : 0;
	p->full_bytes_ps = p->hop.least_q40 ? c->speed_bytes_ps : rate_bytes_ps;
	p->untimed_q32 = p->hop.code && rate_bytes_ps ?
		sint_hop_scale_q32(p->hop.code, rate_bytes_ps) : 0;
	p->hop.scale_q32 = sint_must_scale(c, rate_bytes_ps) ?
		sint_hop_scale_q32(p->hop.code, rate_bytes_ps) : 0;
}

static void sint_set_params(struct sint_params *p, const struct sint_config *c)
{
	p->hop.switch_id = c->value[TCA_INT_SWITCH_ID];
	p->hop.port_id = c->value[TCA_INT_PORT_ID];
	p->protocol = c->value[TCA_INT_PROTOCOL];
	p->foreign.formats = c->value[TCA_INT_FORMATS];
	p->formats_only = c->value[TCA_INT_FORMATS_ONLY];
	p->border = c->value[TCA_INT_BORDER];
	p->foreign.node_id = c->value[TCA_INT_NODE_ID];
	p->foreign.schema = c->value[TCA_INT_SCHEMA];
	p->foreign.dscp_intmd = c->value[TCA_INT_DSCP_INTMD];
	p->overhead_bytes = c->value[TCA_INT_OVERHEAD];
	p->sojourn = c->value[TCA_INT_SOJOURN];
	p->timed = !p->border && (p->sojourn || p->foreign.formats);
}

/*
 * A hop that takes other data for telemetry would damage it, so the options must have all that
 * identifies telemetry.
 */
static int sint_check_formats(const struct sint_config *c, const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	const u32 formats = c->value[TCA_INT_FORMATS], dscp = c->value[TCA_INT_DSCP_INTMD];

	if (!formats && c->value[TCA_INT_FORMATS_ONLY])
		return hop_nla_refuse(extack, attr, "formats_only needs formats");
	if (formats && !c->value[TCA_INT_NODE_ID])
		return hop_nla_refuse(extack, attr, "formats needs node_id, not 0");
	if (formats & 1U << TC_INT_FORMAT_IFA &&
	    c->value[TCA_INT_NODE_ID] > TC_INT_NODE_ID_IFA_MAX)
		return hop_nla_refuse(extack, attr, "formats ifa: node_id must be 1 to "
				      __stringify(TC_INT_NODE_ID_IFA_MAX));
	if (formats & 1U << TC_INT_FORMAT_IFA && c->value[TCA_INT_PROTOCOL] == IFA_PROTOCOL)
		return hop_nla_refuse(extack, attr,
				      "formats ifa has protocol 253: choose another protocol");
	if (formats & 1U << TC_INT_FORMAT_INTMD && dscp > TC_INT_DSCP_MAX)
		return hop_nla_refuse(extack, attr, "formats intmd needs dscp_intmd, 0 to 63");
	return 0;
}

static int sint_resolve_rate(const struct Qdisc *sch, struct sint_params *p,
			     const struct sint_config *c, const struct nlattr *attr,
			     struct netlink_ext_ack *extack)
{
	u64 rate_bytes_ps = c->rate_bytes_ps ?: hop_speed_ask_bytes_ps(qdisc_dev(sch)) ?:
			    c->speed_bytes_ps;

	if (!rate_bytes_ps)
		return hop_nla_refuse(extack, attr,
				      "the device does not tell its speed: say rate, e.g. rate 10gbit");
	sint_set_rate(p, c, rate_bytes_ps);
	if (!p->hop.code)
		return hop_nla_refuse(extack, attr,
				      "no code stands for this rate: say the next speed above, e.g. speed 100mbit for 50mbit");
	return 0;
}

static int sint_configure(struct Qdisc *sch, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	struct sint_sched_data *q = qdisc_priv(sch);
	struct hop_port *port = NULL;
	struct sint_config config = q->config;
	struct sint_params params = {};
	u32 limit_bytes = 0;
	int err;

	err = hop_nla_rate(&config.rate_bytes_ps, tb[TCA_INT_RATE], extack) ?:
	      sint_parse_speed(&config.speed_bytes_ps, tb[TCA_INT_SPEED], extack) ?:
	      hop_nla_options(config.value, sint_options_u32, SINT_VALUES - 1, tb, extack) ?:
	      hop_nla_options(config.value, sint_options_formats, SINT_VALUES - 1, tb, extack) ?:
	      hop_nla_u32(&config.value[TCA_INT_BORDER], 0, 1, tb[TCA_INT_BORDER],
			  "border must be 0 or 1", extack) ?:
	      sint_check_formats(&config, tb[TCA_INT_FORMATS], extack) ?:
	      hop_limit_parse(sch, &limit_bytes, tb[TCA_INT_LIMIT], extack) ?:
	      sint_resolve_rate(sch, &params, &config, tb[TCA_INT_RATE] ?: tb[TCA_INT_SPEED],
				extack);
	if (err)
		return err;
	sint_set_params(&params, &config);
	params.is_of_queue = hop_port_is_of_queue(sch);
	if (config.value[TCA_INT_SHARE] || params.is_of_queue) {
		port = hop_port_get(sch, params.hop.port_id, sizeof(*port));
		if (!port)
			return -ENOMEM;
	}
	/* This must be the last step that can fail. */
	err = hop_limit_set(sch, limit_bytes);
	if (err) {
		hop_port_put(port);
		return err;
	}

	params.has_ring = hop_port_has_ring(sch);
	sch_tree_lock(sch);
	hop_port_use(&q->sent, port);
	q->class.scale_q32 = 0;
	q->config = config;
	q->params = params;
	hop_ring_set_rate(&q->ring, params.rate_bytes_ps);
	sch_tree_unlock(sch);
	return 0;
}

static int sint_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_INT_MAX + 1];
	int err = hop_nla_parse(tb, TCA_INT_MAX, opt, sint_policy, extack);

	return err ?: sint_configure(sch, tb, extack);
}

/*
 * The speed of the port's device may have changed; a speed without a code becomes unknown. Context:
 * RTNL
 */
static void sint_follow_speed(struct Qdisc *sch, u64 rate_bytes_ps)
{
	struct sint_sched_data *q = qdisc_priv(sch);

	ASSERT_RTNL();
	if (q->config.rate_bytes_ps != TC_INT_RATE_AUTO)
		return;
	sint_set_rate(&q->params, &q->config, rate_bytes_ps);
	hop_ring_set_rate(&q->ring, rate_bytes_ps);
}

/* If all switches had the same number, a sender would not notice that the path has changed. */
static u32 sint_default_switch_id(const struct net_device *dev)
{
	return jhash(dev->dev_addr, dev->addr_len, 0) % TC_INT_SWITCH_ID_MAX + 1;
}

static void sint_defaults(struct sint_config *c, const struct net_device *dev)
{
	int i;

	for (i = 0; i < SINT_VALUES; i++)
		c->value[i] = sint_options_u32[i].initial + sint_options_formats[i].initial;
	c->value[TCA_INT_SWITCH_ID] = sint_default_switch_id(dev);
}

static int sint_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct sint_sched_data *q = qdisc_priv(sch);
	struct nlattr *none[TCA_INT_MAX + 1] = {};
	int err;

	hop_child_prepare(sch);
	q->sent.sch = sch;
	q->util.since_ns = ktime_get_ns();
	sint_defaults(&q->config, qdisc_dev(sch));
	err = hop_child_init(sch, 0, extack);
	if (!err)
		err = opt ? sint_change(sch, opt, extack) : sint_configure(sch, none, extack);
	if (!err)
		hop_speed_watch(&q->speed, sch, sint_follow_speed);
	return err;
}

static void sint_destroy(struct Qdisc *sch)
{
	struct sint_sched_data *q = qdisc_priv(sch);

	hop_speed_unwatch(&q->speed);
	hop_port_use(&q->sent, NULL);
	hop_child_destroy(sch);
}

static int sint_put(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct sint_config *c = &((struct sint_sched_data *)qdisc_priv(sch))->config;
	int err = nla_put_u64_64bit(skb, TCA_INT_RATE, c->rate_bytes_ps, TCA_INT_PAD) ?:
		  nla_put_u64_64bit(skb, TCA_INT_SPEED, c->speed_bytes_ps, TCA_INT_PAD) ?:
		  hop_nla_put_options(skb, c->value, sint_options_u32, SINT_VALUES - 1) ?:
		  hop_limit_put(skb, sch, TCA_INT_LIMIT);

	if (!err && c->value[TCA_INT_FORMATS])
		err = hop_nla_put_options(skb, c->value, sint_options_formats, SINT_VALUES - 1);
	if (!err && c->value[TCA_INT_BORDER])
		err = nla_put_u32(skb, TCA_INT_BORDER, 1);
	return err;
}

/* RTNL excludes a concurrent change(). */
static int sint_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return hop_nla_dump(sch, skb, sint_put);
}

static int sint_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct sint_sched_data *q = qdisc_priv(sch);
	struct tc_int_xstats st;

	/* The lock gives a consistent snapshot without torn counters on 32-bit machines. */
	sch_tree_lock(sch);
	st = q->stats;
	st.rate_bytes_ps = q->params.rate_bytes_ps;
	st.speed_bytes_ps = (u64)int_speeds[q->params.hop.code].mbit_ps * INT_BYTES_PER_MBIT;
	st.tx_bytes = hop_port_total_bytes(&q->sent);
	st.qdiscs = hop_port_qdiscs(&q->sent);
	st.formats = q->params.foreign.formats;
	sch_tree_unlock(sch);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops sint_qdisc_ops __read_mostly = {
	.cl_ops		= &hop_child_class_ops,
	.id		= "int",
	.priv_size	= sizeof(struct sint_sched_data),
	.enqueue	= sint_enqueue,
	.dequeue	= sint_dequeue,
	.peek		= hop_child_peek,
	.init		= sint_init,
	/* Counters survive a reset, which also happens when the device goes down. */
	.reset		= hop_child_reset,
	.destroy	= sint_destroy,
	.change		= sint_change,
	.dump		= sint_dump,
	.dump_stats	= sint_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("int");

static_assert(!offsetof(struct sint_sched_data, child));
static_assert(TC_INT_RATE_MIN_BYTES_PS == HOP_DRAIN_RATE_MIN_BYTES_PS);
static_assert(TC_INT_RATE_MAX_BYTES_PS == HOP_DRAIN_RATE_MAX_BYTES_PS);
static_assert(TC_INT_MALFORMED_CAUSES + 1 == INT_FAULTS);
static_assert(TC_INT_PROTOCOL_DEFAULT == INT_PROTOCOL_DEFAULT);
static_assert(TC_INT_SWITCH_ID_MAX == INT_SWITCH_ID_MAX);
static_assert(TC_INT_NODE_ID_MAX == SINT_NODE_MAX);
static_assert(TC_INT_NODE_ID_IFA_MAX == SINT_IFA_NODE_MAX);
static_assert(TC_INT_FORMATS_MAX + 1 == 1 << TC_INT_FORMATS);

module_driver(sint_qdisc_ops, register_qdisc, unregister_qdisc);
MODULE_DESCRIPTION("HPCC++ switch: writes the load of its port into INT headers");
MODULE_VERSION(HOPCC_VERSION);
MODULE_LICENSE("GPL");
