/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of a switch qdisc that parse a packet on egress: the number of packets and bytes on
 * the wire, the place of the IP header and of the header behind it, and the ECN field.
 *
 * All functions are for a qdisc's enqueue or dequeue: skb->data is the start of
 * the frame. None of them trusts the packet.
 *
 * Most packets are IP without a VLAN tag in the frame, with their headers in the linear part.
 * Inline code reads these in place. All other packets are parsed by functions that are not
 * inlined, since their buffers and the stack protector would cost each packet as much as parsing.
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

/* Bridges push two tags at most (802.1ad); a frame with more is not treated as IP. */
#define HOP_PKT_VLAN_DEPTH 2

/* Number of MPLS labels that are skipped; Linux pushes 30 at most, networks use a few. */
#define HOP_PKT_LABEL_DEPTH 16

/* Get the address of bytes of a frame; NULL if they are not all in the linear part. */
static __always_inline void *hop_pkt_linear(const struct sk_buff *skb, int offset_bytes,
					    unsigned int bytes)
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
 * Context: softirq, qdisc lock.
 * Return: true if skb_network_header() is an IP header of @type and its first @bytes can be read.
 */
static __always_inline bool hop_pkt_has_ip(const struct sk_buff *skb, u16 type, unsigned int bytes)
{
	const u8 *ip = skb_network_header(skb);

	return skb->protocol == htons(type) && ip >= skb->data &&
	       ip + bytes <= skb_tail_pointer(skb);
}

/* Get a frame's IP header of this type; NULL if the type differs or the header is not linear. */
static __always_inline const void *hop_pkt_plain_ip(const struct sk_buff *skb, u16 type,
						    unsigned int bytes)
{
	return hop_pkt_has_ip(skb, type, bytes) ? skb_network_header(skb) : NULL;
}

/* Is it an IPv4 header without options, of a packet that is not a later fragment? */
static __always_inline bool hop_pkt_is_simple(const struct iphdr *ip)
{
	return likely(ip->version == 4 && ip->ihl == sizeof(*ip) / 4) &&
	       likely(!(ip->frag_off & htons(IP_OFFSET)));
}

/* Get the end of an IPv4 packet or of its linear part; @ip if it is too long for tot_len (0). */
static __always_inline const u8 *hop_pkt_linear_end(const struct sk_buff *skb,
						    const struct iphdr *ip)
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
 * Context: softirq, qdisc lock.
 * Return: true if the header has no options, the packet is not a later fragment, and the @bytes
 * belong to it and are in the linear part; false if hop_pkt_inner() must decide.
 */
static __always_inline bool hop_pkt_has_behind(const struct sk_buff *skb, const struct iphdr *ip,
					       unsigned int bytes)
{
	return hop_pkt_is_simple(ip) && likely(ntohs(ip->tot_len) >= sizeof(*ip) + bytes) &&
	       likely((const u8 *)(ip + 1) + bytes <= skb_tail_pointer(skb));
}

/*
 * The longest headers that are counted for each segment: Ethernet with two tags and four labels
 * (38), VXLAN in IPv6 (70), IPv6 and our longest header (40 + 160), TCP (60), rounded up. The user
 * of a tap or of a virtual machine chooses where the transport header is: 64 kB in front of it and
 * segments of one byte would make one packet 2 GB in the port's estimates.
 */
#define HOP_PKT_HDR_MAX_BYTES 384

/**
 * hop_pkt_hdr_bytes() - get the length of the headers of a GSO packet that each segment repeats
 * @skb: a GSO packet
 *
 * Context: softirq, qdisc lock.
 * Return: bytes from the start of the frame to the end of the transport header, at most
 * HOP_PKT_HDR_MAX_BYTES; 0 if that cannot be read.
 */
static noinline __maybe_unused unsigned int hop_pkt_hdr_bytes(const struct sk_buff *skb)
{
	const unsigned int type = skb_shinfo(skb)->gso_type;
	struct tcphdr buf;
	const struct tcphdr *th;
	unsigned int max_bytes;
	int offset;

	if (!skb_transport_header_was_set(skb))
		return 0;
	offset = skb->encapsulation ? skb_inner_transport_offset(skb) : skb_transport_offset(skb);
	if (offset < 0)
		return 0;
	max_bytes = min_t(unsigned int, HOP_PKT_HDR_MAX_BYTES, skb->len);
	if (!(type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)))
		return min_t(unsigned int, offset + sizeof(struct udphdr), max_bytes);
	th = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return th ? min_t(unsigned int, offset + __tcp_hdrlen(th), max_bytes) : 0;
}

