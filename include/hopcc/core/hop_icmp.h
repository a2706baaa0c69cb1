/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMP errors that quote a packet with one of our headers between IP and the transport header.
 * Some errors concern our header; all others must be passed on to the transport protocol, or
 * path MTU discovery would not work.
 */
#ifndef HOPCC_CORE_HOP_ICMP_H
#define HOPCC_CORE_HOP_ICMP_H

#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>
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
 * hop_icmp_report_v4() - pass an ICMP error on to the protocol behind our header
 * @skb: the error; skb->data at the quoted IP header
 * @info: additional value of the error, for the protocol's handler
 * @next: protocol number of the header behind ours
 * @bytes: length of our header, at most HOP_ICMP_SHIM_MAX_BYTES; the error quotes all of it and
 *	HOP_ICMP_QUOTED_BYTES behind it
 *
 * The protocol's handler expects its header right behind the quoted IP header. So the IP header is
 * moved there, and moved back afterwards.
 *
 * Context: RCU read lock.
 * Return: the result of the protocol's handler.
 */
int hop_icmp_report_v4(struct sk_buff *skb, u32 info, u8 next, unsigned int bytes);

#endif /* HOPCC_CORE_HOP_ICMP_H */
