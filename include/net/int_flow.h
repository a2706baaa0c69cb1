/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the carrier of telemetry (net_int) and a congestion control that reads it say
 * to each other about a connection. tcp_hpccpp is one; any other may be.
 *
 * The carrier collects while data is sent, in probes or in the data, and keeps the
 * newest answer; the congestion control takes it when an ACK comes.
 */
#ifndef HOPCC_NET_INT_FLOW_H
#define HOPCC_NET_INT_FLOW_H

#include <linux/types.h>
#include <net/int.h>

struct sock;
struct int_flow;

/**
 * enum int_peer - what is known of the other end and the path to it
 * @INT_PEER_UNKNOWN: the handshake is not over, or began before the module was loaded
 * @INT_PEER_SPEAKS: it answers
 * @INT_PEER_SILENT: it does not, or not any more: no telemetry on this connection
 */
enum int_peer {
	INT_PEER_UNKNOWN,
	INT_PEER_SPEAKS,
	INT_PEER_SILENT,
};

/**
 * enum int_answer_kind - how much of the path an answer tells
 * @INT_ANSWER_RECORDS: every hop's record
 * @INT_ANSWER_SUMMARY: the record of the most loaded hop
 * @INT_ANSWER_RATIO: how loaded the path is, of what size and rate no word
 * @INT_ANSWER_WINDOW: the receiver ran the law
 */
enum int_answer_kind {
	INT_ANSWER_RECORDS,
	INT_ANSWER_SUMMARY,
	INT_ANSWER_RATIO,
	INT_ANSWER_WINDOW,
};

/**
 * struct int_ask - what the congestion control wants of the next packets
 * @t_ns: T, the base RTT
 * @wnd_bytes: its window: a small one wants its ACKs at once
 * @wnd_max_bytes: its greatest window; for the receiver's law
 * @eta: target utilisation, 2^-20; for the receiver's law
 * @max_stage: for the receiver's law
 * @flows: N; for the receiver's law
 * @kind: the answer wanted; the receiver may tell less
 */
struct int_ask {
	u32 t_ns;
	u32 wnd_bytes;
	u32 wnd_max_bytes;
	u32 eta;
	u16 max_stage;
	u32 flows;
	enum int_answer_kind kind;
};

/**
 * struct int_answer - what came back
 * @kind: what is valid below
 * @seq: snd_nxt when the packet that collected it had left
 * @flows: N that the receiver counts on its last hop; 0: not told
 * @hops: nHop; of all but WINDOW and RATIO
 * @path_id: pathID, the same
 * @index: SUMMARY: which hop
 * @record: SUMMARY: its record
 * @u: RATIO: u, 2^-20
 * @tau_ns: RATIO: measured over that time
 * @wnd_bytes: WINDOW: W
 * @hdr: RECORDS: the header, checked
 * @room: of @hdr
 */
struct int_answer {
	enum int_answer_kind kind;
	u32 seq;
	u32 flows;
	u8 hops;
	u16 path_id;
	u8 index;
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
 * int_flow_open() - a congestion control takes part in a connection
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that int_flow_close() gives back; NULL if the
 * peer does not speak, the netns has it switched off, or memory is short: then the
 * connection goes without telemetry.
 */
struct int_flow *int_flow_open(struct sock *sk);

/**
 * int_flow_negotiate() - negotiate telemetry on an established connection
 * @sk: a TCP socket, for which int_flow_open() returned NULL
 *
 * For a congestion control that was chosen late. To be called again for each ACK of new data until
 * the result is another one than INT_PEER_UNKNOWN.
 *
 * Context: socket lock held; may be softirq. May send an ACK.
 * Return: INT_PEER_SPEAKS: int_flow_open() will do; INT_PEER_SILENT: for good, without telemetry.
 */
enum int_peer int_flow_negotiate(struct sock *sk);

/**
 * int_flow_close() - it leaves; nothing is collected any more
 * @flow: the flow that int_flow_open() returned
 *
 * Context: socket lock held; may be softirq.
 */
void int_flow_close(struct int_flow *flow);

/**
 * int_flow_ask() - what the next packets shall ask for
 * @flow: the flow that int_flow_open() returned
 * @ask: copied
 *
 * Context: socket lock held.
 */
void int_flow_ask(struct int_flow *flow, const struct int_ask *ask);

/**
 * int_flow_take() - the newest answer, once
 * @flow: the flow that int_flow_open() returned
 * @answer: result
 *
 * Context: socket lock held.
 * Return: whether one came since the last call.
 */
bool int_flow_take(struct int_flow *flow, struct int_answer *answer);

/**
 * int_flow_hdr_bytes() - what a data packet must leave free for the header
 * @flow: the flow that int_flow_open() returned
 *
 * For icsk_ext_hdr_len. Only int_flow_grow() changes it while the flow is open.
 *
 * Context: any.
 * Return: bytes; 0 where data carries none.
 */
unsigned int int_flow_hdr_bytes(const struct int_flow *flow);

/**
 * int_flow_grow() - make room for the records of all hops of the path
 * @flow: the flow that int_flow_open() returned
 *
 * For an answer whose header has fewer records than the path has hops. Probes grow by themselves.
 *
 * Context: socket lock held.
 * Return: int_flow_hdr_bytes() from now on.
 */
unsigned int int_flow_grow(struct int_flow *flow);

/**
 * int_flow_syn_queues_ns() - the queues that this end's SYN or SYN-ACK met on its way
 * @flow: the flow that int_flow_open() returned
 *
 * They are a part of the RTT that TCP measured by it. A peer that answers a SYN reports them at
 * once, one that sent it with its first data.
 *
 * Context: any.
 * Return: ns, of all ports of the path in sum, as the peer reported; 0: none, or not known.
 */
u32 int_flow_syn_queues_ns(const struct int_flow *flow);

/**
 * int_flow_syn_mbit() - the rate of the slowest port that this end's SYN met
 * @flow: the flow that int_flow_open() returned
 *
 * Context: any.
 * Return: Mbit/s, as the peer reported; 0: not known, as where the peer has sent the SYN.
 */
u32 int_flow_syn_mbit(const struct int_flow *flow);

/**
 * int_flow_syn_is_unsure() - did this end's SYN meet a port whose rate is not known?
 * @flow: the flow that int_flow_open() returned
 *
 * Context: any.
 * Return: true if the peer reported one, as where the path has more hops than the SYN had room for.
 */
bool int_flow_syn_is_unsure(const struct int_flow *flow);

/**
 * int_flow_syn_sent_ns() - when this end's SYN left
 * @flow: the flow that int_flow_open() returned
 *
 * Context: any.
 * Return: ns, by tcp_clock_ns(), of the last one with a header; 0: the peer has sent the SYN.
 */
u64 int_flow_syn_sent_ns(const struct int_flow *flow);

/**
 * int_flow_peer() - what is known of the peer now
 * @flow: the flow that int_flow_open() returned
 *
 * Context: any.
 * Return: what is known.
 */
enum int_peer int_flow_peer(const struct int_flow *flow);

#endif /* HOPCC_NET_INT_FLOW_H */
