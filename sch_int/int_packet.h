/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the INT header in a packet, and write it such that every checksum stays valid. For use in
 * dequeue: skb->data is at the start of the frame and the qdisc's lock is held.
 *
 *	inband	IP with our protocol number: the header, then the transport header
 *	encap	IP with the DSCP of data, UDP to our port: the header, then its payload
 *	probe	IP with the DSCP of probes, TCP: struct int_msg, then the header
 *
 * Other switches may have written into a probe in front of struct int_msg: IFA 2.0, whose protocol
 * number is then IP's, or INT-MD 2.1.
 */
#ifndef HOPCC_SCH_INT_INT_PACKET_H
#define HOPCC_SCH_INT_INT_PACKET_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
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
 * struct sint_marks - values that identify INT packets; written by the owner of the struct
 * @udp_port: destination port of encapsulated packets
 * @protocol: IP protocol number of inband packets
 * @dscp_data: DSCP of encapsulated packets
 * @dscp_probe: DSCP of probes
 */
struct sint_marks {
	__be16 udp_port;
	u8 protocol;
	u8 dscp_data;
	u8 dscp_probe;
};

/**
 * enum sint_carrier - encapsulation of the INT header
 * @INT_CARRIER_NONE: there is no header
 * @INT_CARRIER_INBAND: directly in IP
 * @INT_CARRIER_ENCAP: in UDP
 * @INT_CARRIER_PROBE: in a TCP probe
 */
enum sint_carrier {
	INT_CARRIER_NONE,
	INT_CARRIER_INBAND,
	INT_CARRIER_ENCAP,
	INT_CARRIER_PROBE,
};

/**
 * struct sint_place - position of the INT header
 * @carrier: encapsulation of the header
 * @offset_bytes: offset of the header from the start of the frame
 * @end_bytes: offset of the end of the packet
 * @transport_bytes: offset of the UDP or TCP header
 * @check_bytes: offset of the transport's checksum
 */
struct sint_place {
	enum sint_carrier carrier;
	int offset_bytes;
	int end_bytes;
	int transport_bytes;
	int check_bytes;
};

/* Recognize an encapsulated header by the UDP header at @place. */
static __always_inline void sint_place_encap(const struct udphdr *uh,
					     const struct sint_marks *marks,
					     struct sint_place *place)
{
	if (uh->dest != marks->udp_port)
		return;
	/* A length of 0 means that the packet is longer than the field can hold. */
	if (uh->len)
		place->end_bytes = min(place->end_bytes, place->offset_bytes + ntohs(uh->len));
	place->carrier = INT_CARRIER_ENCAP;
	place->transport_bytes = place->offset_bytes;
	place->check_bytes = place->offset_bytes + offsetof(struct udphdr, check);
	place->offset_bytes += sizeof(*uh);
}

/*
 * Return: offset of a probe's message after the TCP header at @place; 0 if there is no room for one
 */
static __always_inline int sint_message_offset(const struct tcphdr *th,
					       const struct sint_place *place)
{
	const int payload_bytes = place->offset_bytes + __tcp_hdrlen(th);

	if (th->doff < sizeof(*th) / 4 || payload_bytes + (int)sizeof(__be32) > place->end_bytes)
		return 0;
	return payload_bytes;
}

/* Recognize a probe by the word at @payload_bytes, the offset from sint_message_offset(). */
static __always_inline void sint_place_probe(__be32 magic, int payload_bytes,
					     struct sint_place *place)
{
	if (magic != htonl(INT_MSG_MAGIC))
		return;
	place->carrier = INT_CARRIER_PROBE;
	place->transport_bytes = place->offset_bytes;
	place->check_bytes = place->offset_bytes + offsetof(struct tcphdr, check);
	place->offset_bytes = payload_bytes + INT_MSG_BYTES;
}

static inline void sint_find_encap(const struct sk_buff *skb, const struct sint_marks *marks,
				   struct sint_place *place)
{
	struct udphdr buf;
	const struct udphdr *uh = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);

	if (uh)
		sint_place_encap(uh, marks, place);
}

