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

static struct xcp_silent *slot_of(struct xcp_net *xn, const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &xn->silent[hash % XCP_SILENT_SLOTS];
}

void xcp_silent_remember(struct xcp_net *xn, const struct in6_addr *addr)
{
	unsigned int silent_s = READ_ONCE(xn->silent_s);
	struct xcp_silent *slot = slot_of(xn, addr);

	if (!silent_s)
		return;
	spin_lock_bh(&xn->silent_lock);
	slot->addr = *addr;
	slot->until_s = ktime_get_seconds() + silent_s;
	spin_unlock_bh(&xn->silent_lock);
}

bool xcp_silent_is(struct xcp_net *xn, const struct in6_addr *addr)
{
	struct xcp_silent *slot = slot_of(xn, addr);
	bool silent;

	/* Handshakes only, and most find the slot free. */
	if (!READ_ONCE(slot->until_s))
		return false;
	spin_lock_bh(&xn->silent_lock);
	silent = ipv6_addr_equal(&slot->addr, addr) && ktime_get_seconds() < slot->until_s;
	if (ktime_get_seconds() >= slot->until_s)
		slot->until_s = 0;
	spin_unlock_bh(&xn->silent_lock);
	return silent;
}
