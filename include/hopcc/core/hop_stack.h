/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that writes TCP's private state: one function for each change, with the invariant
 * that it keeps and the function of the kernel that it leans on. selftests/build/stack.t finds
 * writers elsewhere. These are inline functions, since some run for each ACK.
 *
 * Context of all functions: socket lock held.
 */
#ifndef HOPCC_CORE_HOP_STACK_H
#define HOPCC_CORE_HOP_STACK_H

#include <hopcc/lib/hop_pace.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>

/**
 * hop_stack_set_cc() - switch to other functions of the same congestion control
 * @sk: a TCP socket
 * @ops: functions of the module whose functions the socket has now
 *
 * tcp_cleanup_congestion_control() drops a reference to the module of the functions that it finds.
 * Both belong to one module, so the number of references stays right. Dumps read the pointer
 * without the socket lock.
 */
static inline void hop_stack_set_cc(struct sock *sk, const struct tcp_congestion_ops *ops)
{
	sock_owned_by_me(sk);
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, ops);
}

/**
 * hop_stack_set_cwnd() - set the congestion window
 * @sk: a TCP socket
 * @cwnd_pkts: the window that the congestion control computed, packets; any value
 *
 * tcp_snd_cwnd_set() warns of a window of 0, and tcp_cwnd_test() expects one within
 * snd_cwnd_clamp. A window that is set already is not written: other CPUs read its cache line.
 *
 * Return: the window that was set, packets, 1 to HOP_WND_MAX_PKTS.
 */
static inline u32 hop_stack_set_cwnd(struct sock *sk, u32 cwnd_pkts)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	cwnd_pkts = clamp(min(cwnd_pkts, tp->snd_cwnd_clamp), 1U, HOP_WND_MAX_PKTS);
	if (cwnd_pkts != tcp_snd_cwnd(tp))
		tcp_snd_cwnd_set(tp, cwnd_pkts);
	return cwnd_pkts;
}

/**
 * hop_stack_bound_cwnd() - bring the window and its limit into the range of hop_cwnd_pkts()
 * @sk: a TCP socket
 *
 * A user who owns a network namespace chooses both by the route's metrics `cwnd` and `initcwnd`:
 * any 32 bits, 0 included, which tcp_init_metrics() and tcp_init_transfer() take as they are. A
 * congestion control calls this before it reads either: in init(), where sending resumes after idle
 * time, or where it waits for the peer's answer, since the stack may copy the metrics after init(),
 * at the end of the handshake.
 */
static inline void hop_stack_bound_cwnd(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	tp->snd_cwnd_clamp = clamp(tp->snd_cwnd_clamp, 1U, HOP_WND_MAX_PKTS);
	hop_stack_set_cwnd(sk, tcp_snd_cwnd(tp));
}

/**
 * hop_stack_set_ssthresh() - set the slow start threshold
 * @sk: a TCP socket
 * @ssthresh_pkts: packets; TCP_INFINITE_SSTHRESH: slow start, as tcp_init_sock() sets it
 *
 * tcp_cwnd_reduction() lowers the window towards it during a recovery.
 */
static inline void hop_stack_set_ssthresh(struct sock *sk, u32 ssthresh_pkts)
{
	sock_owned_by_me(sk);
	tcp_sk(sk)->snd_ssthresh = ssthresh_pkts;
}

/**
 * hop_stack_set_undo_ssthresh() - let a spurious loss be undone
 * @sk: a TCP socket, in set_state() to TCP_CA_Recovery or TCP_CA_Loss
 * @ssthresh_pkts: the threshold that an undo restores, packets
 *
 * tcp_undo_cwnd_reduction() calls undo_cwnd() only if prior_ssthresh is not 0. It is 0 if a mark
 * has reduced the window before, because tcp_enter_recovery() and tcp_enter_loss() save it only
 * from a state without reduction.
 */
static inline void hop_stack_set_undo_ssthresh(struct sock *sk, u32 ssthresh_pkts)
{
	sock_owned_by_me(sk);
	tcp_sk(sk)->prior_ssthresh = ssthresh_pkts;
}

/**
 * hop_stack_set_reordering() - set the number of later packets that show a loss
 * @sk: a TCP socket that has seen no reordering
 * @pkts: packets, at least 1
 *
 * tcp_check_sack_reordering() raises it and sets reord_seen; after that do not change it.
 */
static inline void hop_stack_set_reordering(struct sock *sk, u32 pkts)
{
	sock_owned_by_me(sk);
	tcp_sk(sk)->reordering = pkts;
}

