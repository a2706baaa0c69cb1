// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_xcp: the XCP congestion control, draft-falk-xcp-spec-00 section 3.1. The algorithm is in
 * xcp_sender.c, net_xcp adds and removes the header on the wire; this file connects the algorithm
 * to the TCP stack.
 *
 * cong_control() sets both the congestion window and the pacing rate: pacing at cwnd / RTT makes a
 * window of 1.3 segments effective. The stack still detects and repairs losses. Its Reno determines
 * the window in three cases: after a loss or a mark, for a time, within XCP (txcp_vars.reno); until
 * the peer's carrier has answered (txcp_asking); and for good without XCP (txcp_reno).
 */
#include <hopcc/core/hop_cc.h>
#include <hopcc/core/hop_shim.h>
#include <hopcc/flow/xcp_flow.h>
#include <hopcc/wire/xcp.h>

#include "xcp_sender.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * Pacing rate, in windows per RTT, of a sender that could not fill its window in the last rounds,
 * see txcp_is_held(). TCP keeps one millisecond of its pacing rate queued at the device; if packets
 * of other sockets wait there for longer, the sender could never fill its window at a lower rate.
 */
#define XCP_HELD_PACING		4

/*
 * The largest window that counts as small, packets. The receiver (net_xcp) does not delay ACKs
 * below XCP_SMALL_WINDOW_PKTS.
 */
#define XCP_SMALL_PKTS		2U

struct txcp_sock {
	struct txcp_vars v;
	struct xcp_flow *flow;
	u64 undo_wnd;		/* XCP's window before the last loss, << XCP_WND_SHIFT; 0: none */
	s64 feedback_bytes_ps;	/* the latest feedback; for dumps */
	u32 round_pkts;		/* tp->delivered at the start of the round */
	u32 ack_us;		/* time of the last ACK, tcp_mstamp */
	s32 demand_bytes_ps;	/* demand in the last offer */
	u32 sent_pkts;		/* tp->data_segs_out at the last offer */
	u32 plain_seq;		/* data before it was sent without a header */
	struct hop_speed speed;	/* speed of the socket's device; read once a round trip */
	bool small : 1;		/* the window in the last offer is small */
	bool reported : 1;	/* a packet was sent with a small window in its header */
	bool delayed : 1;	/* cwnd has one more packet: txcp_small_window() */
	bool paces : 1;		/* xcp has switched pacing on */
	bool tried : 1;		/* a header has passed the path */
	bool lost_plain : 1;	/* the data that was lost last had no header */
};

struct txcp_knobs {
	u8 loss;
};

struct txcp_net {
	struct hop_sysctl sysctl;
	struct txcp_knobs knobs;
};

static unsigned int txcp_net_id;
static struct tcp_congestion_ops txcp_ops, txcp_reno;
static const struct hop_cc txcp_cc;

static struct txcp_limits txcp_limits_of(const struct sock *sk, const struct txcp_sock *xs,
					 u64 throughput_bytes_ps)
{
	const unsigned long app_bytes_ps = READ_ONCE(sk->sk_max_pacing_rate);
	struct txcp_limits l;

	l = txcp_get_limits(hop_speed_bytes_ps(xs->speed), xs->speed.limits,
			    app_bytes_ps == ~0UL ? U64_MAX : app_bytes_ps, throughput_bytes_ps);
	l.min_rtt_us = tcp_min_rtt(tcp_sk(sk));
	return l;
}

/* Count the demand of the packets that were sent since the last offer. */
static void txcp_count_asked(const struct sock *sk, struct txcp_sock *xs)
{
	const u32 sent_pkts = tcp_sk(sk)->data_segs_out;

	if (xs->small && sent_pkts != xs->sent_pkts)
		xs->reported = true;
	txcp_ask(&xs->v, sent_pkts - xs->sent_pkts, xs->demand_bytes_ps);
	xs->sent_pkts = sent_pkts;
}

/* Set the fields of the next packets; if the throughput is unknown (0), they carry no demand. */
static void txcp_offer(const struct sock *sk, struct txcp_sock *xs, struct xcp_feedback feedback,
		       u64 desired_bytes_ps, u64 throughput_bytes_ps, u32 cwnd_pkts)
{
	struct xcp_offer offer = { .flags = xs->v.reno ? XCP_FLAG_E2E_LIMITED : 0 };

	if (throughput_bytes_ps) {
		desired_bytes_ps = min(desired_bytes_ps,
				       txcp_max_asked_bytes_ps(&xs->v, throughput_bytes_ps));
		offer.rtt_us = xs->v.rtt_us;
		offer.throughput_bytes_ps = throughput_bytes_ps;
		offer.delta_bytes_ps = txcp_demand_bytes_ps(desired_bytes_ps, throughput_bytes_ps,
							    cwnd_pkts);
	}
	WRITE_ONCE(xs->demand_bytes_ps, offer.delta_bytes_ps);
	xcp_flow_offer(xs->flow, &offer);
	if (feedback.headers)
		trace_xcp_feedback(sk, feedback.bytes_ps, feedback.headers,
				   txcp_wnd_bytes(&xs->v), xs->v.rtt_us, &offer);
}

