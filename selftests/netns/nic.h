/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1: the common part of the modules that
 * emulate NICs. A module that includes this file defines CARD_FEATURES, card_xmit(), and its
 * description and license. It may define CARD_START, a function that is called with each NIC
 * before that is registered.
 */
#ifndef HOPCC_SELFTESTS_CARD_H
#define HOPCC_SELFTESTS_CARD_H

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static struct net_device *cards[2];

#ifdef CARD_START
static int CARD_START(struct net_device *dev);
#else
#define CARD_START(dev) 0
#endif

static netdev_tx_t card_xmit(struct sk_buff *skb, struct net_device *dev);

static inline struct net_device *card_peer(const struct net_device *dev)
{
	return cards[dev == cards[0]];
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
	dev->hw_enc_features = 0;
	eth_hw_addr_random(dev);
}

static int __init card_init(void)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		cards[i] = alloc_netdev(0, "nic%d", NET_NAME_ENUM, card_setup);
		err = cards[i] ? CARD_START(cards[i]) : -ENOMEM;
		err = err ?: register_netdev(cards[i]);
	}
	return err;
}

module_init(card_init);

#endif /* HOPCC_SELFTESTS_CARD_H */
