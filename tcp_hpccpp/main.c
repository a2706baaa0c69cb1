// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_hpccpp: the HPCC++ sender, draft-miao-rtgwg-hpccplus-00. The algorithm is in hop_core/hpcc.c
 * and hpccpp_sender.c, net_int sends probes and headers, and this file connects the algorithm to
 * the TCP stack.
 *
 * cong_control() owns window and pacing rate. The stack still finds and repairs losses. If the peer
 * does not answer (any more), or if no port of the path writes records, the connection falls back
 * to Reno.
 */
#include <linux/hash.h>
#include <linux/random.h>
#include <hopcc/core/hop_cc.h>
#include <hopcc/core/hop_shim.h>

#include "hpccpp_sender.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Number of peers for which starting flows are counted; a newer peer may replace one. */
#define HPCCPP_STARTS_BITS	6

/* Limit of the initial window, RFC 6928's 14600 bytes with headers. */
#define HPCCPP_FIRST_BYTES	15380U

/* A queue of up to this part of T is almost none. */
#define HPCCPP_OPENING_QUEUE	8

/**
 * struct hpccpp_net - state of one network namespace
 * @sysctl: the sysctls
 * @config: values of the sysctls that the algorithm's parameters depend on
 * @answer: net.hopcc.tcp_hpccpp_answer
 * @move: net.hopcc.tcp_hpccpp_move
 * @starts: starting flows by peer
 */
struct hpccpp_net {
	struct hop_sysctl sysctl;
	struct hpccpp_config config;
	u32 answer;
	u32 move;
	struct hpccpp_start starts[1 << HPCCPP_STARTS_BITS];
};

/**
 * struct hpccpp_law - the algorithm and its inputs; too large for a socket's private data
 * @memory: for hop_cc_free()
 * @v: state of the algorithm
 * @p: parameters of the algorithm
 * @answer: the latest answer
 * @path_bytes_ps: rate of the path's slowest port, as far as it is trusted; 0: not known
 * @forward_ns: sum of a full packet's transmission times at the path's ports; 0: not known
 * @burst_pkts: hpccpp_burst_pkts()
 * @undo_wnd: W before the last loss
 * @syn_rtt_ns: RTT of the SYN; 0: not known
 * @net: state of the netns
 * @device_mbit: rate of the socket's device; 0: not known, or not a limit; read once per round trip
 * @round_end_pkts: tp->delivered at the start of the round trip
 * @least: inputs of T besides the minimum RTT
 * @back: delay of answers on the way back
 * @move: state of section 9.4
 * @blind: answers that could not be used
 * @guard: the end-to-end window
 * @reported_us: sum of the queues that the latest answer reports
 * @hops_max: the longest path of any answer so far
 * @rate_found: a loss has ended the search for the rate, which nothing reports
 * @fresh: no data was sent yet
 * @opening: no answer was received yet, and T is neither set nor known from an earlier connection
 * @starts: position among the flows to the peer that start at the same time, from 1
 * @known_bytes_ps: rate of the slowest port on the path of an earlier connection; 0: not known
 * @held: hpccpp_is_held() when the socket was set
 * @hosts_limit: nothing limited the flow then but its hosts: see hop_burst_pkts()
 */
struct hpccpp_law {
	struct hop_cc_memory memory;
	struct hpcc_vars v;
	struct hpcc_params p;
	struct int_answer answer;
	u64 path_bytes_ps;
	u32 forward_ns;
	u32 burst_pkts;
	u64 undo_wnd;
	u64 syn_rtt_ns;
	struct hpccpp_net *net;
	u32 device_mbit;
	u32 round_end_pkts;
	struct hpccpp_least least;
	struct hpccpp_back back;
	struct hpccpp_move move;
	struct hpccpp_blind blind;
	struct hop_guard guard;
	u32 reported_us;
	u8 hops_max;
	bool rate_found;
	bool fresh;
	bool opening;
	u32 starts;
	u64 known_bytes_ps;
	bool held;
	bool hosts_limit;
};

/* Dumps read @law without the socket lock, and may find that it was freed. */
struct hpccpp_sock {
	struct hpccpp_law *law;
	struct int_flow *flow;
	u32 ack_us;		/* tcp_mstamp of the last ACK */
	u32 ext_hdr_bytes;	/* bytes that were added to icsk_ext_hdr_len */
};

static unsigned int hpccpp_net_id;
static struct tcp_congestion_ops hpccpp_reno;
static const struct hop_cc hpccpp_cc;

/* Protects the starting flows of all network namespaces. */
static DEFINE_SPINLOCK(hpccpp_start_lock);

