/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One connection's life, for each carrier. Carriers negotiate by one TCP option
 * (hopcc/wire/hop_option.h), which NAT, filters and load balancers pass as they pass TCP, and which
 * TCP ignores:
 *
 *	 the end that opens                     the other end
 *	  | SYN, asks ------------------------>  | OFFERED
 *	 ASKED                                   |
 *	  | <----------------- SYN-ACK, answers  | ANSWERED
 *	 SUPPORTED                               | established, or a packet of the carrier
 *	                                        SUPPORTED
 *
 * The option is left out where a SYN or SYN-ACK has no room for it (MPTCP, Fast Open): the next
 * pure ACK answers instead. It is left out, too, when one is sent again: a box that drops it must
 * not delay the connection by more than a lost packet does. ANSWERED becomes NONE then. It is
 * answered to no SYN with a SYN cookie, for which no state is kept. In these cases, if the SYN does
 * not ask an end that wants the carrier, and if the congestion control is selected later, pure ACKs
 * of the established connection ask:
 *
 *	 NONE or ASKED                          any
 *	  | ACK, asks ------------------------>  |
 *	 ASKED                                  SUPPORTED
 *	  | <----------------- next ACK, answers |
 *	 SUPPORTED                               |
 *
 * Then a carrier whose data has a header in front of TCP (hop_carrier.in_front) tries it,
 * since a path that passes TCP may drop it, or lead it elsewhere. Only copies have it, of pure ACKs
 * or of the headers of a connection's first data. They end at the carrier of the other end, so that
 * no packet of the connection is lost or refused because of it:
 *
 *	 SUPPORTED                              SUPPORTED
 *	  | copy, header asks --------------->  |
 *	  | <-- copy of an ACK, header answers   |
 *	 HOP_FLOW_PASSED                         |
 *	  | data with headers ---------------->  |
 *	                                        HOP_FLOW_PASSED: its ACKs have headers, too
 *
 * To a destination to which headers passed lately, data has them at once (hop_carrier_passes()).
 *
 * One ACK in a round trip of data asks, by option or header: the third of the handshake, then extra
 * ones. Losing them costs the connection nothing. After HOP_LATE_ASKS of them the stage is
 * UNSUPPORTED. Later connections to the destination then neither ask by ACKs nor try headers for
 * net.hopcc.*_unsupported_s. The same follows a refusal of a header by ICMP, and timeouts of TCP in
 * a row, which show that the path has changed; but telemetry goes on by probes, which are TCP.
 */
#ifndef HOPCC_CORE_HOP_NEGOTIATE_H
#define HOPCC_CORE_HOP_NEGOTIATE_H

#include <hopcc/core/hop_carrier.h>
#include <hopcc/core/hop_output.h>

/**
 * hop_negotiate_handshake() - put the option on a SYN or SYN-ACK that leaves
 * @carrier: the carrier
 * @skb: the packet
 * @seg: result of hop_output_read()
 *
 * Context: RCU read lock. Moves skb->head.
 * Return: the flow if the packet asks or answers, also if it has no room; otherwise NULL.
 */
struct hop_flow *hop_negotiate_handshake(const struct hop_carrier *carrier, struct sk_buff *skb,
					 const struct hop_segment *seg);

/**
 * hop_negotiate_ack() - put the option on a pure ACK that leaves, if one is due
 * @skb: the packet
 * @seg: result of hop_output_read()
 * @flow: its flow
 *
 * Context: RCU read lock. Moves skb->head.
 * Return: true if one was due.
 */
bool hop_negotiate_ack(struct sk_buff *skb, const struct hop_segment *seg, struct hop_flow *flow);

/**
 * hop_negotiate_receive() - read the option of a SYN, SYN-ACK or pure ACK
 * @carrier: the carrier
 * @skb: the packet; skb->data is at its network header
 * @tcp_at: offset of its TCP header from skb->data
 * @state: state of the hook
 *
 * Context: RCU read lock.
 */
void hop_negotiate_receive(const struct hop_carrier *carrier, struct sk_buff *skb,
			   unsigned int tcp_at, const struct nf_hook_state *state);

/**
 * hop_negotiate_settle() - note that a connection is established
 * @flow: its flow
 *
 * Context: RCU read lock.
 * Return: the stage.
 */
enum hop_stage hop_negotiate_settle(struct hop_flow *flow);

/**
 * hop_negotiate_open() - get a socket's flow for its congestion control, and settle it
 * @carrier: the carrier
 * @sk: a TCP socket
 *
 * Context: socket lock held.
 * Return: the flow, with a reference for hop_flow_put(); NULL if there is none, or if it is too
 * early to know.
 */
struct hop_flow *hop_negotiate_open(const struct hop_carrier *carrier, struct sock *sk);

/**
 * hop_negotiate_ask() - ask on an established connection
 * @carrier: the carrier
 * @sk: a TCP socket whose congestion control wants the carrier
 * @starts: start a negotiation if the connection has no flow; false if the carrier is off
 *
 * Call this function when the congestion control is selected, and again for each ACK while the
 * result is HOP_PEER_UNKNOWN.
 *
 * Context: socket lock held.
 * Return: the state of the peer.
 */
enum hop_peer hop_negotiate_ask(const struct hop_carrier *carrier, struct sock *sk, bool starts);

#endif /* HOPCC_CORE_HOP_NEGOTIATE_H */
