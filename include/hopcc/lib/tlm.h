/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts of telemetry that switches of other vendors write, as data, and the reduced record that
 * a layout yields from the metadata of a hop.
 *
 * A layout names for each field its position, width and scale: value = raw * mul >> shift, in the
 * unit of enum tlm_field_id. Positions are relative to an element, which is a bit of IOAM's trace
 * type or of INT's instruction bitmap, so that one layout serves all types that have its elements.
 * In IFA the metadata of a hop is one element.
 *
 * A layout applies to a hop if all of these match: the format; the space (IFA: GNS, IOAM: namespace
 * ID, INT: domain ID); all bits of @type are set in the packet's type; and the first word of the
 * hop's metadata, under a mask: it has LNS and device ID in IFA, the node ID in IOAM and INT. The
 * first layout of a table that matches is used, so the more specific ones go first.
 *
 * A record says what is missing or implausible. A value that is implausible counts as missing.
 */
#ifndef HOPCC_LIB_TLM_H
#define HOPCC_LIB_TLM_H

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/wire/int.h>

/* Maximum number of hops whose records are used, as many as with our own records. */
#define TLM_HOPS_MAX		15U
#define TLM_ELEMENTS_MAX	24U
#define TLM_SPEEDS		16U
#define TLM_MBIT_MAX		1600000U
/* A field has at most as many bits, and so has its scaled value, with some to spare. */
#define TLM_WIDTH_MAX		56U
#define TLM_VALUE_BITS		62U
#define TLM_SHIFT_MAX		32U
#define TLM_SECONDS_WIDTH_MAX	32U
#define TLM_SPEED_CODE_WIDTH	4U
#define TLM_NS_PER_S		1000000000U
/* Utilisation in 2^-20, and the largest plausible value, 1.25. */
#define TLM_UTIL_SHIFT		20
#define TLM_UTIL_MAX		1310720U
#define TLM_QUEUE_MAX_BYTES	0x7fffffffU

/**
 * enum tlm_format - formats of telemetry
 * @TLM_IFA: IFA 2.0
 * @TLM_IOAM: IOAM pre-allocated trace
 * @TLM_INT_MD: INT-MD 2.1
 * @TLM_FORMATS: number of formats
 */
enum tlm_format {
	TLM_IFA,
	TLM_IOAM,
	TLM_INT_MD,
	TLM_FORMATS,
};

/**
 * enum tlm_field_id - fields of a hop, and the units of their scaled values
 * @TLM_QUEUE: queue length, bytes
 * @TLM_TX: counter of sent bytes
 * @TLM_UTIL: utilisation of the egress port, 2^-20
 * @TLM_SECONDS: seconds of the timestamp
 * @TLM_NS: the fraction of a second if there is TLM_SECONDS, otherwise the timestamp, ns
 * @TLM_RESIDENCE: time between arrival and departure, ns
 * @TLM_SPEED: with tlm_layout.code, index of the table of speeds; otherwise Mbit/s
 * @TLM_NODE: ID of the node
 * @TLM_PORT: ID of the egress port
 * @TLM_FIELDS: number of fields
 */
enum tlm_field_id {
	TLM_QUEUE,
	TLM_TX,
	TLM_UTIL,
	TLM_SECONDS,
	TLM_NS,
	TLM_RESIDENCE,
	TLM_SPEED,
	TLM_NODE,
	TLM_PORT,
	TLM_FIELDS,
};

#define TLM_HAS(field)	(1U << (field))

/**
 * struct tlm_field - position and scale of a field
 * @element: number of the element; 0 in IFA
 * @width: number of bits; 0: the format does not have the field
 * @shift: log2 of the divisor of the scale
 * @bit: position of the most significant bit in the element
 * @mul: factor of the scale
 * @ones_missing: all ones mean that the value is not available
 */
struct tlm_field {
	u8 element;
	u8 width;
	u8 shift;
	u16 bit;
	u32 mul;
	bool ones_missing;
};