/* Recognize a probe by the message at @payload_bytes; @place is at the TCP header. */
static inline void sint_find_message(const struct sk_buff *skb, int payload_bytes,
				     struct sint_place *place)
{
	__be32 magic;

	if (payload_bytes + (int)sizeof(magic) <= place->end_bytes &&
	    !skb_copy_bits(skb, payload_bytes, &magic, sizeof(magic)))
		sint_place_probe(magic, payload_bytes, place);
}

/* Recognize a probe whose payload starts with INT-MD. */
static inline void sint_find_behind_intmd(const struct sk_buff *skb, int payload_bytes,
					  struct sint_place *place)
{
	u8 buf[INTMD_STACK_OFFSET];
	const u8 *shim = skb_header_pointer(skb, payload_bytes, sizeof(buf), buf);
	struct intmd_view v;

	if (shim && !intmd_parse(&v, shim, place->end_bytes - payload_bytes))
		sint_find_message(skb, payload_bytes + v.shim_bytes, place);
}

static inline void sint_find_probe(const struct sk_buff *skb, struct sint_place *place)
{
	struct tcphdr buf;
	const struct tcphdr *th = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);
	const int payload_bytes = th ? sint_message_offset(th, place) : 0;

	if (!payload_bytes)
		return;
	sint_find_message(skb, payload_bytes, place);
	if (place->carrier == INT_CARRIER_NONE)
		sint_find_behind_intmd(skb, payload_bytes, place);
}

/* Recognize a probe with IFA; @place is at the IFA header. */
static noinline __maybe_unused void sint_find_behind_ifa(const struct sk_buff *skb,
							 struct sint_place *place)
{
	static const struct ifa_params as_default;
	const int room_bytes = place->end_bytes - place->offset_bytes;
	u8 buf[SINT_IFA_LOOK_BYTES];
	struct ifa_view v;
	const u8 *packet;

	if (room_bytes <= 0)
		return;
	packet = skb_header_pointer(skb, place->offset_bytes,
				    min_t(int, room_bytes, sizeof(buf)), buf);
	if (!packet || ifa_parse(&v, &as_default, packet, room_bytes) || v.next != IFA_NEXT_TCP)
		return;
	place->offset_bytes += IFA_HDR_BYTES;
	sint_find_message(skb, place->offset_bytes + v.l4_bytes + v.shim_bytes, place);
}

/* Return: true if no INT packet uses this protocol or this DSCP */
static __always_inline bool sint_lacks_mark(const struct sint_marks *marks, u8 protocol, u8 dsfield)
{
	const u8 dscp = dsfield >> 2;

	return protocol != marks->protocol && dscp != marks->dscp_data && dscp != marks->dscp_probe;
}

/**
 * sint_lacks() - check quickly that a packet has no INT header
 * @skb: the packet
 * @marks: protocol, port and DSCPs of INT packets
 *
 * Return: true if sint_find() would find none; false if sint_find() must be called.
 */
static __always_inline bool sint_lacks(const struct sk_buff *skb, const struct sint_marks *marks)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	const struct ipv6hdr *ip6;

	if (likely(ip))
		return sint_lacks_mark(marks, ip->protocol, ip->tos);
	ip6 = hop_pkt_plain_ip(skb, ETH_P_IPV6, sizeof(*ip6));
	return ip6 && (ip6->nexthdr == IPPROTO_TCP || ip6->nexthdr == IPPROTO_UDP) &&
	       sint_lacks_mark(marks, ip6->nexthdr, ipv6_get_dsfield(ip6));
}

/**
 * sint_find() - find a packet's INT header
 * @skb: the packet
 * @marks: protocol, port and DSCPs of INT packets
 * @place: result
 */
static inline void sint_find(const struct sk_buff *skb, const struct sint_marks *marks,
			     struct sint_place *place)
{
	struct hop_pkt_inner inner;

