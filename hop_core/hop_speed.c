// SPDX-License-Identifier: GPL-2.0
/*
 * A driver is asked for its speed under RTNL only, a sender wants to know it in
 * softirq: ask when a device comes up or changes, remember the answer. Both notifiers
 * come with the device's own lock held, where the kernel has one.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/xarray.h>
#include <net/hop_speed.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#define HOP_SPEED_BYTES_PER_MBIT 125000U

struct hop_speed_net {
	struct xarray mbit;	/* by ifindex; no entry: not known */
};

static unsigned int hop_speed_net_id;

/* RTNL. */
static LIST_HEAD(hop_speed_watches);

u64 hop_speed_bytes_ps(const struct net_device *dev)
{
	struct hop_speed_net *hsn = net_generic(dev_net(dev), hop_speed_net_id);
	void *entry = xa_load(&hsn->mbit, dev->ifindex);

	return entry ? (u64)xa_to_value(entry) * HOP_SPEED_BYTES_PER_MBIT : 0;
}
EXPORT_SYMBOL_GPL(hop_speed_bytes_ps);

/* 0: not known. */
static u32 hop_speed_ask_mbit(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (compat_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed;
}

/**
 * hop_speed_ask_bytes_ps() - the rate of a device, as its driver says now
 * @dev: the device
 *
 * Context: process, RTNL held, and the device's own lock where the kernel has one:
 * init() and change() of a qdisc.
 * Return: bytes/s; 0: not known.
 */
u64 hop_speed_ask_bytes_ps(struct net_device *dev)
{
	return (u64)hop_speed_ask_mbit(dev) * HOP_SPEED_BYTES_PER_MBIT;
}
EXPORT_SYMBOL_GPL(hop_speed_ask_bytes_ps);

/**
 * hop_speed_watch() - be told when a device comes up or changes
 * @watch: @dev and @changed are set
 *
 * Context: process, RTNL held; until hop_speed_unwatch(), which must come before the
 * device goes.
 */
void hop_speed_watch(struct hop_speed_watch *watch)
{
	list_add_tail(&watch->list, &hop_speed_watches);
}
EXPORT_SYMBOL_GPL(hop_speed_watch);

/**
 * hop_speed_unwatch() - be told no more
 * @watch: of hop_speed_watch(), or one whose list was only initialised
 *
 * Context: process, RTNL held.
 */
void hop_speed_unwatch(struct hop_speed_watch *watch)
{
	list_del_init(&watch->list);
}
EXPORT_SYMBOL_GPL(hop_speed_unwatch);

static void hop_speed_remember(struct net_device *dev)
{
	struct hop_speed_net *hsn = net_generic(dev_net(dev), hop_speed_net_id);
	u32 mbit = hop_speed_ask_mbit(dev);

	if (mbit)	/* without memory: not known */
		xa_store(&hsn->mbit, dev->ifindex, xa_mk_value(mbit), GFP_KERNEL);
	else
		xa_erase(&hsn->mbit, dev->ifindex);
}

static void hop_speed_tell(struct net_device *dev)
{
	struct hop_speed_watch *watch;

	list_for_each_entry(watch, &hop_speed_watches, list)
		if (watch->dev == dev)
			watch->changed(watch, hop_speed_ask_bytes_ps(dev));
}

static int hop_speed_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct hop_speed_net *hsn = net_generic(dev_net(dev), hop_speed_net_id);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		hop_speed_remember(dev);
		hop_speed_tell(dev);
		break;
	case NETDEV_UNREGISTER:
		xa_erase(&hsn->mbit, dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block hop_speed_notifier = {
	.notifier_call = hop_speed_event,
};

static int __net_init hop_speed_net_init(struct net *net)
{
	struct hop_speed_net *hsn = net_generic(net, hop_speed_net_id);

	xa_init(&hsn->mbit);
	return 0;
}

static void __net_exit hop_speed_net_exit(struct net *net)
{
	struct hop_speed_net *hsn = net_generic(net, hop_speed_net_id);

	xa_destroy(&hsn->mbit);
}

static struct pernet_operations hop_speed_net_ops = {
	.init = hop_speed_net_init,
	.exit = hop_speed_net_exit,
	.id = &hop_speed_net_id,
	.size = sizeof(struct hop_speed_net),
};

/**
 * hop_speed_start() - begin to remember; devices that are up are asked now
 *
 * Context: process.
 * Return: 0, or an error of registering.
 */
int hop_speed_start(void)
{
	int err = register_pernet_subsys(&hop_speed_net_ops);

	if (err)
		return err;
	err = register_netdevice_notifier(&hop_speed_notifier);
	if (err)
		unregister_pernet_subsys(&hop_speed_net_ops);
	return err;
}

/**
 * hop_speed_stop() - forget all
 *
 * Context: process.
 */
void hop_speed_stop(void)
{
	unregister_netdevice_notifier(&hop_speed_notifier);
	unregister_pernet_subsys(&hop_speed_net_ops);
}
