/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_IP_H
#define FUZZ_SHIM_NET_IP_H

#include <linux/ip.h>
#include <net/checksum.h>
#include <string.h>

/* Return: 0 for a header with a valid checksum */
static inline __sum16 ip_fast_csum(const void *header, unsigned int words)
{
	u32 sum = 0, i;
	u16 half;

	for (i = 0; i < 2 * words; i++) {
		memcpy(&half, (const u8 *)header + 2 * i, sizeof(half));
		sum += half;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static inline struct iphdr *ip_hdr(const struct sk_buff *skb)
{
	return (struct iphdr *)skb_network_header(skb);
}

static inline void ip_send_check(struct iphdr *ip)
{
	ip->check = 0;
	ip->check = ip_fast_csum(ip, ip->ihl);
}

static inline int skb_checksum_help(struct sk_buff *skb)
{
	skb->ip_summed = CHECKSUM_NONE;
	return 0;
}

static inline void skb_postpull_rcsum(struct sk_buff *skb, const void *from, unsigned int bytes)
{
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_sub(skb->csum, csum_partial(from, bytes, 0));
}

static inline void skb_postpush_rcsum(struct sk_buff *skb, const void *from, unsigned int bytes)
{
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(skb->csum, csum_partial(from, bytes, 0));
}

#endif
