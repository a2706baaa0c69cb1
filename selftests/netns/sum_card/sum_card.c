// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet cards with a cable between them, card0 and card1, that sum up all that
 * comes in, from behind the frame's header on (CHECKSUM_COMPLETE). Who takes a header off
 * must take it off the sum: else the stack sums up itself, and where it finds nothing
 * wrong, complains of the card.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

#define CARD_FEATURES (NETIF_F_SG | NETIF_F_HIGHDMA)

/* The lab has one CPU, and this is softirq or BH off: no race. */
static ulong summed;
module_param(summed, ulong, 0644);
MODULE_PARM_DESC(summed, "packets that came in with a sum");

static struct net_device *cards[2];

static netdev_tx_t card_xmit(struct sk_buff *skb, struct net_device *dev)
{
	if (__dev_forward_skb(cards[dev == cards[0]], skb))
		return NETDEV_TX_OK;
	skb->csum = skb_checksum(skb, 0, skb->len, 0);
	skb->ip_summed = CHECKSUM_COMPLETE;
	summed++;
	netif_rx(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops card_ops = {
	.ndo_start_xmit = card_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static void card_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &card_ops;
	dev->needs_free_netdev = true;
	dev->features = CARD_FEATURES;
	dev->vlan_features = CARD_FEATURES;
	eth_hw_addr_random(dev);
}

static int __init card_init(void)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		cards[i] = alloc_netdev(0, "card%d", NET_NAME_ENUM, card_setup);
		err = cards[i] ? register_netdev(cards[i]) : -ENOMEM;
	}
	return err;
}

module_init(card_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Cards that sum up what comes in, for tests of the carriers");
