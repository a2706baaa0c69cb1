// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1, that compute a checksum over each
 * received packet behind the MAC header (CHECKSUM_COMPLETE). Code that removes a header must
 * subtract it from this checksum. Otherwise the stack computes the checksum again and, if the
 * packet is correct, logs a complaint about the NIC.
 */

#define NIC_FEATURES (NETIF_F_SG | NETIF_F_HIGHDMA)

#include "nic.h"

/* There are no races, since the lab has one CPU and the writers run with BH off or in softirq. */
static ulong summed;
module_param(summed, ulong, 0644);
MODULE_PARM_DESC(summed, "packets received with a checksum of the whole packet");

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	if (__dev_forward_skb(nic_peer(dev), skb))
		return NETDEV_TX_OK;
	skb->csum = skb_checksum(skb, 0, skb->len, 0);
	skb->ip_summed = CHECKSUM_COMPLETE;
	summed++;
	netif_rx(skb);
	return NETDEV_TX_OK;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Pair of NICs with CHECKSUM_COMPLETE, for tests of the carriers");
