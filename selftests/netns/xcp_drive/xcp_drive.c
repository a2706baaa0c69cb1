// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "xcp" for tests of net_xcp: it sends constant requests and counts the
 * feedback; see drive.h.
 */
#include <hopcc/wire/xcp.h>
#include <hopcc/flow/xcp_flow.h>

#define DRIVE_CC "xcp"
#define DRIVE_FLOW xcp_flow
#include "drive.h"

static uint rtt_us = 100;
module_param(rtt_us, uint, 0644);
static ulong throughput = 1000000;
module_param(throughput, ulong, 0644);
static int delta = 1000;
module_param(delta, int, 0644);
static long feedback;
module_param(feedback, long, 0644);
static ulong headers;
module_param(headers, ulong, 0644);

static struct xcp_flow *drive_open(struct sock *sk)
{
	return nxcp_flow_open(sk);
}

static enum hop_peer drive_negotiate(struct sock *sk)
{
	return nxcp_flow_ask(sk);
}

static void drive_close(struct xcp_flow *flow)
{
	nxcp_flow_close(flow);
}

static u32 drive_hdr_bytes(const struct xcp_flow *flow)
{
	return XCP_HDR_BYTES;
}

static bool drive_is_untried(struct xcp_flow *flow)
{
	return nxcp_flow_peer(flow) == HOP_PEER_UNKNOWN;
}

static bool drive_is_unanswered(struct xcp_flow *flow)
{
	return nxcp_flow_peer(flow) == HOP_PEER_UNSUPPORTED;
}

static void drive_ask(struct xcp_flow *flow)
{
	const struct xcp_offer offer = {
		.rtt_us = rtt_us,
		.throughput_bytes_ps = throughput,
		.delta_bytes_ps = delta,
	};

	xcp_flow_offer(flow, &offer);
}

static void drive_collect(const struct sock *sk, struct xcp_flow *flow)
{
	const struct xcp_feedback new = nxcp_flow_take_feedback(flow);

	feedback += new.bytes_ps;
	headers += new.headers;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control for tests of the XCP carrier");