/* Virtual devices report a rate that they do not enforce: veth 10 Gbit/s, tun 10 Mbit/s. */
static u32 hpccpp_device_mbit(const struct sock *sk)
{
	const struct hop_speed speed = hop_sock_speed(sk);

	return speed.limits ? speed.mbit : 0;
}

/* The rate of the sysctl, otherwise of the device; 0: not known. */
static u64 hpccpp_local_bytes_ps(const struct hpccpp_law *law)
{
	const u32 knob_mbit = READ_ONCE(law->net->config.rate_mbit);

	return (u64)(knob_mbit ?: law->device_mbit) * HPCCPP_BYTES_PER_MBIT;
}

/*
 * The line rate is the local one, otherwise the path's; if neither is known, the application's
 * limit, which otherwise limits the pace alone; 0: not known.
 */
static u64 hpccpp_line_bytes_ps(const struct sock *sk, const struct hpccpp_law *law)
{
	const unsigned long pacing_bytes_ps = READ_ONCE(sk->sk_max_pacing_rate);

	return hpccpp_local_bytes_ps(law) ?: law->path_bytes_ps ?:
	       pacing_bytes_ps != ~0UL ? pacing_bytes_ps : 0;
}

/* The minimum RTT. */
static u64 hpccpp_min_rtt_ns(const struct sock *sk, const struct hpccpp_law *law)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = tcp_min_rtt(tp);

	if (rtt_us == ~0U)
		rtt_us = tp->srtt_us >> 3;
	return hpccpp_rtt_ns(rtt_us, law->syn_rtt_ns);
}

/*
 * T is set by a sysctl, or computed: it is the minimum RTT without its queues, plus the
 * transmission times of a full packet. The minimum RTT is that of a SYN, which is short, and a T
 * that is too short would result in a window that is too small. At 1 Gbit/s over 100 us two ports
 * make a difference of a quarter.
 */
static u32 hpccpp_t_ns(const struct sock *sk, const struct hpccpp_law *law)
{
	/* Read once, because T is a divisor and the sysctl may become 0. */
	const u32 t_ns = READ_ONCE(law->net->config.t_ns);

	/* 2^30 + 2^32 */
	return t_ns ?: min_t(u64, (u64)hpccpp_least_t_ns(&law->least,
							 hpccpp_min_rtt_ns(sk, law)) +
				  law->forward_ns, HPCC_T_MAX_NS);
}

/*
 * If the line rate is not known, start with TCP's initial window, RFC 6928: of jumbo frames, fewer
 * than TCP_INIT_CWND.
 */
static u64 hpccpp_first_bytes_ps(const struct sock *sk, u32 t_ns)
{
	const u32 wire_bytes = hop_wire_bytes(sk);
	u64 bytes = min(TCP_INIT_CWND * wire_bytes, max(2 * wire_bytes, HPCCPP_FIRST_BYTES));

	return max_t(u64, div_u64(bytes * HPCCPP_NS_PER_S, t_ns), 1);
}

/*
 * The rate of the path's slowest port: from answers, before the first one from an earlier
 * connection. If there was none, T is the RTT of the SYN with all queues in it, and the first
 * window is TCP's initial one.
 */
static u64 hpccpp_port_bytes_ps(const struct sock *sk, const struct hpccpp_law *law, u32 t_ns)
{
	if (law->path_bytes_ps)
		return law->path_bytes_ps;
	return law->opening ? hpccpp_first_bytes_ps(sk, t_ns) : law->known_bytes_ps;
}

/* T for the guard, rounded up. */
static u32 hpccpp_least_us(const struct hpccpp_law *law)
{
	return law->p.t_ns / NSEC_PER_USEC + 1;
}

static u32 hpccpp_flows(const struct hpccpp_law *law)
{
	return law->answer.flows ?: READ_ONCE(law->net->config.flows);
}

/* Sysctls and the application's limit change without a notice. */
static void hpccpp_update_params(const struct sock *sk, struct hpccpp_law *law)
{
	const u64 line_bytes_ps = hpccpp_line_bytes_ps(sk, law);
	struct hpccpp_path path = {
		.t_ns = hpccpp_t_ns(sk, law),
		.flows = hpccpp_flows(law),
		.packet_bytes = hop_wire_bytes(sk),
	};

	path.rate_bytes_ps = line_bytes_ps;
	if (!line_bytes_ps)
		path.rate_bytes_ps = law->opening ? HPCCPP_RATE_MAX_MBIT * HPCCPP_BYTES_PER_MBIT :
						    hpccpp_first_bytes_ps(sk, path.t_ns);
	path.port_bytes_ps = hpccpp_port_bytes_ps(sk, law, path.t_ns);
	hpccpp_set_params(&law->p, &law->net->config, &path);
	law->burst_pkts = hpccpp_burst_pkts(min_not_zero(line_bytes_ps, path.port_bytes_ps),
					    path.packet_bytes);
}

