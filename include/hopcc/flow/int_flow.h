/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the telemetry carrier (net_int) and a congestion control that uses
 * telemetry of a connection. tcp_hpccpp is one such congestion control; any other may be, too.
 *
 * While data is sent the carrier collects records, in probes or in the data, and stores the latest
 * answer. The congestion control reads it when an ACK is received.
 */
#ifndef HOPCC_FLOW_INT_FLOW_H
#define HOPCC_FLOW_INT_FLOW_H

#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/wire/int.h>

struct sock;
struct int_flow;

/**
 * enum int_answer_kind - level of detail of an answer
 * @INT_ANSWER_RECORDS: the record of every hop
 * @INT_ANSWER_SUMMARY: the record of the most loaded hop
 * @INT_ANSWER_RATIO: the load of the path, without sizes and rates
 * @INT_ANSWER_WINDOW: a window that the receiver computed with the algorithm
 */
enum int_answer_kind {
	INT_ANSWER_RECORDS,
	INT_ANSWER_SUMMARY,
	INT_ANSWER_RATIO,
	INT_ANSWER_WINDOW,
};

/**
 * struct int_ask - request of the congestion control for the next packets
 * @t_ns: T, the base RTT
 * @wnd_bytes: the sender's window; if it is small, the peer sends ACKs immediately
 * @wnd_max_bytes: maximum window; for the algorithm at the receiver
 * @eta: target utilisation, 2^-20; for the algorithm at the receiver
 * @max_stage: maxStage; for the algorithm at the receiver
 * @seldom: one answer a round trip is enough, since only the hosts limit the flow
 * @flows: N; for the algorithm at the receiver
 * @kind: requested kind of answer; the receiver may choose a less detailed one
 */
struct int_ask {
	u32 t_ns;
	u32 wnd_bytes;
	u32 wnd_max_bytes;
	u32 eta;
	u16 max_stage;
	bool seldom;
	u32 flows;
	enum int_answer_kind kind;
};

/**
 * struct int_answer - telemetry that the peer returned
 * @kind: kind of the answer; selects the valid fields below
 * @seq: snd_nxt after the packet that collected the records was sent
 * @flows: N, the number of flows that the receiver counts on its last hop; 0: not reported
 * @hops: nHop; not valid for WINDOW and RATIO
 * @index: SUMMARY: index of the hop
 * @path_id: pathID; not valid for WINDOW and RATIO
 * @back_ns: time from the packet's arrival at the peer to that of the answer here, modulo 2^32.
 *	The hosts' clocks differ, so only differences between two answers mean anything. 0: not
 *	known, for RATIO and for answers in ACKs
 * @rtt_ns: RTT of the packet that collected the records; 0: not known
 * @record: SUMMARY: record of the hop
 * @u: RATIO: u, 2^-20
 * @tau_ns: RATIO: tau, the time over which u was measured
 * @wnd_bytes: WINDOW: W
 * @hdr: RECORDS: the header, which has passed int_check()
 * @room: memory for @hdr and its records
 */
struct int_answer {
	enum int_answer_kind kind;
	u32 seq;
	u32 flows;
	u8 hops;
	u8 index;
	u16 path_id;
	u32 back_ns;
	u32 rtt_ns;
	struct int_record record;
	u32 u;
	u32 tau_ns;
	u32 wnd_bytes;
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
	};
};

/**
 * nint_flow_open() - start to use telemetry on a connection
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that nint_flow_close() drops; NULL if the peer does not
 * support telemetry, the netns has it switched off, or memory is short: then the connection does
 * without telemetry.
 */
struct int_flow *nint_flow_open(struct sock *sk);

/**
 * nint_flow_negotiate() - negotiate telemetry on an established connection
 * @sk: a TCP socket, for which nint_flow_open() returned NULL
 *
 * For a congestion control that was selected after the handshake, and for a connection whose
 * handshake did not negotiate, for example because its SYN was lost. Pure ACKs ask the peer. Call
 * it again for each ACK of new data until the result differs from HOP_PEER_UNKNOWN.
 *
 * Context: socket lock held; may be softirq.
 * Return: HOP_PEER_SUPPORTED: nint_flow_open() will succeed; HOP_PEER_UNSUPPORTED: the connection
 * will never have telemetry.
 */
enum hop_peer nint_flow_negotiate(struct sock *sk);

/**
 * nint_flow_close() - stop using telemetry; no more records are collected
 * @flow: the flow that nint_flow_open() returned
 *
 * Context: socket lock held; may be softirq.
 */
void nint_flow_close(struct int_flow *flow);

/**
 * nint_flow_ask() - set what the next packets request
 * @flow: the flow that nint_flow_open() returned
 * @ask: the request; is copied
 *
 * Context: socket lock held.
 */
void nint_flow_ask(struct int_flow *flow, const struct int_ask *ask);

/**
 * nint_flow_acks_now() - does the peer acknowledge each packet without delay?
 * @flow: the flow that nint_flow_open() returned
 *
 * The peer does so when a packet that collects records has reported that int_ask.wnd_bytes is
 * small. Until then its TCP may delay the ACK of a single packet by 40 ms.
 *
 * Context: any.
 * Return: true if the latest such packet reported it.
 */
bool nint_flow_acks_now(const struct int_flow *flow);

/**
 * nint_flow_take() - take the latest answer; each answer is returned once
 * @flow: the flow that nint_flow_open() returned
 * @answer: result
 *
 * Context: socket lock held.
 * Return: true if an answer was received since the last call.
 */
bool nint_flow_take(struct int_flow *flow, struct int_answer *answer);

/**
 * nint_flow_hdr_bytes() - room that a data packet must leave for the header
 * @flow: the flow that nint_flow_open() returned
 *
 * The value is for icsk_ext_hdr_len. Only nint_flow_grow() changes it while the flow is open.
 *
 * Context: any.
 * Return: bytes; 0 if data carries no headers.
 */
unsigned int nint_flow_hdr_bytes(const struct int_flow *flow);

/**
 * nint_flow_grow() - make room for the records of all hops of the path
 * @flow: the flow that nint_flow_open() returned
 *
 * To be called for an answer whose header has fewer records than the path has hops. Probes grow
 * without it.
 *
 * Context: socket lock held.
 * Return: the new value of nint_flow_hdr_bytes().
 */
unsigned int nint_flow_grow(struct int_flow *flow);

/**
 * nint_flow_syn_sent_ns() - time at which this end sent its SYN, or sent it last
 * @flow: the flow that nint_flow_open() returned
 *
 * Context: any.
 * Return: the time by tcp_clock_ns(); 0: the peer sent the SYN.
 */
u64 nint_flow_syn_sent_ns(const struct int_flow *flow);

/**
 * nint_flow_count_guarded() - count a loss behind a queue that no hop reports
 * @flow: the flow that nint_flow_open() returned
 *
 * Context: any.
 */
void nint_flow_count_guarded(struct int_flow *flow);

/**
 * nint_flow_peer() - current state of the peer
 * @flow: the flow that nint_flow_open() returned
 *
 * Context: any.
 * Return: the state.
 */
enum hop_peer nint_flow_peer(const struct int_flow *flow);

#endif /* HOPCC_FLOW_INT_FLOW_H */
