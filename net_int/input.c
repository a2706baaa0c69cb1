// SPDX-License-Identifier: GPL-2.0
/*
 * Received packets: the hook is in PRE_ROUTING, in front of defragmentation and conntrack, so that
 * everything behind it sees TCP. A packet that arrived in fragments is processed by the handler of
 * our protocol number, and is then received again without its header.
 *
 * While net.hopcc.int is on, the header in front of a TCP segment for this host is removed, and TCP
 * answers the segment as if it had arrived without one: a connection that exists is never refused. A
 * segment of no connection is dropped.
 * The header is used only on a connection that negotiated, with the cookie that only the peer
 * knows. All other packets are left unchanged to the stack; see
 * nint_is_dropped() for what is dropped. The filters behind this hook see TCP; for filters in front
 * of it, see hop_filter_misses_input() and hop_input_show().
 *
 * An ICMP error may quote a packet with our header in front of TCP. After an error about the header
 * itself probes collect on the connection; all others are passed to TCP.
 */
#include <hopcc/core/hop_filter.h>
#include <hopcc/lib/hop_peek.h>
#include <net/tcp.h>

#include "net_int.h"
#include "trace.h"

/**
 * struct nint_shim - a header between IP and TCP
 * @hdr: the header, validated
 * @room: memory for @hdr and its records
 * @tail: words behind the header
 * @bytes: length of both
 * @flow: flow of the connection; NULL if the header is not used
 * @unused: counter of the reason why the header is not used; INT_COUNTS if it is used
 */
struct nint_shim {
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
	};
	struct int_tail tail;
	unsigned int bytes;
	struct hop_flow *flow;
	unsigned int unused;
};

/* The header has been removed; @offset_bytes: from skb->data to the TCP header, which is linear. */
static void nint_input_receive(struct nint_net *in, struct sk_buff *skb,
			       const struct nint_shim *shim, unsigned int offset_bytes)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + offset_bytes);
	const unsigned int segment_bytes = skb->len - offset_bytes;
	struct nint_arrival arrival = {
		.id = ntohl(shim->tail.first),
		.seq = ntohl(th->seq) + segment_bytes - min(segment_bytes, __tcp_hdrlen(th)),
		.hdr = &shim->hdr,
	};

	nint_count_add(in, INT_COUNT_IN_DATA, hop_input_segs_pkts(skb));
	if (shim->unused != INT_COUNTS) {
		nint_count(in, shim->unused);
		return;
	}
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return;
	}
	hop_flow_settle(shim->flow);
	nint_flow_receive(shim->flow);
	if (shim->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(&shim->flow->key, 0))
		nint_count(in, INT_COUNT_ACK_NOW);
	nint_arrive(in, skb, shim->flow, &arrival);
}

/*
 * @offset_bytes: from skb->data to the supposed header, with TCP behind it. Return: the counter of
 *	the reason why it is invalid; INT_COUNTS if it is valid.
 */
static unsigned int nint_read_shim(struct sk_buff *skb, unsigned int offset_bytes,
				   struct nint_shim *shim)
{
	unsigned int room_bytes = skb->len - offset_bytes, hdr_bytes;
	enum int_fault fault;

