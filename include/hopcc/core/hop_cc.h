/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of a congestion control: the code that all of them share, so that a module implements
 * only its algorithm, which is called its law. A module has
 *
 *	struct hop_cc_law	functions that TCP's events lead to
 *	struct hop_cc		knobs and their defaults, the fallback, changes of sent packets
 *	HOP_CC_LAW()		the functions of TCP's interface around the law
 *	HOP_CC_MODULE()		struct hop_cc, registration, and the knobs of each netns
 *
 * The law is constant and the functions below are inline, so the compiler calls the law's functions
 * directly: no call is indirect where an ACK is processed.
 */
#ifndef HOPCC_CORE_HOP_CC_H
#define HOPCC_CORE_HOP_CC_H

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <hopcc/core/hop_hook.h>
#include <hopcc/core/hop_sock.h>
#include <hopcc/core/hop_stack.h>
#include <hopcc/lib/hop_discover.h>
#include <hopcc/lib/hop_guard.h>
#include <hopcc/lib/hop_peek.h>
#include <hopcc/lib/hop_sysctl.h>
#include <hopcc/lib/hop_version.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

/* ss shows gains in units of 1/256. */
#define HOP_CC_INFO_SHIFT	8

/**
 * struct hop_cc_law - functions of a congestion control
 * @ack: an ACK was processed; NULL: the stack owns the window
 * @resume: data is sent where no packet is in flight, though some may be lost or selectively
 *	acknowledged; hop_stack_bound_cwnd() was called; NULL: nothing to do
 * @lost: the stack enters a state above TCP_CA_Disorder; icsk_ca_state is still the old one
 * @calm: the stack returns to TCP_CA_Open or TCP_CA_Disorder; NULL: nothing to do
 * @timeout: a retransmission timeout: the stack has saved the state to which it may return, and
 *	calls @lost next; NULL: nothing to do
 * @receive: data was received with the mark CE, or without it; NULL: nothing to do
 *
 * Context of all functions: socket lock held; of all but @timeout and @receive: init() returned.
 */
struct hop_cc_law {
	void (*ack)(struct sock *sk, const struct rate_sample *rs);
	void (*resume)(struct sock *sk);
	void (*lost)(struct sock *sk, u8 new_state);
	void (*calm)(struct sock *sk, u8 new_state);
	void (*timeout)(struct sock *sk);
	void (*receive)(struct sock *sk, bool ce);
};

/* The SYN-ACK is processed before init(). */
static inline bool hop_cc_has_started(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_initialized;
}

/* TCP's cong_control() */
static inline void hop_cc_ack(struct sock *sk, const struct rate_sample *rs,
			      const struct hop_cc_law *law)
{
	sock_owned_by_me(sk);
	if (hop_cc_has_started(sk))
		law->ack(sk, rs);
}

/* CA_EVENT_TX_START; the stack may have copied the route's metrics after init(). */
static inline void hop_cc_resume(struct sock *sk, const struct hop_cc_law *law)
{
	sock_owned_by_me(sk);
	if (!hop_cc_has_started(sk))
		return;
	hop_stack_bound_cwnd(sk);
	if (law->resume)
		law->resume(sk);
}

/* The other events of TCP's cwnd_event() */
static inline void hop_cc_event(struct sock *sk, enum tcp_ca_event ev,
				const struct hop_cc_law *law)
{
	sock_owned_by_me(sk);
	if (ev == CA_EVENT_LOSS && sk->sk_state == TCP_SYN_SENT)
		hop_stack_repeat_syn(sk);
	else if (law->timeout && ev == CA_EVENT_LOSS)
		law->timeout(sk);
	else if (law->receive && (ev == CA_EVENT_ECN_IS_CE || ev == CA_EVENT_ECN_NO_CE))
		law->receive(sk, ev == CA_EVENT_ECN_IS_CE);
}

/* TCP's set_state() */
static inline void hop_cc_set_state(struct sock *sk, u8 new_state, const struct hop_cc_law *law)
{
	sock_owned_by_me(sk);
	if (!hop_cc_has_started(sk) || hop_is_too_big(sk, new_state))
		return;
	if (new_state > TCP_CA_Disorder)
		law->lost(sk, new_state);
	else if (law->calm)
		law->calm(sk, new_state);
}

/**
 * HOP_CC_EVENTS() - define the functions of TCP's interface that lead to those of a law
 * @prefix: prefix of their names
 * @law: a constant struct hop_cc_law
 */