/**
 * struct tlm_layout - layout of the metadata of a kind of hop; written by an administrator
 * @format: enum tlm_format
 * @node_words: IFA: length of the metadata, words; 0 otherwise, since the type determines it
 * @space: GNS, namespace ID or domain ID
 * @space_mask: bits of @space that must match; 0: any
 * @type: bits that the packet's type must have; 0 in IFA
 * @device: value of the first word of the metadata
 * @device_mask: bits of @device that must match; 0: any
 * @field: the fields
 * @code: the field of the speed is an index of @speed_mbit
 * @speed_mbit: speeds by code, Mbit/s; 0: not known
 * @mbit_ps: speed of a port if neither a field nor a table has it, Mbit/s; 0: not known
 * @ts_res_ns: resolution of the timestamp, ns, at least 1
 * @tx_refresh_ns: interval at which the switch updates the counter, ns; 0: for each packet
 * @util_window_ns: interval over which the switch averages the utilisation, ns; 0: not known
 * @residence_reduce: a residence time from 10^9 ns up is reduced by 10^9 once; otherwise it is
 *	implausible
 * @egress_time: the residence time is added to the timestamp
 */
struct tlm_layout {
	u8 format;
	u8 node_words;
	u32 space;
	u32 space_mask;
	u32 type;
	u32 device;
	u32 device_mask;
	struct tlm_field field[TLM_FIELDS];
	bool code;
	u32 speed_mbit[TLM_SPEEDS];
	u32 mbit_ps;
	u32 ts_res_ns;
	u32 tx_refresh_ns;
	u32 util_window_ns;
	bool residence_reduce;
	bool egress_time;
};

/**
 * struct tlm_port - speed of a port that the telemetry does not report
 * @node_id: ID of the node
 * @port_id: ID of the egress port
 * @mbit_ps: Mbit/s
 */
struct tlm_port {
	u32 node_id;
	u32 port_id;
	u32 mbit_ps;
};

/**
 * struct tlm_table - configuration of a network namespace
 * @layout: layouts, the more specific ones first
 * @port: speeds of ports, in ascending order of node and port
 * @layouts: number of layouts
 * @ports: number of ports
 * @schema: IOAM: schema ID of opaque state that is one of our own records; 0: none
 */
struct tlm_table {
	const struct tlm_layout *layout;
	const struct tlm_port *port;
	u32 layouts;
	u32 ports;
	u32 schema;
};

/* Implausible values of a record; they count as missing. */
#define TLM_BAD_RESIDENCE	0x01U	/* 10^9 ns or more */
#define TLM_BAD_CLOCK		0x02U	/* a fraction of 10^9 ns or more */
#define TLM_BAD_UTIL		0x04U	/* more than TLM_UTIL_MAX */
#define TLM_BAD_QUEUE		0x08U	/* more than the port sends in a second, or 2^31 bytes */
#define TLM_BAD_SPEED		0x10U	/* neither reported, nor by a code, nor configured */
#define TLM_BAD_LAYOUT		0x20U	/* no layout matches */

/**
 * struct tlm_record - reduced record of a hop
 * @ts_ns: timestamp of the hop's clock
 * @ts_period_ns: the timestamp wraps at this value; 0: 2^64
 * @tx_bytes: counter of sent bytes
 * @tx_period_bytes: the counter wraps at this value; 0: 2^64
 * @queue_bytes: length of the queue
 * @util: utilisation, 2^-20
 * @mbit_ps: speed of the port, Mbit/s; 0: not known
 * @node_id: ID of the node; 0 if not known
 * @port_id: ID of the egress port; 0 if not known
 * @residence_ns: time between arrival and departure
 * @ts_res_ns: resolution of the timestamp
 * @tx_refresh_ns: interval at which the counter is updated
 * @util_window_ns: interval over which the utilisation is averaged
 * @has: TLM_HAS() of the fields that are present and plausible; TLM_NS is the whole timestamp,
 *	TLM_SPEED any source of the speed
 * @bad: TLM_BAD_*
 */
struct tlm_record {
	u64 ts_ns;
	u64 ts_period_ns;
	u64 tx_bytes;
	u64 tx_period_bytes;
	u32 queue_bytes;
	u32 util;
	u32 mbit_ps;
	u32 node_id;
	u32 port_id;
	u32 residence_ns;
	u32 ts_res_ns;
	u32 tx_refresh_ns;
	u32 util_window_ns;
	u16 has;
	u16 bad;
};

