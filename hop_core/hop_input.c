// SPDX-License-Identifier: GPL-2.0
/* Where packets come in; see net/hop_input.h. */

#include <linux/module.h>
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <net/hop_input.h>
#include <net/route.h>
#include <net/tcp.h>

/* A socket that sends ACKs. */
#define HOP_INPUT_RECEIVES (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2)

bool hop_input_is_local(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (state->pf == NFPROTO_IPV4)
		return inet_addr_type_dev_table(state->net, state->in, ip_hdr(skb)->daddr) ==
			RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(state->net, &ipv6_hdr(skb)->daddr, state->in, 0);
#else
	return false;
#endif
}
EXPORT_SYMBOL_GPL(hop_input_is_local);

bool hop_input_is_mangled(struct sk_buff *skb, const struct tcphdr *th)
{
	const bool ipv4 = skb->protocol == htons(ETH_P_IP);

	return nf_checksum(skb, NF_INET_PRE_ROUTING, (const u8 *)th - skb->data, IPPROTO_TCP,
			   ipv4 ? AF_INET : AF_INET6);
}
EXPORT_SYMBOL_GPL(hop_input_is_mangled);

/*
 * The fields change below us while a process sends: snd_nxt grows only when the packet is
 * on its way, so write_seq bounds what may be acknowledged.
 */
static bool is_in_window(const struct sock *sk, const struct tcphdr *th,
			 unsigned int payload_bytes)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const u32 seq = ntohl(th->seq), ack = ntohl(th->ack_seq);
	const u32 una = READ_ONCE(tp->snd_una), next = READ_ONCE(tp->rcv_nxt);

	if (!th->ack || !between(ack, una - READ_ONCE(tp->max_window), READ_ONCE(tp->write_seq)))
		return false;
	if (th->syn)
		return sk->sk_state != TCP_SYN_SENT || after(ack, una);
	return !before(seq + payload_bytes, next - READ_ONCE(tp->window_clamp)) &&
	       !after(seq, READ_ONCE(tp->rcv_wup) + READ_ONCE(tp->rcv_wnd));
}

/* What comes to a request is the end of its handshake. */
static bool ends_handshake(const struct request_sock *req, const struct tcphdr *th)
{
	const struct tcp_request_sock *trsk = tcp_rsk(req);

	return th->ack && ntohl(th->ack_seq) == trsk->snt_isn + 1 &&
	       between(ntohl(th->seq), trsk->rcv_nxt, trsk->rcv_nxt + req->rsk_rcv_wnd);
}

bool hop_input_is_in_window(const struct hop_flow_key *key, const struct tcphdr *th,
			    unsigned int payload_bytes)
{
	struct sock *sk = hop_flow_socket(key);
	bool in = true;

	if (!sk)
		return true;
	if (sk->sk_state == TCP_NEW_SYN_RECV)
		in = ends_handshake(inet_reqsk(sk), th);
	else if (sk_fullsock(sk))
		in = is_in_window(sk, th, payload_bytes);
	sock_gen_put(sk);
	return in;
}
EXPORT_SYMBOL_GPL(hop_input_is_in_window);

bool hop_input_opens_flow(const struct hop_flow_key *key)
{
	struct sock *sk = hop_flow_socket(key);
	bool busy = sk && sk->sk_state != TCP_TIME_WAIT;

	if (sk)
		sock_gen_put(sk);
	return !busy && hop_flow_has_listener(key);
}
EXPORT_SYMBOL_GPL(hop_input_opens_flow);

struct hop_flow *hop_input_adopt(const struct hop_flow_key *key)
{
	struct sock *sk = hop_flow_socket(key);
	struct hop_flow_key own = *key;
	struct hop_flow *flow = NULL;

	if (!sk)
		return NULL;
	/* The socket may be bound to no VRF and take packets of all. */
	own.l3mdev_ifindex = hop_flow_l3mdev(sk);
	if (sk_fullsock(sk) && 1 << sk->sk_state & (HOP_INPUT_RECEIVES | TCPF_CLOSE_WAIT))
		flow = hop_flow_add(&own, false);
	sock_gen_put(sk);
	return flow;
}
EXPORT_SYMBOL_GPL(hop_input_adopt);

/* Below, the socket's lock is held and no process owns it. */
static void set_ack_now(struct sock *sk, void *more)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const unsigned int more_pkts = *(const unsigned int *)more;

	icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	if (!more_pkts)
		return;
	inet_csk_exit_pingpong_mode(sk);
	if (icsk->icsk_ack.quick < more_pkts)
		icsk->icsk_ack.quick = min_t(unsigned int, more_pkts, TCP_MAX_QUICKACKS);
}

/*
 * Safe as TCP's own receive path is, which takes the same lock in the same context a
 * moment later: the fields are written by their owner only. Where the socket is in use
 * by its process the packet goes to the backlog, and the next one tries again. Only a packet
 * that waited for NFQUEUE's say comes in its program's context, with BH on.
 */
bool hop_input_act(const struct hop_flow_key *key, void (*act)(struct sock *sk, void *what),
		   void *what)
{
	struct sock *sk = hop_flow_socket(key);
	bool done = false;

	if (!sk)
		return false;
	if (sk_fullsock(sk) && 1 << sk->sk_state & HOP_INPUT_RECEIVES) {
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
	return hop_input_act(key, set_ack_now, &more_pkts);
}
EXPORT_SYMBOL_GPL(hop_input_ack_now);
