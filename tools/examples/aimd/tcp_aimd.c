// SPDX-License-Identifier: GPL-2.0
/* An example: the law of aimd.h in the frame of hop_cc.h; see Documentation/architecture.md. */
#include <hopcc/core/hop_cc.h>
#include <hopcc/flow/csig_flow.h>

#include "aimd.h"

struct aimd_sock {
	struct aimd_vars v;
	struct csig_flow *flow;		/* state in net_csig_tag; NULL: the RTT is used */
	u32 round_end_pkts;
};

struct aimd_knobs {
	unsigned int target_us;
};

struct aimd_net {
	struct hop_sysctl sysctl;
	struct aimd_knobs knobs;
};

static unsigned int aimd_net_id;

static u64 aimd_delay_ns(const struct sock *sk, const struct csig_flow *flow,
			 const struct rate_sample *rs)
{
	const u32 least_us = tcp_min_rtt(tcp_sk(sk));
	struct csig_signal pd;

	if (flow && ctag_flow_read(flow, CSIG_PD, &pd))
		return pd.low;
	return rs->rtt_us > (long)least_us ? (rs->rtt_us - least_us) * NSEC_PER_USEC : 0;
}

/* @state: as in hop_cc_repair_pkts(); @acked_pkts: packets that the ACK delivered. */
static void aimd_set(struct sock *sk, const struct aimd_sock *as, u8 state, u32 acked_pkts)
{
	const u32 cwnd_pkts = hop_wnd_pkts(as->v.wnd, 1);

	hop_stack_set_cwnd(sk, hop_cc_repair_pkts(sk, state, cwnd_pkts, acked_pkts));
	hop_stack_set_pace(sk, hop_cc_reno_pace_bytes_ps(sk, cwnd_pkts),
			   hop_limit_bytes_ps(hop_sock_speed(sk)));
}

static void aimd_init(struct sock *sk)
{
	struct aimd_sock *as = inet_csk_ca(sk);

	*as = (struct aimd_sock){ .flow = ctag_flow_open(sk) };
	hop_stack_bound_cwnd(sk);
	hop_stack_start_pacing(sk);
	as->v.wnd = max((u64)hop_cwnd_pkts(tcp_sk(sk)) << HOP_WND_SHIFT, AIMD_WND_MIN);
	as->round_end_pkts = tcp_sk(sk)->delivered;
}

static void aimd_release(struct sock *sk)
{
	struct aimd_sock *as = inet_csk_ca(sk);

	if (hop_cc_has_started(sk) && as->flow)
		ctag_flow_close(as->flow);
}

static void aimd_acked(struct sock *sk, const struct rate_sample *rs)
{
	const struct aimd_net *an = net_generic(sock_net(sk), aimd_net_id);
	struct aimd_sock *as = inet_csk_ca(sk);

	aimd_receive(&as->v, clamp(rs->acked_sacked, 0, S16_MAX), aimd_delay_ns(sk, as->flow, rs),
		     READ_ONCE(an->knobs.target_us) * NSEC_PER_USEC,
		     hop_round_ended(sk, rs, &as->round_end_pkts));
	aimd_set(sk, as, inet_csk(sk)->icsk_ca_state, rs->acked_sacked);
}

static void aimd_lost(struct sock *sk, u8 new_state)
{
	struct aimd_sock *as = inet_csk_ca(sk);

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	aimd_lose(&as->v);
	if (new_state == TCP_CA_Recovery)
		aimd_set(sk, as, new_state, 0);
}

static u32 aimd_undo_cwnd(struct sock *sk)
{
	struct aimd_sock *as = inet_csk_ca(sk);

	as->v.wnd = max(as->v.wnd, as->v.undo_wnd);
	return hop_wnd_pkts(as->v.wnd, 1);
}

static const struct hop_cc_law aimd_law = { .ack = aimd_acked, .lost = aimd_lost };

HOP_CC_LAW(aimd, aimd_law)

static struct tcp_congestion_ops aimd_ops __read_mostly = {
	.release	= aimd_release,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= aimd_undo_cwnd,
	HOP_CC_LAW_OPS(aimd, "aimd"),
};

static const struct ctl_table aimd_table[] = {
	HOP_SYSCTL_NUMBER("tcp_aimd_target_us", struct aimd_net, knobs.target_us, 1, 1000000),
	{ }
};

static const struct aimd_knobs aimd_defaults = { .target_us = 50 };

HOP_CC_MODULE(aimd);

MODULE_DESCRIPTION("AIMD over CSIG's delay, an example");
