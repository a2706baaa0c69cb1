// SPDX-License-Identifier: GPL-2.0
/*
 * The sender as an INT source: data with the header of another vendor's format, into which hops
 * write metadata. int_source.h decides which data has it; for probes, see wrap.c.
 *
 *	IFA	[IP, protocol 253][IFA header][TCP][metadata header][data]
 *	IOAM	[IPv6][hop-by-hop options: trace][TCP][data]
 *	INT-MD	[IP, DSCP: mark of INT][TCP][shim and header][data]
 *
 * No NIC can segment these packets or compute their checksum, so the socket builds no GSO packets,
 * and the checksum is computed here. For IFA it is that of TCP without the additions. For INT-MD
 * see NINT_SUM_MARK.
 */
#include <net/ipv6.h>
#include <net/tcp.h>

#include "net_int.h"

/* @tcp_bytes: length of the TCP header. Return: false if memory is short. */
static bool nint_insert_ifa(struct sk_buff *skb, const struct hop_segment *seg,
			    unsigned int tcp_bytes,
			    unsigned int space, unsigned int slots)
{
	u8 *packet = hop_shim_insert(skb, &seg->place, NINT_IFA_BYTES, IFA_PROTOCOL, false);

	if (!packet)
		return false;
	nint_write_ifa(packet, tcp_bytes, space, slots);
	skb_set_transport_header(skb, seg->place.offset_bytes + IFA_HDR_BYTES);
	return true;
}

/* Return: false if memory is short. */
static bool nint_insert_ioam(struct sk_buff *skb, const struct hop_segment *seg, unsigned int space,
			     unsigned int slots)
{
	const unsigned int data_bytes = nint_ioam_data_bytes(slots);
	u8 *hdr = hop_shim_insert(skb, &seg->place, ioam_insert_bytes(data_bytes, NULL),
				  NEXTHDR_HOP, false);

	if (hdr)
		ioam_insert(hdr, NULL, seg->place.next, space, IOAM_HPCC_BITS, data_bytes);
	return hdr;
}

/* Adds the shim to TCP's checksum, and to the length in its pseudo-header. */
static void nint_source_update_sum(struct tcphdr *th, const struct intmd_hdr *shim)
{
	const __wsum length = (__force __wsum)htonl(INTMD_STACK_OFFSET);

	th->check = csum_fold(csum_add(~csum_unfold(th->check),
				       csum_partial(shim, INTMD_STACK_OFFSET, length)));
	nint_mark_sum(th);
}

/* Return: false if memory is short. */
static bool nint_insert_intmd(struct sk_buff *skb, const struct hop_segment *seg,
			      unsigned int tcp_bytes, unsigned int space, unsigned int slots)
{
	const struct hop_shim_place behind = {
		.offset_bytes = seg->place.offset_bytes + tcp_bytes,
		.name_bytes = seg->place.name_bytes,
		.next = seg->place.next,
	};
	struct intmd_hdr *shim = hop_shim_insert(skb, &behind, INTMD_STACK_OFFSET, IPPROTO_TCP,
						 false);

	if (!shim)
		return false;
	intmd_write(shim, INTMD_NPT_DSCP, nint_dscp(skb), INTMD_HPCC_BITS, space, slots);
	skb_set_transport_header(skb, seg->place.offset_bytes);
	nint_source_update_sum(tcp_hdr(skb), shim);
	nint_set_dscp(skb, nint_dscp_probe);
	return true;
}

static bool nint_source_insert(struct sk_buff *skb, const struct hop_segment *seg,
			       enum nint_format format,
			       unsigned int slots)
{
	const unsigned int space = READ_ONCE(nint_net(dev_net(skb->dev))->space);
	const unsigned int tcp_bytes = __tcp_hdrlen(hop_segment_tcp(skb, seg));

	if (!pskb_may_pull(skb, seg->place.offset_bytes + tcp_bytes))
		return false;
	switch (format) {
	case NINT_FORMAT_IFA:
		return nint_insert_ifa(skb, seg, tcp_bytes, space, slots);
	case NINT_FORMAT_IOAM:
		return nint_insert_ioam(skb, seg, space, slots);
	default:
		return nint_insert_intmd(skb, seg, tcp_bytes, space, slots);
	}
}