#define HOP_CC_EVENTS(prefix, law)						\
	static void prefix##_tx_start(struct sock *sk)				\
	{									\
		hop_cc_resume(sk, &(law));					\
	}									\
	static void prefix##_cwnd_event(struct sock *sk, enum tcp_ca_event ev)	\
	{									\
		if (ev == CA_EVENT_TX_START)					\
			prefix##_tx_start(sk);					\
		else								\
			hop_cc_event(sk, ev, &(law));				\
	}									\
	static void prefix##_set_state(struct sock *sk, u8 new_state)		\
	{									\
		hop_cc_set_state(sk, new_state, &(law));			\
	}

/* The same, with cong_control(), for a law that owns the window. */
#define HOP_CC_LAW(prefix, law)							\
	static void prefix##_cong_control(struct sock *sk, const struct rate_sample *rs) \
	{									\
		hop_cc_ack(sk, rs, &(law));					\
	}									\
	compat_adapt_cong_control(prefix##_cong_control)			\
	HOP_CC_EVENTS(prefix, law)

/* Members of struct tcp_congestion_ops, with the functions of HOP_CC_EVENTS() or HOP_CC_LAW(). */
#define HOP_CC_EVENTS_OPS(prefix, name_)					\
	.init		= prefix##_init,					\
	.name		= name_,						\
	compat_cc_events(prefix##_cwnd_event, prefix##_tx_start),		\
	.set_state	= prefix##_set_state,					\
	.owner		= THIS_MODULE

#define HOP_CC_LAW_OPS(prefix, name_)						\
	.cong_control	= compat_cong_control(prefix##_cong_control),		\
	HOP_CC_EVENTS_OPS(prefix, name_)

/* The stack's Reno under a name of its own, which getsockopt() and ss show. */
#define HOP_CC_RENO(name_, ...) {						\
	.ssthresh	= tcp_reno_ssthresh,					\
	.cong_avoid	= tcp_reno_cong_avoid,					\
	.undo_cwnd	= tcp_reno_undo_cwnd,					\
	.flags		= TCP_CONG_NON_RESTRICTED,				\
	.owner		= THIS_MODULE,						\
	.name		= name_,						\
	__VA_ARGS__								\
}

/**
 * hop_cc_repair_pkts() - bound a window by PRR's rule where losses are repaired
 * @sk: a TCP socket
 * @state: TCP_CA_*: its state, or in lost() the new one
 * @cwnd_pkts: the law's window, packets
 * @acked_pkts: packets that the current ACK delivered; 0 in lost()
 *
 * Retransmitting many lost packets at once would be a burst. So one packet may be sent at first,
 * and then two for each delivered packet. This is like PRR, which the stack applies only to
 * congestion controls without a cong_control(). Packets that pacing has delayed may still be sent.
 * If a timer of the stack detects a loss, the stack retransmits before cong_control() runs, so
 * lost() must set this window, too.
 *
 * Context: socket lock held.
 * Return: @cwnd_pkts, unless @state is TCP_CA_Recovery; packets, at least 1.
 */
static inline u32 hop_cc_repair_pkts(struct sock *sk, u8 state, u32 cwnd_pkts, u32 acked_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 may_pkts;

	sock_owned_by_me(sk);
	if (state != TCP_CA_Recovery)
		return cwnd_pkts;
	hop_stack_count_repair(sk, acked_pkts);
	may_pkts = 2 * tp->prr_delivered + 1;
	may_pkts -= min(may_pkts, tp->prr_out);
	return max(min(cwnd_pkts, tcp_packets_in_flight(tp) + may_pkts), hop_repair_least_pkts(tp));
}

/**
 * hop_cc_reno_repair_pkts() - get Reno's window during loss recovery
 * @sk: a TCP socket whose window is the stack's Reno's
 * @acked_pkts: packets that the current ACK delivered; 0 in lost()
 * @may_grow: it moved SND.UNA and showed no further loss
 *
 * As in tcp_cwnd_reduction() below ssthresh, one packet is sent for each delivered packet, and one
 * more if the window may grow.
 *
 * Context: socket lock held, in TCP_CA_Recovery or on the way to it.
 * Return: packets, at most ssthresh, but at least hop_repair_least_pkts().
 */
static inline u32 hop_cc_reno_repair_pkts(struct sock *sk, u32 acked_pkts, bool may_grow)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 send_pkts;

	sock_owned_by_me(sk);
	hop_stack_count_repair(sk, acked_pkts);
	send_pkts = max_t(s32, tp->prr_delivered - tp->prr_out, acked_pkts);
	send_pkts += may_grow;
	return max(min(tcp_packets_in_flight(tp) + send_pkts, tp->snd_ssthresh),
		   hop_repair_least_pkts(tp));
}

/* Context: socket lock held. Return: payload of a full packet, at least 1. */
static inline u32 hop_cc_mss_bytes(const struct sock *sk)
{
	sock_owned_by_me(sk);
	return max_t(u32, tcp_sk(sk)->mss_cache, 1);
}

/*
 * Pacing rate of Reno, in windows per RTT. After a loss the window is halved, but the RTT still
 * includes the queue: at less than 2 windows per RTT the link would be idle after each loss.
 */
#define HOP_CC_RENO_PACING	2

/**
 * hop_cc_reno_pace_bytes_ps() - compute the pacing rate of a window that is Reno's
 * @sk: a TCP socket
 * @cwnd_pkts: the window, packets, at most HOP_WND_MAX_PKTS
 *
 * Context: socket lock held.
 * Return: payload, bytes/s; U64_MAX if no RTT is known.
 */
static inline u64 hop_cc_reno_pace_bytes_ps(const struct sock *sk, u32 cwnd_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	/* 2^20 * 2^16 * 2^4 = 2^40; times 10^6 is less than 2^60 */
	const u64 bytes = (u64)cwnd_pkts * hop_cc_mss_bytes(sk) * 8 * HOP_CC_RENO_PACING;

	sock_owned_by_me(sk);
	return tp->srtt_us ? mul_u64_u32_div(bytes, USEC_PER_SEC, tp->srtt_us) : U64_MAX;
}

/**
 * hop_cc_run_reno() - let the stack's Reno own window and pacing rate for an ACK
 * @sk: a TCP socket
 * @rs: the rate sample of the ACK
 * @limit_bytes_ps: the device's limit; U64_MAX: none
 *
 * Context: socket lock held, in cong_control().
 */
static inline void hop_cc_run_reno(struct sock *sk, const struct rate_sample *rs,
				   u64 limit_bytes_ps)
{
	const bool may_grow = rs->acked_sacked && rs->losses <= 0;

	sock_owned_by_me(sk);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery)
		hop_stack_set_cwnd(sk, hop_cc_reno_repair_pkts(sk, rs->acked_sacked, may_grow));
	else if (!tcp_in_cwnd_reduction(sk))
		tcp_reno_cong_avoid(sk, 0, rs->acked_sacked);
	if (tcp_sk(sk)->srtt_us)
		hop_stack_set_pace(sk, hop_cc_reno_pace_bytes_ps(sk, hop_cwnd_pkts(tcp_sk(sk))),
				   limit_bytes_ps);
}