/*
 * Return: true if a single packet is in flight, the window has no room for another, and the peer
 * may delay its ACK: see hpccpp_cwnd_pkts().
 */
static bool hpccpp_is_held(const struct sock *sk, const struct hpccpp_sock *hs,
			   u32 wnd_bytes, u32 wire_bytes)
{
	return tcp_sk(sk)->packets_out == 1 && wnd_bytes <= wire_bytes &&
	       !nint_flow_acks_now(hs->flow);
}

/*
 * Line 27: sets window and pacing rate. @state: TCP_CA_*: its state, or in lost() the new one;
 * @acked_pkts: packets that this ACK delivered. Return: the algorithm's window, packets.
 */
static u32 hpccpp_set(struct sock *sk, struct hpccpp_sock *hs, struct hpccpp_law *law, u8 state,
		      u32 acked_pkts)
{
	const u32 wnd_bytes = hpcc_wnd_bytes(&law->v), wire_bytes = hop_wire_bytes(sk);
	const bool held = hpccpp_is_held(sk, hs, wnd_bytes, wire_bytes);
	u32 cwnd_pkts;
	u64 bytes_ps;

	cwnd_pkts = hpccpp_cwnd_pkts(hpccpp_flight_bytes(wnd_bytes, law->p.t_ns, law->p.late_ns),
				     law->p.wnd_init_bytes, wire_bytes, held);
	cwnd_pkts = hop_guard_bound(&law->guard, cwnd_pkts);
	hop_stack_set_cwnd(sk, hop_cc_repair_pkts(sk, state, cwnd_pkts, acked_pkts));
	bytes_ps = hpccpp_pace_bytes_ps(wnd_bytes, law->p.t_ns, hop_cc_mss_bytes(sk), wire_bytes);
	bytes_ps = hop_cc_guard_pace_bytes_ps(sk, &law->guard, bytes_ps);
	bytes_ps = hop_stack_set_pace(sk, bytes_ps, U64_MAX);
	if (held != law->held)
		hop_space(sk, held, bytes_ps);
	law->held = held;
	return cwnd_pkts;
}

/*
 * Sets the limit of bursts, and notes if the hosts are slow. An RTT above the minimum is due to the
 * hosts only if a report of the same time shows an idle path: not with every ACK.
 */
static void hpccpp_set_bursts(struct sock *sk, struct hpccpp_law *law, u32 cwnd_pkts)
{
	const enum hop_path path = hpccpp_path(&law->v, &law->p);
	const u32 srtt_us = tcp_sk(sk)->srtt_us >> 3, min_rtt_us = tcp_min_rtt(tcp_sk(sk));
	u32 pkts;

	/* The write queue keeps the size of its packets until they are sent, behind the opening. */
	pkts = hop_burst_pkts(law->opening ? HOP_WND_MAX_PKTS : cwnd_pkts, path, srtt_us,
			      min_rtt_us);
	if (path == HOP_PATH_BUSY)
		pkts = min(pkts, law->burst_pkts);
	/* If the carrier or the device does not support GSO packets, none are built. */
	hop_stack_set_burst(sk, sk_can_gso(sk) ? pkts : 1);
	law->hosts_limit = path == HOP_PATH_IDLE && hop_hosts_are_slow(path, srtt_us, min_rtt_us);
}

/* Requests telemetry from the carrier for the next packets. */
static void hpccpp_ask(const struct sock *sk, struct hpccpp_law *law)
{
	const struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct int_ask ask = {
		.t_ns = law->p.t_ns,
		.wnd_bytes = hpcc_wnd_bytes(&law->v),
		.wnd_max_bytes = law->p.wnd_max_bytes,
		.eta = law->p.eta,
		.max_stage = law->p.max_stage,
		.flows = hpccpp_flows(law),
		.kind = READ_ONCE(law->net->answer),
		.seldom = law->hosts_limit,
	};

	nint_flow_ask(hs->flow, &ask);
}

/* For the first packets of a path. */
static void hpccpp_set_all(struct sock *sk, struct hpccpp_sock *hs, struct hpccpp_law *law)
{
	hpccpp_set_bursts(sk, law, hpccpp_set(sk, hs, law, inet_csk(sk)->icsk_ca_state, 0));
	hpccpp_ask(sk, law);
}

/* Context: hpccpp_start_lock held. Return: what is known of the peer. */
static struct hpccpp_start *hpccpp_start_of(const struct hpccpp_law *law, u32 peer)
{
	lockdep_assert_held(&hpccpp_start_lock);
	return &law->net->starts[hash_32(peer, HPCCPP_STARTS_BITS)];
}

