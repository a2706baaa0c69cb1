/* SPDX-License-Identifier: GPL-2.0 */
/* The header of GRE */
#ifndef HOPCC_LIB_HOP_GRE_H
#define HOPCC_LIB_HOP_GRE_H

#include <linux/bitops.h>
#include <linux/skbuff.h>
#include <net/gre.h>

/**
 * hop_gre_pass() - read a GRE header, RFC 2784 and 2890
 * @skb: the packet
 * @at_bytes: offset of the header; result: that of what follows it
 * @sum_bytes: result: offset of the checksum; 0: none
 *
 * Context: any.
 * Return: the protocol that it carries; 0 with other flags, such as version 1, which is no IP tunnel.
 */
static inline __be16 hop_gre_pass(const struct sk_buff *skb, unsigned int *at_bytes,
				  unsigned int *sum_bytes)
{
	struct gre_base_hdr buf;
	const struct gre_base_hdr *gre = skb_header_pointer(skb, *at_bytes, sizeof(buf), &buf);

	if (!gre || gre->flags & ~(GRE_CSUM | GRE_KEY | GRE_SEQ))
		return 0;
	*at_bytes += sizeof(*gre);
	*sum_bytes = gre->flags & GRE_CSUM ? *at_bytes : 0;
	*at_bytes += hweight16((__force u16)gre->flags) * GRE_HEADER_SECTION;
	return gre->protocol;
}

#endif /* HOPCC_LIB_HOP_GRE_H */