/**
 * hop_pkt_segs() - get the number of packets on the wire that a queued packet stands for
 * @skb: the packet
 * @hdr_bytes: result of hop_pkt_hdr_bytes() if it is a GSO packet
 *
 * Context: softirq, qdisc lock.
 * Return: at least 1.
 */
static inline unsigned int hop_pkt_segs(const struct sk_buff *skb, unsigned int hdr_bytes)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (!shinfo->gso_size)
		return 1;
	/* A packet of a guest or a tap: this kernel did not compute gso_segs. */
	if ((shinfo->gso_type & SKB_GSO_DODGY || !shinfo->gso_segs) &&
	    shinfo->gso_size != GSO_BY_FRAGS)
		return max_t(unsigned int, 1,
			     DIV_ROUND_UP(skb->len - hdr_bytes, shinfo->gso_size));
	return max_t(unsigned int, 1, shinfo->gso_segs);
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

/* Get the length on the wire of a packet that is not a GSO packet. */
static __always_inline u32 hop_pkt_one_bytes(const struct sk_buff *skb, u32 overhead_bytes)
{
	/* A VLAN tag in the skb's metadata becomes part of the frame on the wire. */
	if (skb_vlan_tag_present(skb))
		overhead_bytes += VLAN_HLEN;
	return skb->len + overhead_bytes;
}

/**
 * hop_pkt_wire() - get the size of a queued packet on the wire
 * @skb: the packet, possibly a GSO packet
 * @overhead_bytes: bytes that the link adds to each packet
 *
 * Unlike qdisc_pkt_len(), this function ignores a parent's size table, and
 * counts the headers of forwarded, bridged and tunnelled GSO packets.
 *
 * Context: softirq, qdisc lock.
 * Return: packets and bytes.
 */
static __always_inline struct hop_pkt_wire hop_pkt_wire(const struct sk_buff *skb,
							u32 overhead_bytes)
{
	struct hop_pkt_wire wire = { .segs_pkts = 1 };
	unsigned int hdr_bytes;

	/* A VLAN tag in the skb's metadata becomes part of the frame on the wire. */
	if (skb_vlan_tag_present(skb))
		overhead_bytes += VLAN_HLEN;
	wire.bytes = skb->len + overhead_bytes;
	if (likely(!skb_is_gso(skb)))
		return wire;
	hdr_bytes = hop_pkt_hdr_bytes(skb);
	wire.segs_pkts = hop_pkt_segs(skb, hdr_bytes);
	/* A BIG TCP packet could claim 2^19 segments of 384 and the overhead's bytes: saturate. */
	wire.bytes = min_t(u64, S32_MAX, skb->len + (u64)wire.segs_pkts * overhead_bytes +
			   (u64)(wire.segs_pkts - 1) * hdr_bytes);
	return wire;
}

/*
 * Find the payload of a frame, behind its VLAN tags. If a tag is in the frame and not in the
 * skb's metadata, the network header may point to the tag (bridged 802.1ad) or to IP (packet
 * sockets), so the tags are parsed. Return: the payload's protocol; 0 if the frame is malformed.
 */
static noinline __maybe_unused __be16 hop_pkt_payload_offset(const struct sk_buff *skb,
							     int *offset_bytes)
{
	__be16 proto = skb->protocol;
	int depth;

	*offset_bytes = skb_network_offset(skb);
	if (eth_type_vlan(proto))
		*offset_bytes = ETH_HLEN;
	for (depth = 0; eth_type_vlan(proto); depth++) {
		struct vlan_hdr buf;
		const struct vlan_hdr *vh;

		vh = skb_header_pointer(skb, *offset_bytes, sizeof(buf), &buf);
		if (!vh || depth == HOP_PKT_VLAN_DEPTH)
			return 0;
		proto = vh->h_vlan_encapsulated_proto;
		*offset_bytes += VLAN_HLEN;
	}
	return *offset_bytes < 0 ? 0 : proto;
}

/**
 * hop_pkt_ip_offset() - find the IP header of a frame
 * @skb: the packet
 * @offset_bytes: result: offset of the IP header from the start of the frame
 *
 * The header may stand behind up to two VLAN tags, but not behind MPLS labels: there the label
 * and not the IP header carries the mark (RFC 5129).
 *
 * Context: softirq, qdisc lock.
 * Return: ETH_P_IP or ETH_P_IPV6 in network order; 0 if it is neither.
 */
static inline __be16 hop_pkt_ip_offset(const struct sk_buff *skb, int *offset_bytes)
{
	const __be16 proto = hop_pkt_payload_offset(skb, offset_bytes);

	return proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6) ? proto : 0;
}

