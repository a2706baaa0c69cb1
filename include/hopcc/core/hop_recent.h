/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of destinations that forgets each after a time: a fixed number of slots, found by hash. If
 * two destinations share a slot, the newer one is stored.
 */
#ifndef HOPCC_CORE_HOP_RECENT_H
#define HOPCC_CORE_HOP_RECENT_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define HOP_RECENT_SLOTS	256

/* Default and maximum of the sysctls that set the time: 60 s and one day. */
#define HOP_RECENT_DEFAULT_S	60U
#define HOP_RECENT_MAX_S	86400U

/**
 * struct hop_recent_slot - a destination
 * @addr: its address; IPv4 is v4-mapped
 * @until_s: time until which it is stored, seconds of uptime; 0 if it is not
 */
struct hop_recent_slot {
	struct in6_addr addr;
	time64_t until_s;
};

/**
 * struct hop_recent - the set; zero except for the lock
 * @lock: protects @slots
 * @slots: the slots, indexed by hash
 */
struct hop_recent {
	spinlock_t lock;	/* protects @slots */
	struct hop_recent_slot slots[HOP_RECENT_SLOTS];
};

/**
 * hop_recent_add() - store a destination
 * @recent: the set
 * @addr: the destination
 * @seconds: time for which it is stored; 0: it is forgotten
 *
 * Context: any but hard interrupt.
 */
void hop_recent_add(struct hop_recent *recent, const struct in6_addr *addr, unsigned int seconds);

/**
 * hop_recent_has() - is a destination stored?
 * @recent: the set
 * @addr: the destination
 *
 * Context: any but hard interrupt.
 * Return: true if it is and its time has not expired.
 */
bool hop_recent_has(struct hop_recent *recent, const struct in6_addr *addr);

#endif /* HOPCC_CORE_HOP_RECENT_H */
