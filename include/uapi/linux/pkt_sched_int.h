/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_int: netlink ABI, and the only place where the limits of the options are defined. The kernel
 * module, tc's plug-in and the tests use these numbers. Limits are plain literals, so that messages
 * can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_INT_H
#define HOPCC_UAPI_PKT_SCHED_INT_H

#include <linux/types.h>

/* Rate of the port or class: 10 kbit/s to 1.6 Tbit/s; 0: the speed of the device */
#define TC_INT_RATE_AUTO		0
#define TC_INT_RATE_MIN_BYTES_PS	1250
#define TC_INT_RATE_MAX_BYTES_PS	200000000000

/* Speed in the records; 0: the rate */
#define TC_INT_SPEED_AUTO		0

/* Switch ID, combined into a packet's pathID by exclusive or */
#define TC_INT_SWITCH_ID_MAX		4095

/* Port ID, written into a packet if this port's queue is the longest on its path */
#define TC_INT_PORT_ID_MAX		65535
#define TC_INT_PORT_ID_DEFAULT		0

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap */
#define TC_INT_OVERHEAD_MAX_BYTES	1024
#define TC_INT_OVERHEAD_DEFAULT_BYTES	0

/* IP protocol number of INT packets */
#define TC_INT_PROTOCOL_MIN		1
#define TC_INT_PROTOCOL_MAX		254
#define TC_INT_PROTOCOL_DEFAULT		254

#define TC_INT_DSCP_MAX			63

/* Telemetry of other switches that this hop writes: bits of the option formats; 0: none */
enum {
	TC_INT_FORMAT_IFA,	/* IFA 2.0, IP protocol 253: metadata of eight words is inserted */
	TC_INT_FORMAT_IOAM,	/* IPv6 IOAM trace: the router's own node data is completed */
	TC_INT_FORMAT_INTMD,	/* INT-MD 2.1 in TCP or UDP: metadata is inserted */
	TC_INT_FORMATS,
};

#define TC_INT_FORMATS_MAX		7
#define TC_INT_FORMATS_DEFAULT		0

/* Node ID in these formats; required with formats. IFA has 20 bits */
#define TC_INT_NODE_ID_DEFAULT		0
#define TC_INT_NODE_ID_MAX		16777215
#define TC_INT_NODE_ID_IFA_MAX		1048575

/* Schema of opaque state of IOAM that takes a record. 16777215 stands for none */
#define TC_INT_SCHEMA_DEFAULT		4804180
#define TC_INT_SCHEMA_MAX		16777214

/* DSCP of packets with INT-MD; 64: none */
#define TC_INT_DSCP_INTMD_DEFAULT	64
#define TC_INT_DSCP_INTMD_MAX		64

/* Limit of the default child, a byte fifo */
#define TC_INT_LIMIT_MIN_BYTES		64
#define TC_INT_LIMIT_MAX_BYTES		4294967295

/* TCA_OPTIONS. An option that is absent from a change request keeps its value. */
enum {
	TCA_INT_UNSPEC,
	TCA_INT_PAD,
	TCA_INT_SWITCH_ID,	/* u32 */
	TCA_INT_PORT_ID,	/* u32 */
	TCA_INT_OVERHEAD,	/* u32, bytes per packet */
	TCA_INT_SOJOURN,	/* u32, 1: queue length computed from the time in the queue */
	TCA_INT_SHARE,		/* u32, 1: txBytes of all classes with this port ID */
	TCA_INT_PROTOCOL,	/* u32 */
	TCA_INT_FORMATS,	/* u32, bits 1 << TC_INT_FORMAT_* */
	TCA_INT_NODE_ID,	/* u32; this and the next ones: in a dump only with formats */
	TCA_INT_SCHEMA,		/* u32 */
	TCA_INT_DSCP_INTMD,	/* u32 */
	TCA_INT_FORMATS_ONLY,	/* u32, 1: no records of our own */
	TCA_INT_BORDER,		/* u32, 1: clear telemetry that leaves; in a dump only if it is 1 */
	TCA_INT_LIMIT,		/* u32, bytes; absent from a dump if the child was grafted */
	TCA_INT_RATE,		/* u64, bytes/s; 0: speed of the device */
	TCA_INT_SPEED,		/* u64, bytes/s, a speed with a code; 0: the rate */
	__TCA_INT_MAX,
};

