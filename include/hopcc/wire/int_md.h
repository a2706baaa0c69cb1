/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire format of INT-MD 2.1 over TCP or UDP, from the P4 language consortium.
 *
 *	 0                   1                   2                   3
 *	+-------+---+---+---------------+-------------------------------+
 *	|type 1 |NPT|R R| length, words |   DSCP, UDP port or protocol  |  shim, behind TCP or UDP
 *	+-------+-+-+-+-+---------------+-------+---------+-------------+
 *	|version|D|E|M|       reserved          | hop ML  |remaining hops|
 *	+-------+-+-+-+-----------------+-------+---------+-------------+
 *	|      instruction bitmap       |           domain ID           |
 *	+-------------------------------+-------------------------------+
 *	|    domain's instructions      |        domain's flags         |
 *	+-------------------------------+-------------------------------+
 *	|   metadata of the hops, hop ML words each, the newest first   |
 *	+---------------------------------------------------------------+
 *
 * The shim's length does not include the shim. The words of a hop are in the order of the bitmap's
 * bits, those of the domain's instructions follow; all ones mean that a value is not available. A
 * hop for which no remaining hops are left sets E, one that would exceed the MTU sets M.
 *
 * Deviations: bitmaps with reserved bits (9 to 14) are refused. A packet with flag D is a copy that
 * the sink must drop.
 */
#ifndef HOPCC_WIRE_INT_MD_H
#define HOPCC_WIRE_INT_MD_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#endif

#define INTMD_SHIM_TYPE		1
#define INTMD_VERSION		2
#define INTMD_WORD_BYTES	4U
#define INTMD_SHIM_BYTES	4U
#define INTMD_HDR_BYTES		12U
#define INTMD_HDR_WORDS		3U
#define INTMD_STACK_OFFSET	(INTMD_SHIM_BYTES + INTMD_HDR_BYTES)
#define INTMD_WORDS_MAX		255U
#define INTMD_SHIM_MAX_BYTES	(INTMD_SHIM_BYTES + INTMD_WORDS_MAX * INTMD_WORD_BYTES)
#define INTMD_HOP_WORDS_MAX	31U

/* Values of NPT: meaning of the shim's last 16 bits. */
#define INTMD_NPT_DSCP		0	/* bits 8 to 13: the original DSCP */
#define INTMD_NPT_UDP_PORT	1	/* the original destination port */
#define INTMD_NPT_PROTOCOL	2	/* lower 8 bits: the protocol behind the stack */
#define INTMD_NPT_MAX		2
/* Position of the DSCP within the 16 bits. */
#define INTMD_DSCP_SHIFT	2

#define INTMD_FLAG_D		0x4U	/* a copy: the sink must drop it */
#define INTMD_FLAG_E		0x2U	/* more hops than allowed */
#define INTMD_FLAG_M		0x1U	/* a hop had no room because of the MTU */

/* Bits of the instruction bitmap, from the most significant one. */
enum intmd_bit {
	INTMD_NODE,
	INTMD_PORTS,		/* ingress 16, egress 16 */
	INTMD_LATENCY,
	INTMD_QUEUE,		/* queue ID 8, occupancy 24 */
	INTMD_INGRESS_TIME,	/* 8 bytes */
	INTMD_EGRESS_TIME,	/* 8 bytes */
	INTMD_L2_PORTS,		/* 8 bytes */
	INTMD_UTIL,		/* ... of the egress port */
	INTMD_BUFFER,		/* buffer ID 8, occupancy 24 */
	INTMD_CHECKSUM = 15,
	INTMD_BITS,		/* number of bits */
};

#define INTMD_BIT(bit)		(1U << (15 - (bit)))
#define INTMD_WIDE_BITS		(INTMD_BIT(INTMD_INGRESS_TIME) | INTMD_BIT(INTMD_EGRESS_TIME) | \
				 INTMD_BIT(INTMD_L2_PORTS))
#define INTMD_KNOWN_BITS	0xff81U
/* Node, ports, queue, egress time and utilisation: what HPCC++ can use. */
#define INTMD_HPCC_BITS		0xd500U

/**
 * struct intmd_hdr - shim and header
 * @type_npt: shim type in the upper four bits, then NPT 2
 * @words: length without the shim
 * @original: meaning depends on NPT
 * @first: version 4, D, E, M, reserved 12, hop ML 5, remaining hops 8
 * @bitmap: instruction bitmap
 * @domain: domain ID
 * @domain_bitmap: instructions of the domain
 * @domain_flags: flags of the domain
 */
struct intmd_hdr {
	__u8	type_npt;
	__u8	words;
	__be16	original;
	__be32	first;
	__be16	bitmap;
	__be16	domain;
	__be16	domain_bitmap;
	__be16	domain_flags;
} __packed;

static_assert(sizeof(struct intmd_hdr) == INTMD_STACK_OFFSET, "size of struct intmd_hdr");

