/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1: the common part of the modules that
 * emulate NICs. A module that includes this file defines NIC_FEATURES, nic_xmit(), and its
 * description and license. It may define NIC_START, a function that is called with each NIC
 * before that is registered, and NIC_PRIV_BYTES, the size of its private data.
 */
#ifndef HOPCC_SELFTESTS_NETNS_NIC_H
#define HOPCC_SELFTESTS_NETNS_NIC_H

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static struct net_device *nics[2];

#ifdef NIC_START
static int NIC_START(struct net_device *dev);
#else
#define NIC_START(dev) 0
#endif

#ifndef NIC_PRIV_BYTES
#define NIC_PRIV_BYTES 0
#endif

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev);

static inline struct net_device *nic_peer(const struct net_device *dev)
{
	return nics[dev == nics[0]];
}

static const struct net_device_ops nic_ops = {
	.ndo_start_xmit = nic_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static void nic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &nic_ops;
	dev->needs_free_netdev = true;
	dev->features = NIC_FEATURES;
	dev->vlan_features = NIC_FEATURES;
	dev->hw_enc_features = 0;
	eth_hw_addr_random(dev);
}

static int __init nic_init(void)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		nics[i] = alloc_netdev(NIC_PRIV_BYTES, "nic%d", NET_NAME_ENUM, nic_setup);
		err = nics[i] ? NIC_START(nics[i]) : -ENOMEM;
		err = err ?: register_netdev(nics[i]);
	}
	return err;
}

module_init(nic_init);

#endif /* HOPCC_SELFTESTS_NETNS_NIC_H */
