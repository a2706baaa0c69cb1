/* SPDX-License-Identifier: GPL-2.0 */
/* What carriers ask and do where packets come in: PRE_ROUTING, or behind it. */
#ifndef HOPCC_NET_HOP_INPUT_H
#define HOPCC_NET_HOP_INPUT_H

#include <linux/types.h>
#include <net/hop_flow.h>

struct nf_hook_state;

/**
 * hop_input_is_local() - is a packet for this host?
 * @skb: the packet, network header set
 * @state: of the hook
 *
 * Context: RCU read lock.
 * Return: whether it is.
 */
bool hop_input_is_local(const struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_input_is_mangled() - is TCP's checksum wrong?
 * @skb: a packet without our header; skb->data at its network header
 * @th: its TCP header
 *
 * A NAT that does not know a protocol number changes addresses and not TCP's
 * checksum: the packet will be dropped, so it must prove nothing.
 *
 * Context: RCU read lock.
 * Return: whether it is.
 */
bool hop_input_is_mangled(struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_input_is_in_window() - may a packet be of its connection?
 * @key: of its flow
 * @th: its TCP header, without the SYN bit or a SYN-ACK's
 * @payload_bytes: what it carries
 *
 * As RFC 5961 has it, but for old data: a segment that was sent again bears a header of
 * its own. Who does not see the connection has to guess both numbers.
 *
 * Context: RCU read lock.
 * Return: whether it may; true without a socket: then nobody is deceived.
 */
bool hop_input_is_in_window(const struct hop_flow_key *key, const struct tcphdr *th,
			    unsigned int payload_bytes);

/**
 * hop_input_opens_flow() - may a SYN begin a flow?
 * @key: of the flow; one with its ports may be there, alive or not
 *
 * Context: RCU read lock, BH off.
 * Return: whether it may.
 */
bool hop_input_opens_flow(const struct hop_flow_key *key);

/**
 * hop_input_adopt() - a flow for a connection that began without us
 * @key: of the flow
 *
 * Context: RCU read lock.
 * Return: the flow; NULL if it has no socket that receives, or there is no room.
 */
struct hop_flow *hop_input_adopt(const struct hop_flow_key *key);

/**
 * hop_input_act() - do something to a connection's socket, as TCP might on input
 * @key: of its flow
 * @act: called with the socket locked, and no process at work on it
 * @what: for @act
 *
 * Not of one that is closing down: it must still receive.
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 * Return: whether it was done.
 */
bool hop_input_act(const struct hop_flow_key *key, void (*act)(struct sock *sk, void *what),
		   void *what);

/**
 * hop_input_ack_now() - let TCP acknowledge at once what is on its way to it
 * @key: of its flow
 * @more_pkts: and so many packets after that
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 * Return: whether it will.
 */
bool hop_input_ack_now(const struct hop_flow_key *key, unsigned int more_pkts);

#endif /* HOPCC_NET_HOP_INPUT_H */
