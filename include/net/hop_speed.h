/* SPDX-License-Identifier: GPL-2.0 */
/* The rate of a device: asked of its driver, or where no lock may be taken for that. */
#ifndef HOPCC_NET_HOP_SPEED_H
#define HOPCC_NET_HOP_SPEED_H

#include <asm/barrier.h>
#include <linux/list.h>
#include <linux/types.h>

struct net_device;

/**
 * struct hop_speed_watch - who wants to be told when a device's rate may be another
 * @list: of all watches
 * @dev: the device
 * @changed: called with what hop_speed_ask_bytes_ps() says; RTNL held
 */
struct hop_speed_watch {
	struct list_head list;
	const struct net_device *dev;
	void (*changed)(struct hop_speed_watch *watch, u64 rate_bytes_ps);
};

/**
 * struct hop_speed - what is known of a device's rate
 * @mbit: the rate that the driver reported last, Mbit/s, below 2^30; 0: not known
 * @limits: the device sends no faster, since it is hardware, or stands on nothing but hardware
 *
 * A virtual device reports a rate that holds nothing back, veth for example 10 Gbit/s, and a
 * VLAN device or a bridge on it passes that on.
 */
struct hop_speed {
	u32 mbit;
	bool limits;
};

#define HOP_SPEED_BYTES_PER_MBIT	125000U

/**
 * hop_speed_bytes_ps() - a device's rate in bytes
 * @speed: the rate
 *
 * Return: bytes/s; 0: not known.
 */
static inline u64 hop_speed_bytes_ps(struct hop_speed speed)
{
	return (u64)speed.mbit * HOP_SPEED_BYTES_PER_MBIT;
}

/**
 * hop_speed_of() - the rate of a device
 * @dev: the device
 *
 * Context: RCU read side.
 * Return: what its driver reported last.
 */
struct hop_speed hop_speed_of(const struct net_device *dev);

/* How often the rate of any device may have changed; read by hop_speed_changes(). */
extern unsigned int hop_speed_changed;

/**
 * hop_speed_changes() - has the rate of any device changed?
 *
 * A caller that keeps what hop_speed_of() returned reads this number before it, and asks again
 * once the number is another one.
 *
 * Context: any.
 * Return: a number that every change of any device's rate changes.
 */
static inline unsigned int hop_speed_changes(void)
{
	/* Pairs with hop_speed_note_change(): what was changed before is seen. */
	return smp_load_acquire(&hop_speed_changed);
}

u64 hop_speed_ask_bytes_ps(struct net_device *dev);
void hop_speed_watch(struct hop_speed_watch *watch);
void hop_speed_unwatch(struct hop_speed_watch *watch);

int hop_speed_start(void);
void hop_speed_stop(void);

#endif /* HOPCC_NET_HOP_SPEED_H */
