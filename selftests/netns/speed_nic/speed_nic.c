// SPDX-License-Identifier: GPL-2.0
/*
 * Two Ethernet NICs with a cable between them, nic0 and nic1, on a bus like real hardware. Their
 * driver reports the rate of the parameter mbit, but they deliver packets at once, without any
 * limit.
 */
#include <linux/ethtool.h>
#include <linux/platform_device.h>

#define NIC_FEATURES	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA)
#define NIC_START	nic_plug

#include "nic.h"

static struct platform_device *slot;

static int mbit = SPEED_10000;
module_param(mbit, int, 0644);
MODULE_PARM_DESC(mbit, "speed that the driver reports, Mbit/s; -1: unknown; read when a NIC is brought up");

static netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_forward_skb(nic_peer(dev), skb);
	return NETDEV_TX_OK;
}

static int nic_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = mbit;
	return 0;
}

static const struct ethtool_ops nic_ethtool_ops = {
	.get_link_ksettings = nic_get_link_ksettings,
};

static int nic_plug(struct net_device *dev)
{
	if (!slot)
		slot = platform_device_register_simple("speed_nic", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	SET_NETDEV_DEV(dev, &slot->dev);
	dev->ethtool_ops = &nic_ethtool_ops;
	dev->hw_features |= NETIF_F_HW_CSUM;
	return 0;
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Pair of NICs that report a rate, for tests of congestion controls");
