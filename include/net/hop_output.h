/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carriers ask and do where packets leave: POST_ROUTING behind source NAT. Flows are
 * found by their socket, whatever NAT has done.
 */
#ifndef HOPCC_NET_HOP_OUTPUT_H
#define HOPCC_NET_HOP_OUTPUT_H

#include <linux/types.h>
#include <net/hop_discover.h>
#include <net/hop_flow.h>
#include <net/hop_shim.h>
#include <net/sock.h>

/**
 * struct hop_segment - an outgoing packet
 * @place: where a header goes; its @next is 0 if the packet ends within its IP headers, or is
 *	a fragment
 * @tcp: a TCP packet of this network namespace; else what follows is not set
 * @payload_bytes: its data
 * @syn: a SYN or SYN-ACK
 * @ack: its ACK bit
 * @rst: a reset: never with a header
 */
struct hop_segment {
	struct hop_shim_place place;
	bool tcp;
	unsigned int payload_bytes;
	bool syn;
	bool ack;
	bool rst;
};

/**
 * struct hop_greeter - a carrier's part in discovery where packets leave
 * @kind: of its flows
 * @asks: shall the first SYN of a socket bear a header? Not called for one with data
 * @stage: how far discovery is
 * @event: it goes on; returns how far it is then
 */
struct hop_greeter {
	const struct hop_flow_kind *kind;
	bool (*asks)(const struct hop_flow_key *key, const struct sock *sk);
	enum hop_stage (*stage)(struct hop_flow *flow);
	enum hop_stage (*event)(struct hop_flow *flow, enum hop_event event);
};

/**
 * hop_output_is_tcp() - is it a TCP socket?
 * @sk: a packet's socket, or NULL
 *
 * Context: any.
 * Return: whether it is one, and not one of those that resets are sent with.
 */
static inline bool hop_output_is_tcp(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && sk_is_tcp(sk);
}

/**
 * hop_output_is_foreign() - is a packet's socket of another namespace?
 * @skb: the packet
 * @net: the namespace of the hook
 *
 * A packet keeps its socket through a tunnel's or IPsec's device that was moved to another
 * namespace, and through ipvlan in mode L3. In the namespace below, the socket's flow, and what
 * its own namespace allows, have no say.
 *
 * Context: any.
 * Return: true if there is a socket, of another namespace than @net.
 */
static inline bool hop_output_is_foreign(const struct sk_buff *skb, const struct net *net)
{
	return skb->sk && !net_eq(sock_net(skb->sk), net);
}

/**
 * hop_output_read() - look at a TCP packet
 * @skb: the packet; skb->data at its network header
 * @seg: result but for @tcp; its @place is of hop_shim_find(), @next 0 if there is none
 *
 * Context: any. Pulls TCP's header without its options.
 * Return: false if it is not TCP, or ends within its headers.
 */
bool hop_output_read(struct sk_buff *skb, struct hop_segment *seg);

/**
 * hop_segment_tcp() - a packet's TCP header
 * @skb: the packet; skb->data at its network header
 * @seg: of hop_output_read()
 *
 * Context: any.
 * Return: the header; its options may not be linear.
 */
static inline const struct tcphdr *hop_segment_tcp(const struct sk_buff *skb,
						   const struct hop_segment *seg)
{
	return (const struct tcphdr *)(skb->data + seg->place.offset_bytes);
}

/**
 * hop_output_has_room() - would each packet on the wire fit its route with a header?
 * @skb: a TCP packet, or a super-packet
 * @payload_bytes: its data
 * @bytes: of the header
 *
 * Not if it was sent before room was reserved, or if IP's options took that.
 *
 * Context: RCU read lock.
 * Return: whether they would.
 */
bool hop_output_has_room(const struct sk_buff *skb, unsigned int payload_bytes,
			 unsigned int bytes);

/**
 * hop_output_greet() - discovery, where a SYN or SYN-ACK leaves
 * @greeter: the carrier's part in it
 * @skb: the packet, with its socket; a SYN-ACK's is a request, or there is none with a SYN
 *	cookie, and then skb->dev is set
 * @th: its TCP header
 * @payload_bytes: its data
 *
 * Context: RCU read lock.
 * Return: the flow of a packet that is to bear a header, or NULL.
 */
struct hop_flow *hop_output_greet(const struct hop_greeter *greeter, const struct sk_buff *skb,
				  const struct tcphdr *th, unsigned int payload_bytes);

/**
 * hop_output_ask() - negotiate on an established connection
 * @greeter: the carrier's part in discovery
 * @sk: a TCP socket whose congestion control wants headers
 * @begins: begin if nothing is known of this connection; false where the carrier is off, or the
 *	destination is remembered
 *
 * To be called when the congestion control is chosen, and again for each ACK until the stage is
 * HOP_STAGE_SPEAKS or HOP_STAGE_SILENT. It sends an ACK that asks, and where no answer comes again.
 * Not while the handshake ends: what its packets negotiated is all there is then.
 *
 * Context: socket lock held.
 * Return: the stage of discovery; HOP_STAGE_SILENT, too, where nothing is known and nothing begins.
 */
enum hop_stage hop_output_ask(const struct hop_greeter *greeter, struct sock *sk, bool begins);

/**
 * enum hop_late_header - what a pure ACK of an established connection says to the peer
 * @HOP_LATE_NONE: nothing
 * @HOP_LATE_ANSWER: headers come through
 * @HOP_LATE_QUESTION: do they?
 */
enum hop_late_header {
	HOP_LATE_NONE,
	HOP_LATE_ANSWER,
	HOP_LATE_QUESTION,
};

/**
 * hop_output_late() - is a pure ACK to have a header that negotiates?
 * @flow: its flow
 * @skb: the packet
 * @th: its TCP header
 *
 * This returns true once for each header that is due.
 *
 * Context: RCU read lock.
 * Return: which.
 */
enum hop_late_header hop_output_late(struct hop_flow *flow, const struct sk_buff *skb,
				     const struct tcphdr *th);

#endif /* HOPCC_NET_HOP_OUTPUT_H */
