/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_xcp: netlink ABI, and the only place where the limits of the options are defined. The kernel
 * module, tc's plug-in and the tests use these numbers. Limits are plain literals, so that messages
 * can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_XCP_H
#define HOPCC_UAPI_PKT_SCHED_XCP_H

#include <linux/types.h>

/* Capacity: 10 kbit/s to 1.6 Tbit/s; 0: the speed of the device */
#define TC_XCP_RATE_AUTO		0
#define TC_XCP_RATE_MIN_BYTES_PS	1250
#define TC_XCP_RATE_MAX_BYTES_PS	200000000000

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap */
#define TC_XCP_OVERHEAD_MAX_BYTES	1024
#define TC_XCP_OVERHEAD_DEFAULT_BYTES	0

/* Gain of the spare capacity; stable below pi / (4 sqrt 2) = 0.555 */
#define TC_XCP_ALPHA_MIN_PPM		1
#define TC_XCP_ALPHA_MAX_PPM		554999
#define TC_XCP_ALPHA_DEFAULT_PPM	400000

/* Gain of the persistent queue; 0: alpha^2 * sqrt(2) */
#define TC_XCP_BETA_AUTO		0
#define TC_XCP_BETA_MAX_PPM		1000000

/* Part of the load that is shuffled */
#define TC_XCP_GAMMA_MAX_PPM		1000000
#define TC_XCP_GAMMA_DEFAULT_PPM	100000

/* Control interval, and period of the queue's estimate: 10 us to 10 s */
#define TC_XCP_TIME_MIN_US		10
#define TC_XCP_TIME_MAX_US		10000000
/*
 * Minimum of these times if set from within a user namespace: a hundred qdiscs with two timers each
 * then cause at most 200,000 expiries per second, and only while packets pass all of them.
 */
#define TC_XCP_TIME_CONTAINER_MIN_US	1000
#define TC_XCP_MIN_INTERVAL_DEFAULT_US	1000
#define TC_XCP_MAX_INTERVAL_DEFAULT_US	1000000
#define TC_XCP_ALLOWED_QUEUE_DEFAULT_US	2000

/* Part of its feedback that an end-to-end limited packet is charged with */
#define TC_XCP_SHARE_MAX_PPM		1000000
#define TC_XCP_E2E_SHARE_DEFAULT_PPM	TC_XCP_SHARE_MAX_PPM

/*
 * Two queues, one for XCP and one for other traffic; RENO and CUBIC select the congestion control
 * assumed for the latter.
 */
#define TC_XCP_SHARE_OFF		0
#define TC_XCP_SHARE_RENO		1
#define TC_XCP_SHARE_CUBIC		2

/* IP protocol number of XCP */
#define TC_XCP_PROTOCOL_MIN		1
#define TC_XCP_PROTOCOL_MAX		254
#define TC_XCP_PROTOCOL_DEFAULT		63

/* Limit of the default child, a byte fifo; with share, of both children */
#define TC_XCP_LIMIT_MIN_BYTES		64
#define TC_XCP_LIMIT_MAX_BYTES		4294967295

/* TCA_OPTIONS. An option that is absent from a change request keeps its value. */
enum {
	TCA_XCP_UNSPEC,
	TCA_XCP_PAD,
	TCA_XCP_RATE,		/* u64, bytes/s; 0: speed of the device */
	TCA_XCP_OVERHEAD,	/* u32, bytes per packet */
	TCA_XCP_ALPHA,		/* u32, ppm */
	TCA_XCP_BETA,		/* u32, ppm; 0: computed from alpha */
	TCA_XCP_GAMMA,		/* u32, ppm */
	TCA_XCP_MIN_INTERVAL,	/* u32, us */
	TCA_XCP_MAX_INTERVAL,	/* u32, us; not below MIN_INTERVAL */
	TCA_XCP_ALLOWED_QUEUE,	/* u32, us */
	TCA_XCP_E2E_SHARE,	/* u32, ppm */
	TCA_XCP_PROTOCOL,	/* u32 */
	TCA_XCP_LIMIT,		/* u32, bytes; absent from a dump if every child was grafted */
	TCA_XCP_SHARE,		/* u32, TC_XCP_SHARE_* */
	__TCA_XCP_MAX,
};

#define TCA_XCP_MAX (__TCA_XCP_MAX - 1)

/* Why a header is malformed: index into tc_xcp_xstats.malformed_pkts */
enum {
	TC_XCP_MALFORMED_TRUNCATED,	/* the packet ends within the header */
	TC_XCP_MALFORMED_VERSION,
	TC_XCP_MALFORMED_FORMAT,
	TC_XCP_MALFORMED_LENGTH,
	TC_XCP_MALFORMED_NEXT,		/* another congestion header follows */
	TC_XCP_MALFORMED_CAUSES,
};

