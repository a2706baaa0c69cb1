// SPDX-License-Identifier: GPL-2.0
/* What GRO holds when a module goes; see net/hop_gro.h. */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/hop_gro.h>
#include <net/net_namespace.h>

/*
 * How long to wait for an instance of NAPI that polls without a pause. Each of its polls completes
 * what is held, and takes microseconds.
 */
#define HOP_GRO_POLL_MAX_JIFFIES (HZ / 10)

/* An instance that is disabled bears both marks, and does not poll. */
static bool is_polling(const struct napi_struct *napi)
{
	const unsigned long state = READ_ONCE(napi->state);

	return state & NAPIF_STATE_SCHED && !(state & NAPIF_STATE_NPSVC);
}

/* One poll, ours or one that is on its way, from begin to end. */
static void poll_once(struct napi_struct *napi)
{
	const unsigned long end = jiffies + HOP_GRO_POLL_MAX_JIFFIES;

	local_bh_disable();
	napi_schedule(napi);
	/* Here it polls, unless a thread does that for it. */
	local_bh_enable();
	while (is_polling(napi) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}

static void poll_device(struct net_device *dev)
{
	struct napi_struct *napi;

	compat_netdev_lock(dev);
	list_for_each_entry(napi, &dev->napi_list, dev_list)
		poll_once(napi);
	compat_netdev_unlock(dev);
}

/*
 * A device holds packets from one poll to the next for its gro_flush_timeout, which may be seconds.
 * None is left when this returns:
 *
 * - Once all CPUs see that the module goes, no packet is merged: what is held then is all there
 *   will be. gro_receive runs on the RCU read side, for which synchronize_net() waits.
 * - At its end a poll completes what has been held since an earlier jiffy, at least. A jiffy later
 *   that is all there is.
 * - So each instance polls once more; without work, where nothing is waiting.
 *
 * Not reached: an instance that its driver has disabled while it held packets. Most drivers then
 * delete it, which frees them.
 */
void hop_gro_flush(void)
{
	struct net_device *dev;
	struct net *net;

	synchronize_net();
	schedule_timeout_uninterruptible(1);
	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net)
		for_each_netdev(net, dev)
			poll_device(dev);
	up_read(&net_rwsem);
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(hop_gro_flush);