	place->carrier = INT_CARRIER_NONE;
	if (!hop_pkt_inner(skb, marks->protocol, &inner))
		return;
	place->offset_bytes = inner.offset_bytes;
	place->end_bytes = min_t(int, inner.end_bytes, skb->len);
	if (inner.protocol == marks->protocol)
		place->carrier = INT_CARRIER_INBAND;
	else if (inner.protocol == IPPROTO_UDP && inner.dsfield >> 2 == marks->dscp_data)
		sint_find_encap(skb, marks, place);
	else if (inner.protocol == IPPROTO_TCP && inner.dsfield >> 2 == marks->dscp_probe)
		sint_find_probe(skb, place);
	else if (inner.protocol == IFA_PROTOCOL && inner.dsfield >> 2 == marks->dscp_probe)
		sint_find_behind_ifa(skb, place);
}

/* Return: true if a header of this type may be in this encapsulation */
static inline bool sint_belongs(enum sint_carrier carrier, u8 type)
{
	if (type == INT_TYPE_ECHO)
		return true;
	return (carrier == INT_CARRIER_PROBE) == (type == INT_TYPE_PROBE);
}

/* Validate a header. @h: NULL if the packet ends within the header */
static __always_inline enum int_fault sint_read_header(struct int_hdr *h, int room_bytes,
						       enum sint_carrier carrier, u8 *type,
						       unsigned int *bytes)
{
	const enum int_fault fault = int_check(h, room_bytes);

	if (fault)
		return fault;
	*type = h->type;
	*bytes = h->words * INT_WORD_BYTES;
	return sint_belongs(carrier, h->type) ? INT_OK : INT_BAD_TYPE;
}

/*
 * Return: the header if it is in the linear part with the whole length that it claims, or NULL.
 * int_check() reads no further than this
 */
static __always_inline struct int_hdr *sint_in_place(const struct sk_buff *skb,
						     const struct sint_place *place)
{
	struct int_hdr *h = hop_pkt_linear(skb, place->offset_bytes, INT_HDR_BYTES);

	if (!h || !hop_pkt_linear(skb, place->offset_bytes, h->words * INT_WORD_BYTES))
		return NULL;
	return h;
}

/* sint_read() for a header that is not in the linear part */
static noinline __maybe_unused enum int_fault sint_read_copy(const struct sk_buff *skb,
							     const struct sint_place *place,
							     u8 *type, unsigned int *bytes)
{
	const int room_bytes = max(place->end_bytes - place->offset_bytes, 0);
	u64 buf[DIV_ROUND_UP(INT_HDR_MAX_BYTES, sizeof(u64))];
	struct int_hdr *h = NULL;

	if (room_bytes)
		h = skb_header_pointer(skb, place->offset_bytes,
				       min_t(int, room_bytes, INT_HDR_MAX_BYTES), buf);
	return sint_read_header(h, room_bytes, place->carrier, type, bytes);
}

/**
 * sint_read() - read and validate a header
 * @skb: the packet
 * @place: position of the header, from sint_find()
 * @type: result: type of the header
 * @bytes: result: length of the header
 *
 * Return: INT_OK or the fault.
 */
static inline enum int_fault sint_read(const struct sk_buff *skb, const struct sint_place *place,
				       u8 *type, unsigned int *bytes)
{
	struct int_hdr *h = sint_in_place(skb, place);

	if (h)
		return sint_read_header(h, max(place->end_bytes - place->offset_bytes, 0),
					place->carrier, type, bytes);
	return sint_read_copy(skb, place, type, bytes);
}

/*
 * Return: true if the packet holds the transport's complete checksum, so that a change of the
 * payload must be added to it. This is not so if the device will compute the checksum: then it
 * covers only the pseudo-header, as in every GSO packet. A UDP checksum of 0 means that there is
 * none.
 */
