// SPDX-License-Identifier: GPL-2.0
/*
 * Control packets: probes and their answers, which are TCP segments with old sequence numbers and
 * their own DSCP. They are removed in front of conntrack and TCP; TCP would answer them with
 * duplicate ACKs. Packets without a valid cookie are left to TCP, because they may be a user's
 * data.
 */
#include <linux/netfilter.h>
#include <net/dsfield.h>
#include <hopcc/core/hop_input.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "control.h"
#include "net_int.h"
#include "trace.h"

/* After a probe with a small window this number of packets is acknowledged immediately. */
#define INT_QUICK_PKTS (2 * INT_SMALL_WINDOW_PKTS)

static bool has_magic(const struct sk_buff *skb, unsigned int offset_bytes)
{
	__be32 buf;
	const __be32 *magic = skb_header_pointer(skb, offset_bytes, sizeof(buf), &buf);

	return magic && *magic == htonl(INT_MSG_MAGIC);
}

/*
 * @offset_bytes: from skb->data to the magic of the message
 */
static enum int_fault read_control(const struct sk_buff *skb, unsigned int offset_bytes,
				   struct nint_control *ctl)
{
	unsigned int room_bytes = skb->len - offset_bytes, hdr_bytes;
	enum int_fault fault;

	if (room_bytes < INT_MSG_BYTES + INT_HDR_BYTES)
		return INT_BAD_TRUNCATED;
	room_bytes -= INT_MSG_BYTES;
	skb_copy_bits(skb, offset_bytes, &ctl->msg, INT_MSG_BYTES);
	offset_bytes += INT_MSG_BYTES;
	skb_copy_bits(skb, offset_bytes, ctl->room,
		      min_t(unsigned int, room_bytes, sizeof(ctl->room)));
	fault = int_check(&ctl->hdr, room_bytes);
	if (fault)
		return fault;
	hdr_bytes = ctl->hdr.words * INT_WORD_BYTES;
	switch (ctl->hdr.type) {
	case INT_TYPE_PROBE:
		if (room_bytes != hdr_bytes + INT_TERMS_BYTES)
			return INT_BAD_LENGTH;
		skb_copy_bits(skb, offset_bytes + hdr_bytes, &ctl->terms, INT_TERMS_BYTES);
		return INT_OK;
	case INT_TYPE_ECHO:
		return room_bytes == hdr_bytes ? INT_OK : INT_BAD_LENGTH;
	default:
		return INT_BAD_TYPE;
	}
}

/* Returns the flow if the sender of the message has read our cookie. */
static struct hop_flow *find_flow(const struct nint_net *in, struct sk_buff *skb,
				  const struct tcphdr *th, const struct nint_control *ctl)
{
	const struct int_flow *f;
	struct hop_flow_key key;
	struct hop_flow *flow;

	hop_flow_key_of_input(&key, &nint_flow_kind, skb, th);
	flow = hop_flow_find(&key);
	if (!flow) {
		nint_count(in, INT_COUNT_IN_NO_FLOW);
		return NULL;
	}
	f = hop_flow_state(flow);
	if (be64_to_cpu(ctl->msg.cookie) != f->cookie) {
		nint_count(in, INT_COUNT_IN_BAD_COOKIE);
		return NULL;
	}
	return flow;
}

static void take_probe(struct nint_net *in, struct sk_buff *skb, struct hop_flow *flow,
		       const struct nint_control *ctl)
{
	struct nint_arrival arrival = {
		.id = be32_to_cpu(ctl->msg.id),
		.seq = be32_to_cpu(ctl->msg.seq),
		.hdr = &ctl->hdr,
	};
	struct int_flow *f = hop_flow_state(flow);

	nint_count(in, INT_COUNT_IN_PROBE);
	hop_flow_settle(flow);
	hop_flow_event(flow, HOP_EVENT_HEADER_IN);
	spin_lock_bh(&f->lock);
	nint_receiver_ask(&f->receiver, &ctl->msg, &ctl->terms);
	if (ctl->msg.flows)
		WRITE_ONCE(f->met.queues_ns, be16_to_cpu(ctl->msg.flows) << INT_QUEUES_SHIFT);
	spin_unlock_bh(&f->lock);
	if (ctl->hdr.flags & INT_FLAG_SMALL && hop_input_ack_now(&flow->key, INT_QUICK_PKTS))
		nint_count(in, INT_COUNT_ACK_NOW);
	nint_arrive(in, skb, flow, &arrival);
}

