// SPDX-License-Identifier: GPL-2.0
/*
 * A hop of IFA, IOAM and INT-MD: what it writes is valid and within the packet, what it refuses is
 * as it was, and data behind its own is as it was in any case.
 */
#include "packet.h"
#include "../../hop_core/hop_pkt.c"
#include "hop_ifa.c"
#include "hop_intmd.c"
#include "hop_ioam.c"
#include "int_format.c"
#include "../../sch_int/int_packet.c"
#include "../../sch_int/int_foreign.c"

#define DSCP_INTMD	9
#define NODE_ID		7

static const struct sint_foreign_params params = {
	.formats = TC_INT_FORMATS_MAX, .node_id = NODE_ID, .dscp_intmd = DSCP_INTMD,
};

static u32 put_l4(u8 *frame, u32 at, u8 protocol)
{
	const struct udphdr uh = { .len = htons(fuzz_range(0, 255)), .check = fuzz_byte() };
	const struct tcphdr th = { .doff = fuzz_range(4, 7) };

	if (protocol == IPPROTO_UDP)
		return put_header(frame, at, &uh, sizeof(uh));
	return put_header(frame, at, &th, sizeof(th)) + 4 * (max_t(u8, th.doff, 5) - 5);
}

static u32 put_ifa(u8 *frame, u32 at)
{
	const u8 protocol = fuzz_flag() ? IFA_NEXT_TCP : IFA_NEXT_UDP;
	struct ifa_hdr h;
	struct ifa_md md;

	ifa_write_hdr(&h, fuzz_byte(), protocol, fuzz_byte());
	ifa_write_md(&md, fuzz_byte());
	md.words = fuzz_range(0, 16);
	at = put_header(frame, at, &h, sizeof(h));
	at = put_l4(frame, at, protocol);
	return put_header(frame, at, &md, sizeof(md));
}

static u32 put_intmd(u8 *frame, u32 at)
{
	struct intmd_hdr h;

	hop_intmd_write(&h, fuzz_choice(3), fuzz_byte(), INTMD_HPCC_BITS, 0, fuzz_byte());
	if (fuzz_flag())
		h.words += 6 * fuzz_range(0, 5);
	return put_header(frame, at, &h, sizeof(h));
}

static u32 put_ioam(u8 *frame, u32 at)
{
	const u32 data_bytes = fuzz_range(0, 20) * IOAM_WORD_BYTES;
	const u32 trace = fuzz_flag() ? IOAM_HPCC_BITS : IOAM_HPCC_BITS | IOAM_BIT(IOAM_OPAQUE);
	u8 hdr[IOAM_DATA_MAX_BYTES] = {};
	const __be32 node = htonl(fuzz_flag() ? NODE_ID : fuzz_u32());
	const u32 bytes = hop_ioam_write(hdr, IPPROTO_UDP, 0, trace, data_bytes);
	struct ioam_option *option = (struct ioam_option *)(hdr + IOAM_HBH_BYTES + 2);

	/* The newest data, of one hop, is all that is used. */
	memcpy(option + 1, &node, min_t(u32, sizeof(node), data_bytes));
	option->lengths &= htons(0xff80);
	return put_header(frame, at, hdr, min(bytes, FRAME_MAX_BYTES - at));
}

/* IP with the length of a packet that ends within the frame, mostly */
static u32 put_packet(u8 *frame, u32 at, bool is_v6, u8 protocol)
{
	const u32 room_bytes = fuzz_choice(8) ? FRAME_MAX_BYTES - at - fuzz_range(0, 60) :
						fuzz_byte();
	const struct ipv6hdr ip6 = {
		.version = 6, .priority = DSCP_INTMD << 2 >> 4,
		.flow_lbl = { (DSCP_INTMD << 6) & 0xff },
		.payload_len = htons(room_bytes - 40), .nexthdr = protocol,
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tos = DSCP_INTMD << 2, .tot_len = htons(room_bytes),
		.frag_off = fuzz_choice(8) ? 0 : htons(IP_MF), .protocol = protocol,
	};

	if (is_v6)
		return put_header(frame, at, &ip6, sizeof(ip6));
	ip.check = ip_fast_csum(&ip, 5);
	return put_header(frame, at, &ip, sizeof(ip));
}