/*
 * Return: cwnd, packets: @cwnd_pkts, and one more if the ACK of a single packet in flight may be
 * delayed, since the receiver acknowledges a second one at once. The window is small, or was.
 */
static u32 txcp_small_window(struct sock *sk, struct txcp_sock *xs, u32 cwnd_pkts)
{
	bool delayed;

	xs->small = cwnd_pkts <= XCP_SMALL_PKTS;
	xs->reported = xs->reported && xs->small;
	/*
	 * The receiver may delay the ACK by up to 40 ms. It acknowledges a packet at once if the
	 * packet's header has a small window; this one may have been sent before.
	 */
	delayed = cwnd_pkts == 1 && tcp_sk(sk)->packets_out == 1 && !xs->reported;
	if (delayed != xs->delayed)
		hop_space(sk, delayed, txcp_throughput_bytes_ps(txcp_wnd_bytes(&xs->v),
								xs->v.rtt_us));
	xs->delayed = delayed;
	return cwnd_pkts + delayed;
}

static u32 txcp_set_window(struct sock *sk, struct txcp_sock *xs, u32 mss_bytes)
{
	u32 cwnd_pkts = txcp_wnd_pkts(&xs->v, mss_bytes);

	if (cwnd_pkts <= XCP_SMALL_PKTS || xs->small)
		cwnd_pkts = txcp_small_window(sk, xs, cwnd_pkts);
	return hop_stack_set_cwnd(sk, cwnd_pkts);
}

/*
 * Reno's window. During recovery it is ssthresh, the window after it: cwnd may be smaller then, see
 * hop_cc_reno_repair_pkts().
 */
static u32 txcp_reno_pkts(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
		return hop_cwnd_pkts(tp);
	return clamp(tp->snd_ssthresh, 1U, HOP_WND_MAX_PKTS);
}

/* Set window, pacing rate and offer from XCP's state; under Reno only the offer. */
static void txcp_set_socket(struct sock *sk, struct txcp_sock *xs, u32 mss_bytes,
			    struct xcp_feedback feedback)
{
	const bool reno = xs->v.reno;
	u64 wnd_bytes, rate_bytes_ps;
	struct txcp_limits l;
	u32 cwnd_pkts;

	/* With feedback, txcp_receive_feedback() has counted them already. */
	if (!feedback.headers)
		txcp_count_asked(sk, xs);
	cwnd_pkts = reno ? txcp_reno_pkts(sk) : txcp_set_window(sk, xs, mss_bytes);
	wnd_bytes = reno ? (u64)cwnd_pkts * mss_bytes : txcp_wnd_bytes(&xs->v);

	rate_bytes_ps = txcp_throughput_bytes_ps(wnd_bytes, xs->v.rtt_us);
	l = txcp_limits_of(sk, xs, rate_bytes_ps);
	txcp_offer(sk, xs, feedback, l.desired_bytes_ps, rate_bytes_ps, cwnd_pkts);
	if (txcp_is_held(&xs->v))
		rate_bytes_ps *= XCP_HELD_PACING;
	if (rate_bytes_ps && !reno)
		hop_stack_set_pace(sk, rate_bytes_ps, l.limit_bytes_ps);
}

