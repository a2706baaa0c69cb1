// SPDX-License-Identifier: GPL-2.0
/* State of a connection: negotiation, the congestion control's feedback; hopcc/flow/xcp_flow.h. */

#include <linux/module.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "net_xcp.h"
#include "trace.h"

void nxcp_flow_start(void *state)
{
	struct xcp_flow *xf = state;

	spin_lock_init(&xf->lock);
}

/*
 * The first data of a connection tries if the path passes headers: copies of it have one. More data
 * would be too much for copies.
 */
static bool nxcp_may_start(const struct hop_flow *flow, const struct sock *sk)
{
	return hop_flow_stage(flow) == HOP_STAGE_SUPPORTED &&
	       (hop_carrier_passes(flow) ||
		!(tcp_sk(sk)->data_segs_out || hop_carrier_avoids(&flow->key)));
}

/* A flow has one user: on a switch, the old congestion control closes before the new one opens. */
static bool nxcp_take_part(struct xcp_flow *xf, struct sock *sk)
{
	bool taken;

	spin_lock_bh(&xf->lock);
	taken = nxcp_may_start(hop_flow_of_state(xf), sk) && (!xf->sk || xf->room);
	if (taken) {
		u32 headers;

		WRITE_ONCE(xf->sk, sk);
		xcp_flow_offer(xf, &(struct xcp_offer){});
		/* Discard feedback from before: it does not belong to this congestion control. */
		nxcp_take(&xf->vars, &headers);
	}
	spin_unlock_bh(&xf->lock);
	return taken;
}

/* Let the data of a socket with another congestion control carry answers. Context: socket lock. */
void nxcp_flow_make_room(struct sock *sk, void *flow)
{
	struct xcp_flow *xf = flow;

	sock_owned_by_me(sk);
	if (READ_ONCE(xf->sk) || hop_flow_state_stage(xf) != HOP_STAGE_SUPPORTED)
		return;
	WRITE_ONCE(xf->room, true);
	WRITE_ONCE(xf->sk, sk);
	xf->no_gso = hop_shim_open_sock(sk, READ_ONCE(nxcp_net(sock_net(sk))->gso));
	hop_shim_reserve(sk, XCP_HDR_BYTES);
}

/* The congestion control reserves its own room. */
static void nxcp_take_room_back(struct sock *sk, struct xcp_flow *xf)
{
	if (!xf->room)
		return;
	WRITE_ONCE(xf->room, false);
	hop_shim_close_sock(sk, xf->no_gso);
	hop_shim_release(sk, XCP_HDR_BYTES);
}

/* Context: the lock of the socket, which may belong to a connection of another VRF. */
void nxcp_flow_leave(struct sock *sk, void *flow)
{
	struct xcp_flow *xf = flow;

	sock_owned_by_me(sk);
	if (xf->sk == sk)
		nxcp_take_room_back(sk, xf);
}

struct xcp_flow *nxcp_flow_open(struct sock *sk)
{
	const struct nxcp_net *xn = nxcp_net(sock_net(sk));
	struct hop_flow *flow;
	struct xcp_flow *xf;

	sock_owned_by_me(sk);
	flow = READ_ONCE(xn->on) ? hop_negotiate_open(&nxcp_carrier, sk) : NULL;
	if (!flow)
		return NULL;
	xf = hop_flow_state(flow);
	if (!nxcp_take_part(xf, sk)) {
		hop_flow_put(flow);
		return NULL;
	}
	nxcp_take_room_back(sk, xf);
	xf->no_gso = hop_shim_open_sock(sk, READ_ONCE(xn->gso));
	return xf;
}
EXPORT_SYMBOL_GPL(nxcp_flow_open);

enum hop_peer nxcp_flow_ask(struct sock *sk)
{
	sock_owned_by_me(sk);
	return hop_negotiate_ask(&nxcp_carrier, sk, READ_ONCE(nxcp_net(sock_net(sk))->on));
}
EXPORT_SYMBOL_GPL(nxcp_flow_ask);

void nxcp_flow_close(struct xcp_flow *flow)
{
	struct sock *sk = flow->sk;

	sock_owned_by_me(flow->sk);
	spin_lock_bh(&flow->lock);
	WRITE_ONCE(flow->sk, NULL);
	spin_unlock_bh(&flow->lock);
	hop_shim_close_sock(sk, flow->no_gso);
	hop_flow_put(hop_flow_of_state(flow));
}
EXPORT_SYMBOL_GPL(nxcp_flow_close);

struct xcp_feedback nxcp_flow_take_feedback(struct xcp_flow *flow)
{
	struct xcp_feedback feedback;

	sock_owned_by_me(flow->sk);
	feedback.bytes_ps = nxcp_take(&flow->vars, &feedback.headers);
	return feedback;
}
EXPORT_SYMBOL_GPL(nxcp_flow_take_feedback);

void nxcp_flow_count_excess(struct xcp_flow *flow)
{
	sock_owned_by_me(flow->sk);
	nxcp_count(nxcp_net(sock_net(flow->sk)), XCP_COUNT_IN_EXCESS);
}
EXPORT_SYMBOL_GPL(nxcp_flow_count_excess);

bool nxcp_flow_was_asked(struct xcp_flow *flow)
{
	bool asked;

	sock_owned_by_me(flow->sk);
	spin_lock_bh(&flow->lock);
	asked = flow->vars.asked;
	flow->vars.asked = false;
	spin_unlock_bh(&flow->lock);
	return asked;
}
EXPORT_SYMBOL_GPL(nxcp_flow_was_asked);

enum hop_peer nxcp_flow_peer(struct xcp_flow *flow)
{
	const enum hop_peer peer = hop_peer_at(hop_flow_state_stage(flow));

	if (peer == HOP_PEER_SUPPORTED && !hop_carrier_passes(hop_flow_of_state(flow)))
		return HOP_PEER_UNKNOWN;
	return peer;
}
EXPORT_SYMBOL_GPL(nxcp_flow_peer);
