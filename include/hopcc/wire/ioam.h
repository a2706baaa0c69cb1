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

#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

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
 * @IOAM_NONE: it has no trace
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
 * hop_ioam_field_offset() - position of a field in the data of a hop
 * @trace: trace type
 * @bit: enum ioam_bit, up to IOAM_FIELDS, the end of all fields
 *
 * Return: bytes from the start of the hop's data.
 */
static inline u32 hop_ioam_field_offset(u32 trace, u32 bit)
{
	const u32 before = trace >> (24 - bit) << (24 - bit);

	return (hweight32(before) + hweight32(before & IOAM_WIDE_BITS)) * IOAM_WORD_BYTES;
}

/**
 * hop_ioam_parse() - find the first trace in a hop-by-hop header
 * @v: result; valid only if the header is
 * @hdr: the extension header; need not be aligned
 * @room_bytes: number of bytes from there to the end of the packet
 *
 * Return: IOAM_OK, IOAM_NONE, or the reason why the header is refused.
 */
enum ioam_fault hop_ioam_parse(struct ioam_view *v, const u8 *hdr, u32 room_bytes);

/**
 * hop_ioam_insert_bytes() - length of the header that hop_ioam_insert() writes
 * @data_bytes: room for the data of the hops, a multiple of 8, up to IOAM_DATA_MAX_BYTES
 * @old: a hop-by-hop header that the packet has already; NULL: none
 *
 * Return: bytes.
 */
u32 hop_ioam_insert_bytes(u32 data_bytes, const u8 *old);

/**
 * hop_ioam_insert() - source: write a header with an empty trace and the options of another header
 * @hdr: position of the header; has room for hop_ioam_insert_bytes(), at most IOAM_HBH_MAX_BYTES
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
u32 hop_ioam_insert(u8 *hdr, const u8 *old, u8 next, u16 ns, u32 trace, u32 data_bytes);

#endif /* HOPCC_WIRE_IOAM_H */
