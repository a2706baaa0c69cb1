/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the carriers for outgoing packets, in POST_ROUTING behind source NAT. Flows are
 * looked up by the packet's socket, so NAT does not matter.
 */
#ifndef HOPCC_CORE_HOP_OUTPUT_H
#define HOPCC_CORE_HOP_OUTPUT_H

#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <hopcc/core/hop_flow.h>
#include <hopcc/core/hop_shim.h>
#include <net/sock.h>
#include <net/tcp_states.h>

/**
 * struct hop_segment - an outgoing packet
 * @state: state of the hook
 * @place: the place for a header; its @next is 0 if the packet ends within its IP headers, or is
 *	a fragment
 * @tcp: true for a TCP packet of this network namespace; else the other members are not set
 * @payload_bytes: length of the TCP payload
 * @syn: true for a SYN or SYN-ACK
 * @ack: true if the ACK bit is set
 * @rst: true for a reset, which never gets a header
 */
struct hop_segment {
	const struct nf_hook_state *state;
	struct hop_shim_place place;
	bool tcp;
	unsigned int payload_bytes;
	bool syn;
	bool ack;
	bool rst;
};

/**
 * hop_output_is_tcp() - is a packet's socket a full TCP socket?
 * @sk: the packet's socket, or NULL
 *
 * Context: any.
 * Return: true for a full TCP socket; false for the kernel's own sockets that send resets.
 */
static inline bool hop_output_is_tcp(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && sk_is_tcp(sk);
}

/**
 * hop_output_is_foreign() - does a packet's socket belong to another network namespace?
 * @skb: the packet
 * @net: network namespace of the hook
 *
 * A packet keeps its socket when it passes a tunnel or IPsec device that was moved to another
 * namespace, or an ipvlan device in mode L3. The second namespace must use neither the flow of
 * this socket nor the settings of the socket's namespace.
 *
 * Context: any.
 * Return: true if there is a socket and its namespace is not @net.
 */
static inline bool hop_output_is_foreign(const struct sk_buff *skb, const struct net *net)
{
	return skb->sk && !net_eq(sock_net(skb->sk), net);
}

/**
 * hop_output_read() - parse a TCP packet
 * @skb: the packet; skb->data at its network header
 * @seg: result, except for @tcp; the caller has set @place by hop_shim_find(), with @next 0 if
 *	that failed
 *
 * Context: any. Pulls TCP's header without its options.
 * Return: false if it is not TCP, or ends within its headers.
 */
bool hop_output_read(struct sk_buff *skb, struct hop_segment *seg);

/**
 * hop_segment_tcp() - get a packet's TCP header
 * @skb: the packet; skb->data at its network header
 * @seg: result of hop_output_read()
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
 * hop_output_has_room() - does each packet on the wire fit the route's MTU with a header?
 * @skb: a TCP packet, possibly a GSO packet
 * @payload_bytes: length of the TCP payload
 * @bytes: length of the header
 *
 * A packet does not fit if it was built before room was reserved, or if IP options use the room.
 *
 * Context: RCU read lock.
 * Return: true if it fits.
 */
bool hop_output_has_room(const struct sk_buff *skb, unsigned int payload_bytes,
			 unsigned int bytes);

/**
 * hop_output_is_late() - was the congestion control selected after the handshake?
 * @sk: a TCP socket
 *
 * The stack sets icsk_ca_initialized after it has called init() of the congestion control that the
 * connection starts with.
 *
 * Context: socket lock held.
 * Return: true if the socket is established and the handshake has ended before.
 */
static inline bool hop_output_is_late(const struct sock *sk)
{
	sock_owned_by_me(sk);
	return 1 << sk->sk_state & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) &&
	       inet_csk(sk)->icsk_ca_initialized;
}

/**
 * hop_output_is_opening() - is it too early to know if the peer supports headers?
 * @sk: a TCP socket
 *
 * A handshake with data on the SYN (TCP Fast Open) negotiates nothing. The server's socket is used
 * before its SYN-ACK leaves; a question of the client that arrives before the ACK of the SYN-ACK
 * finds no connection. So each end asks when data is acknowledged.
 *
 * Context: socket lock held.
 * Return: true if a congestion control must call hop_negotiate_ask() at the next ACK.
 */
static inline bool hop_output_is_opening(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	return sk->sk_state == TCP_SYN_SENT || rcu_access_pointer(tp->fastopen_rsk) ||
	       (tp->syn_data && !inet_csk(sk)->icsk_ca_initialized);
}

/**
 * hop_output_copy_headers() - copy a packet without its data
 * @skb: a TCP packet of this host that no device has changed yet; skb->data at its network header
 * @seg: result of hop_output_read()
 *
 * A pure ACK is copied whole. The copy belongs to the packet's socket.
 *
 * Context: any.
 * Return: the copy; NULL without memory.
 */
struct sk_buff *hop_output_copy_headers(const struct sk_buff *skb, const struct hop_segment *seg);

#endif /* HOPCC_CORE_HOP_OUTPUT_H */