	if (skb_copy_bits(skb, offset_bytes, shim->room,
			  min_t(unsigned int, room_bytes, sizeof(shim->room))))
		return INT_COUNT_BAD + INT_BAD_TRUNCATED;
	fault = int_check(&shim->hdr, room_bytes);
	if (fault)
		return INT_COUNT_BAD + fault;
	if (shim->hdr.type != INT_TYPE_DATA)
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

/* Finds the flow that data belongs to, or the reason why its header is not used. */
static void nint_find_data_flow(const struct sk_buff *skb, const struct tcphdr *th,
				struct nint_shim *shim)
{
	const struct int_flow *f;
	struct hop_flow_key key;
	struct hop_flow *flow;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	f = flow ? hop_flow_state(flow) : NULL;
	if (f && ntohl(shim->tail.second) == (u32)f->cookie)
		shim->flow = flow;
	else
		shim->unused = f ? INT_COUNT_IN_BAD_COOKIE : INT_COUNT_IN_NO_FLOW;
}

/*
 * Return: the counter of the reason why what is at @place must stay; INT_COUNTS if it is a header
 * that may be removed: then @shim->flow or @shim->unused is set.
 */
static unsigned int nint_input_check(const struct nint_net *in, struct sk_buff *skb,
				     const struct hop_shim_place *place, struct nint_shim *shim)
{
	const struct tcphdr *th;
	unsigned int why;

	shim->flow = NULL;
	shim->unused = INT_COUNTS;
	why = nint_read_shim(skb, place->offset_bytes, shim);
	if (why != INT_COUNTS)
		return why;
	th = (const struct tcphdr *)(skb->data + place->offset_bytes + shim->bytes);
	if (th->rst)
		return INT_COUNT_IN_NO_FLOW;
	if (th->syn)
		return INT_COUNT_BAD + INT_BAD_TYPE;
	nint_find_data_flow(skb, th, shim);
	if (READ_ONCE(in->on) != HOP_FILTER_TRUST && hop_filter_misses_input(skb))
		return INT_COUNT_IN_HIDDEN;
	return INT_COUNTS;
}

/*
 * Return: true if a segment belongs to no connection of this host. Our protocol has no ports, and a
 * balancer that hashes them may have sent the segment of a connection that exists at another host,
 * which a reset would end.
 */
static bool nint_is_strange(const struct sk_buff *skb, const struct tcphdr *th)
{
	struct hop_flow_key key;
	struct sock *sk;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	sk = hop_flow_socket(&key);
	if (sk)
		sock_gen_put(sk);
	return !sk;
}

/*
 * Removes the header at @place and processes it, unless @why, the result of nint_input_check(), has
 * a reason to keep it. Return: INT_COUNTS, or the reason why the packet is unchanged, which is
 * counted.
 */
static unsigned int nint_input_unwrap(struct nint_net *in, struct sk_buff *skb,
				      const struct hop_shim_place *place,
				      const struct nint_shim *shim,
				      unsigned int why)
{
	int err;

	if (why == INT_COUNTS && shim->unused == INT_COUNT_IN_NO_FLOW &&
	    nint_is_strange(skb, (const struct tcphdr *)(skb->data + place->offset_bytes +
							 shim->bytes)))
		why = INT_COUNT_IN_NO_FLOW;
	if (why == INT_COUNTS) {
		err = hop_shim_strip(skb, place, shim->bytes, IPPROTO_TCP);
		if (err)
			why = err == -ENOMEM ? INT_COUNT_NO_MEMORY :
					       INT_COUNT_BAD + INT_BAD_LENGTH;
	}
	if (why != INT_COUNTS) {
		nint_count(in, why);
		return why;
	}
	nint_input_receive(in, skb, shim, place->offset_bytes);
	return INT_COUNTS;
}

/*
 * @why: the result of nint_input_unwrap(). Return: true if the packet must be dropped: the stack
 * would report to the peer that this host does not support the header.
 *
 * A reset with a header is dropped, since TCP sends them without one and answers none; and a segment
 * of no connection of this host.
 */
static bool nint_is_dropped(unsigned int why)
{
	return why == INT_COUNT_NO_MEMORY || why == INT_COUNT_IN_NO_FLOW;
}

/* A packet with our protocol for another host. An invalid header does not say where TCP is. */
static void nint_input_forward(struct sk_buff *skb, const struct hop_shim_place *place)
{
	struct nint_shim shim;

	if (skb_is_gso(skb) &&
	    nint_read_shim(skb, place->offset_bytes, &shim) == INT_COUNTS)
		hop_shim_forward(skb, place, shim.bytes);
}

/*
 * Input of a packet with our header. If its flow exists, it is for this host: no route is needed.
 */
static unsigned int nint_input_header(struct nint_net *in, struct sk_buff *skb,
				      const struct hop_shim_place *place,
				      const struct nf_hook_state *state)
{
	struct nint_shim shim;
	unsigned int why = nint_input_check(in, skb, place, &shim);

	if (!shim.flow && !hop_input_is_local(skb, state)) {
		nint_input_forward(skb, place);
		return NF_ACCEPT;
	}
	why = nint_input_unwrap(in, skb, place, &shim, why);
	if (why == INT_COUNTS)
		return hop_input_show(skb);
	return nint_is_dropped(why) ? NF_DROP : NF_ACCEPT;
}

unsigned int nint_input(struct sk_buff *skb, const struct hop_shim_place *place,
			const struct nf_hook_state *state)
{
	struct nint_net *in = nint_net(state->net);
	const bool on = READ_ONCE(in->on);

	if (on && place->next == IPPROTO_TCP)
		return nint_tcp_input(in, skb, place, state);
	if (place->next != nint_protocol)
		return NF_ACCEPT;
	if (on)
		return nint_input_header(in, skb, place, state);
	if (!hop_input_is_local(skb, state))
		nint_input_forward(skb, place);
	return NF_ACCEPT;
}

/*
 * Called behind the hook; skb->data is at our header. The hook has already seen the packet and left it, unless it arrived
 * in fragments.
 *
 * Return: false if the packet is unchanged and no protocol handles it.
 */
bool nint_receive_late(struct sk_buff *skb)
{
	struct nint_net *in = nint_net(dev_net(skb->dev));
	struct hop_shim_place place = {
		.offset_bytes = -skb_network_offset(skb),
		.name_bytes = skb->protocol == htons(ETH_P_IP) ? offsetof(struct iphdr, protocol) :
								 IP6CB(skb)->nhoff,
		.next = nint_protocol,
	};
	struct nint_shim shim;
	unsigned int why;

	if (!READ_ONCE(in->on)) {
		nint_count(in, INT_COUNT_IN_OFF);
		return false;
	}
	if (!hop_input_was_fragmented(skb))
		return false;
	__skb_push(skb, place.offset_bytes);
	why = nint_input_unwrap(in, skb, &place, &shim, nint_input_check(in, skb, &place, &shim));
	if (why == INT_COUNTS) {
		nint_count(in, INT_COUNT_IN_LATE);
		hop_input_again(skb);
		return true;
	}
	if (nint_is_dropped(why)) {
		kfree_skb(skb);
		return true;
	}
	__skb_pull(skb, place.offset_bytes);
	return false;
}

/*
 * Return: the length of our quoted header in front of TCP; 0 if there is none or the error has been
 * handled. @offset_bytes: offset of the header from skb->data, where the quoted packet starts.
 */
unsigned int nint_read_quoted(struct sk_buff *skb, unsigned int offset_bytes,
			      enum hop_icmp_decision decision, u8 *next)
{
	struct nint_net *in = nint_net(dev_net(skb->dev));
	unsigned int bytes = nint_pull_header(skb, offset_bytes);
	const struct tcphdr *th;
	struct hop_flow_key key;

	if (!bytes) {
		nint_count(in, INT_COUNT_ICMP_SHORT);
		return 0;
	}
	th = (const struct tcphdr *)(skb->data + offset_bytes + bytes);
	hop_flow_key_of_output(&key, &nint_flow_kind, skb, th);
	if (decision != HOP_ICMP_NEXT && hop_icmp_ends(&key, th, decision))
		return 0;
	nint_count(in, INT_COUNT_ICMP);
	*next = IPPROTO_TCP;
	return bytes;
}
