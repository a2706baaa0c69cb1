// SPDX-License-Identifier: GPL-2.0
/*
 * A driver reports its speed under RTNL only, but a sender needs it in softirq. So the speed is
 * read when a device comes up or changes, and cached. The kernel calls both notifiers under the
 * device's own lock, if it has such a lock.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/xarray.h>
#include <hopcc/core/hop_speed.h>
#include <hopcc/lib/hop_drain.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sch_generic.h>

/* A cache entry: bit 0 is set if the rate limits; above it, the rate in Mbit/s. */
#define HOP_SPEED_LIMITS	1UL
#define HOP_SPEED_SHIFT		1
#define HOP_SPEED_MAX_MBIT	(S32_MAX >> HOP_SPEED_SHIFT)

/* An xarray of each network namespace, by ifindex; no entry if the rate is not known. */
static unsigned int hop_speed_net_id;

/* Protected by RTNL. */
static LIST_HEAD(hop_speed_watches);

struct hop_speed hop_speed_of(const struct net_device *dev)
{
	struct xarray *speeds = net_generic(dev_net(dev), hop_speed_net_id);
	void *entry = xa_load(speeds, dev->ifindex);
	unsigned long value = entry ? xa_to_value(entry) : 0;

	lockdep_assert_in_rcu_reader();
	return (struct hop_speed){
		.mbit = value >> HOP_SPEED_SHIFT,
		.limits = value & HOP_SPEED_LIMITS,
	};
}
EXPORT_SYMBOL_GPL(hop_speed_of);

/* Return: Mbit/s; 0 if not known. */
static u32 hop_speed_ask_mbit(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (compat_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed;
}

/**
 * hop_speed_ask_bytes_ps() - read the current rate of a device from its driver
 * @dev: the device
 *
 * Context: process, RTNL held, and the device's own lock if the kernel has one:
 * init() and change() of a qdisc.
 * Return: bytes/s; 0 if it is not known or above HOP_DRAIN_RATE_MAX_BYTES_PS.
 */
u64 hop_speed_ask_bytes_ps(struct net_device *dev)
{
	const u64 rate_bytes_ps = (u64)hop_speed_ask_mbit(dev) * HOP_SPEED_BYTES_PER_MBIT;

	ASSERT_RTNL();
	return rate_bytes_ps <= HOP_DRAIN_RATE_MAX_BYTES_PS ? rate_bytes_ps : 0;
}
EXPORT_SYMBOL_GPL(hop_speed_ask_bytes_ps);

/**
 * hop_speed_watch() - start to call a function when a qdisc's device comes up or changes
 * @watch: the watch, zeroed
 * @sch: the qdisc
 * @changed: the function
 *
 * Call hop_speed_unwatch() before the device is unregistered.
 *
 * Context: process, RTNL held.
 */
void hop_speed_watch(struct hop_speed_watch *watch, struct Qdisc *sch,
		     void (*changed)(struct Qdisc *sch, u64 rate_bytes_ps))
{
	ASSERT_RTNL();
	watch->sch = sch;
	watch->changed = changed;
	list_add_tail(&watch->list, &hop_speed_watches);
}
EXPORT_SYMBOL_GPL(hop_speed_watch);

/**
 * hop_speed_unwatch() - undo hop_speed_watch()
 * @watch: the watch; hop_speed_watch() need not have been called
 *
 * Context: process, RTNL held.
 */
void hop_speed_unwatch(struct hop_speed_watch *watch)
{
	ASSERT_RTNL();
	if (watch->sch)
		list_del(&watch->list);
}
EXPORT_SYMBOL_GPL(hop_speed_unwatch);

/* A hardware device has a parent, its device on a bus. A virtual device has none. */
static int hop_speed_is_virtual(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return list_empty(&dev->adj_list.lower) && !dev->dev.parent;
}

static bool hop_speed_limits(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	return !hop_speed_is_virtual(dev, &priv) &&
	       !netdev_walk_all_lower_dev(dev, hop_speed_is_virtual, &priv);
}

static void hop_speed_remember(struct net_device *dev)
{
	struct xarray *speeds = net_generic(dev_net(dev), hop_speed_net_id);
	unsigned long value = min_t(u32, hop_speed_ask_mbit(dev), HOP_SPEED_MAX_MBIT);

	value <<= HOP_SPEED_SHIFT;
	if (value && hop_speed_limits(dev))
		value |= HOP_SPEED_LIMITS;
	if (value)	/* without memory, the rate is not known */
		xa_store(speeds, dev->ifindex, xa_mk_value(value), GFP_KERNEL);
	else
		xa_erase(speeds, dev->ifindex);
}

/* Clear the bit HOP_SPEED_LIMITS of a device if a new device below it makes the rate not limit. */
static int hop_speed_check(struct net_device *dev, struct netdev_nested_priv *priv)
{
	struct xarray *speeds = net_generic(dev_net(dev), hop_speed_net_id);
	void *entry = xa_load(speeds, dev->ifindex);
	unsigned long value = entry ? xa_to_value(entry) : 0;

	if ((value & HOP_SPEED_LIMITS) && !hop_speed_limits(dev))
		xa_store(speeds, dev->ifindex, xa_mk_value(value & ~HOP_SPEED_LIMITS), GFP_ATOMIC);
	return 0;
}

static void hop_speed_check_above(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, hop_speed_check, &priv);
	rcu_read_unlock();
}

static void hop_speed_report(struct net_device *dev)
{
	const u64 rate_bytes_ps = hop_speed_ask_bytes_ps(dev);
	struct hop_speed_watch *watch;

	list_for_each_entry(watch, &hop_speed_watches, list) {
		if (!rate_bytes_ps || qdisc_dev(watch->sch) != dev)
			continue;
		sch_tree_lock(watch->sch);
		watch->changed(watch->sch, rate_bytes_ps);
		sch_tree_unlock(watch->sch);
	}
}

static int hop_speed_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct xarray *speeds = net_generic(dev_net(dev), hop_speed_net_id);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		hop_speed_remember(dev);
		hop_speed_report(dev);
		break;
	case NETDEV_CHANGEUPPER:
		hop_speed_check_above(dev);
		break;
	case NETDEV_UNREGISTER:
		xa_erase(speeds, dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block hop_speed_notifier = {
	.notifier_call = hop_speed_event,
};

/* Each device that is unregistered takes its entry with it, so that none is left at the end. */
static int __net_init hop_speed_net_init(struct net *net)
{
	xa_init(net_generic(net, hop_speed_net_id));
	return 0;
}

static struct pernet_operations hop_speed_net_ops = {
	.init = hop_speed_net_init,
	.id = &hop_speed_net_id,
	.size = sizeof(struct xarray),
};

/**
 * hop_speed_start() - start to cache rates; the rates of devices that are up are read now
 *
 * Context: process.
 * Return: 0, or the error of the registration.
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
 * hop_speed_stop() - stop to cache rates and free the cache
 *
 * Context: process.
 */
void hop_speed_stop(void)
{
	unregister_netdevice_notifier(&hop_speed_notifier);
	unregister_pernet_subsys(&hop_speed_net_ops);
}