/**
 * hop_cc_reno_lost() - set Reno's window after a loss or a mark
 * @sk: a TCP socket; ssthresh() was called
 * @new_state: the state that the stack enters
 *
 * For TCP_CA_Loss the stack has already set the window.
 *
 * Context: socket lock held, in lost().
 */
static inline void hop_cc_reno_lost(struct sock *sk, u8 new_state)
{
	sock_owned_by_me(sk);
	if (new_state == TCP_CA_Recovery)
		hop_stack_set_cwnd(sk, hop_cc_reno_repair_pkts(sk, 0, false));
	else if (new_state == TCP_CA_CWR)
		hop_stack_set_cwnd(sk, tcp_sk(sk)->snd_ssthresh);
}

/**
 * hop_cc_reno_calm() - set Reno's window at the end of a loss recovery
 * @sk: a TCP socket
 * @new_state: the state that follows the recovery
 *
 * It is ssthresh, which limited it during the recovery, unless the stack has undone the recovery.
 *
 * Context: socket lock held, in calm(): icsk_ca_state is still the old state.
 */
static inline void hop_cc_reno_calm(struct sock *sk, u8 new_state)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && tp->undo_marker)
		hop_stack_set_cwnd(sk, tp->snd_ssthresh);
}

/* Return: microseconds; 0 if the ACK has no RTT that depends on the path alone. */
static inline u32 hop_cc_guard_delay_us(const struct hop_guard *g, const struct rate_sample *rs,
					u32 least_us)
{
	/* An ACK for a packet that was sent before a recovery may have waited for the repair. */
	if (rs->is_ack_delayed || before(rs->prior_delivered, g->valid_pkts) ||
	    rs->rtt_us <= (long)least_us)
		return 0;
	return min_t(long, rs->rtt_us, U32_MAX) - least_us;
}

