/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers of the congestion controls: they read a socket's state, or change it by hop_stack.h. */
#ifndef HOPCC_CORE_HOP_SOCK_H
#define HOPCC_CORE_HOP_SOCK_H

#include <net/dst.h>
#include <hopcc/lib/hop_pace.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/core/hop_stack.h>
#include <net/tcp.h>

/**
 * hop_cwnd_pkts() - get the congestion window, in the range that our arithmetic supports
 * @tp: a TCP socket
 *
 * Context: any.
 * Return: packets, 1 to HOP_WND_MAX_PKTS.
 */
static inline u32 hop_cwnd_pkts(const struct tcp_sock *tp)
{
	return clamp(tcp_snd_cwnd(tp), 1U, HOP_WND_MAX_PKTS);
}

/**
 * hop_sock_speed() - get the rate of the device that a socket's packets leave by
 * @sk: a TCP socket
 *
 * Context: socket lock held.
 * Return: the rate, like hop_speed_of(); all 0 if the socket has no route.
 */
static inline struct hop_speed hop_sock_speed(const struct sock *sk)
{
	struct hop_speed speed = {};
	const struct dst_entry *dst;

	sock_owned_by_me(sk);
	rcu_read_lock();
	dst = rcu_dereference_check(sk->sk_dst_cache, lockdep_sock_is_held(sk));
	if (dst)
		speed = hop_speed_of(dst->dev);
	rcu_read_unlock();
	return speed;
}

/**
 * hop_round_ended() - has a round trip ended?
 * @sk: a TCP socket
 * @rs: the rate sample of the ACK that is being processed
 * @end_pkts: tp->delivered at the start of the round; updated when the round ends
 *
 * Context: socket lock held, in cong_control().
 * Return: true if the ACK is for a packet that was sent in this round.
 */
static inline bool hop_round_ended(const struct sock *sk, const struct rate_sample *rs,
				   u32 *end_pkts)
{
	sock_owned_by_me(sk);
	if (rs->delivered <= 0 || before(rs->prior_delivered, *end_pkts))
		return false;
	*end_pkts = tcp_sk(sk)->delivered;
	return true;
}

/**
 * hop_limit_bytes_ps() - get the rate that a device cannot exceed
 * @speed: the device's rate
 *
 * Return: bytes/s; U64_MAX if no limit is known.
 */
static inline u64 hop_limit_bytes_ps(struct hop_speed speed)
{
	return speed.limits ? hop_speed_bytes_ps(speed) : U64_MAX;
}

/**
 * hop_wire_bytes() - get the size of a full packet on the wire
 * @sk: a TCP socket
 *
 * Context: socket lock held.
 * Return: bytes, with Ethernet's header, preamble, FCS and gap.
 */
static inline u32 hop_wire_bytes(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	sock_owned_by_me(sk);
	return max_t(u32, tcp_sk(sk)->mss_cache, 1) + tcp_sk(sk)->tcp_header_len +
	       icsk->icsk_ext_hdr_len + icsk->icsk_af_ops->net_header_len + HOP_FRAME_BYTES;
}

/**
 * hop_packet_rtt_us() - get the RTT of the packet that was acknowledged last
 * @tp: a TCP socket
 *
 * A smoothed RTT reflects an old queue for many packets, and packets are rare if the window is
 * below one flight. RACK also measures the RTT of retransmitted packets; for these, the stack's
 * other samples have a resolution of milliseconds.
 *
 * Context: socket lock held.
 * Return: microseconds; 0 if no RTT is known.
 */
static inline u32 hop_packet_rtt_us(const struct tcp_sock *tp)
{
	sock_owned_by_me((const struct sock *)tp);
	return tp->rack.rtt_us ?: tp->srtt_us >> 3;
}

/* A silence after which a count of microseconds in 32 bits is not read any more, seconds */
#define HOP_IDLE_MAX_S 1800

/**
 * hop_idle_us() - get the time since an event, where data follows silence
 * @tp: a TCP socket without data in flight
 * @since_us: tp->tcp_mstamp of the last ACK, or a time shortly before or behind it
 *
 * The 32 bits of @since_us would wrap after 71 minutes, and a long silence look like a short one.
 * The stack counts the time since the last packet in jiffies, for weeks.
 *
 * Context: socket lock held.
 * Return: microseconds, negative if @since_us is yet to come; S32_MAX after HOP_IDLE_MAX_S.
 */
static inline s32 hop_idle_us(const struct tcp_sock *tp, u32 since_us)
{
	sock_owned_by_me((const struct sock *)tp);
	if (tcp_jiffies32 - tp->lsndtime > HOP_IDLE_MAX_S * HZ)
		return S32_MAX;
	return (u32)tp->tcp_mstamp - since_us;
}

