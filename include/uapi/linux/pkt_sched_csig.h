/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sch_csig: netlink ABI, and the only place where the limits of the options are defined. The kernel
 * module, tc's plug-in and the tests use these numbers. Limits are plain literals, so that messages
 * can quote them.
 */
#ifndef HOPCC_UAPI_PKT_SCHED_CSIG_H
#define HOPCC_UAPI_PKT_SCHED_CSIG_H

#include <linux/types.h>

/* Rate of the port: 10 kbit/s to 1.6 Tbit/s; 0: the speed of the device */
#define TC_CSIG_RATE_AUTO		0
#define TC_CSIG_RATE_MIN_BYTES_PS	1250
#define TC_CSIG_RATE_MAX_BYTES_PS	200000000000

/* Bytes that the wire adds to each packet, e.g. 24 for Ethernet's preamble, FCS and gap */
#define TC_CSIG_OVERHEAD_MAX_BYTES	1024
#define TC_CSIG_OVERHEAD_DEFAULT_BYTES	0

/* Treatment of tags */
enum {
	TC_CSIG_MODE_UPDATE,	/* compare with the port's value and replace if that is worse */
	TC_CSIG_MODE_PASS,	/* leave tags unchanged */
	TC_CSIG_MODE_STRIP,	/* remove tags */
	TC_CSIG_MODES,
};

#define TC_CSIG_MODE_MAX		2
#define TC_CSIG_MODE_DEFAULT		0

/* Treatment of tags with a signal that this port does not support: as in this mode */
#define TC_CSIG_UNSUPPORTED_MIN		1
#define TC_CSIG_UNSUPPORTED_MAX		2
#define TC_CSIG_UNSUPPORTED_DEFAULT	1

/* Estimator of the used bandwidth */
enum {
	TC_CSIG_ESTIMATOR_RAW,	/* mean over the last whole interval */
	TC_CSIG_ESTIMATOR_EWMA,	/* mean weighted by time, updated at each departure */
	TC_CSIG_ESTIMATOR_DRE,	/* discounting rate estimator */
	TC_CSIG_ESTIMATORS,
};

#define TC_CSIG_ESTIMATOR_MAX		2
#define TC_CSIG_ESTIMATOR_DEFAULT	0

/* Interval delta_t: 10 us to 1 s */
#define TC_CSIG_INTERVAL_MIN_NS		10000
#define TC_CSIG_INTERVAL_MAX_NS		1000000000
/*
 * The default interval is the time in which the port sends this number of bytes: 256 us at 1
 * Gbit/s.
 */
#define TC_CSIG_INTERVAL_DEFAULT_BYTES	32000

/* DRE discounts by 2^-shift, 2^shift times per interval. */
#define TC_CSIG_SHIFT_MIN		1
#define TC_CSIG_SHIFT_MAX		8
#define TC_CSIG_SHIFT_DEFAULT		4

/* EtherTypes of tags */
#define TC_CSIG_TPID_MIN		1536
#define TC_CSIG_TPID_MAX		65535
#define TC_CSIG_TPID_COMPACT_DEFAULT	34997
#define TC_CSIG_TPID_EXPANDED_DEFAULT	34998

/* Limits of a locator's components, and its size in bits */
#define TC_CSIG_STAGE_MAX		65535
#define TC_CSIG_ORIENTATION_MAX		65535
#define TC_CSIG_PORT_ID_MAX		65535
#define TC_CSIG_DEVICE_ID_MAX		65535
#define TC_CSIG_LM_BITS_COMPACT		7
#define TC_CSIG_LM_BITS_EXPANDED	16

/* Limit of the default child, a byte fifo */
#define TC_CSIG_LIMIT_MIN_BYTES		64
#define TC_CSIG_LIMIT_MAX_BYTES		4294967295

/* Signals: their type in a tag, also used as an index below */
enum {
	TC_CSIG_ABW,		/* kbit/s */
	TC_CSIG_ABW_C,		/* ppm */
	TC_CSIG_PD,		/* ns */
	TC_CSIG_SIGNALS,
};

