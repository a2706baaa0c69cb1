/* SPDX-License-Identifier: GPL-2.0 */
/* The HPCC++ sender: what TCP needs to apply the algorithm of hop_core/hpcc.c */
#ifndef HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H
#define HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <hopcc/lib/hop_pace.h>
#include <hopcc/lib/hpcc.h>
#include <hopcc/flow/int_flow.h>

#define HPCCPP_NS_PER_S		1000000000U
#define HPCCPP_BYTES_PER_MBIT	125000U
#define HPCCPP_ETA_DEFAULT_PPM	950000U
#define HPCCPP_ETA_MIN_PPM	500000U
#define HPCCPP_STAGE_DEFAULT	5U
#define HPCCPP_STAGE_MAX	1000U
#define HPCCPP_FLOWS_DEFAULT	6U
#define HPCCPP_FLOWS_MAX	1000000U
#define HPCCPP_RATE_MAX_MBIT	1600000U

/**
 * struct hpccpp_config - the sysctls; read without a lock
 * @eta_ppm: target utilisation
 * @max_stage: maxStage
 * @flows: N
 * @t_ns: T; 0: the minimum RTT that was measured
 * @rate_mbit: line rate; 0: the rate of the device
 */
struct hpccpp_config {
	u32 eta_ppm;
	u32 max_stage;
	u32 flows;
	u32 t_ns;
	u32 rate_mbit;
};

/**
 * struct hpccpp_path - what is known of a connection's path
 * @rate_bytes_ps: line rate, at least 1
 * @port_bytes_ps: rate of the path's slowest port; 0: not known
 * @t_ns: T, within HPCC_T_MIN_NS and HPCC_T_MAX_NS
 * @flows: N, at least 1
 * @packet_bytes: as hpcc_params.packet_bytes
 */
struct hpccpp_path {
	u64 rate_bytes_ps;
	u64 port_bytes_ps;
	u32 t_ns;
	u32 flows;
	u32 packet_bytes;
};

/**
 * hpccpp_set_params() - compute the algorithm's parameters
 * @p: result
 * @c: the sysctls
 * @path: the path
 */
void hpccpp_set_params(struct hpcc_params *p, const struct hpccpp_config *c,
		       const struct hpccpp_path *path);

/**
 * hpccpp_bound() - limit the windows after the parameters have changed
 * @v: state of the algorithm
 * @p: its parameters
 */
void hpccpp_bound(struct hpcc_vars *v, const struct hpcc_params *p);

/**
 * hpccpp_rtt_ns() - compute the minimum RTT
 * @rtt_us: TCP's minimum RTT
 * @syn_rtt_ns: RTT of the SYN by the clock that TCP's timestamps are rounded from; 0: not known
 *
 * TCP rounds both timestamps down to microseconds, so their difference is less than 1 us too short
 * or too long. Of two flows on the same path one would have a T of 9 us and the other of 10 us, and
 * the second would keep a larger window. If the minimum is the SYN's RTT, the exact value is used.
 * Otherwise 1 us is added, since a T that is too short would result in a window that is too small.
 *
 * Return: ns, at least 1.
 */
u64 hpccpp_rtt_ns(u32 rtt_us, u64 syn_rtt_ns);

/**
 * struct hpccpp_least - the shortest queues on the path of any packet of a connection
 * @known: an answer was received
 * @queues_ns: sum over all ports of the path, as they report them; 0: almost none, or not known:
 *	then T is the minimum RTT
 * @t_ns: RTT of the packet that met them, minus @queues_ns
 *
 * The minimum RTT of a new connection is that of its SYN, which includes the queues of ports that
 * other flows fill. A record has the queue that a packet left behind, not the one in which it
 * waited. While a queue grows, the queue left behind is the longer one, and the RTT minus the
 * reported queues may be less than T. So the result is bounded. Shorter queues cause smaller
 * errors: the estimate is replaced when shorter queues are reported.
 */
struct hpccpp_least {
	bool known;
	u32 queues_ns;
	u32 t_ns;
};

/**
 * hpccpp_update_least() - update for an answer
 * @l: is updated; zero at first
 * @a: the answer
 *
 * The receiver's window and ratio report no queues: from then on T is the minimum RTT.
 *
 * Return: true if @l has changed.
 */
