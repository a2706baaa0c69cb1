/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire format of the IOAM pre-allocated trace (RFC 9197) in an IPv6 hop-by-hop option (RFC 9486),
 * as routers with Linux fill it in.
 *
 *	 0                   1                   2                   3
 *	+---------------+---------------+---------------+---------------+
 *	| option 0x31   | length        |   reserved    | IOAM type 0   |
 *	+---------------+---------------+---------+-----+-+-------------+
 *	|         namespace ID          | NodeLen | flags |RemainingLen |
 *	+-------------------------------+---------+-------+-------------+
 *	|               trace type                      |   reserved    |
 *	+-----------------------------------------------+---------------+
 *	|  RemainingLen words that are not used yet                     |
 *	|  data of the newest hop: NodeLen words in the order of the    |
 *	|  trace type's bits, then, with bit 22, opaque state           |
 *	|  ...                                                          |
 *	|  data of the first hop                                        |
 *	+---------------------------------------------------------------+
 *
 * Opaque state is a word with its length in words (8 bits) and a schema ID (24 bits), and the data;
 * NodeLen does not include it. A hop that finds no room sets the overflow flag.
 *
 * Deviations: traces with bits of the trace type that RFC 9197 leaves undefined are refused, since
 * their hops may or may not have added words.
 */
#ifndef HOPCC_WIRE_IOAM_H
#define HOPCC_WIRE_IOAM_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#endif

#define IOAM_OPTION		0x31
#define IOAM_TYPE_PREALLOCATED	0
#define IOAM_PAD1		0
#define IOAM_PADN		1
#define IOAM_WORD_BYTES		4U
/* Next protocol and length of the extension header. */
#define IOAM_HBH_BYTES		2U
/* Type and length of an option, which its length does not include. */
#define IOAM_TLV_BYTES		2U
#define IOAM_OPT_BYTES		4U
/* The length of an extension header is a byte, in units of 8 bytes without the first. */
#define IOAM_HBH_MAX_BYTES	2048U
#define IOAM_TRACE_BYTES	8U
#define IOAM_DATA_OFFSET	(IOAM_OPT_BYTES + IOAM_TRACE_BYTES)
/* An option is at most 257 bytes long with its type and length. */
#define IOAM_DATA_MAX_BYTES	244U
/* Maximum number of options of a header that are looked at. */
#define IOAM_OPTIONS_MAX	16U
#define IOAM_HOPS_MAX		(IOAM_DATA_MAX_BYTES / IOAM_WORD_BYTES)

#define IOAM_FLAG_OVERFLOW	0x8U

/* Bits of the trace type, from the most significant one. */
enum ioam_bit {
	IOAM_NODE,		/* hop limit 8, node ID 24 */
	IOAM_PORTS,		/* ingress 16, egress 16 */
	IOAM_SECONDS,
	IOAM_FRACTION,
	IOAM_TRANSIT_DELAY,
	IOAM_NS_DATA,
	IOAM_QUEUE_DEPTH,
	IOAM_CHECKSUM,
	IOAM_NODE_WIDE,		/* hop limit 8, node ID 56 */
	IOAM_PORTS_WIDE,	/* ingress 32, egress 32 */
	IOAM_NS_DATA_WIDE,
	IOAM_OCCUPANCY,
	IOAM_FIELDS,		/* number of fields that are defined */
	IOAM_OPAQUE = 22,
};

#define IOAM_BIT(bit)		(1U << (23 - (bit)))
#define IOAM_WIDE_BITS		(IOAM_BIT(IOAM_NODE_WIDE) | IOAM_BIT(IOAM_PORTS_WIDE) | \
				 IOAM_BIT(IOAM_NS_DATA_WIDE))
#define IOAM_KNOWN_BITS		0xfff002U
/* Node, ports, both parts of the time and queue depth: what HPCC++ can use. */
#define IOAM_HPCC_BITS		0xf20000U
#define IOAM_NODE_MAX_WORDS	15U
#define IOAM_SCHEMA_MAX		0xffffffU

/**
 * struct ioam_option - start of the option
 * @type: IOAM_OPTION
 * @bytes: length of what follows this byte
 * @reserved: 0
 * @ioam_type: IOAM_TYPE_PREALLOCATED
 * @ns: namespace ID
 * @lengths: NodeLen 5, flags 4, RemainingLen 7
 * @trace: trace type 24, reserved 8
 */
