// SPDX-License-Identifier: GPL-2.0
/*
 * At the sender: probes that also ask hops of other vendors.
 *
 *	IFA	[IP, protocol 253][IFA header][TCP][metadata header][message, INT header, terms]
 *	IOAM	[IPv6][hop-by-hop options: trace, those of the data][TCP][message, ...]
 *	INT-MD	[IP][TCP][shim and header][message, ...]
 *
 * The room for metadata is that for records: the flow's slots. IOAM needs IPv6. TCP's checksum
 * covers the probe as it is without the additions, but with those of INT-MD: its hops update it.
 */
#include <hopcc/core/hop_filter.h>
#include <net/ipv6.h>

#include "net_int.h"

/* Return: the hop-by-hop header of a packet with data, or NULL; skb->data is at the IPv6 header. */
static const u8 *nint_old_options(const struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == NEXTHDR_HOP ? skb->data + sizeof(struct ipv6hdr) : NULL;
}

/*
 * Return: true, and counts it, if a filter would miss TCP below what the format puts in front of
 * it.
 */
bool nint_is_hidden(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	const struct nint_net *in = nint_net(state->net);

	if (READ_ONCE(in->on) == HOP_FILTER_TRUST || !hop_filter_misses_output(skb, state))
		return false;
	nint_count(in, INT_COUNT_OUT_HIDDEN);
	return true;
}

/*
 * The format of a probe that is sent now with @skb, whose own options may leave no room for it.
 * Context: f->lock is held.
 */
enum nint_format nint_wrap_format(const struct int_flow *f, const struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	lockdep_assert_held(&f->lock);
	/* INT-MD is behind TCP's header, so no filter misses that. */
	if (f->format == NINT_FORMAT_HOPCC ||
	    (f->format != NINT_FORMAT_INTMD && nint_is_hidden(skb, state)))
		return NINT_FORMAT_HOPCC;
	if (f->format == NINT_FORMAT_IOAM &&
	    hop_ioam_insert_bytes(nint_ioam_data_bytes(f->slots), nint_old_options(skb)) >
	    IOAM_HBH_MAX_BYTES)
		return NINT_FORMAT_HOPCC;
	return f->format;
}

/*
 * Number of bytes that the format adds to a packet without hop-by-hop options. @growth_bytes: the
 * number that hops may add to it on its way.
 */
unsigned int nint_wrap_bytes(enum nint_format format, unsigned int slots,
			     unsigned int *growth_bytes)
{
	*growth_bytes = 0;
	switch (format) {
	case NINT_FORMAT_IFA:
		*growth_bytes = slots * NINT_IFA_NODE_BYTES;
		return NINT_IFA_BYTES;
	case NINT_FORMAT_INTMD:
		*growth_bytes = slots * NINT_INTMD_NODE_BYTES;
		return INTMD_STACK_OFFSET;
	case NINT_FORMAT_IOAM:
		return hop_ioam_insert_bytes(nint_ioam_data_bytes(slots), NULL);
	default:
		return 0;
	}
}

static void nint_wrap_push(struct sk_buff *probe, const void *from, unsigned int bytes)
{
	memcpy(skb_push(probe, bytes), from, bytes);
}

/* IFA: both headers, with the TCP header in between. */
static void nint_push_ifa(struct sk_buff *probe, unsigned int space, unsigned int slots)
{
	const unsigned int tcp_bytes = INT_TCP_BYTES;
	u8 *packet = skb_push(probe, NINT_IFA_BYTES);

	memmove(packet + IFA_HDR_BYTES, packet + NINT_IFA_BYTES, tcp_bytes);
	ifa_write_hdr((struct ifa_hdr *)packet, space, IFA_NEXT_TCP,
		      slots * NINT_IFA_NODE_BYTES / IFA_WORD_BYTES);
	ifa_write_md((struct ifa_md *)(packet + IFA_HDR_BYTES + tcp_bytes), IFA_HOP_LIMIT_OFF);
	skb_reset_transport_header(probe);
}

/*
 * Number of bytes that the format and hops add to a probe's TCP payload. They must not reach the
 * sequence numbers of new data: a receiver without a layout leaves the probe to TCP.
 */
unsigned int nint_wrap_tcp_bytes(enum nint_format format, unsigned int slots)
{
	return format == NINT_FORMAT_INTMD ?
		INTMD_STACK_OFFSET + slots * NINT_INTMD_NODE_BYTES : 0;
}

/*
 * INT-MD: adds shim and header behind the TCP header of a probe, in front of its checksum. The
 * original DSCP is that of the data.
 */
void nint_wrap_tcp(struct sk_buff *probe, const struct sk_buff *skb, enum nint_format format,
		   unsigned int slots)
{
	const unsigned int tcp_bytes = INT_TCP_BYTES;
	u8 *packet;

	if (format != NINT_FORMAT_INTMD)
		return;
	packet = skb_push(probe, INTMD_STACK_OFFSET);
	memmove(packet, packet + INTMD_STACK_OFFSET, tcp_bytes);
	hop_intmd_write((struct intmd_hdr *)(packet + tcp_bytes), INTMD_NPT_DSCP, nint_dscp(skb),
			INTMD_HPCC_BITS, READ_ONCE(nint_net(dev_net(skb->dev))->space), slots);
	skb_reset_transport_header(probe);
}

/* The IPv6 header, and options with a trace in front of or instead of those of @skb. */
static void nint_push_ioam(struct sk_buff *probe, const struct sk_buff *skb, unsigned int ip_bytes,
			   unsigned int space, unsigned int slots)
{
	const unsigned int data_bytes = nint_ioam_data_bytes(slots);
	unsigned int first_bytes = sizeof(struct ipv6hdr);
	const u8 *old = nint_old_options(skb);
	u8 *hdr;

	if (old)
		first_bytes += (old[1] + 1) * 8;
	nint_wrap_push(probe, skb->data + first_bytes, ip_bytes - first_bytes);
	hdr = skb_push(probe, hop_ioam_insert_bytes(data_bytes, old));
	hop_ioam_insert(hdr, old, ipv6_hdr(skb)->nexthdr, space, IOAM_HPCC_BITS, data_bytes);
	nint_wrap_push(probe, skb->data, sizeof(struct ipv6hdr));
	skb_reset_network_header(probe);
	ipv6_hdr(probe)->nexthdr = NEXTHDR_HOP;
}

/*
 * Adds to a probe, whose data is at its TCP header, what the format needs, and the IP headers of
 * @skb, the data with which it is sent. @slots: as in the probe's header.
 */
void nint_wrap(struct sk_buff *probe, const struct sk_buff *skb, const struct hop_segment *seg,
	       enum nint_format format, unsigned int slots)
{
	const unsigned int space = READ_ONCE(nint_net(dev_net(skb->dev))->space);

	if (format == NINT_FORMAT_IOAM) {
		nint_push_ioam(probe, skb, seg->place.offset_bytes, space, slots);
		return;
	}
	if (format == NINT_FORMAT_IFA)
		nint_push_ifa(probe, space, slots);
	nint_wrap_push(probe, skb->data, seg->place.offset_bytes);
	skb_reset_network_header(probe);
	if (format == NINT_FORMAT_IFA)
		skb_network_header(probe)[seg->place.name_bytes] = IFA_PROTOCOL;
	/* Switches know INT-MD by its DSCP; all other probes have that of the data. */
	if (format == NINT_FORMAT_INTMD)
		nint_set_dscp(probe, nint_dscp_intmd);
}