/**
 * enum tlm_fault - reasons why a layout is refused
 * @TLM_OK: the layout is valid
 * @TLM_INVALID_FORMAT: unknown format
 * @TLM_INVALID_SPACE: the space has bits outside of its mask, or more than its field
 * @TLM_INVALID_TYPE: undefined bits of the type, or a type in IFA
 * @TLM_INVALID_DEVICE: the device has bits outside of its mask
 * @TLM_INVALID_WORDS: no length of the metadata in IFA, or a length in another format
 * @TLM_INVALID_FIELD: a field is not within an element, or its element is not required by the type
 * @TLM_INVALID_WIDTH: a field is too wide
 * @TLM_INVALID_SCALE: a factor is 0, or a scaled value has too many bits or wraps at a fraction
 * @TLM_INVALID_TIME: seconds without a fraction, or no resolution
 * @TLM_INVALID_MBIT: a speed above TLM_MBIT_MAX
 * @TLM_INVALID_PERIOD: an interval of more than a second
 * @TLM_INVALID_EMPTY: neither queue, counter nor utilisation
 * @TLM_INVALID_ORDER: the ports of a table are not in ascending order
 * @TLM_FAULTS: number of values
 */
enum tlm_fault {
	TLM_OK,
	TLM_INVALID_FORMAT,
	TLM_INVALID_SPACE,
	TLM_INVALID_TYPE,
	TLM_INVALID_DEVICE,
	TLM_INVALID_WORDS,
	TLM_INVALID_FIELD,
	TLM_INVALID_WIDTH,
	TLM_INVALID_SCALE,
	TLM_INVALID_TIME,
	TLM_INVALID_MBIT,
	TLM_INVALID_PERIOD,
	TLM_INVALID_EMPTY,
	TLM_INVALID_ORDER,
	TLM_FAULTS,
};

/**
 * tlm_get_bits() - read a field
 * @data: the data; need not be aligned
 * @bit: position of the field's most significant bit
 * @width: 1 to TLM_WIDTH_MAX
 *
 * Return: the value. Only the bytes that have bits of the field are read, at most eight.
 */
static inline u64 tlm_get_bits(const u8 *data, u32 bit, u32 width)
{
	const u32 end = bit + width;
	u32 i = bit / 8;
	u64 value;

	value = data[i] & 0xff >> bit % 8;
	for (i++; i * 8 < end; i++)
		value = value << 8 | data[i];
	return value >> (i * 8 - end);
}

/* Value of a field that the element at @data has. */
static inline u64 tlm_scale(const struct tlm_field *f, u64 raw)
{
	return mul_u64_u32_shr(raw, f->mul, f->shift);
}

/* The value at which a scaled counter wraps, exact: tlm_check_field() demands that. */
static inline u64 tlm_period(const struct tlm_field *f)
{
	return (u64)f->mul << (f->width - f->shift);
}

/**
 * struct tlm_stack - metadata of a packet, in any format
 * @format: enum tlm_format
 * @space: GNS, namespace ID or domain ID
 * @type: trace type or instruction bitmap; 0 in IFA
 * @node_bytes: length of a hop's metadata without opaque state; 0 in IFA: the layout has it
 * @opaque: opaque state with its own length follows the metadata of each hop (IOAM)
 * @full: a hop had no room for its metadata
 * @max_bytes: most that all metadata may have, where a hop without room leaves no trace (IFA); 0:
 *	@full says it
 * @element_at: positions of the elements in a hop's metadata, bytes
 * @data: the newest metadata
 * @bytes: length of all metadata
 */
struct tlm_stack {
	u8 format;
	u8 node_bytes;
	bool opaque;
	bool full;
	u32 max_bytes;
	u32 space;
	u32 type;
	u8 element_at[TLM_ELEMENTS_MAX];
	const u8 *data;
	u32 bytes;
};

/**
 * struct tlm_path - records of a packet
 * @hops: number of hops that wrote metadata
 * @records: number of valid entries of @record, up to TLM_HOPS_MAX
 * @path_id: hash of all hops' nodes and ports, 12 bits
 * @full: a hop had no room, or may have had none, or there are more than TLM_HOPS_MAX
 * @bad: TLM_BAD_* of all records
 * @record: the records, that of the first hop first
 */
