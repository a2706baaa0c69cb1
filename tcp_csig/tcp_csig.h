/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of tcp_csig share. */
#ifndef TCP_CSIG_TCP_CSIG_H
#define TCP_CSIG_TCP_CSIG_H

#include <net/csig_flow.h>
#include <net/hop_sysctl.h>
#include <net/tcp.h>

#include "csig_sender.h"

/**
 * struct tcsig_told - what the carrier told last; too large for a socket's space
 * @flow: the carrier's; NULL: there is none
 * @count: readings so far, by signal
 * @blank: readings in a row that no hop wrote to
 * @hop: some hop of the path tells
 * @locator: of max(PD)
 * @free_kbit_ps: min(ABW)
 * @reckoning: of max(PD)
 * @path: choice of paths
 * @moved_seq: SND.NXT when a path was left
 * @sharers: connections to the peer that sought when this one began to, itself included
 * @seeks: it is counted among them
 */
struct tcsig_told {
	struct csig_flow *flow;
	u64 count[CSIG_TYPES];
	u32 blank;
	bool hop;
	u32 locator;
	u64 free_kbit_ps;
	struct tcsig_reckoning reckoning;
	struct tcsig_path path;
	u32 moved_seq;
	u32 sharers;
	bool seeks;
};

/* Peers that share a counter make jumps smaller than they need be. */
#define TCSIG_PEER_BITS	8

/**
 * struct tcsig_sock - a connection; written under the socket lock
 * @v: the law
 * @told: what the carrier told
 * @init_pkts: the stack's first window
 * @ack_us: of the last ACK, tcp_mstamp
 * @line_mbit: rate that the device cannot exceed, of the last round; 0: not known
 * @hop: the delay is a hop's, not the path's; read by dumps without the lock
 * @early: the handshake was not over: the carrier could not be asked yet
 */
struct tcsig_sock {
	struct tcsig_vars v;
	struct tcsig_told *told;
	u32 init_pkts;
	u32 ack_us;
	u32 line_mbit;
	bool hop;
	bool early;
};

/**
 * struct tcsig_net - the knobs of a netns; read without a lock
 * @sysctl: as registered
 * @target_ns: of the bottleneck's delay
 * @e2e_target_ns: of the whole path's delay
 * @beta_ppm: of the law
 * @ai_ppm: of the law
 * @jump: jump start
 * @idle_rounds: round trips of silence after which a transfer begins anew; 0: an RTO
 * @move_rounds: rounds of excess after which another path is tried; 0: never
 * @edge: TCSIG_EDGES times value and mask
 * @seeking: connections that seek what is free, by peer
 */
struct tcsig_net {
	struct hop_sysctl sysctl;
	unsigned int target_ns;
	unsigned int e2e_target_ns;
	unsigned int beta_ppm;
	unsigned int ai_ppm;
	u8 jump;
	unsigned int idle_rounds;
	unsigned int move_rounds;
	int edge[2 * TCSIG_EDGES];
	atomic_t seeking[1 << TCSIG_PEER_BITS];
};

struct tcsig_net *tcsig_net(const struct net *net);

/* signals.c */
void tcsig_open(struct sock *sk, struct tcsig_sock *cs);
void tcsig_close(const struct sock *sk, struct tcsig_sock *cs);
void tcsig_count(const struct sock *sk, struct tcsig_told *told, bool seeks);
u64 tcsig_line(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us);
void tcsig_read(const struct sock *sk, struct tcsig_sock *cs, const struct rate_sample *rs,
		struct tcsig_ack *a);

/* sysctl.c */
int tcsig_sysctl_start(struct net *net, struct tcsig_net *cn);

#endif /* TCP_CSIG_TCP_CSIG_H */
