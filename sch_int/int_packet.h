/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the INT header in a packet, and write it such that every checksum stays valid. For use in
 * dequeue: skb->data is at the start of the frame.
 *
 *	inband	IP with our protocol number: the header, then the transport header
 *	probe	TCP whose first option is the mark of probes: struct int_msg, then the header
 *
 * Other switches may have written into a probe in front of struct int_msg: IFA 2.0, whose protocol
 * number is then IP's, or INT-MD 2.1.
 */
#ifndef HOPCC_SCH_INT_INT_PACKET_H
#define HOPCC_SCH_INT_INT_PACKET_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <hopcc/lib/hop_pkt.h>
#include <hopcc/wire/ifa.h>
#include <hopcc/wire/int.h>
#include <hopcc/wire/int_md.h>

/* The longest part in front of an IFA packet's metadata that is read. */
#define SINT_IFA_LOOK_BYTES	(IFA_HDR_BYTES + 60 + 2 * IFA_WORD_BYTES + IFA_MD_BYTES)

/* Size of struct int_msg, which precedes a probe's header */
static_assert(sizeof(struct int_msg) == INT_MSG_BYTES);
static_assert(sizeof(struct int_hdr) + INT_WORD_BYTES == INT_HDR_BYTES);

#define INT_HDR_MAX_BYTES (INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES)

/**
 * struct sint_marked - a TCP header with the mark of probes or another first option
 * @th: the header without options
 * @mark: INT_MARK_PROBE in a probe
 */
struct sint_marked {
	struct tcphdr th;
	__be32 mark;
};

static_assert(sizeof(struct sint_marked) == INT_TCP_BYTES);

/**
 * enum sint_carrier - encapsulation of the INT header
 * @INT_CARRIER_NONE: there is no header
 * @INT_CARRIER_INBAND: directly in IP
 * @INT_CARRIER_PROBE: in a TCP probe
 */
enum sint_carrier {
	INT_CARRIER_NONE,
	INT_CARRIER_INBAND,
	INT_CARRIER_PROBE,
};

/**
 * struct sint_place - position of the INT header
 * @carrier: encapsulation of the header
 * @offset_bytes: offset of the header from the start of the frame
 * @end_bytes: offset of the end of the packet
 * @transport_bytes: offset of a probe's TCP header
 * @check_bytes: offset of its checksum
 */
struct sint_place {
	enum sint_carrier carrier;
	int offset_bytes;
	int end_bytes;
	int transport_bytes;
	int check_bytes;
};

/*
 * Return: true if the TCP header at @th has no mark of a probe; false if it has, or if it is not in
 * the linear part
 */
static inline bool sint_lacks_mark(const struct sk_buff *skb, const void *th)
{
	const struct sint_marked *m = th;

	if ((const u8 *)(m + 1) > skb_tail_pointer(skb))
		return skb->len == skb_headlen(skb);
	return m->mark != htonl(INT_MARK_PROBE);
}

/**
 * sint_lacks_tcp() - check quickly that a TCP packet is no probe
 * @skb: the packet
 * @ip: its IPv4 header, in the linear part, with TCP's protocol number
 *
 * Return: true if it is none; false if sint_find() must be called.
 */
static inline bool sint_lacks_tcp(const struct sk_buff *skb, const struct iphdr *ip)
{
	return ip->ihl == sizeof(*ip) / 4 && sint_lacks_mark(skb, ip + 1);
}

/**
 * sint_lacks() - check quickly that a packet has no INT header
 * @skb: the packet
 * @protocol: IP protocol number of inband packets
 *
 * Return: true if sint_find() would find none; false if sint_find() must be called.
 */
static inline bool sint_lacks(const struct sk_buff *skb, u8 protocol)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	const struct ipv6hdr *ip6;

	if (ip && ip->protocol == IPPROTO_TCP)
		return sint_lacks_tcp(skb, ip);
	if (ip)
		return ip->protocol != protocol && ip->protocol != IFA_PROTOCOL;
	ip6 = hop_pkt_plain_ip(skb, ETH_P_IPV6, sizeof(*ip6));
	if (ip6 && ip6->nexthdr == IPPROTO_TCP)
		return sint_lacks_mark(skb, ip6 + 1);
	return ip6 && ip6->nexthdr == IPPROTO_UDP && protocol != IPPROTO_UDP;
}

/**
 * sint_find() - find a packet's INT header
 * @skb: the packet
 * @protocol: IP protocol number of inband packets
 * @echoes: find also the header of an answer, which hops do not write
 * @place: result
 */
