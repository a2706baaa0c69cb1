/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion control by CSIG: the algorithm's parameters, state and functions */
#ifndef HOPCC_TCP_CSIG_CSIG_SENDER_H
#define HOPCC_TCP_CSIG_CSIG_SENDER_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/wire/csig.h>
#include <hopcc/lib/hop_pace.h>

#define TCSIG_SHIFT		HOP_WND_SHIFT
#define TCSIG_ONE		HOP_WND_ONE

#define TCSIG_WND_MAX		HOP_WND_MAX
/*
 * 1/64: one packet in 64 round trips. More than 64 flows per packet that fits in path and target
 * cause a standing queue. With a lower bound a flow would pause for milliseconds.
 */
#define TCSIG_WND_MIN		(TCSIG_ONE >> 6)
/* A smaller reported share may be due to one packet more or less in the interval. */
#define TCSIG_SHARE_MIN_PPM	20000U
/* A receiver delays ACKs: it acknowledges every second packet, and a single one after 40 ms. */
#define TCSIG_FLIGHT_PKTS	2U

/* If the sender's device reports its rate, a window is at most two RTTs of it. */
#define TCSIG_LINE_RTTS		2U

/* A burst that meets a queue is sent in half the target at the flow's own rate, at least two. */
#define TCSIG_BURST_SHIFT	1
#define TCSIG_BURST_MIN_PKTS	2U

#define TCSIG_TARGET_DEFAULT_NS		10000U
#define TCSIG_TARGET_MIN_NS		100U
#define TCSIG_TARGET_MAX_NS		1000000000U
#define TCSIG_NO_DELAY			U32_MAX
#define TCSIG_NO_SHARE			U32_MAX
#define TCSIG_AI_MAX			(64 * TCSIG_ONE)
#define TCSIG_IDLE_DEFAULT_ROUNDS	8U
#define TCSIG_IDLE_MAX_ROUNDS		1000000U

#define TCSIG_KBIT_PER_MBIT	1000U
#define TCSIG_BYTES_PER_MBIT	125000U
#define TCSIG_BYTES_PER_KBIT	125U
#define TCSIG_US_PER_S		1000000U
#define TCSIG_NS_PER_MS		1000000U
#define TCSIG_KBIT_MAX		1600000000U

/**
 * struct tcsig_params - parameters of the algorithm
 * @target_ns: target delay
 * @ai: increase per round trip, tcsig_ai()
 * @rtt_ns: RTT; 0: not known
 */
struct tcsig_params {
	u64 target_ns;
	u64 ai;
	u64 rtt_ns;
};

/**
 * enum tcsig_stage - stages of a transfer
 * @TCSIG_SEEK: the free bandwidth is not known: slow start
 * @TCSIG_JUMP: half of it is in use
 * @TCSIG_STEADY: section 8.1.1
 */
enum tcsig_stage {
	TCSIG_SEEK,
	TCSIG_JUMP,
	TCSIG_STEADY,
};

/**
 * struct tcsig_vars - state of the algorithm; written under the socket lock
 * @cw: window, packets << TCSIG_SHIFT; dumps read it without the lock
 * @ref: window at the start of the round
 * @goal: SEEK: end of slow start; JUMP: window with all of the free bandwidth
 * @undo_cw: window before the last loss; 0: none
 * @step_pkts: packets acknowledged since the latest report of the delay
 * @delay_ns: latest reported delay
 * @least_ns: minimum delay reported in this round; TCSIG_NO_DELAY: none
 * @worst_ns: maximum delay reported in this round
 * @round_pkts: packets delivered at the start of the round
 * @jump_pkts: value of delivered packets from which the transfer may jump
 * @stage: enum tcsig_stage; dumps read it without the lock
 * @cut: the window was cut for a loss in this round
 * @guess: the window was cut in this round because a guess met a queue
 * @grown: the window has grown by min(ABW/C) in this round
 * @offered: SEEK: free bandwidth was reported
 * @proven: JUMP: packets that were sent after the jump are acknowledged
 */
struct tcsig_vars {
	u64 cw;
	u64 ref;
	u64 goal;
	u64 undo_cw;
	u64 delay_ns;
	u32 step_pkts;
	u32 least_ns;
	u32 worst_ns;
	u32 round_pkts;
	u32 jump_pkts;
	u8 stage;
	bool cut;
	bool guess;
	bool grown;
	bool offered;
	bool proven;
};