/* Starts with what an earlier connection to the peer has learnt. */
static void hpccpp_recall_path(const struct sock *sk, struct hpccpp_law *law)
{
	const u32 peer = hop_cc_peer_hash(sk);

	spin_lock_bh(&hpccpp_start_lock);
	law->known_bytes_ps = hpccpp_recall(hpccpp_start_of(law, peer), peer, ktime_get_ns(),
					    &law->least);
	spin_unlock_bh(&hpccpp_start_lock);
	law->opening = !law->known_bytes_ps && !READ_ONCE(law->net->config.t_ns);
}

/*
 * Lets later connections to the peer start with what this one has learnt, if it has seen the path
 * almost without queues: then T has none.
 */
static void hpccpp_remember_path(const struct sock *sk, const struct hpccpp_law *law)
{
	const u32 peer = hop_cc_peer_hash(sk);

	if (!law->path_bytes_ps || !law->least.known || law->least.queues_ns)
		return;
	spin_lock_bh(&hpccpp_start_lock);
	hpccpp_remember(hpccpp_start_of(law, peer), peer, ktime_get_ns(), law->path_bytes_ps,
			min_t(u64, hpccpp_min_rtt_ns(sk, law), HPCC_T_MAX_NS));
	spin_unlock_bh(&hpccpp_start_lock);
}

/* Return: the flow's position among those to the peer that start at the same time, from 1. */
static u32 hpccpp_count_start(const struct sock *sk, const struct hpccpp_law *law)
{
	const u32 peer = hop_cc_peer_hash(sk);
	u32 flows;

	spin_lock_bh(&hpccpp_start_lock);
	flows = hpccpp_join_start(hpccpp_start_of(law, peer), peer, law->p.t_ns, ktime_get_ns());
	spin_unlock_bh(&hpccpp_start_lock);
	return flows;
}

/* Starts at the lower of the line rate and the slowest port's rate, W = W_init. */
static void hpccpp_begin(struct sock *sk, struct hpccpp_sock *hs, struct hpccpp_law *law)
{
	law->device_mbit = hpccpp_device_mbit(sk);
	hpccpp_update_params(sk, law);
	hpcc_start(&law->v, &law->p);
	if (!law->fresh) {
		law->starts = hpccpp_count_start(sk, law);
		hpccpp_share_start(&law->v, &law->p, law->starts, hop_wire_bytes(sk));
	}
	hpccpp_set_all(sk, hs, law);
}

/* Starts on another path, with the window from before congestion if the flow has one. */
static void hpccpp_go_on(struct sock *sk, struct hpccpp_sock *hs, struct hpccpp_law *law)
{
	if (!law->v.wnd_quiet) {
		hpccpp_begin(sk, hs, law);
		return;
	}
	hpcc_restart(&law->v, &law->p);
	hpccpp_set_all(sk, hs, law);
}

static void hpccpp_init(struct sock *sk)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct hpccpp_law *law;
	u64 syn_sent_ns;

	hop_stack_bound_cwnd(sk);
	if (hop_cc_waits_for_repair(sk, &hpccpp_cc))
		return;
	law = hop_cc_allocate(sk, sizeof(*law));
	if (law)
		hs->flow = nint_flow_open(sk);
	if (!hs->flow) {
		hop_cc_free(sk);
		hop_cc_wait(sk, &hpccpp_cc, nint_flow_negotiate(sk));
		return;
	}
	law->net = net_generic(sock_net(sk), hpccpp_net_id);
	law->fresh = true;
	law->starts = 1;
	law->round_end_pkts = tcp_sk(sk)->delivered;
	/* Right only if the SYN-ACK was just received; hpccpp_rtt_ns() ignores any other value. */
	syn_sent_ns = nint_flow_syn_sent_ns(hs->flow);
	if (syn_sent_ns)
		law->syn_rtt_ns = tcp_sk(sk)->tcp_clock_cache - syn_sent_ns;
	hpccpp_recall_path(sk, law);
	hs->ext_hdr_bytes = nint_flow_hdr_bytes(hs->flow);
	hs->ack_us = tcp_sk(sk)->tcp_mstamp;
	hop_shim_reserve(sk, hs->ext_hdr_bytes);
	hop_stack_set_ssthresh(sk, TCP_INFINITE_SSTHRESH);
	hop_stack_start_pacing(sk);
	hpccpp_begin(sk, hs, law);
}

