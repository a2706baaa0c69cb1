/* SPDX-License-Identifier: GPL-2.0 */
/* How devices treat frames with our headers, according to their features. */
#ifndef HOPCC_LIB_HOP_DEVICE_H
#define HOPCC_LIB_HOP_DEVICE_H

#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

/* Behind a veth, the peer's stack does the checksum, whatever headers stand in front of TCP. */
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
 * hop_device_parses() - does a device parse a packet's headers to compute checksums?
 * @dev: the device
 *
 * A NIC that parses headers does not find a header behind a tag that it does not know. A VLAN
 * device, a bridge or a bond may offer more features than the devices below it, so these are
 * examined too.
 *
 * Context: RCU read side; in a qdisc it is that of __dev_queue_xmit(), rcu_read_lock_bh().
 * Return: true if the device, or one below it, parses headers.
 */
static inline bool hop_device_parses(struct net_device *dev)
{
	lockdep_assert_in_rcu_reader();
	return hop_device_parses_one(dev, NULL) ||
	       netdev_walk_all_lower_dev_rcu(dev, hop_device_parses_one, NULL);
}

#endif /* HOPCC_LIB_HOP_DEVICE_H */
