// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that leave, in POST_ROUTING behind source NAT, which would take our header for TCP's
 * ports. Flows are found by their socket, independently of NAT. Where a filter behind the hook
 * would miss TCP below a header, probes collect, which are TCP: see hop_carrier_hides().
 *
 * Answers in a TCP option, section 6.2.2 "Inband with ACK packet", are the record of the most
 * loaded hop, in pure ACKs with room for it. TCP ignores it.
 */
#include <net/dst.h>
#include <hopcc/core/hop_negotiate.h>
#include <hopcc/core/hop_option.h>
#include <net/tcp.h>
#include <net/xfrm.h>

#include "net_int.h"
#include "trace.h"

/*
 * In transport mode AH and ESP are between IP and TCP: our header would have to be in front of
 * them, separated from its TCP header.
 */
static bool nint_is_transport_ipsec(const struct sk_buff *skb)
{
#ifdef CONFIG_XFRM
	const struct xfrm_state *x = dst_xfrm(skb_dst(skb));

	return x && x->props.mode != XFRM_MODE_TUNNEL;
#else
	return false;
#endif
}

/* For GSO packets see protocol.c. */
static void nint_count_data(const struct nint_net *in, struct sk_buff *skb)
{
	nint_count_add(in, INT_COUNT_OUT_DATA, max_t(u16, 1, skb_shinfo(skb)->gso_segs));
	if (!skb_is_gso(skb))
		return;
	nint_count(in, INT_COUNT_OUT_GSO);
	hop_shim_mark_gso(skb);
}

/*
 * struct inband - the header of a data packet
 * @id: identifier of the request
 * @slots: number of hops that it has room for
 * @flags: flags of the request
 *
 * Decided once: when a program (NFQUEUE) hands data back, the socket is not locked, and its
 * congestion control may enlarge the header, or another one take the flow over, at the same time.
 */
struct inband {
	u32 id;
	u8 slots;
	u8 flags;
};

/*
 * Return: true if this packet carries a header, and then counts it as sent. @seq: sequence number
 * of its data. @proof: it is an ACK with which headers are tried. @i: result
 */
static bool nint_begin_inband(const struct nint_net *in, struct int_flow *f, const struct sock *sk,
			      u32 seq, bool proof, struct inband *i)
{
	const bool seldom = !proof && READ_ONCE(f->ask.seldom);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = ktime_get_ns();
	bool turn, small;

	spin_lock_bh(&f->lock);
	small = !proof && nint_window_is_small(READ_ONCE(f->ask.wnd_bytes), tp->mss_cache);
	turn = proof || (nint_is_inband(f) && f->asked &&
			 (++f->skipped >= READ_ONCE(in->every) || small) &&
			 !(seldom && nint_is_underway(&f->asker, tp->snd_una)));
	if (turn)
		*i = (struct inband) {
			.id = nint_leaves(&f->asker, now_ns,
					  nint_timeout_ns(f->ask.t_ns, tp->srtt_us >> 3),
					  seldom ? seq : f->asker.left_seq),
			.slots = f->slots,
			.flags = small ? INT_FLAG_SMALL : 0,
		};
	if (proof) {
		f->proof_id = i->id;
	} else if (turn) {
		f->skipped = 0;
		WRITE_ONCE(f->acks_now, small);
	}
	spin_unlock_bh(&f->lock);
	return turn;
}

/*
 * Return: true if the path does not pass headers, which only the congestion control's side knows.
 */
static bool nint_is_given_up(struct int_flow *f, const struct sock *sk)
{
	enum nint_turn turn;

	spin_lock_bh(&f->lock);
	turn = nint_turn(&f->asker, ktime_get_ns(), 0,
			 nint_timeout_ns(f->ask.t_ns, tcp_sk(sk)->srtt_us >> 3));
	spin_unlock_bh(&f->lock);
	return turn == INT_TURN_GIVE_UP;
}

static void nint_insert_inband(struct nint_net *in, struct sk_buff *skb,
			       const struct hop_segment *seg, const struct hop_flow *flow,
			       const struct inband *i)
{
	const struct int_flow *f = (const struct int_flow *)flow->state;
	const unsigned int bytes = nint_inband_bytes(i->slots);
	struct int_hdr *h;

	/* The packet still counts as sent, so that a flow that can never collect gives up. */
	if (!hop_output_has_room(skb, seg->payload_bytes, bytes)) {
		nint_count(in, INT_COUNT_NO_ROOM);
		return;
	}
	/* On loopback no device parses packets for checksums, and no packet leaves the host. */
	h = hop_shim_insert(skb, &seg->place, bytes, nint_protocol,
			    skb->dev->flags & IFF_LOOPBACK);
	if (!h) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return;
	}
	int_write(h, IPPROTO_TCP, INT_TYPE_DATA, i->flags, i->slots);
	*(struct int_tail *)nint_tail_of(h) = (struct int_tail) {
		.first = htonl(i->id),
		.second = htonl(READ_ONCE(f->peer_cookie)),
	};
	trace_int_header_out(&flow->key, h, i->id, 0);
	nint_count_data(in, skb);
}

