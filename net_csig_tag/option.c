// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option, section 4.2.1: on SYN and SYN-ACK it negotiates, later it reflects. If the
 * congestion control is chosen after the handshake, pure ACKs negotiate. TCP ignores it.
 */
#include <net/dst.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "net_csig_tag.h"

#define TCP_HEADER_MAX_BYTES 60

/**
 * ctag_read_segment() - find the parts of a TCP packet
 * @skb: the packet; skb->data is at its network header
 * @seg: result
 *
 * Context: RCU read lock. Pulls the TCP header with its options.
 * Return: false if the packet is not TCP, or ends within its headers.
 */
bool ctag_read_segment(struct sk_buff *skb, struct ctag_segment *seg)
{
	struct hop_shim_place place;
	const struct tcphdr *th;

	lockdep_assert_in_rcu_read_lock();
	if (!hop_shim_find(skb, &place) || place.next != IPPROTO_TCP ||
	    !pskb_may_pull(skb, place.offset_bytes + sizeof(*th)))
		return false;
	th = (const struct tcphdr *)(skb->data + place.offset_bytes);
	seg->tcp_bytes = place.offset_bytes;
	seg->data_bytes = place.offset_bytes + __tcp_hdrlen(th);
	if (__tcp_hdrlen(th) < sizeof(*th) || !pskb_may_pull(skb, seg->data_bytes))
		return false;
	th = (const struct tcphdr *)(skb->data + place.offset_bytes);
	seg->payload_bytes = skb->len - seg->data_bytes;
	seg->seq = ntohl(th->seq);
	seg->ack_seq = ntohl(th->ack_seq);
	seg->syn = th->syn;
	seg->ack = th->ack;
	seg->rst = th->rst;
	return true;
}

/* Size of the longest segment into which a packet is split. */
static u32 ctag_wire_bytes(const struct sk_buff *skb, const struct ctag_segment *seg)
{
	if (!skb_is_gso(skb))
		return skb->len;
	return seg->data_bytes + skb_shinfo(skb)->gso_size;
}

/* Value of IP's length field; 0 if it does not contain the length. */
static u32 ctag_ip_length(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? ntohs(ip_hdr(skb)->tot_len) :
						  ntohs(ipv6_hdr(skb)->payload_len);
}

static void ctag_set_ip_length(struct sk_buff *skb, u32 bytes)
{
	if (skb->protocol != htons(ETH_P_IP)) {
		ipv6_hdr(skb)->payload_len = htons(bytes);
		return;
	}
	ip_hdr(skb)->tot_len = htons(bytes);
	ip_send_check(ip_hdr(skb));
}

/* Moves the IP and TCP headers towards the head, and returns the room behind them. */
static u8 *ctag_option_make_room(struct sk_buff *skb, const struct ctag_segment *seg, u32 bytes)
{
	const u32 length = ctag_ip_length(skb) + bytes;

	skb_push(skb, bytes);
	memmove(skb->data, skb->data + bytes, seg->data_bytes);
	skb_reset_network_header(skb);
	skb->transport_header -= bytes;
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		skb->csum_start -= bytes;
	ctag_set_ip_length(skb, length);
	return skb->data + seg->data_bytes;
}

/* Updates TCP's checksum, which may cover only the pseudo-header so far. */
static void ctag_sum_option(struct sk_buff *skb, const struct ctag_segment *seg, u32 bytes)
{
	struct tcphdr *th = (struct tcphdr *)(skb->data + seg->tcp_bytes);
	const u32 before_bytes = seg->data_bytes - seg->tcp_bytes + seg->payload_bytes;
	__be16 *doff = (__be16 *)((u8 *)th + 12);
	const __be16 old = *doff;
	u32 i;

	th->doff += bytes / 4;
	inet_proto_csum_replace2(&th->check, skb, old, *doff, false);
	for (i = 0; i < bytes; i += 4)
		inet_proto_csum_replace4(&th->check, skb, 0,
					 *(__be32 *)(skb->data + seg->data_bytes + i), false);
	inet_proto_csum_replace2(&th->check, skb, htons(before_bytes),
				 htons(before_bytes + bytes), true);
}

static bool ctag_may_append(const struct sk_buff *skb, const struct ctag_segment *seg, u32 bytes)
{
	const struct dst_entry *dst = skb_dst(skb);
	const u32 tcp_bytes = seg->data_bytes - seg->tcp_bytes;
	const u32 length = ctag_ip_length(skb);

	return tcp_bytes + bytes <= TCP_HEADER_MAX_BYTES && length &&
	       length + bytes <= IP_MAX_MTU &&
	       (!dst || ctag_wire_bytes(skb, seg) + bytes <= dst_mtu(dst)) &&
	       ctag_opt_has_end(skb->data + seg->tcp_bytes + sizeof(struct tcphdr),
				tcp_bytes - sizeof(struct tcphdr));
}