bool hpccpp_update_least(struct hpccpp_least *l, const struct int_answer *a);

/**
 * hpccpp_least_t_ns() - compute T
 * @l: the shortest queues
 * @rtt_ns: minimum RTT
 *
 * Return: ns, within HPCC_T_MIN_NS and HPCC_T_MAX_NS.
 */
u32 hpccpp_least_t_ns(const struct hpccpp_least *l, u64 rtt_ns);

/**
 * hpccpp_wnd_bytes_ps() - W / T
 * @wnd_bytes: W
 * @t_ns: T, at least HPCC_T_MIN_NS
 *
 * Return: bytes/s, below 2^52.
 */
u64 hpccpp_wnd_bytes_ps(u32 wnd_bytes, u32 t_ns);

/**
 * hpccpp_believe_bytes_ps() - limit the reported rate of a path, if the line rate is not known
 * @path_bytes_ps: rate of the slowest port, as the peer reported it; any value
 * @believed_bytes_ps: result for the previous answer; 0: none
 * @wnd_bytes: W
 * @t_ns: T, at least HPCC_T_MIN_NS
 * @round: a round ended with this answer
 *
 * Return: bytes/s.
 */
u64 hpccpp_believe_bytes_ps(u64 path_bytes_ps, u64 believed_bytes_ps, u32 wnd_bytes, u32 t_ns,
			    bool round);

/**
 * hpccpp_next_bytes_ps() - choose a higher rate if neither device nor answers report the line rate
 * @v: state of the algorithm, after an answer with U
 * @p: its parameters, computed from the previous choice
 *
 * If the flow used its maximum window in a round without filling the path, the rate doubles, as in
 * slow start. With U of at least eta the rate stays.
 *
 * Return: bytes/s, twice W / T; 0: the rate is to stay.
 */
u64 hpccpp_next_bytes_ps(const struct hpcc_vars *v, const struct hpcc_params *p);

/**
 * hpccpp_receive() - NewAck: process an answer of any kind
 * @v: state of the algorithm
 * @p: its parameters
 * @a: the answer
 * @snd_nxt: current SND.NXT
 * @now_ns: local clock
 *
 * Return: the effect of the answer.
 */
enum hpcc_received hpccpp_receive(struct hpcc_vars *v, const struct hpcc_params *p,
				  const struct int_answer *a, u32 snd_nxt, u64 now_ns);

/**
 * struct hpccpp_blind - round trips whose answers the algorithm could not use
 * @rounds: number of round trips with such answers since one could be used
 * @counted: the current round trip is included in @rounds; cleared when it ends
 * @measured: records of known ports have arrived
 */
struct hpccpp_blind {
	u8 rounds;
	bool counted;
	bool measured;
};

/**
 * hpccpp_is_blind() - check if the algorithm has no usable answers
 * @b: previous answers
 * @received: the algorithm's result for an answer
 *
 * Answers cannot be used without records, with a port of unknown speed, or if they are from another
 * path than the stored ones. The first answer after an idle time cannot be used either, but it does
 * not count, because the next one can. An answer with the same records as the previous one shows
 * that records arrive, but it does not reset the count: the answers between such pairs may all have
 * records that cannot be used.
 *
 * Return: true after HPCCPP_BLIND_ROUNDS_MAX round trips, or HPCCPP_BLIND_ROUNDS_NEW on a new path.
 */
bool hpccpp_is_blind(struct hpccpp_blind *b, enum hpcc_received received);

/**
 * struct hpccpp_back - delay of answers on the way back
 * @least_ns: the least int_answer.back_ns, which has no queue; increases slowly, since one host's
 *	clock may be faster than the other's
 * @mean_ns: mean delay above it
 * @deviation_ns: mean distance from @mean_ns
 * @at_ns: time of the latest answer; 0: none yet
 */
struct hpccpp_back {
	u32 least_ns;
	u32 mean_ns;
	u32 deviation_ns;
	u64 at_ns;
};

/**
 * hpccpp_note_back() - update for an answer
 * @b: is updated
 * @back_ns: int_answer.back_ns
 * @now_ns: local clock
 */
void hpccpp_note_back(struct hpccpp_back *b, u32 back_ns, u64 now_ns);

