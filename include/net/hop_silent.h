/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory for destinations that take no headers of a carrier: a fixed number of
 * slots, found by hash. Of two that share one, the newer is remembered: the other
 * costs a lost SYN more.
 */
#ifndef HOPCC_NET_HOP_SILENT_H
#define HOPCC_NET_HOP_SILENT_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* Destinations that are remembered; a newer one may take a slot. */
#define HOP_SILENT_SLOTS 256

/* Of the knobs that say how long: 60 s by default, a day at most. */
#define HOP_SILENT_DEFAULT_S	60U
#define HOP_SILENT_MAX_S	86400U

/**
 * struct hop_silent_slot - a destination that takes no headers
 * @addr: IPv4 is v4-mapped
 * @until_s: seconds of uptime; 0: the slot is free
 */
struct hop_silent_slot {
	struct in6_addr addr;
	time64_t until_s;
};

/**
 * struct hop_silent - the memory of a carrier in a netns; zero but for the lock
 * @lock: of @slots
 * @slots: by hash
 */
struct hop_silent {
	spinlock_t lock;	/* of @slots */
	struct hop_silent_slot slots[HOP_SILENT_SLOTS];
};

/**
 * hop_silent_remember() - a destination turned out to take no headers
 * @memory: of the netns
 * @addr: the destination
 * @silent_s: for how long, seconds; 0: not at all
 *
 * Context: any but hard interrupt.
 */
void hop_silent_remember(struct hop_silent *memory, const struct in6_addr *addr,
			 unsigned int silent_s);

/**
 * hop_silent_is() - is a destination remembered?
 * @memory: of the netns
 * @addr: the destination
 *
 * Context: any but hard interrupt.
 * Return: whether it is.
 */
bool hop_silent_is(struct hop_silent *memory, const struct in6_addr *addr);

#endif /* HOPCC_NET_HOP_SILENT_H */
