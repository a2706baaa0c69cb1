// SPDX-License-Identifier: GPL-2.0
/*
 * Packets in tunnels, IP in IP, GRE, VXLAN and GENEVE: what is found lies within the packet, and
 * what is well formed is found where it is.
 */
#include "packet.h"
#include <linux/if_ether.h>
#include <linux/udp.h>
#include <net/geneve.h>
#include <net/gre.h>
#include <hopcc/core/hop_shim.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/vxlan.h>
#include "../../hop_core/hop_shim.c"
#include "../../net_csig_tag/inner.c"

struct csig_tpids ctag_tpids = {
	.tpid[CSIG_COMPACT] = CSIG_TPID_COMPACT_DEFAULT,
	.tpid[CSIG_EXPANDED] = CSIG_TPID_EXPANDED_DEFAULT,
};

/**
 * struct tunnel - a packet with another in it
 * @frame: from the outer network header on
 * @at: where the next header goes
 * @good: all until there is as its standard says
 * @tagged: a frame within has a tag of CSIG's
 */
struct tunnel {
	u8 frame[FRAME_MAX_BYTES];
	u32 at;
	bool good;
	bool tagged;
};

static void put(struct tunnel *t, const void *header, u32 bytes)
{
	const u32 at = put_header(t->frame, t->at, header, bytes);

	t->good &= at == t->at + bytes;
	t->at = at;
}

/* Mostly the value that is meant. */
static u16 draw(struct tunnel *t, u16 meant)
{
	const u16 value = fuzz_choice(8) ? meant : fuzz_range(0, U16_MAX);

	t->good &= value == meant;
	return value;
}

static void put_gre(struct tunnel *t, u16 protocol)
{
	/* A checksum, a key, a sequence number, each or not. */
	static const u16 options[] = { 0, 0x8000, 0x2000, 0x1000, 0xa000, 0x9000, 0x3000, 0xb000 };
	const u16 flags = draw(t, options[fuzz_choice(ARRAY_SIZE(options))]);
	const struct gre_base_hdr gre = { htons(flags), htons(draw(t, protocol)) };
	const u8 words[12] = { fuzz_byte() };

	put(t, &gre, sizeof(gre));
	put(t, words, 4 * hweight16(flags & 0xb000));
}

static void put_vxlan(struct tunnel *t)
{
	const struct udphdr udp = { .dest = htons(draw(t, ctag_vxlan_port)) };
	const struct vxlanhdr vxlan = { htonl((u32)draw(t, 0x800) << 16), htonl(fuzz_u32()) };

	put(t, &udp, sizeof(udp));
	put(t, &vxlan, sizeof(vxlan));
}

static void put_geneve(struct tunnel *t, u16 protocol)
{
	const struct udphdr udp = { .dest = htons(draw(t, ctag_geneve_port)) };
	const struct genevehdr geneve = {
		.ver = draw(t, 0) ? 1 : 0,
		.oam = draw(t, 0) ? 1 : 0,
		.opt_len = fuzz_range(0, 20),
		.proto_type = htons(draw(t, protocol)),
	};
	const u8 options[4 * 20] = { fuzz_byte() };

	put(t, &udp, sizeof(udp));
	put(t, &geneve, sizeof(geneve));
	put(t, options, 4 * geneve.opt_len);
}

/* An Ethernet frame with VLAN tags, and a tag of CSIG's behind them. */
static void put_frame(struct tunnel *t, u16 protocol)
{
	const enum csig_form form = fuzz_range(CSIG_NONE, CSIG_EXPANDED);
	const struct csig_tag tag = { .type = fuzz_choice(4), .value = fuzz_byte() };
	const u8 addresses[2 * ETH_ALEN] = { fuzz_byte() };
	const __be16 vlan[2] = { htons(CSIG_TPID_8021Q), htons(fuzz_byte()) };
	const __be16 inner = htons(draw(t, protocol));
	u8 whole[CSIG_TPID_BYTES + CSIG_TAG_MAX_BYTES];
	u32 vlans = fuzz_range(0, 4);

	put(t, addresses, sizeof(addresses));
	while (vlans--)
		put(t, vlan, sizeof(vlan));
	t->tagged = form;
	if (form) {
		csig_put(form, whole, &ctag_tpids, &tag);
		put(t, whole, csig_shapes[form].tag_bytes);
	}
	put(t, &inner, sizeof(inner));
}

