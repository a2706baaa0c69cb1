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

/**
 * sint_ifa_node() - build the metadata of this hop for IFA
 * @at: position; SINT_IFA_BYTES
 * @n: values
 *
 * The local namespace is 0.
 */
void sint_ifa_node(u8 *at, const struct sint_node *n);

/**
 * sint_ioam_is_ours() - is the newest data of a trace from this router?
 * @v: valid header
 * @hdr: the extension header
 * @n: values
 *
 * Return: true if it has this router's node ID.
 */
bool sint_ioam_is_ours(const struct ioam_view *v, const u8 *hdr, const struct sint_node *n);

/**
 * sint_ioam_write() - complete the data that this router has written into a trace
 * @v: header with data of this router, see sint_ioam_is_ours()
 * @hdr: the extension header
 * @n: values
 */
void sint_ioam_write(const struct ioam_view *v, u8 *hdr, const struct sint_node *n);

/**
 * sint_intmd_node() - write the metadata of this hop for INT-MD
 * @at: position; has room for hop ML words
 * @v: the packet
 * @n: values
 *
 * Words of the domain's instructions are set to all ones.
 */
void sint_intmd_node(u8 *at, const struct intmd_view *v, const struct sint_node *n);

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
u32 sint_util_ppm(struct sint_util *u, u64 now_ns, u64 tx_bytes, u64 rate_bytes_ps);

#endif /* HOPCC_SCH_INT_INT_FORMAT_H */