static inline bool sint_check_stands(const struct sk_buff *skb, const struct sint_place *place)
{
	if (place->carrier == INT_CARRIER_INBAND || skb_is_gso(skb))
		return false;
	if (skb->ip_summed == CHECKSUM_PARTIAL &&
	    skb_checksum_start_offset(skb) == place->transport_bytes)
		return false;
	return place->carrier == INT_CARRIER_PROBE ||
	       *(__sum16 *)(skb->data + place->check_bytes);
}

/**
 * sint_correct_check() - update a checksum for bytes that changed
 * @check: the checksum of TCP or UDP
 * @carrier: encapsulation of the header
 * @change: new words minus old ones, from sint_hop_write(); they start an even number of bytes
 *	after the transport header
 */
static __always_inline void sint_correct_check(__sum16 *check, enum sint_carrier carrier,
					       s64 change)
{
	/*
	 * Adding 2^19 (2^16 - 1) does not change the checksum. The sum is above 0 and below 2^36.
	 */
	const u64 sum = (u16)~(__force u16)*check + change + (0xffffULL << 19);

	*check = csum_fold(csum_add((__force __wsum)(u32)sum, (__force __wsum)(u32)(sum >> 32)));
	if (carrier == INT_CARRIER_ENCAP && !*check)
		*check = CSUM_MANGLED_0;
}

/*
 * Return: the header at @at if it and everything before it is in the linear part, its type is
 * @first to @last, and int_check() would pass it; otherwise NULL
 */
static __always_inline struct int_hdr *sint_near(const void *at, const u8 *end,
						 enum int_type first, enum int_type last)
{
	struct int_hdr *h = (struct int_hdr *)at;

	if (unlikely((const u8 *)at + INT_HDR_BYTES > end) ||
	    unlikely(h->type < first || h->type > last) ||
	    unlikely(int_check_shape(h, end - (const u8 *)at) != INT_OK))
		return NULL;
	return h;
}

/**
 * sint_near_inband() - get an inband header after an IPv4 header, the most frequent position
 * @skb: the packet
 * @ip: the IPv4 header in the linear part, with our protocol number
 *
 * Return: a header of type HELLO or DATA in the linear part that int_check() passes; NULL if
 * sint_find() and sint_read() must be used instead.
 */
static __always_inline struct int_hdr *sint_near_inband(const struct sk_buff *skb,
							const struct iphdr *ip)
{
	if (!hop_pkt_is_simple(ip))
		return NULL;
	return sint_near(ip + 1, hop_pkt_linear_end(skb, ip), INT_TYPE_HANDSHAKE, INT_TYPE_DATA);
}

/**
 * sint_near_probe() - get the header of a probe in IPv4 at the most frequent position
 * @skb: the packet
 * @ip: the IPv4 header in the linear part, with the DSCP of probes
 *
 * The TCP header follows @ip.
 *
 * Return: a header of type PROBE in the linear part that int_check() passes; NULL if sint_find()
 * and sint_read() must be used instead.
 */
static __always_inline struct int_hdr *sint_near_probe(const struct sk_buff *skb,
						       const struct iphdr *ip)
{
	const struct tcphdr *th = (const struct tcphdr *)(ip + 1);
	const u8 *end, *msg;
	struct int_hdr *h;

	if (!hop_pkt_is_simple(ip) || unlikely(ip->protocol != IPPROTO_TCP))
		return NULL;
	end = hop_pkt_linear_end(skb, ip);
	if (unlikely((const u8 *)(th + 1) > end) || unlikely(th->doff < sizeof(*th) / 4))
		return NULL;
	msg = (const u8 *)th + __tcp_hdrlen(th);
	/* If this header is in the linear part, so is the message with the magic word before it. */
	h = sint_near(msg + INT_MSG_BYTES, end, INT_TYPE_PROBE, INT_TYPE_PROBE);
	if (!h || unlikely(((const struct int_msg *)msg)->magic != cpu_to_be32(INT_MSG_MAGIC)))
		return NULL;
	return h;
}

#endif /* HOPCC_SCH_INT_INT_PACKET_H */
