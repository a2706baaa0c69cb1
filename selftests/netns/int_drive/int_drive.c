// SPDX-License-Identifier: GPL-2.0
/*
 * A user of telemetry for tests of its carrier: a congestion control "int_drive" that
 * asks for constants, counts what comes back and otherwise is Reno. Its parameters are
 * its counters; they may be written.
 */
#include <linux/module.h>
#include <net/hop_shim.h>
#include <net/int_flow.h>
#include <net/tcp.h>

static uint t_ns = 100000;
module_param(t_ns, uint, 0644);
static uint wnd = 1000000;
module_param(wnd, uint, 0644);
static uint wnd_max = 1250000;
module_param(wnd_max, uint, 0644);
static uint kind;
module_param(kind, uint, 0644);

/* The lab has one CPU, and this is softirq or BH off: no race. */
static uint opened;
module_param(opened, uint, 0644);
static uint refused;
module_param(refused, uint, 0644);
static uint closed;
module_param(closed, uint, 0644);
static uint silenced;
module_param(silenced, uint, 0644);
/* Answers by kind. */
static uint records;
module_param(records, uint, 0644);
static uint summaries;
module_param(summaries, uint, 0644);
static uint ratios;
module_param(ratios, uint, 0644);
static uint windows;
module_param(windows, uint, 0644);
/* Of the last answer. */
static uint hops;
module_param(hops, uint, 0644);
static uint path_id;
module_param(path_id, uint, 0644);
static uint flows;
module_param(flows, uint, 0644);
static uint value;
module_param(value, uint, 0644);
/* Answers whose seq is not between snd_una - 2^20 and snd_nxt, or whose header is bad. */
static uint odd;
module_param(odd, uint, 0644);

struct drive {
	struct int_flow *flow;
	u32 reserved;
};

static void drive_ask(struct int_flow *flow)
{
	struct int_ask ask = {
		.t_ns = t_ns,
		.wnd_bytes = wnd,
		.wnd_max_bytes = wnd_max,
		.eta = 996147,		/* 0.95 */
		.flows = 100,
		.kind = kind,
	};

	int_flow_ask(flow, &ask);
}

static void drive_init(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	d->flow = int_flow_open(sk);
	if (!d->flow) {
		refused++;
		return;
	}
	opened++;
	d->reserved = int_flow_hdr_bytes(d->flow);
	hop_shim_reserve(sk, d->reserved);
	drive_ask(d->flow);
}

static void count(const struct sock *sk, struct int_answer *a)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	odd += !between(a->seq, tp->snd_una - (1 << 20), tp->snd_nxt);
	hops = a->hops;
	path_id = a->path_id;
	flows = a->flows;
	switch (a->kind) {
	case INT_ANSWER_RECORDS:
		odd += int_check(&a->hdr, sizeof(a->room)) != INT_OK;
		records++;
		break;
	case INT_ANSWER_SUMMARY:
		value = a->record.tx_units;
		summaries++;
		break;
	case INT_ANSWER_RATIO:
		value = a->u;
		ratios++;
		break;
	case INT_ANSWER_WINDOW:
		value = a->wnd_bytes;
		windows++;
		break;
	}
}

static void collect(const struct sock *sk, struct drive *d)
{
	struct int_answer answer;

	if (int_flow_take(d->flow, &answer))
		count(sk, &answer);
}

static void drive_release(struct sock *sk)
{
	struct drive *d = inet_csk_ca(sk);

	if (!d->flow)
		return;
	collect(sk, d);
	silenced += int_flow_peer(d->flow) == INT_PEER_SILENT;
	int_flow_close(d->flow);
	d->flow = NULL;
	closed++;
	hop_shim_release(sk, d->reserved);
}

static void drive_in_ack(struct sock *sk, u32 flags)
{
	struct drive *d = inet_csk_ca(sk);

	if (!inet_csk(sk)->icsk_ca_initialized || !d->flow)
		return;
	collect(sk, d);
	drive_ask(d->flow);
}

static struct tcp_congestion_ops drive __read_mostly = {
	.init		= drive_init,
	.release	= drive_release,
	.in_ack_event	= drive_in_ack,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "int_drive",
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
MODULE_DESCRIPTION("A user of telemetry for tests of its carrier");
