/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control for the tests of a carrier: it opens a flow, reads feedback and sends a
 * request at each ACK, and otherwise is Reno. Its module parameters are its counters, which may
 * be written. A module that includes this file defines DRIVE_CC, the name; DRIVE_FLOW, the
 * carrier's struct; and the functions declared below.
 */
#ifndef HOPCC_SELFTESTS_NETNS_DRIVE_H
#define HOPCC_SELFTESTS_NETNS_DRIVE_H

#include <linux/module.h>
#include <hopcc/core/hop_shim.h>
#include <net/tcp.h>

/* There are no races, since the lab has one CPU and the writers run with BH off or in softirq. */
static uint opened;
module_param(opened, uint, 0644);
static uint refused;
module_param(refused, uint, 0644);
static uint closed;
module_param(closed, uint, 0644);
static uint silenced;
module_param(silenced, uint, 0644);

struct drive {
	struct DRIVE_FLOW *flow;
	u32 reserved_bytes;
	bool asks;
};

static struct DRIVE_FLOW *drive_open(struct sock *sk);
static enum hop_peer drive_negotiate(struct sock *sk);
static void drive_close(struct DRIVE_FLOW *flow);
static u32 drive_hdr_bytes(const struct DRIVE_FLOW *flow);
static bool drive_is_untried(struct DRIVE_FLOW *flow);
static bool drive_is_unanswered(struct DRIVE_FLOW *flow);
static void drive_ask(struct DRIVE_FLOW *flow);
static void drive_collect(const struct sock *sk, struct DRIVE_FLOW *flow);

static void drive_init(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	d->flow = drive_open(sk);
	d->asks = !d->flow && drive_negotiate(sk) == HOP_PEER_UNKNOWN;
	if (!d->flow) {
		refused += !d->asks;
		return;
	}
	opened++;
	d->reserved_bytes = drive_hdr_bytes(d->flow);
	hop_shim_reserve(sk, d->reserved_bytes);
	drive_ask(d->flow);
}

static void drive_release(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	d->asks = false;
	if (!d->flow)
		return;
	drive_collect(sk, d->flow);
	silenced += drive_is_unanswered(d->flow);
	drive_close(d->flow);
	d->flow = NULL;
	closed++;
	hop_shim_release(sk, d->reserved_bytes);
}

static void drive_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct drive *d = inet_csk_ca(sk);
	enum hop_peer peer;

	/* No header has passed the path in the first round trip. */
	if (d->flow && drive_is_untried(d->flow)) {
		drive_release(sk);
		opened--;
		closed--;
		d->asks = true;
	}
	peer = d->asks ? drive_negotiate(sk) : HOP_PEER_UNKNOWN;
	if (peer == HOP_PEER_UNKNOWN)
		return;
	d->asks = false;
	if (peer == HOP_PEER_SUPPORTED)
		drive_init(sk);
	else
		refused++;
}

static void drive_in_ack(struct sock *sk, u32 flags)
{
	struct drive *d = inet_csk_ca(sk);

	if (!inet_csk(sk)->icsk_ca_initialized || !d->flow)
		return;
	drive_collect(sk, d->flow);
	drive_ask(d->flow);
}

static struct tcp_congestion_ops drive __read_mostly = {
	.init		= drive_init,
	.release	= drive_release,
	.in_ack_event	= drive_in_ack,
	.pkts_acked	= drive_pkts_acked,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= DRIVE_CC,
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

#endif /* HOPCC_SELFTESTS_NETNS_DRIVE_H */
