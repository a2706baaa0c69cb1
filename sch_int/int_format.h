/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metadata of this hop in the telemetry of other switches: IFA 2.0, IOAM and INT-MD 2.1. The
 * headers are in hopcc/wire/, their positions in a packet in int_foreign.h.
 *
 * IFA: eight words, in the layout of Trident3 with the counter of bytes in the opaque word:
 *
 *	+-------+-------------------------------+---------------+
 *	| LNS 4 |           node 20             |     TTL 8     |
 *	+-------+---+-----------+---------------+---------------+
 *	|speed 4| 0 |  queue 6  |       seconds 20, arrival     |
 *	+-------+---+-----------+-------+-----------------------+
 *	|         egress port 16        |    ingress port 16    |
 *	+-------------------------------+-----------------------+
 *	|             nanoseconds 32, arrival                   |
 *	|             residence, ns 32                          |
 *	|             bytes sent before this packet 32          |
 *	|             queue, bytes 32                           |
 *	|             queue, bytes 32                           |
 *	+-------------------------------------------------------+
 *
 * IOAM: the router's own stack has written its node data when the packet arrived. This hop
 * overwrites what is known only at departure: transit delay, queue depth, and a record of our own
 * (hopcc/wire/int.h) in the opaque state if that has our schema and the length of a record.
 *
 * INT-MD: values by the instruction bitmap. Times are in ns, queues in bytes, utilisation in parts
 * per million. Layer-2 ports and the checksum complement are not available (all ones).
 */
#ifndef HOPCC_SCH_INT_INT_FORMAT_H
#define HOPCC_SCH_INT_INT_FORMAT_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/wire/ifa.h>
#include <hopcc/wire/int.h>
#include <hopcc/wire/int_md.h>
#include <hopcc/wire/ioam.h>

#define SINT_NS_PER_S		1000000000U
#define SINT_NS_PER_US		1000U
#define SINT_PPM		1000000U

#define SINT_NODE_MAX		0xffffffU
#define SINT_IFA_WORDS		8U
#define SINT_IFA_BYTES		(SINT_IFA_WORDS * IFA_WORD_BYTES)
#define SINT_IFA_NODE_MAX	0xfffffU
#define SINT_IFA_SECONDS_MASK	0xfffffU
#define SINT_IFA_SPEED_UNKNOWN	15U

/* RFC 9197: a delay that has more than 31 bits is this value. */
#define SINT_IOAM_DELAY_OVERFLOW	0x80000000U
/* A delay by the clock of the node data above this means that the clock was set. */
#define SINT_IOAM_DELAY_MAX_NS	1000000000LL
#define SINT_RECORD_WORDS	(INT_RECORD_BYTES / IOAM_WORD_BYTES)

#define SINT_INTMD_QUEUE_MAX	0xffffffU
/* Utilisation is averaged over at least this time. */
#define SINT_UTIL_WINDOW_NS	100000U
/* Bounds beyond which products would exceed 64 bits: 1 hour, and 90 s at 1.6 Tbit/s */
#define SINT_UTIL_MAX_NS	3600000000000ULL
#define SINT_UTIL_MAX_BYTES	18000000000000ULL

/**
 * struct sint_node - what this hop reports when a packet departs
 * @now_ns: time of departure by a clock that does not jump
 * @real_ns: the same by CLOCK_REALTIME, for IOAM
 * @waited_ns: time that the packet was in the qdisc; 0 if unknown
 * @queue_bytes: queue, bytes on the wire
 * @scaled_queue_bytes: the same, as a port of @mbit_ps has it with the same load
 * @scaled_tx_bytes: bytes on the wire sent before this packet, also scaled
 * @id: node ID, 24 bits
 * @util_ppm: utilisation of the port, parts per million
 * @mbit_ps: rate of the port that is reported, 10^6 bit/s; 0: unknown
 * @schema: schema ID of our opaque state in IOAM
 * @record: the record in our opaque state
 * @egress: port ID
 * @ingress: index of the device that received the packet
 * @ttl: TTL or hop limit of the packet
 */
struct sint_node {
	u64 now_ns;
	u64 real_ns;
	u64 waited_ns;
	u64 queue_bytes;
	u64 scaled_queue_bytes;
	u64 scaled_tx_bytes;
	u32 id;
	u32 util_ppm;
	u32 mbit_ps;
	u32 schema;
	__be64 record;
	u16 egress;
	u16 ingress;
	u8 ttl;
};