struct tlm_path {
	u8 hops;
	u8 records;
	u16 path_id;
	bool full;
	u16 bad;
	struct tlm_record record[TLM_HOPS_MAX];
};

/* Reads a scaled field into @value. Return: false if the hop does not have it. */
static inline bool tlm_read(const struct tlm_layout *l, enum tlm_field_id id, const u8 *node,
			    const u8 *element_at, u64 *value)
{
	const struct tlm_field *f = &l->field[id];
	u64 raw;

	if (!f->width)
		return false;
	raw = tlm_get_bits(node + element_at[f->element], f->bit, f->width);
	*value = tlm_scale(f, raw);
	return !f->ones_missing || raw != (1ULL << f->width) - 1;
}

/* A 32-bit value, saturated. */
static inline void tlm_read_u32(struct tlm_record *r, u32 *to, const struct tlm_layout *l,
				enum tlm_field_id id, const u8 *node, const u8 *element_at)
{
	u64 value;

	if (!tlm_read(l, id, node, element_at, &value))
		return;
	*to = min_t(u64, value, U32_MAX);
	r->has |= TLM_HAS(id);
}

/* Marks a value as implausible; it counts as missing. */
static inline void tlm_reject(struct tlm_record *r, enum tlm_field_id id, u16 bad)
{
	r->has &= ~TLM_HAS(id);
	r->bad |= bad;
}

/**
 * tlm_port_mbit() - find the configured speed of a port
 * @t: table
 * @node_id: ID of the node
 * @port_id: ID of the egress port
 *
 * Return: Mbit/s; 0 if it is not configured.
 */
static inline u32 tlm_port_mbit(const struct tlm_table *t, u32 node_id, u32 port_id)
{
	const u64 key = (u64)node_id << 32 | port_id;
	u32 lo = 0, hi = t->ports;

	while (lo < hi) {
		const u32 at = lo + (hi - lo) / 2;
		const u64 found = (u64)t->port[at].node_id << 32 | t->port[at].port_id;

		if (found == key)
			return t->port[at].mbit_ps;
		if (found < key)
			lo = at + 1;
		else
			hi = at;
	}
	return 0;
}

/* Speed of the port: as configured for it, as the hop reports it, or as configured for all. */
static inline void tlm_read_speed(struct tlm_record *r, const struct tlm_table *t,
				  const struct tlm_layout *l, const u8 *node, const u8 *element_at)
{
	u64 value = 0;
	bool reported = tlm_read(l, TLM_SPEED, node, element_at, &value);

	if (reported && l->code)
		value = l->speed_mbit[value & (TLM_SPEEDS - 1)];
	if (value > TLM_MBIT_MAX)
		value = 0;
	if (t->ports && r->has & TLM_HAS(TLM_PORT))
		r->mbit_ps = tlm_port_mbit(t, r->node_id, r->port_id);
	if (!r->mbit_ps)
		r->mbit_ps = value ? value : l->mbit_ps;
	if (r->mbit_ps)
		r->has |= TLM_HAS(TLM_SPEED);
	else
		r->bad |= TLM_BAD_SPEED;
}

static inline void tlm_read_residence(struct tlm_record *r, const struct tlm_layout *l,
				      const u8 *node, const u8 *element_at)
{
	tlm_read_u32(r, &r->residence_ns, l, TLM_RESIDENCE, node, element_at);
	if (r->residence_ns >= TLM_NS_PER_S && l->residence_reduce)
		r->residence_ns -= TLM_NS_PER_S;
	if (r->residence_ns >= TLM_NS_PER_S)
		tlm_reject(r, TLM_RESIDENCE, TLM_BAD_RESIDENCE);
}

