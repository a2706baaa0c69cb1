// SPDX-License-Identifier: GPL-2.0
/*
 * A NIC with many instances of NAPI that poll without a pause: each is scheduled from the start, as
 * an instance is whose queue never becomes empty, and is complete only when the module is unloaded.
 * No CPU polls them before.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

#define BUSY_NAPIS 32

static struct net_device *nic;

/* The last poll, if others scheduled the instance meanwhile. */
static int busy_poll(struct napi_struct *napi, int budget)
{
	napi_complete_done(napi, 0);
	return 0;
}

static netdev_tx_t busy_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops busy_ops = {
	.ndo_start_xmit = busy_xmit,
};

static int __init busy_start(void)
{
	struct napi_struct *napis;
	unsigned int i;
	int err;

	nic = alloc_etherdev(BUSY_NAPIS * sizeof(*napis));
	if (!nic)
		return -ENOMEM;
	napis = netdev_priv(nic);
	nic->netdev_ops = &busy_ops;
	strscpy(nic->name, "busy0", IFNAMSIZ);
	for (i = 0; i < BUSY_NAPIS; i++) {
		netif_napi_add(nic, &napis[i], busy_poll);
		napi_enable(&napis[i]);
		napi_schedule_prep(&napis[i]);
	}
	err = register_netdev(nic);
	if (err)
		free_netdev(nic);
	return err;
}

static void __exit busy_stop(void)
{
	struct napi_struct *napis = netdev_priv(nic);
	unsigned int i;

	local_bh_disable();
	for (i = 0; i < BUSY_NAPIS; i++)
		napi_complete(&napis[i]);
	local_bh_enable();
	for (i = 0; i < BUSY_NAPIS; i++)
		napi_disable(&napis[i]);
	unregister_netdev(nic);
	free_netdev(nic);
}

module_init(busy_start);
module_exit(busy_stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NIC with busy instances of NAPI, for tests of unloading");