static void txcp_init(struct sock *sk)
{
	struct txcp_sock *xs = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts;

	hop_stack_bound_cwnd(sk);
	if (hop_cc_waits_for_repair(sk, &txcp_cc))
		return;
	/* The connection may have used XCP before, see txcp_ends(). */
	memset(xs, 0, sizeof(*xs));
	xs->flow = nxcp_flow_open(sk);
	if (!xs->flow) {
		hop_cc_wait(sk, &txcp_cc, nxcp_flow_ask(sk));
		return;
	}
	hop_shim_reserve(sk, XCP_HDR_BYTES);

	/* A connection that switches to XCP after it has sent data keeps its window. */
	cwnd_pkts = tp->data_segs_out ? tcp_snd_cwnd(tp) :
		    min(tcp_snd_cwnd(tp), XCP_INIT_PKTS);
	txcp_start(&xs->v, (u64)cwnd_pkts * hop_cc_mss_bytes(sk), hop_cc_mss_bytes(sk));
	xs->v.rtt_us = min(tp->srtt_us >> 3, XCP_RTT_MAX_US);
	xs->round_pkts = tp->delivered;
	xs->sent_pkts = tp->data_segs_out;
	xs->ack_us = tp->tcp_mstamp;
	xs->plain_seq = tp->snd_nxt;
	xs->tried = nxcp_flow_peer(xs->flow) == HOP_PEER_SUPPORTED;
	xs->speed = hop_sock_speed(sk);
	hop_stack_set_ssthresh(sk, TCP_INFINITE_SSTHRESH);
	xs->paces = hop_stack_start_pacing(sk);
	txcp_set_socket(sk, xs, hop_cc_mss_bytes(sk), (struct xcp_feedback){});
}

/* Restore the socket's state for the next congestion control. */
static void txcp_release(struct sock *sk)
{
	struct txcp_sock *xs = inet_csk_ca(sk);

	/* A socket may be closed before init() was called. */
	if (!xs->flow)
		return;
	hop_shim_release(sk, XCP_HDR_BYTES);
	nxcp_flow_close(xs->flow);
	xs->flow = NULL;
	if (xs->paces)
		hop_stack_stop_pacing(sk);
}

/*
 * Fall back to Reno for the rest of the connection. The network's feedback has no effect any more,
 * so packets are sent without a header and switch qdiscs treat them as traffic without XCP.
 */
static void txcp_give_up(struct sock *sk)
{
	txcp_release(sk);
	hop_stack_set_cc(sk, &txcp_reno);
}

static void txcp_end_reno_round(struct sock *sk, struct txcp_sock *xs)
{
	const struct txcp_net *xn = net_generic(sock_net(sk), txcp_net_id);
	bool recovered = inet_csk(sk)->icsk_ca_state <= TCP_CA_Disorder;
	/* A loss of data without a header is no sign that a router of XCP is missing. */
	enum txcp_loss loss = xs->lost_plain ? XCP_LOSS_ROUND : READ_ONCE(xn->knobs.loss);
	u32 mss_bytes = hop_cc_mss_bytes(sk);

	if (txcp_gives_up(&xs->v, loss, recovered, nxcp_flow_was_asked(xs->flow))) {
		txcp_give_up(sk);
	} else if (txcp_reno_over(&xs->v, loss, recovered, (u64)txcp_reno_pkts(sk) * mss_bytes,
				  mss_bytes)) {
		/* Feedback has changed the window since: no undo of the loss restores it. */
		xs->undo_wnd = 0;
		trace_xcp_rule(sk, false, tcp_snd_cwnd(tcp_sk(sk)));
	}
}

/*
 * HOP_PEER_UNKNOWN: in the first round trip of data no header has passed the path. Reno goes on, as
 * with a new connection, while the carrier tries further headers.
 *
 * If the key of the flow in hop_core's table changes, for example because the device joins a VRF,
 * the carrier removes its entry and sends no headers any more: HOP_PEER_UNSUPPORTED. A loss
 * recovery in progress ends first.
 *
 * Return: true if the connection goes on without XCP.
 */
static bool txcp_ends(struct sock *sk, const struct txcp_sock *xs)
{
	const enum hop_peer peer = nxcp_flow_peer(xs->flow);
	const u32 cwnd_pkts = hop_cwnd_pkts(tcp_sk(sk));

	if (peer == HOP_PEER_SUPPORTED || inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder)
		return false;
	if (peer == HOP_PEER_UNKNOWN) {
		txcp_release(sk);
		if (!xs->v.reno)
			hop_stack_set_cwnd(sk, max_t(u32, cwnd_pkts, TCP_INIT_CWND));
		hop_cc_wait(sk, &txcp_cc, HOP_PEER_UNKNOWN);
		return true;
	}
	/* Reno goes on from XCP's window, which slow start would double. */
	if (!xs->v.reno) {
		hop_stack_set_ssthresh(sk, max_t(u32, hop_cwnd_pkts(tcp_sk(sk)), TCP_INIT_CWND));
		trace_xcp_rule(sk, true, tcp_snd_cwnd(tcp_sk(sk)));
	}
	txcp_give_up(sk);
	return true;
}