/* Leaves the socket in a state that another congestion control can use. */
static void hpccpp_release(struct sock *sk)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);

	/* A socket may close before init(). */
	if (!hs->law)
		return;
	hpccpp_remember_path(sk, hs->law);
	hop_shim_release(sk, hs->ext_hdr_bytes);
	nint_flow_close(hs->flow);
	hop_cc_free(sk);
	hop_stack_restore_bursts(sk);
}

/*
 * There are no usable answers: use Reno for the rest of the connection, with no more in flight than
 * now. If there was never a measurement, slow start continues, because nothing is known about the
 * path.
 */
static void hpccpp_give_up(struct sock *sk, bool measured)
{
	struct tcp_sock *tp = tcp_sk(sk);

	hop_stack_set_cwnd(sk, min_t(u32, max_t(u32, tcp_packets_in_flight(tp), TCP_INIT_CWND),
				     tcp_snd_cwnd(tp)));
	if (measured)
		hop_stack_set_ssthresh(sk, tcp_snd_cwnd(tp));
	trace_hpccpp_rule(sk, true, tcp_snd_cwnd(tp));
	hpccpp_release(sk);
	hop_stack_set_cc(sk, &hpccpp_reno);
}

/* Chooses another hash and so, where paths are chosen by hashes, another path. */
static void hpccpp_try_path(struct sock *sk, const struct hpccpp_law *law)
{
	trace_hpccpp_move(sk, law->v.bottleneck, law->v.hops);
	sk_rethink_txhash(sk);
}

/*
 * Section 9.4, after each answer: a flow starts again on another path, except if it came back to
 * the path that it had left.
 */
static void hpccpp_maybe_move(struct sock *sk, struct hpccpp_law *law, bool round)
{
	u32 snd_nxt = tcp_sk(sk)->snd_nxt;

	switch (hpccpp_came(&law->move, &law->v, law->answer.seq, snd_nxt)) {
	case HPCCPP_CAME_BACK:
		hpccpp_try_path(sk, law);
		return;
	case HPCCPP_CAME_LATE:
		hpccpp_go_on(sk, inet_csk_ca(sk), law);
		return;
	default:
		break;
	}
	if (!round || !hpccpp_should_move(&law->move, &law->v, &law->p, snd_nxt, get_random_u32()))
		return;
	hpccpp_try_path(sk, law);
	hpccpp_go_on(sk, inet_csk_ca(sk), law);
}

/* The records are from another path than before: computes its transmission times. */
static void hpccpp_measure_ports(const struct sock *sk, struct hpccpp_law *law)
{
	const u64 line_bytes_ps = hpccpp_local_bytes_ps(law);
	const u32 wire_bytes = hop_wire_bytes(sk);

	/* 10^9 and 2^17 * 10^9 / 125000 < 2^32 */
	law->forward_ns = hpcc_forward_ns(&law->answer.hdr, wire_bytes);
	if (line_bytes_ps)
		law->forward_ns += div64_u64((u64)wire_bytes * HPCCPP_NS_PER_S, line_bytes_ps);
}

/* The sum of the queues that the answer reports; an answer without queues leaves it as it is. */
static void hpccpp_note_queues(struct hpccpp_law *law)
{
	const struct int_answer *a = &law->answer;

	if (a->kind == INT_ANSWER_RECORDS)
		law->reported_us = min_t(u64, div_u64(hpcc_queues_ns(&a->hdr), NSEC_PER_USEC),
					 U32_MAX);
	else if (a->kind == INT_ANSWER_SUMMARY)
		law->reported_us = hpcc_queue_ns(&a->record) / NSEC_PER_USEC;
}

/* Makes room in data for the records of all hops. */
static void hpccpp_grow_header(struct sock *sk)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	const u32 bytes = nint_flow_grow(hs->flow);

	if (bytes == hs->ext_hdr_bytes)
		return;
	hop_shim_release(sk, hs->ext_hdr_bytes);
	hop_shim_reserve(sk, bytes);
	hs->ext_hdr_bytes = bytes;
}

/* The rate of the path's slowest port, as far as it is trusted: at first, up to the line rate. */
static void hpccpp_believe_path(const struct sock *sk, struct hpccpp_law *law, u64 bytes_ps,
				bool round)
{
	const u64 believed_bytes_ps = law->path_bytes_ps ?: hpccpp_line_bytes_ps(sk, law);

	law->path_bytes_ps = hpccpp_believe_bytes_ps(bytes_ps, believed_bytes_ps,
						     hpcc_wnd_bytes(&law->v), law->p.t_ns, round);
}

/* Return: true if neither the device, nor a sysctl, nor an answer reports a rate. */
static bool hpccpp_lacks_rate(const struct hpccpp_law *law)
{
	return !hpccpp_local_bytes_ps(law) && !law->v.path_mbit;
}

