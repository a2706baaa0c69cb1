/* SPDX-License-Identifier: GPL-2.0 */
/* Options that a carrier appends to the TCP header of a packet that leaves. */
#ifndef HOPCC_CORE_HOP_OPTION_H
#define HOPCC_CORE_HOP_OPTION_H

#include <hopcc/wire/hop_option.h>

struct sk_buff;

/* ExID of the option by which carriers negotiate: a parameter of hop_core. */
extern unsigned short hop_option_exid;

/**
 * hop_option_append() - append an option to a TCP header
 * @skb: a packet that leaves, possibly a GSO packet; skb->data is at its network header
 * @tcp_at: offset of its TCP header from skb->data
 * @opt: the option, with the NOPs that pad it
 * @bytes: length of @opt, a multiple of 4
 *
 * IP's length and TCP's checksum follow. Moves skb->head.
 *
 * Context: RCU read lock.
 * Return: 0; -ENOSPC if the header or the route's MTU has no room, or the segment is signed;
 * -ENOMEM.
 */
int hop_option_append(struct sk_buff *skb, unsigned int tcp_at, const void *opt,
		      unsigned int bytes);

/**
 * hop_option_put() - ask or answer for a carrier in a packet that leaves
 * @skb: as for hop_option_append()
 * @tcp_at: as for hop_option_append()
 * @o: the option; another carrier may already have put its part into the packet
 *
 * Context: RCU read lock.
 * Return: as hop_option_append().
 */
int hop_option_put(struct sk_buff *skb, unsigned int tcp_at, const struct hop_option *o);

#endif /* HOPCC_CORE_HOP_OPTION_H */