static void txcp_end_round(struct sock *sk, struct txcp_sock *xs, u32 sent_pkts, u32 mss_bytes)
{
	const bool reno = xs->v.reno;

	xs->speed = hop_sock_speed(sk);
	/* Follow SND.UNA, so that plain_seq never seems to be in front of it after a wrap. */
	if (!before(tcp_sk(sk)->snd_una, xs->plain_seq))
		xs->plain_seq = tcp_sk(sk)->snd_una;
	if (!txcp_ends(sk, xs) && reno)
		txcp_end_reno_round(sk, xs);
	txcp_end_sending(&xs->v, sent_pkts, reno, mss_bytes);
	txcp_end_asking(&xs->v, xs->v.received);
	xs->v.received = false;
}

static void txcp_count(struct sock *sk, struct txcp_sock *xs, const struct rate_sample *rs,
		       u32 mss_bytes)
{
	const u32 start_pkts = xs->round_pkts;
	struct tcp_sock *tp = tcp_sk(sk);

	xs->ack_us = tp->tcp_mstamp;
	if (rs->rtt_us > 0)
		txcp_update_rtt(&xs->v, min_t(long, rs->rtt_us, XCP_RTT_MAX_US));
	/* During recovery the stack decides how many packets are in flight. */
	xs->v.in_flight_pkts = inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder ? U32_MAX :
			       max(xs->v.in_flight_pkts, rs->prior_in_flight);
	/*
	 * The application or the peer's receive window limits the sender. TCP marks the first
	 * packets of a connection as application-limited even if more data is queued.
	 */
	if ((rs->is_app_limited && !tcp_send_head(sk)) ||
	    tp->chrono_type == TCP_CHRONO_RWND_LIMITED)
		xs->v.app_limited = true;
	if (hop_round_ended(sk, rs, &xs->round_pkts))
		txcp_end_round(sk, xs, tp->delivered - start_pkts, mss_bytes);
}

static void txcp_receive_feedback(struct sock *sk, struct txcp_sock *xs, s64 feedback_bytes_ps,
				  u32 mss_bytes)
{
	const u64 wnd = xs->v.wnd;
	struct txcp_limits l;

	WRITE_ONCE(xs->feedback_bytes_ps, feedback_bytes_ps);
	xs->v.received = true;
	if (!xs->tried)
		xs->plain_seq = tcp_sk(sk)->snd_nxt;
	xs->tried = true;
	txcp_count_asked(sk, xs);
	if (txcp_is_excess(&xs->v, feedback_bytes_ps))
		nxcp_flow_count_excess(xs->flow);
	if (!txcp_receive(&xs->v, feedback_bytes_ps, mss_bytes))
		return;
	l = txcp_limits_of(sk, xs, 0);
	l.start_bytes = XCP_START_PKTS * mss_bytes;
	l.acked_bytes = (u64)(tcp_sk(sk)->delivered - xs->round_pkts) * mss_bytes;
	txcp_bound_growth(&xs->v, &l, wnd);
}

static void txcp_acked(struct sock *sk, const struct rate_sample *rs)
{
	const u32 mss_bytes = hop_cc_mss_bytes(sk);
	struct txcp_sock *xs = inet_csk_ca(sk);
	struct xcp_feedback feedback;

	txcp_count(sk, xs, rs, mss_bytes);
	if (!xs->flow)
		return;
	feedback = nxcp_flow_take_feedback(xs->flow);
	if (feedback.headers)
		txcp_receive_feedback(sk, xs, feedback.bytes_ps, mss_bytes);
	if (xs->v.reno)
		hop_cc_run_reno(sk, rs, hop_limit_bytes_ps(xs->speed));
	txcp_set_socket(sk, xs, mss_bytes, feedback);
}

/*
 * The application sends again after an idle time; the packet being sent carries the new offer. If
 * the window is only a few GSO packets, all of it may be acknowledged before more is sent. This is
 * not an idle time, and the values that the last ACK set stay valid unless the sender did not fill
 * its window before.
 */
static void txcp_resume(struct sock *sk)
{
	struct txcp_sock *xs = inet_csk_ca(sk);
	u32 idle_us, mss_bytes;
	bool changed;

	if (xs->v.reno)
		return;
	idle_us = hop_idle_us(tcp_sk(sk), xs->ack_us);
	changed = txcp_restart(&xs->v);
	if (idle_us < xs->v.rtt_us && !changed)
		return;
	mss_bytes = hop_cc_mss_bytes(sk);
	txcp_age_idle(&xs->v, idle_us, XCP_INIT_PKTS * mss_bytes, mss_bytes);
	xs->speed = hop_sock_speed(sk);
	txcp_set_socket(sk, xs, mss_bytes, (struct xcp_feedback){});
}

