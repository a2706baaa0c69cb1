/* SPDX-License-Identifier: GPL-2.0 */
/* Draw frames: raw bytes after headers that reach deep into the parsers */
#ifndef HOPCC_SELFTESTS_FUZZ_PACKET_H
#define HOPCC_SELFTESTS_FUZZ_PACKET_H

#include "fuzz.h"
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/mpls.h>

#define FRAME_MAX_BYTES 256U

/* Write a header at @at. Return: the offset after it */
static inline u32 put_header(u8 *frame, u32 at, const void *header, u32 bytes)
{
	if (at + bytes > FRAME_MAX_BYTES)
		return at;
	memcpy(frame + at, header, bytes);
	return at + bytes;
}

static inline u32 put_ethernet(u8 *frame, __be16 *protocol, int *network)
{
	static const u16 types[] = {
		ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD, ETH_P_MPLS_UC, ETH_P_MPLS_MC,
	};
	__be16 type = htons(types[fuzz_choice(ARRAY_SIZE(types))]);
	u32 at = ETH_HLEN, tags = 0;

	memcpy(frame + 12, &type, sizeof(type));
	*protocol = type;
	*network = at;
	while (eth_type_vlan(type) && tags++ < 3) {
		struct vlan_hdr tag;

		type = htons(types[fuzz_choice(ARRAY_SIZE(types))]);
		tag = (struct vlan_hdr){ .h_vlan_encapsulated_proto = type };
		at = put_header(frame, at, &tag, sizeof(tag));
	}
	while (eth_p_mpls(type) && fuzz_flag()) {
		const struct mpls_shim_hdr label = { htonl(fuzz_u32()) };

		at = put_header(frame, at, &label, sizeof(label));
	}
	/* In a bridge, the network header is at the tag; on this host, after it. */
	if (fuzz_flag())
		*network = at;
	return at;
}

static inline u32 put_ip(u8 *frame, u32 at, u8 protocol, u8 dsfield)
{
	struct ipv6hdr ip6 = {
		.version = 6, .priority = dsfield >> 4, .flow_lbl = { dsfield << 4 },
		.payload_len = htons(fuzz_range(0, U16_MAX)), .nexthdr = protocol,
	};
	struct iphdr ip = {
		.version = 4, .ihl = fuzz_range(5, 15), .tos = dsfield,
		.tot_len = htons(fuzz_range(0, U16_MAX)), .protocol = protocol,
	};
	u32 extensions = fuzz_range(0, 10);

	if (fuzz_flag()) {
		if (ip.ihl == 5)
			ip.check = ip_fast_csum(&ip, 5);
		return put_header(frame, at, &ip, sizeof(ip)) + 4 * (ip.ihl - 5);
	}
	if (extensions)
		ip6.nexthdr = fuzz_choice(4) ? NEXTHDR_DEST : NEXTHDR_FRAGMENT;
	at = put_header(frame, at, &ip6, sizeof(ip6));
	while (extensions--) {
		const u8 extension[8] = { extensions ? NEXTHDR_DEST : protocol };

		at = put_header(frame, at, extension, sizeof(extension));
	}
	return at;
}

/**
 * draw_packet() - draw a packet that a qdisc may receive
 * @frame: FRAME_MAX_BYTES bytes, which may already contain headers
 * @skb: result; release its data with free_packet()
 *
 * The linear part holds at least the Ethernet header; its length is drawn from the input.
 */
static inline void draw_packet(const u8 *frame, struct sk_buff *skb)
{
	skb->len = fuzz_range(ETH_HLEN, FRAME_MAX_BYTES);
	skb->head_bytes = fuzz_range(ETH_HLEN, skb->len);
	skb->network_header = min_t(int, skb->network_header, skb->len);
	skb->transport_header = fuzz_flag() ? -1 :
				(int)fuzz_range(skb->network_header, skb->len);
	skb->inner_transport = fuzz_range(skb->network_header, skb->len);
	skb->csum_start = fuzz_range(0, skb->len);
	skb->encapsulation = fuzz_flag();
	skb->vlan_tag = fuzz_flag();
	skb->writable = fuzz_flag();
	skb->ip_summed = fuzz_choice(CHECKSUM_PARTIAL + 1);
	if (fuzz_flag())
		skb->shared = (struct skb_shared_info) {
			.gso_size = fuzz_range(1, U16_MAX),
			.gso_segs = fuzz_range(0, U16_MAX),
			.gso_type = fuzz_byte(),
		};
	skb->head = malloc(skb->head_bytes);
	skb->data = skb->head;
	skb->rest = malloc(skb->len - skb->head_bytes);
	memcpy(skb->data, frame, skb->head_bytes);
	memcpy(skb->rest, frame + skb->head_bytes, skb->len - skb->head_bytes);
}

static inline void free_packet(struct sk_buff *skb)
{
	free(skb->head);
	free(skb->rest);
}

#endif /* HOPCC_SELFTESTS_FUZZ_PACKET_H */
