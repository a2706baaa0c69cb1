/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire format of in-band telemetry (INT), draft-miao-rtgwg-hpccplus-00 figure 4, and how a hop
 * updates it.
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
 * The sender makes room for `slots` records, so that a packet never grows in the network. Each hop
 * increments nHop, XORs its switch ID into pathID and writes its record. A hop that finds no room
 * for its record still updates nHop and pathID. All fields are big-endian.
 *
 * Deviations:
 * - The first word is not in the draft: a header in front of a transport header must contain the
 *   next protocol and its own length.
 * - The draft does not define codes and units: see int_speeds[]. The unit of txBytes and of the
 *   queue length is the number of bytes that the port sends in 32 ns, rounded up to a power of two.
 *   A queue that is too long for the field is reported as its maximum.
 * - The options are the number of slots and the port ID of the hop with the longest queue (as a
 *   time) so far, among the hops that wrote a record.
 * - nHop does not count beyond 15.
 *
 * Position of the header in a packet:
 *
 *	[IP][header][tail][TCP]		DATA
 *	[IP][TCP, mark][message][header][terms]	PROBE
 *	[IP][TCP, mark][message][header]	ECHO
 *
 * A probe and its answer are TCP segments with old sequence numbers (SND.UNA - length), so that a
 * receiver that does not know them treats them as duplicates. The mark by which they are recognised
 * is the first option of TCP, so that they have the DSCP, and thus the queue, of their connection.
 */
#ifndef HOPCC_WIRE_INT_H
#define HOPCC_WIRE_INT_H

#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#define INT_PROTOCOL_DEFAULT	254	/* RFC 3692: for experiments */

/*
 * The marks of probes and of their answers: a TCP option of four bytes behind TCP's 20, with a kind
 * for experiments and an ExID (RFC 6994). An application writes data, but no options, so its data
 * never has a mark. Hops compare one word; the ExIDs are "HP" and "HA".
 */
#define INT_MARK_PROBE		0xfd044850U
#define INT_MARK_ECHO		0xfd044841U
#define INT_MARK_BYTES		4U
/* TCP's header in a probe and in an answer. */
#define INT_TCP_BYTES		(20U + INT_MARK_BYTES)

/* Flag of DATA and PROBE: the sender's window is below INT_SMALL_WINDOW_PKTS segments. */
#define INT_FLAG_SMALL		0x40
/* The other flag bits are a value. In an ECHO with one record: the index of the record's hop. */
#define INT_FLAGS_VALUE		0x3f

#define INT_SMALL_WINDOW_PKTS	4U

#define INT_SLOTS_MAX		15U
#define INT_HOPS_SATURATED	15U
#define INT_SWITCH_ID_MAX	0xfffU
#define INT_WORD_BYTES		4U
#define INT_RECORD_BYTES	8U
/* Size without records: the first two words and the last one. */
#define INT_HDR_BYTES		12U

/* Positions of the fields in the second and the last word. */
#define INT_HOPS_SHIFT		28
#define INT_PATH_ID_SHIFT	16
#define INT_SLOTS_SHIFT		28
#define INT_PORT_SHIFT		12
#define INT_PORT_MASK		(0xffffU << INT_PORT_SHIFT)

#define INT_TS_MASK		0xffffffU	/* ns; wraps every 16.8 ms */
#define INT_TX_MASK		0xfffffU	/* units */
#define INT_QLEN_MAX		0xffffU		/* units; the maximum means this or more */

/**
 * enum int_type - types of headers
 * @INT_TYPE_DATA: on data
 * @INT_TYPE_PROBE: in a probe
 * @INT_TYPE_ECHO: in an answer that returns records; hops do not change it
 */
enum int_type {
	INT_TYPE_DATA = 2,
	INT_TYPE_PROBE = 3,
	INT_TYPE_ECHO = 4,
};

/**
 * struct int_hdr - the INT header; the last word follows the slots in @record
 * @next: protocol that follows the header
 * @words: length of the header in 32-bit words, including the last word
 * @type: enum int_type
 * @flags: meaning depends on @type
 * @path: nHop, pathID, padding
 * @record: slots for records
 */
struct int_hdr {
	__u8	next;
	__u8	words;
	__u8	type;
	__u8	flags;
	__be32	path;
	__be64	record[];
} __packed __aligned(4);

#define INT_MSG_BYTES		36U

