/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_xcp: netlink ABI, and every bound once. The kernel module, tc's plug-in
 * and the tests take the numbers from here. Bounds are bare literals, so that
 * messages can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_XCP_H
#define HOPCC_UAPI_PKT_SCHED_XCP_H

#include <linux/types.h>

/* Capacity: 10 kbit/s to 1.6 Tbit/s; 0 is the device's own speed. */
#define TC_XCP_RATE_AUTO		0
#define TC_XCP_RATE_MIN_BYTES_PS	1250
#define TC_XCP_RATE_MAX_BYTES_PS	200000000000

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap. */
#define TC_XCP_OVERHEAD_MAX_BYTES	1024
#define TC_XCP_OVERHEAD_DEFAULT_BYTES	0

/* Gain of spare capacity: stable below pi / (4 sqrt 2) = 0.555. */
#define TC_XCP_ALPHA_MIN_PPM		1
#define TC_XCP_ALPHA_MAX_PPM		554999
#define TC_XCP_ALPHA_DEFAULT_PPM	400000

/* Gain of the persistent queue; 0 is alpha^2 * sqrt(2). */
#define TC_XCP_BETA_AUTO		0
#define TC_XCP_BETA_MAX_PPM		1000000

/* Part of the load that is shuffled. */
#define TC_XCP_GAMMA_MAX_PPM		1000000
#define TC_XCP_GAMMA_DEFAULT_PPM	100000

/* Control interval, and period of the queue's estimate: 10 us to 10 s. */
#define TC_XCP_TIME_MIN_US		10
#define TC_XCP_TIME_MAX_US		10000000
/*
 * The least of them that may be set from within a user namespace: a hundred qdiscs with two
 * timers each make 200,000 expiries a second, and only while packets pass all of them.
 */
#define TC_XCP_TIME_CONTAINER_MIN_US	1000
#define TC_XCP_MIN_INTERVAL_DEFAULT_US	1000
#define TC_XCP_MAX_INTERVAL_DEFAULT_US	1000000
#define TC_XCP_ALLOWED_QUEUE_DEFAULT_US	2000

/* Part of its feedback that an end-to-end limited packet is charged. */
#define TC_XCP_SHARE_MAX_PPM		1000000
#define TC_XCP_E2E_SHARE_DEFAULT_PPM	TC_XCP_SHARE_MAX_PPM

/* Pause between two samples of senders; 0 is no sampler. */
#define TC_XCP_SAMPLER_OFF		0

/* Two queues, one for XCP and one for all else; what that is for the estimate. */
#define TC_XCP_SHARE_OFF		0
#define TC_XCP_SHARE_RENO		1
#define TC_XCP_SHARE_CUBIC		2

/* XCP's IP protocol number. */
#define TC_XCP_PROTOCOL_MIN		1
#define TC_XCP_PROTOCOL_MAX		254
#define TC_XCP_PROTOCOL_DEFAULT		253

/* Of the default child, a byte fifo; of both, with two. */
#define TC_XCP_LIMIT_MIN_BYTES		64
#define TC_XCP_LIMIT_MAX_BYTES		4294967295

/* TCA_OPTIONS. What is absent from a change keeps its value. */
enum {
	TCA_XCP_UNSPEC,
	TCA_XCP_PAD,
	TCA_XCP_RATE,		/* u64, bytes/s; 0: the device's */
	TCA_XCP_OVERHEAD,	/* u32, bytes a packet */
	TCA_XCP_ALPHA,		/* u32, ppm */
	TCA_XCP_BETA,		/* u32, ppm; 0: from alpha */
	TCA_XCP_GAMMA,		/* u32, ppm */
	TCA_XCP_MIN_INTERVAL,	/* u32, us */
	TCA_XCP_MAX_INTERVAL,	/* u32, us; not below MIN_INTERVAL */
	TCA_XCP_ALLOWED_QUEUE,	/* u32, us */
	TCA_XCP_E2E_SHARE,	/* u32, ppm */
	TCA_XCP_PROTOCOL,	/* u32 */
	TCA_XCP_LIMIT,		/* u32, bytes; absent from a dump when every child was grafted */
	TCA_XCP_SAMPLER,	/* u32, us; 0: off */
	TCA_XCP_SHARE,		/* u32, TC_XCP_SHARE_* */
	__TCA_XCP_MAX,
};

#define TCA_XCP_MAX (__TCA_XCP_MAX - 1)

/* Why a header was not taken for one: index into tc_xcp_xstats.malformed_pkts. */
enum {
	TC_XCP_MALFORMED_TRUNCATED,	/* the packet ends within it */
	TC_XCP_MALFORMED_VERSION,
	TC_XCP_MALFORMED_FORMAT,
	TC_XCP_MALFORMED_LENGTH,
	TC_XCP_MALFORMED_NEXT,		/* another congestion header follows */
	TC_XCP_MALFORMED_CAUSES,
};

/**
 * struct tc_xcp_xstats - TCA_STATS_APP; fields are only ever added at the end
 * @capacity_bytes_ps: what the law takes for the port's rate
 * @feedback_bytes_ps: F, by how much the load shall change
 * @input_bw_bytes_ps: load of the last control interval
 * @residue_pos_bytes_ps: what is left of the positive feedback
 * @residue_neg_bytes_ps: what is left of the negative feedback
 * @cp_bytes_ps2: Cp, bytes/s for each second of packet time (size / Throughput)
 * @cn_ppm_ps: Cn, millionths of bytes/s for each byte
 * @avg_rtt_ns: mean RTT over flows; 0: no XCP traffic yet
 * @ctl_interval_ns: the control interval that runs
 * @queue_bytes: the persistent queue, in bytes on the link
 * @intervals: control intervals that ended
 * @reduced_pkts: packets whose Delta_Throughput was lowered here
 * @unwritable_pkts: to be lowered, but the header could not be written
 * @other_pkts: arrived without a congestion header
 * @standard_pkts: arrived with one of RTT in ms
 * @minimal_pkts: arrived with only Reverse_Feedback
 * @micro_pkts: arrived with RTT in us
 * @unknown_pkts: of the formats with an RTT, those without RTT or Throughput
 * @e2e_limited_pkts: said that XCP does not limit them
 * @flagged_pkts: bore flags that nobody defined
 * @malformed_pkts: by TC_XCP_MALFORMED_*
 * @samples: of senders
 * @understating: samples in which more was sent than advertised
 * @ignoring: samples that did not slow down when they were told to
 * @xcp_capacity_bytes_ps: what of the port is XCP's now; this and what follows is 0
 *	until there is a second queue
 * @share_weight_ppm: XCP's weight, millionths; the other's is the rest
 * @share_loss_ppb: part of the other traffic that is dropped or marked here, 10^-9
 * @xcp_window_bytes: mean window of an XCP flow
 * @other_window_bytes: mean window of another flow, as a TCP with that loss has it
 * @xcp_flow_bytes_ps: mean throughput of an XCP flow
 * @other_flow_bytes_ps: mean throughput of another flow
 * @xcp_sent_bytes: on the link, from class 1, since there is a second
 * @other_sent_bytes: on the link, from class 2
 * @qdiscs: number of qdiscs that share the port, this one included
 * @measured_bytes_ps: what the port sends, where that is less than 7/8 of its rate; else 0
 *
 * Packets are packets on the wire: a super-packet counts as its segments.
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
	__u64 samples;
	__u64 understating;
	__u64 ignoring;
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
};

#endif /* HOPCC_UAPI_PKT_SCHED_XCP_H */
