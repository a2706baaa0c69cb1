// SPDX-License-Identifier: GPL-2.0
/* Packets that GRO holds when a module is unloaded; see hopcc/core/hop_gro.h. */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <hopcc/core/hop_gro.h>
#include <net/net_namespace.h>

/*
 * Maximum time to wait for the NAPI instances that poll without a pause, all together. Each of
 * their polls completes the held packets, and takes microseconds.
 */
#define HOP_GRO_POLL_MAX_JIFFIES (HZ / 10)

/* A disabled instance has both bits set, and does not poll. */
static bool hop_gro_is_polling(const struct napi_struct *napi)
{
	const unsigned long state = READ_ONCE(napi->state);

	return state & NAPIF_STATE_SCHED && !(state & NAPIF_STATE_NPSVC);
}

static bool hop_gro_has_polls(struct net_device *dev)
{
	struct napi_struct *napi;
	bool polls = false;

	list_for_each_entry(napi, &dev->napi_list, dev_list)
		polls |= hop_gro_is_polling(napi);
	return polls;
}

/* The instances poll here, unless a thread polls for them. */
static bool hop_gro_schedule_polls(struct net_device *dev)
{
	struct napi_struct *napi;

	local_bh_disable();
	list_for_each_entry(napi, &dev->napi_list, dev_list)
		napi_schedule(napi);
	local_bh_enable();
	return hop_gro_has_polls(dev);
}

/* Return: true if @poll returns true for one of all devices. */
static bool hop_gro_any_device(bool (*poll)(struct net_device *dev))
{
	struct net_device *dev;
	struct net *net;
	bool any = false;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev) {
			compat_netdev_lock(dev);
			any |= poll(dev);
			compat_netdev_unlock(dev);
		}
	up_read(&net_rwsem);
	rtnl_unlock();
	return any;
}

/*
 * A device holds packets from one poll to the next for its gro_flush_timeout, which may be seconds.
 * When this function returns, no merged packets are held any more:
 *
 * - Once all CPUs see that the module is being unloaded, no packet is merged any more.
 *   gro_receive runs on the RCU read side, which synchronize_net() waits for.
 * - At its end, a poll completes at least the packets that have been held since an earlier jiffy.
 *   One jiffy later these are all of them.
 * - So each instance polls once more. The poll has no work if no packet is waiting.
 *
 * One case is not covered: a driver may have disabled an instance that holds packets. Most drivers
 * then delete the instance, which frees the packets.
 */
void hop_gro_flush(void)
{
	unsigned long end;
	bool polls;

	synchronize_net();
	schedule_timeout_uninterruptible(1);
	polls = hop_gro_any_device(hop_gro_schedule_polls);
	end = jiffies + HOP_GRO_POLL_MAX_JIFFIES;
	/* RTNL is free meanwhile, since others configure the network. */
	while (polls && time_before(jiffies, end)) {
		schedule_timeout_uninterruptible(1);
		polls = hop_gro_any_device(hop_gro_has_polls);
	}
}
EXPORT_SYMBOL_GPL(hop_gro_flush);
