// SPDX-License-Identifier: GPL-2.0
/* Sets of destinations; see hopcc/core/hop_recent.h. */

#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <hopcc/core/hop_recent.h>
#include <net/ipv6.h>

static struct hop_recent_slot *hop_recent_slot_of(struct hop_recent *recent,
						  const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &recent->slots[hash % HOP_RECENT_SLOTS];
}

void hop_recent_add(struct hop_recent *recent, const struct in6_addr *addr, unsigned int seconds)
{
	struct hop_recent_slot *slot = hop_recent_slot_of(recent, addr);

	spin_lock_bh(&recent->lock);
	if (seconds || ipv6_addr_equal(&slot->addr, addr)) {
		slot->addr = *addr;
		WRITE_ONCE(slot->until_s, ktime_get_seconds() + seconds);
	}
	spin_unlock_bh(&recent->lock);
}
EXPORT_SYMBOL_GPL(hop_recent_add);

bool hop_recent_has(struct hop_recent *recent, const struct in6_addr *addr)
{
	struct hop_recent_slot *slot = hop_recent_slot_of(recent, addr);
	bool has;

	/* Most slots are free. */
	if (!READ_ONCE(slot->until_s))
		return false;
	spin_lock_bh(&recent->lock);
	has = ipv6_addr_equal(&slot->addr, addr) && ktime_get_seconds() < slot->until_s;
	spin_unlock_bh(&recent->lock);
	return has;
}
EXPORT_SYMBOL_GPL(hop_recent_has);