/**
 * struct tcsig_ack - an ACK and its signals
 * @free: min(ABW), packets per RTT << TCSIG_SHIFT
 * @delay_ns: max(PD)
 * @rtt_ns: RTT including @delay_ns; 0: not usable
 * @path_ns: RTT above its minimum; no hop's delay is larger
 * @acked_pkts: packets that this ACK delivered
 * @delivered_pkts: packets that all ACKs have delivered so far, including this one
 * @prior_pkts: value of @delivered_pkts when the latest of them was sent
 * @share_ppm: tcsig_shares_note()
 * @sharers: number of this host's connections to the peer that seek, including this one
 * @has_free: @free is new
 * @has_delay: @delay_ns is new
 * @has_share: @share_ppm is new
 * @limited: the window limited sending
 */
struct tcsig_ack {
	u64 free;
	u64 delay_ns;
	u64 rtt_ns;
	u64 path_ns;
	u32 acked_pkts;
	u32 delivered_pkts;
	u32 prior_pkts;
	u32 share_ppm;
	u32 sharers;
	bool has_free;
	bool has_delay;
	bool has_share;
	bool limited;
};

/**
 * tcsig_free() - convert a bandwidth to a window
 * @kbit_ps: min(ABW)
 * @rtt_us: RTT, microseconds
 * @wire_bytes: size of a full packet on the wire, at least 1
 *
 * Return: packets << TCSIG_SHIFT, at most TCSIG_WND_MAX.
 */
u64 tcsig_free(u64 kbit_ps, u32 rtt_us, u32 wire_bytes);

/**
 * tcsig_believe() - limit the free bandwidth that may be used at once
 * @free: min(ABW) as the network reported it, packets of an RTT << TCSIG_SHIFT; any value
 * @cw: the window << TCSIG_SHIFT
 * @line: the same of the sender's own device at its full rate; 0: its rate is not known
 *
 * The report comes from the peer, who may lie. No path has more than the sender's device can send;
 * of a device whose rate is not known, an RTT leads to at most TCSIG_GROWTH_MAX windows.
 *
 * Return: packets << TCSIG_SHIFT, at most TCSIG_WND_MAX.
 */
u64 tcsig_believe(u64 free, u64 cw, u64 line);

/**
 * tcsig_period_ns() - mean time from one packet of a flow to the next
 * @cw: the window << TCSIG_SHIFT, at least TCSIG_WND_MIN
 * @rtt_us: RTT that the window refers to, microseconds
 *
 * Return: at most 640 s.
 */
u64 tcsig_period_ns(u64 cw, u32 rtt_us);

/**
 * struct tcsig_port - estimate of the speed of the path's most loaded port
 * @free_kbit_ps: latest min(ABW), if no min(ABW/C) came since; 0: none, or too coarse
 * @pair_kbit_ps: speed by the latest pair of both; 0: none yet
 * @kbit_ps: speed; 0: not known
 */
struct tcsig_port {
	u32 free_kbit_ps;
	u32 pair_kbit_ps;
	u32 kbit_ps;
};

/**
 * tcsig_port_note_free() - note a report of min(ABW)
 * @port: the estimate
 * @low_kbit_ps: lowest value that the report stands for
 * @high_kbit_ps: upper bound; U64_MAX: no bound
 */
void tcsig_port_note_free(struct tcsig_port *port, u64 low_kbit_ps, u64 high_kbit_ps);

/**
 * tcsig_port_note_share() - note a report of min(ABW/C)
 * @port: the estimate
 * @share_ppm: the report
 *
 * ABW over ABW/C is the port's speed, or between the speeds of the two ports with the minima. The
 * reports are of different packets, between which the port may have changed, so only consecutive
 * pairs that agree count. A full port reports neither.
 */
void tcsig_port_note_share(struct tcsig_port *port, u32 share_ppm);

/**
 * tcsig_packet_ns() - time of a full packet at the most loaded port
 * @port: the estimate
 * @wire_bytes: size of the packet on the wire
 * @period_ns: the flow's period, tcsig_period_ns()
 *
 * A full port reports neither ABW nor ABW/C, so a connection that starts there does not know its
 * speed. It is assumed to have a sixteenth of the port; with this error it gets 1/4 to 3 times its
 * share.
 *
 * Return: at most TCSIG_TARGET_MAX_NS; a 16th of the period if the port's speed is not known.
 */
