// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that arrive: PRE_ROUTING in front of defragmentation and conntrack, so
 * that all that follows sees TCP. What comes later than that, such as a packet
 * that arrived in fragments, meets us as the handler of our protocol number.
 */
#include <net/dsfield.h>
#include <net/hop_hook.h>
#include <net/hop_input.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

#define INT_INPUT_PRIORITY (NF_IP_PRI_CONNTRACK_DEFRAG - 50)

/**
 * struct int_shim - a header that was between IP and TCP
 * @hdr: the header, checked
 * @room: of @hdr
 * @tail: what followed it
 * @bytes: of both
 */
struct int_shim {
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
	};
	struct int_tail tail;
	unsigned int bytes;
};

static void learn_cookie(struct hop_flow *flow, const struct int_shim *shim)
{
	struct int_flow *f = hop_flow_state(flow);

	spin_lock_bh(&f->lock);
	f->peer_cookie = (u64)ntohl(shim->tail.first) << 32 | ntohl(shim->tail.second);
	spin_unlock_bh(&f->lock);
}

static void receive_syn(struct int_net *in, const struct hop_flow_key *key,
			const struct int_shim *shim)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct int_flow *f;
	enum hop_stage stage;

	if (hop_input_opens_flow(key)) {
		if (flow)
			hop_flow_remove(flow);
		if (hop_silent_is(&in->silent, &key->peer)) {
			int_count(in, INT_COUNT_AVOIDED);
			return;
		}
		flow = hop_flow_add(key, true);
	}
	/* Else it is our SYN's twin, a repeated one, or nobody's. */
	if (!flow) {
		int_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	stage = int_flow_event(flow, HOP_EVENT_SYN_IN);
	/* Once: a SYN that is sent again says the same, another one is forged. */
	f = hop_flow_state(flow);
	if ((stage == HOP_STAGE_HEARD || stage == HOP_STAGE_ANSWERED) &&
	    !READ_ONCE(f->peer_cookie))
		learn_cookie(flow, shim);
}

