// SPDX-License-Identifier: GPL-2.0
/*
 * A qdisc that writes to tags is useless on a port on which the carrier of tags sends and keeps
 * none. The carrier may be loaded before the qdisc, after it, or not at all.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <hopcc/core/hop_tagged.h>
#include <net/addrconf.h>

static const char hop_tagged_unnamed[] =
	"packets leave this port without tags: name it in sysctl net.hopcc.csig_ports";
static const char hop_tagged_dropped[] =
	"a router drops tags: modprobe net_csig_tag, name the ports in net.hopcc.csig_ports";

/* The carrier's function; NULL: it is not loaded. Under RTNL. */
static bool (*hop_tagged_may_have)(const struct net_device *dev);

/**
 * hop_tagged_start() - the carrier of tags is loaded
 * @may_have: true if packets with tags may leave by the device; called under RTNL
 *
 * Context: process; takes RTNL.
 */
void hop_tagged_start(bool (*may_have)(const struct net_device *dev))
{
	rtnl_lock();
	hop_tagged_may_have = may_have;
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(hop_tagged_start);

/**
 * hop_tagged_stop() - the carrier of tags is about to be unloaded
 *
 * Context: process; takes RTNL.
 */
void hop_tagged_stop(void)
{
	hop_tagged_start(NULL);
}
EXPORT_SYMBOL_GPL(hop_tagged_stop);

static bool hop_tagged_is_routed(const struct net_device *dev)
{
	struct in_device *in4 = __in_dev_get_rtnl(dev);
	const struct inet6_dev *in6 = __in6_dev_get(dev);

	return (in4 && IN_DEV_FORWARD(in4)) || (in6 && READ_ONCE(in6->cnf.forwarding));
}

/**
 * hop_tagged_advice() - why no packet on a port has a tag
 * @dev: the port's device
 *
 * Frames that a bridge forwards keep their tags, whatever the carrier does.
 *
 * Context: process, RTNL held: init() of a qdisc.
 * Return: what the user has to do, for extack; NULL: nothing, or it is not known.
 */
const char *hop_tagged_advice(const struct net_device *dev)
{
	ASSERT_RTNL();
	if (dev->type != ARPHRD_ETHER || netif_is_any_bridge_port(dev))
		return NULL;
	if (hop_tagged_may_have)
		return hop_tagged_may_have(dev) ? NULL : hop_tagged_unnamed;
	return hop_tagged_is_routed(dev) ? hop_tagged_dropped : NULL;
}
EXPORT_SYMBOL_GPL(hop_tagged_advice);
