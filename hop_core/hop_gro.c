// SPDX-License-Identifier: GPL-2.0
/* Packets that GRO holds when a module is unloaded; see hopcc/core/hop_gro.h. */

#include <linux/module.h>
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

/* The instances of a device poll here, unless a thread polls for them. Return: true if one does. */
static bool hop_gro_poll_device(struct net_device *dev)
{
	struct napi_struct *napi;
	bool polls = false;

	local_bh_disable();
	list_for_each_entry(napi, &dev->napi_list, dev_list)
		napi_schedule(napi);
	local_bh_enable();
	list_for_each_entry(napi, &dev->napi_list, dev_list)
		polls |= hop_gro_is_polling(napi);
	return polls;
}

/* Return: true if an instance of any device still polls. */
static bool hop_gro_poll(void)
{
	struct net_device *dev;
	struct net *net;
	bool polls = false;

	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev) {
			compat_netdev_lock(dev);
			polls |= hop_gro_poll_device(dev);
			compat_netdev_unlock(dev);
		}
	up_read(&net_rwsem);
	rtnl_unlock();
	return polls;
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

	synchronize_net();
	schedule_timeout_uninterruptible(1);
	end = jiffies + HOP_GRO_POLL_MAX_JIFFIES;
	/* RTNL is free meanwhile, since others configure the network. */
	while (hop_gro_poll() && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}
EXPORT_SYMBOL_GPL(hop_gro_flush);
