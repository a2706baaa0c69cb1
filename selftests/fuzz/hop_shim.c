// SPDX-License-Identifier: GPL-2.0
/*
 * A header between IP and the transport header: it is found within the packet, and inserting and
 * removing it leaves the packet unchanged and its checksum valid.
 */
#include "packet.h"
#include <hopcc/core/hop_shim.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include "../../hop_core/hop_shim.c"

#define SHIM_MAX_BYTES	140
#define PROTOCOL	254

/* Draw a packet that starts at the network header. */
static struct sk_buff draw_ip_packet(void)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = {
		.len = FRAME_MAX_BYTES - fuzz_range(0, FRAME_MAX_BYTES),
		.ip_summed = fuzz_range(CHECKSUM_NONE, CHECKSUM_COMPLETE),
		.mac_header = fuzz_flag() ? 1 << 30 : 0,
		.writable = fuzz_choice(8),
	};
	u32 at = put_ip(frame, 0, fuzz_byte(), fuzz_byte());

	while (at < FRAME_MAX_BYTES && fuzz_has_more() && fuzz_flag())
		frame[at++] = fuzz_byte();
	skb.protocol = frame[0] >> 4 == 4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb.head_bytes = fuzz_range(0, skb.len);
	skb.head = malloc(skb.head_bytes);
	skb.data = skb.head;
	skb.rest = malloc(skb.len - skb.head_bytes);
	memcpy(skb.data, frame, skb.head_bytes);
	memcpy(skb.rest, frame + skb.head_bytes, skb.len - skb.head_bytes);
	skb.csum = csum_partial(frame, skb.len, 0);
	return skb;
}

static void check_sum(const struct sk_buff *skb)
{
	u8 all[FRAME_MAX_BYTES + SHIM_MAX_BYTES];

	if (skb->ip_summed != CHECKSUM_COMPLETE)
		return;
	skb_copy_bits(skb, 0, all, skb->len);
	FUZZ_CLAIM(csum_fold(skb->csum) == csum_fold(csum_partial(all, skb->len, 0)));
}

/*
 * Count IPv6 extension headers: the number is limited, against packets made to cause long searches.
 */
static void count_extensions(const struct sk_buff *skb, const struct hop_shim_place *place)
{
	u32 at, extensions = 0;
	u8 words;

	for (at = sizeof(struct ipv6hdr); at < place->offset_bytes; at += 8 * (words + 1)) {
		FUZZ_CLAIM(!skb_copy_bits(skb, at + 1, &words, 1));
		extensions++;
	}
	FUZZ_CLAIM(at == place->offset_bytes && extensions <= HOP_SHIM_EXTENSIONS);
}

static void check_place(const struct sk_buff *skb, const struct hop_shim_place *place)
{
	u8 next;

	if (skb->protocol == htons(ETH_P_IPV6))
		count_extensions(skb, place);
	FUZZ_CLAIM(place->offset_bytes <= skb->len && place->name_bytes < place->offset_bytes);
	FUZZ_CLAIM(!skb_copy_bits(skb, place->name_bytes, &next, 1) && next == place->next);
}

/* As the carriers do with a packet that the kernel has built, whose IP headers are linear */
static void put_in_and_take_out(struct sk_buff *skb, const struct hop_shim_place *place)
{
	const u32 bytes = 2 * fuzz_range(2, SHIM_MAX_BYTES / 2), len = skb->len;
	u8 before[FRAME_MAX_BYTES], after[FRAME_MAX_BYTES];
	struct hop_shim_place again;
	u8 *room;

	if (place->offset_bytes > skb->head_bytes)
		return;
	/* The checks of the IP layer have passed. */
	if (skb->protocol == htons(ETH_P_IP))
		ip_send_check(ip_hdr(skb));
	skb_copy_bits(skb, 0, before, len);
	room = hop_shim_insert(skb, place, bytes, PROTOCOL, fuzz_flag());
	if (!room) {
		FUZZ_CLAIM(skb->len == len);
		return;
	}
	FUZZ_CLAIM(skb->len == len + bytes && room == skb->data + place->offset_bytes);
	memset(room, fuzz_byte(), bytes);
	FUZZ_CLAIM(hop_shim_find(skb, &again) && again.next == PROTOCOL);
	FUZZ_CLAIM(again.offset_bytes == place->offset_bytes);
	if (hop_shim_strip(skb, &again, bytes, place->next))
		return;
	FUZZ_CLAIM(skb->len == len);
	skb_copy_bits(skb, 0, after, len);
	FUZZ_CLAIM(!memcmp(before, after, len));
}

/* A device is to compute a checksum; the user of a tap chooses where it starts. */
static void draw_sum(struct sk_buff *skb)
{
	if (!fuzz_flag())
		return;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = (int)fuzz_range(0, skb->len + 64) - 64;
}

/* The start of the checksum is at the same byte as before, and this byte is behind IP. */
static void check_start(const struct sk_buff *skb, const struct hop_shim_place *place, int start,
			int cut_at, u32 bytes)
{
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return;
	FUZZ_CLAIM(start >= place->offset_bytes);
	FUZZ_CLAIM(start < cut_at || start >= cut_at + (int)bytes);
	FUZZ_CLAIM(skb_checksum_start_offset(skb) == start - (start < cut_at ? 0 : (int)bytes));
}

static void take_out(struct sk_buff *skb, const struct hop_shim_place *place)
{
	const u32 bytes = 2 * fuzz_byte(), len = skb->len;
	int start;

	draw_sum(skb);
	start = skb_checksum_start_offset(skb);
	if (hop_shim_strip(skb, place, bytes, fuzz_byte())) {
		FUZZ_CLAIM(skb->len == len);
		return;
	}
	check_sum(skb);
	check_start(skb, place, start, place->offset_bytes, bytes);
}

/* The same where the header is behind the transport header, as IFA's metadata is */
static void take_out_behind(struct sk_buff *skb, const struct hop_shim_place *place)
{
	const u32 l4_bytes = fuzz_range(0, 60), bytes = 2 * fuzz_byte(), len = skb->len;
	const u32 at = place->offset_bytes + l4_bytes;
	u8 before[FRAME_MAX_BYTES], after[FRAME_MAX_BYTES];
	int start;

	draw_sum(skb);
	start = skb_checksum_start_offset(skb);
	skb_copy_bits(skb, 0, before, len);
	if (hop_shim_strip_behind(skb, place, l4_bytes, bytes)) {
		FUZZ_CLAIM(skb->len == len);
		return;
	}
	FUZZ_CLAIM(skb->len == len - bytes && at <= skb->len);
	skb_copy_bits(skb, 0, after, skb->len);
	FUZZ_CLAIM(!memcmp(before + place->offset_bytes, after + place->offset_bytes, l4_bytes));
	FUZZ_CLAIM(!memcmp(before + at + bytes, after + at, skb->len - at));
	check_start(skb, place, start, at, bytes);
	check_sum(skb);
}

static void fuzz_once(void)
{
	struct sk_buff skb = draw_ip_packet();
	struct hop_shim_place place;

	if (hop_shim_find(&skb, &place)) {
		check_place(&skb, &place);
		if (fuzz_flag())
			put_in_and_take_out(&skb, &place);
		else if (fuzz_flag())
			take_out_behind(&skb, &place);
		else
			take_out(&skb, &place);
	}
	free_packet(&skb);
}
