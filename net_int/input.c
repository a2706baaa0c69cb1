// SPDX-License-Identifier: GPL-2.0
/*
 * Received packets: the hook is in PRE_ROUTING, in front of defragmentation and conntrack, so that
 * everything behind it sees TCP. A packet that arrived in fragments reaches the handler of our
 * protocol number (protocol.c) instead, and is received again whole.
 *
 * Headers: while net.hopcc.int is on, the header in front of a TCP segment for this host is
 * removed, and TCP answers the segment as if it had arrived without one: a connection that exists
 * is never refused. A segment of no connection is dropped. The header is used only on a connection
 * that negotiated, with the cookie that only the peer knows. All other packets are left unchanged
 * to the stack; see nint_input_header() for what is dropped. The filters behind this hook see TCP;
 * for filters in front of it, see hop_filter_misses_input() and hop_input_show().
 *
 * Control packets: probes and their answers, which are TCP segments with old sequence numbers and a
 * mark in TCP's options. They are removed in front of conntrack and TCP; TCP would answer them with
 * duplicate ACKs. Packets without a valid cookie are left to TCP, because they may be another
 * experiment's.
 */
#include <linux/module.h>
#include <hopcc/core/hop_filter.h>
#include <hopcc/core/hop_negotiate.h>
#include <net/tcp.h>

#include "int_control.h"
#include "net_int.h"
#include "trace.h"

/* A probe has at most 1 kB of metadata of other vendors; a longer packet is no probe. */
#define NINT_PROBE_MAX_BYTES 2048U

/* After a probe with a small window this number of packets is acknowledged immediately. */
#define INT_QUICK_PKTS (2 * INT_SMALL_WINDOW_PKTS)

/**
 * struct nint_shim - a header between IP and TCP
 * @hdr: the header, validated
 * @room: memory for @hdr and its records
 * @tail: words behind the header
 * @bytes: length of @hdr and @tail
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
	struct hop_flow *flow = hop_flow_of_input(&nint_carrier, skb, th);
	const struct int_flow *f = flow ? hop_flow_state(flow) : NULL;

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

	hop_flow_key_of_input(&key, &nint_carrier, skb, th);
	return !hop_flow_tcp_state(&key);
}

/*
 * Removes the header at @place, unless @why, the result of nint_input_check(), has a reason to keep
 * it. A segment of no connection keeps it, too.
 *
 * Return: INT_COUNTS, or the reason why the packet is unchanged, which is counted.
 */
static unsigned int nint_input_strip(struct nint_net *in, struct sk_buff *skb,
				     const struct hop_shim_place *place,
				     const struct nint_shim *shim, unsigned int why)
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
	if (why != INT_COUNTS)
		nint_count(in, why);
	return why;
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
 *
 * A reset with a header is dropped, since TCP sends them without one and answers none; and a
 * segment of no connection of this host. The stack would report to the peer that this host does not
 * support the header.
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
	why = nint_input_strip(in, skb, place, &shim, why);
	if (why == INT_COUNT_NO_MEMORY || why == INT_COUNT_IN_NO_FLOW)
		return NF_DROP;
	if (why != INT_COUNTS)
		return NF_ACCEPT;
	nint_input_receive(in, skb, &shim, place->offset_bytes);
	return hop_input_show(skb);
}

/*
 * Sets @flow if the sender of the message has read our cookie, and returns INT_COUNTS; otherwise
 * returns the counter of the reason.
 */
static unsigned int nint_find_asked_flow(struct sk_buff *skb, const struct tcphdr *th,
					 const struct nint_control *ctl, struct hop_flow **flow)
{
	const struct int_flow *f;

	*flow = hop_flow_of_input(&nint_carrier, skb, th);
	if (!*flow)
		return INT_COUNT_IN_NO_FLOW;
	f = hop_flow_state(*flow);
	return be64_to_cpu(ctl->msg.cookie) == f->cookie ? INT_COUNTS : INT_COUNT_IN_BAD_COOKIE;
}