struct ioam_option {
	__u8	type;
	__u8	bytes;
	__u8	reserved;
	__u8	ioam_type;
	__be16	ns;
	__be16	lengths;
	__be32	trace;
} __packed;

static_assert(sizeof(struct ioam_option) == IOAM_DATA_OFFSET, "size of struct ioam_option");

/**
 * enum ioam_fault - reasons why a header is refused
 * @IOAM_OK: it has a valid trace
 * @IOAM_NONE: it has no trace of the namespace
 * @IOAM_BAD_TRUNCATED: the packet ends within the header
 * @IOAM_BAD_OPTIONS: an option is longer than the header, or there are too many
 * @IOAM_BAD_LENGTH: the option is too short or no whole number of words
 * @IOAM_BAD_TYPE: the trace type has undefined bits or none
 * @IOAM_BAD_NODE_LEN: NodeLen contradicts the trace type
 * @IOAM_BAD_REMAINING: RemainingLen is longer than the data
 * @IOAM_BAD_STACK: the data is no whole number of hops
 * @IOAM_FAULTS: number of values
 */
enum ioam_fault {
	IOAM_OK,
	IOAM_NONE,
	IOAM_BAD_TRUNCATED,
	IOAM_BAD_OPTIONS,
	IOAM_BAD_LENGTH,
	IOAM_BAD_TYPE,
	IOAM_BAD_NODE_LEN,
	IOAM_BAD_REMAINING,
	IOAM_BAD_STACK,
	IOAM_FAULTS,
};

/**
 * struct ioam_view - positions in a valid header; offsets are from the extension header
 * @ns: namespace ID
 * @flags: IOAM_FLAG_*
 * @hops: number of hops that have written data
 * @node_words: NodeLen
 * @remaining_words: RemainingLen
 * @trace: trace type, 24 bits
 * @hdr_bytes: length of the extension header
 * @opt_offset: position of the option
 * @stack_offset: position of the newest data
 * @stack_bytes: length of the data that hops have written
 */
struct ioam_view {
	u16 ns;
	u8 flags;
	u8 hops;
	u8 node_words;
	u8 remaining_words;
	u32 trace;
	u16 hdr_bytes;
	u16 opt_offset;
	u16 stack_offset;
	u16 stack_bytes;
};

/**
 * ioam_field_offset() - position of a field in the data of a hop
 * @trace: trace type
 * @bit: enum ioam_bit, up to IOAM_FIELDS, the end of all fields
 *
 * Return: bytes from the start of the hop's data.
 */
static inline u32 ioam_field_offset(u32 trace, u32 bit)
{
	u32 i, words = 0;

	for (i = 0; i < bit && i < IOAM_FIELDS; i++)
		if (trace & IOAM_BIT(i))
			words += IOAM_WIDE_BITS & IOAM_BIT(i) ? 2 : 1;
	return words * IOAM_WORD_BYTES;
}

/* Length of a hop's data with its opaque state; 0 if it exceeds @room_bytes. */
static inline u32 ioam_node_bytes(const struct ioam_view *v, const u8 *node, u32 room_bytes)
{
	u32 bytes = v->node_words * IOAM_WORD_BYTES;

	if (v->trace & IOAM_BIT(IOAM_OPAQUE)) {
		if (bytes + IOAM_WORD_BYTES > room_bytes)
			return 0;
		bytes += IOAM_WORD_BYTES + node[bytes] * IOAM_WORD_BYTES;
	}
	return bytes > room_bytes ? 0 : bytes;
}

/**
 * ioam_next() - walk the hops, the newest first
 * @v: valid header
 * @hdr: the extension header
 * @at_bytes: position in the stack, at first 0; updated
 *
 * Return: the data of the next hop; NULL at the end.
 */
static inline const u8 *ioam_next(const struct ioam_view *v, const u8 *hdr, u32 *at_bytes)
{
	const u8 *node = hdr + v->stack_offset + *at_bytes;
	u32 bytes;

	if (*at_bytes >= v->stack_bytes)
		return NULL;
	bytes = ioam_node_bytes(v, node, v->stack_bytes - *at_bytes);
	*at_bytes += bytes;
	return bytes ? node : NULL;
}

/* Counts the hops. Each has at least one word, so the loop has at most IOAM_HOPS_MAX turns. */
static inline enum ioam_fault ioam_parse_stack(struct ioam_view *v, const u8 *hdr)
{
	u32 at_bytes = 0;

	while (ioam_next(v, hdr, &at_bytes))
		v->hops++;
	return at_bytes == v->stack_bytes ? IOAM_OK : IOAM_BAD_STACK;
}

