// SPDX-License-Identifier: GPL-2.0
/*
 * INT headers in packets on egress: found within the packet; only a complete checksum is updated.
 */
#include "packet.h"
#include "../../hop_core/hop_pkt.c"
#include "hop_ifa.c"
#include "hop_intmd.c"
#include <uapi/linux/pkt_sched_int.h>
#include "../../sch_int/int_packet.c"

static u32 put_telemetry(u8 *frame, u32 at)
{
	u8 room[INT_HDR_MAX_BYTES] __aligned(4);
	struct int_hdr *h = (struct int_hdr *)room;
	const u32 slots = fuzz_range(0, INT_SLOTS_MAX);

	int_write(h, fuzz_byte(), fuzz_range(INT_TYPE_DATA, INT_TYPE_ECHO), fuzz_byte(),
		  slots);
	h->path = cpu_to_be32(fuzz_u32());
	if (!fuzz_choice(4))
		room[fuzz_range(0, INT_HDR_BYTES - 1)] = fuzz_byte();
	return put_header(frame, at, h, int_hdr_bytes(slots));
}

/* TCP's header, with the mark of probes or without: the offset behind it */
static u32 put_tcp(u8 *frame, u32 at, const struct tcphdr *th)
{
	const __be32 mark = cpu_to_be32(fuzz_choice(8) ? INT_MARK_PROBE : fuzz_u32());
	const u32 end = at + sizeof(*th) + 4 * (max_t(u8, th->doff, 5) - 5);

	at = put_header(frame, at, th, sizeof(*th));
	put_header(frame, at, &mark, sizeof(mark));
	return end;
}

/* A probe behind IFA: the offset of the message */
static u32 put_behind_ifa(u8 *frame, u32 at, const struct tcphdr *th)
{
	struct ifa_hdr h;
	struct ifa_md md;

	ifa_write_hdr(&h, fuzz_byte(), fuzz_choice(4) ? IFA_NEXT_TCP : IFA_NEXT_UDP, fuzz_byte());
	h.flags = fuzz_choice(4) ? 0 : fuzz_byte();
	ifa_write_md(&md, fuzz_byte());
	md.words = fuzz_range(0, 16);
	at = put_ip(frame, at, IFA_PROTOCOL, fuzz_byte());
	at = put_header(frame, at, &h, sizeof(h));
	at = put_tcp(frame, at, th);
	at += h.flags & IFA_FLAG_C ? IFA_WORD_BYTES : 0;
	at += h.flags & IFA_FLAG_MF ? IFA_WORD_BYTES : 0;
	return put_header(frame, at, &md, sizeof(md)) + md.words * IFA_WORD_BYTES;
}

static u32 put_intmd(u8 *frame, u32 at)
{
	struct intmd_hdr h;

	hop_intmd_write(&h, fuzz_choice(3), fuzz_byte(), INTMD_HPCC_BITS, 0, fuzz_byte());
	h.words += 6 * fuzz_range(0, 5);
	return put_header(frame, at, &h, sizeof(h)) +
	       (h.words - INTMD_HDR_WORDS) * INTMD_WORD_BYTES;
}

static u32 put_carrier(u8 *frame, u32 at)
{
	const struct tcphdr th = { .doff = fuzz_range(0, 15) };
	struct int_msg msg = {};

	switch (fuzz_choice(4)) {
	case 0:
		return put_ip(frame, at, TC_INT_PROTOCOL_DEFAULT, fuzz_byte());
	case 1:
		at = put_behind_ifa(frame, at, &th);
		return put_header(frame, at, &msg, sizeof(msg));
	default:
		at = put_ip(frame, at, IPPROTO_TCP, fuzz_byte());
		at = put_tcp(frame, at, &th);
		if (fuzz_flag())
			at = put_intmd(frame, at);
		return put_header(frame, at, &msg, sizeof(msg));
	}
}