#define TC_CSIG_EDGES_MAX		31
#define TC_CSIG_QUANTUM_MIN		1
#define TC_CSIG_QUANTUM_MAX		4294967295
#define TC_CSIG_QUANTUM_DEFAULT_KBIT_PS	8000
#define TC_CSIG_QUANTUM_DEFAULT_PPM	1
#define TC_CSIG_QUANTUM_DEFAULT_NS	128

/* Content of a field of a locator */
enum {
	TC_CSIG_WHAT_CAPACITY,
	TC_CSIG_WHAT_STAGE,
	TC_CSIG_WHAT_ORIENTATION,
	TC_CSIG_WHAT_PORT,
	TC_CSIG_WHAT_DEVICE,
	TC_CSIG_WHAT_TTL,
	TC_CSIG_WHATS,
};

#define TC_CSIG_FIELDS_MAX		6

/**
 * struct tc_csig_layout - layout of a locator
 * @constant: value of the whole locator, if @fields is 0
 * @fields: number of entries in @field
 * @pad: padding, 0
 * @field: fields from the most significant bits to the least significant ones
 * @field.what: content of the field, TC_CSIG_WHAT_*
 * @field.bits: size of the field
 */
struct tc_csig_layout {
	__u16 constant;
	__u8 fields;
	__u8 pad;
	struct {
		__u8 what;
		__u8 bits;
	} field[TC_CSIG_FIELDS_MAX];
};

/* Attributes in a signal's nest */
enum {
	TCA_CSIG_SIGNAL_UNSPEC,
	TCA_CSIG_SIGNAL_ON,		/* u32, 1: this port supports the signal */
	TCA_CSIG_SIGNAL_QUANTUM,	/* u32, in the signal's unit */
	TCA_CSIG_SIGNAL_EDGES,		/* u32[0 to TC_CSIG_EDGES_MAX], ascending */
	TCA_CSIG_SIGNAL_LM_COMPACT,	/* struct tc_csig_layout */
	TCA_CSIG_SIGNAL_LM_EXPANDED,	/* struct tc_csig_layout */
	__TCA_CSIG_SIGNAL_MAX,
};

#define TCA_CSIG_SIGNAL_MAX (__TCA_CSIG_SIGNAL_MAX - 1)

/* TCA_OPTIONS. An option that is absent from a change request keeps its value. */
enum {
	TCA_CSIG_UNSPEC,
	TCA_CSIG_PAD,
	TCA_CSIG_RATE,		/* u64, bytes/s; 0: speed of the device */
	TCA_CSIG_OVERHEAD,	/* u32, bytes per packet */
	TCA_CSIG_MODE,		/* u32, TC_CSIG_MODE_* */
	TCA_CSIG_UNSUPPORTED,	/* u32, TC_CSIG_MODE_PASS or _STRIP */
	TCA_CSIG_ESTIMATOR,	/* u32, TC_CSIG_ESTIMATOR_* */
	TCA_CSIG_INTERVAL,	/* u32, ns */
	TCA_CSIG_SHIFT,		/* u32 */
	TCA_CSIG_TPID_COMPACT,	/* u32 */
	TCA_CSIG_TPID_EXPANDED,	/* u32 */
	TCA_CSIG_STAGE,		/* u32 */
	TCA_CSIG_ORIENTATION,	/* u32 */
	TCA_CSIG_PORT_ID,	/* u32 */
	TCA_CSIG_DEVICE_ID,	/* u32 */
	TCA_CSIG_LIMIT,		/* u32, bytes; absent from a dump if the child was grafted */
	TCA_CSIG_SIGNAL_ABW,	/* nests: TCA_CSIG_SIGNAL_ABW + TC_CSIG_ABW, ... */
	TCA_CSIG_SIGNAL_ABW_C,
	TCA_CSIG_SIGNAL_PD,
	__TCA_CSIG_MAX,
};

#define TCA_CSIG_MAX (__TCA_CSIG_MAX - 1)

