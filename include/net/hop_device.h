/* SPDX-License-Identifier: GPL-2.0 */
/* What devices make of frames with headers of ours, from what they and those below offer. */
#ifndef HOPCC_NET_HOP_DEVICE_H
#define HOPCC_NET_HOP_DEVICE_H

#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

/* Its peer's stack does what a device does, behind whatever is in front. */
static inline bool hop_device_is_veth(const struct net_device *dev)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, "veth");
}

static inline int hop_device_parses_one(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const netdev_features_t sums = dev->features & NETIF_F_CSUM_MASK;

	return sums && !(sums & NETIF_F_HW_CSUM);
}

/**
 * hop_device_parses() - may a checksum be left to one that looks for headers by itself?
 * @dev: the device
 *
 * Such a card does not find what stands behind a tag that it does not know. A VLAN device,
 * a bridge, a bond offers more than what is below it, so that is asked too.
 *
 * Context: RCU read lock.
 * Return: whether the device, or one below, is such.
 */
static inline bool hop_device_parses(struct net_device *dev)
{
	return hop_device_parses_one(dev, NULL) ||
	       netdev_walk_all_lower_dev_rcu(dev, hop_device_parses_one, NULL);
}

#endif /* HOPCC_NET_HOP_DEVICE_H */
