/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where telemetry is in a packet, and how to write it so that every checksum stays right.
 * For dequeue: skb->data is the start of the frame, the qdisc's lock is held.
 *
 *	inband	IP, protocol: the header, then the transport's
 *	encap	IP with the data's DSCP, UDP to the port: the header, then what it leads
 *	probe	IP with the probe's DSCP, TCP: struct int_msg, then the header
 */
#ifndef HOPCC_INT_PACKET_H
#define HOPCC_INT_PACKET_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/hop_pkt.h>
#include <net/int.h>

/* What comes before a probe's header. */
static_assert(sizeof(struct int_msg) == INT_MSG_BYTES);
static_assert(sizeof(struct int_hdr) + INT_WORD_BYTES == INT_HDR_BYTES);

#define INT_HDR_MAX_BYTES (INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES)

/**
 * struct int_marks - by what telemetry is recognised; written by its owner
 * @udp_port: destination of encapsulated
 * @protocol: inband
 * @dscp_data: of encapsulated
 * @dscp_probe: of probes
 */
struct int_marks {
	__be16 udp_port;
	u8 protocol;
	u8 dscp_data;
	u8 dscp_probe;
};

/**
 * enum int_carrier - what telemetry rides in
 * @INT_CARRIER_NONE: there is none
 * @INT_CARRIER_INBAND: IP
 * @INT_CARRIER_ENCAP: UDP
 * @INT_CARRIER_PROBE: TCP
 */
enum int_carrier {
	INT_CARRIER_NONE,
	INT_CARRIER_INBAND,
	INT_CARRIER_ENCAP,
	INT_CARRIER_PROBE,
};

/**
 * struct int_place - where telemetry is
 * @carrier: what it rides in
 * @offset_bytes: of the header, from the start of the frame
 * @end_bytes: where the packet ends
 * @transport_bytes: offset of UDP or TCP
 * @check_bytes: offset of its checksum
 */
struct int_place {
	enum int_carrier carrier;
	int offset_bytes;
	int end_bytes;
	int transport_bytes;
	int check_bytes;
};

/* The UDP header at @place. */
static __always_inline void int_place_encap(const struct udphdr *uh, const struct int_marks *marks,
					    struct int_place *place)
{
	if (uh->dest != marks->udp_port)
		return;
	/* 0: longer than it can say. */
	if (uh->len)
		place->end_bytes = min(place->end_bytes, place->offset_bytes + ntohs(uh->len));
	place->carrier = INT_CARRIER_ENCAP;
	place->transport_bytes = place->offset_bytes;
	place->check_bytes = place->offset_bytes + offsetof(struct udphdr, check);
	place->offset_bytes += sizeof(*uh);
}

/* The offset of a probe's message behind the TCP header at @place; 0 without room for one. */
static __always_inline int int_message_offset(const struct tcphdr *th,
					      const struct int_place *place)
{
	const int payload_bytes = place->offset_bytes + __tcp_hdrlen(th);

	if (th->doff < sizeof(*th) / 4 || payload_bytes + (int)sizeof(__be32) > place->end_bytes)
		return 0;
	return payload_bytes;
}

/* Recognise a probe by the word at @payload_bytes, which int_message_offset() returned. */
static __always_inline void int_place_probe(__be32 magic, int payload_bytes,
					    struct int_place *place)
{
	if (magic != htonl(INT_MSG_MAGIC))
		return;
	place->carrier = INT_CARRIER_PROBE;
	place->transport_bytes = place->offset_bytes;
	place->check_bytes = place->offset_bytes + offsetof(struct tcphdr, check);
	place->offset_bytes = payload_bytes + INT_MSG_BYTES;
}

static inline void int_find_encap(const struct sk_buff *skb, const struct int_marks *marks,
				  struct int_place *place)
{
	struct udphdr buf;
	const struct udphdr *uh = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);

	if (uh)
		int_place_encap(uh, marks, place);
}

