/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors that quote a packet with one of our headers between IP and the transport header.
 * Some errors concern our header; all others must be passed on to the transport protocol, or
 * path MTU discovery would not work.
 */
#ifndef HOPCC_CORE_HOP_ICMP_H
#define HOPCC_CORE_HOP_ICMP_H

#include <linux/ipv6.h>
#include <hopcc/lib/hop_quoted.h>
#include <hopcc/core/hop_flow.h>

/**
 * hop_icmp_ends() - decide whether an error ends the use of our headers on a connection
 * @key: the key of the quoted packet's connection
 * @th: the first HOP_ICMP_QUOTED_BYTES of the quoted TCP header
 * @decision: decision on the error, not HOP_ICMP_NEXT
 *
 * A filter that refuses the copy of an ACK with which a header is tried may pass TCP; one that
 * refuses data after headers have passed refuses TCP, which handles the error. An error that quotes
 * a segment that is not in flight is ignored, since anybody could have sent it.
 *
 * Context: RCU read lock.
 * Return: true if the error is handled; false if it must be passed on to the transport.
 */
bool hop_icmp_ends(const struct hop_flow_key *key, const struct tcphdr *th,
		   enum hop_icmp_decision decision);

/**
 * typedef hop_icmp_read - a carrier handles an error as far as it concerns the carrier
 * @skb: the error; skb->data at the quoted packet
 * @offset_bytes: offset of our quoted header from skb->data
 * @decision: decision on the error
 * @next: result: protocol number of the header behind ours, which must receive the error
 *
 * Return: the length of our header, at most HOP_ICMP_SHIM_MAX_BYTES; the error quotes all of it and
 * HOP_ICMP_QUOTED_BYTES behind it. 0 if it does not, or if the error has been handled.
 */
typedef unsigned int hop_icmp_read(struct sk_buff *skb, unsigned int offset_bytes,
				   enum hop_icmp_decision decision, u8 *next);

/**
 * hop_icmp_v4() - handle an ICMP error for a carrier's protocol number
 * @skb: the error; skb->data at the quoted IP header
 * @info: additional value of the error, for the handler of the protocol behind our header
 * @read: the carrier's function
 *
 * The protocol's handler expects its header right behind the quoted IP header. So the IP header is
 * moved there, and moved back afterwards.
 *
 * Context: RCU read lock.
 * Return: the result of the protocol's handler.
 */
int hop_icmp_v4(struct sk_buff *skb, u32 info, hop_icmp_read *read);

/**
 * hop_icmp_v6() - hop_icmp_v4() for IPv6, whose handlers get the offset of their header
 * @skb: the error; skb->data at the quoted IP header
 * @opt: for the protocol's handler
 * @type: type of the error
 * @code: code of the error
 * @offset: offset of our header from skb->data
 * @info: additional value of the error
 * @read: the carrier's function
 *
 * Context: RCU read lock.
 * Return: the result of the protocol's handler.
 */
int hop_icmp_v6(struct sk_buff *skb, struct inet6_skb_parm *opt, u8 type, u8 code, int offset,
		__be32 info, hop_icmp_read *read);

#endif /* HOPCC_CORE_HOP_ICMP_H */
