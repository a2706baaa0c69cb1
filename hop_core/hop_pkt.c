// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of a switch qdisc that parse a packet on egress, for packets that hopcc/lib/hop_pkt.h
 * does not read in place: GSO packets, and headers behind VLAN tags, MPLS labels, options and
 * extensions, or outside the linear part.
 */
#include <linux/module.h>
#include <hopcc/lib/hop_pkt.h>

/* Bridges push two tags at most (802.1ad); a frame with more is not treated as IP. */
#define HOP_PKT_VLAN_DEPTH 2

/* Number of MPLS labels that are skipped; Linux pushes 30 at most, networks use a few. */
#define HOP_PKT_LABEL_DEPTH 16

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
 * Return: bytes from the start of the frame to the end of the transport header, at most
 * HOP_PKT_HDR_MAX_BYTES; 0 if that cannot be read.
 */
static unsigned int hop_pkt_hdr_bytes(const struct sk_buff *skb)
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
 * Return: at least 1.
 */
static unsigned int hop_pkt_segs(const struct sk_buff *skb, unsigned int hdr_bytes)
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

struct hop_pkt_wire hop_pkt_wire_gso(const struct sk_buff *skb, u32 overhead_bytes)
{
	const unsigned int hdr_bytes = hop_pkt_hdr_bytes(skb);
	const u32 segs_pkts = hop_pkt_segs(skb, hdr_bytes);

	return (struct hop_pkt_wire) {
		.segs_pkts = segs_pkts,
		/*
		 * A BIG TCP packet could claim 2^19 segments of 384 and the overhead's bytes:
		 * saturate.
		 */
		.bytes = min_t(u64, S32_MAX, skb->len + (u64)segs_pkts * overhead_bytes +
			       (u64)(segs_pkts - 1) * hdr_bytes),
	};
}
EXPORT_SYMBOL_GPL(hop_pkt_wire_gso);

/*
 * Find the payload of a frame, behind its VLAN tags. If a tag is in the frame and not in the
 * skb's metadata, the network header may point to the tag (bridged 802.1ad) or to IP (packet
 * sockets), so the tags are parsed. Return: the payload's protocol; 0 if the frame is malformed.
 */
static __be16 hop_pkt_payload_offset(const struct sk_buff *skb, int *offset_bytes)
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
 * Return: ETH_P_IP or ETH_P_IPV6 in network order; 0 if it is neither.
 */
__be16 hop_pkt_ip_offset(const struct sk_buff *skb, int *offset_bytes)
{
	const __be16 proto = hop_pkt_payload_offset(skb, offset_bytes);

	return proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6) ? proto : 0;
}
EXPORT_SYMBOL_GPL(hop_pkt_ip_offset);

/* Skip MPLS labels. Return: true if the bottom of the stack was found within the limits. */
static bool hop_pkt_skip_labels(const struct sk_buff *skb, int *offset_bytes)
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
static bool hop_pkt_is_ipv4(const struct sk_buff *skb, int offset_bytes)
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
static bool hop_pkt_is_ipv6(const struct sk_buff *skb, int offset_bytes)
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
 * Labels do not contain the type of the header behind them. A first nibble of 4 or 6 may also be
 * the start of an Ethernet frame's destination address (RFC 8469), so more of the header is
 * checked.
 *
 * Return: ETH_P_IP or ETH_P_IPV6 in network order; 0 if it is neither.
 */
static __be16 hop_pkt_labelled_ip_offset(const struct sk_buff *skb, int *offset_bytes)
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

static bool hop_pkt_inner_ipv4(const struct sk_buff *skb, struct hop_pkt_inner *inner)
{
	struct iphdr buf;
	const struct iphdr *ip = skb_header_pointer(skb, inner->offset_bytes, sizeof(buf), &buf);

	return ip && hop_pkt_read_ipv4(ip, inner);
}

/* Parse an IPv6 header and any extension headers, up to the header @wanted. */
static bool hop_pkt_inner_ipv6(const struct sk_buff *skb, u8 wanted, struct hop_pkt_inner *inner)
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

/**
 * hop_pkt_inner_at() - find the header behind the IP header at an offset
 * @skb: the packet
 * @type: type of the IP header, ETH_P_IP or ETH_P_IPV6
 * @wanted: a protocol number that is never skipped as an extension header
 * @inner: @offset_bytes and @end_bytes are of the IP header at first; result
 *
 * Return: true if the header was found.
 */
bool hop_pkt_inner_at(const struct sk_buff *skb, u16 type, u8 wanted, struct hop_pkt_inner *inner)
{
	return type == ETH_P_IP ? hop_pkt_inner_ipv4(skb, inner) :
				  hop_pkt_inner_ipv6(skb, wanted, inner);
}
EXPORT_SYMBOL_GPL(hop_pkt_inner_at);

bool hop_pkt_search_inner(const struct sk_buff *skb, u8 wanted, struct hop_pkt_inner *inner)
{
	const __be16 proto = hop_pkt_labelled_ip_offset(skb, &inner->offset_bytes);

	inner->end_bytes = skb->len;
	return proto && hop_pkt_inner_at(skb, ntohs(proto), wanted, inner);
}
EXPORT_SYMBOL_GPL(hop_pkt_search_inner);

int hop_pkt_search_ecn(const struct sk_buff *skb)
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
EXPORT_SYMBOL_GPL(hop_pkt_search_ecn);

/**
 * hop_pkt_set_ce() - mark Congestion Experienced, RFC 3168 section 5
 * @skb: the packet
 *
 * May move skb->head.
 * Return: true if the packet now carries CE; false if it is not ECN-capable or its header could
 * not be made writable.
 */
bool hop_pkt_set_ce(struct sk_buff *skb)
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
EXPORT_SYMBOL_GPL(hop_pkt_set_ce);