/**
 * enum intmd_fault - reasons why a packet is refused
 * @INTMD_OK: it is valid
 * @INTMD_BAD_TRUNCATED: the packet ends within the stack
 * @INTMD_BAD_TYPE: the shim is of another type
 * @INTMD_BAD_NPT: unknown meaning of the original value
 * @INTMD_BAD_LENGTH: the length has no room for the header
 * @INTMD_BAD_VERSION: another version
 * @INTMD_BAD_BITMAP: reserved bits
 * @INTMD_BAD_HOP_ML: fewer words a hop than the bitmap requires, or none
 * @INTMD_BAD_STACK: the stack is no whole number of hops
 * @INTMD_FAULTS: number of values
 */
enum intmd_fault {
	INTMD_OK,
	INTMD_BAD_TRUNCATED,
	INTMD_BAD_TYPE,
	INTMD_BAD_NPT,
	INTMD_BAD_LENGTH,
	INTMD_BAD_VERSION,
	INTMD_BAD_BITMAP,
	INTMD_BAD_HOP_ML,
	INTMD_BAD_STACK,
	INTMD_FAULTS,
};

/**
 * struct intmd_view - a valid shim, header and stack; the stack is at INTMD_STACK_OFFSET
 * @npt: INTMD_NPT_*
 * @flags: INTMD_FLAG_*
 * @hops: number of hops that have written metadata
 * @hop_words: hop ML
 * @remaining_hops: number of hops that may still write metadata
 * @original: DSCP, UDP port or protocol, by @npt
 * @bitmap: instruction bitmap
 * @domain: domain ID
 * @stack_bytes: length of the stack
 * @shim_bytes: length of shim, header and stack
 */
struct intmd_view {
	u8 npt;
	u8 flags;
	u8 hops;
	u8 hop_words;
	u8 remaining_hops;
	u16 original;
	u16 bitmap;
	u16 domain;
	u16 stack_bytes;
	u16 shim_bytes;
};

/**
 * intmd_field_offset() - position of a field in the metadata of a hop
 * @bitmap: instruction bitmap
 * @bit: enum intmd_bit, up to INTMD_BITS, the end of all fields
 *
 * Return: bytes from the start of the hop's metadata.
 */
static inline u32 intmd_field_offset(u32 bitmap, u32 bit)
{
	u32 i, words = 0;

	for (i = 0; i < bit && i < INTMD_BITS; i++)
		if (bitmap & INTMD_BIT(i))
			words += INTMD_WIDE_BITS & INTMD_BIT(i) ? 2 : 1;
	return words * INTMD_WORD_BYTES;
}

static inline u16 intmd_original(u8 npt, u16 field)
{
	if (npt == INTMD_NPT_DSCP)
		return field >> INTMD_DSCP_SHIFT & 0x3f;
	return npt == INTMD_NPT_PROTOCOL ? field & 0xff : field;
}

/* Checks the header, which is within the packet. */
static inline enum intmd_fault intmd_parse_hdr(struct intmd_view *v, const struct intmd_hdr *h)
{
	const u32 first = be32_to_cpu(h->first);

	if (first >> 28 != INTMD_VERSION)
		return INTMD_BAD_VERSION;
	v->flags = first >> 25 & 0x7;
	v->hop_words = first >> 8 & 0x1f;
	v->remaining_hops = first & 0xff;
	v->bitmap = be16_to_cpu(h->bitmap);
	v->domain = be16_to_cpu(h->domain);
	if (v->bitmap & ~INTMD_KNOWN_BITS)
		return INTMD_BAD_BITMAP;
	if (!v->hop_words ||
	    v->hop_words * INTMD_WORD_BYTES < intmd_field_offset(v->bitmap, INTMD_BITS))
		return INTMD_BAD_HOP_ML;
	if (v->stack_bytes % (v->hop_words * INTMD_WORD_BYTES))
		return INTMD_BAD_STACK;
	v->hops = v->stack_bytes / (v->hop_words * INTMD_WORD_BYTES);
	return INTMD_OK;
}

/**
 * intmd_parse() - check shim, header and stack
 * @v: result; valid only if they are
 * @shim: position of the shim; need not be aligned
 * @room_bytes: number of bytes from there to the end of the packet
 *
 * Return: INTMD_OK or the reason why the packet is refused.
 */
static inline enum intmd_fault intmd_parse(struct intmd_view *v, const u8 *shim, u32 room_bytes)
{
	const struct intmd_hdr *h = (const struct intmd_hdr *)shim;

	memset(v, 0, sizeof(*v));
	if (room_bytes < INTMD_SHIM_BYTES)
		return INTMD_BAD_TRUNCATED;
	if (h->type_npt >> 4 != INTMD_SHIM_TYPE)
		return INTMD_BAD_TYPE;
	v->npt = h->type_npt >> 2 & 3;
	if (v->npt > INTMD_NPT_MAX)
		return INTMD_BAD_NPT;
	if (h->words < INTMD_HDR_WORDS)
		return INTMD_BAD_LENGTH;
	v->shim_bytes = INTMD_SHIM_BYTES + h->words * INTMD_WORD_BYTES;
	if (v->shim_bytes > room_bytes)
		return INTMD_BAD_TRUNCATED;
	v->stack_bytes = v->shim_bytes - INTMD_STACK_OFFSET;
	v->original = intmd_original(v->npt, be16_to_cpu(h->original));
	return intmd_parse_hdr(v, h);
}

