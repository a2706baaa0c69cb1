/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of a switch qdisc that parse a packet on egress: the number of packets and bytes on
 * the wire, the place of the IP header and of the header behind it, and the ECN field.
 *
 * All functions are for a qdisc's enqueue or dequeue: skb->data is the start of
 * the frame. None of them trusts the packet.
 *
 * Most packets are IP without a VLAN tag in the frame, with their headers in the linear part.
 * Inline code here reads these in place; hop_core/hop_pkt.c parses all others.
 */
#ifndef HOPCC_LIB_HOP_PKT_H
#define HOPCC_LIB_HOP_PKT_H

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mpls.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/mpls.h>

/* Get the address of bytes of a frame; NULL if they are not all in the linear part. */
static inline void *hop_pkt_linear(const struct sk_buff *skb, int offset_bytes, unsigned int bytes)
{
	if (offset_bytes < 0 || (int)skb_headlen(skb) - offset_bytes < (int)bytes)
		return NULL;
	return skb->data + offset_bytes;
}

/**
 * hop_pkt_has_ip() - is a frame's IP header where the network header is, in the linear part?
 * @skb: the packet
 * @type: ETH_P_IP or ETH_P_IPV6
 * @bytes: size of the header's part that is to be read, bytes
 *
 * Compares pointers, which takes fewer instructions than comparing offsets.
 *
 * Return: true if skb_network_header() is an IP header of @type and its first @bytes can be read.
 */
static inline bool hop_pkt_has_ip(const struct sk_buff *skb, u16 type, unsigned int bytes)
{
	const u8 *ip = skb_network_header(skb);

	return skb->protocol == htons(type) && ip >= skb->data &&
	       ip + bytes <= skb_tail_pointer(skb);
}

/* Get a frame's IP header of this type; NULL if the type differs or the header is not linear. */
static inline const void *hop_pkt_plain_ip(const struct sk_buff *skb, u16 type, unsigned int bytes)
{
	return hop_pkt_has_ip(skb, type, bytes) ? skb_network_header(skb) : NULL;
}

/* Is it an IPv4 header without options, of a packet that is not a later fragment? */
static inline bool hop_pkt_is_simple(const struct iphdr *ip)
{
	return ip->version == 4 && ip->ihl == sizeof(*ip) / 4 &&
	       !(ip->frag_off & htons(IP_OFFSET));
}

/* Get the end of an IPv4 packet or of its linear part; @ip if it is too long for tot_len (0). */
static inline const u8 *hop_pkt_linear_end(const struct sk_buff *skb, const struct iphdr *ip)
{
	const u8 *end = (const u8 *)ip + ntohs(ip->tot_len);

	return min_t(const u8 *, end, skb_tail_pointer(skb));
}

/**
 * hop_pkt_has_behind() - can the bytes behind an IPv4 header without options be read in place?
 * @skb: the packet
 * @ip: its IPv4 header, in the linear part
 * @bytes: number of bytes behind the header
 *
 * Return: true if the header has no options, the packet is not a later fragment, and the @bytes
 * belong to it and are in the linear part; false if hop_pkt_inner() must decide.
 */
static inline bool hop_pkt_has_behind(const struct sk_buff *skb, const struct iphdr *ip,
				      unsigned int bytes)
{
	return hop_pkt_is_simple(ip) && ntohs(ip->tot_len) >= sizeof(*ip) + bytes &&
	       (const u8 *)(ip + 1) + bytes <= skb_tail_pointer(skb);
}

/**
 * struct hop_pkt_wire - size of a queued packet on the wire
 * @segs_pkts: number of packets
 * @bytes: total length, including the headers and the overhead of each packet
 */
struct hop_pkt_wire {
	u32 segs_pkts;
	u32 bytes;
};

/* hop_pkt_wire() for a GSO packet */
struct hop_pkt_wire hop_pkt_wire_gso(const struct sk_buff *skb, u32 overhead_bytes);

/**
 * hop_pkt_wire() - get the size of a queued packet on the wire
 * @skb: the packet, possibly a GSO packet
 * @overhead_bytes: bytes that the link adds to each packet
 *
 * Unlike qdisc_pkt_len(), this function ignores a parent's size table, and
 * counts the headers of forwarded, bridged and tunnelled GSO packets.
 *
 * Return: packets and bytes.
 */
static inline struct hop_pkt_wire hop_pkt_wire(const struct sk_buff *skb, u32 overhead_bytes)
{
	/* A VLAN tag in the skb's metadata becomes part of the frame on the wire. */
	if (skb_vlan_tag_present(skb))
		overhead_bytes += VLAN_HLEN;
	if (skb_is_gso(skb))
		return hop_pkt_wire_gso(skb, overhead_bytes);
	return (struct hop_pkt_wire) { .segs_pkts = 1, .bytes = skb->len + overhead_bytes };
}