/* It answers the SYN that our socket has sent. */
static bool is_expected(const struct hop_flow_key *key, const struct tcphdr *th)
{
	struct sock *sk = hop_flow_socket(key);
	bool good = false;

	if (!sk)
		return false;
	if (sk_fullsock(sk) && 1 << sk->sk_state & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		/* An answer may come before SND.NXT is moved. */
		good = between(ntohl(th->ack_seq), READ_ONCE(tcp_sk(sk)->snd_una) + 1,
			       READ_ONCE(tcp_sk(sk)->write_seq));
	sock_gen_put(sk);
	return good;
}

static void receive_synack(struct int_net *in, const struct hop_flow_key *key,
			   const struct tcphdr *th, const struct int_shim *shim)
{
	struct hop_flow *flow = hop_flow_find(key);

	if (!flow || !is_expected(key, th)) {
		int_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	int_flow_event(flow, HOP_EVENT_SYNACK_IN);
	learn_cookie(flow, shim);
}

static void receive_data(struct int_net *in, struct sk_buff *skb, const struct hop_flow_key *key,
			 const struct tcphdr *th, const struct int_shim *shim,
			 unsigned int payload_bytes)
{
	struct hop_flow *flow = hop_flow_find(key);
	const struct int_flow *f;
	struct int_arrival arrival = {
		.id = ntohl(shim->tail.first),
		.seq = ntohl(th->seq) + payload_bytes,
		.hdr = &shim->hdr,
	};

	if (!flow) {
		int_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	f = hop_flow_state(flow);
	if (ntohl(shim->tail.second) != (u32)f->cookie) {
		int_count(in, INT_COUNT_IN_BAD_COOKIE);
		return;
	}
	hop_flow_settle(flow);
	int_flow_event(flow, HOP_EVENT_HEADER_IN);
	if (shim->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(key, 0))
		int_count(in, INT_COUNT_ACK_NOW);
	int_arrive(in, skb, flow, &arrival);
}

/* The header is out; @th is TCP's, in full. */
static void receive(struct int_net *in, struct sk_buff *skb, const struct int_shim *shim,
		    const struct tcphdr *th, unsigned int segment_bytes)
{
	const bool hello = shim->hdr.type == INT_TYPE_HELLO;
	struct hop_flow_key key;

	int_count(in, hello ? INT_COUNT_IN_HELLO : INT_COUNT_IN_DATA);
	if (!READ_ONCE(in->on) || th->rst || hello != th->syn)
		return;
	if (hop_input_is_mangled(skb, th)) {
		int_count(in, INT_COUNT_IN_BAD_SUM);
		return;
	}
	hop_flow_key_of_input(&key, &int_flow_kind, skb, th);
	if (!hello) {
		unsigned int hdr_bytes = __tcp_hdrlen(th);

		receive_data(in, skb, &key, th, shim,
			     segment_bytes - min(segment_bytes, hdr_bytes));
		return;
	}
	trace_int_header_in(&key, &shim->hdr, 0, 0);
	if (th->ack)
		receive_synack(in, &key, th, shim);
	else
		receive_syn(in, &key, shim);
}

/* @offset_bytes: from skb->data to what should be a header, with TCP's behind it */
static unsigned int read_shim(struct sk_buff *skb, unsigned int offset_bytes,
			      struct int_shim *shim)
{
	unsigned int room_bytes = skb->len - offset_bytes, hdr_bytes;
	enum int_fault fault;

	if (skb_copy_bits(skb, offset_bytes, shim->room,
			  min_t(unsigned int, room_bytes, sizeof(shim->room))))
		return INT_COUNT_BAD + INT_BAD_TRUNCATED;
	fault = int_check(&shim->hdr, room_bytes);
	if (fault)
		return INT_COUNT_BAD + fault;
	if (shim->hdr.type != INT_TYPE_HELLO && shim->hdr.type != INT_TYPE_DATA)
		return INT_COUNT_BAD + INT_BAD_TYPE;
	if (shim->hdr.next != IPPROTO_TCP)
		return INT_COUNT_BAD_NEXT;
	hdr_bytes = shim->hdr.words * INT_WORD_BYTES;
	shim->bytes = hdr_bytes + INT_TAIL_BYTES;
	if (!pskb_may_pull(skb, offset_bytes + shim->bytes + sizeof(struct tcphdr)))
		return INT_COUNT_BAD + INT_BAD_TRUNCATED;
	memcpy(&shim->tail, skb->data + offset_bytes + hdr_bytes, INT_TAIL_BYTES);
	return INT_COUNTS;
}

/* @before_bytes: of what is in front of the header and goes with it */
static unsigned int strip(struct int_net *in, struct sk_buff *skb,
			  const struct hop_shim_place *place, unsigned int before_bytes,
			  struct int_shim *shim)
{
	unsigned int why = read_shim(skb, place->offset_bytes + before_bytes, shim);

	if (why != INT_COUNTS) {
		int_count(in, why);
		return NF_DROP;
	}
	if (hop_shim_strip(skb, place, before_bytes + shim->bytes, shim->hdr.next)) {
		int_count(in, INT_COUNT_NO_MEMORY);
		return NF_DROP;
	}
	return NF_ACCEPT;
}

/* The user's, which UDP's DSCP took the place of. Writable since hop_shim_strip(). */
static void restore_dscp(struct sk_buff *skb, u8 dscp)
{
	const unsigned int bytes = sizeof(__be32);

	/* IPv4's own checksum keeps the sum over the packet as it was. */
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv4_change_dsfield(ip_hdr(skb), INET_ECN_MASK, dscp << 2);
		return;
	}
	skb_postpull_rcsum(skb, skb->data, bytes);
	ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, dscp << 2);
	skb_postpush_rcsum(skb, skb->data, bytes);
}

/* UDP to our port: is a header of ours behind it? */
static bool is_encap(const struct sk_buff *skb, const struct hop_shim_place *place)
{
	struct udphdr buf;
	const struct udphdr *uh;

	if (place->next != IPPROTO_UDP)
		return false;
	uh = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);
	return uh && uh->dest == htons(int_udp_port);
}

