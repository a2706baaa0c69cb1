/* SPDX-License-Identifier: GPL-2.0 */
/* The packet within a tunnel's. */
#ifndef HOPCC_NET_CSIG_TAG_INNER_H
#define HOPCC_NET_CSIG_TAG_INNER_H

#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <hopcc/wire/csig.h>
#include <hopcc/core/hop_shim.h>

/**
 * struct ctag_inner - the inner IP packet of a tunnel, or a packet as it is
 * @at_bytes: from skb->data to where it starts; 0 for a packet as it is
 * @protocol: ETH_P_IP or ETH_P_IPV6, in network order
 * @place: where its headers end, counted from @at_bytes
 * @tagged: it is in an Ethernet frame that has a tag of its own
 */
struct ctag_inner {
	u32 at_bytes;
	__be16 protocol;
	bool tagged;
	struct hop_shim_place place;
};

extern ushort ctag_vxlan_port, ctag_geneve_port;
extern struct csig_tpids ctag_tpids;

bool ctag_find_inner(const struct sk_buff *skb, struct ctag_inner *inner);
bool ctag_inner_addresses(const struct sk_buff *skb, const struct ctag_inner *inner,
			  struct in6_addr *source, struct in6_addr *destination);

#endif /* HOPCC_NET_CSIG_TAG_INNER_H */