/**
 * hop_hold() - delay the next flight if the window is below one flight
 * @sk: a TCP socket that paces
 * @wnd: packets << HOP_WND_SHIFT
 * @flight_pkts: least number of packets that leave together: 1, or 2 for a receiver that
 *	acknowledges only every second packet without delay
 * @wnd_rtt_us: the RTT that @wnd refers to, microseconds
 *
 * The next flight leaves @wnd_rtt_us @flight_pkts / @wnd after the packet that the ACK
 * acknowledges.
 *
 * Call this function only for an ACK that reports the arrival of a packet, or for a loss. Other
 * ACKs, such as those on data in the other direction, would postpone the next packet each time.
 *
 * Context: socket lock held, in cong_control().
 * Return: the delay from now, ns; 0 if the next flight may leave at once.
 */
static inline u64 hop_hold(struct sock *sk, u64 wnd, u32 flight_pkts, u32 wnd_rtt_us)
{
	u64 gap_ns = hop_gap_ns(wnd, flight_pkts, wnd_rtt_us);
	u64 gone_ns = (u64)hop_packet_rtt_us(tcp_sk(sk)) * NSEC_PER_USEC;

	sock_owned_by_me(sk);
	return gap_ns > gone_ns ? hop_stack_defer(sk, gap_ns - gone_ns) : 0;
}

/**
 * hop_space() - let a second packet leave only if the first one's ACK is late
 * @sk: a TCP socket that paces
 * @held: a single packet is in flight, and the window has room for a second one only because the
 *	receiver may delay the ACK of the first
 * @bytes_ps: the pacing rate, payload, bytes/s
 *
 * The second packet leaves a packet's time and an RTT from now. If the ACK arrives before, the next
 * packet leaves at the pace. Call this function when @held changes.
 *
 * Context: socket lock held, in cong_control().
 */
static inline void hop_space(struct sock *sk, bool held, u64 bytes_ps)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u64 rtt_ns = (u64)hop_packet_rtt_us(tp) * NSEC_PER_USEC;
	const u64 packet_ns = div64_u64((u64)tp->mss_cache * NSEC_PER_SEC, max(bytes_ps, 1ULL));
	const u64 left_ns = packet_ns > rtt_ns ? packet_ns - rtt_ns : 0;

	sock_owned_by_me(sk);
	if (held)
		hop_stack_defer(sk, packet_ns + rtt_ns);
	else
		hop_stack_hurry(sk, left_ns);
}

/**
 * hop_is_too_big() - are packets retransmitted only because they no longer fit the path's MTU?
 * @sk: a TCP socket
 * @new_state: new state of congestion avoidance, TCP_CA_*
 *
 * tcp_simple_retransmit() retransmits packets that a router refused, and lost MTU probes. No
 * packet was lost by congestion, but the stack enters TCP_CA_Loss, as after a timeout. undo_marker
 * is 0 then. It is also 0 at a timeout if a mark has reduced the window before, since
 * tcp_enter_cwr() clears it. But the stack's timer is not pending while the stack handles a
 * timeout, and is always pending otherwise while data is in flight. tcp_simple_retransmit() calls
 * set_state() only on entry to TCP_CA_Loss.
 *
 * Context: socket lock held, in set_state(): icsk_ca_state is still the old state.
 * Return: true if no packet was lost.
 */
static inline bool hop_is_too_big(const struct sock *sk, u8 new_state)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	sock_owned_by_me(sk);
	return new_state == TCP_CA_Loss && icsk->icsk_ca_state != TCP_CA_Loss &&
	       !tcp_sk(sk)->undo_marker && icsk->icsk_pending;
}

/* In recovery one packet may be sent for every 4 delivered ones, even if the window is full. */
#define HOP_REPAIR_DELIVERED_PKTS 4

/**
 * hop_repair_least_pkts() - get the lower bound of the window during loss recovery
 * @tp: a TCP socket, in recovery; hop_stack_count_repair() was called for this ACK
 *
 * The first retransmission must not wait for room in the window: the packets in flight may be lost
 * as well, and only the ACK of a retransmission shows that. Later, marks may reduce the window
 * below the packets in flight. If nothing is sent then, a lost retransmission or a lost last packet
 * is detected only by the timeout, because only the ACK of a later packet shows the loss. So one
 * packet may be sent for each HOP_REPAIR_DELIVERED_PKTS that are delivered, and one if only
 * retransmissions are in flight.
 *
 * Context: socket lock held.
 * Return: packets, at least 1.
 */
static inline u32 hop_repair_least_pkts(const struct tcp_sock *tp)
{
	const u32 flight_pkts = tcp_packets_in_flight(tp);
	const bool is_due = tp->prr_delivered >= HOP_REPAIR_DELIVERED_PKTS * tp->prr_out;

	sock_owned_by_me((const struct sock *)tp);
	return !tp->retrans_out || flight_pkts <= tp->retrans_out || is_due ? flight_pkts + 1 : 1;
}

#endif /* HOPCC_CORE_HOP_SOCK_H */
