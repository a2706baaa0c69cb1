/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In-band telemetry on the wire, draft-miao-rtgwg-hpccplus-00 figure 4, and what a
 * hop does to it.
 *
 *	 0                   1                   2                   3
 *	+---------------+---------------+---------------+---------------+
 *	| next protocol | length, words |     type      |     flags     |  ours
 *	+-------+-------+---------------+---------------+---------------+
 *	| nHop  |        pathID         |            padding            |
 *	+-------+-----------------------+-----------------------+-------+
 *	| speed |                  timestamp, ns                |txBytes|  a record:
 *	+-------+-----------------------+-----------------------+-------+  `slots` of
 *	|        txBytes (lower)        |         queue length          |  these
 *	+-------------------------------+-------------------------------+
 *	| slots |            port ID            | zero  |    padding    |
 *	+-------+-------------------------------+-------+---------------+
 *
 * The sender makes room for `slots` records, so that a packet never grows in the
 * network. Each hop adds 1 to nHop, XORs its switch ID to pathID and writes its
 * record. A hop that finds no room counts itself all the same: nHop says so.
 * Everything is big-endian.
 *
 * Deviations:
 * - The first word is ours: in front of a transport header somebody must name
 *   what follows and how long this is.
 * - The draft leaves codes and units open: see int_speeds[]. The unit of txBytes
 *   and of the queue is the power of two at or above what the port sends in 32 ns,
 *   at least 1 byte. A queue that cannot be said is said to be the longest.
 * - Options: the number of slots, and the port ID of the hop with the longest
 *   queue, in time, so far; of those that have a record.
 * - nHop stays at 15.
 *
 * Where a header stands:
 *
 *	[IP][header][tail][TCP]		HELLO on SYN and SYN-ACK, DATA inband
 *	[IP][UDP][header][tail][TCP]	DATA inband, where ECMP wants ports
 *	[IP][TCP][message][header][terms]	PROBE
 *	[IP][TCP][message][header]	ECHO
 *
 * A probe and its answer are TCP segments of old bytes (SND.UNA - length), so that
 * who does not know them takes them for duplicates.
 *
 * SYN and SYN-ACK collect records as probes do, since their round trip is the first estimate of T.
 * The SYN-ACK reports how many hops the SYN met (flags), how long their queues were (the padding
 * behind pathID) and how fast the slowest port is (the padding of the last word, a speed code).
 * Probes report the queues that the other end's SYN or SYN-ACK met (flows). All are 0 if the
 * receiver does not report them.
 */
#ifndef HOPCC_NET_INT_H
#define HOPCC_NET_INT_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#endif

#define INT_PROTOCOL_DEFAULT	254	/* RFC 3692: for experiments */

/* DSCPs of pool 2, for experiments: RFC 2474 section 6. */
#define INT_DSCP_DATA_DEFAULT		0x17
#define INT_DSCP_PROBE_DEFAULT		0x1b
#define INT_DSCP_RESPONSE_DEFAULT	0x1f

/* Destination port of `encap udp`; the source port is the flow's hash. */
#define INT_UDP_PORT_DEFAULT		65108

/* Of DATA and PROBE: the sender's window is below INT_SMALL_WINDOW_PKTS segments. */
#define INT_FLAG_SMALL		0x40
/* Set in a HELLO on an ACK that asks for one on an ACK of the peer. */
#define INT_FLAG_ASKS		0x40
/*
 * In DATA in UDP the DSCP that the packet had; in an ECHO of one record which hop it is of; in
 * a HELLO that answers one, on a SYN-ACK or an ACK, nHop of that one.
 */
#define INT_FLAGS_VALUE		0x3f

#define INT_SMALL_WINDOW_PKTS	4U

#define INT_SLOTS_MAX		15U
#define INT_HOPS_SATURATED	15U
#define INT_SWITCH_ID_MAX	0xfffU
#define INT_WORD_BYTES		4U
#define INT_RECORD_BYTES	8U
/* Without records: the first two words and the last. */
#define INT_HDR_BYTES		12U

/* Where the parts of the first and the last word of figure 4 are. */
#define INT_HOPS_SHIFT		28
#define INT_PATH_ID_SHIFT	16
#define INT_PADDING_MASK	0xffffU
/* log2 of the unit of reported queues, ns: up to 16.8 ms; the greatest: that long or longer. */
#define INT_QUEUES_SHIFT	8
#define INT_SLOTS_SHIFT		28
#define INT_PORT_SHIFT		12
#define INT_PORT_MASK		(0xffffU << INT_PORT_SHIFT)
#define INT_SPEED_MASK		0xfU
/* Reported as the slowest port's: there is a port whose rate is not known. */
#define INT_SPEED_UNSURE	15U

#define INT_TS_MASK		0xffffffU	/* ns; it wraps in 16.8 ms */
#define INT_TX_MASK		0xfffffU	/* units */
#define INT_QLEN_MAX		0xffffU		/* units; this many or more */