/*
 * NAT and filters that pass TCP may drop our protocol. So a pure ACK has the first header (@proof),
 * whose loss costs nothing; its answer shows that data may have one.
 */
static void nint_output_inband(struct nint_net *in, struct sk_buff *skb,
			       const struct hop_segment *seg,
			       const struct sock *sk, struct hop_flow *flow, bool proof)
{
	const u32 seq = ntohl(hop_segment_tcp(skb, seg)->seq);
	struct inband i;

	if (hop_carrier_hides(&in->carrier, READ_ONCE(in->on), skb, seg->state))
		nint_leave_data(flow);
	else if (nint_begin_inband(in, hop_flow_state(flow), sk, seq, proof, &i))
		nint_insert_inband(in, skb, seg, flow, &i);
}

/* A pure ACK of any socket may carry a pending answer. */
static void nint_option_insert(struct nint_net *in, struct sk_buff *skb,
			       const struct hop_segment *seg, struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);
	unsigned int count = INT_COUNT_OUT_OPTION;
	int err;

	if (!READ_ONCE(f->summary_due) || READ_ONCE(in->reverse) != INT_REVERSE_ACK)
		return;
	spin_lock_bh(&f->lock);
	if (f->summary_due) {
		err = hop_option_append(skb, seg->place.offset_bytes, &f->summary, INT_OPT_BYTES);
		if (err)
			count = err == -ENOSPC ? INT_COUNT_NO_ROOM : INT_COUNT_NO_MEMORY;
		/* If there is no room, the next packet is tried. */
		WRITE_ONCE(f->summary_due, err);
		nint_count(in, count);
	}
	spin_unlock_bh(&f->lock);
}

static void nint_output_ack(struct nint_net *in, struct sk_buff *skb,
			    const struct hop_segment *seg, const struct sock *sk,
			    struct hop_flow *flow)
{
	if (hop_negotiate_ack(skb, seg, flow))
		return;
	if (!hop_segment_tcp(skb, seg)->fin && hop_flow_take(flow, HOP_FLOW_TRIES))
		nint_output_inband(in, skb, seg, sk, flow, true);
	else
		nint_option_insert(in, skb, seg, flow);
}

/*
 * Data of a socket whose congestion control uses telemetry. The socket is locked, as it sends, but
 * not when a program (NFQUEUE) hands the packet back.
 */
static void nint_output_data(struct nint_net *in, struct sk_buff *skb,
			     const struct hop_segment *seg,
			     struct sock *sk, struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);

	/* The path may have changed to one that drops our headers. */
	if (nint_is_inband(f) &&
	    (inet_csk(sk)->icsk_retransmits >= HOP_TIMEOUTS_MAX || nint_is_given_up(f, sk)))
		nint_leave_data(flow);
	if (hop_flow_stage(flow) != HOP_STAGE_SUPPORTED)
		return;
	nint_probe(in, skb, seg, sk, flow);
	if (nint_is_inband(f))
		nint_output_inband(in, skb, seg, sk, flow, false);
}

static void nint_output_established(struct nint_net *in, struct sk_buff *skb,
				    const struct hop_segment *seg, struct sock *sk)
{
	struct hop_flow *flow = hop_flow_of_sock(&nint_carrier, sk);
	const struct int_flow *f;

	if (!flow)
		return;
	/*
	 * A full socket sends, so its congestion control, if it uses telemetry, has negotiated
	 * before.
	 */
	hop_negotiate_settle(flow);
	f = hop_flow_state(flow);
	if (!seg->payload_bytes)
		nint_output_ack(in, skb, seg, sk, flow);
	else if (READ_ONCE(f->sk) == sk)
		nint_output_data(in, skb, seg, sk, flow);
}

static void nint_output_handshake(struct sk_buff *skb, const struct hop_segment *seg)
{
	/* The time that TCP measures the SYN's RTT from, in ns. */
	const u64 sent_ns = skb->skb_mstamp_ns;
	struct hop_flow *flow = hop_negotiate_handshake(&nint_carrier, skb, seg);

	if (flow && !seg->ack)
		WRITE_ONCE(((struct int_flow *)hop_flow_state(flow))->syn_sent_ns, sent_ns);
}

unsigned int nint_output(struct sk_buff *skb, const struct hop_segment *seg,
			 const struct nf_hook_state *state)
{
	struct nint_net *in = nint_net(state->net);

	if (!READ_ONCE(in->on) || !seg->tcp || seg->rst || nint_is_transport_ipsec(skb))
		return NF_ACCEPT;
	if (seg->syn)
		nint_output_handshake(skb, seg);
	else if (hop_output_is_tcp(skb->sk))
		nint_output_established(in, skb, seg, skb->sk);
	return NF_ACCEPT;
}
