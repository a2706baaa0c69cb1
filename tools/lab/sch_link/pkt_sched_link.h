/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Netlink ABI and bounds of the lab's wire, sch_link. Not for use outside the lab. */
#ifndef HOPCC_PKT_SCHED_LINK_H
#define HOPCC_PKT_SCHED_LINK_H

#include <linux/types.h>

#define LINK_RATE_MIN_BITS_PS	10000ULL
#define LINK_RATE_MAX_BITS_PS	1600000000000ULL
#define LINK_DELAY_MAX_NS	10000000000ULL
#define LINK_OVERHEAD_MAX_BYTES	1024
/* Ethernet's preamble, check sequence and gap between frames. */
#define LINK_OVERHEAD_BYTES	24

/* Chances are in units of 1 / LINK_CHANCE_ONE; LINK_CHANCE_ONE itself is "always". */
#define LINK_CHANCE_ONE		0xffffffffU

/* Attributes within TCA_OPTIONS. TCA_LINK_RATE is required when a link is added. */
enum {
	TCA_LINK_UNSPEC,
	TCA_LINK_PAD,
	TCA_LINK_RATE,		/* u64, bit/s on the wire */
	TCA_LINK_DELAY,		/* u64, propagation, ns */
	TCA_LINK_OVERHEAD,	/* u32, bytes a packet */
	TCA_LINK_LOSS,		/* u32, chance */
	TCA_LINK_REORDER,	/* u32, chance */
	TCA_LINK_DUPLICATE,	/* u32, chance */
	TCA_LINK_CORRUPT,	/* u32, chance */
	TCA_LINK_SEED,		/* u64; setting it starts the sequence anew */
	__TCA_LINK_MAX
};

#define TCA_LINK_MAX (__TCA_LINK_MAX - 1)

/**
 * struct tc_link_xstats - what a link did, TCA_STATS_APP
 * @sent_pkts: packets put on the wire
 * @sent_bytes: their bytes, with overhead
 * @lost_pkts: lost on the wire
 * @reordered_pkts: held back behind later ones
 * @duplicated_pkts: delivered twice
 * @corrupted_pkts: delivered with one bit flipped
 * @busy_ns: time the transmitter worked, whole ns
 * @in_flight_pkts: on the wire now
 * @pad: zero
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

#endif /* HOPCC_PKT_SCHED_LINK_H */