u64 tcsig_packet_ns(const struct tcsig_port *port, u32 wire_bytes, u64 period_ns);

/**
 * tcsig_base_ns() - target delay of a hop for a flow that has all of it
 * @target_ns: net.hopcc.tcp_csig_target_ns, at most TCSIG_TARGET_MAX_NS
 * @packet_ns: tcsig_packet_ns()
 *
 * With less than a packet's time every packet that meets another one would be a cut.
 *
 * Return: at least @target_ns.
 */
u64 tcsig_base_ns(u64 target_ns, u64 packet_ns);

/**
 * tcsig_hop_target_ns() - target delay of a hop
 * @base_ns: tcsig_base_ns()
 * @packet_ns: tcsig_packet_ns()
 * @period_ns: the flow's period, tcsig_period_ns()
 *
 * All flows of a port have the same delay, and it is the target of each only if they have the
 * same period, whatever their RTTs and gains. Each doubling of the period raises the target by a
 * packet's time, because a packet that arrives changes the delay by as much, but by at most 9/16
 * of @base_ns. @base_ns is for up to two flows, or, if it has no room for more than two packets,
 * for one.
 *
 * Return: at least @base_ns, below TCSIG_NO_DELAY.
 */
u64 tcsig_hop_target_ns(u64 base_ns, u64 packet_ns, u64 period_ns);

/**
 * tcsig_inferred_target_ns() - target of an inferred delay, at a port of unknown speed
 * @base_ns: the target of a connection that sends two packets in this time, or more
 * @period_ns: tcsig_period_ns() of the connection, 0 to 2^48 - 1
 *
 * Connections measure their minimum RTTs with errors of a few packets. With steps of the whole base
 * an error of this size is a factor of 2 between their rates.
 *
 * Return: @base_ns, and another @base_ns for each time that the period is twice as long.
 */
u64 tcsig_inferred_target_ns(u64 base_ns, u64 period_ns);

/**
 * tcsig_burst_limit_pkts() - maximum burst of a flow that meets a queue
 * @target_ns: net.hopcc.tcp_csig_target_ns
 * @period_ns: the flow's period, tcsig_period_ns()
 *
 * A burst of a large window is a queue of its own, and would be reported as such.
 *
 * Return: packets, at least TCSIG_BURST_MIN_PKTS.
 */
u32 tcsig_burst_limit_pkts(u64 target_ns, u64 period_ns);

/**
 * tcsig_hold_rtt_us() - the RTT that a window below one flight refers to
 * @least_us: minimum RTT, microseconds
 * @rtt_us: RTT of the latest packet, microseconds
 * @target_ns: net.hopcc.tcp_csig_target_ns
 *
 * Return: the RTT with a queue of the target, plus 1/8 of the difference to @rtt_us; microseconds.
 */
u32 tcsig_hold_rtt_us(u32 least_us, u32 rtt_us, u64 target_ns);

/**
 * tcsig_ai() - additive increase of a round trip
 * @rtt_ns: RTT, at most HOP_RTT_MAX_US
 * @target_ns: net.hopcc.tcp_csig_target_ns, at least TCSIG_TARGET_MIN_NS
 *
 * With one packet in each round trip, a flow with a long RTT would hardly grow beside flows with
 * short ones.
 *
 * Return: packets << TCSIG_SHIFT, one to TCSIG_AI_MAX.
 */
u64 tcsig_ai(u64 rtt_ns, u64 target_ns);

/**
 * struct tcsig_shares - min(ABW/C) of a round, millionths
 * @least_ppm: minimum since the round started; TCSIG_NO_SHARE: none
 * @round_ppm: minimum of the last whole round with a report; 0: none was reported yet
 */
struct tcsig_shares {
	u32 least_ppm;
	u32 round_ppm;
};

/**
 * tcsig_shares_note() - note a report of min(ABW/C)
 * @s: the state
 * @share_ppm: the report
 *
 * A port measures in intervals that may be longer or shorter than a round trip, and what other
 * flows leave for a moment is not free: a whole round trip must have had it.
 *
 * Return: the share that the flow may use; 0: no round trip has ended yet.
 */
u32 tcsig_shares_note(struct tcsig_shares *s, u32 share_ppm);

/* A round has ended. A small window has no report in some rounds. */
void tcsig_shares_turn(struct tcsig_shares *s);