/*
 * Only a flow that its window limits shows what the path takes. W grows to its new maximum in the
 * next round, not after maxStage of them.
 */
static void hpccpp_try_rate(const struct sock *sk, struct hpccpp_law *law)
{
	u64 bytes_ps;

	if (law->rate_found || !hpccpp_lacks_rate(law) || !tcp_sk(sk)->is_cwnd_limited)
		return;
	bytes_ps = hpccpp_next_bytes_ps(&law->v, &law->p);
	if (bytes_ps <= law->path_bytes_ps)
		return;
	hpccpp_believe_path(sk, law, bytes_ps, true);
	law->v.inc_stage = law->p.max_stage;
}

/*
 * A loss ends the search for the rate, as it ends slow start: U does not show what limits the flow.
 * W may be what it was, and no more.
 */
static void hpccpp_end_search(struct hpccpp_law *law)
{
	if (law->rate_found || !law->path_bytes_ps || !hpccpp_lacks_rate(law))
		return;
	law->rate_found = true;
	law->path_bytes_ps = min(law->path_bytes_ps,
				 hpccpp_wnd_bytes_ps(hpcc_wnd_bytes(&law->v), law->p.t_ns));
}

/*
 * For an answer that is the first from a path, or does not have all records: only such an answer can
 * report more hops than all before.
 */
static void hpccpp_enter_path(struct sock *sk, struct hpccpp_law *law, enum hpcc_received received)
{
	if (law->answer.hops > law->hops_max)
		hpccpp_grow_header(sk);
	law->hops_max = max(law->hops_max, law->answer.hops);
	if (law->answer.kind == INT_ANSWER_RECORDS && received != HPCC_RECEIVED_NOTHING)
		hpccpp_measure_ports(sk, law);
}

/* Return: true if a round has ended since @update_seq was lastUpdateSeq. */
static bool hpccpp_is_round(const struct hpccpp_law *law, enum hpcc_received received,
			    u32 update_seq)
{
	return received == HPCC_RECEIVED_NEW && law->v.update_seq != update_seq;
}

/* Return: true if the first answer, or a loss before it, shows that other flows use the port. */
static bool hpccpp_port_is_used(const struct hpccpp_law *law)
{
	return law->reported_us > hpccpp_least_us(law) / HPCCPP_OPENING_QUEUE || law->undo_wnd ||
	       (law->answer.kind == INT_ANSWER_RATIO && law->v.u >= law->p.eta);
}

/*
 * The first answer has reported T and the slowest port: W_init is the draft's now. If other flows
 * use the port, W grows by the algorithm.
 */
static void hpccpp_end_opening(const struct sock *sk, struct hpccpp_law *law)
{
	const u64 wnd = law->v.wnd;

	/* The receiver has computed W. */
	if (law->answer.kind == INT_ANSWER_WINDOW)
		return;
	hpccpp_share_start(&law->v, &law->p, law->starts, hop_wire_bytes(sk));
	if (!hpccpp_port_is_used(law))
		return;
	law->v.wnd = min(law->v.wnd, wnd);
	law->v.wnd_ref = law->v.wnd;
}

/*
 * The path's slowest port. Records of all hops show it. A summary has the most loaded port alone;
 * the slowest port that ever was the most loaded one is taken then.
 */
static void hpccpp_note_speed(struct hpccpp_law *law, enum hpcc_received received)
{
	const struct int_answer *a = &law->answer;

	if (a->kind == INT_ANSWER_SUMMARY && received != HPCC_RECEIVED_NOTHING)
		law->v.path_mbit = min_not_zero(law->v.path_mbit,
						int_speeds[a->record.speed].mbit_ps);
}