static void check_header(const struct sk_buff *skb, const struct sint_place *place)
{
	unsigned int bytes;
	u8 type;

	if (sint_read(skb, place, &type, &bytes) != INT_OK)
		return;
	FUZZ_CLAIM(place->offset_bytes + (int)bytes <= place->end_bytes);
	FUZZ_CLAIM(bytes >= INT_HDR_BYTES && bytes <= INT_HDR_MAX_BYTES);
	FUZZ_CLAIM(type >= INT_TYPE_DATA && type <= INT_TYPE_ECHO);
	/* A probe's header in data would cause a loop of answers. */
	FUZZ_CLAIM(type == INT_TYPE_ECHO ||
		   (type == INT_TYPE_PROBE) == (place->carrier == INT_CARRIER_PROBE));
}

/* Change the words of a record, path and options; the checksum must be that of RFC 1624. */
static void correct_sum(__sum16 *check)
{
	u32 before[4], after[4], i;
	__wsum sum = ~csum_unfold(*check);
	__sum16 want;
	s64 change = 0;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		before[i] = fuzz_u32();
		after[i] = fuzz_u32();
		change += (s64)after[i] - before[i];
		sum = csum_add(csum_sub(sum, (__force __wsum)before[i]), (__force __wsum)after[i]);
	}
	want = csum_fold(sum);
	sint_correct_check(check, change);
	FUZZ_CLAIM(*check == want);
}

static void correct_check(struct sk_buff *skb, const struct sint_place *place)
{
	const u32 end_bytes = max(place->check_bytes, place->transport_bytes) + 2;

	/* Like sch_int, make the bytes writable first. */
	if (place->carrier != INT_CARRIER_INBAND && !hop_pkt_writable(skb, end_bytes))
		return;
	if (!sint_check_stands(skb, place))
		return;
	correct_sum((__sum16 *)(skb->data + place->check_bytes));
}

/* The fast functions must find the same as the search. */
static void check_near(const struct sk_buff *skb, const struct sint_place *place)
{
	const struct iphdr *ip = hop_pkt_plain_ip(skb, ETH_P_IP, sizeof(*ip));
	enum sint_carrier carrier = INT_CARRIER_PROBE;
	struct int_hdr *h = NULL;
	unsigned int bytes;
	u8 type;

	if (ip && ip->protocol == TC_INT_PROTOCOL_DEFAULT) {
		h = sint_near_inband(skb, ip);
		carrier = INT_CARRIER_INBAND;
	} else if (ip && ip->protocol == IPPROTO_TCP) {
		h = sint_near_probe(skb, ip);
	}
	if (!h)
		return;
	FUZZ_CLAIM(place->carrier == carrier);
	FUZZ_CLAIM((u8 *)h - skb->data == place->offset_bytes);
	FUZZ_CLAIM(sint_read(skb, place, &type, &bytes) == INT_OK && type == h->type);
	FUZZ_CLAIM(type != INT_TYPE_ECHO);
	FUZZ_CLAIM(carrier == INT_CARRIER_INBAND || place->check_bytes ==
		   (u8 *)(ip + 1) - skb->data + (int)offsetof(struct tcphdr, check));
}

static void fuzz_once(void)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = {};
	struct int_terms terms = {};
	struct sint_place place;
	bool echoes;
	u32 at;

	at = put_ethernet(frame, &skb.protocol, &skb.network_header);
	at = put_carrier(frame, at);
	at = put_telemetry(frame, at);
	if (fuzz_choice(4))
		at = put_header(frame, at, &terms, sizeof(terms));
	draw_packet(frame, &skb);
	echoes = fuzz_choice(4) == 0;
	sint_find(&skb, TC_INT_PROTOCOL_DEFAULT, echoes, &place);
	FUZZ_CLAIM(place.carrier <= INT_CARRIER_PROBE);
	FUZZ_CLAIM(!place.carrier || echoes || !sint_lacks(&skb, TC_INT_PROTOCOL_DEFAULT));
	check_near(&skb, &place);
	if (place.carrier) {
		FUZZ_CLAIM(place.end_bytes <= (int)skb.len && place.offset_bytes > 0);
		check_header(&skb, &place);
		correct_check(&skb, &place);
	}
	free_packet(&skb);
}
