// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet cards with a cable between them, card0 and card1, that sum up all that
 * comes in, from behind the frame's header on (CHECKSUM_COMPLETE). Who takes a header off
 * must take it off the sum: else the stack sums up itself, and where it finds nothing
 * wrong, complains of the card.
 */

#define CARD_FEATURES (NETIF_F_SG | NETIF_F_HIGHDMA)

#include "card.h"

/* The lab has one CPU, and this is softirq or BH off: no race. */
static ulong summed;
module_param(summed, ulong, 0644);
MODULE_PARM_DESC(summed, "packets that came in with a sum");

static netdev_tx_t card_xmit(struct sk_buff *skb, struct net_device *dev)
{
	if (__dev_forward_skb(card_peer(dev), skb))
		return NETDEV_TX_OK;
	skb->csum = skb_checksum(skb, 0, skb->len, 0);
	skb->ip_summed = CHECKSUM_COMPLETE;
	summed++;
	netif_rx(skb);
	return NETDEV_TX_OK;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cards that sum up what comes in, for tests of the carriers");
