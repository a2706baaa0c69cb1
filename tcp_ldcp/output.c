// SPDX-License-Identifier: GPL-2.0
/*
 * Sent packets, in a hook in POST_ROUTING. The stack sends all data of a NEEDS_ECN socket
 * as ECT and repeats ECE until it receives CWR. Here, packets of the first window become Not-ECT,
 * and ECE is removed from an ACK that acknowledges more than the packet with the mark.
 *
 * The hook is after source NAT. The code only reads the socket and only writes packets: below a VRF
 * with a qdisc or a bridge with netfilter the hook runs a second time, in a VRF without the socket
 * lock.
 */
#include <hopcc/core/hop_ect.h>
#include <net/ip.h>

#include "tcp_ldcp.h"

static void ldcp_clear_ece(struct sk_buff *skb)
{
	struct tcphdr *th;
	__be16 *flags, old;

	if (skb_ensure_writable(skb, skb_transport_offset(skb) + sizeof(*th)))
		return;
	th = tcp_hdr(skb);
	flags = (__be16 *)th + 6;
	old = *flags;
	th->ece = 0;
	/* A partial checksum covers only the pseudo-header. */
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		inet_proto_csum_replace2(&th->check, skb, old, *flags, false);
}

/* Segment a GSO packet, because all of its segments share one IP header. */
static unsigned int ldcp_cut(struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct sk_buff *segs, *seg, *next;
	struct sock *sk = skb->sk;

	/*
	 * Use the features of TCP's own single packets; a device that lacks them is handled later.
	 */
	segs = skb_gso_segment(skb, NETIF_F_SG | NETIF_F_HW_CSUM);
	if (IS_ERR_OR_NULL(segs))
		return NF_ACCEPT;
	/*
	 * One segment takes over the socket as owner; set it for the others, too, so that they do
	 * not overtake packets that the socket has queued.
	 */
	sock_hold(sk);
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		if (!seg->sk)
			skb_set_owner_w(seg, sk);
		if (next)
			hop_ect_clear(seg);
		hop_hook_pass_cc(seg, state);
	}
	sock_put(sk);
	return NF_STOLEN;
}

/*
 * While the application's call is still copying data, the end of its message is unknown. If the
 * send buffer is full, however, nothing more is sent before an ACK arrives.
 */
static u32 ldcp_left_bytes(const struct sock *sk, u32 seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 write_seq = READ_ONCE(tp->write_seq);
	const u32 full_bytes = max_t(u32, tp->gso_segs, 1) * max_t(u32, tp->mss_cache, 1);

	if (READ_ONCE(sk->sk_wmem_queued) >= READ_ONCE(sk->sk_sndbuf))
		return write_seq - seq;
	if (tp->pushed_seq != write_seq ||
	    ldcp_is_midway(write_seq - READ_ONCE(tp->snd_una), full_bytes, tp->max_window))
		return S32_MAX;
	return write_seq - seq;
}

static unsigned int ldcp_output_first(struct sk_buff *skb, const struct nf_hook_state *state,
				      u32 seq, u32 payload_bytes)
{
	const struct tcp_sock *tp = tcp_sk(skb->sk);
	const u32 segs_pkts = max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	/* 2^20 packets of less than 2^16 bytes */
	const u64 cwnd_bytes = (u64)tcp_snd_cwnd(tp) * tp->mss_cache;
	struct ldcp_flight f = {
		.room_pkts = max_t(s32, tcp_snd_cwnd(tp) - tcp_packets_in_flight(tp), 0),
		.room_bytes = tcp_wnd_end(tp) - seq,
		.left_bytes = tcp_hdr(skb)->fin ? payload_bytes : ldcp_left_bytes(skb->sk, seq),
		.mss_bytes = tp->mss_cache,
		.defer_bytes = ldcp_defer_bytes(min_t(u64, cwnd_bytes, tp->snd_wnd), segs_pkts,
						tp->mss_cache),
	};

	if (ldcp_has_tail(&f, segs_pkts, payload_bytes))
		return skb_is_gso(skb) ? ldcp_cut(skb, state) : NF_ACCEPT;
	hop_ect_clear(skb);
	return NF_ACCEPT;
}

unsigned int ldcp_output(struct sk_buff *skb, const struct hop_cc *cc,
			 const struct nf_hook_state *state)
{
	const struct sock *sk = skb->sk;
	const struct tcphdr *th = tcp_hdr(skb);
	const struct ldcp_sock *ls = inet_csk_ca(sk);
	unsigned int headers_bytes;

	if (hop_peek(inet_csk(sk)->icsk_ca_ops) == cc->reno) {
		/* After the fallback because of timeouts: the path may drop ECT packets. */
		if (compat_ecn_rfc3168(tcp_sk(sk)))
			hop_ect_clear(skb);
		return NF_ACCEPT;
	}
	if (th->ece && !ldcp_echoes(&ls->receiver, ntohl(th->ack_seq))) {
		ldcp_clear_ece(skb);
		th = tcp_hdr(skb);
	}
	headers_bytes = skb_transport_offset(skb) + __tcp_hdrlen(th);
	/* A retransmission is not a first-RTT packet any more. */
	if (skb->len <= headers_bytes || READ_ONCE(ls->v.stage) != LDCP_FIRST_RTT ||
	    ntohl(th->seq) != READ_ONCE(tcp_sk(sk)->snd_nxt))
		return NF_ACCEPT;
	return ldcp_output_first(skb, state, ntohl(th->seq), skb->len - headers_bytes);
}
