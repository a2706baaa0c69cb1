/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The copies of the header that were sent lately. Anybody can send an ICMP error that says that
 * the far end of a tunnel does not know our protocol, and a tunnel has no sequence number of which
 * the window could be checked. So such an error counts only if it quotes one of these copies.
 *
 *	[IP2 to peer, identifier][XCP: all but Delta_Throughput][88 bytes of what follows]
 *
 * A copy is stored as a hash of these fields under a secret key. Hosts inside the tunnel know what
 * follows, but not the identifier of the outer packet.
 *
 * The table has a row for each far end, by the hash of its address, and a copy replaces the one
 * with the same place in its row. So a busy far end does not displace the copies to one that
 * refuses them, which are few since no connection gets through with them.
 */
#ifndef HOPCC_NET_XCP_XCP_SENT_H
#define HOPCC_NET_XCP_XCP_SENT_H

#include <linux/compiler.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <hopcc/wire/xcp.h>

/* GRE with all its fields, IPv6, XCP, and TCP's ports and sequence numbers: 16 + 40 + 20 + 12. */
#define XCP_SENT_BEHIND_BYTES	88U

/**
 * struct nxcp_copy - what an error must quote of a copy
 * @peer: destination address, that of the tunnel's far end; IPv4 is v4-mapped
 * @ident: IPv4's identifier or IPv6's flow label
 * @header: the copy, with a Delta_Throughput of 0
 * @behind: what follows; shorter packets are filled up with 0
 *
 * Routers change the hop limit, the DSCP, the ECN bits, IPv4's checksum and Delta_Throughput. NAT
 * changes the source address.
 */
struct nxcp_copy {
	struct in6_addr peer;
	__be32 ident;
	struct xcp_hdr header;
	__u8 behind[XCP_SENT_BEHIND_BYTES];
};

/* Without padding, which would be hashed. */
static_assert(sizeof(struct nxcp_copy) == 128);

/**
 * nxcp_copy_peer() - get the destination address of a packet
 * @skb: the packet, whose IP header is linear at skb->data
 * @peer: result: the address; IPv4 is v4-mapped
 */
static inline void nxcp_copy_peer(const struct sk_buff *skb, struct in6_addr *peer)
{
	if (skb->protocol == htons(ETH_P_IP))
		ipv6_addr_set_v4mapped(((const struct iphdr *)skb->data)->daddr, peer);
	else
		*peer = ((const struct ipv6hdr *)skb->data)->daddr;
}

static inline __be32 nxcp_copy_ident(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return (__force __be32)((const struct iphdr *)skb->data)->id;
	return ip6_flowlabel((const struct ipv6hdr *)skb->data);
}

/**
 * nxcp_copy_read() - read the fields of a packet that an error about it must quote
 * @skb: the packet that is being sent, or the error; in both the IP header is linear at skb->data
 * @offset_bytes: offset of our header from skb->data
 * @copy: result
 *
 * Return: false if the packet ends within our header.
 */
static inline bool nxcp_copy_read(const struct sk_buff *skb, unsigned int offset_bytes,
				  struct nxcp_copy *copy)
{
	const unsigned int behind_bytes = offset_bytes + XCP_HDR_BYTES;

	*copy = (struct nxcp_copy) { .ident = nxcp_copy_ident(skb) };
	nxcp_copy_peer(skb, &copy->peer);
	if (skb_copy_bits(skb, offset_bytes, &copy->header, XCP_HDR_BYTES))
		return false;
	copy->header.delta = 0;
	return !skb_copy_bits(skb, behind_bytes, copy->behind,
			      min(skb->len - behind_bytes, XCP_SENT_BEHIND_BYTES));
}

#endif /* HOPCC_NET_XCP_XCP_SENT_H */
