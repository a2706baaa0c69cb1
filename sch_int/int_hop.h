/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hop writes into telemetry, draft-miao-rtgwg-hpccplus-00 sections 6.1 and 9.3.
 * The header itself is in net/int.h.
 *
 * At one moment, when a packet leaves:
 *
 *	nHop   = nHop + 1
 *	pathID = pathID xor switch_ID
 *	record = (B, ts, txBytes, qlen) of the egress port
 *
 * ts is that moment; txBytes is what the port had sent before this packet; qlen is what
 * this packet leaves behind in the queue, or (9.3) its own time in the queue times the
 * rate of its class.
 *
 * Deviations:
 * - Units, codes, saturation of nHop and qlen: net/int.h.
 * - A hop without a place for its record still counts, and names no port: the port ID
 *   is always of a hop that has a record.
 */
#ifndef HOPCC_INT_HOP_H
#define HOPCC_INT_HOP_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <net/hop_mark.h>
#include <net/int.h>

/* 10^6 / 8 */
#define INT_BYTES_PER_MBIT	125000U
#define INT_NS_PER_S		1000000000U
/* Bytes a ns in 2^-40: 200 at 1.6 Tbit/s are 2^48, 1.25e-6 at 10 kbit/s are 1374389. */
#define INT_PACE_SHIFT		40

/**
 * struct int_hop_params - of a port; written by its owner
 * @code: the speed code that records bear; 0: unknown
 * @switch_id: 0 to INT_SWITCH_ID_MAX
 * @port_id: 16 bits
 * @pace_q40: bytes a ns, in 2^-INT_PACE_SHIFT
 */
struct int_hop_params {
	u32 code;
	u32 switch_id;
	u32 port_id;
	u64 pace_q40;
};

/**
 * struct int_hop_moment - the port when a packet leaves
 * @now_ns: any clock that does not jump
 * @tx_bytes: sent before this packet, in bytes on the wire
 * @queue_bytes: the queue, in bytes on the wire
 */
struct int_hop_moment {
	u64 now_ns;
	u64 tx_bytes;
	u64 queue_bytes;
};

/* The code of a rate in bytes/s; 0 for one that has none. */
static inline u32 int_hop_code(u64 rate_bytes_ps)
{
	u32 code;

	for (code = INT_SPEEDS - 1; code; code--)
		if (rate_bytes_ps &&
		    rate_bytes_ps == (u64)int_speeds[code].mbit_ps * INT_BYTES_PER_MBIT)
			break;
	return code;
}

/* rate << 40 would be 2^78: divided as by hand, 30 + 32 + 8 bits. */
static inline u64 int_hop_pace_q40(u64 rate_bytes_ps)
{
	u64 pace_q40;
	u32 rest;

	pace_q40 = div_u64_rem(rate_bytes_ps, INT_NS_PER_S, &rest) << 32;
	pace_q40 += div_u64_rem((u64)rest << 32, INT_NS_PER_S, &rest);
	return (pace_q40 << 8) + div_u64((u64)rest << 8, INT_NS_PER_S);
}

/* What a class sends in the time that a packet waited. 2^40 ns * 2^48 >> 40 = 2^48 */
static inline u64 int_hop_waited_bytes(const struct int_hop_params *p, u64 waited_ns)
{
	return mul_u64_u64_shr(min_t(u64, waited_ns, HOP_MARK_TIME_MASK), p->pace_q40,
			       INT_PACE_SHIFT);
}

static inline struct int_record int_hop_record(const struct int_hop_params *p,
					       const struct int_hop_moment *m)
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
static inline u64 int_hop_queue_ps(const struct int_record *r)
{
	return (u64)r->qlen_units * int_speeds[r->speed].unit_ps;
}

/* Is this the longest queue, in time? Of equals, the first. @records: written before */
static __always_inline bool int_hop_is_longest(const struct int_hdr *h, unsigned int records,
					       const struct int_record *r)
{
	const u64 queue_ps = int_hop_queue_ps(r);
	unsigned int i;

	for (i = 0; i < records; i++) {
		const struct int_record other = int_unpack(h->record[i]);

		if (queue_ps <= int_hop_queue_ps(&other))
			return false;
	}
	return true;
}

static inline s64 int_hop_name_port(struct int_hdr *h, u32 port_id)
{
	__be32 *options = int_options(h);
	const __be32 before = *options;

	*options = (before & ~cpu_to_be32(INT_PORT_MASK)) | cpu_to_be32(port_id << INT_PORT_SHIFT);
	return (s64)(__force u32)*options - (__force u32)before;
}

/* The two words of a record, as a checksum adds them. */
static inline s64 int_hop_words(__be64 record)
{
	const u64 bits = (__force u64)record;

	return (s64)(bits & U32_MAX) + (s64)(bits >> 32);
}

/**
 * int_hop_write() - a hop's whole entry
 * @h: a header that int_check() passed
 * @p: the port
 * @packed: the port's record, result of int_pack()
 * @change: result: what int_hop_write() adds to the sum of the header's words in wire order, for
 *	the checksum that covers them; above -2^34 and below 2^34
 *
 * Return: true if there was a place for the record.
 */
static __always_inline bool int_hop_write(struct int_hdr *h, const struct int_hop_params *p,
					  __be64 packed, s64 *change)
{
	const struct int_record r = int_unpack(packed);
	const unsigned int hops = int_hops(h);
	const bool room = hops < int_slots(h);
	const __be32 before = h->path;
	u32 path = be32_to_cpu(before);

	*change = 0;
	if (room) {
		*change = int_hop_words(packed) - int_hop_words(h->record[hops]);
		if (int_hop_is_longest(h, hops, &r))
			*change += int_hop_name_port(h, p->port_id);
		h->record[hops] = packed;
	}
	if (hops < INT_HOPS_SATURATED)
		path += 1U << INT_HOPS_SHIFT;
	path ^= p->switch_id << INT_PATH_ID_SHIFT;
	h->path = cpu_to_be32(path);
	*change += (s64)(__force u32)h->path - (__force u32)before;
	return room;
}

/**
 * int_hop_stamp() - a hop's whole entry, where no checksum covers it
 * @h: a header that int_check() passed
 * @p: the port
 * @r: the port's record
 *
 * Return: true if there was a place for the record.
 */
static inline bool int_hop_stamp(struct int_hdr *h, const struct int_hop_params *p,
				 const struct int_record *r)
{
	s64 change;

	return int_hop_write(h, p, int_pack(r), &change);
}

#endif /* HOPCC_INT_HOP_H */
