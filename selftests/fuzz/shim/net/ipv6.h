/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_NET_IPV6_H
#define FUZZ_SHIM_NET_IPV6_H

#include <linux/ipv6.h>
#include <string.h>

static inline void ipv6_addr_set_v4mapped(__be32 address, struct in6_addr *mapped)
{
	*mapped = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&mapped->s6_addr[12], &address, sizeof(address));
}

static inline __be32 ip6_flowlabel(const struct ipv6hdr *ip6h)
{
	__be32 word;

	memcpy(&word, ip6h, sizeof(word));
	return word & htonl(0x000fffff);
}

static inline bool ipv6_is_extension(u8 next)
{
	return next == NEXTHDR_HOP || next == NEXTHDR_ROUTING || next == NEXTHDR_FRAGMENT ||
	       next == NEXTHDR_AUTH || next == NEXTHDR_NONE || next == NEXTHDR_DEST;
}

/*
 * Skip extension headers up to the end of the packet or a fragment other than the first.
 *
 * Return: offset of the next header; -1 if there is none.
 */
static inline int ipv6_skip_exthdr(const struct sk_buff *skb, int offset, u8 *next,
				   __be16 *frag_off)
{
	*frag_off = 0;
	while (ipv6_is_extension(*next)) {
		struct ipv6_opt_hdr buf;
		const struct ipv6_opt_hdr *opt;
		int bytes;

		if (*next == NEXTHDR_NONE)
			return -1;
		opt = skb_header_pointer(skb, offset, sizeof(buf), &buf);
		if (!opt)
			return -1;
		bytes = ipv6_optlen(opt);
		if (*next == NEXTHDR_AUTH)
			bytes = (opt->hdrlen + 2) << 2;
		if (*next == NEXTHDR_FRAGMENT) {
			if (skb_copy_bits(skb, offset + 2, frag_off, sizeof(*frag_off)))
				return -1;
			bytes = 8;
			if (ntohs(*frag_off) & ~7)
				break;
		}
		*next = opt->nexthdr;
		offset += bytes;
	}
	return offset;
}

#endif