/* Why a tag is malformed: index into tc_csig_xstats.malformed_pkts */
enum {
	TC_CSIG_MALFORMED_TRUNCATED,	/* the frame ends within the tag */
	TC_CSIG_MALFORMED_ORDER,	/* another tag follows */
	TC_CSIG_MALFORMED_CAUSES,
};

/**
 * struct tc_csig_xstats - TCA_STATS_APP; new fields are only added at the end
 * @rate_bytes_ps: rate of the port
 * @available_bytes_ps: unused part of this rate, as currently written into tags
 * @tx_bytes: bytes on the wire that were sent
 * @longest_ns: the longest delay of a packet whose tag asked for it
 * @compact_pkts: packets that arrived with a compact tag
 * @expanded_pkts: packets that arrived with an expanded tag
 * @updated_pkts: packets whose tag was set to this port's value and locator, by TC_CSIG_ABW and so
 *	on
 * @unsupported_pkts: packets with a tag of a signal that this port does not support
 * @stripped_pkts: number of tags removed
 * @fenced_pkts: packets dropped because a tag that must be removed could not be
 * @unwritable_pkts: packets that should have been updated but could not be written
 * @untimed_pkts: packets that asked for the delay, but whose arrival time was lost
 * @malformed_pkts: packets with a malformed tag, by TC_CSIG_MALFORMED_*
 * @qdiscs: number of qdiscs that share the port, including this one
 * @measured_bytes_ps: measured rate of the port if it is less than 7/8 of @rate_bytes_ps; 0
 *	otherwise. @available_bytes_ps is then the unused part of this rate.
 *
 * Counters of packets count packets on the wire: a GSO packet counts as its segments.
 */
struct tc_csig_xstats {
	__u64 rate_bytes_ps;
	__u64 available_bytes_ps;
	__u64 tx_bytes;
	__u64 longest_ns;
	__u64 compact_pkts;
	__u64 expanded_pkts;
	__u64 updated_pkts[TC_CSIG_SIGNALS];
	__u64 unsupported_pkts;
	__u64 stripped_pkts;
	__u64 fenced_pkts;
	__u64 unwritable_pkts;
	__u64 untimed_pkts;
	__u64 malformed_pkts[TC_CSIG_MALFORMED_CAUSES];
	__u64 qdiscs;
	__u64 measured_bytes_ps;
};

/* Tables of buckets, for the module's defaults and for tc */

/*
 * Edges at powers of two and at 1.5 times these: base, 1.5, 2, 3, 4, 6 ... 2^15 times the base. For
 * the delay, 16 times the base is 10 us, the default target of congestion controls: a value
 * reported by its bucket is known exactly only at the bucket's edges.
 */
#define TC_CSIG_POW2_DEFAULT_KBIT_PS	32000
#define TC_CSIG_POW2_DEFAULT_PPM	32
#define TC_CSIG_POW2_DEFAULT_NS		625
#define TC_CSIG_POW2_BASE_MAX		131071

static inline void tc_csig_pow2(__u32 *edge, __u32 base)
{
	int i;

	for (i = 0; i < TC_CSIG_EDGES_MAX; i++)
		edge[i] = (base << i / 2) + (i % 2 ? (base << i / 2) / 2 : 0);
}

/* Appendix A of the draft: 8 buckets */
#define TC_CSIG_APPENDIX_A_EDGES	7

static inline void tc_csig_appendix_a(__u32 *edge, int signal)
{
	static const __u32 table[TC_CSIG_SIGNALS][TC_CSIG_APPENDIX_A_EDGES] = {
		[TC_CSIG_ABW] = { 1000000, 5000000, 10000000, 20000000, 50000000, 75000000,
				  90000000 },
		[TC_CSIG_ABW_C] = { 10000, 50000, 100000, 200000, 500000, 750000, 900000 },
		[TC_CSIG_PD] = { 10000, 50000, 100000, 200000, 400000, 800000, 2000000 },
	};
	int i;

	for (i = 0; i < TC_CSIG_APPENDIX_A_EDGES; i++)
		edge[i] = table[signal][i];
}

#endif /* HOPCC_UAPI_PKT_SCHED_CSIG_H */