/*
 * Return: true for a packet of an application that looks as if it had a header: its own hop-by-hop
 * options and a trace do not fit into one header without moving both, and its DSCP may be the mark.
 */
static bool nint_has_header(const struct sk_buff *skb, const struct hop_segment *seg,
			    enum nint_format format)
{
	if (format == NINT_FORMAT_IOAM)
		return seg->place.offset_bytes != sizeof(struct ipv6hdr);
	return format == NINT_FORMAT_INTMD && nint_dscp(skb) == nint_dscp_probe;
}

/*
 * Return: true if the packet can get a header. A GSO packet was built before the socket knew that
 * it must not.
 */
static bool nint_is_possible(const struct nint_net *in, const struct sk_buff *skb,
			     const struct hop_segment *seg, enum nint_format format,
			     unsigned int slots)
{
	unsigned int growth_bytes, bytes = nint_wrap_bytes(format, slots, &growth_bytes);

	if (skb_is_gso(skb) || nint_has_header(skb, seg, format) || !hop_shim_fits(skb, bytes) ||
	    nint_wrap_is_hidden(format, skb, seg->state))
		return false;
	if (hop_output_has_room(skb, seg->payload_bytes, bytes + growth_bytes))
		return true;
	nint_count(in, INT_COUNT_NO_ROOM);
	return false;
}

/*
 * Return: true if the data at @seq gets a header. @possible: it can get one. Data that is sent
 * again was lost on the path, or was dropped by this host, and then has the same sequence number as
 * before. All data of a host whose packets wait for a program (NFQUEUE) looks as if it were sent
 * again, and then this runs without the lock of the socket.
 */
static bool nint_is_due(const struct nint_net *in, struct int_flow *f, const struct sock *sk,
			u32 seq,
			bool possible)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool due = false, stopped = false;

	spin_lock_bh(&f->lock);
	if (possible && nint_source_is_on_data(&f->source, seq, tp->snd_nxt)) {
		f->skipped += f->skipped < U16_MAX;
		due = f->skipped >= READ_ONCE(in->every) ||
		      nint_window_is_small(READ_ONCE(f->ask.wnd_bytes), tp->mss_cache);
	} else if (!possible || f->source.stage == NINT_SOURCE_PROVEN) {
		stopped = nint_source_missed(&f->source);
	} else {
		stopped = nint_source_lost(&f->source, seq);
	}
	spin_unlock_bh(&f->lock);
	if (stopped)
		nint_count(in, INT_COUNT_OUT_DATA_STOPPED);
	return due;
}

/* Data of a socket that uses telemetry, and that is sending. */
void nint_source_output(struct nint_net *in, struct sk_buff *skb, const struct hop_segment *seg,
			const struct sock *sk, struct hop_flow *flow)
{
	struct int_flow *f = hop_flow_state(flow);
	const u32 seq = ntohl(hop_segment_tcp(skb, seg)->seq);
	/* Read once: see struct inband in output.c. */
	const enum nint_format format = READ_ONCE(f->format);
	const unsigned int slots = READ_ONCE(f->slots);
	/* Retransmitted data gets none, but whether it was lost matters. */
	const bool possible = before(seq, tcp_sk(sk)->snd_nxt) ||
			      nint_is_possible(in, skb, seg, format, slots);

	/* Another congestion control has just taken the flow over. */
	if (format == NINT_FORMAT_HOPCC || !nint_is_due(in, f, sk, seq, possible))
		return;
	if (!nint_source_insert(skb, seg, format, slots)) {
		nint_count(in, INT_COUNT_NO_MEMORY);
		return;
	}
	spin_lock_bh(&f->lock);
	f->skipped = 0;
	nint_source_data_sent(&f->source, seq + seg->payload_bytes, ktime_get_ns());
	spin_unlock_bh(&f->lock);
	nint_count(in, INT_COUNT_OUT_DATA_TLM);
}