/* @tcp_at, @carried: as for int_vendor_ops.read() */
static void nint_take_probe(struct nint_net *in, struct sk_buff *skb, unsigned int tcp_at,
			    struct hop_flow *flow, struct nint_control *ctl, const void *carried)
{
	struct int_flow *f = hop_flow_state(flow);
	const int traced = nint_vendor_read(skb, tcp_at, f, carried);
	struct nint_arrival arrival = {
		.id = be32_to_cpu(ctl->msg.id),
		.seq = be32_to_cpu(ctl->msg.seq),
		.hdr = &ctl->hdr,
		.traced = traced > 0,
		.rtt_ns = be32_to_cpu(ctl->msg.tag_hi),
		.wnd_bytes = be32_to_cpu(ctl->msg.wnd),
	};

	if (traced < 0)
		return;
	nint_count(in, INT_COUNT_IN_PROBE);
	hop_flow_settle(flow);
	nint_flow_receive(flow);
	spin_lock_bh(&f->lock);
	nint_receiver_ask(&f->receiver, &ctl->msg, nint_control_terms(ctl));
	spin_unlock_bh(&f->lock);
	if (ctl->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(&flow->key, INT_QUICK_PKTS))
		nint_count(in, INT_COUNT_ACK_NOW);
	nint_arrive(in, skb, flow, &arrival);
}