/**
 * hop_stack_count_repair() - count packets that were delivered in a recovery
 * @sk: a TCP socket in recovery, with a congestion control that has a cong_control()
 * @acked_pkts: packets that the current ACK delivered
 *
 * tcp_init_cwnd_reduction() clears prr_delivered and prr_out, and tcp_write_xmit() and
 * tcp_xmit_retransmit_queue() count prr_out. tcp_cwnd_reduction() alone counts prr_delivered, and
 * the stack does not call it for such a congestion control.
 */
static inline void hop_stack_count_repair(struct sock *sk, u32 acked_pkts)
{
	sock_owned_by_me(sk);
	tcp_sk(sk)->prr_delivered += acked_pkts;
}

/**
 * hop_stack_set_pace() - set the pacing rate
 * @sk: a TCP socket
 * @bytes_ps: the rate that the congestion control computed, payload, bytes/s
 * @limit_bytes_ps: the device's limit; U64_MAX: none
 *
 * tcp_update_skb_after_send() reads it for each packet. It stays within SO_MAX_PACING_RATE, which
 * sk_setsockopt() applies only when it is called.
 *
 * Return: the rate that was set.
 */
static inline u64 hop_stack_set_pace(struct sock *sk, u64 bytes_ps, u64 limit_bytes_ps)
{
	sock_owned_by_me(sk);
	bytes_ps = min3(bytes_ps, limit_bytes_ps, (u64)READ_ONCE(sk->sk_max_pacing_rate));
	if (bytes_ps != sk->sk_pacing_rate)
		WRITE_ONCE(sk->sk_pacing_rate, bytes_ps);
	return bytes_ps;
}

/**
 * hop_stack_start_pacing() - let TCP itself pace, unless a qdisc fq does
 * @sk: a TCP socket
 *
 * sk_pacing_status only leaves SK_PACING_NONE here: fq_enqueue() sets SK_PACING_FQ without the
 * socket lock.
 *
 * Return: true if nothing paced before.
 */
static inline bool hop_stack_start_pacing(struct sock *sk)
{
	sock_owned_by_me(sk);
	return cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED) == SK_PACING_NONE;
}

/**
 * hop_stack_stop_pacing() - undo a hop_stack_start_pacing() that returned true
 * @sk: a TCP socket
 *
 * sk_setsockopt() starts pacing for SO_MAX_PACING_RATE, which needs it with any congestion control.
 */
static inline void hop_stack_stop_pacing(struct sock *sk)
{
	sock_owned_by_me(sk);
	if (READ_ONCE(sk->sk_max_pacing_rate) == ~0UL)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED, SK_PACING_NONE);
}

/**
 * hop_stack_defer() - let the next packet leave later
 * @sk: a TCP socket that paces
 * @wait_ns: the delay from now, ns
 *
 * tcp_pacing_check() starts the pacing timer for tcp_wstamp_ns. The retransmission timer runs
 * meanwhile, and must not expire because of the delay, so this is at most half of the RTO.
 *
 * Return: the delay, ns.
 */
static inline u64 hop_stack_defer(struct sock *sk, u64 wait_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	wait_ns = min_t(u64, wait_ns, jiffies_to_nsecs(inet_csk(sk)->icsk_rto) / 2);
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, tp->tcp_clock_cache + wait_ns);
	return wait_ns;
}

/**
 * hop_stack_hurry() - let the next packet leave earlier
 * @sk: a TCP socket that paces
 * @wait_ns: the longest delay from now, ns; 0: at once, as retransmissions after a timeout
 *
 * Only this packet leaves earlier: tcp_update_skb_after_send() paces those after it as usual.
 */
static inline void hop_stack_hurry(struct sock *sk, u64 wait_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	tp->tcp_wstamp_ns = min(tp->tcp_wstamp_ns, tp->tcp_clock_cache + wait_ns);
}

/**
 * hop_stack_set_burst() - set the maximum size of a GSO packet
 * @sk: a TCP socket
 * @pkts: packets, 1 to U16_MAX
 *
 * tcp_tso_autosize() reads it for each GSO packet. sk_setup_caps() sets the device's again if the
 * route changes.
 */
static inline void hop_stack_set_burst(struct sock *sk, u32 pkts)
{
	sock_owned_by_me(sk);
	if (pkts != sk->sk_gso_max_segs)
		sk->sk_gso_max_segs = pkts;
}

/**
 * hop_stack_restore_bursts() - reset the socket's GSO limits to those of its route
 * @sk: a TCP socket
 *
 * In release(). sk_setup_caps() reads all limits of the device; without a route, connect() will.
 */
static inline void hop_stack_restore_bursts(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_get(sk);

	sock_owned_by_me(sk);
	if (dst)
		sk_setup_caps(sk, dst);
}

