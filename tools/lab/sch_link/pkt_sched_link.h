/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Netlink ABI and bounds of the lab's link, sch_link. Not for use outside the lab. */
#ifndef HOPCC_TOOLS_LAB_SCH_LINK_PKT_SCHED_LINK_H
#define HOPCC_TOOLS_LAB_SCH_LINK_PKT_SCHED_LINK_H

#include <linux/types.h>

#define LINK_RATE_MIN_BITS_PS	10000ULL
#define LINK_RATE_MAX_BITS_PS	1600000000000ULL
#define LINK_DELAY_MAX_NS	10000000000ULL
#define LINK_OVERHEAD_MAX_BYTES	1024
/* Ethernet's preamble, check sequence and gap between frames. */
#define LINK_OVERHEAD_BYTES	24

/* Probabilities are in units of 1 / LINK_CHANCE_ONE; LINK_CHANCE_ONE means "always". */
#define LINK_CHANCE_ONE		0xffffffffU

/* Attributes within TCA_OPTIONS. TCA_LINK_RATE is required when a link is added. */
enum {
	TCA_LINK_UNSPEC,
	TCA_LINK_PAD,
	TCA_LINK_RATE,		/* u64, bit/s on the wire */
	TCA_LINK_DELAY,		/* u64, propagation, ns */
	TCA_LINK_OVERHEAD,	/* u32, bytes per packet */
	TCA_LINK_LOSS,		/* u32, probability */
	TCA_LINK_REORDER,	/* u32, probability */
	TCA_LINK_DUPLICATE,	/* u32, probability */
	TCA_LINK_CORRUPT,	/* u32, probability */
	TCA_LINK_SEED,		/* u64; setting it restarts the random sequence */
	__TCA_LINK_MAX
};

#define TCA_LINK_MAX (__TCA_LINK_MAX - 1)

/**
 * struct tc_link_xstats - statistics of a link, TCA_STATS_APP
 * @sent_pkts: packets sent to the wire
 * @sent_bytes: bytes of these packets, with overhead
 * @lost_pkts: packets lost on the wire
 * @reordered_pkts: packets delayed so that later ones overtake them
 * @duplicated_pkts: packets delivered twice
 * @corrupted_pkts: packets delivered with one bit flipped
 * @busy_ns: time that the transmitter was busy, whole ns
 * @in_flight_pkts: packets on the wire now
 * @pad: padding, zero
 */
struct tc_link_xstats {
	__u64 sent_pkts;
	__u64 sent_bytes;
	__u64 lost_pkts;
	__u64 reordered_pkts;
	__u64 duplicated_pkts;
	__u64 corrupted_pkts;
	__u64 busy_ns;
	__u32 in_flight_pkts;
	__u32 pad;
};

#endif /* HOPCC_TOOLS_LAB_SCH_LINK_PKT_SCHED_LINK_H */