static inline u8 *sint_put_u32(u8 *at, u32 value)
{
	const __be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

/* Return: speed code of Trident3 */
static inline u32 sint_ifa_speed(u32 mbit_ps)
{
	static const u32 speeds_mbit_ps[] = { 10000, 25000, 40000, 50000, 100000, 200000, 400000 };
	u32 code;

	for (code = 0; code < ARRAY_SIZE(speeds_mbit_ps); code++)
		if (speeds_mbit_ps[code] == mbit_ps)
			return code;
	return SINT_IFA_SPEED_UNKNOWN;
}

/**
 * sint_ifa_node() - build the metadata of this hop for IFA
 * @at: position; SINT_IFA_BYTES
 * @n: values
 *
 * The local namespace is 0.
 */
static inline void sint_ifa_node(u8 *at, const struct sint_node *n)
{
	const u32 queue_bytes = min_t(u64, n->scaled_queue_bytes, U32_MAX);
	u64 seconds;
	u32 ns;

	seconds = div_u64_rem(n->now_ns - min(n->waited_ns, n->now_ns), SINT_NS_PER_S, &ns);
	at = sint_put_u32(at, (n->id & SINT_IFA_NODE_MAX) << 8 | n->ttl);
	at = sint_put_u32(at, sint_ifa_speed(n->mbit_ps) << 28 |
			      ((u32)seconds & SINT_IFA_SECONDS_MASK));
	at = sint_put_u32(at, (u32)n->egress << 16 | n->ingress);
	at = sint_put_u32(at, ns);
	at = sint_put_u32(at, min_t(u64, n->waited_ns, SINT_NS_PER_S - 1));
	at = sint_put_u32(at, n->scaled_tx_bytes);
	at = sint_put_u32(at, queue_bytes);
	sint_put_u32(at, queue_bytes);
}

/* Return: a word of the newest node data */
static inline u32 sint_ioam_word(const struct ioam_view *v, const u8 *hdr, enum ioam_bit bit)
{
	__be32 word;

	memcpy(&word, hdr + v->stack_offset + ioam_field_offset(v->trace, bit), sizeof(word));
	return be32_to_cpu(word);
}

/* Return: true if the newest data has this field, of one word, with a value */
static inline bool sint_ioam_has(const struct ioam_view *v, const u8 *hdr, enum ioam_bit bit)
{
	return v->trace & IOAM_BIT(bit) && sint_ioam_word(v, hdr, bit) != U32_MAX;
}

/**
 * sint_ioam_delay() - time since the router received the packet
 * @v: valid header, with data of this router
 * @hdr: the extension header
 * @n: values
 *
 * The stock node writes the time at which it received the packet, with a resolution of 1 us. If it
 * did not, or if the clock was set since, the delay is the time in the qdisc.
 *
 * Return: transit delay, ns, as in RFC 9197.
 */
static inline u32 sint_ioam_delay(const struct ioam_view *v, const u8 *hdr,
				  const struct sint_node *n)
{
	u64 delay_ns = n->waited_ns;
	s64 since_ns;

	if (sint_ioam_has(v, hdr, IOAM_SECONDS) && sint_ioam_has(v, hdr, IOAM_FRACTION)) {
		since_ns = n->real_ns;
		since_ns -= (u64)sint_ioam_word(v, hdr, IOAM_SECONDS) * SINT_NS_PER_S;
		since_ns -= (u64)sint_ioam_word(v, hdr, IOAM_FRACTION) * SINT_NS_PER_US;
		if (since_ns >= 0 && since_ns <= SINT_IOAM_DELAY_MAX_NS)
			delay_ns = max_t(u64, delay_ns, since_ns);
	}
	return min_t(u64, delay_ns, SINT_IOAM_DELAY_OVERFLOW);
}

/* Write the record into the newest node's opaque state if that has our schema and its length. */
static inline void sint_ioam_opaque(const struct ioam_view *v, u8 *hdr, const struct sint_node *n)
{
	u8 *opaque = hdr + v->stack_offset + v->node_words * IOAM_WORD_BYTES;
	__be32 word;

	if (!(v->trace & IOAM_BIT(IOAM_OPAQUE)))
		return;
	memcpy(&word, opaque, sizeof(word));
	if ((be32_to_cpu(word) & IOAM_SCHEMA_MAX) == n->schema && opaque[0] == SINT_RECORD_WORDS)
		memcpy(opaque + IOAM_WORD_BYTES, &n->record, sizeof(n->record));
}

/**
 * sint_ioam_is_ours() - is the newest data of a trace from this router?
 * @v: valid header
 * @hdr: the extension header
 * @n: values
 *
 * Return: true if it has this router's node ID.
 */
static inline bool sint_ioam_is_ours(const struct ioam_view *v, const u8 *hdr,
				     const struct sint_node *n)
{
	return v->hops && v->trace & IOAM_BIT(IOAM_NODE) &&
	       (sint_ioam_word(v, hdr, IOAM_NODE) & SINT_NODE_MAX) == n->id;
}

/**
 * sint_ioam_write() - complete the data that this router has written into a trace
 * @v: header with data of this router, see sint_ioam_is_ours()
 * @hdr: the extension header
 * @n: values
 */
static inline void sint_ioam_write(const struct ioam_view *v, u8 *hdr, const struct sint_node *n)
{
	ioam_complete(v, hdr, n->id, IOAM_TRANSIT_DELAY, sint_ioam_delay(v, hdr, n));
	ioam_complete(v, hdr, n->id, IOAM_QUEUE_DEPTH, min_t(u64, n->queue_bytes, U32_MAX - 1));
	sint_ioam_opaque(v, hdr, n);
}

/**
 * sint_intmd_node() - values of this hop for INT-MD
 * @md: result
 * @n: values
 */
static inline void sint_intmd_node(struct intmd_node *md, const struct sint_node *n)
{
	const u32 queue_bytes = min_t(u64, n->queue_bytes, SINT_INTMD_QUEUE_MAX);

	memset(md, 0xff, sizeof(*md));
	md->value[INTMD_NODE] = n->id;
	md->value[INTMD_PORTS] = (u32)n->ingress << 16 | n->egress;
	md->value[INTMD_LATENCY] = min_t(u64, n->waited_ns, U32_MAX - 1);
	md->value[INTMD_QUEUE] = queue_bytes;
	md->value[INTMD_INGRESS_TIME] = n->now_ns - min(n->waited_ns, n->now_ns);
	md->value[INTMD_EGRESS_TIME] = n->now_ns;
	md->value[INTMD_UTIL] = n->util_ppm;
	md->value[INTMD_BUFFER] = queue_bytes;
}

/**
 * struct sint_util - utilisation of a port
 * @since_ns: start of the time that is averaged next
 * @tx_bytes: bytes sent until @since_ns
 * @ppm: the last average, parts per million
 */
struct sint_util {
	u64 since_ns;
	u64 tx_bytes;
	u32 ppm;
};

/**
 * sint_util_ppm() - utilisation since a packet asked, at least SINT_UTIL_WINDOW_NS ago
 * @u: the port's utilisation; updated
 * @now_ns: the current time
 * @tx_bytes: bytes on the wire sent so far
 * @rate_bytes_ps: rate of the port, above 0
 *
 * Return: parts per million of the rate.
 */
static inline u32 sint_util_ppm(struct sint_util *u, u64 now_ns, u64 tx_bytes, u64 rate_bytes_ps)
{
	u64 passed_ns = now_ns - u->since_ns, sent_bytes = tx_bytes - u->tx_bytes, sent_ppm;

	if (passed_ns < SINT_UTIL_WINDOW_NS)
		return u->ppm;
	while (passed_ns > SINT_UTIL_MAX_NS || sent_bytes > SINT_UTIL_MAX_BYTES) {
		passed_ns >>= 1;
		sent_bytes >>= 1;
	}
	sent_ppm = div64_u64(sent_bytes * SINT_PPM,
			     max_t(u64, 1, mul_u64_u64_div_u64(passed_ns, rate_bytes_ps,
							       SINT_NS_PER_S)));
	u->ppm = min_t(u64, sent_ppm, U32_MAX - 1);
	u->since_ns = now_ns;
	u->tx_bytes = tx_bytes;
	return u->ppm;
}

#endif /* HOPCC_SCH_INT_INT_FORMAT_H */
