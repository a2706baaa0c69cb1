/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of the carriers for incoming packets, in PRE_ROUTING or behind it. */
#ifndef HOPCC_CORE_HOP_INPUT_H
#define HOPCC_CORE_HOP_INPUT_H

#include <linux/skbuff.h>
#include <linux/types.h>
#include <hopcc/core/hop_flow.h>

struct net_device;
struct nf_hook_state;
struct sk_buff;

/**
 * hop_input_is_local() - is a packet for this host?
 * @skb: the packet, with its network header set
 * @state: state of the netfilter hook
 *
 * Context: RCU read lock.
 * Return: true if the destination is an address of this host.
 */
bool hop_input_is_local(const struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * hop_input_is_mangled() - is the TCP checksum wrong?
 * @skb: a packet without our header; skb->data at its network header
 * @th: the TCP header
 *
 * A NAT that does not know our protocol number changes the addresses but does not update TCP's
 * checksum. TCP will drop such a packet, so it must not count as proof that headers arrive.
 *
 * Context: RCU read lock.
 * Return: true if the checksum is wrong.
 */
bool hop_input_is_mangled(struct sk_buff *skb, const struct tcphdr *th);

/**
 * hop_input_answers_syn() - does a packet answer the SYN of a socket of this host?
 * @key: key of the packet's flow
 * @ack_seq: acknowledgment number of a SYN-ACK
 *
 * Context: RCU read lock.
 * Return: true if a socket waits for a SYN-ACK with this acknowledgment number.
 */
bool hop_input_answers_syn(const struct hop_flow_key *key, u32 ack_seq);

/**
 * hop_input_is_from_peer() - would TCP accept the sequence numbers of a packet?
 * @key: key of the packet's flow
 * @seq: sequence number of a packet without SYN
 * @ack_seq: acknowledgment number
 *
 * The check is that of RFC 5961, but old data is accepted, since a retransmitted segment carries
 * a new header. An off-path attacker has to guess both numbers.
 *
 * Context: RCU read lock.
 * Return: true if there is a socket and both numbers are within its windows, or if they complete
 * the handshake of a connection request.
 */
bool hop_input_is_from_peer(const struct hop_flow_key *key, u32 seq, u32 ack_seq);

/* States in which a socket receives data and sends ACKs. */
#define HOP_INPUT_RECEIVES (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2)

/**
 * hop_input_act() - call a function for a connection's socket, in the context of TCP's input
 * @key: key of the flow
 * @act: function; called with the socket locked and not owned by a process
 * @what: argument of @act
 *
 * The function is called only if the socket can still receive data.
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 * Return: true if @act was called.
 */
bool hop_input_act(const struct hop_flow_key *key, void (*act)(struct sock *sk, void *what),
		   void *what);

/**
 * hop_input_ack_now() - make TCP acknowledge the packet at hand without delay
 * @key: key of the packet's flow
 * @more_pkts: number of packets after it that are also acknowledged without delay
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 * Return: true if TCP will do so.
 */
bool hop_input_ack_now(const struct hop_flow_key *key, unsigned int more_pkts);

/**
 * hop_input_answer_now() - send an ACK that carries an answer to the peer's carrier
 * @key: key of the flow
 *
 * If a process owns the socket, the answer leaves with the next ACK instead.
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 */
void hop_input_answer_now(const struct hop_flow_key *key);

/**
 * hop_input_show() - let filters in front of the hook see a packet whose header was removed
 * @skb: the packet, as if it had arrived without the header; skb->data at its network header
 *
 * A hook of PRE_ROUTING must call this function last. If tc or nftables filter on ingress, or in
 * PRE_ROUTING in front of our hook, the packet passes these filters again: see
 * hop_filter_may_look_again().
 *
 * Context: RCU read lock.
 * Return: NF_ACCEPT if there is no such filter; NF_STOLEN if the packet was passed on.
 */
unsigned int hop_input_show(struct sk_buff *skb);

/**
 * hop_input_refuse() - answer a packet as if no handler for its protocol existed
 * @skb: the packet, skb->data behind its IP header; consumed
 *
 * Context: RCU read lock; called by the handler of the protocol.
 */
void hop_input_refuse(struct sk_buff *skb);

/**
 * hop_input_whole() - receive a packet that arrived in fragments again, whole
 * @skb: a packet at the handler of its protocol, whose header is at skb->data; consumed if received
 * @protocol: the protocol
 *
 * The carrier's hook in PRE_ROUTING has seen all packets except those that arrived in fragments, and
 * left this one in place. Now it sees the packet that was reassembled.
 *
 * A single IPv6 fragment keeps its fragment header. The hook would not find the carrier's header
 * behind it, and IPv6 would call the handler again, without end.
 *
 * Context: RCU read lock.
 * Return: false if the packet is unchanged: it did not arrive in fragments, or is a single one.
 */
bool hop_input_whole(struct sk_buff *skb, u8 protocol);

/**
 * hop_input_segs_pkts() - get the number of packets on the wire that a packet stands for
 * @skb: an incoming packet
 *
 * Context: any.
 * Return: the number of segments of a GSO packet, else 1.
 */
static inline unsigned int hop_input_segs_pkts(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max_t(unsigned int, 1, skb_shinfo(skb)->gso_segs) : 1;
}

#endif /* HOPCC_CORE_HOP_INPUT_H */
