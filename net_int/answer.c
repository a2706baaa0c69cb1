// SPDX-License-Identifier: GPL-2.0
/*
 * Answers, sections 6.2.2, 6.3.2 and 9.1: the receiver returns telemetry to the sender, in an
 * answer packet or in the next ACK.
 *
 * N, section 6.3.2, is the number of flows that arrive by the same device and have the link to it
 * as their bottleneck. The law is in int_receiver.h.
 *
 * Integrity, section 9.1: SipHash-2-4 over the addresses and ports, the message with a tag of 0,
 * and the header with its records. The key is configured at both ends, for all connections of a
 * netns. NAT makes the tag invalid.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <hopcc/core/hop_input.h>
#include <hopcc/lib/hop_peek.h>
#include <net/ip6_route.h>
#include <net/netns/hash.h>
#include <net/route.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

/* Context: in->starters_lock is held. Return: NULL if no entry is free or memory is short. */
static struct nint_starters *nint_get_starters(struct nint_net *in, u32 device, u64 now_ns)
{
	struct nint_starters **place, **free = NULL;
	unsigned int i;

	lockdep_assert_held(&in->starters_lock);
	for (i = 0; i < INT_STARTERS; i++) {
		place = &in->starters[(device + i) % INT_STARTERS];
		if (*place && (*place)->device == device)
			return *place;
		if (!free && (!*place || nint_starters_is_idle(*place, now_ns)))
			free = place;
	}
	if (!free)
		return NULL;
	if (!*free)
		*free = kzalloc(sizeof(**free), GFP_ATOMIC);
	if (*free)
		nint_starters_init(*free, device, now_ns);
	else
		nint_count(in, INT_COUNT_NO_MEMORY);
	return *free;
}

/*
 * Counts a flow for the device on which it arrives, if its bottleneck is the last hop. Return: N;
 * 0: not known. Without a new answer, N of the last answer. Context: the flow's lock is held.
 */
static u32 nint_count_flows(struct nint_net *in, const struct sk_buff *skb, struct hop_flow *flow,
			    const struct int_hdr *h, bool answer, u64 now_ns)
{
	const struct in6_addr *peer = &flow->key.peer;
	const u32 client = jhash2((const u32 *)peer->s6_addr32, ARRAY_SIZE(peer->s6_addr32),
				  net_hash_mix(in->carrier.net)) % INT_STARTERS_CLIENTS;
	struct int_flow *f = hop_flow_state(flow);
	struct nint_receiver *r = &f->receiver;
	u32 flows = answer ? 0 : r->counted;
	struct nint_starters *s;
	bool clipped = false;

	lockdep_assert_held(&f->lock);
	if (!r->asked || !nint_receiver_is_last_hop(r, h))
		return 0;
	spin_lock(&in->starters_lock);
	s = nint_get_starters(in, skb->dev->ifindex, now_ns);
	if (s) {
		clipped = !nint_starters_join(s, client, r, now_ns);
		if (answer)
			flows = nint_starters_flows(s, client, now_ns);
	}
	spin_unlock(&in->starters_lock);
	if (clipped)
		nint_count(in, INT_COUNT_N_CLIPPED);
	return flows;
}

void nint_starters_free(struct nint_net *in)
{
	unsigned int i;

	for (i = 0; i < INT_STARTERS; i++)
		kfree(in->starters[i]);
}

/**
 * struct nint_signed - input of the hash
 * @from: address of the host that answers; IPv4 is v4-mapped
 * @to: address of the host that receives the answer
 * @from_port: port at @from
 * @to_port: port at @to
 * @ctl: the answer, with a tag of 0
 */
struct nint_signed {
	struct in6_addr from;
	struct in6_addr to;
	__be16 from_port;
	__be16 to_port;
	struct nint_control ctl;
};

bool nint_has_key(const struct nint_net *in)
{
	return rcu_access_pointer(in->key);
}

/*
 * @out: the answer is sent by @key's local end. Context: RCU read lock. Return: the tag; 0 without
 *	a key.
 */
u64 nint_tag(const struct nint_net *in, const struct hop_flow_key *key, bool out,
	     const struct nint_control *ctl)
{
	const struct nint_key *sip = rcu_dereference(in->key);
	const unsigned int bytes = nint_control_bytes(ctl);
	struct nint_signed s = {
		.from = out ? key->local : key->peer,
		.to = out ? key->peer : key->local,
		.from_port = out ? key->local_port : key->peer_port,
		.to_port = out ? key->peer_port : key->local_port,
	};

	lockdep_assert_in_rcu_read_lock();
	if (!sip)
		return 0;
	memcpy(&s.ctl, ctl, bytes);
	s.ctl.msg.tag_hi = 0;
	s.ctl.msg.tag_lo = 0;
	return siphash(&s, offsetof(struct nint_signed, ctl) + bytes, &sip->sip);
}

/*
 * Leaves the summary to the next ACK. Return: false if an earlier summary has waited too long, so
 * that an answer packet is needed. Context: f->lock is held.
 */
