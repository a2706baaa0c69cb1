// SPDX-License-Identifier: GPL-2.0
/* Incoming packets; see hopcc/core/hop_input.h. */

#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/core/hop_output.h>
#include <hopcc/core/hop_stack.h>
#include <hopcc/lib/hop_peek.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/tcp.h>
#include <net/xfrm.h>

bool hop_input_is_local(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	lockdep_assert_in_rcu_read_lock();
	if (state->pf == NFPROTO_IPV4)
		return inet_addr_type_dev_table(state->net, state->in, ip_hdr(skb)->daddr) ==
			RTN_LOCAL;
	return ipv6_chk_addr(state->net, &ipv6_hdr(skb)->daddr, state->in, 0);
}
EXPORT_SYMBOL_GPL(hop_input_is_local);

bool hop_input_is_mangled(struct sk_buff *skb, const struct tcphdr *th)
{
	const bool ipv4 = skb->protocol == htons(ETH_P_IP);

	lockdep_assert_in_rcu_read_lock();
	return nf_checksum(skb, NF_INET_PRE_ROUTING, (const u8 *)th - skb->data, IPPROTO_TCP,
			   ipv4 ? AF_INET : AF_INET6);
}
EXPORT_SYMBOL_GPL(hop_input_is_mangled);

/*
 * The fields may change while a process sends. snd_nxt is updated only after a packet has left,
 * so write_seq is used as the upper bound of a valid acknowledgment number.
 */
static bool hop_input_is_in_window(const struct sock *sk, u32 seq, u32 ack_seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return hop_peek(sk->sk_state) != TCP_SYN_SENT &&
	       between(ack_seq, hop_peek(tp->snd_una) - hop_peek(tp->max_window),
		       hop_peek(tp->write_seq)) &&
	       between(seq, hop_peek(tp->rcv_nxt) - hop_peek(tp->window_clamp),
		       hop_peek(tp->rcv_wup) + hop_peek(tp->rcv_wnd));
}

/* A packet for a connection request must be the ACK that completes the handshake, or data. */
static bool hop_input_ends_handshake(const struct request_sock *req, u32 seq, u32 ack_seq)
{
	const struct tcp_request_sock *trsk = tcp_rsk(req);

	return ack_seq == trsk->snt_isn + 1 &&
	       between(seq, trsk->rcv_nxt, trsk->rcv_nxt + req->rsk_rcv_wnd);
}

/* Return: true for the peer's last packets after this end's data and FIN are acknowledged */
static bool hop_input_is_in_time_wait(const struct sock *sk, u32 seq, u32 ack_seq)
{
	const struct tcp_timewait_sock *tw = tcp_twsk(sk);
	const u32 next = hop_peek(tw->tw_rcv_nxt);

	return ack_seq == tw->tw_snd_nxt &&
	       between(seq, next - tw->tw_rcv_wnd, next + tw->tw_rcv_wnd);
}

bool hop_input_is_from_peer(const struct hop_flow_key *key, u32 seq, u32 ack_seq)
{
	struct sock *sk = hop_flow_socket(key);
	bool good;

	lockdep_assert_in_rcu_read_lock();
	if (!sk)
		return false;
	if (hop_peek(sk->sk_state) == TCP_NEW_SYN_RECV)
		good = hop_input_ends_handshake(inet_reqsk(sk), seq, ack_seq);
	else if (sk_fullsock(sk))
		good = hop_input_is_in_window(sk, seq, ack_seq);
	else
		good = hop_input_is_in_time_wait(sk, seq, ack_seq);
	sock_gen_put(sk);
	return good;
}
EXPORT_SYMBOL_GPL(hop_input_is_from_peer);