static void nint_take_answer(struct nint_net *in, struct hop_flow *flow,
			     const struct nint_control *ctl)
{
	u64 tag = (u64)be32_to_cpu(ctl->msg.tag_hi) << 32 | be32_to_cpu(ctl->msg.tag_lo);
	u32 id = be32_to_cpu(ctl->msg.id);
	struct int_answer a;
	unsigned int why;

	nint_count(in, INT_COUNT_IN_ANSWER);
	if (nint_has_key(in) && tag != nint_tag(in, &flow->key, false, ctl)) {
		nint_count(in, INT_COUNT_IN_BAD_TAG);
		return;
	}
	if (!nint_control_answer(ctl, ktime_get_ns(), &a)) {
		nint_count(in, INT_COUNT_BAD + INT_BAD_SLOTS);
		return;
	}
	trace_int_header_in(&flow->key, &ctl->hdr, id, a.seq);
	why = nint_answer_store(flow, id, &a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* Processes a message of the type that its mark indicates. Return: true if it was consumed. */
static bool nint_take_control(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
			      unsigned int offset_bytes, enum int_type type)
{
	struct nint_control ctl;
	struct hop_flow *flow;
	enum int_fault fault;
	unsigned int why;

	fault = nint_control_read(skb, offset_bytes, type, &ctl);
	if (fault) {
		nint_count(in, INT_COUNT_BAD + fault);
		return false;
	}
	why = nint_find_asked_flow(skb, th, &ctl, &flow);
	if (why != INT_COUNTS) {
		nint_count(in, why);
		return false;
	}
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return true;
	}
	if (type == INT_TYPE_PROBE)
		nint_take_probe(in, skb, (const u8 *)th - skb->data, flow, &ctl, NULL);
	else
		nint_take_answer(in, flow, &ctl);
	return true;
}

/* @id: lower bits of the ID that is answered */
static void nint_take_summary(struct nint_net *in, struct hop_flow *flow, u32 id,
			      const struct int_answer *a)
{
	const struct int_flow *f = hop_flow_state(flow);
	unsigned int why = INT_COUNT_IN_BAD_TAG;

	nint_count(in, INT_COUNT_IN_OPTION);
	if (!nint_has_key(in))
		why = nint_answer_store(flow, nint_whole_id(&f->asker, id), a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* @offset_bytes: from skb->data to the TCP header of a packet without data */
static void nint_option_input(struct nint_net *in, struct sk_buff *skb, unsigned int offset_bytes)
{
	const struct tcphdr *th;
	struct hop_flow *flow;
	struct int_answer a;
	u32 id;

	if (skb->len < offset_bytes + sizeof(*th) + INT_OPT_BYTES || !pskb_may_pull(skb, skb->len))
		return;
	th = (const struct tcphdr *)(skb->data + offset_bytes);
	if (!nint_opt_read((const u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th), &id, &a))
		return;
	flow = hop_flow_of_input(&nint_carrier, skb, th);
	if (!flow || !hop_input_is_from_peer(&flow->key, ntohl(th->seq), ntohl(th->ack_seq))) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return;
	}
	a.seq = ntohl(th->ack_seq);
	if (hop_input_is_mangled(skb, th))
		nint_count(in, INT_COUNT_IN_BAD_SUM);
	else
		nint_take_summary(in, flow, id, &a);
}

/* A TCP packet; skb->data is at its network header. Return: NF_ACCEPT, NF_DROP or NF_STOLEN. */
static unsigned int nint_tcp_input(struct nint_net *in, struct sk_buff *skb,
				   const struct hop_shim_place *place,
				   const struct nf_hook_state *state)
{
	const unsigned int tcp_at = place->offset_bytes;
	const struct tcphdr *th;
	unsigned int payload_at;
	enum int_type type;

	if (!pskb_may_pull(skb, tcp_at + sizeof(*th)))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + tcp_at);
	payload_at = tcp_at + __tcp_hdrlen(th);
	if (payload_at < tcp_at + sizeof(*th) || payload_at > skb->len || th->rst)
		return NF_ACCEPT;
	if (th->syn || payload_at == skb->len) {
		hop_negotiate_receive(&nint_carrier, skb, tcp_at, state);
		nint_option_input(in, skb, tcp_at);
		return NF_ACCEPT;
	}
	type = nint_control_type(skb, tcp_at, payload_at);
	if (!type || !hop_input_is_local(skb, state) ||
	    !nint_take_control(in, skb, th, payload_at, type))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

bool nint_vendor_is_control(const struct sk_buff *skb, unsigned int tcp_at,
			    unsigned int payload_at)
{
	const unsigned int type = nint_control_type(skb, tcp_at, payload_at);
	struct nint_control ctl;

	return type && nint_control_read(skb, payload_at, type, &ctl) == INT_OK;
}
EXPORT_SYMBOL_GPL(nint_vendor_is_control);

bool nint_vendor_take(struct sk_buff *skb, unsigned int tcp_at, unsigned int payload_at,
		      const void *carried)
{
	const unsigned int hdr_bytes = __tcp_hdrlen((const struct tcphdr *)(skb->data + tcp_at));
	struct nint_net *in = nint_net(dev_net(skb->dev));
	struct nint_control ctl;
	struct hop_flow *flow;

	lockdep_assert_in_rcu_read_lock();
	if (skb->len > NINT_PROBE_MAX_BYTES ||
	    nint_control_type(skb, tcp_at, tcp_at + hdr_bytes) != INT_TYPE_PROBE)
		return false;
	if (!pskb_may_pull(skb, skb->len)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return false;
	}
	/* An invalid probe is counted when it is back without the headers. */
	if (nint_control_read(skb, payload_at, INT_TYPE_PROBE, &ctl) != INT_OK ||
	    nint_find_asked_flow(skb, (const struct tcphdr *)(skb->data + tcp_at), &ctl,
				 &flow) != INT_COUNTS)
		return false;
	nint_take_probe(in, skb, tcp_at, flow, &ctl, carried);
	consume_skb(skb);
	return true;
}
EXPORT_SYMBOL_GPL(nint_vendor_take);

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

/* Return: false if the packet is unchanged and no protocol handles it. */
bool nint_receive_late(struct sk_buff *skb)
{
	const struct nint_net *in = nint_net(dev_net(skb->dev));

	if (!READ_ONCE(in->on)) {
		nint_count(in, INT_COUNT_IN_OFF);
		return false;
	}
	if (!hop_input_whole(skb, nint_protocol))
		return false;
	nint_count(in, INT_COUNT_IN_LATE);
	return true;
}