/**
 * hop_stack_bound_gso_bytes() - limit the size of GSO packets
 * @sk: a TCP socket
 * @bytes: maximum size
 *
 * tcp_xmit_size_goal() reads it; sk_setup_caps() sets the device's again.
 */
static inline void hop_stack_bound_gso_bytes(struct sock *sk, unsigned int bytes)
{
	sock_owned_by_me(sk);
	sk->sk_gso_max_size = min_t(unsigned int, sk->sk_gso_max_size, bytes);
}

/**
 * hop_stack_stop_gso() - build no GSO packets
 * @sk: a TCP socket
 *
 * sk_gso_disable() is not sufficient, since tcp_tso_autosize() sizes packets by sk_gso_max_segs.
 */
static inline void hop_stack_stop_gso(struct sock *sk)
{
	sock_owned_by_me(sk);
	sk_gso_disable(sk);
	hop_stack_set_burst(sk, 1);
}

/**
 * hop_stack_allow_gso() - undo hop_stack_stop_gso()
 * @sk: a TCP socket without keys of TCP-MD5 or TCP-AO, for which tcp_md5_do_add() disables it, too
 */
static inline void hop_stack_allow_gso(struct sock *sk)
{
	sock_owned_by_me(sk);
	sk->sk_gso_disabled = 0;
	hop_stack_restore_bursts(sk);
}

/**
 * hop_stack_change_header() - reserve room for a header between IP and TCP, or give it back
 * @sk: a TCP socket
 * @bytes: bytes that each packet has more than before, or fewer
 *
 * tcp_mtu_to_mss() subtracts icsk_ext_hdr_len, so tcp_sync_mss() must follow, which
 * icsk_sync_mss() calls. A closed socket has no MSS yet.
 */
static inline void hop_stack_change_header(struct sock *sk, int bytes)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	sock_owned_by_me(sk);
	icsk->icsk_ext_hdr_len += bytes;
	if (sk->sk_state != TCP_CLOSE)
		icsk->icsk_sync_mss(sk, icsk->icsk_pmtu_cookie);
}

/**
 * hop_stack_set_echo() - decide if ACKs carry ECE
 * @sk: a TCP socket that has negotiated ECN as in RFC 3168
 * @ce: true if they do
 *
 * tcp_ecn_send() reads TCP_ECN_DEMAND_CWR. The stack itself sets it for each mark and clears it
 * for CWR (tcp_ecn_accept_cwr()), so a receiver with rules of its own sets it for each packet.
 */
static inline void hop_stack_set_echo(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = tcp_sk(sk);

	sock_owned_by_me(sk);
	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/**
 * hop_stack_forget_ecn() - send no packet as ECT any more, and echo nothing
 * @sk: a TCP socket that has not negotiated ECN as in RFC 3168
 *
 * As tcp_ecn_rcv_synack() does where the peer refuses ECN.
 */
static inline void hop_stack_forget_ecn(struct sock *sk)
{
	sock_owned_by_me(sk);
	tcp_sk(sk)->ecn_flags = 0;
	INET_ECN_dontxmit(sk);
}

/**
 * hop_stack_repeat_syn() - send the SYN again as Not-ECT if it asks for ECN no more
 * @sk: a TCP socket in SYN_SENT whose SYN was not answered in time
 *
 * tcp_ecn_clear_syn() removes ECE and CWR from a SYN that is sent again, in case the path drops
 * them, but not ECT from its IP header. An answer to the first SYN may still accept ECN: then
 * tcp_init_congestion_control() sets ECT again.
 */
static inline void hop_stack_repeat_syn(struct sock *sk)
{
	sock_owned_by_me(sk);
	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn_fallback))
		INET_ECN_dontxmit(sk);
}

/**
 * hop_stack_ack_now() - acknowledge the packet that is being processed at once
 * @sk: a TCP socket
 * @flags: ICSK_ACK_NOW, with ICSK_ACK_SCHED if no ACK is scheduled yet
 *
 * __tcp_ack_snd_check() reads the flags, and tcp_event_ack_sent() clears them.
 */
static inline void hop_stack_ack_now(struct sock *sk, u8 flags)
{
	sock_owned_by_me(sk);
	inet_csk(sk)->icsk_ack.pending |= flags;
}

/**
 * hop_stack_ack_each() - acknowledge each of the next packets at once
 * @sk: a TCP socket
 * @pkts: number of packets, at most U8_MAX
 *
 * tcp_in_quickack_mode() reads it, and tcp_dec_quickack_mode() counts it down.
 */
static inline void hop_stack_ack_each(struct sock *sk, u8 pkts)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	sock_owned_by_me(sk);
	if (icsk->icsk_ack.quick < pkts)
		icsk->icsk_ack.quick = pkts;
}

#endif /* HOPCC_CORE_HOP_STACK_H */
