/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One of our headers between IP and the transport header: finding its place, inserting it and
 * removing it.
 *
 *	[IP][TCP][data]  --hop_shim_insert()-->  [IP][ours][TCP][data]
 *	                 <--hop_shim_strip()---
 *
 * IPv4 options are supported, and so are the IPv6 extension headers that stay in front of our
 * header: hop-by-hop, routing and destination options. Fragments cannot carry our header.
 */
#ifndef HOPCC_CORE_HOP_SHIM_H
#define HOPCC_CORE_HOP_SHIM_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct net_offload;
struct sock;

/**
 * struct hop_shim_place - the end of the IP headers
 * @offset_bytes: offset of the header behind IP, from the network header
 * @name_bytes: offset of the byte that contains its protocol number, from the network header
 * @next: the protocol number
 */
struct hop_shim_place {
	u16 offset_bytes;
	u16 name_bytes;
	u8 next;
};

/**
 * hop_shim_may_follow() - may a header of ours stand behind an IPv6 extension header?
 * @next: protocol number of the header in front of it
 *
 * Context: any.
 * Return: true for the extension headers that are skipped to find it.
 */
bool hop_shim_may_follow(u8 next);

/**
 * hop_shim_find_at() - find the end of the IP headers of a packet within a packet
 * @skb: the outer packet
 * @at_bytes: offset of the inner IP header from skb->data
 * @protocol: ETH_P_IP or ETH_P_IPV6, in network order
 * @place: result; its offsets count from @at_bytes
 *
 * For an IPv6 fragment, @place is the fragment header, so @next is never our protocol number.
 *
 * Context: any.
 * Return: false if the inner packet is neither IPv4 nor IPv6, is an IPv4 fragment, or ends
 * within its headers.
 */
bool hop_shim_find_at(const struct sk_buff *skb, unsigned int at_bytes, __be16 protocol,
		      struct hop_shim_place *place);

/**
 * hop_shim_find() - find the end of the IP headers
 * @skb: a packet that passed IP's own checks or that IP built; skb->data at its network header
 * @place: result, as for hop_shim_find_at()
 *
 * Context: any.
 * Return: like hop_shim_find_at().
 */
static inline bool hop_shim_find(const struct sk_buff *skb, struct hop_shim_place *place)
{
	return hop_shim_find_at(skb, 0, skb->protocol, place);
}

/**
 * hop_shim_is_rewritten() - may conntrack still rewrite a packet's TCP header or data?
 * @skb: an outgoing packet
 *
 * A connection's helper (FTP, SIP, IRC) reads and translates addresses in the data, and conntrack
 * then adjusts sequence numbers. Both happen in its last hook, behind the hooks of the carriers,
 * and both expect TCP right behind the IP header. If a connection has a helper, or conntrack's
 * extension for such adjustments, it has it from its first packet on.
 *
 * Context: RCU read side.
 * Return: true if the packet must leave without a header between IP and TCP.
 */
bool hop_shim_is_rewritten(const struct sk_buff *skb);

/**
 * hop_shim_fits() - can a header be inserted into a packet?
 * @skb: the packet, as for hop_shim_insert()
 * @bytes: length of the header
 *
 * If this returns true, hop_shim_insert() fails only for lack of memory.
 *
 * Context: any.
 * Return: false if IP's length field is too small, if a MAC header stands in front of IP, if the
 * NIC is to encrypt the packet (TLS), or if hop_shim_is_rewritten() is true.
 */
bool hop_shim_fits(const struct sk_buff *skb, unsigned int bytes);

/**
 * hop_shim_insert() - make room for a header
 * @skb: a packet of this host that has not passed a device, except a tunnel's; skb->data at its
 *	network header, no MAC header in front of it
 * @place: place of the header, from hop_shim_find()
 * @bytes: length of the header, even
 * @protocol: protocol number of the header
 * @keep_partial: let the device compute the transport checksum, although our header precedes it
 *
 * The offsets of the transport header and of its checksum are kept correct. The
 * caller fills the room, and stores @place->next in the header.
 *
 * Context: any. Moves skb->head.
 * Return: the room; or NULL, and then the packet is unchanged, except that its checksum may have
 * been computed.
 */
void *hop_shim_insert(struct sk_buff *skb, const struct hop_shim_place *place,
		      unsigned int bytes, u8 protocol, bool keep_partial);

/**
 * hop_shim_has_sum_behind() - does a checksum that is still to be computed start behind some bytes?
 * @skb: a received packet; skb->data at its network header
 * @bytes: number of bytes
 *
 * The user of a tap or of a virtual machine chooses where the checksum starts. If that is in a
 * header that is removed, it would start in front of the packet.
 *
 * Context: any.
 * Return: false if the checksum starts in these bytes, or in front of them.
 */
static inline bool hop_shim_has_sum_behind(const struct sk_buff *skb, unsigned int bytes)
{
	return skb->ip_summed != CHECKSUM_PARTIAL || skb_checksum_start_offset(skb) >= (int)bytes;
}