static inline void int_find_probe(const struct sk_buff *skb, struct int_place *place)
{
	struct tcphdr buf;
	const struct tcphdr *th = skb_header_pointer(skb, place->offset_bytes, sizeof(buf), &buf);
	int payload_bytes;
	__be32 magic;

	payload_bytes = th ? int_message_offset(th, place) : 0;
	if (payload_bytes && !skb_copy_bits(skb, payload_bytes, &magic, sizeof(magic)))
		int_place_probe(magic, payload_bytes, place);
}

/* Returns true if no form of telemetry uses this protocol or this DSCP. */
static __always_inline bool int_lacks_mark(const struct int_marks *marks, u8 protocol, u8 dsfield)
{
	const u8 dscp = dsfield >> 2;

	return protocol != marks->protocol && dscp != marks->dscp_data && dscp != marks->dscp_probe;
}

/**
 * int_lacks() - rule out at a glance that a packet has telemetry
 * @skb: the packet
 * @marks: the protocol, ports and DSCPs of telemetry
 *
 * Return: true if int_find() would find none; false if only that function can tell.
 */
static __always_inline bool int_lacks(const struct sk_buff *skb, const struct int_marks *marks)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	const struct ipv6hdr *ip6;

	if (likely(ip))
		return int_lacks_mark(marks, ip->protocol, ip->tos);
	ip6 = hop_pkt_plain_ip(skb, ETH_P_IPV6, sizeof(*ip6));
	return ip6 && (ip6->nexthdr == IPPROTO_TCP || ip6->nexthdr == IPPROTO_UDP) &&
	       int_lacks_mark(marks, ip6->nexthdr, ipv6_get_dsfield(ip6));
}

/**
 * int_find() - where a packet's telemetry is, if it has any
 * @skb: the packet
 * @marks: the protocol, ports and DSCPs of telemetry
 * @place: result
 */
static inline void int_find(const struct sk_buff *skb, const struct int_marks *marks,
			    struct int_place *place)
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
		int_find_encap(skb, marks, place);
	else if (inner.protocol == IPPROTO_TCP && inner.dsfield >> 2 == marks->dscp_probe)
		int_find_probe(skb, place);
}

/* Types of header that a carrier may bear. */
static inline bool int_belongs(enum int_carrier carrier, u8 type)
{
	if (type == INT_TYPE_ECHO)
		return true;
	return (carrier == INT_CARRIER_PROBE) == (type == INT_TYPE_PROBE);
}

/* @h: NULL if the packet ends within it */
static __always_inline enum int_fault int_read_header(struct int_hdr *h, int room_bytes,
						      enum int_carrier carrier, u8 *type,
						      unsigned int *bytes)
{
	const enum int_fault fault = int_check(h, room_bytes);

	if (fault)
		return fault;
	*type = h->type;
	*bytes = h->words * INT_WORD_BYTES;
	return int_belongs(carrier, h->type) ? INT_OK : INT_BAD_TYPE;
}

/*
 * A header whose whole length, as it says itself, is in the linear part; else NULL. int_check()
 * reads no further.
 */
static __always_inline struct int_hdr *int_in_place(const struct sk_buff *skb,
						    const struct int_place *place)
{
	struct int_hdr *h = hop_pkt_linear(skb, place->offset_bytes, INT_HDR_BYTES);

	if (!h || !hop_pkt_linear(skb, place->offset_bytes, h->words * INT_WORD_BYTES))
		return NULL;
	return h;
}

/* int_read() of a header that is not in the linear part. */
static noinline __maybe_unused enum int_fault int_read_copy(const struct sk_buff *skb,
							    const struct int_place *place,
							    u8 *type, unsigned int *bytes)
{
	const int room_bytes = max(place->end_bytes - place->offset_bytes, 0);
	u64 buf[DIV_ROUND_UP(INT_HDR_MAX_BYTES, sizeof(u64))];
	struct int_hdr *h = NULL;

	if (room_bytes)
		h = skb_header_pointer(skb, place->offset_bytes,
				       min_t(int, room_bytes, INT_HDR_MAX_BYTES), buf);
	return int_read_header(h, room_bytes, place->carrier, type, bytes);
}