__be16 hop_pkt_ip_offset(const struct sk_buff *skb, int *offset_bytes);

/**
 * struct hop_pkt_inner - the header behind IP
 * @offset_bytes: offset of that header from the start of the frame
 * @end_bytes: offset of the end of the IP packet; the frame may be padded
 * @protocol: protocol number of that header
 * @dsfield: DSCP and ECN of the IP header
 */
struct hop_pkt_inner {
	int offset_bytes;
	int end_bytes;
	u8 protocol;
	u8 dsfield;
};

/* hop_pkt_inner() for any packet */
bool hop_pkt_search_inner(const struct sk_buff *skb, u8 wanted, struct hop_pkt_inner *inner);
bool hop_pkt_inner_at(const struct sk_buff *skb, u16 type, u8 wanted, struct hop_pkt_inner *inner);

/* Parse an IPv4 header with any options. @inner->offset_bytes is the offset of @ip at first. */
static inline bool hop_pkt_read_ipv4(const struct iphdr *ip, struct hop_pkt_inner *inner)
{
	/* Only the first fragment contains the header behind IP. */
	if (ip->version != 4 || ip->ihl < 5 || ip->frag_off & htons(IP_OFFSET))
		return false;
	if (ip->tot_len)
		inner->end_bytes = inner->offset_bytes + ntohs(ip->tot_len);
	inner->offset_bytes += ip->ihl * 4;
	inner->protocol = ip->protocol;
	inner->dsfield = ip->tos;
	return true;
}

/**
 * hop_pkt_inner() - find the header behind IP
 * @skb: the packet
 * @wanted: a protocol number that is never skipped as an extension header
 * @inner: result
 *
 * The IP header may stand behind VLAN tags and MPLS labels. If a packet is fragmented, the
 * header is found in the first fragment only.
 *
 * Return: true if the packet is IP and the header was found.
 */
static inline bool hop_pkt_inner(const struct sk_buff *skb, u8 wanted, struct hop_pkt_inner *inner)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));

	if (!ip)
		return hop_pkt_search_inner(skb, wanted, inner);
	inner->offset_bytes = skb_network_offset(skb);
	inner->end_bytes = skb->len;
	return hop_pkt_read_ipv4(ip, inner);
}

/**
 * hop_pkt_lacks() - test quickly that a packet is not for a switch qdisc
 * @skb: the packet
 * @protocol: IP protocol of the header that the qdisc reads
 *
 * Return: true if hop_pkt_inner() would not find @protocol; false if that function must decide.
 */
static inline bool hop_pkt_lacks(const struct sk_buff *skb, u8 protocol)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	const struct ipv6hdr *ip6;

	if (ip)
		return ip->protocol != protocol;
	ip6 = hop_pkt_plain_ip(skb, ETH_P_IPV6, sizeof(*ip6));
	return ip6 && ip6->nexthdr != protocol &&
	       (ip6->nexthdr == IPPROTO_TCP || ip6->nexthdr == IPPROTO_UDP);
}

/* Get the ECN field of an IP header of this version; -1 if the version differs. */
static inline int hop_pkt_read_ecn(const u8 *ip, unsigned int version)
{
	if (ip[0] >> 4 != version)
		return -1;
	return (version == 4 ? ip[1] : ip[1] >> 4) & INET_ECN_MASK;
}

/* hop_pkt_ecn() for any packet */
int hop_pkt_search_ecn(const struct sk_buff *skb);

/**
 * hop_pkt_ecn() - read the ECN field
 * @skb: the packet
 *
 * Return: INET_ECN_NOT_ECT, _ECT_1, _ECT_0 or _CE; -1 if the packet is not IP.
 */
static inline int hop_pkt_ecn(const struct sk_buff *skb)
{
	const u8 *ip = hop_pkt_plain_ip(skb, ETH_P_IP, 2);

	return ip ? hop_pkt_read_ecn(ip, 4) : hop_pkt_search_ecn(skb);
}

/**
 * hop_pkt_writable() - make the first bytes of a frame writable
 * @skb: the packet
 * @len_bytes: number of bytes
 *
 * A packet that was flooded by a bridge or is being captured shares its bytes
 * with its clones. pktgen holds a reference to its packet, so the bytes of that cannot be copied.
 *
 * May move skb->head.
 * Return: true if the bytes can be written.
 */
static inline bool hop_pkt_writable(struct sk_buff *skb, unsigned int len_bytes)
{
	if (!skb_cloned(skb) && len_bytes <= skb_headlen(skb))
		return true;
	return !skb_shared(skb) && !skb_ensure_writable(skb, len_bytes);
}

bool hop_pkt_set_ce(struct sk_buff *skb);

/* A NIC's checksum over the packet is not valid after the packet has been changed. */
static inline void hop_pkt_forget_sum(struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

#endif /* HOPCC_LIB_HOP_PKT_H */