static inline enum ioam_fault ioam_parse_trace(struct ioam_view *v, const u8 *hdr)
{
	const struct ioam_option *opt = (const struct ioam_option *)(hdr + v->opt_offset);
	const u32 lengths = be16_to_cpu(opt->lengths);
	/* RFC 9197: bit 23 is ignored. */
	const u32 trace = be32_to_cpu(opt->trace) >> 8 & ~1U;
	u32 data_bytes;

	if (opt->bytes + IOAM_TLV_BYTES < IOAM_DATA_OFFSET)
		return IOAM_BAD_LENGTH;
	data_bytes = opt->bytes + IOAM_TLV_BYTES - IOAM_DATA_OFFSET;
	v->flags = lengths >> 7 & 0xf;
	v->node_words = lengths >> 11;
	v->remaining_words = lengths & 0x7f;
	v->trace = trace;
	if (data_bytes % IOAM_WORD_BYTES)
		return IOAM_BAD_LENGTH;
	if (!trace || trace & ~IOAM_KNOWN_BITS)
		return IOAM_BAD_TYPE;
	if (v->node_words * IOAM_WORD_BYTES != ioam_field_offset(trace, IOAM_FIELDS))
		return IOAM_BAD_NODE_LEN;
	if (v->remaining_words * IOAM_WORD_BYTES > data_bytes)
		return IOAM_BAD_REMAINING;
	v->stack_bytes = data_bytes - v->remaining_words * IOAM_WORD_BYTES;
	v->stack_offset = v->opt_offset + IOAM_DATA_OFFSET +
			  v->remaining_words * IOAM_WORD_BYTES;
	return ioam_parse_stack(v, hdr);
}

/* Return: true if the option, which is within the header, is a trace of the namespace. */
static inline bool ioam_is_trace(const u8 *option, int ns)
{
	const struct ioam_option *opt = (const struct ioam_option *)option;

	/* The shortest option that has the IOAM type; its namespace may be missing. */
	if (opt->type != IOAM_OPTION || opt->bytes < 2 ||
	    opt->ioam_type != IOAM_TYPE_PREALLOCATED)
		return false;
	return ns < 0 || opt->bytes < IOAM_DATA_OFFSET - IOAM_TLV_BYTES ||
	       be16_to_cpu(opt->ns) == ns;
}

/**
 * ioam_parse() - find the trace in a hop-by-hop header
 * @v: result; valid only if the header is
 * @hdr: the extension header; need not be aligned
 * @room_bytes: number of bytes from there to the end of the packet
 * @ns: namespace ID of the trace, others are skipped; negative: the first trace
 *
 * Return: IOAM_OK, IOAM_NONE, or the reason why the header is refused.
 */
static inline enum ioam_fault ioam_parse(struct ioam_view *v, const u8 *hdr, u32 room_bytes,
					 int ns)
{
	u32 at = IOAM_HBH_BYTES, options;

	memset(v, 0, sizeof(*v));
	if (room_bytes < IOAM_HBH_BYTES)
		return IOAM_BAD_TRUNCATED;
	v->hdr_bytes = (hdr[1] + 1U) * 8;
	if (v->hdr_bytes > room_bytes)
		return IOAM_BAD_TRUNCATED;
	for (options = 0; at < v->hdr_bytes; ) {
		if (hdr[at] == IOAM_PAD1) {
			at++;
			continue;
		}
		if (++options > IOAM_OPTIONS_MAX || at + IOAM_TLV_BYTES > v->hdr_bytes ||
		    at + IOAM_TLV_BYTES + hdr[at + 1] > v->hdr_bytes)
			return IOAM_BAD_OPTIONS;
		if (ioam_is_trace(hdr + at, ns)) {
			v->opt_offset = at;
			if (hdr[at + 1] >= IOAM_DATA_OFFSET - IOAM_TLV_BYTES)
				v->ns = be16_to_cpu(((const struct ioam_option *)(hdr + at))->ns);
			else
				return IOAM_BAD_LENGTH;
			return ioam_parse_trace(v, hdr);
		}
		at += IOAM_TLV_BYTES + hdr[at + 1];
	}
	return IOAM_NONE;
}

/**
 * ioam_hdr_bytes() - length of a hop-by-hop header with a trace
 * @data_bytes: room for the data of the hops
 *
 * Two bytes of padding align the option to 4 bytes, more of it the end of the header to 8.
 *
 * Return: bytes.
 */
