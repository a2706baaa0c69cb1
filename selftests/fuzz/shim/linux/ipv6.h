/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_IPV6_H
#define FUZZ_SHIM_LINUX_IPV6_H

#include <linux/ip.h>

#define NEXTHDR_HOP		0
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_AUTH		51
#define NEXTHDR_NONE		59
#define NEXTHDR_DEST		60

struct ipv6hdr {
#if __BYTE_ORDER == __LITTLE_ENDIAN
	u8 priority:4, version:4;
#else
	u8 version:4, priority:4;
#endif
	u8 flow_lbl[3];
	__be16 payload_len;
	u8 nexthdr;
	u8 hop_limit;
	struct in6_addr saddr;
	struct in6_addr daddr;
};

struct ipv6_opt_hdr {
	u8 nexthdr;
	u8 hdrlen;
};

static inline struct ipv6hdr *ipv6_hdr(const struct sk_buff *skb)
{
	return (struct ipv6hdr *)skb_network_header(skb);
}

#define ipv6_optlen(opt) (((opt)->hdrlen + 1) << 3)

#endif