/**
 * struct int_msg - message in front of the header of a probe or an answer
 * @id: ID of the probe, or of the packet that is answered
 * @cookie: cookie from the option by which this packet's receiver negotiated (hop_option.h); it
 *	proves that the sender has read it
 * @seq: SND.NXT after the answered packet was sent
 * @t_ns: probe: T; RATIO: tau; other answers: time at which the answered packet arrived, by the
 *	receiver's clock, modulo 2^32; 0: not known
 * @wnd: probe: the window, bytes; WINDOW: W, bytes; RATIO: u, 2^-20
 * @kind: enum int_answer_kind: the kind that is requested or given
 * @flows: answer: N, or 0 if not reported; probe: 0
 * @tag_hi: answer: upper half of the SipHash-2-4 value; 0 without a key; probe: RTT of an earlier
 *	probe, ns; 0 if not known
 * @tag_lo: answer: lower half of the same
 */
struct int_msg {
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
 * struct int_tail - words between the header and TCP; hops do not read them
 * @first: ID of the packet
 * @second: the lower half of the receiver's cookie
 */
struct int_tail {
	__be32	first;
	__be32	second;
} __packed __aligned(4);

#define INT_TAIL_BYTES		8U

/**
 * struct int_terms - parameters behind the header of a probe, for the algorithm at the receiver
 * @wnd_max: maximum window, bytes
 * @eta: target utilisation, 2^-20
 * @max_stage: maxStage
 * @flows: N, for a receiver that does not count flows
 */
struct int_terms {
	__be32	wnd_max;
	__be32	eta;
	__be16	max_stage;
	__be16	flows;
} __packed __aligned(4);

#define INT_TERMS_BYTES		12U

/**
 * enum int_fault - reasons why a header is invalid
 * @INT_OK: the header is valid
 * @INT_BAD_TRUNCATED: the packet ends within the header
 * @INT_BAD_LENGTH: length for a fractional number of records, or for more than INT_SLOTS_MAX
 * @INT_BAD_TYPE: unknown type, or a type that is not allowed at this place
 * @INT_BAD_SLOTS: the number of slots in the last word contradicts the length
 * @INT_BAD_HOPS: nHop is 0 but pathID is not, which no hop can cause
 * @INT_FAULTS: number of values
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
 * struct int_speed - rate and units of a speed code
 * @mbit_ps: rate of the port, 10^6 bit/s
 * @unit_shift: log2 of the unit of txBytes and queue length, in bytes
 * @unit_ps: transmission time of one unit, in picoseconds, exact
 */
struct int_speed {
	u32 mbit_ps;
	u8 unit_shift;
	u32 unit_ps;
};

/* Codes 0 (unknown) and 15 (reserved) represent no rate. */
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
 * struct int_record - state of a port at one moment, as a hop reports it
 * @speed: speed code, index of int_speeds[]
 * @ts_ns: timestamp, modulo 2^24
 * @tx_units: amount sent so far without this packet, modulo 2^20
 * @qlen_units: amount queued behind this packet
 */
struct int_record {
	u32 speed;
	u32 ts_ns;
	u32 tx_units;
	u32 qlen_units;
};

/* A rate without a code gets code 0. */
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

/* Number of slots of a header that passed int_check(). */
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

static inline unsigned int int_port_id(struct int_hdr *h)
{
	return (be32_to_cpu(*int_options(h)) & INT_PORT_MASK) >> INT_PORT_SHIFT;
}

/* Number of records that hops have written. */
static inline unsigned int int_records(const struct int_hdr *h)
{
	return min(int_hops(h), int_slots(h));
}

/**
 * int_write() - write an empty header
 * @h: position of the header; has room for int_hdr_bytes(@slots)
 * @next: the protocol that follows
 * @type: enum int_type
 * @flags: meaning depends on @type
 * @slots: number of slots, up to INT_SLOTS_MAX
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
 * int_check() - validate a header
 * @h: the header; NULL if the packet ends before INT_HDR_BYTES
 * @room_bytes: number of bytes from @h to the end of the packet
 *
 * Return: INT_OK or the reason why the header is invalid: the fault that comes first in it.
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
	if (h->type < INT_TYPE_DATA || h->type > INT_TYPE_ECHO)
		return INT_BAD_TYPE;
	if (be32_to_cpu(*int_options(h)) >> INT_SLOTS_SHIFT != int_slots(h))
		return INT_BAD_SLOTS;
	return !int_hops(h) && int_path_id(h) ? INT_BAD_HOPS : INT_OK;
}

#endif /* HOPCC_WIRE_INT_H */
