/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entry that a hop writes into the INT header (telemetry), draft-miao-rtgwg-hpccplus-00
 * sections 6.1 and 9.3. The header itself is in hopcc/wire/int.h.
 *
 * When a packet departs:
 *
 *	nHop   = nHop + 1
 *	pathID = pathID xor switch_ID
 *	record = (B, ts, txBytes, qlen) of the egress port
 *
 * ts is the time of departure. txBytes is the number of bytes that the port sent before this
 * packet. qlen is the queue that this packet leaves behind, or (9.3) the time that it spent in the
 * queue times B.
 *
 * Below a scheduler (9.3) the port's load says nothing about a class: other classes may fill the
 * port, and the class still gets its guaranteed rate. A class may send at this rate, or at the rate
 * that the others leave unused, if that is higher. Its bytes are reported scaled, so that a class
 * that sends all that it may looks like a full port.
 *
 * Deviations:
 * - Units, codes, saturation of nHop and qlen: hopcc/wire/int.h.
 * - If the port's rate has no code, the record has the code of another speed. txBytes and qlen are
 *   then multiplied by speed / rate, so that a full port still shows a full link, and a queue still
 *   shows its draining time.
 * - A hop that finds no slot for its record still counts in nHop, but does not write its port ID:
 *   the port ID always belongs to a hop that has a record.
 */
#ifndef HOPCC_SCH_INT_INT_HOP_H
#define HOPCC_SCH_INT_INT_HOP_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/lib/hop_mark.h>
#include <hopcc/wire/int.h>

/* 10^6 / 8 */
#define INT_BYTES_PER_MBIT	125000U
#define INT_NS_PER_S		1000000000U
/*
 * Fixed point of bytes/ns, 2^-40: 200 bytes/ns (1.6 Tbit/s) are 2^48, 1.25e-6 (10 kbit/s) are
 * 1374389.
 */
#define INT_PACE_SHIFT		40
/*
 * Fixed point of speed / rate, 2^-32: 10 Mbit/s / 1.6 Tbit/s are 26843, 1.6 Tbit/s / 10 kbit/s are
 * less than 2^60.
 */
#define INT_SCALE_SHIFT		32

/**
 * struct sint_hop_params - parameters of a port; written by the owner of the struct
 * @code: speed code in the records; 0: unknown
 * @switch_id: switch ID, 0 to INT_SWITCH_ID_MAX
 * @port_id: port ID, 16 bits
 * @pace_q40: speed of @code, or rate of the port if that has none, bytes/ns in 2^-INT_PACE_SHIFT
 * @least_q40: guaranteed rate of the class, bytes/ns in 2^-INT_PACE_SHIFT; 0: the qdisc is not a
 *	class with such a rate
 * @scale_q32: speed of @code over the rate of the port, in 2^-INT_SCALE_SHIFT; 0: they are equal,
 *	or the qdisc is a class of a port
 */
struct sint_hop_params {
	u32 code;
	u32 switch_id;
	u32 port_id;
	u64 pace_q40;
	u64 least_q40;
	u64 scale_q32;
};

/* The load of the other classes is measured while the port could send this much, in 1 s at most. */
#define INT_CLASS_BYTES		BIT(17)
#define INT_CLASS_MAX_NS	BIT_ULL(30)

/**
 * struct sint_class - what a class of a port may send
 * @since_ns: start of the measurement, by the clock of struct sint_hop_moment
 * @own_bytes: bytes that the class had sent when it was last counted
 * @begin_bytes: bytes that the other classes had sent at @since_ns
 * @tx_bytes: bytes that the class has sent, by sint_hop_scaled()
 * @scale_q32: speed of the port over what the class may send, in 2^-INT_SCALE_SHIFT; 0: unknown
 */
struct sint_class {
	u64 since_ns;
	u64 own_bytes;
	u64 begin_bytes;
	u64 tx_bytes;
	u64 scale_q32;
};

/**
 * struct sint_hop_moment - snapshot of the port when a packet departs
 * @now_ns: time from any clock that does not jump
 * @tx_bytes: bytes on the wire sent before this packet; by sint_hop_scaled(), if the port scales
 * @queue_bytes: the queue, in bytes on the wire; by sint_hop_scaled(), if the port scales
 */
struct sint_hop_moment {
	u64 now_ns;
	u64 tx_bytes;
	u64 queue_bytes;
};

/* Return: the code of a rate in bytes/s; 0 if it has none */
u32 sint_hop_code(u64 rate_bytes_ps);

/* Long division in steps of 30, 32 and 8 bits, because rate << 40 would need 78 bits. */
u64 sint_hop_pace_q40(u64 rate_bytes_ps);

/*
 * Return: speed of a code over a rate in bytes/s, which is not 0. The fraction takes two steps,
 * because a rest below 2^38 cannot be shifted by 32.
 */
u64 sint_hop_scale_q32(u32 code, u64 rate_bytes_ps);

/*
 * Return: bytes, scaled to the speed that records report. Only the low 64 bits of the product are
 * used: the result wraps, but far later than the record's counter.
 */
static inline u64 sint_hop_scaled(u64 bytes, u64 scale_q32)
{
	return mul_u64_u64_shr(bytes, scale_q32, INT_SCALE_SHIFT);
}

/*
 * Return: the guaranteed rate of a class, and 1/32 more. HPCC++ leaves 5 % of the reported rate
 * unused to keep the queue empty. A class that waits for other classes anyway would use 95 % of its
 * guarantee. With 1/32 more it uses 98 %, which is still less than the scheduler serves.
 */
static inline u64 sint_class_least_q40(u64 rate_bytes_ps)
{
	return sint_hop_pace_q40(rate_bytes_ps + rate_bytes_ps / 32);
}

