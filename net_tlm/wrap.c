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
#include <net/checksum.h>
#include <net/ipv6.h>

#include "net_tlm.h"

/* Return: the hop-by-hop header of a packet with data, or NULL; skb->data is at the IPv6 header. */
static const u8 *ntlm_old_options(const struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == NEXTHDR_HOP ? skb->data + sizeof(struct ipv6hdr) : NULL;
}

bool ntlm_room(struct int_vendor_room *room, const struct sk_buff *skb)
{
	const enum tlm_format format = room->format - 1;

	room->hides_tcp = format != TLM_INT_MD;
	switch (format) {
	case TLM_IFA:
		room->bytes = NTLM_IFA_BYTES;
		room->growth_bytes = room->slots * NTLM_IFA_NODE_BYTES;
		return true;
	case TLM_INT_MD:
		room->bytes = INTMD_STACK_OFFSET;
		room->growth_bytes = room->slots * NTLM_INTMD_NODE_BYTES;
		/*
		 * They must not reach the sequence numbers of new data: a receiver without a layout
		 * leaves the probe to TCP.
		 */
		room->tcp_bytes = room->bytes + room->growth_bytes;
		return true;
	case TLM_IOAM:
		room->bytes = hop_ioam_insert_bytes(ntlm_ioam_data_bytes(room->slots), NULL);
		/* The data's own options may leave no room. */
		return room->ipv6 &&
		       (!skb || hop_ioam_insert_bytes(ntlm_ioam_data_bytes(room->slots),
						      ntlm_old_options(skb)) <= IOAM_HBH_MAX_BYTES);
	default:
		return false;
	}
}

static void ntlm_wrap_push(struct sk_buff *probe, const void *from, unsigned int bytes)
{
	memcpy(skb_push(probe, bytes), from, bytes);
}

/* IFA: both headers, with the TCP header in between. */
static void ntlm_push_ifa(struct sk_buff *probe, const struct int_vendor_room *room)
{
	const unsigned int tcp_bytes = tcp_hdrlen(probe);
	u8 *packet = skb_push(probe, NTLM_IFA_BYTES);

	memmove(packet + IFA_HDR_BYTES, packet + NTLM_IFA_BYTES, tcp_bytes);
	ifa_write_hdr((struct ifa_hdr *)packet, room->space, IFA_NEXT_TCP,
		      room->growth_bytes / IFA_WORD_BYTES);
	ifa_write_md((struct ifa_md *)(packet + IFA_HDR_BYTES + tcp_bytes), IFA_HOP_LIMIT_OFF);
}

/*
 * INT-MD: adds shim and header behind the TCP header of a probe, and to its checksum. The original
 * DSCP is that of the data.
 */
static void ntlm_push_intmd(struct sk_buff *probe, const struct sk_buff *skb,
			    const struct int_vendor_room *room)
{
	const unsigned int tcp_bytes = tcp_hdrlen(probe);
	struct tcphdr *th = skb_push(probe, INTMD_STACK_OFFSET);
	void *shim = (u8 *)th + tcp_bytes;
	__wsum sum;

	memmove(th, (u8 *)th + INTMD_STACK_OFFSET, tcp_bytes);
	hop_intmd_write(shim, INTMD_NPT_DSCP, ntlm_dscp(skb), INTMD_HPCC_BITS, room->space,
			room->slots);
	/* The length in the pseudo-header grows, too. */
	sum = csum_add(~csum_unfold(th->check), (__force __wsum)htonl(INTMD_STACK_OFFSET));
	th->check = csum_fold(csum_add(sum, csum_partial(shim, INTMD_STACK_OFFSET, 0)));
}

/* The IPv6 header, and options with a trace in front of or instead of those of @skb. */
static void ntlm_push_ioam(struct sk_buff *probe, const struct sk_buff *skb, unsigned int ip_bytes,
			   const struct int_vendor_room *room)
{
	const unsigned int data_bytes = ntlm_ioam_data_bytes(room->slots);
	unsigned int first_bytes = sizeof(struct ipv6hdr);
	const u8 *old = ntlm_old_options(skb);
	u8 *hdr;

	if (old)
		first_bytes += (old[1] + 1) * 8;
	ntlm_wrap_push(probe, skb->data + first_bytes, ip_bytes - first_bytes);
	hdr = skb_push(probe, hop_ioam_insert_bytes(data_bytes, old));
	hop_ioam_insert(hdr, old, ipv6_hdr(skb)->nexthdr, room->space, IOAM_HPCC_BITS, data_bytes);
	ntlm_wrap_push(probe, skb->data, sizeof(struct ipv6hdr));
	skb_reset_network_header(probe);
	ipv6_hdr(probe)->nexthdr = NEXTHDR_HOP;
}

void ntlm_wrap(struct sk_buff *probe, const struct sk_buff *skb, const struct hop_segment *seg,
	       const struct int_vendor_room *room)
{
	const enum tlm_format format = room->format - 1;

	if (format == TLM_IOAM) {
		ntlm_push_ioam(probe, skb, seg->place.offset_bytes, room);
		return;
	}
	if (format == TLM_IFA)
		ntlm_push_ifa(probe, room);
	else
		ntlm_push_intmd(probe, skb, room);
	skb_reset_transport_header(probe);
	ntlm_wrap_push(probe, skb->data, seg->place.offset_bytes);
	skb_reset_network_header(probe);
	if (format == TLM_IFA)
		skb_network_header(probe)[seg->place.name_bytes] = IFA_PROTOCOL;
	else
		ntlm_set_dscp(probe, ntlm_dscp_intmd);
}
