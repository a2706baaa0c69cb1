// SPDX-License-Identifier: GPL-2.0
/* Packets on egress: position of IP and its payload, size of a GSO packet on the wire, CE */
#include "packet.h"
#include "../../hop_core/hop_pkt.c"

static void check_wire(const struct sk_buff *skb, u32 overhead_bytes)
{
	const struct hop_pkt_wire wire = hop_pkt_wire(skb, overhead_bytes);

	FUZZ_CLAIM(wire.segs_pkts >= 1);
	FUZZ_CLAIM(wire.bytes >= skb->len && wire.bytes <= S32_MAX);
	/* Whatever the packet says of its headers */
	FUZZ_CLAIM(wire.bytes <= skb->len + (u64)wire.segs_pkts *
		   (overhead_bytes + VLAN_HLEN + HOP_PKT_HDR_MAX_BYTES));
	FUZZ_CLAIM(hop_pkt_hdr_bytes(skb) <= skb->len);
	FUZZ_CLAIM(skb_is_gso(skb) || wire.segs_pkts == 1);
}

/*
 * A port counts the length of a packet and its overhead: another packet with any other
 * bytes in the same places counts the same. Of a GSO packet alone, the headers that each segment
 * repeats are read; check_wire() has their bound.
 */
static void check_other_bytes(const struct sk_buff *skb, u32 overhead_bytes)
{
	const struct hop_pkt_wire wire = hop_pkt_wire(skb, overhead_bytes);
	const u32 rest_bytes = skb->len - skb->head_bytes, change = fuzz_u32() | 1;
	struct sk_buff other = *skb;
	struct hop_pkt_wire same;
	u32 i;

	other.data = malloc(skb->head_bytes);
	other.rest = malloc(rest_bytes);
	for (i = 0; i < skb->len; i++)
		*(i < skb->head_bytes ? &other.data[i] : &other.rest[i - skb->head_bytes]) =
			(i < skb->head_bytes ? skb->data[i] : skb->rest[i - skb->head_bytes]) ^
			change >> 8 * (i % 4);
	same = hop_pkt_wire(&other, overhead_bytes);
	check_wire(&other, overhead_bytes);
	FUZZ_CLAIM(skb_is_gso(skb) || (same.bytes == wire.bytes &&
				       same.segs_pkts == wire.segs_pkts));
	FUZZ_CLAIM(skb_is_gso(skb) || wire.bytes <= skb->len + overhead_bytes + VLAN_HLEN);
	free(other.data);
	free(other.rest);
}

/* A GSO packet of 64 kB, whose headers end anywhere; of UDP, which is not read. */
static void check_long(const struct sk_buff *skb)
{
	struct sk_buff packet = *skb;

	packet.len = U16_MAX;
	packet.transport_header = fuzz_range(0, packet.len);
	packet.inner_transport = fuzz_range(0, packet.len);
	packet.shared.gso_size = fuzz_range(1, 1500);
	packet.shared.gso_type &= ~(SKB_GSO_TCPV4 | SKB_GSO_TCPV6);
	check_wire(&packet, 24);
}

static void check_inner(const struct sk_buff *skb)
{
	struct hop_pkt_inner inner;
	int offset_bytes;
	const __be16 proto = hop_pkt_labelled_ip_offset(skb, &offset_bytes);
	struct hop_pkt_inner searched;
	const u8 wanted = fuzz_byte();
	const bool found = hop_pkt_inner(skb, wanted, &inner);

	FUZZ_CLAIM(!proto || offset_bytes >= 0);
	/* Reading in place must give the same result as the search. */
	FUZZ_CLAIM(found == hop_pkt_search_inner(skb, wanted, &searched));
	if (!found)
		return;
	FUZZ_CLAIM(inner.offset_bytes == searched.offset_bytes);
	FUZZ_CLAIM(inner.end_bytes == searched.end_bytes);
	FUZZ_CLAIM(inner.protocol == searched.protocol && inner.dsfield == searched.dsfield);
	FUZZ_CLAIM(inner.protocol != wanted || !hop_pkt_lacks(skb, wanted));
	FUZZ_CLAIM(proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6));
	FUZZ_CLAIM(inner.offset_bytes >= offset_bytes + 20);
}

static void check_mark(struct sk_buff *skb)
{
	const int ecn = hop_pkt_ecn(skb);

	FUZZ_CLAIM(ecn >= -1 && ecn <= INET_ECN_CE);
	FUZZ_CLAIM(ecn == hop_pkt_search_ecn(skb));
	if (!hop_pkt_set_ce(skb))
		return;
	/* Not-ECT stays Not-ECT. */
	FUZZ_CLAIM(ecn != INET_ECN_NOT_ECT);
	FUZZ_CLAIM(ecn == -1 || hop_pkt_ecn(skb) == INET_ECN_CE);
}

static void fuzz_once(void)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = {};
	u32 at, overhead_bytes;

	at = put_ethernet(frame, &skb.protocol, &skb.network_header);
	at = put_ip(frame, at, fuzz_byte(), fuzz_byte());
	while (at < FRAME_MAX_BYTES && fuzz_has_more() && fuzz_flag())
		frame[at++] = fuzz_byte();
	draw_packet(frame, &skb);
	overhead_bytes = fuzz_range(0, 1024);
	check_wire(&skb, overhead_bytes);
	check_long(&skb);
	check_inner(&skb);
	/* The new draws follow the old ones, so that the corpus reaches what it did. */
	check_other_bytes(&skb, overhead_bytes);
	check_mark(&skb);
	free_packet(&skb);
}
