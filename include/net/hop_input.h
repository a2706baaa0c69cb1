/* SPDX-License-Identifier: GPL-2.0 */
/* What carriers ask and do where packets come in: PRE_ROUTING, or behind it. */
#ifndef HOPCC_NET_HOP_INPUT_H
#define HOPCC_NET_HOP_INPUT_H

#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/hop_flow.h>

struct hop_greeter;
struct net_device;
struct nf_hook_state;
struct sk_buff;

/**
 * HOP_INPUT_TRUST_FILTERS - value of a carrier's knob: hop_input_is_hidden() is not asked
 *
 * The administrator says that the filters which see packets only as they came can read
 * the carrier's header.
 */
#define HOP_INPUT_TRUST_FILTERS 2

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
 * @key: the key of its flow
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
 * hop_input_act() - do something to a connection's socket, as TCP might on input
 * @key: the key of its flow
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
 * @key: the key of its flow
 * @more_pkts: and so many packets after that
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 * Return: whether it will.
 */
bool hop_input_ack_now(const struct hop_flow_key *key, unsigned int more_pkts);

/**
 * hop_input_hear_reset() - discovery, where a TCP reset comes in
 * @greeter: the carrier's part in it
 * @skb: the packet; skb->data at its network header
 * @th: its TCP header, with the RST bit
 *
 * A reset without the ACK bit answers an ACK of a connection that the peer, or a box on the path,
 * does not know. If it comes soon after a handshake that spoke, packets with a header and packets
 * without one do not reach the same connection: HOP_EVENT_RESET.
 *
 * Context: RCU read lock.
 */
void hop_input_hear_reset(const struct hop_greeter *greeter, struct sk_buff *skb,
			  const struct tcphdr *th);

/**
 * hop_input_may_ask() - may an ACK negotiate on an established connection?
 * @key: the key of its flow
 * @th: its TCP header
 * @payload_bytes: what it carries
 *
 * An attacker who has not seen the connection has to guess both sequence numbers.
 *
 * Context: RCU read lock.
 * Return: true for a pure ACK, within the windows, of an established connection of this host.
 */
bool hop_input_may_ask(const struct hop_flow_key *key, const struct tcphdr *th,
		       unsigned int payload_bytes);

/**
 * hop_input_hear_question() - an ACK asked: hop_input_may_ask()
 * @greeter: the carrier's part in discovery
 * @key: the key of its flow
 *
 * The next pure ACK of the connection answers: hop_output_late().
 *
 * Context: RCU read lock.
 * Return: the flow, or NULL if there is no room for it.
 */
struct hop_flow *hop_input_hear_question(const struct hop_greeter *greeter,
					 const struct hop_flow_key *key);

/**
 * hop_input_answer_now() - the answer to hop_input_hear_question() leaves
 * @key: the key of the flow
 *
 * If a process works on the socket, it leaves with the next ACK.
 *
 * Context: softirq, RCU read lock; takes the socket's lock.
 */
void hop_input_answer_now(const struct hop_flow_key *key);

/**
 * hop_input_is_hidden() - is there a filter that would not see what a header hides?
 * @dev: where the packet came in
 * @opens: the packet may open a connection, or belongs to none
 *
 * An XDP program saw the packet as it came, and never sees what is below the header. The
 * same holds for all filters of the devices below @dev (those of a bond, a bridge or a
 * VLAN device); these are looked for only where @opens says so, since a bridge may have
 * many.
 *
 * Context: RCU read lock.
 * Return: true if there is one.
 */
bool hop_input_is_hidden(struct net_device *dev, bool opens);

/**
 * hop_input_show() - the filters of a device see a packet whose header was taken off
 * @skb: the packet, as if it had come without the header; skb->data at its network header
 *
 * To be called last by a hook of PRE_ROUTING. Where tc or nftables filter on ingress, the
 * packet passes them again, as hop_input_again() has it.
 *
 * Context: RCU read lock.
 * Return: NF_ACCEPT if no such filter is there; NF_STOLEN if the packet was passed on.
 */
unsigned int hop_input_show(struct sk_buff *skb);

/**
 * hop_input_again() - a packet whose header was taken off is received as a new one
 * @skb: the packet; skb->data at its network header; consumed
 *
 * It passes packet sockets, tc's and nftables' filters on ingress, conntrack and the
 * firewall. A generic XDP program is not run again: it sees a packet once, as it came,
 * like a program in a driver.
 *
 * Context: RCU read lock.
 */
void hop_input_again(struct sk_buff *skb);

/**
 * hop_input_refuse_v4() - answer a packet of a protocol as if nobody handled that
 * @skb: the packet, skb->data behind its IP header; consumed
 *
 * Context: RCU read lock; from the handler of the protocol.
 */
void hop_input_refuse_v4(struct sk_buff *skb);

/**
 * hop_input_refuse_v6() - hop_input_refuse_v4() for IPv6
 * @skb: the packet; consumed
 *
 * Context: RCU read lock; from the handler of the protocol.
 */
void hop_input_refuse_v6(struct sk_buff *skb);

/**
 * hop_input_was_fragmented() - did a packet arrive in fragments?
 * @skb: a packet at the handler of its protocol
 *
 * The carrier's hook in PRE_ROUTING has seen all other packets that reach the handler of the
 * carrier's protocol.
 *
 * Context: any.
 * Return: true if it did.
 */
bool hop_input_was_fragmented(const struct sk_buff *skb);

/**
 * hop_input_segs_pkts() - packets on the wire that a packet stands for
 * @skb: a packet that came in
 *
 * Context: any.
 * Return: the number of segments of a GSO packet, else 1.
 */
static inline unsigned int hop_input_segs_pkts(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max_t(unsigned int, 1, skb_shinfo(skb)->gso_segs) : 1;
}

#endif /* HOPCC_NET_HOP_INPUT_H */