/* Skip MPLS labels. Return: true if the bottom of the stack was found within the limits. */
static inline bool hop_pkt_skip_labels(const struct sk_buff *skb, int *offset_bytes)
{
	int depth;

	for (depth = 0; depth < HOP_PKT_LABEL_DEPTH; depth++) {
		struct mpls_shim_hdr buf;
		const struct mpls_shim_hdr *label;

		label = skb_header_pointer(skb, *offset_bytes, sizeof(buf), &buf);
		if (!label)
			return false;
		*offset_bytes += MPLS_HLEN;
		if (label->label_stack_entry & htonl(MPLS_LS_S_MASK))
			return true;
	}
	return false;
}

/* Is it an IPv4 header with a correct checksum, of a packet that ends within the frame? */
static inline bool hop_pkt_is_ipv4(const struct sk_buff *skb, int offset_bytes)
{
	u8 buf[15 * 4] __aligned(4);
	const struct iphdr *ip = skb_header_pointer(skb, offset_bytes, sizeof(*ip), buf);
	unsigned int hdr_bytes;

	if (!ip || ip->version != 4 || ip->ihl < 5)
		return false;
	hdr_bytes = ip->ihl * 4;
	ip = skb_header_pointer(skb, offset_bytes, hdr_bytes, buf);
	if (!ip || ip_fast_csum(ip, ip->ihl))
		return false;
	/* 0: the packet is too long for the field. */
	return !ip->tot_len || (ntohs(ip->tot_len) >= hdr_bytes &&
				offset_bytes + ntohs(ip->tot_len) <= skb->len);
}

/* Is it an IPv6 header, of a packet that ends within the frame? */
static inline bool hop_pkt_is_ipv6(const struct sk_buff *skb, int offset_bytes)
{
	struct ipv6hdr buf;
	const struct ipv6hdr *ip = skb_header_pointer(skb, offset_bytes, sizeof(buf), &buf);

	return ip && ip->version == 6 &&
	       offset_bytes + sizeof(*ip) + ntohs(ip->payload_len) <= skb->len;
}

/**
 * hop_pkt_labelled_ip_offset() - find the IP header of a frame, also behind MPLS labels
 * @skb: the packet
 * @offset_bytes: result: offset of the IP header from the start of the frame
 *
 * Labels do not tell the type of the header behind them. A first nibble of 4 or 6 may also be the
 * start of an Ethernet frame's destination address (RFC 8469), so more of the header is checked.
 *
 * Context: softirq, qdisc lock.
 * Return: ETH_P_IP or ETH_P_IPV6 in network order; 0 if it is neither.
 */
static noinline __maybe_unused __be16 hop_pkt_labelled_ip_offset(const struct sk_buff *skb,
								 int *offset_bytes)
{
	const __be16 proto = hop_pkt_payload_offset(skb, offset_bytes);

	if (proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6))
		return proto;
	if (!proto || !eth_p_mpls(proto) || !hop_pkt_skip_labels(skb, offset_bytes))
		return 0;
	if (hop_pkt_is_ipv4(skb, *offset_bytes))
		return htons(ETH_P_IP);
	return hop_pkt_is_ipv6(skb, *offset_bytes) ? htons(ETH_P_IPV6) : 0;
}

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

/* Parse an IPv4 header with any options. @inner->offset_bytes is the offset of @ip at first. */
static __always_inline bool hop_pkt_read_ipv4(const struct iphdr *ip, struct hop_pkt_inner *inner)
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

static inline bool hop_pkt_inner_ipv4(const struct sk_buff *skb, struct hop_pkt_inner *inner)
{
	struct iphdr buf;
	const struct iphdr *ip = skb_header_pointer(skb, inner->offset_bytes, sizeof(buf), &buf);

	return ip && hop_pkt_read_ipv4(ip, inner);
}

/* Parse an IPv6 header and any extension headers, up to the header @wanted. */
static inline bool hop_pkt_inner_ipv6(const struct sk_buff *skb, u8 wanted,
				      struct hop_pkt_inner *inner)
{
	struct ipv6hdr buf;
	const struct ipv6hdr *ip = skb_header_pointer(skb, inner->offset_bytes, sizeof(buf), &buf);
	__be16 frag_off;

	if (!ip || ip->version != 6)
		return false;
	inner->protocol = ip->nexthdr;
	inner->dsfield = ipv6_get_dsfield(ip);
	inner->offset_bytes += sizeof(*ip);
	if (ip->payload_len)
		inner->end_bytes = inner->offset_bytes + ntohs(ip->payload_len);
	if (inner->protocol != wanted)
		inner->offset_bytes = ipv6_skip_exthdr(skb, inner->offset_bytes, &inner->protocol,
						       &frag_off);
	return inner->offset_bytes > 0;
}