/* Returns true if @ctl is a valid answer. */
static bool read_answer(const struct nint_control *ctl, struct int_answer *a)
{
	const u32 kind = be16_to_cpu(ctl->msg.kind);

	*a = (struct int_answer) {
		.kind = kind,
		.seq = be32_to_cpu(ctl->msg.seq),
		.flows = be16_to_cpu(ctl->msg.flows),
		.hops = int_hops(&ctl->hdr),
		.path_id = int_path_id(&ctl->hdr),
	};
	switch (kind) {
	case INT_ANSWER_RECORDS:
		memcpy(a->room, ctl->room, ctl->hdr.words * INT_WORD_BYTES);
		return true;
	case INT_ANSWER_SUMMARY:
		a->index = ctl->hdr.flags & INT_FLAGS_VALUE;
		a->record = int_unpack(ctl->hdr.record[0]);
		return int_slots(&ctl->hdr) == 1 && a->index < a->hops &&
		       a->index < INT_SLOTS_MAX;
	case INT_ANSWER_RATIO:
		a->u = be32_to_cpu(ctl->msg.wnd);
		a->tau_ns = be32_to_cpu(ctl->msg.t_ns);
		return true;
	case INT_ANSWER_WINDOW:
		a->wnd_bytes = be32_to_cpu(ctl->msg.wnd);
		return true;
	}
	return false;
}

/* Returns true if no hop wrote a record, or one has an unknown speed. */
static bool is_empty(const struct int_answer *a)
{
	return a->kind == INT_ANSWER_RECORDS && !hpcc_understands(&a->hdr);
}

/*
 * Returns true if hops had no room for their records. The next probes have room for all. Data has
 * it after the congestion control has reserved it: int_flow_grow(). Context: f->lock is held.
 */
static bool is_short(struct int_flow *f, const struct int_answer *a)
{
	unsigned int slots = a->kind == INT_ANSWER_RECORDS ? int_slots(&a->hdr) : f->slots;

	if (likely(a->hops <= slots) || !f->slots)
		return false;
	f->hops = a->hops;
	if (f->forward == INT_FORWARD_PROBE)
		f->slots = nint_slots_for(f->slots, f->hops);
	return true;
}

/*
 * Stores the answer; an empty answer does not replace one that was not taken yet. Context: f->lock
 * is held.
 */
static void keep_answer(struct int_flow *f, const struct int_answer *a)
{
	if (f->answers != READ_ONCE(f->taken) && is_empty(a))
		return;
	write_seqcount_begin(&f->answer_changes);
	f->answer = *a;
	/* int_flow_take() reads the count without the seqcount. */
	WRITE_ONCE(f->answers, f->answers + 1);
	write_seqcount_end(&f->answer_changes);
	nint_hurry(&f->asker, nint_answer_queue_ns(a, f->ask.t_ns), f->ask.t_ns);
}

/* Returns INT_COUNTS, or the counter of the reason why the answer is not new. */
unsigned int nint_answer_store(struct hop_flow *flow, u32 id, const struct int_answer *a)
{
	struct int_flow *f = hop_flow_state(flow);
	bool lacks_records = false;
	enum nint_news news;

	spin_lock_bh(&f->lock);
	if (!f->sk) {
		spin_unlock_bh(&f->lock);
		return INT_COUNT_IN_UNASKED;
	}
	news = nint_answered(&f->asker, id, a->seq, is_empty(a), ktime_get_ns());
	if (news == INT_NEWS) {
		lacks_records = is_short(f, a);
		keep_answer(f, a);
	}
	spin_unlock_bh(&f->lock);
	trace_int_answer_in(&flow->key, id, a->kind, a->kind == INT_ANSWER_RATIO ? a->u :
			    a->wnd_bytes, a->flows, news);
	switch (news) {
	case INT_NEWS:
		return lacks_records ? INT_COUNT_IN_SHORT : INT_COUNTS;
	case INT_NEWS_OLD:
		return INT_COUNT_IN_OLD;
	default:
		return INT_COUNT_IN_FORGED;
	}
}

static void take_answer(struct nint_net *in, struct hop_flow *flow, const struct nint_control *ctl)
{
	u64 tag = (u64)be32_to_cpu(ctl->msg.tag_hi) << 32 | be32_to_cpu(ctl->msg.tag_lo);
	u32 id = be32_to_cpu(ctl->msg.id);
	struct int_answer a;
	unsigned int why;

	nint_count(in, INT_COUNT_IN_ANSWER);
	if (nint_has_key(in) && tag != nint_tag(in, &flow->key, false, &ctl->msg, &ctl->hdr)) {
		nint_count(in, INT_COUNT_IN_BAD_TAG);
		return;
	}
	if (!read_answer(ctl, &a)) {
		nint_count_fault(in, INT_BAD_SLOTS);
		return;
	}
	trace_int_header_in(&flow->key, &ctl->hdr, id, a.seq);
	why = nint_answer_store(flow, id, &a);
	if (why != INT_COUNTS)
		nint_count(in, why);
}

