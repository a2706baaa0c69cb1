// SPDX-License-Identifier: GPL-2.0
/* CSIG tags in packets on egress: converted to the form that qdiscs parse, and removed */
#include "packet.h"
#include "../../hop_core/hop_pkt.c"
#include <linux/netdevice.h>
#include "../../sch_csig/csig_packet.c"

static const struct csig_tpids tpids = { .tpid = {
	[CSIG_COMPACT] = CSIG_TPID_COMPACT_DEFAULT, [CSIG_EXPANDED] = CSIG_TPID_EXPANDED_DEFAULT,
} };

/* Put two addresses, tags of any kind and an EtherType into the frame. */
static u32 put_tags(u8 *frame)
{
	static const u16 types[] = { CSIG_TPID_8021Q, CSIG_TPID_8021AD, CSIG_TPID_QINQ, ETH_P_IP,
				     ETH_P_IPV6, ETH_P_MPLS_UC, 46 };
	const struct csig_tag t = { .type = fuzz_choice(CSIG_TYPES) };
	u32 at = CSIG_FIRST_TAG_BYTES, tags = fuzz_range(0, 40);
	u16 type;

	while (tags-- && at + CSIG_TAG_MAX_BYTES < FRAME_MAX_BYTES) {
		const enum csig_form form = fuzz_range(CSIG_NONE, CSIG_EXPANDED);

		if (form) {
			csig_put(form, frame + at, &tpids, &t);
			at += csig_shapes[form].tag_bytes;
		} else {
			type = htons(types[fuzz_choice(3)]);
			at = put_header(frame, at, &type, sizeof(type)) + 2;
		}
	}
	type = htons(types[fuzz_choice(ARRAY_SIZE(types))]);
	return put_header(frame, at, &type, sizeof(type));
}

/* The result is the same as in a linear copy, wherever the packet's bytes are stored. */
static struct csig_place find(const struct sk_buff *skb)
{
	const struct csig_place place = scsig_packet_find(skb, &tpids);
	struct csig_place want;
	struct csig_tag t, want_t;
	u8 copy[FRAME_MAX_BYTES];

	skb_copy_bits(skb, 0, copy, skb->len);
	want = csig_find(copy, min(skb->len, CSIG_WALK_BYTES), skb->len, &tpids);
	FUZZ_CLAIM(place.form == want.form);
	if (!place.form)
		return place;
	FUZZ_CLAIM(place.fault == want.fault && place.offset_bytes == want.offset_bytes);
	FUZZ_CLAIM(place.inner == want.inner);
	if (place.fault == CSIG_BAD_TRUNCATED)
		return place;
	t = scsig_packet_read(skb, &place);
	want_t = csig_read(place.form, copy + place.offset_bytes + CSIG_TPID_BYTES);
	FUZZ_CLAIM(!memcmp(&t, &want_t, sizeof(t)));
	return place;
}

static void normalise(struct sk_buff *skb, const struct csig_place *place)
{
	struct net_device dev = { .features = fuzz_byte() };
	const u32 len = skb->len;

	if (!scsig_packet_is_second_form(skb, place) || !scsig_packet_normalise(skb, &dev, place))
		return;
	FUZZ_CLAIM(skb->len == len);
	FUZZ_CLAIM(skb->network_header == (int)scsig_packet_behind_bytes(place));
	FUZZ_CLAIM(skb_transport_header_was_set(skb));
	FUZZ_CLAIM(skb->transport_header >= skb->network_header);
	FUZZ_CLAIM(skb->transport_header <= max_t(int, skb->len, skb->network_header));
	FUZZ_CLAIM(!scsig_packet_is_second_form(skb, place));
}

/* All bytes except the tag are unchanged. */
static void cut(struct sk_buff *skb, const struct csig_place *place)
{
	const u32 tag_bytes = csig_shapes[place->form].tag_bytes, len = skb->len;
	u8 before[FRAME_MAX_BYTES], after[FRAME_MAX_BYTES];

	skb_copy_bits(skb, 0, before, len);
	if (!scsig_packet_cut(skb, place)) {
		FUZZ_CLAIM(skb->len == len);
		return;
	}
	FUZZ_CLAIM(skb->len == len - tag_bytes && skb->ip_summed != CHECKSUM_COMPLETE);
	skb_copy_bits(skb, 0, after, skb->len);
	FUZZ_CLAIM(!memcmp(after, before, place->offset_bytes));
	FUZZ_CLAIM(!memcmp(after + place->offset_bytes, before + place->offset_bytes + tag_bytes,
			   skb->len - place->offset_bytes));
}

static void fuzz_once(void)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = {};
	struct csig_place place;
	u32 cuts = 0;

	put_tags(frame);
	skb.network_header = fuzz_range(ETH_HLEN, 64);
	skb.protocol = htons(fuzz_flag() ? ETH_P_IP : CSIG_TPID_COMPACT_DEFAULT);
	draw_packet(frame, &skb);
	place = find(&skb);
	if (place.form && !place.fault) {
		scsig_packet_ttl(&skb, &tpids);
		normalise(&skb, &place);
	}
	/* Like a port in mode strip: remove tags until none is left or one cannot be removed. */
	while (place.form && place.fault != CSIG_BAD_TRUNCATED && cuts++ < FRAME_MAX_BYTES) {
		const u32 len = skb.len;

		cut(&skb, &place);
		if (skb.len == len)
			break;
		place = find(&skb);
	}
	FUZZ_CLAIM(cuts < FRAME_MAX_BYTES);
	free_packet(&skb);
}
