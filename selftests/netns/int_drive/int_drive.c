// SPDX-License-Identifier: GPL-2.0
/*
 * The congestion control "int_drive", for tests of net_int: it sends constant requests and counts
 * the answers; see drive.h.
 */
#include <hopcc/flow/int_flow.h>

#define DRIVE_CC "int_drive"
#define DRIVE_FLOW int_flow
#include "drive.h"

static uint t_ns = 100000;
module_param(t_ns, uint, 0644);
static uint wnd = 1000000;
module_param(wnd, uint, 0644);
static uint wnd_max = 1250000;
module_param(wnd_max, uint, 0644);
static uint kind;
module_param(kind, uint, 0644);

/* Number of answers of each kind. */
static uint records;
module_param(records, uint, 0644);
static uint summaries;
module_param(summaries, uint, 0644);
static uint ratios;
module_param(ratios, uint, 0644);
static uint windows;
module_param(windows, uint, 0644);
/* Values of the last answer. */
static uint hops;
module_param(hops, uint, 0644);
static uint path_id;
module_param(path_id, uint, 0644);
static uint flows;
module_param(flows, uint, 0644);
static uint value;
module_param(value, uint, 0644);
/* Number of answers with a seq not between snd_una - 2^20 and snd_nxt, or with a bad header. */
static uint odd;
module_param(odd, uint, 0644);

static struct int_flow *drive_open(struct sock *sk)
{
	return nint_flow_open(sk);
}

static enum hop_peer drive_negotiate(struct sock *sk)
{
	return nint_flow_negotiate(sk);
}

static void drive_close(struct int_flow *flow)
{
	nint_flow_close(flow);
}

static u32 drive_hdr_bytes(const struct int_flow *flow)
{
	return nint_flow_hdr_bytes(flow);
}

static bool drive_is_untried(struct int_flow *flow)
{
	return false;
}

static bool drive_is_unanswered(struct int_flow *flow)
{
	return nint_flow_peer(flow) == HOP_PEER_UNSUPPORTED;
}

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

	nint_flow_ask(flow, &ask);
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

static void drive_collect(const struct sock *sk, struct int_flow *flow)
{
	struct int_answer answer;

	if (nint_flow_take(flow, &answer))
		count(sk, &answer);
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Congestion control for tests of the INT carrier");
