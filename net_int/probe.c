// SPDX-License-Identifier: GPL-2.0
/*
 * Probes, sections 6.2.1 and 7.2. A probe is built from a data packet that is being sent, since it
 * must use the same path and queue: it has that packet's DSCP. It is sent directly in front of that
 * packet, from this hook on, so it does not come back here. The TCP segment of an answer is built
 * here, too.
 */
#include <net/dst.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>
#include <hopcc/core/hop_hook.h>

#include "net_int.h"
#include "trace.h"

/*
 * Builds a TCP segment with a message; skb->data is at its TCP header, which is like @like, but
 * without flags, and with the mark as its only option. Its sequence number is in front of @una.
 * @headroom_bytes: room for headers beside the usual ones.
 */
struct sk_buff *nint_control_alloc(const struct tcphdr *like, u32 una,
				   const struct nint_control *ctl, unsigned int headroom_bytes)
{
	const unsigned int bytes = nint_control_bytes(ctl);
	struct sk_buff *skb = alloc_skb(MAX_TCP_HEADER + headroom_bytes + bytes, GFP_ATOMIC);
	const __be32 mark = htonl(ctl->hdr.type == INT_TYPE_PROBE ? INT_MARK_PROBE : INT_MARK_ECHO);
	struct tcphdr *th;

	if (!skb)
		return NULL;
	skb_reserve(skb, MAX_TCP_HEADER + headroom_bytes);
	skb_put_data(skb, ctl, bytes);
	memcpy(skb_push(skb, INT_MARK_BYTES), &mark, INT_MARK_BYTES);
	th = skb_push(skb, sizeof(*th));
	skb_reset_transport_header(skb);
	*th = (struct tcphdr) {
		.source = like->source,
		.dest = like->dest,
		.seq = htonl(una - bytes),
		.ack_seq = like->ack_seq,
		.doff = INT_TCP_BYTES / 4,
		.ack = 1,
		.window = like->window,
	};
	return skb;
}

/* Sets TCP's checksum. @saddr, @daddr: addresses of skb->protocol's family */
void nint_control_csum(struct sk_buff *skb, const void *saddr, const void *daddr)
{
	struct tcphdr *th = tcp_hdr(skb);
	const unsigned int bytes = skb_tail_pointer(skb) - (u8 *)th;
	const __wsum sum = csum_partial(th, bytes, 0);

	if (skb->protocol == htons(ETH_P_IP))
		th->check = tcp_v4_check(bytes, *(const __be32 *)saddr, *(const __be32 *)daddr,
					 sum);
	else
		th->check = tcp_v6_check(bytes, saddr, daddr, sum);
}

/* Without answers, the rest of the connection does without telemetry. */
static void nint_give_up(struct nint_net *in, struct hop_flow *flow)
{
	if (hop_flow_stage(flow) != HOP_STAGE_SUPPORTED)
		return;
	nint_count(in, INT_COUNT_GIVEN_UP);
	hop_flow_event(flow, HOP_EVENT_TIMEOUTS);
}

/* Completes the IP header. */
static void nint_write_ip(struct sk_buff *probe)
{
	struct iphdr *iph = ip_hdr(probe);

	if (probe->protocol != htons(ETH_P_IP)) {
		ipv6_hdr(probe)->payload_len = htons(probe->len - sizeof(struct ipv6hdr));
		return;
	}
	iph->tot_len = htons(probe->len);
	/* A packet that is not fragmented needs no identifier (RFC 6864). */
	iph->id = 0;
	iph->frag_off = htons(IP_DF);
	ip_send_check(iph);
}

/* With a routing header the IPv6 header has another destination than the socket. */
static void nint_write_csum(struct sk_buff *probe, const struct sk_buff *skb, const struct sock *sk)
{
	if (skb->protocol == htons(ETH_P_IP))
		nint_control_csum(probe, &ip_hdr(skb)->saddr, &ip_hdr(skb)->daddr);
#if IS_ENABLED(CONFIG_IPV6)
	else
		nint_control_csum(probe, &ipv6_hdr(skb)->saddr, &sk->sk_v6_daddr);
#endif
}