/**
 * enum int_type - what a header is for
 * @INT_TYPE_HELLO: on SYN, SYN-ACK, and on ACKs where it was chosen late: its sender knows
 *	telemetry
 * @INT_TYPE_DATA: on data
 * @INT_TYPE_PROBE: in a probe
 * @INT_TYPE_ECHO: the records come back; hops leave them alone
 */
enum int_type {
	INT_TYPE_HELLO = 1,
	INT_TYPE_DATA = 2,
	INT_TYPE_PROBE = 3,
	INT_TYPE_ECHO = 4,
};

/**
 * struct int_hdr - the header; @record ends with its last word
 * @next: what follows it
 * @words: its length in 32-bit words, the last word included
 * @type: enum int_type
 * @flags: of the type
 * @path: nHop, pathID, padding
 * @record: as many as there is room for
 */
struct int_hdr {
	__u8	next;
	__u8	words;
	__u8	type;
	__u8	flags;
	__be32	path;
	__be64	record[];
} __packed __aligned(4);

/* "hINT" */
#define INT_MSG_MAGIC		0x68494e54U
#define INT_MSG_BYTES		40U

/**
 * struct int_msg - in front of the header of a probe and of its answer
 * @magic: INT_MSG_MAGIC
 * @id: of the probe, or of the packet that is answered
 * @cookie: the receiver's of this message, from its HELLO: who sends it has read that
 * @seq: SND.NXT when the packet that is answered had left
 * @t_ns: probe: T; RATIO: tau
 * @wnd: probe: the window, bytes; WINDOW: W, bytes; RATIO: u, 2^-20
 * @kind: enum int_answer_kind, asked for or given
 * @flows: answer: N; 0: not told; probe: queues that the other end's SYN or SYN-ACK met,
 *	2^INT_QUEUES_SHIFT ns
 * @tag_hi: answer: SipHash-2-4, or 0 without a key
 * @tag_lo: of it, the lower half
 */
struct int_msg {
	__be32	magic;
	__be32	id;
	__be64	cookie;
	__be32	seq;
	__be32	t_ns;
	__be32	wnd;
	__be16	kind;
	__be16	flows;
	__be32	tag_hi;
	__be32	tag_lo;
} __packed __aligned(4);

/**
 * struct int_tail - what stands between the header and TCP; no hop looks at it
 * @first: HELLO: the upper half of its sender's cookie; DATA: its id
 * @second: HELLO: the lower half; DATA: the lower half of the receiver's cookie
 */
struct int_tail {
	__be32	first;
	__be32	second;
} __packed __aligned(4);

#define INT_TAIL_BYTES		8U

/**
 * struct int_terms - behind the header of a probe: for the receiver's law
 * @wnd_max: bytes
 * @eta: 2^-20
 * @max_stage: maxStage
 * @flows: N, where the receiver counts none
 */
struct int_terms {
	__be32	wnd_max;
	__be32	eta;
	__be16	max_stage;
	__be16	flows;
} __packed __aligned(4);

#define INT_TERMS_BYTES		12U

/**
 * enum int_fault - why a header is not taken
 * @INT_OK: it is
 * @INT_BAD_TRUNCATED: the packet ends within it
 * @INT_BAD_LENGTH: not a whole number of records, or more than INT_SLOTS_MAX
 * @INT_BAD_TYPE: none of enum int_type, or none that belongs there
 * @INT_BAD_SLOTS: its last word disagrees with its length
 * @INT_BAD_HOPS: not sent by a first hop: nHop 0 and a pathID
 * @INT_FAULTS: number of these
 */
enum int_fault {
	INT_OK,
	INT_BAD_TRUNCATED,
	INT_BAD_LENGTH,
	INT_BAD_TYPE,
	INT_BAD_SLOTS,
	INT_BAD_HOPS,
	INT_FAULTS,
};

/**
 * struct int_speed - what a speed code stands for
 * @mbit_ps: the port's rate, 10^6 bit/s
 * @unit_shift: log2 of the unit of txBytes and queue length, bytes
 * @unit_ps: how long the port sends a unit, picoseconds, exact
 */
struct int_speed {
	u32 mbit_ps;
	u8 unit_shift;
	u32 unit_ps;
};

/* Codes 0 and 15 are of no port: unknown and reserved. */
#define INT_SPEEDS	16U

static const struct int_speed int_speeds[INT_SPEEDS] = {
	[1] = { 10, 0, 800000 },
	[2] = { 100, 0, 80000 },
	[3] = { 1000, 2, 32000 },
	[4] = { 2500, 4, 51200 },
	[5] = { 10000, 6, 51200 },
	[6] = { 25000, 7, 40960 },
	[7] = { 40000, 8, 51200 },
	[8] = { 50000, 8, 40960 },
	[9] = { 100000, 9, 40960 },
	[10] = { 200000, 10, 40960 },
	[11] = { 400000, 11, 40960 },
	[12] = { 800000, 12, 40960 },
	[13] = { 1600000, 13, 40960 },
	[14] = { 5000, 5, 51200 },
};

/**
 * struct int_record - what a hop says of its port, at one moment
 * @speed: code, index of int_speeds[]
 * @ts_ns: modulo 2^24
 * @tx_units: sent so far without this packet, modulo 2^20
 * @qlen_units: queued behind this packet
 */