static unsigned int int_input(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct int_net *in = int_net(state->net);
	struct hop_shim_place place;
	struct int_shim shim;
	bool encap;

	if (!hop_shim_find(skb, &place))
		return NF_ACCEPT;
	if (place.next == IPPROTO_TCP)
		return READ_ONCE(in->on) ? int_tcp_input(in, skb, &place, state) : NF_ACCEPT;
	encap = is_encap(skb, &place);
	if ((place.next != int_protocol && !encap) || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	/* In UDP it may be somebody else's, whose port this is. */
	if (strip(in, skb, &place, encap ? sizeof(struct udphdr) : 0, &shim) != NF_ACCEPT)
		return encap ? NF_ACCEPT : NF_DROP;
	if (encap)
		restore_dscp(skb, shim.hdr.flags & INT_FLAGS_VALUE);
	receive(in, skb, &shim, (const struct tcphdr *)(skb->data + place.offset_bytes),
		skb->len - place.offset_bytes);
	return NF_ACCEPT;
}

const struct nf_hook_ops int_input_hooks[2] =
	HOP_HOOKS(int_input, NF_INET_PRE_ROUTING, INT_INPUT_PRIORITY);

/*
 * Behind the hook, skb->data is at our header. TCP reads neither the protocol
 * nor the length that IP's header says: pulling is enough.
 */
static bool receive_late(struct sk_buff *skb)
{
	struct int_net *in = int_net(dev_net(skb->dev));
	struct int_shim shim;
	unsigned int why = read_shim(skb, 0, &shim);

	if (why != INT_COUNTS) {
		int_count(in, why);
		kfree_skb(skb);
		return false;
	}
	if (skb->ip_summed == CHECKSUM_UNNECESSARY)
		skb->ip_summed = CHECKSUM_NONE;
	skb_pull_rcsum(skb, shim.bytes);
	skb_reset_transport_header(skb);
	int_count(in, INT_COUNT_IN_LATE);
	receive(in, skb, &shim, (const struct tcphdr *)skb->data, skb->len);
	return true;
}

/* "Less than 0: hand it to the protocol of that number." */
static int int_late_v4(struct sk_buff *skb)
{
	return receive_late(skb) ? -IPPROTO_TCP : 0;
}

static const struct net_protocol int_protocol_v4 = {
	.handler	= int_late_v4,
	.err_handler	= int_icmp_v4,
	/* TCP checks the policy. */
	.no_policy	= 1,
	.icmp_strict_tag_validation = 1,
};

#if IS_ENABLED(CONFIG_IPV6)
/* "Greater than 0: hand it to the protocol of that number." */
static int int_late_v6(struct sk_buff *skb)
{
	return receive_late(skb) ? IPPROTO_TCP : 0;
}

static const struct inet6_protocol int_protocol_v6 = {
	.handler	= int_late_v6,
	.err_handler	= int_icmp_v6,
	.flags		= INET6_PROTO_NOPOLICY | INET6_PROTO_FINAL,
};
#endif

int int_input_init(void)
{
	if (inet_add_protocol(&int_protocol_v4, int_protocol))
		return -EBUSY;
#if IS_ENABLED(CONFIG_IPV6)
	if (inet6_add_protocol(&int_protocol_v6, int_protocol)) {
		inet_del_protocol(&int_protocol_v4, int_protocol);
		return -EBUSY;
	}
#endif
	return 0;
}

void int_input_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_del_protocol(&int_protocol_v6, int_protocol);
#endif
	inet_del_protocol(&int_protocol_v4, int_protocol);
}