static bool nint_request_summary(struct int_flow *f, const struct nint_arrival *arrival, u8 index,
				 u64 now_ns)
{
	lockdep_assert_held(&f->lock);
	if (!f->summary_due)
		f->pending_ns = now_ns;
	if ((u32)now_ns - f->pending_ns > INT_PENDING_MAX_NS) {
		WRITE_ONCE(f->summary_due, false);
		return false;
	}
	nint_opt_write(&f->summary, arrival->id, arrival->hdr, index);
	WRITE_ONCE(f->summary_due, true);
	return true;
}

/* Return: true if an answer packet is needed. */
static bool nint_answer_learn(struct nint_net *in, const struct sk_buff *skb, struct hop_flow *flow,
			      const struct nint_arrival *arrival, struct nint_reply *reply)
{
	const bool by_ack = READ_ONCE(in->reverse) == INT_REVERSE_ACK && !nint_has_key(in);
	struct int_flow *f = hop_flow_state(flow);
	struct nint_receiver *r = &f->receiver;
	u64 now_ns = ktime_get_ns();
	bool answer;
	u32 flows;

	spin_lock_bh(&f->lock);
	answer = nint_vendor_learn(in, f, arrival, now_ns, reply);
	if (!answer)
		answer = nint_receiver_update(r, arrival->hdr, READ_ONCE(in->anonymous), by_ack,
					      now_ns, reply);
	if (reply->kind != INT_ANSWER_RECORDS) {
		flows = nint_count_flows(in, skb, flow, arrival->hdr, answer, now_ns);
		nint_receiver_starters(r, flows);
		reply->flows = r->counted;
	}
	if (by_ack && reply->kind == INT_ANSWER_SUMMARY)
		answer = !nint_request_summary(f, arrival, reply->index, now_ns);
	spin_unlock_bh(&f->lock);
	return answer;
}

/* Writes the header of the answer. */
static void nint_write_header(struct nint_control *ctl, const struct nint_reply *reply,
			      const struct int_hdr *h)
{
	if (reply->kind == INT_ANSWER_RECORDS && !reply->none) {
		memcpy(ctl->room, h, h->words * INT_WORD_BYTES);
		ctl->hdr.next = 0;
		ctl->hdr.type = INT_TYPE_ECHO;
		ctl->hdr.flags = 0;
	} else if (reply->kind == INT_ANSWER_SUMMARY) {
		int_write(&ctl->hdr, 0, INT_TYPE_ECHO, reply->index, 1);
		ctl->hdr.path = h->path;
		ctl->hdr.record[0] = h->record[reply->index];
	} else {
		int_write(&ctl->hdr, 0, INT_TYPE_ECHO, 0, 0);
		ctl->hdr.path = cpu_to_be32(reply->hops << INT_HOPS_SHIFT);
	}
}

static void nint_write_reply(const struct nint_net *in, struct nint_control *ctl,
			     struct hop_flow *flow,
			     const struct nint_arrival *arrival, const struct nint_reply *reply)
{
	const struct int_flow *f = hop_flow_state(flow);
	u64 tag;

	nint_write_header(ctl, reply, arrival->hdr);
	ctl->msg = (struct int_msg) {
		.id = htonl(arrival->id),
		.cookie = cpu_to_be64(READ_ONCE(f->peer_cookie)),
		.seq = htonl(arrival->seq),
		.t_ns = htonl(reply->kind == INT_ANSWER_RATIO ? reply->tau_ns :
			      ((u32)ktime_get_ns() ?: 1)),
		.wnd = htonl(reply->wnd),
		.kind = htons(reply->kind),
		.flows = htons(min_t(u32, reply->flows, U16_MAX)),
	};
	tag = nint_tag(in, &flow->key, true, ctl);
	ctl->msg.tag_hi = htonl(tag >> 32);
	ctl->msg.tag_lo = htonl(tag);
}

/* Return: the socket's route with a reference, or NULL if it has no valid one. */
static struct dst_entry *nint_find_route(const struct hop_flow_key *key, struct sock *sk)
{
	struct dst_entry *dst = sk_dst_get(sk);
	u32 cookie = 0;

	if (!dst)
		return NULL;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&key->peer))
		cookie = inet6_sk(sk)->dst_cookie;
#endif
	if (!dst->obsolete || dst->ops->check(dst, cookie))
		return dst;
	dst_release(dst);
	return NULL;
}

/* The connection's own DSCP, so that answers take the queues of its ACKs; not ECN-capable. */
static u8 nint_answer_dsfield(const struct sock *sk, bool v4)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (!v4)
		return READ_ONCE(inet6_sk(sk)->tclass) & ~INET_ECN_MASK;
#endif
	return READ_ONCE(inet_sk(sk)->tos) & ~INET_ECN_MASK;
}