/*
 * Half of the window. After a loss, half of what is in flight if that is less (RFC 5681): XCP's
 * window may be far more than the path, the send buffer or the receiver's window lets out.
 */
static u32 txcp_ssthresh(struct sock *sk)
{
	const struct txcp_sock *xs = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->lost_out)
		return tcp_reno_ssthresh(sk);
	return max(min(tcp_snd_cwnd(tp), max(tp->packets_out, xs->v.in_flight_pkts)) >> 1, 2U);
}

/* The stack has called ssthresh(), whose result hop_cc_reno_lost() uses. */
static void txcp_lost(struct sock *sk, u8 new_state)
{
	struct txcp_sock *xs = inet_csk_ca(sk);

	hop_cc_reno_lost(sk, new_state);
	/* An undo of a second timeout, see tcp_enter_loss(), is none of the loss before it. */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && !inet_csk(sk)->icsk_retransmits)
		xs->undo_wnd = 0;
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	xs->undo_wnd = xs->v.reno ? 0 : xs->v.wnd;
	xs->lost_plain = !xs->tried || before(tcp_sk(sk)->snd_una, xs->plain_seq);
	txcp_begin_reno(&xs->v, new_state > TCP_CA_CWR, tcp_min_rtt(tcp_sk(sk)));
	trace_xcp_rule(sk, true, tcp_snd_cwnd(tcp_sk(sk)));
}

/* The stack found that the retransmission was spurious: restore the window and XCP. */
static u32 txcp_undo_cwnd(struct sock *sk)
{
	struct txcp_sock *xs = inet_csk_ca(sk);
	u32 cwnd_pkts = min(tcp_reno_undo_cwnd(sk), HOP_WND_MAX_PKTS);

	if (xs->undo_wnd) {
		xs->v.wnd = xs->undo_wnd;
		xs->v.reno = false;
		trace_xcp_rule(sk, false, cwnd_pkts);
	}
	return cwnd_pkts;
}

static u32 txcp_gain(u64 value_bytes_ps, u64 of_bytes_ps)
{
	if (!of_bytes_ps)
		return 0;
	return min_t(u64, div64_u64(value_bytes_ps << HOP_CC_INFO_SHIFT, of_bytes_ps), U32_MAX);
}

/*
 * ss shows the throughput and the RTT; the demand of one RTT and the absolute value of the last
 * feedback, both relative to the throughput.
 */
static size_t txcp_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct txcp_sock *xs = inet_csk_ca(sk);
	struct hop_cc_shown shown = {};

	if (READ_ONCE(inet_csk(sk)->icsk_ca_ops) == &txcp_ops) {
		const s64 demand_bytes_ps = hop_peek(xs->demand_bytes_ps);
		const s64 feedback_bytes_ps = hop_peek(xs->feedback_bytes_ps);

		shown.rtt_us = hop_peek(xs->v.rtt_us);
		shown.bytes_ps = txcp_throughput_bytes_ps(hop_peek(xs->v.wnd) >> XCP_WND_SHIFT,
							  shown.rtt_us);
		shown.gain = txcp_gain(max_t(s64, demand_bytes_ps, 0) * tcp_snd_cwnd(tcp_sk(sk)),
				       shown.bytes_ps);
		shown.state = txcp_gain(abs(feedback_bytes_ps), shown.bytes_ps);
	}
	return hop_cc_show(&shown, ext, attr, info);
}

static const struct hop_cc_law txcp_law = {
	.ack		= txcp_acked,
	.resume		= txcp_resume,
	.lost		= txcp_lost,
	.calm		= hop_cc_reno_calm,
};

HOP_CC_LAW(txcp, txcp_law)

static struct tcp_congestion_ops txcp_ops __read_mostly = {
	.release	= txcp_release,
	.ssthresh	= txcp_ssthresh,
	.undo_cwnd	= txcp_undo_cwnd,
	.get_info	= txcp_get_info,
	HOP_CC_LAW_OPS(txcp, "xcp"),
};

HOP_CC_ASKING(txcp, "xcp", nxcp_flow_ask);

static const struct ctl_table txcp_table[] = {
	HOP_SYSCTL_NUMBER("tcp_xcp_loss", struct txcp_net, knobs.loss, 0, XCP_LOSS_TIGHTER),
	{ }
};

static const struct txcp_knobs txcp_defaults = { .loss = XCP_LOSS_RENO };

HOP_CC_MODULE(txcp, .reno = &txcp_reno, .asking = &txcp_asking);

MODULE_DESCRIPTION("XCP sender (draft-falk-xcp-spec-00)");
