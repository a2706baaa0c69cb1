// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1, that compute checksums and segment
 * only for packets that they can parse: TCP over IP, behind at most one VLAN tag. Other packets
 * that need this are dropped and counted; a real NIC would send them corrupted.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>

#define NIC_FEATURES (NETIF_F_SG | NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM | NETIF_F_TSO | \
		      NETIF_F_TSO6 | NETIF_F_HIGHDMA)

#include "nic.h"

/* There are no races, since the lab has one CPU and the writers run with BH off or in softirq. */
static ulong parsed;
module_param(parsed, ulong, 0644);
MODULE_PARM_DESC(parsed, "packets that the NIC checksummed or segmented");
static ulong mistaken;
module_param(mistaken, ulong, 0644);
MODULE_PARM_DESC(mistaken, "packets that the NIC could not parse");

static ulong sums_any;

/* Context: process. */
static int set_sums_any(const char *value, const struct kernel_param *param)
{
	int i, err = param_set_ulong(value, param);

	if (err)
		return err;
	rtnl_lock();
	for (i = 0; i < 2; i++) {
		nics[i]->features &= ~NETIF_F_CSUM_MASK;
		nics[i]->features |= sums_any ? NETIF_F_HW_CSUM : NIC_FEATURES & NETIF_F_CSUM_MASK;
	}
	rtnl_unlock();
	return 0;
}

static const struct kernel_param_ops sums_any_ops = { .set = set_sums_any, .get = param_get_ulong };

module_param_cb(sums_any, &sums_any_ops, &sums_any, 0644);
MODULE_PARM_DESC(sums_any, "checksums of any packet are computed, where the stack says");

/* UDP is the outer header of a tunnel, whose own checksum is computed. */
static bool nic_parses_next(u8 next)
{
	return next == IPPROTO_TCP || next == IPPROTO_UDP;
}

static bool nic_parses(const struct sk_buff *skb)
{
	__be16 protocol = eth_hdr(skb)->h_proto;

	if (protocol == htons(ETH_P_8021Q))
		protocol = vlan_eth_hdr(skb)->h_vlan_encapsulated_proto;
	if (protocol == htons(ETH_P_IP))
		return nic_parses_next(ip_hdr(skb)->protocol);
	return protocol == htons(ETH_P_IPV6) && nic_parses_next(ipv6_hdr(skb)->nexthdr);
}

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	skb_reset_mac_header(skb);
	if (skb->ip_summed == CHECKSUM_PARTIAL || skb_is_gso(skb)) {
		if (!nic_parses(skb) && (!sums_any || skb_is_gso(skb))) {
			mistaken++;
			kfree_skb(skb);
			return NETDEV_TX_OK;
		}
		parsed++;
	}
	dev_forward_skb(nic_peer(dev), skb);
	return NETDEV_TX_OK;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Pair of NICs that checksum and segment only protocols that they parse, for tests of the carriers");