/* The timestamp; TLM_HAS(TLM_NS) is set if all its parts are there. */
static inline void tlm_read_time(struct tlm_record *r, const struct tlm_layout *l, const u8 *node,
				 const u8 *element_at)
{
	u64 seconds;

	if (!tlm_read(l, TLM_NS, node, element_at, &r->ts_ns))
		return;
	r->has |= TLM_HAS(TLM_NS);
	r->ts_res_ns = l->ts_res_ns;
	r->ts_period_ns = tlm_period(&l->field[TLM_NS]);
	if (l->field[TLM_SECONDS].width) {
		if (!tlm_read(l, TLM_SECONDS, node, element_at, &seconds))
			r->has &= ~TLM_HAS(TLM_NS);
		if (r->ts_ns >= TLM_NS_PER_S)
			tlm_reject(r, TLM_NS, TLM_BAD_CLOCK);
		/* 2^32 * 10^9 < 2^62 */
		r->ts_ns += seconds * TLM_NS_PER_S;
		r->ts_period_ns = (u64)TLM_NS_PER_S << l->field[TLM_SECONDS].width;
	}
	if (!l->egress_time || !(r->has & TLM_HAS(TLM_RESIDENCE)))
		return;
	r->ts_ns += r->residence_ns;
	/* A clock of few bits may wrap more than once in a residence time. */
	if (r->ts_ns >= r->ts_period_ns)
		div64_u64_rem(r->ts_ns, r->ts_period_ns, &r->ts_ns);
}

static inline void tlm_read_load(struct tlm_record *r, const struct tlm_layout *l, const u8 *node,
				 const u8 *element_at)
{
	tlm_read_u32(r, &r->queue_bytes, l, TLM_QUEUE, node, element_at);
	/* 125000 bytes a second for each Mbit/s */
	if (r->queue_bytes > TLM_QUEUE_MAX_BYTES ||
	    (r->mbit_ps && r->queue_bytes > r->mbit_ps * 125000ULL))
		tlm_reject(r, TLM_QUEUE, TLM_BAD_QUEUE);
	tlm_read_u32(r, &r->util, l, TLM_UTIL, node, element_at);
	if (r->util > TLM_UTIL_MAX)
		tlm_reject(r, TLM_UTIL, TLM_BAD_UTIL);
	r->util_window_ns = l->util_window_ns;
	if (!tlm_read(l, TLM_TX, node, element_at, &r->tx_bytes))
		return;
	r->has |= TLM_HAS(TLM_TX);
	r->tx_period_bytes = tlm_period(&l->field[TLM_TX]);
	r->tx_refresh_ns = l->tx_refresh_ns;
}

/**
 * tlm_decode() - reduce the metadata of a hop
 * @r: result
 * @t: table, for the speeds of ports
 * @l: layout of the hop, validated
 * @node: the metadata, as long as tlm_node_bytes() says
 * @element_at: positions of the elements
 */
static inline void tlm_decode(struct tlm_record *r, const struct tlm_table *t,
			      const struct tlm_layout *l, const u8 *node, const u8 *element_at)
{
	*r = (struct tlm_record){};
	tlm_read_u32(r, &r->node_id, l, TLM_NODE, node, element_at);
	tlm_read_u32(r, &r->port_id, l, TLM_PORT, node, element_at);
	tlm_read_speed(r, t, l, node, element_at);
	tlm_read_residence(r, l, node, element_at);
	tlm_read_time(r, l, node, element_at);
	tlm_read_load(r, l, node, element_at);
}

/**
 * tlm_find_layout() - find the layout of a hop
 * @t: table
 * @s: the packet's metadata
 * @word: first word of the hop's metadata
 *
 * Return: the first layout that matches, or NULL.
 */
static inline const struct tlm_layout *tlm_find_layout(const struct tlm_table *t,
						       const struct tlm_stack *s, u32 word)
{
	u32 i;

	for (i = 0; i < t->layouts; i++) {
		const struct tlm_layout *l = &t->layout[i];

		if (l->format == s->format && !((l->space ^ s->space) & l->space_mask) &&
		    !(l->type & ~s->type) && !((l->device ^ word) & l->device_mask))
			return l;
	}
	return NULL;
}

/* Length in IFA of the metadata of a hop without a layout: 8 words in all public examples. */
#define TLM_IFA_BYTES_DEFAULT	32U

/*
 * One of our own records, which sch_int has written as the opaque state of an IOAM hop: it replaces
 * what the router wrote when it received the packet.
 */
