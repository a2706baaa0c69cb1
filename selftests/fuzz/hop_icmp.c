// SPDX-License-Identifier: GPL-2.0
/*
 * ICMP errors that quote one of our headers: nothing beyond the error is read, the handler of the
 * next protocol sees its header behind IP's, and the error is unchanged afterwards. A copy of XCP's
 * header is recognised although routers have changed it, and no other packet is taken for it.
 */
#include "packet.h"
#include "../../hop_core/hop_quoted.c"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"
#include "int_control.h"
#include "xcp_quoted.h"
#include "xcp_sent.h"

#define PROTOCOL 254

static u32 put_shim(u8 *frame, u32 at, bool is_int)
{
	const u32 slots = fuzz_range(0, INT_SLOTS_MAX);
	u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES] __aligned(4) = {};
	struct int_hdr *h = (struct int_hdr *)room;
	const struct xcp_hdr xcp = {
		.version_format = XCP_VERSION << 4 | fuzz_range(0, 5), .length = XCP_HDR_BYTES,
		.protocol = fuzz_choice(4) ? IPPROTO_TCP : fuzz_byte(),
	};

	if (!is_int)
		return put_header(frame, at, &xcp, sizeof(xcp));
	int_write(h, fuzz_choice(4) ? IPPROTO_TCP : fuzz_byte(),
		  fuzz_range(INT_TYPE_DATA, INT_TYPE_ECHO), fuzz_byte(), slots);
	if (!fuzz_choice(4))
		room[fuzz_range(0, INT_HDR_BYTES - 1)] = fuzz_byte();
	return put_header(frame, at, h, int_hdr_bytes(slots)) + INT_TAIL_BYTES;
}

/* Draw an error whose IP header is linear, with 8 bytes behind it, as ICMP has checked. */
static struct sk_buff draw_error(u32 ip_bytes, bool is_int)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct sk_buff skb = { .writable = fuzz_choice(8) };
	const struct iphdr ip = { .version = 4, .ihl = ip_bytes / 4, .protocol = PROTOCOL };
	u32 at;

	put_header(frame, 0, &ip, sizeof(ip));
	at = put_shim(frame, ip_bytes, is_int) + fuzz_range(0, 160);
	at = min(at, FRAME_MAX_BYTES);
	skb.len = fuzz_choice(4) ? at : fuzz_range(ip_bytes + HOP_ICMP_QUOTED_BYTES, at);
	skb.head_bytes = fuzz_range(ip_bytes + HOP_ICMP_QUOTED_BYTES, skb.len);
	skb.head = malloc(skb.head_bytes);
	skb.data = skb.head;
	skb.rest = malloc(skb.len - skb.head_bytes);
	memcpy(skb.data, frame, skb.head_bytes);
	memcpy(skb.rest, frame + skb.head_bytes, skb.len - skb.head_bytes);
	return skb;
}

/* As hop_icmp_v4() does around the handler of the next protocol */
static void skip(struct sk_buff *skb, u32 ip_bytes, u32 bytes)
{
	u8 before[FRAME_MAX_BYTES], after[FRAME_MAX_BYTES];
	const u8 next = fuzz_byte();
	const u32 len = skb->len;
	struct hop_quoted_ip quoted;

	skb_copy_bits(skb, 0, before, len);
	if (hop_quoted_skip_v4(skb, next, bytes, &quoted)) {
		const struct iphdr *ip = (const struct iphdr *)skb->data;

		FUZZ_CLAIM(bytes <= HOP_ICMP_SHIM_MAX_BYTES);
		FUZZ_CLAIM(skb->len == len - bytes && ip->protocol == next);
		FUZZ_CLAIM(ip->ihl * 4 == ip_bytes);
		FUZZ_CLAIM(!memcmp(skb->data + ip_bytes, before + ip_bytes + bytes,
				   HOP_ICMP_QUOTED_BYTES));
		hop_quoted_restore_v4(skb, &quoted);
	}
	FUZZ_CLAIM(skb->len == len);
	skb_copy_bits(skb, 0, after, len);
	FUZZ_CLAIM(!memcmp(before, after, len));
}

/* Is byte @at of an IPv4 packet one that routers or NAT may change in a copy? */
static bool may_change(u32 at, u32 ip_bytes)
{
	const u32 delta = ip_bytes + offsetof(struct xcp_hdr, delta);

	return at < offsetof(struct iphdr, id) ||
	       (at > offsetof(struct iphdr, id) + 1 && at < offsetof(struct iphdr, daddr)) ||
	       (at >= sizeof(struct iphdr) && at < ip_bytes) ||
	       (at >= delta && at < delta + sizeof(__be32)) ||
	       at >= ip_bytes + XCP_HDR_BYTES + XCP_SENT_BEHIND_BYTES;
}

static void check_copy(struct sk_buff *skb, u32 ip_bytes)
{
	const u32 at = fuzz_range(0, skb->head_bytes - 1);
	struct nxcp_copy copy, other;
	const bool good = nxcp_copy_read(skb, ip_bytes, &copy);

	FUZZ_CLAIM(good == (skb->len >= ip_bytes + XCP_HDR_BYTES));
	skb->data[at] ^= 1 << fuzz_range(0, 7);
	FUZZ_CLAIM(nxcp_copy_read(skb, ip_bytes, &other) == good);
	if (good && skb->protocol == htons(ETH_P_IP))
		FUZZ_CLAIM(!memcmp(&copy, &other, sizeof(copy)) == may_change(at, ip_bytes));
}

static void fuzz_once(void)
{
	const u32 ip_bytes = 4 * fuzz_range(5, 15);
	const bool is_int = fuzz_flag();
	struct sk_buff skb = draw_error(ip_bytes, is_int);
	u32 bytes;

	if (is_int)
		bytes = nint_pull_header(&skb, ip_bytes);
	else
		bytes = nxcp_quoted(&skb, ip_bytes, PROTOCOL) ? XCP_HDR_BYTES : 0;
	FUZZ_CLAIM(!bytes || bytes >= INT_HDR_BYTES);
	FUZZ_CLAIM(bytes <= HOP_ICMP_SHIM_MAX_BYTES);
	FUZZ_CLAIM(!bytes || ip_bytes + bytes + HOP_ICMP_QUOTED_BYTES <= skb.head_bytes);
	skip(&skb, ip_bytes, bytes ?: fuzz_byte());
	skb.protocol = htons(skb.head_bytes < sizeof(struct ipv6hdr) || fuzz_flag() ? ETH_P_IP :
									       ETH_P_IPV6);
	check_copy(&skb, ip_bytes);
	free_packet(&skb);
}