/**
 * intmd_write() - source: write shim and header without metadata
 * @h: their position
 * @npt: INTMD_NPT_*
 * @original: DSCP, UDP port or protocol, by @npt
 * @bitmap: instruction bitmap, of INTMD_KNOWN_BITS, not 0
 * @domain: domain ID
 * @remaining_hops: number of hops that may write metadata
 */
static inline void intmd_write(struct intmd_hdr *h, u8 npt, u16 original, u16 bitmap, u16 domain,
			       u8 remaining_hops)
{
	const u32 hop_words = intmd_field_offset(bitmap, INTMD_BITS) / INTMD_WORD_BYTES;

	if (npt == INTMD_NPT_DSCP)
		original <<= INTMD_DSCP_SHIFT;
	*h = (struct intmd_hdr) {
		.type_npt = INTMD_SHIM_TYPE << 4 | npt << 2,
		.words = INTMD_HDR_WORDS,
		.original = cpu_to_be16(original),
		.first = cpu_to_be32((u32)INTMD_VERSION << 28 | hop_words << 8 | remaining_hops),
		.bitmap = cpu_to_be16(bitmap),
		.domain = cpu_to_be16(domain),
	};
}

/**
 * struct intmd_node - metadata that a hop writes
 * @value: values by bit of the bitmap; all ones: not available
 */
struct intmd_node {
	u64 value[INTMD_BITS];
};

static inline u8 *intmd_put_u32(u8 *at, u32 value)
{
	const __be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

/**
 * intmd_write_node() - hop: write its metadata
 * @at: position; has room for hop ML words
 * @v: the packet
 * @n: values
 *
 * Words of the domain's instructions are set to all ones.
 */
static inline void intmd_write_node(u8 *at, const struct intmd_view *v,
				    const struct intmd_node *n)
{
	u8 *const end = at + v->hop_words * INTMD_WORD_BYTES;
	u32 i;

	for (i = 0; i < INTMD_BITS; i++) {
		if (!(v->bitmap & INTMD_BIT(i)))
			continue;
		if (INTMD_WIDE_BITS & INTMD_BIT(i))
			at = intmd_put_u32(at, n->value[i] >> 32);
		at = intmd_put_u32(at, n->value[i]);
	}
	memset(at, 0xff, end - at);
}

/* Sets a flag of the header. */
static inline void intmd_set_flag(struct intmd_view *v, struct intmd_hdr *h, u32 flag)
{
	v->flags |= flag;
	h->first |= cpu_to_be32(flag << 25);
}

/**
 * intmd_may_insert() - hop: check if metadata may be added; sets E if not
 * @v: the packet; updated
 * @h: its shim and header
 *
 * Return: true if it may.
 */
static inline bool intmd_may_insert(struct intmd_view *v, struct intmd_hdr *h)
{
	if (v->remaining_hops && (u32)h->words + v->hop_words <= INTMD_WORDS_MAX)
		return true;
	intmd_set_flag(v, h, INTMD_FLAG_E);
	return false;
}

/**
 * intmd_insert() - hop: insert metadata into a packet in a linear buffer
 * @v: the packet; updated
 * @shim: the packet, from the shim
 * @bytes: length of the packet
 * @room_bytes: size of the buffer; if it is too small, M is set
 * @n: metadata
 *
 * Return: the new length; @bytes if the metadata was not allowed or had no room.
 */
static inline u32 intmd_insert(struct intmd_view *v, u8 *shim, u32 bytes, u32 room_bytes,
			       const struct intmd_node *n)
{
	const u32 more_bytes = v->hop_words * INTMD_WORD_BYTES;
	struct intmd_hdr *h = (struct intmd_hdr *)shim;
	u8 *at = shim + INTMD_STACK_OFFSET;

	if (!intmd_may_insert(v, h))
		return bytes;
	if (room_bytes - bytes < more_bytes) {
		intmd_set_flag(v, h, INTMD_FLAG_M);
		return bytes;
	}
	memmove(at + more_bytes, at, bytes - INTMD_STACK_OFFSET);
	intmd_write_node(at, v, n);
	h->words += v->hop_words;
	h->first = cpu_to_be32(be32_to_cpu(h->first) - 1);
	v->remaining_hops--;
	v->hops++;
	v->stack_bytes += more_bytes;
	v->shim_bytes += more_bytes;
	return bytes + more_bytes;
}

#endif /* HOPCC_WIRE_INT_MD_H */