/**
 * hpccpp_late_ns() - get the delay of ACKs that no queue on the way to the peer causes
 * @b: delay of answers
 * @t_ns: T
 * @rtt_ns: smoothed RTT
 *
 * A peer cannot claim more than twice the mean delay of its ACKs.
 *
 * Return: the mean and twice its deviation, ns, at most HPCC_T_MAX_NS; 0: short in comparison
 * with T.
 */
u32 hpccpp_late_ns(const struct hpccpp_back *b, u32 t_ns, u64 rtt_ns);

/**
 * hpccpp_flight_bytes() - compute how much may be in flight
 * @wnd_bytes: W
 * @t_ns: T
 * @late_ns: hpccpp_late_ns()
 *
 * W is the data that the path holds within T. Late ACKs, which wait in a queue on the way back or
 * in a host, acknowledge data that has already left the path. So the data that is sent at a rate of
 * W / T during that delay may be in flight in addition.
 *
 * Return: bytes, at least W.
 */
u32 hpccpp_flight_bytes(u32 wnd_bytes, u32 t_ns, u32 late_ns);

/**
 * hpccpp_cwnd_pkts() - compute the congestion window
 * @wnd_bytes: W
 * @wnd_init_bytes: W_init, the BDP of the path's slowest port
 * @wire_bytes: size of a full packet on the wire
 * @held: a single packet is in flight, and the receiver may delay its ACK
 *
 * A receiver may delay the ACK of a single packet by up to 40 ms, and acknowledges a second one at
 * once. The next packet would tell the receiver that W is small, but while W is smaller than the
 * data in flight, that packet cannot be sent. So two packets may be in flight then. A receiver that
 * also sends data, as the client of requests and responses does, delays ACKs again: if a BDP is
 * less than two packets, a flow with at least half of a BDP may always have two packets in flight.
 * The pacing rate stays W / T.
 *
 * Return: packets, at least 1.
 */
u32 hpccpp_cwnd_pkts(u32 wnd_bytes, u32 wnd_init_bytes, u32 wire_bytes, bool held);

/**
 * hpccpp_pace_bytes_ps() - compute R
 * @wnd_bytes: W
 * @t_ns: T
 * @mss_bytes: payload of a full packet
 * @wire_bytes: size of the packet on the wire
 *
 * Return: payload, bytes/s, at least 1.
 */
u64 hpccpp_pace_bytes_ps(u32 wnd_bytes, u32 t_ns, u32 mss_bytes, u32 wire_bytes);

/**
 * hpccpp_burst_pkts() - maximum number of packets that may be sent back to back
 * @rate_bytes_ps: lower of the line rate and the rate of the path's slowest port; 0: not known
 * @wire_bytes: size of a full packet on the wire
 *
 * A flow with a shorter RTT sees a burst as a queue: at 2.5 Gbit/s a GSO packet of 25 segments, a
 * sixteenth of the window of a flow with T 2 ms, is six T of one with T 20 us. At 10 Gbit/s the
 * limit is HPCCPP_BURST_MIN_PKTS, and slower ports do not lower it. hop_burst_pkts() limits a
 * window of fewer than 64 packets to shorter bursts.
 *
 * Return: packets, HPCCPP_BURST_MIN_PKTS to HOP_BURST_MAX_PKTS.
 */
u32 hpccpp_burst_pkts(u64 rate_bytes_ps, u32 wire_bytes);

/**
 * hpccpp_path() - get what the ports have reported of the path
 * @v: state of the algorithm; U is 1 before the first answer
 * @p: its parameters
 *
 * While an incast ends, U is low and smoothed RTTs are still long, but the window is small: the
 * path is HOP_PATH_FREE then.
 *
 * Return: HOP_PATH_IDLE if all ports are used to less than half of the target with the largest
 * window.
 */
static inline enum hop_path hpccpp_path(const struct hpcc_vars *v, const struct hpcc_params *p)
{
	if (v->u >= p->eta / 2)
		return HOP_PATH_BUSY;
	return hpcc_wnd_bytes(v) < p->wnd_max_bytes ? HOP_PATH_FREE : HOP_PATH_IDLE;
}

/**
 * struct hpccpp_start - flows to a peer; protected by a lock of the netns
 * @peer: hash of the peer's address
 * @flows: number of flows that started, each within T of the previous one
 * @last_ns: time of the last start
 * @t_ns: T of a flow that has ended
 * @path_bytes_ps: rate of the slowest port on its path; 0: not known
 * @ended_ns: time of its end
 */