/* Return: the room for an option behind TCP's, or NULL; ctag_sum_option() must be called next. */
static u8 *ctag_add_room(struct ctag_net *cn, struct sk_buff *skb, const struct ctag_segment *seg,
			 u32 bytes)
{
	if (!ctag_may_append(skb, seg, bytes)) {
		ctag_count(cn, CTAG_OUT_NO_ROOM);
		return NULL;
	}
	if (skb_cow_head(skb, bytes)) {
		ctag_count(cn, CTAG_NO_MEMORY);
		return NULL;
	}
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	return ctag_option_make_room(skb, seg, bytes);
}

/**
 * ctag_option_append() - append the CSIG option to the TCP options
 * @cn: the netns' state
 * @skb: a packet of this host; skb->data is at its network header
 * @seg: result of ctag_read_segment(); is updated
 * @form: format of @t; CSIG_NONE: without data
 * @t: the data fields
 *
 * Context: RCU read lock. Moves skb->head.
 * Return: true if the option was appended.
 */
bool ctag_option_append(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg,
			enum csig_form form, const struct csig_tag *t)
{
	const u32 bytes = ctag_opt_bytes(form);
	u8 *room = ctag_add_room(cn, skb, seg, bytes);

	lockdep_assert_in_rcu_read_lock();
	if (!room)
		return false;
	ctag_opt_write(room, ctag_exid, form, t);
	ctag_sum_option(skb, seg, bytes);
	seg->data_bytes += bytes;
	return true;
}

/**
 * ctag_option_ask() - ask the peer in a pure ACK if it supports CSIG
 * @cn: state of the network namespace
 * @skb: an ACK of this host; skb->data is at its network header
 * @seg: result of ctag_read_segment(); its @data_bytes is moved along
 *
 * Context: RCU read lock. Moves skb->head.
 * Return: false if there is no room for the option.
 */
bool ctag_option_ask(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg)
{
	u8 *room = ctag_add_room(cn, skb, seg, CSIG_OPT_QUESTION_BYTES);

	lockdep_assert_in_rcu_read_lock();
	if (!room)
		return false;
	ctag_opt_write_question(room, ctag_exid);
	ctag_sum_option(skb, seg, CSIG_OPT_QUESTION_BYTES);
	seg->data_bytes += CSIG_OPT_QUESTION_BYTES;
	return true;
}

/*
 * In data packets, each change of the option stops the receiver from merging them. So there is at
 * most one value per quarter of an RTT, and no report that no tag was received.
 */
static bool ctag_is_due(const struct csig_flow *f, const struct ctag_segment *seg,
			const struct sock *sk, u64 now_ns)
{
	if (!seg->payload_bytes)
		return true;
	return now_ns - f->reflected_ns >= (u64)(tcp_sk(sk)->srtt_us >> 3) * NSEC_PER_USEC / 4;
}

/* Return: true if there is something to reflect; @form is CSIG_NONE to report that no tag came. */
static bool ctag_option_pick(struct ctag_net *cn, struct csig_flow *f,
			     const struct ctag_segment *seg,
			     const struct sock *sk, enum csig_form *form, u32 *type)
{
	*form = CSIG_NONE;
	*type = ctag_reflect_pick(f->received);
	if (*type != CSIG_TYPES) {
		*form = f->received[*type].form;
		return ctag_is_due(f, seg, sk, ktime_get_ns());
	}
	return f->untagged && !seg->payload_bytes;
}

/**
 * ctag_reflect() - reflect the received tags to the peer
 * @cn: the netns' state
 * @skb: a packet of this host; skb->data is at its network header
 * @seg: result of ctag_read_segment(); is updated
 * @flow: the flow
 * @sk: its socket; locked, because it is sending
 *
 * If the packet has no room for the option, the next packet is tried.
 *
 * Context: RCU read lock. Moves skb->head.
 * Return: true if the packet now has an option.
 */
bool ctag_reflect(struct ctag_net *cn, struct sk_buff *skb, struct ctag_segment *seg,
		  struct hop_flow *flow, struct sock *sk)
{
	struct csig_flow *f = hop_flow_state(flow);
	const u64 now_ns = ktime_get_ns();
	enum csig_form form;
	bool good = false;
	u32 type;

	lockdep_assert_in_rcu_read_lock();
	spin_lock_bh(&f->lock);
	if (!ctag_option_pick(cn, f, seg, sk, &form, &type))
		goto out;
	/* If there is no room, the signal stays fresh. */
	if (!ctag_option_append(cn, skb, seg, form, form ? &f->received[type].latest : NULL))
		goto out;
	if (form)
		ctag_reflected(&f->received[type], now_ns);
	good = true;
	f->untagged = false;
	f->reflected_ns = now_ns;
	ctag_count(cn, form ? CTAG_OUT_VALUE : CTAG_OUT_EMPTY);
out:
	spin_unlock_bh(&f->lock);
	return good;
}