/**
 * hop_cc_guard_ack() - compare the delay that an ACK measures with the delay that hops report
 * @sk: a TCP socket
 * @g: its guard
 * @rs: the rate sample of the ACK
 * @least_us: minimum RTT of the path for full packets, microseconds
 * @reported_us: sum of the delays that the latest report has, microseconds
 *
 * Context: socket lock held, in cong_control().
 */
static inline void hop_cc_guard_ack(struct sock *sk, struct hop_guard *g,
				    const struct rate_sample *rs, u32 least_us, u32 reported_us)
{
	const u8 state = inet_csk(sk)->icsk_ca_state;
	const struct hop_guard_ack a = {
		.acked_pkts = rs->acked_sacked,
		.least_us = least_us,
		.delay_us = hop_cc_guard_delay_us(g, rs, least_us),
		.reported_us = reported_us,
		.limited = tcp_is_cwnd_limited(sk) && state < TCP_CA_CWR,
		.round = hop_round_ended(sk, rs, &g->round_pkts),
	};

	sock_owned_by_me(sk);
	hop_guard_ack(g, &a);
	if (state >= TCP_CA_Recovery)
		g->valid_pkts = tcp_sk(sk)->delivered;
}

/**
 * hop_cc_guard_lose() - process a loss or a mark
 * @sk: a TCP socket
 * @g: its guard
 * @least_us: minimum RTT of the path for full packets, microseconds
 *
 * Context: socket lock held, in lost().
 * Return: true if it closes the guard.
 */
static inline bool hop_cc_guard_lose(const struct sock *sk, struct hop_guard *g, u32 least_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const bool closed = g->wnd_pkts;

	sock_owned_by_me(sk);
	return hop_guard_lose(g, least_us, min(tcp_packets_in_flight(tp) + tp->lost_out,
					       hop_cwnd_pkts(tp))) && !closed;
}

/**
 * hop_cc_guard_pace_bytes_ps() - limit a pacing rate to that of the guard's window
 * @sk: a TCP socket
 * @g: its guard
 * @bytes_ps: the rate, payload, bytes/s
 *
 * Context: socket lock held.
 * Return: payload, bytes/s.
 */
static inline u64 hop_cc_guard_pace_bytes_ps(const struct sock *sk, const struct hop_guard *g,
					     u64 bytes_ps)
{
	sock_owned_by_me(sk);
	return g->wnd_pkts ? min(bytes_ps, hop_cc_reno_pace_bytes_ps(sk, g->wnd_pkts)) : bytes_ps;
}

/* Added to the stage that ss shows while the guard is closed; larger than any stage */
#define HOP_CC_GUARDED	1024U

/**
 * struct hop_cc_shown - values of a connection that ss shows
 * @bytes_ps: as bw: a rate
 * @rtt_us: as mrtt: a time
 * @gain: as pacing_gain, << HOP_CC_INFO_SHIFT
 * @state: as cwnd_gain, << HOP_CC_INFO_SHIFT
 * @guarded: adds HOP_CC_GUARDED to cwnd_gain: the guard is closed
 */
struct hop_cc_shown {
	u64 bytes_ps;
	u32 rtt_us;
	u32 gain;
	u32 state;
	bool guarded;
};

/*
 * Return: true if ss asks for the structure @attr. ss asks for Vegas's structure, and accepts the
 * others, too, by the type of the attribute.
 */
static inline bool hop_cc_is_asked(u32 ext, int attr)
{
	return ext & (1 << (attr - 1) | 1 << (INET_DIAG_VEGASINFO - 1));
}

/**
 * hop_cc_show() - write the values that ss shows, for get_info()
 * @shown: the values
 * @ext: what ss asks for
 * @attr: result: type of the attribute
 * @info: result: the attribute
 *
 * union tcp_cc_info has the structures of Vegas, DCTCP and BBR, and neither the kernel nor ss has a
 * way to add another. Only BBR's has enough members. struct tcp_info has only values of the stack
 * itself.
 *
 * Context: any. ss calls get_info() for sockets that a process may be using.
 * Return: bytes of the attribute; 0 if ss does not ask for it.
 */