/*
 * Return: speed of a port over what a class may send: its guaranteed rate, or what the others have
 * left unused in @spent_ns, if that is more. 2^30 ns * 2^48 >> 40 = 2^38 bytes
 */
u64 sint_class_scale_q32(const struct sint_hop_params *p, u64 spent_ns, u64 others_bytes);

/**
 * sint_class_count() - count what a class has sent
 * @c: the class
 * @p: its parameters, with @least_q40
 * @now_ns: time, by the clock of struct sint_hop_moment
 * @own_bytes: bytes that it has sent
 * @others_bytes: bytes that the port's other classes have sent
 *
 * Return: bytes that it has sent, scaled by the port's speed over the rate that the class may use.
 */
static inline u64 sint_class_count(struct sint_class *c, const struct sint_hop_params *p,
				   u64 now_ns, u64 own_bytes, u64 others_bytes)
{
	const u64 spent_ns = now_ns - c->since_ns;

	/* The options have changed: the class may not have been counted before. */
	if (!c->scale_q32)
		c->own_bytes = own_bytes;
	if (!c->scale_q32 ||
	    mul_u64_u64_shr(spent_ns, p->pace_q40, INT_PACE_SHIFT) >= INT_CLASS_BYTES) {
		c->scale_q32 = sint_class_scale_q32(p, spent_ns, others_bytes - c->begin_bytes);
		c->since_ns = now_ns;
		c->begin_bytes = others_bytes;
	}
	c->tx_bytes += sint_hop_scaled(own_bytes - c->own_bytes, c->scale_q32);
	c->own_bytes = own_bytes;
	return c->tx_bytes;
}

/* Return: bytes that a port sends in the time that a packet waited. 2^40 ns * 2^48 >> 40 = 2^48 */
static inline u64 sint_hop_waited_bytes(const struct sint_hop_params *p, u64 waited_ns)
{
	return mul_u64_u64_shr(min_t(u64, waited_ns, HOP_MARK_TIME_MASK), p->pace_q40,
			       INT_PACE_SHIFT);
}

static inline struct int_record sint_hop_record(const struct sint_hop_params *p,
						const struct sint_hop_moment *m)
{
	const u32 shift = int_speeds[p->code].unit_shift;

	return (struct int_record) {
		.speed = p->code,
		.ts_ns = m->now_ns & INT_TS_MASK,
		.tx_units = m->tx_bytes >> shift & INT_TX_MASK,
		.qlen_units = min_t(u64, m->queue_bytes >> shift, INT_QLEN_MAX),
	};
}

/* 2^16 units * 2^20 ps */
static inline u64 sint_hop_queue_ps(const struct int_record *r)
{
	return (u64)r->qlen_units * int_speeds[r->speed].unit_ps;
}

/*
 * @records: number of records already written. Return: true if this queue is the longest in time;
 * of equal ones, the first counts.
 */
static inline bool sint_hop_is_longest(const struct int_hdr *h, unsigned int records,
				       const struct int_record *r)
{
	unsigned int i;
	u64 queue_ps;

	if (!records)
		return true;
	queue_ps = sint_hop_queue_ps(r);
	for (i = 0; i < records; i++) {
		const struct int_record other = int_unpack(h->record[i]);

		if (queue_ps <= sint_hop_queue_ps(&other))
			return false;
	}
	return true;
}

static inline s64 sint_hop_name_port(struct int_hdr *h, u32 port_id)
{
	__be32 *options = int_options(h);
	const __be32 before = *options;

	*options = (before & ~cpu_to_be32(INT_PORT_MASK)) | cpu_to_be32(port_id << INT_PORT_SHIFT);
	return (s64)(__force u32)*options - (__force u32)before;
}

/* Leave nothing in a header that a hop has written. */
static inline void sint_hop_clear(struct int_hdr *h)
{
	sint_hop_name_port(h, 0);
	memset(h->record, 0, int_slots(h) * INT_RECORD_BYTES);
	h->path &= cpu_to_be32(BIT(INT_PATH_ID_SHIFT) - 1);
}

/* Return: sum of the two words of a record, as in a checksum */
static inline s64 sint_hop_words(__be64 record)
{
	const u64 bits = (__force u64)record;

	return (s64)(bits & U32_MAX) + (s64)(bits >> 32);
}

/**
 * sint_hop_write() - write the complete entry of a hop
 * @h: a header that int_check() passed
 * @p: parameters of the port
 * @packed: record of the port, from int_pack()
 * @change: result: difference of the sum of the header's words in wire order, to correct a checksum
 *	over them; above -2^34 and below 2^34
 *
 * Return: true if there was a slot for the record.
 */
static __always_inline bool sint_hop_write(struct int_hdr *h, const struct sint_hop_params *p,
					   __be64 packed, s64 *change)
{
	const struct int_record r = int_unpack(packed);
	const unsigned int hops = int_hops(h);
	const bool room = hops < int_slots(h);
	const __be32 before = h->path;
	u32 path = be32_to_cpu(before);

	*change = 0;
	if (room) {
		*change = sint_hop_words(packed) - sint_hop_words(h->record[hops]);
		if (sint_hop_is_longest(h, hops, &r))
			*change += sint_hop_name_port(h, p->port_id);
		h->record[hops] = packed;
	}
	if (hops < INT_HOPS_SATURATED)
		path += 1U << INT_HOPS_SHIFT;
	path ^= p->switch_id << INT_PATH_ID_SHIFT;
	h->path = cpu_to_be32(path);
	*change += (s64)(__force u32)h->path - (__force u32)before;
	return room;
}

#endif /* HOPCC_SCH_INT_INT_HOP_H */
