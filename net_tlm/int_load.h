/* SPDX-License-Identifier: GPL-2.0 */
/*
 * u of HPCC++ from reduced records, for hop_core/hpcc.c: what the draft computes from a queue, a
 * counter, a timestamp and a speed, for switches that do not report all of these.
 *
 *	source		u' of a hop, q = min(qlen, qlen')
 *	counter		q / (B T) + txRate / B			as drafted
 *	utilisation	q / (B T) + utilisation
 *	queue only	1 + q / (B T)				if q > 0
 *			max(own rate / B, 0.97 target)		otherwise
 *
 * The most precise source of each hop is used. The target of a hop with a queue only is 1.05
 * instead of eta: its flows keep a short standing queue, since an empty queue does not tell how
 * much capacity is free. All u' are scaled to the target eta, and u is the largest, as drafted. An
 * empty queue must not count as the flow's own share: with N flows U would be 1 / N, and all of
 * them would multiply their windows.
 *
 * The report of a switch may be wrong. Rules that bound the harm:
 * - A value that cannot be true is not used: a clock that runs at less than half or more than twice
 *   the speed of the local one, a rate above the port's speed. After TLM_FAULTS_MAX of them in a
 *   row the next less precise source of the hop is used; without one the hop is unknown.
 * - A counter or a clock that stands still for TLM_FROZEN_RTTS T and TLM_FROZEN_ANSWERS answers is
 *   not used any more. Neither is a queue that stays the same for that long although the flow
 *   reduces its rate.
 * - An unknown hop counts as neither saturated nor idle: the window grows by W_ai at most. The same
 *   holds for a hop with a queue only, until it has reported a queue for the first time. If no hop
 *   can be used, the congestion control falls back to Reno.
 * - A queue that is not reported makes the RTT longer. While the minimum RTT of a round is longer
 *   than 2 T, twice the reported queues and a slack, the window does not grow. Each such round adds
 *   TLM_GUARD_STEP to a counter, and each other round subtracts 1. At TLM_GUARD_MAX the congestion
 *   control falls back to Reno.
 * - u is at least eta / 2, so that the window doubles at most once in a round. hop_core/hpcc.c
 *   limits the window to a BDP at line rate.
 *
 * Deviations from the draft:
 * - A counter that the switch updates at intervals is used only when it has changed. The rate is
 *   computed over the time since the previous change was seen.
 */
#ifndef HOPCC_NET_TLM_INT_LOAD_H
#define HOPCC_NET_TLM_INT_LOAD_H

#include <hopcc/lib/hpcc.h>

#include "int_layout.h"

/* Queue that counts as empty */
#define TLM_FREE_BYTES		(HPCC_FREE_PKTS * HPCC_PACKET_BYTES)
/* 1.05 and 0.97 in 2^-HPCC_U_SHIFT */
#define TLM_TARGET		1101005U
#define TLM_IDLE		1017119U
/* Time by which an RTT may exceed 2 T without a reported queue. */
#define TLM_SLACK_NS		50000U
/* A rate of more than 1 + 1/16 of the port's speed is not plausible. */
#define TLM_EXCESS_SHIFT	4
/* Shortest time difference that is used, in units of the clock's resolution. */
#define TLM_TICKS_MIN		16U
#define TLM_FAULTS_MAX		4U
#define TLM_FROZEN_RTTS		16U
#define TLM_FROZEN_REFRESHES	4U
#define TLM_FROZEN_ANSWERS	16U
#define TLM_GUARD_STEP		2U
#define TLM_GUARD_MAX		16U
/*
 * Records that were stored longer ago than this and than 640 T are replaced. A flow with a window
 * of HPCC_WND_MIN_BYTES sends a packet of 9000 bytes every 565 T, and must be able to measure.
 */
#define TLM_STALE_MIN_NS	10000000ULL
#define TLM_STALE_RTTS		640U

/**
 * enum tlm_source - from what u' of a hop is computed
 * @TLM_SOURCE_NONE: the hop is unknown
 * @TLM_SOURCE_QUEUE: only its queue
 * @TLM_SOURCE_UTIL: queue and utilisation
 * @TLM_SOURCE_TX: queue and counter
 * @TLM_SOURCES: number of sources
 */