/**
 * struct tc_xcp_xstats - TCA_STATS_APP; new fields are only added at the end
 * @capacity_bytes_ps: capacity of the port as the algorithm uses it
 * @feedback_bytes_ps: F, the amount by which the load should change
 * @input_bw_bytes_ps: load of the last control interval
 * @residue_pos_bytes_ps: rest of the pool of positive feedback
 * @residue_neg_bytes_ps: rest of the pool of negative feedback
 * @cp_bytes_ps2: Cp, bytes/s per second of packet time (size / Throughput)
 * @cn_ppm_ps: Cn, millionths of bytes/s per byte
 * @avg_rtt_ns: mean RTT over flows; 0: no XCP traffic yet
 * @ctl_interval_ns: length of the current control interval
 * @queue_bytes: the persistent queue, in bytes on the link
 * @intervals: number of control intervals that have ended
 * @reduced_pkts: packets whose Delta_Throughput was lowered here
 * @unwritable_pkts: packets that should have been changed but could not be written
 * @other_pkts: packets that arrived without a congestion header
 * @standard_pkts: packets that arrived with a header with the RTT in ms
 * @minimal_pkts: packets that arrived with a header with only Reverse_Feedback
 * @micro_pkts: packets that arrived with a header with the RTT in us
 * @unknown_pkts: subset of @standard_pkts and @micro_pkts without RTT or Throughput
 * @e2e_limited_pkts: packets whose header reports that XCP does not limit the sender
 * @flagged_pkts: packets with undefined flags in the header
 * @malformed_pkts: packets with a malformed header, by TC_XCP_MALFORMED_*
 * @unused: 0; were counters of the option sampler
 * @xcp_capacity_bytes_ps: current part of the capacity for XCP; this and the following fields up to
 *	@other_sent_bytes are 0 until there is a second queue
 * @share_weight_ppm: weight of XCP, millionths; the rest is the weight of other traffic
 * @share_loss_ppb: part of the other traffic that is dropped or marked here, 10^-9
 * @xcp_window_bytes: mean window of an XCP flow
 * @other_window_bytes: mean window of another flow, as TCP has it at this loss rate
 * @xcp_flow_bytes_ps: mean throughput of an XCP flow
 * @other_flow_bytes_ps: mean throughput of another flow
 * @xcp_sent_bytes: bytes on the link sent from class 1 since there is a second class
 * @other_sent_bytes: bytes on the link sent from class 2
 * @qdiscs: number of qdiscs that share the port, including this one
 * @measured_bytes_ps: measured rate of the port if it is less than 7/8 of the configured rate,
 *	otherwise 0
 * @bounded_pkts: packets that arrived with a packet time (size / Throughput) above the control
 *	interval, and count like a packet of a flow that sends one per interval
 *
 * Counters of packets count packets on the wire: a GSO packet counts as its segments.
 */
struct tc_xcp_xstats {
	__u64 capacity_bytes_ps;
	__s64 feedback_bytes_ps;
	__u64 input_bw_bytes_ps;
	__u64 residue_pos_bytes_ps;
	__u64 residue_neg_bytes_ps;
	__u64 cp_bytes_ps2;
	__u64 cn_ppm_ps;
	__u64 avg_rtt_ns;
	__u64 ctl_interval_ns;
	__u64 queue_bytes;
	__u64 intervals;
	__u64 reduced_pkts;
	__u64 unwritable_pkts;
	__u64 other_pkts;
	__u64 standard_pkts;
	__u64 minimal_pkts;
	__u64 micro_pkts;
	__u64 unknown_pkts;
	__u64 e2e_limited_pkts;
	__u64 flagged_pkts;
	__u64 malformed_pkts[TC_XCP_MALFORMED_CAUSES];
	__u64 unused[3];
	__u64 xcp_capacity_bytes_ps;
	__u64 share_weight_ppm;
	__u64 share_loss_ppb;
	__u64 xcp_window_bytes;
	__u64 other_window_bytes;
	__u64 xcp_flow_bytes_ps;
	__u64 other_flow_bytes_ps;
	__u64 xcp_sent_bytes;
	__u64 other_sent_bytes;
	__u64 qdiscs;
	__u64 measured_bytes_ps;
	__u64 bounded_pkts;
};

#endif /* HOPCC_UAPI_PKT_SCHED_XCP_H */
