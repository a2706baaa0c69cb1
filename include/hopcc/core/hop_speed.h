/* SPDX-License-Identifier: GPL-2.0 */
/* The rate of a device: read from its driver, or from a cache where RTNL cannot be taken. */
#ifndef HOPCC_CORE_HOP_SPEED_H
#define HOPCC_CORE_HOP_SPEED_H

#include <linux/list.h>
#include <linux/types.h>

struct net_device;
struct Qdisc;

/**
 * struct hop_speed_watch - a callback for changes of the rate of a qdisc's device
 * @list: member of the list of all watches
 * @sch: the qdisc; NULL before hop_speed_watch()
 * @changed: called with the rate when it may have changed; RTNL and the tree lock held. Not called
 *	while the device has no rate, as with the link down
 */
struct hop_speed_watch {
	struct list_head list;
	struct Qdisc *sch;
	void (*changed)(struct Qdisc *sch, u64 rate_bytes_ps);
};

/**
 * struct hop_speed - a device's rate
 * @mbit: the rate that the driver reported last, Mbit/s, below 2^30; 0 if it is not known
 * @limits: the device cannot send faster, because it or all devices below it are hardware
 *
 * A virtual device may report a rate that it does not enforce: veth, for example, 10 Gbit/s. A
 * VLAN device or a bridge above it reports the same rate.
 */
struct hop_speed {
	u32 mbit;
	bool limits;
};

#define HOP_SPEED_BYTES_PER_MBIT	125000U

/**
 * hop_speed_bytes_ps() - convert a device's rate to bytes/s
 * @speed: the rate
 *
 * Return: bytes/s; 0 if it is not known.
 */
static inline u64 hop_speed_bytes_ps(struct hop_speed speed)
{
	return (u64)speed.mbit * HOP_SPEED_BYTES_PER_MBIT;
}

/**
 * hop_speed_of() - get the rate of a device from the cache
 * @dev: the device
 *
 * Context: RCU read side.
 * Return: the rate that its driver reported last.
 */
struct hop_speed hop_speed_of(const struct net_device *dev);

u64 hop_speed_ask_bytes_ps(struct net_device *dev);
void hop_speed_watch(struct hop_speed_watch *watch, struct Qdisc *sch,
		     void (*changed)(struct Qdisc *sch, u64 rate_bytes_ps));
void hop_speed_unwatch(struct hop_speed_watch *watch);

int hop_speed_start(void);
void hop_speed_stop(void);

#endif /* HOPCC_CORE_HOP_SPEED_H */