enum tlm_source {
	TLM_SOURCE_NONE,
	TLM_SOURCE_QUEUE,
	TLM_SOURCE_UTIL,
	TLM_SOURCE_TX,
	TLM_SOURCES,
};

/**
 * struct tlm_sample - what the sender knows beside the records
 * @now_ns: local clock
 * @own_bytes_ps: rate of the flow, W / T at most
 * @rtt_ns: RTT of the packet that collected the records; 0: not known
 * @trust_idle: the administrator confirms that an empty queue is reported truly
 */
struct tlm_sample {
	u64 now_ns;
	u64 own_bytes_ps;
	u32 rtt_ns;
	bool trust_idle;
};

/**
 * struct tlm_hop - stored state of a hop
 * @ts_ns: timestamp of the stored record
 * @tx_bytes: its counter
 * @stored_ns: local time at which it was stored
 * @seen_ns: local time of the latest record
 * @steady_ns: local time since which the queue is @queue_bytes
 * @steady_bytes_ps: rate of the flow at that time
 * @queue_bytes: queue of the latest record
 * @node_id: node of the latest record
 * @port_id: port of the latest record
 * @mbit_ps: speed of the port
 * @u: u', scaled to the target eta, in 2^-HPCC_U_SHIFT
 * @steady: number of records in a row with a queue of @queue_bytes
 * @source: enum tlm_source that @u is computed from
 * @faults: number of implausible records in a row
 * @still: number of records in a row whose counter or clock equals that of the stored one
 * @out: BIT() of the sources that turned out to be useless
 * @queue_seen: the hop has reported a queue
 */
struct tlm_hop {
	u64 ts_ns;
	u64 tx_bytes;
	u64 stored_ns;
	u64 seen_ns;
	u64 steady_ns;
	u64 steady_bytes_ps;
	u32 queue_bytes;
	u32 node_id;
	u32 port_id;
	u32 mbit_ps;
	u32 u;
	u16 steady;
	u8 source;
	u8 faults;
	u8 still;
	u8 out;
	bool queue_seen;
};

/**
 * struct tlm_vars - state of the records of a connection
 * @hop: the hops of the path
 * @round_ns: local time at which the guard's round started
 * @rtt_min_ns: minimum RTT of the round; 0: none
 * @queues_ns: longest sum of reported queues in the round
 * @path_id: path of the latest answer
 * @records: number of valid entries of @hop; 0: no answer yet
 * @guard: weighted number of rounds whose RTT contradicts the reports; TLM_GUARD_MAX: use Reno
 * @guard_bad: the RTT of the latest round contradicts the reports
 * @implausible: number of records that were not used since they could not be true
 */
struct tlm_vars {
	struct tlm_hop hop[TLM_HOPS_MAX];
	u64 round_ns;
	u32 rtt_min_ns;
	u64 queues_ns;
	u16 path_id;
	u8 records;
	u8 guard;
	bool guard_bad;
	u32 implausible;
};

/**
 * struct tlm_load - load of a path
 * @u: u, for hpcc_receive_ratio()
 * @tau_ns: time over which it was measured
 * @unknown: number of hops that are not known
 */
struct tlm_load {
	u32 u;
	u32 tau_ns;
	u8 unknown;
};

/**
 * ntlm_receive() - MeasureInflight with reduced records
 * @v: state; all zero at the start of a connection
 * @p: parameters: T and eta
 * @path: the records of a packet
 * @s: what the sender knows
 * @load: result; valid with HPCC_RECEIVED_NEW
 *
 * Return: HPCC_RECEIVED_NEW: @load is for hpcc_receive_ratio(); _FIRST, _PATH: the records were
 * stored; _SAME: there is nothing new; _NOTHING: no hop can be used, or the RTT contradicts them.
 */
enum hpcc_received ntlm_receive(struct tlm_vars *v, const struct hpcc_params *p,
				const struct tlm_path *path,
				const struct tlm_sample *s, struct tlm_load *load);

#endif /* HOPCC_NET_TLM_INT_LOAD_H */
