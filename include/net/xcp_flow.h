/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What XCP's carrier (net_xcp) and its reactor (tcp_xcp) say to each other
 * about a connection. The reactor offers what the next packets shall ask for;
 * the carrier writes it into them, and sums what the network answers.
 */
#ifndef HOPCC_NET_XCP_FLOW_H
#define HOPCC_NET_XCP_FLOW_H

#include <linux/compiler.h>
#include <linux/types.h>

struct sock;
struct xcp_flow;

/**
 * enum xcp_peer - what is known of the other end and the path to it
 * @XCP_PEER_UNKNOWN: the handshake is not over, or began before the module was loaded
 * @XCP_PEER_SPEAKS: its SYN or SYN-ACK came with a congestion header
 * @XCP_PEER_SILENT: no header, an ICMP error, or a lost SYN: this connection goes
 *	without XCP, and its destination is remembered
 */
enum xcp_peer {
	XCP_PEER_UNKNOWN,
	XCP_PEER_SPEAKS,
	XCP_PEER_SILENT,
};

/**
 * struct xcp_offer - what the sender says of itself in its next data packets; struct xcp_flow
 *	starts with it, so that xcp_flow_offer() needs no call
 * @rtt_us: its RTT, us; 0: not known, then the rest is 0
 * @throughput_bytes_ps: its throughput, bytes/s
 * @delta_bytes_ps: the change of throughput that each wire packet asks for, bytes/s
 * @flags: XCP_FLAG_*
 */
struct xcp_offer {
	u32 rtt_us;
	u64 throughput_bytes_ps;
	s32 delta_bytes_ps;
	u8 flags;
};

/**
 * xcp_flow_open() - the reactor takes part in a connection
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * From here on data packets of @sk carry its offer.
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that xcp_flow_close() gives back; NULL if the peer
 * does not speak XCP, the netns has it switched off, or memory is short: then the
 * connection goes without XCP.
 */
struct xcp_flow *xcp_flow_open(struct sock *sk);

/**
 * xcp_flow_ask() - negotiate XCP on an established connection
 * @sk: a TCP socket, for which xcp_flow_open() returned NULL
 *
 * For a congestion control that was chosen late. To be called again for each ACK of new data until
 * the result is another one than XCP_PEER_UNKNOWN.
 *
 * Context: socket lock held; may be softirq. May send an ACK.
 * Return: XCP_PEER_SPEAKS: xcp_flow_open() will do; XCP_PEER_SILENT: for good, without XCP.
 */
enum xcp_peer xcp_flow_ask(struct sock *sk);

/**
 * xcp_flow_close() - the reactor leaves
 * @flow: of xcp_flow_open()
 *
 * Packets carry no offer any more; feedback that is owed to the peer is still sent.
 *
 * Context: socket lock held; may be softirq.
 */
void xcp_flow_close(struct xcp_flow *flow);

/**
 * xcp_flow_offer() - what the next packets ask for
 * @flow: of xcp_flow_open()
 * @rtt_us: as in struct xcp_offer
 * @throughput_bytes_ps: as there
 * @delta_bytes_ps: as there
 * @flags: as there
 *
 * Takes no lock: a packet that leaves meanwhile, on another CPU and without the socket lock, may
 * have a part of the last offer.
 *
 * Context: socket lock held.
 */
static inline void xcp_flow_offer(struct xcp_flow *flow, u32 rtt_us, u64 throughput_bytes_ps,
				  s32 delta_bytes_ps, u8 flags)
{
	struct xcp_offer *offer = (struct xcp_offer *)flow;

	WRITE_ONCE(offer->rtt_us, rtt_us);
	WRITE_ONCE(offer->throughput_bytes_ps, throughput_bytes_ps);
	WRITE_ONCE(offer->delta_bytes_ps, delta_bytes_ps);
	WRITE_ONCE(offer->flags, flags);
}

/**
 * struct xcp_feedback - what arrived for the reactor
 * @bytes_ps: the sum of Reverse_Feedback, bytes/s
 * @headers: number of headers that it is the sum of; 0: none arrived
 */
struct xcp_feedback {
	s64 bytes_ps;
	u32 headers;
};

/**
 * xcp_flow_take_feedback() - the feedback that arrived since the last call
 * @flow: of xcp_flow_open()
 *
 * Context: socket lock held.
 * Return: the feedback.
 */
struct xcp_feedback xcp_flow_take_feedback(struct xcp_flow *flow);

/**
 * xcp_flow_was_asked() - did the peer's headers ask for anything since the last call?
 * @flow: of xcp_flow_open()
 *
 * If so, our packets have feedback to bring.
 *
 * Context: socket lock held.
 * Return: whether they did.
 */
bool xcp_flow_was_asked(struct xcp_flow *flow);

/**
 * xcp_flow_peer() - what is known of the peer now
 * @flow: of xcp_flow_open()
 *
 * XCP_PEER_SPEAKS when the flow was opened; XCP_PEER_SILENT for good once timeouts
 * in a row or an ICMP error say that the path does not take our headers any more.
 *
 * Context: any.
 * Return: what is known.
 */
enum xcp_peer xcp_flow_peer(const struct xcp_flow *flow);

#endif /* HOPCC_NET_XCP_FLOW_H */
