// SPDX-License-Identifier: GPL-2.0
/*
 * A reactor for tests of the carrier: a congestion control "xcp" that offers
 * constants, counts what comes back and otherwise is Reno. Its parameters are
 * its counters; they may be written.
 */
#include <linux/module.h>
#include <net/hop_shim.h>
#include <net/tcp.h>
#include <net/xcp.h>
#include <net/xcp_flow.h>

static uint rtt_us = 100;
module_param(rtt_us, uint, 0644);
static ulong throughput = 1000000;
module_param(throughput, ulong, 0644);
static int delta = 1000;
module_param(delta, int, 0644);

/* The lab has one CPU, and this is softirq or BH off: no race. */
static long feedback;
module_param(feedback, long, 0644);
static ulong headers;
module_param(headers, ulong, 0644);
static uint opened;
module_param(opened, uint, 0644);
static uint refused;
module_param(refused, uint, 0644);
static uint closed;
module_param(closed, uint, 0644);
static uint silenced;
module_param(silenced, uint, 0644);

struct drive {
	struct xcp_flow *flow;
};

static void drive_offer(struct xcp_flow *flow)
{
	struct xcp_offer offer = {
		.rtt_us = rtt_us,
		.throughput_bytes_ps = throughput,
		.delta_bytes_ps = delta,
	};

	xcp_flow_offer(flow, &offer);
}

static void drive_init(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	d->flow = xcp_flow_open(sk);
	if (!d->flow) {
		refused++;
		return;
	}
	opened++;
	hop_shim_reserve(sk, XCP_HDR_BYTES);
	drive_offer(d->flow);
}

static void collect(struct drive *d)
{
	u32 n;

	feedback += xcp_flow_take_feedback(d->flow, &n);
	headers += n;
}

static void drive_release(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	if (!d->flow)
		return;
	collect(d);
	silenced += xcp_flow_peer(d->flow) == XCP_PEER_SILENT;
	xcp_flow_close(d->flow);
	d->flow = NULL;
	closed++;
	hop_shim_release(sk, XCP_HDR_BYTES);
}

static void drive_in_ack(struct sock *sk, u32 flags)
{
	struct drive *d = inet_csk_ca(sk);

	if (!inet_csk(sk)->icsk_ca_initialized || !d->flow)
		return;
	collect(d);
	drive_offer(d->flow);
}

static struct tcp_congestion_ops drive __read_mostly = {
	.init		= drive_init,
	.release	= drive_release,
	.in_ack_event	= drive_in_ack,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "xcp",
};

static int __init drive_register(void)
{
	return tcp_register_congestion_control(&drive);
}

static void __exit drive_unregister(void)
{
	tcp_unregister_congestion_control(&drive);
}

module_init(drive_register);
module_exit(drive_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A reactor for tests of XCP's carrier");
