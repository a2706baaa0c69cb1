/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_wred: netlink ABI, and every bound once. The kernel module, tc's plug-in
 * and the tests take the numbers from here. Bounds are bare literals, so that
 * messages can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_WRED_H
#define HOPCC_UAPI_PKT_SCHED_WRED_H

#include <linux/types.h>

/* Hard limit of the queue: at least a minimal frame. */
#define TC_WRED_LIMIT_MIN_BYTES		64
#define TC_WRED_LIMIT_MAX_BYTES		1073741824	/* 2^30: bounds the slope's arithmetic */

/* Thresholds: 0 to the limit. */
#define TC_WRED_THRESHOLD_MAX_BYTES	TC_WRED_LIMIT_MAX_BYTES

/* Probability just below the upper threshold. */
#define TC_WRED_PROB_MAX_PPM		1000000
#define TC_WRED_PROB_DEFAULT_PPM	TC_WRED_PROB_MAX_PPM

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap. */
#define TC_WRED_OVERHEAD_MAX_BYTES	1024
#define TC_WRED_OVERHEAD_DEFAULT_BYTES	0

/* TCA_OPTIONS. What is absent from a change keeps its value. */
enum {
	TCA_WRED_UNSPEC,
	TCA_WRED_LIMIT,		/* u32, bytes */
	TCA_WRED_OVERHEAD,	/* u32, bytes a packet */
	TCA_WRED_ECT,		/* nest of TCA_WRED_PROFILE_*: ECN-capable packets are marked */
	TCA_WRED_NECT,		/* nest of TCA_WRED_PROFILE_*: all other IP packets are dropped */
	__TCA_WRED_MAX,
};

#define TCA_WRED_MAX (__TCA_WRED_MAX - 1)

/* One profile. Switching it on takes MIN and MAX. */
enum {
	TCA_WRED_PROFILE_UNSPEC,
	TCA_WRED_PROFILE_MIN,	/* u32, bytes: below it nothing happens */
	TCA_WRED_PROFILE_MAX,	/* u32, bytes: from it on it happens to every packet */
	TCA_WRED_PROFILE_PROB,	/* u32, ppm: reached in a straight line at MAX */
	TCA_WRED_PROFILE_OFF,	/* flag: no profile; excludes the others */
	__TCA_WRED_PROFILE_MAX,
};

#define TCA_WRED_PROFILE_MAX_ATTR (__TCA_WRED_PROFILE_MAX - 1)

/**
 * struct tc_wred_xstats - TCA_STATS_APP; fields are only ever added at the end
 * @marked_pkts: set to CE here
 * @ce_pkts: accepted that bore CE already
 * @ect_dropped_pkts: to be marked, but the header could not be written
 * @nect_dropped_pkts: dropped by the Not-ECT profile
 * @limit_dropped_pkts: did not fit below the limit
 * @backlog_bytes: queued, in wire bytes; what the thresholds are compared with
 * @peak_bytes: greatest @backlog_bytes since the queue was last reset
 *
 * Packets are packets on the wire: a super-packet counts as its segments.
 */
struct tc_wred_xstats {
	__u64 marked_pkts;
	__u64 ce_pkts;
	__u64 ect_dropped_pkts;
	__u64 nect_dropped_pkts;
	__u64 limit_dropped_pkts;
	__u64 backlog_bytes;
	__u64 peak_bytes;
};

#endif /* HOPCC_UAPI_PKT_SCHED_WRED_H */