static inline void tlm_decode_opaque(struct tlm_record *r, const struct tlm_table *t,
				     const u8 *opaque)
{
	struct int_record own;
	__be64 packed;

	if (!t->schema || opaque[0] != INT_RECORD_BYTES / 4 ||
	    tlm_get_bits(opaque, 8, 24) != t->schema)
		return;
	memcpy(&packed, opaque + 4, sizeof(packed));
	own = int_unpack(packed);
	if (!int_speeds[own.speed].mbit_ps)
		return;
	r->mbit_ps = int_speeds[own.speed].mbit_ps;
	r->ts_ns = own.ts_ns;
	r->ts_period_ns = INT_TS_MASK + 1;
	r->ts_res_ns = 1;
	r->tx_bytes = (u64)own.tx_units << int_speeds[own.speed].unit_shift;
	r->tx_period_bytes = (u64)(INT_TX_MASK + 1) << int_speeds[own.speed].unit_shift;
	r->tx_refresh_ns = 0;
	r->queue_bytes = own.qlen_units << int_speeds[own.speed].unit_shift;
	r->has |= TLM_HAS(TLM_SPEED) | TLM_HAS(TLM_NS) | TLM_HAS(TLM_TX) | TLM_HAS(TLM_QUEUE);
	r->bad = 0;
}

/* Length of the next hop's metadata; 0 if the rest is shorter. */
static inline u32 tlm_node_bytes(const struct tlm_stack *s, const struct tlm_layout *l,
				 u32 at_bytes)
{
	const u32 room_bytes = s->bytes - at_bytes;
	u32 bytes = s->node_bytes;

	if (s->format == TLM_IFA)
		bytes = l ? l->node_words * 4U : TLM_IFA_BYTES_DEFAULT;
	if (s->opaque) {
		if (bytes + 4 > room_bytes)
			return 0;
		bytes += 4 + s->data[at_bytes + bytes] * 4U;
	}
	return bytes > room_bytes ? 0 : bytes;
}

/* Adds a hop's node and port to the hash of the path. */
static inline u32 tlm_mix(u32 hash, const struct tlm_record *r)
{
	hash = (hash << 5 | hash >> 27) ^ (r->node_id * 0x9e3779b1U);
	return (hash << 5 | hash >> 27) ^ ((r->port_id + 1) * 0x85ebca6bU);
}

/* The records were collected from the newest hop; reverses their order. */
static inline void tlm_reverse(struct tlm_path *path)
{
	u32 i, j;

	for (i = 0, j = path->records; i + 1 < j; i++) {
		const struct tlm_record first = path->record[i];

		path->record[i] = path->record[--j];
		path->record[j] = first;
	}
}

/* Return: true if a hop may have had no room: less is left than the last one took. */
static inline bool tlm_is_full(const struct tlm_stack *s, u32 last_bytes)
{
	return s->full || (s->max_bytes && s->max_bytes - s->bytes < last_bytes);
}

/**
 * tlm_collect() - reduce the metadata of all hops
 * @path: result
 * @t: table, validated
 * @s: the packet's metadata
 *
 * If there are more than TLM_HOPS_MAX hops, those next to the receiver have records. A hop that no
 * layout fits has an empty record.
 *
 * Return: true if the metadata is a whole number of hops.
 */
static inline bool tlm_collect(struct tlm_path *path, const struct tlm_table *t,
			       const struct tlm_stack *s)
{
	u32 at = 0, hash = 0, bytes = 4;

	path->hops = 0;
	path->records = 0;
	path->bad = 0;
	for (; at < s->bytes && s->bytes - at >= 4; at += bytes) {
		const u8 *node = s->data + at;
		const struct tlm_layout *l = tlm_find_layout(t, s, tlm_get_bits(node, 0, 32));
		struct tlm_record r = { .bad = TLM_BAD_LAYOUT };

		bytes = tlm_node_bytes(s, l, at);
		if (!bytes)
			break;
		if (l)
			tlm_decode(&r, t, l, node, s->element_at);
		if (s->opaque)
			tlm_decode_opaque(&r, t, node + s->node_bytes);
		hash = tlm_mix(hash, &r);
		path->bad |= r.bad;
		path->hops += path->hops < U8_MAX;
		if (path->records < TLM_HOPS_MAX)
			path->record[path->records++] = r;
	}
	path->full = tlm_is_full(s, bytes) || path->hops > TLM_HOPS_MAX;
	path->path_id = (hash ^ hash >> 12 ^ hash >> 24) & 0xfff;
	tlm_reverse(path);
	return at == s->bytes;
}

#endif /* HOPCC_LIB_TLM_H */