/* Processes a message of the type that its DSCP indicates. Returns true if it was consumed. */
static bool take(struct nint_net *in, struct sk_buff *skb, const struct tcphdr *th,
		 unsigned int offset_bytes, enum int_type type)
{
	struct nint_control ctl;
	struct hop_flow *flow;
	enum int_fault fault;

	fault = read_control(skb, offset_bytes, &ctl);
	if (!fault && ctl.hdr.type != type)
		fault = INT_BAD_TYPE;
	if (fault) {
		nint_count_fault(in, fault);
		return false;
	}
	flow = find_flow(in, skb, th, &ctl);
	if (!flow)
		return false;
	if (hop_input_is_mangled(skb, th)) {
		nint_count(in, INT_COUNT_IN_BAD_SUM);
		return true;
	}
	if (type == INT_TYPE_PROBE)
		take_probe(in, skb, flow, &ctl);
	else
		take_answer(in, flow, &ctl);
	return true;
}

static u8 dscp_of(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ipv4_get_dsfield(ip_hdr(skb)) >> 2;
	return ipv6_get_dsfield(ipv6_hdr(skb)) >> 2;
}

/* A TCP packet; skb->data is at its network header. Returns NF_ACCEPT or NF_STOLEN. */
unsigned int nint_tcp_input(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_shim_place *place, const struct nf_hook_state *state)
{
	const u8 dscp = dscp_of(skb);
	unsigned int offset_bytes = place->offset_bytes + sizeof(struct tcphdr);
	const struct tcphdr *th;

	if (!hop_flow_any(state->net) || !pskb_may_pull(skb, offset_bytes))
		return NF_ACCEPT;
	th = (const struct tcphdr *)(skb->data + place->offset_bytes);
	offset_bytes = place->offset_bytes + __tcp_hdrlen(th);
	if (offset_bytes < place->offset_bytes + sizeof(*th) || th->syn || th->rst)
		return NF_ACCEPT;
	if (offset_bytes == skb->len) {
		nint_option_input(in, skb, place->offset_bytes);
		return NF_ACCEPT;
	}
	if ((dscp != nint_dscp_probe && dscp != nint_dscp_response) ||
	    !has_magic(skb, offset_bytes) || !hop_input_is_local(skb, state))
		return NF_ACCEPT;
	if (!take(in, skb, th, offset_bytes,
		  dscp == nint_dscp_probe ? INT_TYPE_PROBE : INT_TYPE_ECHO))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/*
 * Builds a TCP segment with a message; skb->data is at its TCP header, which is like @like, but
 * without options and flags. Its sequence number is in front of @una. @terms: only for a probe,
 * otherwise NULL.
 */
struct sk_buff *nint_control_alloc(const struct tcphdr *like, u32 una, const struct int_msg *msg,
				   const struct int_hdr *h, const struct int_terms *terms)
{
	unsigned int bytes = INT_MSG_BYTES + h->words * INT_WORD_BYTES +
			     (terms ? INT_TERMS_BYTES : 0);
	struct sk_buff *skb = alloc_skb(MAX_TCP_HEADER + bytes, GFP_ATOMIC);
	struct tcphdr *th;

	if (!skb)
		return NULL;
	skb_reserve(skb, MAX_TCP_HEADER);
	skb_put_data(skb, msg, INT_MSG_BYTES);
	skb_put_data(skb, h, h->words * INT_WORD_BYTES);
	if (terms)
		skb_put_data(skb, terms, INT_TERMS_BYTES);
	th = skb_push(skb, sizeof(*th));
	skb_reset_transport_header(skb);
	*th = (struct tcphdr) {
		.source = like->source,
		.dest = like->dest,
		.seq = htonl(una - bytes),
		.ack_seq = like->ack_seq,
		.doff = sizeof(*th) / 4,
		.ack = 1,
		.window = like->window,
	};
	return skb;
}

/* The IP header is in front of skb->data. */
void nint_control_csum_v4(struct sk_buff *skb, __be32 saddr, __be32 daddr)
{
	struct tcphdr *th = tcp_hdr(skb);
	unsigned int bytes = skb_tail_pointer(skb) - (u8 *)th;

	th->check = 0;
	th->check = tcp_v4_check(bytes, saddr, daddr, csum_partial(th, bytes, 0));
}

#if IS_ENABLED(CONFIG_IPV6)
void nint_control_csum_v6(struct sk_buff *skb, const struct in6_addr *saddr,
			  const struct in6_addr *daddr)
{
	struct tcphdr *th = tcp_hdr(skb);
	unsigned int bytes = skb_tail_pointer(skb) - (u8 *)th;

	th->check = 0;
	th->check = tcp_v6_check(bytes, saddr, daddr, csum_partial(th, bytes, 0));
}
#endif
