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

#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#define INTMD_SHIM_TYPE		1
#define INTMD_VERSION		2
#define INTMD_WORD_BYTES	4U
#define INTMD_SHIM_BYTES	4U
#define INTMD_HDR_BYTES		12U
#define INTMD_HDR_WORDS		3U
#define INTMD_STACK_OFFSET	(INTMD_SHIM_BYTES + INTMD_HDR_BYTES)
#define INTMD_WORDS_MAX		255U
#define INTMD_SHIM_MAX_BYTES	(INTMD_SHIM_BYTES + INTMD_WORDS_MAX * INTMD_WORD_BYTES)

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
 * hop_intmd_field_offset() - position of a field in the metadata of a hop
 * @bitmap: instruction bitmap
 * @bit: enum intmd_bit, up to INTMD_BITS, the end of all fields
 *
 * Return: bytes from the start of the hop's metadata.
 */
static inline u32 hop_intmd_field_offset(u32 bitmap, u32 bit)
{
	const u32 before = bitmap >> (16 - bit) << (16 - bit);

	return (hweight32(before) + hweight32(before & INTMD_WIDE_BITS)) * INTMD_WORD_BYTES;
}

/**
 * hop_intmd_parse() - check shim, header and stack
 * @v: result; valid only if they are
 * @shim: position of the shim; need not be aligned
 * @room_bytes: number of bytes from there to the end of the packet
 *
 * Return: INTMD_OK or the reason why the packet is refused.
 */
enum intmd_fault hop_intmd_parse(struct intmd_view *v, const u8 *shim, u32 room_bytes);

/**
 * hop_intmd_write() - source: write shim and header without metadata
 * @h: their position
 * @npt: INTMD_NPT_*
 * @original: DSCP, UDP port or protocol, by @npt
 * @bitmap: instruction bitmap, of INTMD_KNOWN_BITS, not 0
 * @domain: domain ID
 * @remaining_hops: number of hops that may write metadata
 */
void hop_intmd_write(struct intmd_hdr *h, u8 npt, u16 original, u16 bitmap, u16 domain,
		     u8 remaining_hops);

#endif /* HOPCC_WIRE_INT_MD_H */
