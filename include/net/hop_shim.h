/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A header of ours between IP and the transport header: where it stands, how
 * it gets in and out.
 *
 *	[IP][TCP][data]  --hop_shim_insert()-->  [IP][ours][TCP][data]
 *	                 <--hop_shim_strip()---
 *
 * IPv4 with options, and IPv6 with the extension headers that stay in front of
 * ours: hop-by-hop, routing and destination options. Fragments have no place
 * for it.
 */
#ifndef HOPCC_NET_HOP_SHIM_H
#define HOPCC_NET_HOP_SHIM_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct net_offload;
struct sock;

/**
 * struct hop_shim_place - where IP's headers end
 * @offset_bytes: from the network header to what follows IP
 * @name_bytes: from the network header to the byte that names it
 * @next: that byte
 */
struct hop_shim_place {
	u16 offset_bytes;
	u16 name_bytes;
	u8 next;
};

/**
 * hop_shim_find_at() - where do the headers of an IP packet in a packet end?
 * @skb: the packet
 * @at_bytes: from skb->data to where the one that is looked at begins
 * @protocol: ETH_P_IP or ETH_P_IPV6, in network order
 * @place: result; its offsets count from @at_bytes
 *
 * Of an IPv6 fragment, @place is the fragment header: its @next is never ours.
 *
 * Context: any.
 * Return: false if it is neither IPv4 nor IPv6, an IPv4 fragment, or ends within
 * its headers.
 */
bool hop_shim_find_at(const struct sk_buff *skb, unsigned int at_bytes, __be16 protocol,
		      struct hop_shim_place *place);

/**
 * hop_shim_find() - where do IP's headers end?
 * @skb: a packet that IP's own checks passed or IP itself made; skb->data at its
 *	network header
 * @place: result, as that of hop_shim_find_at()
 *
 * Context: any.
 * Return: as hop_shim_find_at().
 */
static inline bool hop_shim_find(const struct sk_buff *skb, struct hop_shim_place *place)
{
	return hop_shim_find_at(skb, 0, skb->protocol, place);
}

/**
 * hop_shim_is_rewritten() - may conntrack still rewrite a packet's TCP?
 * @skb: an outgoing packet
 *
 * A connection's helper (FTP, SIP, IRC) reads and translates addresses in the data, and conntrack
 * then adjusts sequence numbers. Both happen in its last hook, behind the hooks of the carriers,
 * and take what stands behind IP's header for TCP. A connection has a helper, and the room for
 * adjustments, from its first packet on or never.
 *
 * Context: RCU read side.
 * Return: true if the packet must leave without a header between IP and TCP.
 */
bool hop_shim_is_rewritten(const struct sk_buff *skb);

/**
 * hop_shim_fits() - may a packet have a header?
 * @skb: as for hop_shim_insert()
 * @bytes: length of the header
 *
 * Context: any.
 * Return: false if IP's length could not say it, a MAC header is in the way, or
 * hop_shim_is_rewritten(): then hop_shim_insert() fails, and else for want of memory only.
 */
bool hop_shim_fits(const struct sk_buff *skb, unsigned int bytes);

/**
 * hop_shim_insert() - make room for a header
 * @skb: a packet of this host that has not met a device but that of a tunnel;
 *	skb->data at its network header, no MAC header in front of it
 * @place: of hop_shim_find()
 * @bytes: length of the header, even
 * @protocol: its protocol number
 * @keep_partial: leave a checksum to the device although a header is in its way
 *
 * The transport header's offset and the place of its checksum stay right. The
 * caller fills the room and names @place->next there.
 *
 * Context: any. Moves skb->head.
 * Return: the room, or NULL: then the packet is as it was, but its checksum may be
 * complete.
 */
void *hop_shim_insert(struct sk_buff *skb, const struct hop_shim_place *place,
		      unsigned int bytes, u8 protocol, bool keep_partial);

/**
 * hop_shim_strip() - take a header out
 * @skb: a packet for this host; skb->data at its network header
 * @place: of hop_shim_find(): the header to take out
 * @bytes: its length, even
 * @next: what follows it
 *
 * The packet is then as if it had come without: the frame's header moves along.
 *
 * Context: any. Moves skb->head.
 * Return: 0; -EINVAL if the packet ends within the header; -ENOMEM.
 */
int hop_shim_strip(struct sk_buff *skb, const struct hop_shim_place *place,
		   unsigned int bytes, u8 next);

/*
 * The GSO type that marks a GSO packet with our header. A NIC would take that header for TCP's.
 * Virtual devices accept this type (NETIF_F_GSO_SOFTWARE: veth, bridge, bond, VLAN, tunnels) and
 * no NIC does. So the packet stays unsegmented up to a NIC, where software segments it with the
 * offload of our protocol number. SCTP's own packets differ by their protocol number.
 */
#define HOP_SHIM_GSO SKB_GSO_SCTP

/**
 * hop_shim_mark_gso() - mark a GSO packet that got a header, so that no NIC segments it
 * @skb: the super-packet, after hop_shim_insert()
 *
 * TCP sets the type anew whenever it sends.
 *
 * Context: any.
 */
void hop_shim_mark_gso(struct sk_buff *skb);

/**
 * hop_shim_forward() - a packet with a header is for another host
 * @skb: the packet, in front of routing
 *
 * IP takes our header for the transport header. The check of a GSO packet's segments against the
 * MTU would then read TCP's header length from it.
 *
 * Context: any.
 */
static inline void hop_shim_forward(struct sk_buff *skb)
{
	if (skb_is_gso(skb) && skb->ip_summed == CHECKSUM_PARTIAL)
		skb_set_transport_header(skb, skb_checksum_start_offset(skb));
}

/**
 * hop_shim_segment() - segment a super-packet; each segment gets a copy of the header
 * @skb: the super-packet; skb->data at our header, which is checked and linear
 * @bytes: its length
 * @next: the offload of what follows it; NULL if there is none
 *
 * Context: any; from the gso_segment of our protocol number.
 * Return: the segments, their transport header set; NULL or an error as @next's.
 */
struct sk_buff *hop_shim_segment(struct sk_buff *skb, unsigned int bytes,
				 const struct net_offload *next);

/**
 * hop_shim_open_sock() - a socket's data will have our header
 * @sk: the socket
 * @super: it may hand down super-packets
 *
 * Context: socket lock held.
 * Return: whether its super-packets were switched off, for hop_shim_close_sock().
 */
bool hop_shim_open_sock(struct sock *sk, bool super);

/**
 * hop_shim_close_sock() - a socket's data will not have our header any more
 * @sk: the socket
 * @no_gso: what hop_shim_open_sock() returned
 *
 * Context: socket lock held.
 */
void hop_shim_close_sock(struct sock *sk, bool no_gso);

/**
 * hop_shim_reserve() - segments of a socket leave room for a header
 * @sk: a TCP socket
 * @bytes: of the header
 *
 * Context: socket lock held.
 */
void hop_shim_reserve(struct sock *sk, unsigned int bytes);

/**
 * hop_shim_release() - they do not any more
 * @sk: a TCP socket
 * @bytes: as of hop_shim_reserve()
 *
 * Context: socket lock held.
 */
void hop_shim_release(struct sock *sk, unsigned int bytes);

#endif /* HOPCC_NET_HOP_SHIM_H */
