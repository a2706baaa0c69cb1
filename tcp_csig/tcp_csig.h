/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of tcp_csig share. */
#ifndef TCP_CSIG_TCP_CSIG_H
#define TCP_CSIG_TCP_CSIG_H

#include <net/csig_flow.h>
#include <net/hop_sysctl.h>
#include <net/tcp.h>

#include "csig_sender.h"

/**
 * struct tcsig_set - what a socket was set to last, and from what
 * @cw: of the law; 0: nothing was set, or something that is not here was part of it
 * @pace_bytes_ps: the socket's pace
 * @rtt_us: the RTT that it is of
 * @mss_bytes: payload of a full packet
 * @cwnd_pkts: the socket's window
 * @gso_segs: the socket's burst
 * @doubles: tcsig_doubles()
 */
struct tcsig_set {
	u64 cw;
	unsigned long pace_bytes_ps;
	u32 rtt_us;
	u32 mss_bytes;
	u32 cwnd_pkts;
	u16 gso_segs;
	bool doubles;
};

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
 * @dev: the device that tcsig_sock.line_mbit is of; compared, never followed
 * @speed_changes: hop_speed_changes() when that was read
 * @set: what saves setting the socket anew
 * @period_ns: tcsig_period_ns() of the last round
 * @gain: tcsig_gain() of the last round
 */
struct tcsig_told {
	struct csig_flow *flow;
	u64 count[CSIG_TYPES];
	u8 blank;
	bool hop;
	bool seeks;
	u32 locator;
	u32 speed_changes;
	u32 free_kbit_ps;
	struct tcsig_reckoning reckoning;
	struct tcsig_path path;
	u32 moved_seq;
	u32 sharers;
	const struct net_device *dev;
	struct tcsig_set set;
	u64 period_ns;
	u32 gain;
};

/* Peers that share a counter make jumps smaller than they need be. */
#define TCSIG_PEER_BITS	8

/**
 * struct tcsig_sock - a connection; written under the socket lock
 * @v: the law
 * @told: what the carrier told
 * @net: the netns' knobs
 * @jitter_ns: tcsig_jitter_ns()
 * @init_pkts: the stack's first window, at most U16_MAX
 * @busy_us: tcp_mstamp of the last ACK, or of the end of the hold that follows it
 * @line_mbit: rate that the device cannot exceed, of the last round; 0: not known
 * @hop: the delay is a hop's, not the path's; read by dumps without the lock
 * @early: the carrier does not know yet whether the peer takes part; each ACK looks again
 */
struct tcsig_sock {
	struct tcsig_vars v;
	struct tcsig_told *told;
	struct tcsig_net *net;
	u32 jitter_ns;
	u32 busy_us;
	u32 line_mbit;
	u16 init_pkts;
	bool hop;
	bool early;
};

/**
 * struct tcsig_gain - a constant of the law, a knob
 * @ppm: as it is written
 * @value: << TCSIG_SHIFT
 */
struct tcsig_gain {
	unsigned int ppm;
	u32 value;
};

/**
 * struct tcsig_net - the knobs of a netns; read without a lock
 * @sysctl: as registered
 * @target_ns: of the bottleneck's delay
 * @e2e_target_ns: of the whole path's delay
 * @beta_ppm: of the law
 * @ai: of the law
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
	struct tcsig_gain ai;
	u8 jump;
	unsigned int idle_rounds;
	unsigned int move_rounds;
	int edge[2 * TCSIG_EDGES];
	atomic_t seeking[1 << TCSIG_PEER_BITS];
};

/* signals.c */
bool tcsig_open(struct sock *sk, struct tcsig_sock *cs);
void tcsig_close(const struct sock *sk, struct tcsig_sock *cs);
atomic_t *tcsig_seeking(const struct sock *sk, const struct tcsig_sock *cs);
void tcsig_count_seeking(const struct sock *sk, const struct tcsig_sock *cs, bool seeks);
u64 tcsig_line_window(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us);

/**
 * tcsig_count() - is this one of those that are about to jump?
 * @sk: the socket
 * @cs: of it; the carrier tells
 * @seeks: it sends, and seeks what is free
 */
static inline void tcsig_count(const struct sock *sk, const struct tcsig_sock *cs, bool seeks)
{
	if (cs->told->seeks != seeks)
		tcsig_count_seeking(sk, cs, seeks);
}

/* The device's rate as a window, packets << TCSIG_SHIFT; 0: the rate is not known. */
static inline u64 tcsig_line(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	return cs->line_mbit ? tcsig_line_window(sk, cs, rtt_us) : 0;
}

/* sysctl.c */
int tcsig_sysctl_start(struct net *net, struct tcsig_net *cn);

#endif /* TCP_CSIG_TCP_CSIG_H */