struct int_record {
	u32 speed;
	u32 ts_ns;
	u32 tx_units;
	u32 qlen_units;
};

/* A rate that no code stands for gets 0. */
static inline u32 int_speed_code(u64 mbit_ps)
{
	u32 code;

	for (code = INT_SPEEDS - 1; code; code--)
		if (int_speeds[code].mbit_ps && int_speeds[code].mbit_ps == mbit_ps)
			break;
	return code;
}

static inline __be64 int_pack(const struct int_record *r)
{
	return cpu_to_be64((u64)r->speed << 60 | (u64)(r->ts_ns & INT_TS_MASK) << 36 |
			   (u64)(r->tx_units & INT_TX_MASK) << 16 |
			   min_t(u32, r->qlen_units, INT_QLEN_MAX));
}

static inline struct int_record int_unpack(__be64 packed)
{
	const u64 bits = be64_to_cpu(packed);

	return (struct int_record) {
		.speed = bits >> 60,
		.ts_ns = bits >> 36 & INT_TS_MASK,
		.tx_units = bits >> 16 & INT_TX_MASK,
		.qlen_units = bits & INT_QLEN_MAX,
	};
}

/* @slots: 0 to INT_SLOTS_MAX */
static inline unsigned int int_hdr_bytes(unsigned int slots)
{
	return INT_HDR_BYTES + slots * INT_RECORD_BYTES;
}

/* Of a header that int_check() passed. */
static inline unsigned int int_slots(const struct int_hdr *h)
{
	return (h->words * INT_WORD_BYTES - INT_HDR_BYTES) / INT_RECORD_BYTES;
}

static inline __be32 *int_options(struct int_hdr *h)
{
	return (__be32 *)((u8 *)h + h->words * INT_WORD_BYTES - INT_WORD_BYTES);
}

static inline unsigned int int_hops(const struct int_hdr *h)
{
	return be32_to_cpu(h->path) >> INT_HOPS_SHIFT;
}

static inline unsigned int int_path_id(const struct int_hdr *h)
{
	return be32_to_cpu(h->path) >> INT_PATH_ID_SHIFT & INT_SWITCH_ID_MAX;
}

static inline unsigned int int_padding(const struct int_hdr *h)
{
	return be32_to_cpu(h->path) & INT_PADDING_MASK;
}

static inline unsigned int int_port_id(struct int_hdr *h)
{
	return (be32_to_cpu(*int_options(h)) & INT_PORT_MASK) >> INT_PORT_SHIFT;
}

/* A SYN-ACK's, as it came in: the code of the slowest port that the SYN met; 0: not known. */
static inline unsigned int int_reported_speed(const struct int_hdr *h)
{
	return be32_to_cpu(*int_options((struct int_hdr *)h)) & INT_SPEED_MASK;
}

/* Records that were written. */
static inline unsigned int int_records(const struct int_hdr *h)
{
	return min(int_hops(h), int_slots(h));
}

/**
 * int_write() - an empty header
 * @h: where; int_hdr_bytes(@slots) of room
 * @next: the protocol that follows
 * @type: what it is for
 * @flags: of the type
 * @slots: records to make room for, up to INT_SLOTS_MAX
 */
static inline void int_write(struct int_hdr *h, u8 next, enum int_type type, u8 flags,
			     unsigned int slots)
{
	unsigned int i;

	h->next = next;
	h->words = int_hdr_bytes(slots) / INT_WORD_BYTES;
	h->type = type;
	h->flags = flags;
	h->path = 0;
	for (i = 0; i < slots; i++)
		h->record[i] = 0;
	*int_options(h) = cpu_to_be32(slots << INT_SLOTS_SHIFT);
}

/**
 * int_check() - may this be taken for a header?
 * @h: NULL if the packet ends before INT_HDR_BYTES
 * @room_bytes: from @h to the end of the packet
 *
 * Return: INT_OK or why not.
 */
static inline enum int_fault int_check(struct int_hdr *h, unsigned int room_bytes)
{
	unsigned int bytes;

	if (!h || room_bytes < INT_HDR_BYTES)
		return INT_BAD_TRUNCATED;
	bytes = h->words * INT_WORD_BYTES;
	if (bytes < INT_HDR_BYTES || (bytes - INT_HDR_BYTES) % INT_RECORD_BYTES ||
	    bytes > int_hdr_bytes(INT_SLOTS_MAX))
		return INT_BAD_LENGTH;
	if (bytes > room_bytes)
		return INT_BAD_TRUNCATED;
	if (h->type < INT_TYPE_HELLO || h->type > INT_TYPE_ECHO)
		return INT_BAD_TYPE;
	if (be32_to_cpu(*int_options(h)) >> INT_SLOTS_SHIFT != int_slots(h))
		return INT_BAD_SLOTS;
	return !int_hops(h) && int_path_id(h) ? INT_BAD_HOPS : INT_OK;
}

#endif /* HOPCC_NET_INT_H */