/* hop_pkt_inner() for any packet. */
static noinline __maybe_unused bool hop_pkt_search_inner(const struct sk_buff *skb, u8 wanted,
							 struct hop_pkt_inner *inner)
{
	__be16 proto = hop_pkt_labelled_ip_offset(skb, &inner->offset_bytes);

	inner->end_bytes = skb->len;
	if (proto == htons(ETH_P_IP))
		return hop_pkt_inner_ipv4(skb, inner);
	return proto && hop_pkt_inner_ipv6(skb, wanted, inner);
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
 * Context: softirq, qdisc lock.
 * Return: true if the packet is IP and the header was found.
 */
static __always_inline bool hop_pkt_inner(const struct sk_buff *skb, u8 wanted,
					  struct hop_pkt_inner *inner)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));

	if (unlikely(!ip))
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
 * Context: softirq, qdisc lock.
 * Return: true if hop_pkt_inner() would not find @protocol; false if that function must decide.
 */
static __always_inline bool hop_pkt_lacks(const struct sk_buff *skb, u8 protocol)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	const struct ipv6hdr *ip6;

	if (likely(ip))
		return ip->protocol != protocol;
	ip6 = hop_pkt_plain_ip(skb, ETH_P_IPV6, sizeof(*ip6));
	return ip6 && ip6->nexthdr != protocol &&
	       (ip6->nexthdr == IPPROTO_TCP || ip6->nexthdr == IPPROTO_UDP);
}

/* Get the ECN field of an IP header of this version; -1 if the version differs. */
static __always_inline int hop_pkt_read_ecn(const u8 *ip, unsigned int version)
{
	if (ip[0] >> 4 != version)
		return -1;
	return (version == 4 ? ip[1] : ip[1] >> 4) & INET_ECN_MASK;
}

/* hop_pkt_ecn() for any packet. */
static noinline __maybe_unused int hop_pkt_search_ecn(const struct sk_buff *skb)
{
	u8 buf[2];
	const u8 *ip;
	__be16 proto;
	int offset;

	proto = hop_pkt_ip_offset(skb, &offset);
	if (!proto)
		return -1;
	ip = skb_header_pointer(skb, offset, sizeof(buf), buf);
	if (!ip)
		return -1;
	return hop_pkt_read_ecn(ip, proto == htons(ETH_P_IP) ? 4 : 6);
}

/**
 * hop_pkt_ecn() - read the ECN field
 * @skb: the packet
 *
 * Context: softirq, qdisc lock.
 * Return: INET_ECN_NOT_ECT, _ECT_1, _ECT_0 or _CE; -1 if the packet is not IP.
 */
static __always_inline int hop_pkt_ecn(const struct sk_buff *skb)
{
	const u8 *ip = hop_pkt_plain_ip(skb, ETH_P_IP, 2);

	return likely(ip) ? hop_pkt_read_ecn(ip, 4) : hop_pkt_search_ecn(skb);
}

/**
 * hop_pkt_writable() - make the first bytes of a frame writable
 * @skb: the packet
 * @len_bytes: number of bytes
 *
 * A packet that was flooded by a bridge or is being captured shares its bytes
 * with its clones. pktgen holds a reference to its packet, so the bytes of that cannot be copied.
 *
 * Context: softirq, qdisc lock. May move skb->head.
 * Return: true if the bytes can be written.
 */
static __always_inline bool hop_pkt_writable(struct sk_buff *skb, unsigned int len_bytes)
{
	if (likely(!skb_cloned(skb) && len_bytes <= skb_headlen(skb)))
		return true;
	if (skb_shared(skb) && (skb_cloned(skb) || len_bytes > skb_headlen(skb)))
		return false;
	return !skb_ensure_writable(skb, len_bytes);
}

/**
 * hop_pkt_set_ce() - mark Congestion Experienced, RFC 3168 section 5
 * @skb: the packet
 *
 * Context: softirq, qdisc lock. May move skb->head.
 * Return: true if the packet now carries CE; false if it is not ECN-capable or its header could
 * not be made writable.
 */
static inline bool hop_pkt_set_ce(struct sk_buff *skb)
{
	__be16 proto;
	int offset;

	proto = hop_pkt_ip_offset(skb, &offset);
	if (proto == htons(ETH_P_IP))
		return hop_pkt_writable(skb, offset + sizeof(struct iphdr)) &&
		       IP_ECN_set_ce((struct iphdr *)(skb->data + offset));
	if (proto == htons(ETH_P_IPV6))
		return hop_pkt_writable(skb, offset + sizeof(struct ipv6hdr)) &&
		       IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + offset));
	return false;
}

#endif /* HOPCC_LIB_HOP_PKT_H */