/* The outer IP header: where it ends is in @t->at. */
static void put_outer(struct tunnel *t, u8 next)
{
	t->at = put_ip(t->frame, 0, draw(t, next), fuzz_byte());
}

static u32 put_tunnel(struct tunnel *t, u16 protocol)
{
	const bool frame = fuzz_flag();
	u32 outer_bytes;

	switch (fuzz_choice(4)) {
	case 0:
		put_outer(t, protocol == ETH_P_IP ? IPPROTO_IPIP : IPPROTO_IPV6);
		return t->at;
	case 1:
		put_outer(t, IPPROTO_GRE);
		outer_bytes = t->at;
		put_gre(t, frame ? ETH_P_TEB : protocol);
		break;
	case 2:
		put_outer(t, IPPROTO_UDP);
		outer_bytes = t->at;
		put_geneve(t, frame ? ETH_P_TEB : protocol);
		break;
	default:
		put_outer(t, IPPROTO_UDP);
		outer_bytes = t->at;
		put_vxlan(t);
		put_frame(t, protocol);
		return outer_bytes;
	}
	if (frame)
		put_frame(t, protocol);
	return outer_bytes;
}

/* From the network header on, with any bytes where no header is. */
static struct sk_buff draw_skb(const struct tunnel *t)
{
	struct sk_buff skb = { .len = FRAME_MAX_BYTES - fuzz_range(0, FRAME_MAX_BYTES) };

	skb.protocol = t->frame[0] >> 4 == 4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb.head_bytes = fuzz_range(0, skb.len);
	skb.head = malloc(skb.head_bytes);
	skb.data = skb.head;
	skb.rest = malloc(skb.len - skb.head_bytes);
	memcpy(skb.data, t->frame, skb.head_bytes);
	memcpy(skb.rest, t->frame + skb.head_bytes, skb.len - skb.head_bytes);
	return skb;
}

static void check_found(const struct sk_buff *skb, const struct ctag_inner *inner)
{
	struct in6_addr source, destination;

	FUZZ_CLAIM(inner->at_bytes >= sizeof(struct iphdr));
	FUZZ_CLAIM(inner->at_bytes + inner->place.offset_bytes <= skb->len);
	FUZZ_CLAIM(inner->protocol == htons(ETH_P_IP) || inner->protocol == htons(ETH_P_IPV6));
	FUZZ_CLAIM(ctag_inner_addresses(skb, inner, &source, &destination));
}

/* IP's headers are the business of the harness hop_shim. */
static bool has_ip(const struct sk_buff *skb, u32 outer_bytes, u32 at_bytes, __be16 protocol)
{
	struct hop_shim_place outer, inner;

	return hop_shim_find(skb, &outer) && outer.offset_bytes == outer_bytes &&
	       hop_shim_find_at(skb, at_bytes, protocol, &inner);
}

static void fuzz_once(void)
{
	const u16 protocol = fuzz_flag() ? ETH_P_IP : ETH_P_IPV6;
	struct tunnel t = { .good = true };
	struct ctag_inner inner;
	u32 outer_bytes, inner_bytes;
	struct sk_buff skb;
	bool found;

	outer_bytes = put_tunnel(&t, protocol);
	inner_bytes = t.at;
	t.at = put_ip(t.frame, t.at, fuzz_byte(), fuzz_byte());
	while (t.at < FRAME_MAX_BYTES && fuzz_has_more() && fuzz_flag())
		t.frame[t.at++] = fuzz_byte();
	skb = draw_skb(&t);
	found = ctag_find_inner(&skb, &inner);
	if (found)
		check_found(&skb, &inner);
	if (t.good && has_ip(&skb, outer_bytes, inner_bytes, htons(protocol)))
		FUZZ_CLAIM(found && inner.at_bytes == inner_bytes &&
			   inner.protocol == htons(protocol) && inner.tagged == t.tagged);
	free_packet(&skb);
}