bool hop_input_answers_syn(const struct hop_flow_key *key, u32 ack_seq)
{
	struct sock *sk = hop_flow_socket(key);
	bool good = false;

	lockdep_assert_in_rcu_read_lock();
	if (!sk)
		return false;
	if (sk_fullsock(sk) && 1 << hop_peek(sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		/* An answer may arrive before SND.NXT is advanced. */
		good = between(ack_seq, hop_peek(tcp_sk(sk)->snd_una) + 1,
			       hop_peek(tcp_sk(sk)->write_seq));
	sock_gen_put(sk);
	return good;
}

/* Context: the socket's lock is held and no process owns it. */
static void hop_input_set_ack_now(struct sock *sk, void *more)
{
	const unsigned int more_pkts = *(const unsigned int *)more;

	sock_owned_by_me(sk);
	hop_stack_ack_now(sk, ICSK_ACK_NOW);
	if (!more_pkts)
		return;
	inet_csk_exit_pingpong_mode(sk);
	hop_stack_ack_each(sk, min_t(unsigned int, more_pkts, TCP_MAX_QUICKACKS));
}

/*
 * This is as safe as TCP's own receive path, which takes the same lock in the same context a
 * moment later. If a process owns the socket, TCP puts the packet in the backlog, and we try
 * again with the next packet. BH is enabled only for a packet that waited for a verdict of NFQUEUE:
 * it arrives in the context of the NFQUEUE program.
 */
bool hop_input_act(const struct hop_flow_key *key, void (*act)(struct sock *sk, void *what),
		   void *what)
{
	struct sock *sk = hop_flow_socket(key);
	bool done = false;

	lockdep_assert_in_rcu_read_lock();
	if (!sk)
		return false;
	if (sk_fullsock(sk) && 1 << hop_peek(sk->sk_state) & HOP_INPUT_RECEIVES) {
		local_bh_disable();
		bh_lock_sock_nested(sk);
		done = !sock_owned_by_user(sk);
		if (done)
			act(sk, what);
		bh_unlock_sock(sk);
		local_bh_enable();
	}
	sock_gen_put(sk);
	return done;
}
EXPORT_SYMBOL_GPL(hop_input_act);

bool hop_input_ack_now(const struct hop_flow_key *key, unsigned int more_pkts)
{
	lockdep_assert_in_rcu_read_lock();
	return hop_input_act(key, hop_input_set_ack_now, &more_pkts);
}
EXPORT_SYMBOL_GPL(hop_input_ack_now);

static void hop_input_send_ack(struct sock *sk, void *unused)
{
	compat_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

void hop_input_answer_now(const struct hop_flow_key *key)
{
	lockdep_assert_in_rcu_read_lock();
	hop_input_act(key, hop_input_send_ack, NULL);
}
EXPORT_SYMBOL_GPL(hop_input_answer_now);

/*
 * Receive a packet as a new one: it passes packet sockets, tc's and nftables' filters on ingress,
 * conntrack and the firewall. A generic XDP program does not run again: it sees a packet once, as it
 * arrived, like a program in a driver.
 */
static void hop_input_again(struct sk_buff *skb)
{
	lockdep_assert_in_rcu_read_lock();
	/* If conntrack has made an entry, it is one for our header's protocol. */
	nf_reset_ct(skb);
	/* The skb has a route on loopback and after reassembly; the packet may be queued. */
	skb_dst_force(skb);
	skb_set_redirected(skb, false);
	/* A packet that waited for NFQUEUE arrives in process context, with BH enabled. */
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
}

unsigned int hop_input_show(struct sk_buff *skb)
{
	lockdep_assert_in_rcu_read_lock();
	if (!hop_filter_may_look_again(skb))
		return NF_ACCEPT;
	hop_input_again(skb);
	return NF_STOLEN;
}
EXPORT_SYMBOL_GPL(hop_input_show);

void hop_input_refuse(struct sk_buff *skb)
{
	const bool ipv4 = skb->protocol == htons(ETH_P_IP);
	const bool passes = xfrm_policy_check(NULL, XFRM_POLICY_IN, skb,
					      ipv4 ? AF_INET : AF_INET6);

	lockdep_assert_in_rcu_read_lock();
	if (passes && ipv4) {
		__IP_INC_STATS(dev_net(skb->dev), IPSTATS_MIB_INUNKNOWNPROTOS);
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, 0);
	} else if (passes) {
		__IP6_INC_STATS(dev_net(skb->dev), __in6_dev_get_safely(skb->dev),
				IPSTATS_MIB_INUNKNOWNPROTOS);
		icmpv6_send(skb, ICMPV6_PARAMPROB, ICMPV6_UNK_NEXTHDR, IP6CB(skb)->nhoff);
	}
	kfree_skb_reason(skb, SKB_DROP_REASON_IP_NOPROTO);
}
EXPORT_SYMBOL_GPL(hop_input_refuse);

static bool hop_input_was_fragmented(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return IPCB(skb)->frag_max_size;
	return IP6CB(skb)->flags & IP6SKB_FRAGMENTED;
}

bool hop_input_whole(struct sk_buff *skb, u8 protocol)
{
	const int ip_bytes = -skb_network_offset(skb);
	struct hop_shim_place place;

	lockdep_assert_in_rcu_read_lock();
	if (!hop_input_was_fragmented(skb))
		return false;
	__skb_push(skb, ip_bytes);
	if (hop_shim_find(skb, &place) && place.next == protocol) {
		hop_input_again(skb);
		return true;
	}
	__skb_pull(skb, ip_bytes);
	return false;
}
EXPORT_SYMBOL_GPL(hop_input_whole);
