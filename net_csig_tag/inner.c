// SPDX-License-Identifier: GPL-2.0
/* IP in IP: the tag on the packet outside is about what is within. */

#include <net/ipv6.h>

#include "net_csig_tag.h"

/**
 * ctag_find_inner() - the packet that another carries
 * @skb: a packet; skb->data at its network header
 * @inner: result
 *
 * Context: any.
 * Return: false if it carries none.
 */
bool ctag_find_inner(const struct sk_buff *skb, struct ctag_inner *inner)
{
	struct hop_shim_place outer;

	if (!hop_shim_find(skb, &outer) ||
	    (outer.next != IPPROTO_IPIP && outer.next != IPPROTO_IPV6))
		return false;
	inner->at_bytes = outer.offset_bytes;
	inner->protocol = htons(outer.next == IPPROTO_IPIP ? ETH_P_IP : ETH_P_IPV6);
	return hop_shim_find_at(skb, inner->at_bytes, inner->protocol, &inner->place);
}

/**
 * ctag_inner_addresses() - its addresses
 * @skb: the packet
 * @inner: a packet within, or the packet itself
 * @source: result; IPv4 is v4-mapped
 * @destination: result, as @source
 *
 * Context: any.
 * Return: false if the packet ends before them.
 */
bool ctag_inner_addresses(const struct sk_buff *skb, const struct ctag_inner *inner,
			  struct in6_addr *source, struct in6_addr *destination)
{
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} buf;
	const bool ipv4 = inner->protocol == htons(ETH_P_IP);
	const void *ip = skb_header_pointer(skb, inner->at_bytes,
					    ipv4 ? sizeof(buf.v4) : sizeof(buf.v6), &buf);

	if (!ip)
		return false;
	if (ipv4) {
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->saddr, source);
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->daddr, destination);
	} else {
		*source = ((const struct ipv6hdr *)ip)->saddr;
		*destination = ((const struct ipv6hdr *)ip)->daddr;
	}
	return true;
}