static u32 put_telemetry(u8 *frame, u32 at, bool is_v6)
{
	const u8 protocol = fuzz_flag() ? IPPROTO_TCP : IPPROTO_UDP;

	switch (fuzz_choice(3)) {
	case 0:
		return put_ifa(frame, put_packet(frame, at, is_v6, IFA_PROTOCOL));
	case 1:
		return put_ioam(frame, put_packet(frame, at, is_v6, NEXTHDR_HOP));
	default:
		at = put_packet(frame, at, is_v6, protocol);
		return put_intmd(frame, put_l4(frame, at, protocol));
	}
}

/* Return: 0 if the checksum of the IPv4 header is valid, or if the packet is IPv6 */
static u16 residue(const struct sk_buff *skb, const struct sint_ip *i)
{
	u8 bytes[15 * 4];

	if (i->is_v6 || skb_copy_bits(skb, i->ip_bytes, bytes, i->next_bytes - i->ip_bytes))
		return 0;
	return (__force u16)ip_fast_csum(bytes, (i->next_bytes - i->ip_bytes) / 4);
}

static void check_written(struct sk_buff *skb, const struct sint_ip *before, u32 before_bytes,
			  u16 before_residue)
{
	const u32 more_bytes = skb->len - before_bytes;
	struct sint_ip after;

	FUZZ_CLAIM(more_bytes % 4 == 0 && more_bytes <= 31 * INTMD_WORD_BYTES);
	FUZZ_CLAIM(sint_ip_read(skb, &after));
	FUZZ_CLAIM(after.end_bytes == before->end_bytes + (int)more_bytes);
	FUZZ_CLAIM((u32)(after.end_bytes - after.ip_bytes) <= before->mtu_bytes || !more_bytes);
	FUZZ_CLAIM(after.ip_bytes == before->ip_bytes && after.next == before->next);
	FUZZ_CLAIM(residue(skb, &after) == before_residue);
}

/* Bytes that differ in a refused packet: only the flags of INT-MD and the checksum over them */
static void check_refused(struct sk_buff *skb, const u8 *frame, u32 before_bytes,
			  unsigned int format)
{
	u8 bytes[FRAME_MAX_BYTES];
	u32 i, differ = 0;

	FUZZ_CLAIM(skb->len == before_bytes);
	skb_copy_bits(skb, 0, bytes, skb->len);
	for (i = 0; i < skb->len; i++)
		differ += bytes[i] != frame[i];
	FUZZ_CLAIM(!differ || (format == TC_INT_FORMAT_INTMD && differ <= 3));
}

static void check_packet(struct sk_buff *skb, const u8 *frame)
{
	const struct sint_node node = { .id = NODE_ID, .now_ns = fuzz_u32(), .util_ppm = 5 };
	const u32 before_bytes = skb->len;
	unsigned int format, why;
	u8 tail[FRAME_MAX_BYTES];
	u16 before_residue;
	struct sint_ip ip;

	if (!sint_ip_read(skb, &ip))
		return;
	FUZZ_CLAIM(ip.end_bytes <= (int)skb->len && ip.next_bytes <= (int)skb->len);
	format = sint_foreign_format(&ip, &params);
	if (format == TC_INT_FORMATS)
		return;
	before_residue = residue(skb, &ip);
	ip.mtu_bytes = fuzz_choice(4) ? 1500 : fuzz_byte();
	why = sint_foreign_write(skb, &ip, format, &node);
	if (why) {
		check_refused(skb, frame, before_bytes, format);
		return;
	}
	check_written(skb, &ip, before_bytes, before_residue);
	/* The last byte of the frame did not change, wherever it is now. */
	skb_copy_bits(skb, skb->len - 1, tail, 1);
	FUZZ_CLAIM(format == TC_INT_FORMAT_IOAM || tail[0] == frame[before_bytes - 1] ||
		   ip.end_bytes == (int)before_bytes);
}

static void fuzz_once(void)
{
	const bool is_v6 = fuzz_flag();
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = {};

	frame[12] = is_v6 ? 0x86 : 0x08;
	frame[13] = is_v6 ? 0xdd : 0x00;
	skb.protocol = htons(is_v6 ? ETH_P_IPV6 : ETH_P_IP);
	skb.network_header = ETH_HLEN;
	put_telemetry(frame, ETH_HLEN, is_v6);
	if (!fuzz_choice(4))
		frame[fuzz_range(ETH_HLEN, FRAME_MAX_BYTES - 1)] = fuzz_byte();
	draw_packet(frame, &skb);
	check_packet(&skb, frame);
	free_packet(&skb);
}
