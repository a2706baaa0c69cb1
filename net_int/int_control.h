/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INT in received packets: a header in front of TCP, in a GSO packet or in a packet that an ICMP
 * error quotes; and control packets as they arrive, TCP segments with a mark. Another
 * experiment may have the same option, so a packet that does not pass all checks is left to TCP.
 */
#ifndef HOPCC_NET_INT_INT_CONTROL_H
#define HOPCC_NET_INT_INT_CONTROL_H

#include <linux/in.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <hopcc/lib/hop_quoted.h>

#include "int_carrier.h"

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
static inline unsigned int nint_pull_header(struct sk_buff *skb, unsigned int offset_bytes)
{
	struct int_hdr *h;
	unsigned int bytes;

	if (!pskb_may_pull(skb, offset_bytes + INT_HDR_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	bytes = nint_shim_bytes(h);
	if (bytes > INT_SHIM_MAX_BYTES ||
	    !pskb_may_pull(skb, offset_bytes + bytes + HOP_ICMP_QUOTED_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	if (h->next != IPPROTO_TCP || int_check(h, skb->len - offset_bytes))
		return 0;
	return bytes;
}

/**
 * nint_control_type() - look for the mark of a control packet
 * @skb: a TCP segment
 * @tcp_at: offset of its TCP header from skb->data
 * @payload_at: offset of what follows the TCP header; at most skb->len
 *
 * Return: INT_TYPE_PROBE, INT_TYPE_ECHO, or 0 if TCP's first option is no mark.
 */
static inline unsigned int nint_control_type(const struct sk_buff *skb, unsigned int tcp_at,
					     unsigned int payload_at)
{
	__be32 buf;
	const __be32 *mark;

	if (payload_at < tcp_at + INT_TCP_BYTES)
		return 0;
	mark = skb_header_pointer(skb, tcp_at + sizeof(struct tcphdr), sizeof(buf), &buf);
	if (mark && *mark == htonl(INT_MARK_PROBE))
		return INT_TYPE_PROBE;
	return mark && *mark == htonl(INT_MARK_ECHO) ? INT_TYPE_ECHO : 0;
}

/**
 * nint_control_read() - read a control packet
 * @skb: a TCP segment
 * @offset_bytes: offset of the message from skb->data; at most skb->len
 * @type: the type that the packet's mark indicates, INT_TYPE_PROBE or INT_TYPE_ECHO
 * @ctl: result
 *
 * Return: INT_OK, or the reason why the packet is not a control packet.
 */
static inline enum int_fault nint_control_read(const struct sk_buff *skb,
					       unsigned int offset_bytes, enum int_type type,
					       struct nint_control *ctl)
{
	const unsigned int bytes = skb->len - offset_bytes;

	skb_copy_bits(skb, offset_bytes, ctl, min_t(unsigned int, bytes, sizeof(*ctl)));
	return nint_control_check(ctl, bytes, type);
}

#endif /* HOPCC_NET_INT_INT_CONTROL_H */