#define TCA_INT_MAX (__TCA_INT_MAX - 1)

/* Kind of stamped packet: index into tc_int_xstats.stamped_pkts */
enum {
	TC_INT_STAMPED_DATA,	/* header between IP and transport */
	TC_INT_STAMPED_PROBE,	/* header in a TCP probe */
	TC_INT_STAMPED_KINDS,
};

/* Why a header is malformed: index into tc_int_xstats.malformed_pkts */
enum {
	TC_INT_MALFORMED_TRUNCATED,	/* the packet ends within the header */
	TC_INT_MALFORMED_LENGTH,	/* not a whole number of records, or too many */
	TC_INT_MALFORMED_TYPE,		/* the type must not occur in this encapsulation */
	TC_INT_MALFORMED_SLOTS,		/* the number of slots disagrees with the length */
	TC_INT_MALFORMED_HOPS,		/* the pathID is set before the first hop */
	TC_INT_MALFORMED_CAUSES,
};

/* Why a packet of another format was not written: index into tc_int_xstats.refused_pkts */
enum {
	TC_INT_REFUSED_MALFORMED,	/* the header is not valid */
	TC_INT_REFUSED_LIMIT,		/* no hop or no word is left */
	TC_INT_REFUSED_MTU,		/* the packet would exceed the device's MTU */
	TC_INT_REFUSED_FRAGMENT,	/* a fragment must not grow */
	TC_INT_REFUSED_OFFLOAD,		/* nor a GSO packet, nor one that the device checksums */
	TC_INT_REFUSED_UNWRITABLE,	/* no memory */
	TC_INT_REFUSED_OTHER_NODE,	/* IOAM: the newest data is not this router's */
	TC_INT_REFUSED_CAUSES,
};

/**
 * struct tc_int_xstats - TCA_STATS_APP; new fields are only added at the end
 * @rate_bytes_ps: rate of the port or class
 * @speed_bytes_ps: speed in the records; 0: unknown, because the speed has no code
 * @tx_bytes: bytes on the wire sent by all qdiscs that share the port
 * @longest_queue_bytes: the longest queue of a record, before it is scaled to the share of a class
 *	or to another speed
 * @stamped_pkts: stamped packets by TC_INT_STAMPED_*
 * @full_pkts: subset of @stamped_pkts without a slot for the record
 * @echo_pkts: packets that carry records back to the sender
 * @unwritable_pkts: packets that should have been stamped but could not be written
 * @untimed_pkts: packets stamped with sojourn whose arrival time was lost
 * @malformed_pkts: packets with a malformed header, by TC_INT_MALFORMED_*
 * @qdiscs: number of qdiscs that share the port, including this one
 * @formats: the option formats, 0: the next two are not in use
 * @format_pkts: packets of other formats that were written, by TC_INT_FORMAT_*
 * @refused_pkts: packets of other formats that were not, by TC_INT_REFUSED_*
 * @cleared_pkts: packets whose telemetry a border has cleared
 *
 * Counters of packets count packets on the wire: a GSO packet counts as its segments.
 */
struct tc_int_xstats {
	__u64 rate_bytes_ps;
	__u64 speed_bytes_ps;
	__u64 tx_bytes;
	__u64 longest_queue_bytes;
	__u64 stamped_pkts[TC_INT_STAMPED_KINDS];
	__u64 full_pkts;
	__u64 echo_pkts;
	__u64 unwritable_pkts;
	__u64 untimed_pkts;
	__u64 malformed_pkts[TC_INT_MALFORMED_CAUSES];
	__u64 qdiscs;
	__u64 formats;
	__u64 format_pkts[TC_INT_FORMATS];
	__u64 refused_pkts[TC_INT_REFUSED_CAUSES];
	__u64 cleared_pkts;
};

#endif /* HOPCC_UAPI_PKT_SCHED_INT_H */