/* Copies the data packet's IP header and all that determines its path. */
static void nint_probe_build(struct sk_buff *probe, const struct sk_buff *skb,
			     const struct hop_segment *seg,
			     struct sock *sk, const struct int_vendor_room *room)
{
	probe->protocol = skb->protocol;
	nint_write_csum(probe, skb, sk);
	if (room->ops) {
		room->ops->wrap(probe, skb, seg, room);
	} else {
		memcpy(skb_push(probe, seg->place.offset_bytes), skb->data,
		       seg->place.offset_bytes);
		skb_reset_network_header(probe);
	}
	nint_write_ip(probe);
	probe->dev = skb->dev;
	probe->priority = skb->priority;
	probe->mark = skb->mark;
	skb_dst_set(probe, dst_clone(skb_dst(skb)));
	skb_set_hash_from_sk(probe, sk);
	skb_set_owner_w(probe, sk);
}

/* Writes the flow's request. Context: f->lock is held. */
static void nint_write_control(struct nint_control *ctl, struct int_flow *f, u32 mss_bytes)
{
	const struct int_ask *ask = &f->ask;
	const u32 wnd_bytes = READ_ONCE(ask->wnd_bytes);
	bool small = nint_window_is_small(wnd_bytes, mss_bytes);

	lockdep_assert_held(&f->lock);
	WRITE_ONCE(f->acks_now, small);
	int_write(&ctl->hdr, 0, INT_TYPE_PROBE, small ? INT_FLAG_SMALL : 0, f->slots);
	ctl->msg = (struct int_msg) {
		.cookie = cpu_to_be64(f->peer_cookie),
		.t_ns = htonl(ask->t_ns),
		.wnd = htonl(wnd_bytes),
		.kind = htons(ask->kind),
		.tag_hi = htonl(f->asker.rtt_ns),
	};
	*nint_control_terms(ctl) = (struct int_terms) {
		.wnd_max = htonl(ask->wnd_max_bytes),
		.eta = htonl(ask->eta),
		.max_stage = htons(ask->max_stage),
		.flows = htons(min_t(u32, ask->flows, U16_MAX)),
	};
}

/* Decides if this data gets a probe. Context: f->lock is held. */
static enum nint_turn nint_probe_turn_of(const struct int_flow *f, u64 now_ns, u64 timeout_ns,
					 u32 seq,
					 const struct tcp_sock *tp)
{
	const struct nint_asker *a = &f->asker;
	const u32 t_ns = f->ask.t_ns;

	lockdep_assert_held(&f->lock);
	if (nint_is_far(a, seq, READ_ONCE(f->ask.wnd_bytes)))
		return INT_TURN_SEND;
	if (nint_is_near(a, now_ns, t_ns, seq, tp->mss_cache))
		return INT_TURN_WAIT;
	if (READ_ONCE(f->ask.seldom) && nint_is_underway(a, tp->snd_una))
		return INT_TURN_WAIT;
	return nint_turn(a, now_ns, nint_period_ns(a, t_ns, tp->srtt_us >> 3), timeout_ns);
}

/* With headers in data, probes are only for the algorithm at the receiver. Context: f->lock. */
static enum nint_turn nint_turn_of(const struct int_flow *f, u64 now_ns, u64 timeout_ns, u32 seq,
				   const struct tcp_sock *tp)
{
	lockdep_assert_held(&f->lock);
	if (!f->asked)
		return INT_TURN_WAIT;
	if (!nint_is_inband(f))
		return nint_probe_turn_of(f, now_ns, timeout_ns, seq, tp);
	if (f->ask.kind == INT_ANSWER_RECORDS && f->terms_reported)
		return INT_TURN_WAIT;
	return f->terms_reported && (u32)now_ns - f->terms_ns < INT_TERMS_PERIOD_NS ?
		INT_TURN_WAIT : INT_TURN_SEND;
}

/*
 * Return: true if more data follows immediately. The last packet of a write has PSH set. Context:
 * f->lock is held.
 */
static bool nint_is_followed(const struct int_flow *f, const struct sk_buff *skb,
			     const struct hop_segment *seg)
{
	lockdep_assert_held(&f->lock);
	return !hop_segment_tcp(skb, seg)->psh &&
	       READ_ONCE(f->ask.wnd_bytes) / 2 > seg->payload_bytes;
}