/* As ip_build_and_send_pkt(), which Linux 7 does not export. */
static void nint_build_v4(struct sk_buff *skb, const struct sock *sk, __be32 from, __be32 to)
{
	const struct dst_entry *dst = skb_dst(skb);
	const int ttl = READ_ONCE(inet_sk(sk)->uc_ttl);
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = nint_answer_dsfield(sk, true),
		.ttl = ttl < 0 ? ip4_dst_hoplimit(dst) : ttl,
		.protocol = IPPROTO_TCP,
		.saddr = from,
		.daddr = to,
	};
	if (ip_dont_fragment(sk, dst))
		iph->frag_off = htons(IP_DF);
	else
		iph->id = (__force __be16)get_random_u16();
}

/* Return: false if there is no route. */
static bool nint_send_v4(struct sk_buff *skb, const struct hop_flow_key *key, struct sock *sk)
{
	const __be32 from = key->local.s6_addr32[3], to = key->peer.s6_addr32[3];
	struct dst_entry *dst = nint_find_route(key, sk);

	if (!dst) {
		struct flowi4 fl4 = {
			.flowi4_oif = sk->sk_bound_dev_if,
			.flowi4_mark = skb->mark,
			.flowi4_proto = IPPROTO_TCP,
			.daddr = to,
			.saddr = from,
			.fl4_dport = key->peer_port,
			.fl4_sport = key->local_port,
		};
		struct rtable *rt = ip_route_output_key(key->net, &fl4);

		if (IS_ERR(rt))
			return false;
		dst = &rt->dst;
	}
	skb_dst_set(skb, dst);
	skb->protocol = htons(ETH_P_IP);
	nint_control_csum(skb, &from, &to);
	nint_build_v4(skb, sk, from, to);
	ip_local_out(key->net, sk, skb);
	return true;
}

static bool nint_send_v6(struct sk_buff *skb, const struct hop_flow_key *key, struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.flowi6_oif = key->scope_ifindex ?: sk->sk_bound_dev_if,
		.flowi6_mark = skb->mark,
		.flowi6_proto = IPPROTO_TCP,
		.daddr = key->peer,
		.saddr = key->local,
		.fl6_dport = key->peer_port,
		.fl6_sport = key->local_port,
	};

	skb_dst_set(skb, nint_find_route(key, sk) ?: ip6_route_output(key->net, NULL, &fl6));
	if (skb_dst(skb)->error)
		return false;
	skb->protocol = htons(ETH_P_IPV6);
	nint_control_csum(skb, &key->local, &key->peer);
	ip6_xmit(sk, skb, &fl6, skb->mark, NULL, nint_answer_dsfield(sk, false), skb->priority);
	return true;
#else
	return false;
#endif
}

/* An ACK up to RCV.NXT, which is read without the socket lock and may be outdated. */
static struct sk_buff *nint_make_segment(const struct hop_flow_key *key, const struct sock *sk,
					 const struct nint_control *ctl)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tcphdr like = {
		.source = key->local_port,
		.dest = key->peer_port,
		.ack_seq = htonl(hop_peek(tp->rcv_nxt)),
		.window = htons(min(hop_peek(tp->rcv_wnd) >> tp->rx_opt.rcv_wscale, 65535U)),
	};

	return nint_control_alloc(&like, hop_peek(tp->snd_una), ctl, 0);
}

/* Return: the counter of answers, or of the reason why none was sent. */
static unsigned int nint_send_by(const struct hop_flow_key *key, struct sock *sk,
				 const struct nint_control *ctl)
{
	const bool v4 = ipv6_addr_v4mapped(&key->peer);
	struct sk_buff *skb;

	skb = nint_make_segment(key, sk, ctl);
	if (!skb)
		return INT_COUNT_NO_MEMORY;
	skb->mark = READ_ONCE(sk->sk_mark);
	skb->priority = READ_ONCE(sk->sk_priority);
	if (v4 ? nint_send_v4(skb, key, sk) : nint_send_v6(skb, key, sk))
		return INT_COUNT_OUT_ANSWER;
	kfree_skb(skb);
	return INT_COUNT_NO_ROUTE;
}

static void nint_answer_send(struct nint_net *in, const struct hop_flow_key *key,
			     const struct nint_control *ctl)
{
	struct sock *sk = hop_flow_socket(key);

	lockdep_assert_in_rcu_read_lock();
	nint_count(in, sk && sk_fullsock(sk) ? nint_send_by(key, sk, ctl) : INT_COUNT_IN_NO_FLOW);
	if (sk)
		sock_gen_put(sk);
}

/* In front of routing, skb->dev is the input device. Context: softirq, RCU read lock. */
void nint_arrive(struct nint_net *in, struct sk_buff *skb, struct hop_flow *flow,
		 const struct nint_arrival *arrival)
{
	struct nint_control ctl;
	struct nint_reply reply;

	lockdep_assert_in_rcu_read_lock();
	trace_int_header_in(&flow->key, arrival->hdr, arrival->id, arrival->seq);
	if (!nint_answer_learn(in, skb, flow, arrival, &reply))
		return;
	nint_write_reply(in, &ctl, flow, arrival, &reply);
	trace_int_answer_out(&flow->key, arrival->id, reply.kind, reply.wnd, reply.flows, 0);
	nint_answer_send(in, &flow->key, &ctl);
}