static inline size_t hop_cc_show(const struct hop_cc_shown *shown, u32 ext, int *attr,
				 union tcp_cc_info *info)
{
	if (!hop_cc_is_asked(ext, INET_DIAG_BBRINFO))
		return 0;
	info->bbr = (struct tcp_bbr_info){
		.bbr_bw_lo = (u32)shown->bytes_ps,
		.bbr_bw_hi = shown->bytes_ps >> 32,
		.bbr_min_rtt = shown->rtt_us,
		.bbr_pacing_gain = shown->gain,
		.bbr_cwnd_gain = shown->state +
				 (shown->guarded ? HOP_CC_GUARDED << HOP_CC_INFO_SHIFT : 0),
	};
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

/**
 * struct hop_cc - a congestion control as a module
 * @ops: its functions, which its users choose
 * @reno: the fallback, whose name includes the name of @ops; NULL: none. setsockopt() must accept
 *	the name that getsockopt() returns, so it is registered, too
 * @asking: Reno until the peer's carrier has answered; NULL: it is not asked. It is not registered,
 *	and has the name of @ops because nothing has fallen back yet: programs such as iperf3 read
 *	the name as soon as they have set it
 * @output: with TCP_CONG_NEEDS_ECN: changes a segment that a socket with @ops or @reno sends, but
 *	no SYN or SYN-ACK; under the RCU read lock, in POST_ROUTING. Return: NF_ACCEPT or
 *	NF_STOLEN. NULL: none
 * @net_id: identifier of its state in a network namespace, which starts with a struct hop_sysctl
 * @knobs: its sysctls, with .data by hop_sysctl_at(), and an empty entry at the end
 * @defaults: default values of the sysctls, which stand behind the struct hop_sysctl
 * @defaults_bytes: their size
 */
struct hop_cc {
	struct tcp_congestion_ops *ops;
	struct tcp_congestion_ops *reno;
	struct tcp_congestion_ops *asking;
	unsigned int (*output)(struct sk_buff *skb, const struct hop_cc *cc,
			       const struct nf_hook_state *state);
	unsigned int *net_id;
	const struct ctl_table *knobs;
	const void *defaults;
	size_t defaults_bytes;
};

int hop_cc_start_net(struct net *net, const struct hop_cc *cc);
int hop_cc_register(const struct hop_cc *cc, struct pernet_operations *nets);
void hop_cc_unregister(const struct hop_cc *cc, struct pernet_operations *nets);

/**
 * hop_cc_wait() - in init(): use Reno, since the carrier has no flow
 * @sk: a TCP socket
 * @cc: the congestion control
 * @peer: the carrier's answer
 *
 * If there is no memory for a flow although the peer takes part, the connection falls back to Reno.
 *
 * Context: socket lock held.
 */
static inline void hop_cc_wait(struct sock *sk, const struct hop_cc *cc, enum hop_peer peer)
{
	sock_owned_by_me(sk);
	hop_stack_set_cc(sk, peer == HOP_PEER_UNKNOWN ? cc->asking : cc->reno);
}

/**
 * hop_cc_waits_for_repair() - in init(): are losses being repaired?
 * @sk: a TCP socket
 * @cc: the congestion control
 *
 * Reno then goes on until the repair ends, as with hop_cc_wait().
 *
 * Context: socket lock held.
 * Return: true if they are.
 */
static inline bool hop_cc_waits_for_repair(struct sock *sk, const struct hop_cc *cc)
{
	const bool repairs = inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR;

	sock_owned_by_me(sk);
	if (repairs)
		hop_cc_wait(sk, cc, HOP_PEER_UNKNOWN);
	return repairs;
}

/**
 * hop_cc_choose() - in pkts_acked() of hop_cc.asking: choose by the carrier's answer
 * @sk: a TCP socket
 * @cc: the congestion control
 * @peer: the carrier's answer
 *
 * Context: socket lock held.
 * Return: true if the peer takes part: call init().
 */
static inline bool hop_cc_choose(struct sock *sk, const struct hop_cc *cc, enum hop_peer peer)
{
	sock_owned_by_me(sk);
	hop_stack_bound_cwnd(sk);
	if (peer != HOP_PEER_UNKNOWN)
		hop_stack_set_cc(sk, peer == HOP_PEER_SUPPORTED ? cc->ops : cc->reno);
	return peer == HOP_PEER_SUPPORTED;
}

/**
 * HOP_CC_ASKING() - define the fallback, and Reno until the peer's carrier has answered
 * @prefix: prefix of the names; prefix##_cc and prefix##_init() are the congestion control's
 * @name_: name of the congestion control
 * @ask: asks the carrier; returns an enum hop_peer
 */
#define HOP_CC_ASKING(prefix, name_, ask)					\
	static void prefix##_pkts_acked(struct sock *sk, const struct ack_sample *sample) \
	{									\
		if (hop_cc_choose(sk, &prefix##_cc, ask(sk)))	\
			prefix##_init(sk);					\
	}									\
	static struct tcp_congestion_ops prefix##_reno __read_mostly =		\
		HOP_CC_RENO(name_ "-reno");					\
	static struct tcp_congestion_ops prefix##_asking __read_mostly =	\
		HOP_CC_RENO(name_, .pkts_acked = prefix##_pkts_acked)

/* Context: any. Return: a hash of the peer's address, which no peer can choose. */
static inline u32 hop_cc_peer_hash(const struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		return __ipv6_addr_jhash(&sk->sk_v6_daddr, net_hash_mix(sock_net(sk)));
	return (__force u32)sk->sk_daddr;
}

/**
 * struct hop_cc_memory - first member of a state that does not fit into a socket's private data
 * @rcu: dumps may be reading it when it is freed
 */
struct hop_cc_memory {
	struct rcu_head rcu;
};

/**
 * hop_cc_allocate() - in init(): get memory for a state that does not fit into private data
 * @sk: a TCP socket whose private data starts with the pointer
 * @bytes: size of a structure that starts with a struct hop_cc_memory
 *
 * Context: socket lock held.
 * Return: the memory, cleared; NULL if there is none, and the connection falls back.
 */
static inline void *hop_cc_allocate(struct sock *sk, size_t bytes)
{
	void **memory = inet_csk_ca(sk);

	sock_owned_by_me(sk);
	WRITE_ONCE(*memory, kzalloc(bytes, GFP_ATOMIC));
	return *memory;
}

/**
 * hop_cc_free() - in release(): undo hop_cc_allocate()
 * @sk: a TCP socket
 *
 * Context: socket lock held.
 */
static inline void hop_cc_free(struct sock *sk)
{
	struct hop_cc_memory **memory = inet_csk_ca(sk), *was = *memory;

	sock_owned_by_me(sk);
	WRITE_ONCE(*memory, NULL);
	if (was)
		kfree_rcu(was, rcu);
}

/**
 * HOP_CC_MODULE() - define a congestion control as a module
 * @prefix: prefix of the names: struct prefix##_net and prefix##_sock are its states in a network
 *	namespace and in a socket, prefix##_ops its functions, prefix##_table its sysctls,
 *	prefix##_defaults their values
 *
 * Other arguments are members of struct hop_cc that it has.
 */
#define HOP_CC_MODULE(prefix, ...)						\
	static const struct hop_cc prefix##_cc = {				\
		.ops		= &prefix##_ops,				\
		.net_id		= &prefix##_net_id,				\
		.knobs		= prefix##_table,				\
		.defaults	= &prefix##_defaults,				\
		.defaults_bytes	= sizeof(prefix##_defaults),			\
		__VA_ARGS__							\
	};									\
	static int __net_init prefix##_net_init(struct net *net)		\
	{									\
		return hop_cc_start_net(net, &prefix##_cc);			\
	}									\
	static void __net_exit prefix##_net_pre_exit(struct net *net)		\
	{									\
		hop_sysctl_stop(net_generic(net, prefix##_net_id));		\
	}									\
	static struct pernet_operations prefix##_net_ops = {			\
		.init		= prefix##_net_init,				\
		.pre_exit	= prefix##_net_pre_exit,			\
		.id		= &prefix##_net_id,				\
		.size		= sizeof(struct prefix##_net),			\
	};									\
	static int __init prefix##_register(void)				\
	{									\
		BUILD_BUG_ON(offsetof(struct prefix##_net, sysctl));		\
		BUILD_BUG_ON(sizeof(struct prefix##_sock) > ICSK_CA_PRIV_SIZE);	\
		return hop_cc_register(&prefix##_cc, &prefix##_net_ops);	\
	}									\
	static void __exit prefix##_unregister(void)				\
	{									\
		hop_cc_unregister(&prefix##_cc, &prefix##_net_ops);		\
	}									\
	module_init(prefix##_register);						\
	module_exit(prefix##_unregister);					\
	MODULE_LICENSE("GPL");							\
	MODULE_VERSION(HOPCC_VERSION)

#endif /* HOPCC_CORE_HOP_CC_H */
