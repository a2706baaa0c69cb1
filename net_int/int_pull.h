/* SPDX-License-Identifier: GPL-2.0 */
/* An INT header in front of TCP, in a GSO packet or in a packet that an ICMP error quotes */
#ifndef HOPCC_NET_INT_INT_PULL_H
#define HOPCC_NET_INT_INT_PULL_H

#include <linux/in.h>
#include <linux/skbuff.h>
#include <hopcc/lib/hop_quoted.h>
#include <hopcc/wire/int.h>

/* The longest header in front of TCP, with its tail. */
#define INT_SHIM_MAX_BYTES (INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + INT_TAIL_BYTES)

/**
 * nint_pull_header() - validate a header in front of TCP, and make it linear
 * @skb: the packet, or the error that quotes it, from skb->data on; may be forged
 * @offset_bytes: offset of our header from skb->data
 *
 * Return: length of the header with its tail; it and HOP_ICMP_QUOTED_BYTES of TCP behind it are
 * then linear. 0 if there is not that much of it, or the header is not valid.
 */
unsigned int nint_pull_header(struct sk_buff *skb, unsigned int offset_bytes);

#endif /* HOPCC_NET_INT_INT_PULL_H */
