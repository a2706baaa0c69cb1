/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface between the XCP carrier (net_xcp) and the congestion control (tcp_xcp), per connection.
 * The congestion control offers the values that the next packets carry; the carrier writes them
 * into the packets' headers and sums up the feedback that is received.
 */
#ifndef HOPCC_FLOW_XCP_FLOW_H
#define HOPCC_FLOW_XCP_FLOW_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>

struct sock;
struct xcp_flow;

/**
 * struct xcp_offer - the sender's values in its next data packets; the first member of struct
 *	xcp_flow, so that xcp_flow_offer() needs no call
 * @rtt_us: the sender's RTT, us; 0: not known, and throughput and change are 0
 * @throughput_bytes_ps: the sender's throughput, bytes/s
 * @delta_bytes_ps: the change of throughput that each packet on the wire asks for, bytes/s
 * @flags: XCP_FLAG_*
 */
struct xcp_offer {
	u32 rtt_us;
	u64 throughput_bytes_ps;
	s32 delta_bytes_ps;
	u8 flags;
};

/**
 * nxcp_flow_open() - start to use XCP on a connection
 * @sk: a TCP socket that is established or finishing its handshake
 *
 * From now on data packets of @sk carry its offer: copies of them, as long as the path may drop
 * headers. If @sk has sent data, the path must have passed headers.
 *
 * Context: socket lock held; may be softirq.
 * Return: the flow, with a reference that nxcp_flow_close() releases; NULL if the peer does not
 * support XCP, XCP is switched off in the netns, or memory is short: then the connection does not
 * use XCP.
 */
struct xcp_flow *nxcp_flow_open(struct sock *sk);

/**
 * nxcp_flow_ask() - negotiate XCP on an established connection
 * @sk: a TCP socket, for which nxcp_flow_open() returned NULL
 *
 * Used if the congestion control was selected after the handshake. Call it again for each ACK of
 * new data until the result differs from HOP_PEER_UNKNOWN.
 *
 * Context: socket lock held; may be softirq. May send an ACK.
 * Return: HOP_PEER_SUPPORTED: call nxcp_flow_open() again; HOP_PEER_UNSUPPORTED: the connection
 * never uses XCP; HOP_PEER_UNKNOWN: call again.
 */
enum hop_peer nxcp_flow_ask(struct sock *sk);

/**
 * nxcp_flow_close() - stop using XCP on a connection
 * @flow: the flow from nxcp_flow_open()
 *
 * Packets carry no offer any more; pending feedback for the peer is still sent.
 *
 * Context: socket lock held; may be softirq.
 */
void nxcp_flow_close(struct xcp_flow *flow);

/**
 * xcp_flow_offer() - set the values that the next packets carry
 * @flow: the flow from nxcp_flow_open()
 * @new: the values
 *
 * Takes no lock: a packet that another CPU sends at the same time, without the socket lock, may
 * carry a mix of the old and the new offer.
 *
 * Context: a function of the socket's congestion control.
 */
static inline void xcp_flow_offer(struct xcp_flow *flow, const struct xcp_offer *new)
{
	struct xcp_offer *offer = (struct xcp_offer *)flow;

	WRITE_ONCE(offer->rtt_us, new->rtt_us);
	WRITE_ONCE(offer->throughput_bytes_ps, new->throughput_bytes_ps);
	WRITE_ONCE(offer->delta_bytes_ps, new->delta_bytes_ps);
	WRITE_ONCE(offer->flags, new->flags);
}

/**
 * struct xcp_feedback - feedback received for the congestion control
 * @bytes_ps: sum of Reverse_Feedback, bytes/s
 * @headers: number of headers in the sum; 0: none was received
 */
struct xcp_feedback {
	s64 bytes_ps;
	u32 headers;
};

/**
 * nxcp_flow_take_feedback() - get and reset the feedback received since the last call
 * @flow: the flow from nxcp_flow_open()
 *
 * Context: socket lock held.
 * Return: the feedback.
 */
struct xcp_feedback nxcp_flow_take_feedback(struct xcp_flow *flow);

/**
 * nxcp_flow_count_excess() - count feedback that exceeds what the congestion control asked for
 * @flow: the flow from nxcp_flow_open()
 *
 * Context: socket lock held.
 */
void nxcp_flow_count_excess(struct xcp_flow *flow);

/**
 * nxcp_flow_was_asked() - read and reset: did the peer's headers carry a demand?
 * @flow: the flow from nxcp_flow_open()
 *
 * If so, our packets must return feedback.
 *
 * Context: socket lock held.
 * Return: true if they did.
 */
bool nxcp_flow_was_asked(struct xcp_flow *flow);

/**
 * nxcp_flow_peer() - get the current state of the peer
 * @flow: the flow from nxcp_flow_open()
 *
 * The state is HOP_PEER_UNKNOWN until a header has passed the path: a new connection knows this one
 * round trip after its first data. It becomes HOP_PEER_UNSUPPORTED for good once consecutive
 * timeouts or an ICMP error show that the path no longer passes our headers.
 *
 * Context: any.
 * Return: the state.
 */
enum hop_peer nxcp_flow_peer(struct xcp_flow *flow);

#endif /* HOPCC_FLOW_XCP_FLOW_H */
