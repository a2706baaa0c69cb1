// SPDX-License-Identifier: GPL-2.0
/* Find and validate the INT header of any packet; see int_packet.h. */
#include "int_packet.h"

/*
 * Return: offset of a probe's message after the TCP header at @place; 0 if there is no room for one
 */
static int sint_message_offset(const struct tcphdr *th, const struct sint_place *place)
{
	const int payload_bytes = place->offset_bytes + __tcp_hdrlen(th);

	return payload_bytes < place->end_bytes ? payload_bytes : 0;
}

/* The message of a probe is at @payload_bytes; @place is at the TCP header. */
static void sint_place_probe(int payload_bytes, struct sint_place *place)
{
	place->carrier = INT_CARRIER_PROBE;
	place->transport_bytes = place->offset_bytes;
	place->check_bytes = place->offset_bytes + offsetof(struct tcphdr, check);
	place->offset_bytes = payload_bytes + INT_MSG_BYTES;
}

bool sint_is_message(const struct sk_buff *skb, int payload_bytes, int end_bytes)
{
	const int hdr_bytes = end_bytes - payload_bytes - INT_MSG_BYTES;
	const __be32 *options;
	__be32 buf;

	if (hdr_bytes < (int)INT_HDR_BYTES)
		return false;
	options = skb_header_pointer(skb, end_bytes - INT_WORD_BYTES, sizeof(buf), &buf);
	return options && int_hdr_bytes(be32_to_cpu(*options) >> INT_SLOTS_SHIFT) == hdr_bytes;
}

/* Return: bytes of INT-MD at @payload_bytes in front of a message; 0: none */
static int sint_intmd_bytes(const struct sk_buff *skb, int payload_bytes, int end_bytes)
{
	u8 buf[INTMD_STACK_OFFSET];
	const u8 *shim;
	struct intmd_view v;

	if (sint_is_message(skb, payload_bytes, end_bytes - INT_TERMS_BYTES) ||
	    sint_is_message(skb, payload_bytes, end_bytes))
		return 0;
	shim = skb_header_pointer(skb, payload_bytes, sizeof(buf), buf);
	if (!shim || hop_intmd_parse(&v, shim, end_bytes - payload_bytes))
		return 0;
	return v.shim_bytes;
}

/*
 * Return: offset of a probe's message, or with @echoes of an answer's, or of what is in front of
 * that; 0 if it is neither
 */
static int sint_find_mark(const struct sk_buff *skb, bool echoes, const struct sint_place *place)
{
	struct sint_marked buf;
	const struct sint_marked *m = skb_header_pointer(skb, place->offset_bytes, sizeof(buf),
							 &buf);

	if (!m || m->th.doff < INT_TCP_BYTES / 4 ||
	    (m->mark != htonl(INT_MARK_PROBE) && !(echoes && m->mark == htonl(INT_MARK_ECHO))))
		return 0;
	return sint_message_offset(&m->th, place);
}

static void sint_find_probe(const struct sk_buff *skb, bool echoes, struct sint_place *place)
{
	int payload_bytes = sint_find_mark(skb, echoes, place);

	if (!payload_bytes)
		return;
	payload_bytes += sint_intmd_bytes(skb, payload_bytes, place->end_bytes);
	sint_place_probe(payload_bytes, place);
}

/* Recognize a probe with IFA; @place is at the IFA header. */
static void sint_find_behind_ifa(const struct sk_buff *skb, bool echoes,
				 struct sint_place *place)
{
	const int room_bytes = place->end_bytes - place->offset_bytes;
	u8 buf[SINT_IFA_LOOK_BYTES];
	struct ifa_view v;
	const u8 *packet;

	if (room_bytes <= 0)
		return;
	packet = skb_header_pointer(skb, place->offset_bytes,
				    min_t(int, room_bytes, sizeof(buf)), buf);
	if (!packet || hop_ifa_parse(&v, packet, room_bytes) || v.next != IFA_NEXT_TCP)
		return;
	place->offset_bytes += IFA_HDR_BYTES;
	if (sint_find_mark(skb, echoes, place))
		sint_place_probe(place->offset_bytes + v.l4_bytes + v.shim_bytes, place);
}

void sint_find(const struct sk_buff *skb, u8 protocol, bool echoes, struct sint_place *place)
{
	struct hop_pkt_inner inner;

	place->carrier = INT_CARRIER_NONE;
	if (!hop_pkt_inner(skb, protocol, &inner))
		return;
	place->offset_bytes = inner.offset_bytes;
	place->end_bytes = min_t(int, inner.end_bytes, skb->len);
	if (inner.protocol == protocol)
		place->carrier = INT_CARRIER_INBAND;
	else if (inner.protocol == IPPROTO_TCP)
		sint_find_probe(skb, echoes, place);
	else if (inner.protocol == IFA_PROTOCOL)
		sint_find_behind_ifa(skb, echoes, place);
}

/* Return: true if a header of this type may be in this encapsulation */
static bool sint_belongs(enum sint_carrier carrier, u8 type)
{
	if (type == INT_TYPE_ECHO)
		return true;
	return (carrier == INT_CARRIER_PROBE) == (type == INT_TYPE_PROBE);
}

enum int_fault sint_read(const struct sk_buff *skb, const struct sint_place *place, u8 *type,
			 unsigned int *bytes)
{
	const int room_bytes = max(place->end_bytes - place->offset_bytes, 0);
	u64 buf[DIV_ROUND_UP(INT_HDR_MAX_BYTES, sizeof(u64))];
	struct int_hdr *h = NULL;
	enum int_fault fault;

	if (room_bytes)
		h = skb_header_pointer(skb, place->offset_bytes,
				       min_t(int, room_bytes, INT_HDR_MAX_BYTES), buf);
	fault = int_check(h, room_bytes);
	if (fault)
		return fault;
	*type = h->type;
	*bytes = h->words * INT_WORD_BYTES;
	return sint_belongs(place->carrier, h->type) ? INT_OK : INT_BAD_TYPE;
}

bool sint_check_stands(const struct sk_buff *skb, const struct sint_place *place)
{
	if (place->carrier == INT_CARRIER_INBAND || skb_is_gso(skb))
		return false;
	return skb->ip_summed != CHECKSUM_PARTIAL ||
	       skb_checksum_start_offset(skb) != place->transport_bytes;
}