void sint_find(const struct sk_buff *skb, u8 protocol, bool echoes, struct sint_place *place);

/**
 * sint_is_message() - does the message of a probe or an answer follow TCP directly?
 * @skb: a packet with one of the marks
 * @payload_bytes: offset of TCP's payload from the start of the frame
 * @end_bytes: offset of the end of the header: an answer ends there, and a probe's terms follow
 *
 * If another switch has inserted metadata in front of the message, the packet is longer than the
 * number of slots in the header allows. That number is the header's last word.
 *
 * Return: true if the slots are those of a message at @payload_bytes.
 */
bool sint_is_message(const struct sk_buff *skb, int payload_bytes, int end_bytes);

/**
 * sint_read() - read and validate a header
 * @skb: the packet
 * @place: position of the header, from sint_find()
 * @type: result: type of the header
 * @bytes: result: length of the header
 *
 * Return: INT_OK or the fault.
 */
enum int_fault sint_read(const struct sk_buff *skb, const struct sint_place *place, u8 *type,
			 unsigned int *bytes);

/*
 * Return: true if the packet holds TCP's complete checksum, so that a change of the payload must be
 * added to it. This is not so if the device will compute the checksum: then it covers only the
 * pseudo-header, as in every GSO packet.
 */
bool sint_check_stands(const struct sk_buff *skb, const struct sint_place *place);

/**
 * sint_correct_check() - update a checksum for bytes that changed
 * @check: the checksum of TCP
 * @change: new words minus old ones, from sint_hop_write(); they start an even number of bytes
 *	after the TCP header
 */
static inline void sint_correct_check(__sum16 *check, s64 change)
{
	/*
	 * Adding 2^19 (2^16 - 1) does not change the checksum. The sum is above 0 and below 2^36.
	 */
	const u64 sum = (u16)~(__force u16)*check + change + (0xffffULL << 19);

	*check = csum_fold(csum_add((__force __wsum)(u32)sum, (__force __wsum)(u32)(sum >> 32)));
}

/*
 * Return: the header at @at if it and everything before it is in the linear part, its type is
 * @type, and int_check() would pass it; otherwise NULL
 */
static __always_inline struct int_hdr *sint_near(const void *at, const u8 *end, enum int_type type)
{
	struct int_hdr *h = (struct int_hdr *)at;

	if ((const u8 *)at + INT_HDR_BYTES > end || h->type != type ||
	    int_check(h, end - (const u8 *)at) != INT_OK)
		return NULL;
	return h;
}

/**
 * sint_near_inband() - get an inband header after an IPv4 header, the most frequent position
 * @skb: the packet
 * @ip: the IPv4 header in the linear part, with our protocol number
 *
 * Return: a header of type DATA in the linear part that int_check() passes; NULL if
 * sint_find() and sint_read() must be used instead.
 */
static inline struct int_hdr *sint_near_inband(const struct sk_buff *skb,
					       const struct iphdr *ip)
{
	if (!hop_pkt_is_simple(ip))
		return NULL;
	return sint_near(ip + 1, hop_pkt_linear_end(skb, ip), INT_TYPE_DATA);
}

/**
 * sint_near_probe() - get the header of a probe in IPv4 at the most frequent position
 * @skb: the packet
 * @ip: the IPv4 header in the linear part
 *
 * The TCP header follows @ip.
 *
 * Return: a header of type PROBE in the linear part that int_check() passes; NULL if sint_find()
 * and sint_read() must be used instead.
 */
static inline struct int_hdr *sint_near_probe(const struct sk_buff *skb,
					      const struct iphdr *ip)
{
	const struct sint_marked *m = (const struct sint_marked *)(ip + 1);
	const u8 *end;
	struct int_hdr *h;

	/* If the device computes the checksum, sint_check_stands() must check what it covers. */
	if (!hop_pkt_is_simple(ip) || skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL)
		return NULL;
	end = hop_pkt_linear_end(skb, ip);
	if ((const u8 *)(m + 1) > end || m->mark != htonl(INT_MARK_PROBE) ||
	    m->th.doff < sizeof(*m) / 4)
		return NULL;
	h = sint_near((const u8 *)&m->th + __tcp_hdrlen(&m->th) + INT_MSG_BYTES, end,
		      INT_TYPE_PROBE);
	/* As sint_is_message(): the slots agree with h->words. */
	if (!h || (const u8 *)h + h->words * INT_WORD_BYTES + INT_TERMS_BYTES != end)
		return NULL;
	return h;
}

#endif /* HOPCC_SCH_INT_INT_PACKET_H */
