/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of tcp_csig share */
#ifndef HOPCC_TCP_CSIG_TCP_CSIG_H
#define HOPCC_TCP_CSIG_TCP_CSIG_H

#include <hopcc/core/hop_cc.h>
#include <hopcc/flow/csig_flow.h>

#include "csig_path.h"
#include "csig_sender.h"

/**
 * struct tcsig_reported - latest reports of the carrier; too large for a socket's private data
 * @memory: for hop_cc_free()
 * @flow: flow of the carrier; NULL: none
 * @count: number of readings so far, by signal
 * @blank: consecutive readings that no hop has changed
 * @hop: a hop of the path reports signals
 * @full_rounds: consecutive rounds for tcsig_note_full()
 * @inferred: the latest delay is the RTT's, not that of a report
 * @least_us: minimum RTT of data; 0: not measured
 * @locator: locator of max(PD)
 * @free_kbit_ps: min(ABW)
 * @estimate: estimate of max(PD)
 * @path: choice of paths
 * @mean_ns: mean of max(PD)
 * @mean_share_ppm: mean of min(ABW/C)
 * @port: speed of the most loaded port
 * @moved_seq: SND.NXT when a path was left
 * @sharers: number of connections to the peer that were seeking when this one started to seek,
 *	including itself
 * @seeks: the connection is counted among them
 * @base_ns: tcsig_base_ns()
 * @target_ns: tcsig_hop_target_ns()
 * @ai: tcsig_ai()
 * @burst_limit_pkts: tcsig_burst_limit_pkts()
 * @shares: min(ABW/C) of the round
 * @guard: the end-to-end window
 */
struct tcsig_reported {
	struct hop_cc_memory memory;
	struct csig_flow *flow;
	u64 count[CSIG_TYPES];
	u8 blank;
	u8 full_rounds;
	bool hop;
	bool seeks;
	bool inferred;
	u32 least_us;
	u32 locator;
	u32 free_kbit_ps;
	struct tcsig_estimate estimate;
	struct tcsig_path path;
	u64 mean_ns;
	struct tcsig_port port;
	u32 mean_share_ppm;
	u32 moved_seq;
	u32 sharers;
	u64 base_ns;
	u64 target_ns;
	u64 ai;
	u32 burst_limit_pkts;
	struct tcsig_shares shares;
	struct hop_guard guard;
};

/* Peers that share a counter make jumps smaller than necessary. */
#define TCSIG_PEER_BITS	8

/**
 * struct tcsig_sock - state of a connection; written under the socket lock
 * @reported: latest reports of the carrier; NULL before init()
 * @v: state of the algorithm
 * @net: sysctls of the netns
 * @init_pkts: the stack's initial window, at most U16_MAX
 * @busy_us: tcp_mstamp of the last ACK, or the end of the hold that follows it
 * @line_mbit: maximum rate of the device, read once per round; 0: not known
 * @hop: a hop of the path reports; otherwise Reno owns the window; dumps read it without the lock
 */
struct tcsig_sock {
	struct tcsig_reported *reported;
	struct tcsig_vars v;
	struct tcsig_net *net;
	u32 busy_us;
	u32 line_mbit;
	u16 init_pkts;
	bool hop;
};

/**
 * struct tcsig_knobs - sysctls of a netns; read without a lock
 * @target_ns: target delay of the bottleneck
 * @jump: jump start
 * @idle_rounds: idle RTTs after which a transfer starts like a new one; 0: an RTO
 * @move_rounds: rounds above the target after which another path is tried; 0: never
 * @edge: TCSIG_EDGES pairs of value and mask
 */
struct tcsig_knobs {
	unsigned int target_ns;
	u8 jump;
	unsigned int idle_rounds;
	unsigned int move_rounds;
	int edge[2 * TCSIG_EDGES];
};

/**
 * struct tcsig_net - state of a netns
 * @sysctl: registered sysctls
 * @knobs: values of the sysctls
 * @seeking: number of connections that seek free bandwidth, by peer
 */
struct tcsig_net {
	struct hop_sysctl sysctl;
	struct tcsig_knobs knobs;
	atomic_t seeking[1 << TCSIG_PEER_BITS];
};

bool tcsig_open(struct sock *sk, struct tcsig_sock *cs);
void tcsig_close(struct sock *sk, struct tcsig_sock *cs);
void tcsig_count(const struct sock *sk, const struct tcsig_sock *cs, bool seeks);
u64 tcsig_line(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us);
void tcsig_note_full(const struct tcsig_sock *cs);
bool tcsig_read(const struct sock *sk, const struct tcsig_sock *cs, const struct rate_sample *rs,
		struct tcsig_ack *a);

#endif /* HOPCC_TCP_CSIG_TCP_CSIG_H */
