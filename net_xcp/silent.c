// SPDX-License-Identifier: GPL-2.0
/*
 * The memory for destinations that take no congestion headers: a fixed number of
 * slots, found by hash. Of two that share one, the newer is remembered: the other
 * costs a lost SYN more.
 */
#include <linux/jhash.h>
#include <linux/timekeeping.h>
#include <linux/random.h>

#include "net_xcp.h"

static struct xcp_silent *slot_of(struct xcp_memory *memory, const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &memory->slots[hash % XCP_SILENT_SLOTS];
}

void xcp_silent_remember(struct xcp_memory *memory, const struct in6_addr *addr,
			 unsigned int silent_s)
{
	struct xcp_silent *slot = slot_of(memory, addr);

	if (!silent_s)
		return;
	spin_lock_bh(&memory->lock);
	slot->addr = *addr;
	slot->until_s = ktime_get_seconds() + silent_s;
	spin_unlock_bh(&memory->lock);
}

bool xcp_silent_is(struct xcp_memory *memory, const struct in6_addr *addr)
{
	struct xcp_silent *slot = slot_of(memory, addr);
	bool silent;

	/* Most find the slot free. */
	if (!READ_ONCE(slot->until_s))
		return false;
	spin_lock_bh(&memory->lock);
	silent = ipv6_addr_equal(&slot->addr, addr) && ktime_get_seconds() < slot->until_s;
	if (ktime_get_seconds() >= slot->until_s)
		slot->until_s = 0;
	spin_unlock_bh(&memory->lock);
	return silent;
}
