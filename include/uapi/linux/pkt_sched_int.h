/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_int: netlink ABI, and every bound once. The kernel module, tc's plug-in
 * and the tests take the numbers from here. Bounds are bare literals, so that
 * messages can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_INT_H
#define HOPCC_UAPI_PKT_SCHED_INT_H

#include <linux/types.h>

/* What the port or class can send: 10 kbit/s to 1.6 Tbit/s; 0 is the device's own speed. */
#define TC_INT_RATE_AUTO		0
#define TC_INT_RATE_MIN_BYTES_PS	1250
#define TC_INT_RATE_MAX_BYTES_PS	200000000000

/* The speed that records name; 0 is the rate. */
#define TC_INT_SPEED_AUTO		0

/* Exclusive-ored into a packet's pathID. */
#define TC_INT_SWITCH_ID_MAX		4095
#define TC_INT_SWITCH_ID_DEFAULT	0

/* Names this port where its queue is a packet's longest. */
#define TC_INT_PORT_ID_MAX		65535
#define TC_INT_PORT_ID_DEFAULT		0

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap. */
#define TC_INT_OVERHEAD_MAX_BYTES	1024
#define TC_INT_OVERHEAD_DEFAULT_BYTES	0

/* Telemetry's IP protocol number. */
#define TC_INT_PROTOCOL_MIN		1
#define TC_INT_PROTOCOL_MAX		254
#define TC_INT_PROTOCOL_DEFAULT		254

#define TC_INT_DSCP_MAX			63
#define TC_INT_DSCP_DATA_DEFAULT	23
#define TC_INT_DSCP_PROBE_DEFAULT	27

/* Destination port of telemetry in UDP. */
#define TC_INT_UDP_PORT_MIN		1
#define TC_INT_UDP_PORT_MAX		65535
#define TC_INT_UDP_PORT_DEFAULT		65108

/* Of the default child, a byte fifo. */
#define TC_INT_LIMIT_MIN_BYTES		64
#define TC_INT_LIMIT_MAX_BYTES		4294967295

/* TCA_OPTIONS. What is absent from a change keeps its value. */
enum {
	TCA_INT_UNSPEC,
	TCA_INT_PAD,
	TCA_INT_RATE,		/* u64, bytes/s; 0: the device's */
	TCA_INT_SPEED,		/* u64, bytes/s, one that has a code; 0: the rate */
	TCA_INT_SWITCH_ID,	/* u32 */
	TCA_INT_PORT_ID,	/* u32 */
	TCA_INT_OVERHEAD,	/* u32, bytes a packet */
	TCA_INT_SOJOURN,	/* u32, 1: queue length from the packet's time in the queue */
	TCA_INT_SHARE,		/* u32, 1: txBytes of all of this device with this port ID */
	TCA_INT_PROTOCOL,	/* u32 */
	TCA_INT_DSCP_DATA,	/* u32 */
	TCA_INT_DSCP_PROBE,	/* u32 */
	TCA_INT_UDP_PORT,	/* u32 */
	TCA_INT_LIMIT,		/* u32, bytes; absent from a dump when the child was grafted */
	__TCA_INT_MAX,
};

#define TCA_INT_MAX (__TCA_INT_MAX - 1)

/* What was stamped: index into tc_int_xstats.stamped_pkts. */
enum {
	TC_INT_STAMPED_DATA,	/* between IP and transport */
	TC_INT_STAMPED_HELLO,	/* the same, of a handshake */
	TC_INT_STAMPED_PROBE,	/* in a TCP probe */
	TC_INT_STAMPED_ENCAP,	/* in UDP */
	TC_INT_STAMPED_KINDS,
};

/* Why a header was not taken for one: index into tc_int_xstats.malformed_pkts. */
enum {
	TC_INT_MALFORMED_TRUNCATED,	/* the packet ends within it */
	TC_INT_MALFORMED_LENGTH,	/* not a whole number of records, or too many */
	TC_INT_MALFORMED_TYPE,		/* of no type that belongs there */
	TC_INT_MALFORMED_SLOTS,		/* its last word disagrees with its length */
	TC_INT_MALFORMED_HOPS,		/* a pathID before the first hop */
	TC_INT_MALFORMED_CAUSES,
};

/**
 * struct tc_int_xstats - TCA_STATS_APP; fields are only ever added at the end
 * @rate_bytes_ps: what the port or class is taken to send
 * @speed_bytes_ps: the speed that records name; 0: of no code, unknown
 * @tx_bytes: sent, in bytes on the wire; of all that share
 * @longest_queue_bytes: the longest queue that was recorded
 * @stamped_pkts: by TC_INT_STAMPED_*
 * @full_pkts: of these, those without a place for the record
 * @echo_pkts: records on their way back
 * @unwritable_pkts: to be stamped, but could not be written
 * @untimed_pkts: of those stamped with sojourn, those whose arrival time was lost
 * @malformed_pkts: by TC_INT_MALFORMED_*
 * @qdiscs: number of qdiscs that share the port, this one included
 *
 * Packets are packets on the wire: a super-packet counts as its segments.
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
};

#endif /* HOPCC_UAPI_PKT_SCHED_INT_H */
