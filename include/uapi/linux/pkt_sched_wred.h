/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_wred: netlink ABI, and the only place where the limits of the options are defined. The kernel
 * module, tc's plug-in and the tests use these numbers. Limits are plain literals, so that messages
 * can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_WRED_H
#define HOPCC_UAPI_PKT_SCHED_WRED_H

#include <linux/types.h>

/* Hard limit of the queue: at least one frame of minimum size */
#define TC_WRED_LIMIT_MIN_BYTES		64
#define TC_WRED_LIMIT_MAX_BYTES		1073741824	/* 2^30: limit of the slope's arithmetic */

/* Thresholds: 0 to the limit */
#define TC_WRED_THRESHOLD_MAX_BYTES	TC_WRED_LIMIT_MAX_BYTES

/* Probability just below the upper threshold */
#define TC_WRED_PROB_MAX_PPM		1000000
#define TC_WRED_PROB_DEFAULT_PPM	TC_WRED_PROB_MAX_PPM

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap */
#define TC_WRED_OVERHEAD_MAX_BYTES	1024
#define TC_WRED_OVERHEAD_DEFAULT_BYTES	0

/* TCA_OPTIONS. An option that is absent from a change request keeps its value. */
enum {
	TCA_WRED_UNSPEC,
	TCA_WRED_LIMIT,		/* u32, bytes */
	TCA_WRED_OVERHEAD,	/* u32, bytes per packet */
	TCA_WRED_ECT,		/* nest of TCA_WRED_PROFILE_*: ECN-capable packets are marked */
	TCA_WRED_NECT,		/* nest of TCA_WRED_PROFILE_*: all other IP packets are dropped */
	__TCA_WRED_MAX,
};

#define TCA_WRED_MAX (__TCA_WRED_MAX - 1)

/* One profile. MIN and MAX are both required to switch it on. */
enum {
	TCA_WRED_PROFILE_UNSPEC,
	TCA_WRED_PROFILE_MIN,	/* u32, bytes: below it, no packet is marked or dropped */
	TCA_WRED_PROFILE_MAX,	/* u32, bytes: from it on, every packet is marked or dropped */
	TCA_WRED_PROFILE_PROB,	/* u32, ppm: linear increase from 0 at MIN to PROB at MAX */
	TCA_WRED_PROFILE_OFF,	/* flag: no profile; excludes the other attributes */
	__TCA_WRED_PROFILE_MAX,
};

#define TCA_WRED_PROFILE_MAX_ATTR (__TCA_WRED_PROFILE_MAX - 1)

/**
 * struct tc_wred_xstats - TCA_STATS_APP; new fields are only added at the end
 * @marked_pkts: packets set to CE here
 * @ce_pkts: accepted packets that were already marked CE
 * @ect_dropped_pkts: packets dropped because they should have been marked but the header could not
 *	be written
 * @nect_dropped_pkts: packets dropped by the Not-ECT profile
 * @limit_dropped_pkts: packets dropped because they exceeded the limit
 * @backlog_bytes: backlog in wire bytes; compared with the thresholds
 * @peak_bytes: maximum of @backlog_bytes since the queue was last reset
 *
 * Counters of packets count packets on the wire: a GSO packet counts as its segments.
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