/* Return: the algorithm's result for the answer. */
static enum hpcc_received hpccpp_receive_answer(struct sock *sk, struct hpccpp_law *law)
{
	const u64 rtt_ns = (u64)(tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC;
	const u32 update_seq = law->v.update_seq;
	struct int_answer *a = &law->answer;
	enum hpcc_received received;
	u64 bytes_ps;

	hpccpp_note_queues(law);
	hpccpp_note_back(&law->back, a->back_ns, tcp_sk(sk)->tcp_clock_cache);
	/* The RTT of a packet with shorter queues than all before is closer to T. */
	hpccpp_update_least(&law->least, a);
	law->p.late_ns = hpccpp_late_ns(&law->back, law->p.t_ns, rtt_ns);
	received = hpccpp_receive(&law->v, &law->p, a, tcp_sk(sk)->snd_nxt,
				  tcp_sk(sk)->tcp_clock_cache);
	trace_hpccpp_answer(sk, a, received, &law->v, law->p.t_ns);
	if (received > HPCC_RECEIVED_SAME || a->kind != INT_ANSWER_RECORDS)
		hpccpp_enter_path(sk, law, received);
	hpccpp_note_speed(law, received);
	bytes_ps = (u64)law->v.path_mbit * HPCCPP_BYTES_PER_MBIT;
	if (bytes_ps && bytes_ps != law->path_bytes_ps && received != HPCC_RECEIVED_NOTHING)
		hpccpp_believe_path(sk, law, bytes_ps, hpccpp_is_round(law, received, update_seq));
	if (a->kind == INT_ANSWER_RATIO && hpccpp_is_round(law, received, update_seq))
		hpccpp_try_rate(sk, law);
	if (READ_ONCE(law->net->move) && received != HPCC_RECEIVED_NOTHING)
		hpccpp_maybe_move(sk, law, hpccpp_is_round(law, received, update_seq));
	return received;
}

/*
 * On a path that drops probes no answers arrive, and after several unanswered probes the connection
 * becomes Reno. Until then W grows as in slow start, up to the first loss, so that asking costs no
 * time. The first answer may arrive later than the first window's ACKs, which do not count.
 */
static void hpccpp_open_slowly(const struct sock *sk, struct hpccpp_law *law,
			       const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (law->undo_wnd || tp->delivered <= tcp_snd_cwnd(tp) || !tcp_is_cwnd_limited(sk))
		return;
	law->v.wnd += (u64)rs->acked_sacked * hop_wire_bytes(sk) << HPCC_WND_SHIFT;
	law->v.wnd_ref = law->v.wnd;
	hpccpp_bound(&law->v, &law->p);
}

static void hpccpp_end_round(struct sock *sk, struct hpccpp_law *law)
{
	const struct hpccpp_sock *hs = inet_csk_ca(sk);

	/* The carrier may have given up the headers that data has room for. */
	if (nint_flow_hdr_bytes(hs->flow) != hs->ext_hdr_bytes)
		hpccpp_grow_header(sk);
	law->blind.counted = false;
	law->device_mbit = hpccpp_device_mbit(sk);
}

static void hpccpp_acked(struct sock *sk, const struct rate_sample *rs)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct hpccpp_law *law = hs->law;
	enum hpcc_received received = HPCC_RECEIVED_NOTHING;
	bool answered, opened;
	u32 cwnd_pkts;

	hs->ack_us = tcp_sk(sk)->tcp_mstamp;
	if (hop_round_ended(sk, rs, &law->round_end_pkts))
		hpccpp_end_round(sk, law);
	if (nint_flow_peer(hs->flow) != HOP_PEER_SUPPORTED) {
		hpccpp_give_up(sk, !law->opening);
		return;
	}
	answered = nint_flow_take(hs->flow, &law->answer);
	/* The hops' reports and the peer's clock explain this delay. */
	hop_cc_guard_ack(sk, &law->guard, rs, hpccpp_least_us(law),
			 law->reported_us + law->p.late_ns / NSEC_PER_USEC);
	if (answered)
		received = hpccpp_receive_answer(sk, law);
	if (answered && hpccpp_is_blind(&law->blind, received)) {
		hpccpp_give_up(sk, law->blind.measured);
		return;
	}
	opened = law->opening && received != HPCC_RECEIVED_NOTHING &&
		 received != HPCC_RECEIVED_SAME;
	law->opening &= !opened;
	hpccpp_update_params(sk, law);
	hpccpp_bound(&law->v, &law->p);
	if (opened)
		hpccpp_end_opening(sk, law);
	else if (law->opening)
		hpccpp_open_slowly(sk, law, rs);
	cwnd_pkts = hpccpp_set(sk, hs, law, inet_csk(sk)->icsk_ca_state, rs->acked_sacked);
	if (answered || law->opening || law->guard.wnd_pkts)
		hpccpp_set_bursts(sk, law, cwnd_pkts);
	hpccpp_ask(sk, law);
}

/* The first data, or data after an idle time of more than an RTO, starts like a new flow. */
static void hpccpp_resume(struct sock *sk)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	u32 idle_us = hop_idle_us(tcp_sk(sk), hs->ack_us);
	struct hpccpp_law *law = hs->law;

	if (!law->fresh && idle_us < jiffies_to_usecs(inet_csk(sk)->icsk_rto))
		return;
	law->fresh = false;
	hpccpp_begin(sk, hs, law);
}