/**
 * tcsig_begin() - start a new transfer, or one after a long idle time
 * @v: the state
 * @cw: initial window << TCSIG_SHIFT
 * @ssthresh: end of slow start << TCSIG_SHIFT
 * @delivered_pkts: packets delivered so far
 */
void tcsig_begin(struct tcsig_vars *v, u64 cw, u64 ssthresh, u32 delivered_pkts);

/* Starts a round: from now on ACKs are for packets of this window, or earlier ones. */
void tcsig_begin_round(struct tcsig_vars *v, u32 delivered_pkts);

/**
 * tcsig_receive() - process an ACK
 * @v: the state
 * @p: parameters
 * @a: the ACK
 *
 * Return: true if the ACK ended a round.
 */
bool tcsig_receive(struct tcsig_vars *v, const struct tcsig_params *p, const struct tcsig_ack *a);

/**
 * tcsig_follow() - take over the window that Reno has while no hop reports
 * @v: the state
 * @cw: Reno's window << TCSIG_SHIFT
 * @slow_start: it is in slow start
 *
 * The algorithm goes on from this window when a hop reports.
 */
void tcsig_follow(struct tcsig_vars *v, u64 cw, bool slow_start);

/**
 * tcsig_lose() - react to a loss or a mark
 * @v: the state
 * @delivered_pkts: packets delivered so far
 * @timeout: the loss was detected by a timeout
 *
 * As in Reno: once per window, unless a timeout follows.
 */
void tcsig_lose(struct tcsig_vars *v, u32 delivered_pkts, bool timeout);

/**
 * tcsig_undo() - undo the reaction to a spurious loss
 * @v: the state
 */
void tcsig_undo(struct tcsig_vars *v);

/**
 * tcsig_bound() - limit the window to what the sender's device can send
 * @v: the state
 * @line: packets of an RTT at the device's full rate << TCSIG_SHIFT; 0: its rate is not known
 *
 * A sender whose own device is the bottleneck has one RTT of its rate in flight, and in slow start
 * a window of up to two.
 */
static inline void tcsig_bound(struct tcsig_vars *v, u64 line)
{
	if (line)
		v->cw = min(v->cw, max(line * TCSIG_LINE_RTTS, TCSIG_FLIGHT_PKTS * TCSIG_ONE));
}

/**
 * tcsig_pace_rtt_us() - the RTT in which a window is sent
 * @least_us: minimum RTT, microseconds; U32_MAX: none is known
 * @mean_us: mean RTT, microseconds
 * @delay_ns: reported delay
 *
 * ACKs that wait on the way back make the RTT longer than the reported delay does. A window that
 * was sent in the minimum RTT would be a burst then, and a queue.
 *
 * Return: microseconds; 0: not known.
 */
u32 tcsig_pace_rtt_us(u32 least_us, u32 mean_us, u64 delay_ns);

/**
 * tcsig_pace_bytes_ps() - pacing rate of a window
 * @v: the state
 * @mss_bytes: payload of a full packet
 * @rtt_us: tcsig_pace_rtt_us(), at least 1
 *
 * Return: payload, bytes/s, at least 1.
 */
u64 tcsig_pace_bytes_ps(const struct tcsig_vars *v, u32 mss_bytes, u32 rtt_us);

/**
 * struct tcsig_estimate - estimate of a delay within the range of a compact tag's bucket
 * @delay_ns: latest estimate
 * @cw: window at that time << TCSIG_SHIFT; 0: no estimate yet
 */
struct tcsig_estimate {
	u64 delay_ns;
	u64 cw;
};

/**
 * tcsig_compute() - estimate a delay within a range from the change of the window
 * @r: the state
 * @low: lowest delay of the range
 * @high: upper bound, not in the range; U64_MAX: no bound
 * @cw: the window << TCSIG_SHIFT; at least TCSIG_WND_MIN
 * @rtt_us: RTT
 *
 * Flows that share a bottleneck grow and shrink together, so its delay changes by the fraction of
 * the RTT by which the window has changed. Errors are limited by the ends of the range.
 *
 * Return: a delay within the range; @low if the range has no upper bound.
 */
u64 tcsig_compute(struct tcsig_estimate *r, u64 low, u64 high, u64 cw, u32 rtt_us);

#endif /* HOPCC_TCP_CSIG_CSIG_SENDER_H */