static inline u32 ioam_hdr_bytes(u32 data_bytes)
{
	return (IOAM_HBH_BYTES + 2 + IOAM_DATA_OFFSET + data_bytes + 7) & ~7U;
}

/**
 * ioam_write() - source: write a hop-by-hop header with an empty trace
 * @hdr: position of the header; has room for ioam_hdr_bytes(@data_bytes)
 * @next: protocol that follows
 * @ns: namespace ID
 * @trace: trace type, of IOAM_KNOWN_BITS, not 0
 * @data_bytes: room for the data of the hops, a multiple of 4, up to IOAM_DATA_MAX_BYTES
 *
 * Return: length of the header.
 */
static inline u32 ioam_write(u8 *hdr, u8 next, u16 ns, u32 trace, u32 data_bytes)
{
	const u32 bytes = ioam_hdr_bytes(data_bytes), opt_offset = IOAM_HBH_BYTES + 2;
	const u32 end = opt_offset + IOAM_DATA_OFFSET + data_bytes;
	const u32 words = ioam_field_offset(trace, IOAM_FIELDS) / IOAM_WORD_BYTES;
	struct ioam_option *opt = (struct ioam_option *)(hdr + opt_offset);

	memset(hdr, 0, bytes);
	hdr[0] = next;
	hdr[1] = bytes / 8 - 1;
	hdr[IOAM_HBH_BYTES] = IOAM_PADN;
	opt->type = IOAM_OPTION;
	opt->bytes = IOAM_DATA_OFFSET - IOAM_TLV_BYTES + data_bytes;
	opt->ioam_type = IOAM_TYPE_PREALLOCATED;
	opt->ns = cpu_to_be16(ns);
	opt->lengths = cpu_to_be16(words << 11 | data_bytes / IOAM_WORD_BYTES);
	opt->trace = cpu_to_be32(trace << 8);
	/* The space behind the option is 0 or 4 bytes. */
	if (end < bytes) {
		hdr[end] = IOAM_PADN;
		hdr[end + 1] = bytes - end - IOAM_TLV_BYTES;
	}
	return bytes;
}

/*
 * Number of bytes in front of the first option that is no padding; at most the length of the
 * header.
 */
static inline u32 ioam_first_option(const u8 *hdr)
{
	const u32 bytes = (hdr[1] + 1U) * 8;
	u32 at = IOAM_HBH_BYTES;

	while (at < bytes && (hdr[at] == IOAM_PAD1 || hdr[at] == IOAM_PADN)) {
		if (hdr[at] == IOAM_PAD1)
			at++;
		else
			at += at + 1 < bytes ? IOAM_TLV_BYTES + hdr[at + 1] : 1;
	}
	return min(at, bytes);
}

/**
 * ioam_insert_bytes() - length of the header that ioam_insert() writes
 * @data_bytes: room for the data of the hops, a multiple of 8, up to IOAM_DATA_MAX_BYTES
 * @old: a hop-by-hop header that the packet has already; NULL: none
 *
 * Return: bytes.
 */
static inline u32 ioam_insert_bytes(u32 data_bytes, const u8 *old)
{
	u32 first;

	if (!old)
		return ioam_hdr_bytes(data_bytes);
	first = ioam_first_option(old);
	return ioam_hdr_bytes(data_bytes) + first % 8 + (old[1] + 1U) * 8 - first;
}

/**
 * ioam_insert() - source: write a header with an empty trace and the options of another header
 * @hdr: position of the header; has room for ioam_insert_bytes(), at most IOAM_HBH_MAX_BYTES
 * @old: a hop-by-hop header that the packet has already; NULL: none
 * @next: protocol that follows, without @old
 * @ns: namespace ID
 * @trace: trace type, of IOAM_KNOWN_BITS, not 0
 * @data_bytes: room for the data of the hops, a multiple of 8, up to IOAM_DATA_MAX_BYTES
 *
 * A packet may have only one hop-by-hop header. Our trace is the first one, since a receiver reads
 * the first. Padding of less than 8 bytes keeps the alignment of the other options, in place of
 * their own padding, because Linux refuses more than seven bytes in a row.
 *
 * Return: length of the header.
 */
