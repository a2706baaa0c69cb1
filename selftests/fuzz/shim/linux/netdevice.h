/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_SHIM_LINUX_NETDEVICE_H
#define FUZZ_SHIM_LINUX_NETDEVICE_H

#include <linux/skbuff.h>
#include <linux/types.h>

typedef u64 netdev_features_t;

#define NETIF_F_IP_CSUM		2
#define NETIF_F_HW_CSUM		8
#define NETIF_F_CSUM_MASK	(NETIF_F_IP_CSUM | NETIF_F_HW_CSUM)

struct rtnl_link_ops {
	const char *kind;
};

struct net_device {
	netdev_features_t features;
	const struct rtnl_link_ops *rtnl_link_ops;
};

struct netdev_nested_priv;

/* A device in a harness has no lower devices. */
static inline int netdev_walk_all_lower_dev_rcu(struct net_device *dev,
						int (*fn)(struct net_device *dev,
							  struct netdev_nested_priv *priv),
						struct netdev_nested_priv *priv)
{
	return 0;
}

#endif