/**
 * hop_shim_strip() - remove a header
 * @skb: a packet for this host; skb->data at its network header
 * @place: place of the header, from hop_shim_find()
 * @bytes: length of the header, even
 * @next: protocol number of the header behind it
 *
 * The packet is then as if it had arrived without the header: the MAC header is moved, too.
 *
 * Context: any. Moves skb->head.
 * Return: 0; -EINVAL if the packet ends within the header, or if a checksum that is still to be
 * computed does not start behind it; -ENOMEM. On error, the packet is unchanged.
 */
int hop_shim_strip(struct sk_buff *skb, const struct hop_shim_place *place,
		   unsigned int bytes, u8 next);

/**
 * hop_shim_strip_behind() - remove bytes behind the transport header
 * @skb: as for hop_shim_strip()
 * @place: place of the transport header, or of a header in front of it
 * @l4_bytes: length from @place to the end of the transport header
 * @bytes: length of what is removed, even
 *
 * TCP's checksum is not changed: the caller does so if it covers the removed bytes.
 *
 * Context: any. Moves skb->head.
 * Return: like hop_shim_strip(), but a checksum that is still to be computed may also start between
 * @place and the removed bytes. The function cannot fail if the checksum starts there, the packet
 * was made writable up to the end of the removed bytes, and IP's length is correct.
 */
int hop_shim_strip_behind(struct sk_buff *skb, const struct hop_shim_place *place,
			  unsigned int l4_bytes, unsigned int bytes);

/*
 * The GSO type that marks a GSO packet with our header. Without it, a NIC would segment the packet
 * as if TCP followed IP.
 * Virtual devices accept this type (NETIF_F_GSO_SOFTWARE: veth, bridge, bond, VLAN, tunnels) and
 * no NIC does. So the packet stays unsegmented up to a NIC, where software segments it with the
 * offload of our protocol number. SCTP's own packets differ by their protocol number.
 */
#define HOP_SHIM_GSO SKB_GSO_SCTP

/**
 * hop_shim_ip_length() - compute the value of IP's length field after a change
 * @skb: a packet of IPv4 or IPv6
 * @change_bytes: number of bytes that the packet gains
 *
 * Context: any.
 * Return: the value; 0 if it does not fit, or in a GSO packet of more than 64 kB.
 */
unsigned int hop_shim_ip_length(const struct sk_buff *skb, int change_bytes);

/**
 * hop_shim_set_ip_length() - set IP's length field
 * @skb: the packet, whose IP header is writable
 * @length: the value
 *
 * Context: any. Updates IPv4's checksum.
 */
void hop_shim_set_ip_length(struct sk_buff *skb, unsigned int length);

/**
 * hop_shim_mark_gso() - mark a GSO packet that got a header, so that no NIC segments it
 * @skb: the GSO packet, after hop_shim_insert()
 *
 * The mark need not be removed for a retransmission: TCP sets the type each time it sends.
 *
 * Context: any.
 */
void hop_shim_mark_gso(struct sk_buff *skb);

/**
 * hop_shim_forward() - prepare a GSO packet with a valid header that is for another host
 * @skb: the packet, before routing; skb->data at its network header
 * @place: place of the header, from hop_shim_find()
 * @bytes: length of the header; TCP's fixed header is behind it, in the linear part
 *
 * IP sets the transport header to our header. If it stayed there, the check of the segments against
 * the MTU would read TCP's header length from our header. The start of the checksum does not say
 * where TCP is: the user of a tap or of a virtual machine chooses it.
 *
 * Context: any.
 */
static inline void hop_shim_forward(struct sk_buff *skb, const struct hop_shim_place *place,
				    unsigned int bytes)
{
	skb_set_transport_header(skb, place->offset_bytes + bytes);
}

/**
 * hop_shim_segment() - segment a GSO packet; each segment gets a copy of the header
 * @skb: the GSO packet; skb->data at our header, which is validated and linear
 * @bytes: length of our header
 * @next: offload of the protocol behind our header; NULL if there is none
 *
 * Context: any; called by the gso_segment of our protocol number.
 * Return: the segments, with their transport header set; NULL or an error like that of @next.
 */
struct sk_buff *hop_shim_segment(struct sk_buff *skb, unsigned int bytes,
				 const struct net_offload *next);

/**
 * hop_shim_open_sock() - prepare a socket whose data will carry our header
 * @sk: the socket
 * @allow_gso: the socket may send GSO packets
 *
 * Context: socket lock held.
 * Return: true if GSO was switched off for the socket; to be passed to hop_shim_close_sock().
 */
bool hop_shim_open_sock(struct sock *sk, bool allow_gso);

/**
 * hop_shim_close_sock() - undo hop_shim_open_sock()
 * @sk: the socket
 * @no_gso: result of hop_shim_open_sock()
 *
 * Context: socket lock held.
 */
void hop_shim_close_sock(struct sock *sk, bool no_gso);

/**
 * hop_shim_reserve() - reserve room for a header in a socket's segments
 * @sk: a TCP socket
 * @bytes: length of the header
 *
 * Context: socket lock held.
 */
void hop_shim_reserve(struct sock *sk, unsigned int bytes);

/**
 * hop_shim_release() - undo hop_shim_reserve()
 * @sk: a TCP socket
 * @bytes: length that was reserved
 *
 * Context: socket lock held.
 */
void hop_shim_release(struct sock *sk, unsigned int bytes);

#endif /* HOPCC_CORE_HOP_SHIM_H */