/* The window is reduced once, only from a state without loss. */
static void hpccpp_lost(struct sock *sk, u8 new_state)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct hpccpp_law *law = hs->law;

	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		return;
	law->undo_wnd = law->v.wnd;
	hpccpp_end_search(law);
	hpcc_halve(&law->v);
	if (hop_cc_guard_lose(sk, &law->guard, hpccpp_least_us(law)))
		nint_flow_count_guarded(hs->flow);
	/*
	 * Not with the next ACK: the stack's timer retransmits before that what it found lost. For
	 * TCP_CA_Loss the stack has already set the window.
	 */
	if (new_state != TCP_CA_Loss)
		hpccpp_set_bursts(sk, law, hpccpp_set(sk, hs, law, new_state, 0));
	trace_hpccpp_rule(sk, false, tcp_snd_cwnd(tcp_sk(sk)));
}

/* The loss was spurious. */
static u32 hpccpp_undo_cwnd(struct sock *sk)
{
	struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct hpccpp_law *law = hs->law;

	if (law && law->undo_wnd) {
		hop_guard_undo(&law->guard);
		law->v.wnd = law->undo_wnd;
		law->v.wnd_ref = law->undo_wnd;
		law->undo_wnd = 0;
		law->rate_found = false;
		hpccpp_bound(&law->v, &law->p);
	}
	return min(tcp_reno_undo_cwnd(sk), HOP_WND_MAX_PKTS);
}

/* ss shows R, T, U and incStage. */
static size_t hpccpp_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct hpccpp_sock *hs = inet_csk_ca(sk);
	struct hop_cc_shown shown = { .bytes_ps = hop_peek(sk->sk_pacing_rate) };
	const struct hpccpp_law *law;

	rcu_read_lock();
	law = READ_ONCE(hs->law);
	if (law) {
		shown.rtt_us = hop_peek(law->p.t_ns) / NSEC_PER_USEC;
		shown.gain = hop_peek(law->v.u) >> (HPCC_U_SHIFT - HOP_CC_INFO_SHIFT);
		shown.state = hop_peek(law->v.inc_stage) << HOP_CC_INFO_SHIFT;
		shown.guarded = hop_peek(law->guard.wnd_pkts);
	}
	rcu_read_unlock();
	return hop_cc_show(&shown, ext, attr, info);
}

static const struct hop_cc_law hpccpp_law_ops = {
	.ack		= hpccpp_acked,
	.resume		= hpccpp_resume,
	.lost		= hpccpp_lost,
};

HOP_CC_LAW(hpccpp, hpccpp_law_ops)

static struct tcp_congestion_ops hpccpp_ops __read_mostly = {
	.release	= hpccpp_release,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= hpccpp_undo_cwnd,
	.get_info	= hpccpp_get_info,
	HOP_CC_LAW_OPS(hpccpp, "hpccpp"),
};

HOP_CC_ASKING(hpccpp, "hpccpp", nint_flow_negotiate);

/* 0 is for the measured T. */
static bool hpccpp_may_be_t(unsigned int value)
{
	return !value || (value >= HPCC_T_MIN_NS && value <= HPCC_T_MAX_NS);
}

static int hpccpp_set_t(compat_ctl_table *table, int write, void *buffer, size_t *len,
			loff_t *pos)
{
	return hop_sysctl_set_if(table, write, buffer, len, pos, hpccpp_may_be_t);
}

#define HPCCPP_KNOB(name, member, low, high) \
	HOP_SYSCTL_NUMBER("tcp_hpccpp_" name, struct hpccpp_net, member, low, high)

static const struct ctl_table hpccpp_table[] = {
	HPCCPP_KNOB("eta_ppm", config.eta_ppm, HPCCPP_ETA_MIN_PPM, HPCC_PPM),
	HPCCPP_KNOB("max_stage", config.max_stage, 0, HPCCPP_STAGE_MAX),
	HPCCPP_KNOB("flows", config.flows, 1, HPCCPP_FLOWS_MAX),
	HPCCPP_KNOB("rate_mbit", config.rate_mbit, 0, HPCCPP_RATE_MAX_MBIT),
	HPCCPP_KNOB("answer", answer, 0, INT_ANSWER_WINDOW),
	HPCCPP_KNOB("move", move, 0, 1),
	HOP_SYSCTL("tcp_hpccpp_t_ns", 0644, struct hpccpp_net, config.t_ns, hpccpp_set_t, NULL,
		   hop_sysctl_words("N, N 0 or from 1000 to 1000000000")),
	{ }
};

static const struct hpccpp_config hpccpp_defaults = {
	.eta_ppm = HPCCPP_ETA_DEFAULT_PPM,
	.max_stage = HPCCPP_STAGE_DEFAULT,
	.flows = HPCCPP_FLOWS_DEFAULT,
};

HOP_CC_MODULE(hpccpp, .reno = &hpccpp_reno, .asking = &hpccpp_asking);

MODULE_DESCRIPTION("HPCC++ sender (draft-miao-rtgwg-hpccplus-00)");