struct hpccpp_start {
	u32 peer;
	u32 flows;
	u64 last_ns;
	u32 t_ns;
	u64 path_bytes_ps;
	u64 ended_ns;
};

/**
 * hpccpp_remember() - remember the path of a flow that ends
 * @s: flows to its peer, or to another peer that used the entry before
 * @peer: hash of the peer's address
 * @now_ns: current time
 * @path_bytes_ps: rate of the slowest port
 * @t_ns: T
 */
void hpccpp_remember(struct hpccpp_start *s, u32 peer, u64 now_ns, u64 path_bytes_ps, u32 t_ns);

/**
 * hpccpp_recall() - start with what was remembered
 * @s: as for hpccpp_remember()
 * @peer: hash of the peer's address
 * @now_ns: current time
 * @l: result: the remembered T, which is the maximum of T until an answer reports queues; unchanged
 *	if nothing is known
 *
 * The path may change, so it is forgotten after HPCCPP_KNOWN_NS.
 *
 * Return: rate of the slowest port; 0: not known.
 */
u64 hpccpp_recall(const struct hpccpp_start *s, u32 peer, u64 now_ns, struct hpccpp_least *l);

/**
 * hpccpp_join_start() - count a flow that starts
 * @s: flows to its peer, or to another peer that used the entry before
 * @peer: hash of the peer's address
 * @t_ns: T
 * @now_ns: current time
 *
 * Return: number of the flow among them, from 1.
 */
u32 hpccpp_join_start(struct hpccpp_start *s, u32 peer, u32 t_ns, u64 now_ns);

/**
 * hpccpp_share_start() - first window of a flow that starts together with others
 * @v: state of the algorithm, started
 * @p: its parameters
 * @flows: result of hpccpp_join_start()
 * @wire_bytes: size of a full packet on the wire, the minimum
 */
void hpccpp_share_start(struct hpcc_vars *v, const struct hpcc_params *p, u32 flows,
			u32 wire_bytes);

/**
 * struct hpccpp_move - paths of a flow, section 9.4
 * @rounds: consecutive rounds in favour of another path; negative after a move
 * @left: pathID of the path that was left
 * @tries: number of tries since; 0: none in progress
 * @seq: snd_nxt at the last try
 */
struct hpccpp_move {
	s8 rounds;
	u16 left;
	u8 tries;
	u32 seq;
};

/**
 * hpccpp_should_move() - decide if another path should be tried, section 9.4
 * @m: paths of the flow
 * @v: state of the algorithm; Wc is new
 * @p: its parameters
 * @snd_nxt: current SND.NXT
 * @random: any value; spreads the time after which flows that meet on the next path may move again
 *
 * The flow stays if its bottleneck is the last hop, which all paths have in common, or if its
 * window is more than half of the maximum.
 *
 * Return: true to try another path now.
 */
bool hpccpp_should_move(struct hpccpp_move *m, const struct hpcc_vars *v,
			const struct hpcc_params *p, u32 snd_nxt, u32 random);

/**
 * enum hpccpp_came - result of a try
 * @HPCCPP_CAME_UNKNOWN: there is no answer yet, or there was no try
 * @HPCCPP_CAME_BACK: same path as before; another try is due
 * @HPCCPP_CAME_LATE: another path, but not with the first try
 * @HPCCPP_CAME_ELSEWHERE: another path with the first try; or there is no other path
 */
enum hpccpp_came {
	HPCCPP_CAME_UNKNOWN,
	HPCCPP_CAME_BACK,
	HPCCPP_CAME_LATE,
	HPCCPP_CAME_ELSEWHERE,
};

/**
 * hpccpp_came() - find the result of the last try
 * @m: paths of the flow
 * @v: state of the algorithm, which has stored the records of a packet
 * @seq: snd_nxt after that packet was sent
 * @snd_nxt: current SND.NXT
 *
 * A flow that is back on its old path does not wait for further rounds, which are long there.
 *
 * Return: the result.
 */
enum hpccpp_came hpccpp_came(struct hpccpp_move *m, const struct hpcc_vars *v, u32 seq,
			     u32 snd_nxt);

#endif /* HOPCC_TCP_HPCCPP_HPCCPP_SENDER_H */