/* Decides if it is time for a probe, and builds its contents. @room: result */
static enum nint_turn nint_probe_prepare(struct int_flow *f, const struct sk_buff *skb,
					 const struct hop_segment *seg, const struct sock *sk,
					 struct nint_control *ctl, struct int_vendor_room *room)
{
	u32 seq = ntohl(hop_segment_tcp(skb, seg)->seq);
	u64 now_ns = ktime_get_ns(), timeout_ns;
	u32 srtt_us = tcp_sk(sk)->srtt_us >> 3;
	enum nint_turn turn;

	spin_lock_bh(&f->lock);
	timeout_ns = nint_timeout_ns(f->ask.t_ns, srtt_us);
	turn = nint_turn_of(f, now_ns, timeout_ns, seq, tcp_sk(sk));
	if (turn == INT_TURN_SEND && !nint_is_inband(f) &&
	    nint_passes(&f->asker, now_ns, seq, nint_is_followed(f, skb, seg)))
		turn = INT_TURN_WAIT;
	if (turn != INT_TURN_SEND)
		goto out;
	/*
	 * The probe is in front of SND.UNA. The first one of a connection, whose window may be
	 * queued for many T, is in front of its SYN: the peer identifies it by its mark, and has
	 * negotiated it.
	 */
	nint_write_control(ctl, f, tcp_sk(sk)->mss_cache);
	ctl->msg.id = htonl(nint_leaves(&f->asker, now_ns, timeout_ns, seq));
	nint_vendor_room(room, f, f->format, skb, seg->state);
	/* The probe still counts as sent, so that a flow that can never probe gives up. */
	if (seg->place.offset_bytes + INT_TCP_BYTES + nint_control_bytes(ctl) + room->bytes +
	    room->growth_bytes > dst_mtu(skb_dst(skb))) {
		turn = INT_TURN_NO_ROOM;
		goto out;
	}
	f->terms_reported = true;
	f->terms_ns = now_ns;
out:
	spin_unlock_bh(&f->lock);
	return turn;
}

/* Sends a probe in front of @skb. Return: the counter of probes, or of missing memory. */
static unsigned int nint_probe_send(const struct nint_control *ctl, struct sk_buff *skb,
				    const struct hop_segment *seg, struct sock *sk,
				    const struct int_vendor_room *room)
{
	struct sk_buff *probe = nint_control_alloc(hop_segment_tcp(skb, seg),
						   tcp_sk(sk)->snd_una - room->tcp_bytes, ctl,
						   seg->place.offset_bytes + room->bytes);

	if (!probe)
		return INT_COUNT_NO_MEMORY;
	nint_probe_build(probe, skb, seg, sk, room);
	hop_hook_pass_behind(probe, seg->state);
	return INT_COUNT_OUT_PROBE;
}

/* The socket uses telemetry, and is locked because it is sending. */
void nint_probe(struct nint_net *in, struct sk_buff *skb, const struct hop_segment *seg,
		struct sock *sk, struct hop_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct int_vendor_room room;
	struct nint_control ctl;
	u32 seq;

	switch (nint_probe_prepare(hop_flow_state(flow), skb, seg, sk, &ctl, &room)) {
	case INT_TURN_WAIT:
		return;
	case INT_TURN_NO_ROOM:
		nint_count(in, INT_COUNT_NO_ROOM);
		return;
	case INT_TURN_GIVE_UP:
		nint_give_up(in, flow);
		return;
	case INT_TURN_SEND:
		break;
	}
	/* SND.NXT after the data was sent, or as it is: a retransmission is behind it. */
	seq = ntohl(hop_segment_tcp(skb, seg)->seq) + seg->payload_bytes;
	if (after(tp->snd_nxt, seq))
		seq = tp->snd_nxt;
	ctl.msg.seq = htonl(seq);
	trace_int_header_out(&flow->key, &ctl.hdr, ntohl(ctl.msg.id), seq);
	nint_count(in, nint_probe_send(&ctl, skb, seg, sk, &room));
}