static inline u32 ioam_insert(u8 *hdr, const u8 *old, u8 next, u16 ns, u32 trace, u32 data_bytes)
{
	u32 bytes = ioam_write(hdr, next, ns, trace, data_bytes), first, i;

	if (!old)
		return bytes;
	first = ioam_first_option(old);
	if (first % 8 == 1)
		hdr[bytes] = IOAM_PAD1;
	for (i = 0; first % 8 > 1 && i < first % 8; i++)
		hdr[bytes + i] = i ? 0 : IOAM_PADN;
	if (first % 8 > 1)
		hdr[bytes + 1] = first % 8 - IOAM_TLV_BYTES;
	bytes += first % 8;
	memcpy(hdr + bytes, old + first, (old[1] + 1U) * 8 - first);
	bytes += (old[1] + 1U) * 8 - first;
	hdr[0] = old[0];
	hdr[1] = bytes / 8 - 1;
	return bytes;
}

/**
 * struct ioam_node - data that a hop writes
 * @value: values by bit of the trace type; all ones: not available
 * @schema: ID of the opaque state, up to IOAM_SCHEMA_MAX
 * @opaque_words: length of the opaque state, words
 * @opaque: the opaque state
 */
struct ioam_node {
	u64 value[IOAM_FIELDS];
	u32 schema;
	u8 opaque_words;
	const u8 *opaque;
};

static inline u8 *ioam_put_u32(u8 *at, u32 value)
{
	const __be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

static inline void ioam_write_node(u8 *at, u32 trace, const struct ioam_node *n)
{
	u32 i;

	for (i = 0; i < IOAM_FIELDS; i++) {
		if (!(trace & IOAM_BIT(i)))
			continue;
		if (IOAM_WIDE_BITS & IOAM_BIT(i))
			at = ioam_put_u32(at, n->value[i] >> 32);
		at = ioam_put_u32(at, n->value[i]);
	}
	if (!(trace & IOAM_BIT(IOAM_OPAQUE)))
		return;
	at = ioam_put_u32(at, (u32)n->opaque_words << 24 | n->schema);
	if (n->opaque_words)
		memcpy(at, n->opaque, n->opaque_words * IOAM_WORD_BYTES);
}

/**
 * ioam_fill() - hop: add data to a trace
 * @v: valid header; updated
 * @hdr: the extension header
 * @n: data
 *
 * Return: true if there was room; otherwise the overflow flag is set.
 */
static inline bool ioam_fill(struct ioam_view *v, u8 *hdr, const struct ioam_node *n)
{
	struct ioam_option *opt = (struct ioam_option *)(hdr + v->opt_offset);
	u32 words = v->node_words;

	if (v->trace & IOAM_BIT(IOAM_OPAQUE))
		words += 1 + n->opaque_words;
	/* A hop that has overflowed may have had more data than this one. */
	if (v->flags & IOAM_FLAG_OVERFLOW || words > v->remaining_words) {
		v->flags |= IOAM_FLAG_OVERFLOW;
	} else {
		v->remaining_words -= words;
		v->stack_offset -= words * IOAM_WORD_BYTES;
		v->stack_bytes += words * IOAM_WORD_BYTES;
		v->hops++;
		ioam_write_node(hdr + v->stack_offset, v->trace, n);
	}
	opt->lengths = cpu_to_be16((u32)v->node_words << 11 | (u32)v->flags << 7 |
				   v->remaining_words);
	return !(v->flags & IOAM_FLAG_OVERFLOW);
}

/**
 * ioam_complete() - hop: overwrite a field of the newest data
 * @v: valid header
 * @hdr: the extension header
 * @node_id: this router's node ID, 24 bits
 * @bit: field, of one word
 * @value: new value
 *
 * The router's own stack has filled in the trace when it received the packet. What is known only
 * when the packet leaves, transit delay and queue, replaces the value from then.
 *
 * Return: true if the newest data is from this router and has the field.
 */
static inline bool ioam_complete(const struct ioam_view *v, u8 *hdr, u32 node_id,
				 enum ioam_bit bit, u32 value)
{
	u8 *node = hdr + v->stack_offset;

	if (!v->hops || bit >= IOAM_FIELDS || IOAM_WIDE_BITS & IOAM_BIT(bit) ||
	    !(v->trace & IOAM_BIT(bit)) || !(v->trace & IOAM_BIT(IOAM_NODE)))
		return false;
	if (((u32)node[1] << 16 | (u32)node[2] << 8 | node[3]) != node_id)
		return false;
	ioam_put_u32(node + ioam_field_offset(v->trace, bit), value);
	return true;
}

#endif /* HOPCC_WIRE_IOAM_H */