/**
 * int_read() - a header, checked
 * @skb: the packet
 * @place: of int_find()
 * @type: result
 * @bytes: result, its length
 *
 * Return: INT_OK or why it is not taken.
 */
static inline enum int_fault int_read(const struct sk_buff *skb, const struct int_place *place,
				      u8 *type, unsigned int *bytes)
{
	struct int_hdr *h = int_in_place(skb, place);

	if (h)
		return int_read_header(h, max(place->end_bytes - place->offset_bytes, 0),
				       place->carrier, type, bytes);
	return int_read_copy(skb, place, type, bytes);
}

/*
 * Does the transport's checksum stand, so that a change of its payload must go into it?
 * Not where the device will compute it: then it is a sum of the pseudo-header, as it is
 * in every super-packet. Nor is it there if UDP's is 0.
 */
static inline bool int_check_stands(const struct sk_buff *skb, const struct int_place *place)
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
 * int_correct_check() - make a checksum cover bytes that changed
 * @check: the checksum of TCP or UDP
 * @carrier: what telemetry rides in
 * @change: new words less old ones, from int_hop_write(); they start an even number of bytes
 *	behind the transport header
 */
static __always_inline void int_correct_check(__sum16 *check, enum int_carrier carrier, s64 change)
{
	/* 2^19 (2^16 - 1) more is the same checksum. The sum is above 0 and below 2^36. */
	const u64 sum = (u16)~(__force u16)*check + change + (0xffffULL << 19);

	*check = csum_fold(csum_add((__force __wsum)(u32)sum, (__force __wsum)(u32)(sum >> 32)));
	if (carrier == INT_CARRIER_ENCAP && !*check)
		*check = CSUM_MANGLED_0;
}

/*
 * The header at @h, which int_check() passes, if it and all in front of it are in place; else NULL.
 */
static __always_inline struct int_hdr *int_near(const void *at, const u8 *end)
{
	struct int_hdr *h = (struct int_hdr *)at;

	if (unlikely((const u8 *)at + INT_HDR_BYTES > end) ||
	    unlikely(int_check(h, end - (const u8 *)at) != INT_OK))
		return NULL;
	return h;
}

/**
 * int_near_inband() - the header behind an IPv4 header, where it is in most packets
 * @skb: the packet
 * @ip: its IPv4 header, in place, which names telemetry
 *
 * Return: a header of type HELLO or DATA that int_check() passes, in the linear part; NULL if
 * only int_find() and int_read() can tell.
 */
static __always_inline struct int_hdr *int_near_inband(const struct sk_buff *skb,
						       const struct iphdr *ip)
{
	struct int_hdr *h;

	if (!hop_pkt_is_simple(ip))
		return NULL;
	h = int_near(ip + 1, hop_pkt_linear_end(skb, ip));
	return h && likely(h->type <= INT_TYPE_DATA) ? h : NULL;
}

/**
 * int_near_probe() - the header of a probe in IPv4, where it is in most of them
 * @skb: the packet
 * @ip: its IPv4 header, in place, with the DSCP of probes
 *
 * TCP's header is behind @ip.
 *
 * Return: a header of type PROBE that int_check() passes, in the linear part; NULL if only
 * int_find() and int_read() can tell.
 */
static __always_inline struct int_hdr *int_near_probe(const struct sk_buff *skb,
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
	/* Behind the magic word there is room for it, too. */
	h = int_near(msg + INT_MSG_BYTES, end);
	if (!h || unlikely(((const struct int_msg *)msg)->magic != cpu_to_be32(INT_MSG_MAGIC)))
		return NULL;
	return likely(h->type == INT_TYPE_PROBE) ? h : NULL;
}

#endif /* HOPCC_INT_PACKET_H */
