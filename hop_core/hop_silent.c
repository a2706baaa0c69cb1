// SPDX-License-Identifier: GPL-2.0
/* The memory for destinations that take no headers; see net/hop_silent.h. */

#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <net/hop_silent.h>
#include <net/ipv6.h>

static struct hop_silent_slot *slot_of(struct hop_silent *memory, const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &memory->slots[hash % HOP_SILENT_SLOTS];
}

/* @in_doubt: the reason may be a lost packet, so that the time is shorter at first. */
static void remember(struct hop_silent *memory, const struct in6_addr *addr,
		     unsigned int silent_s, bool in_doubt)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);

	if (!silent_s)
		return;
	spin_lock_bh(&memory->lock);
	if (!ipv6_addr_equal(&slot->addr, addr))
		WRITE_ONCE(slot->doubts, 0);
	slot->addr = *addr;
	if (in_doubt) {
		silent_s = hop_doubt_s(slot->doubts, HOP_SILENT_DOUBT_S, silent_s);
		WRITE_ONCE(slot->doubts, min_t(unsigned int, slot->doubts + 1, U8_MAX));
	}
	WRITE_ONCE(slot->until_s, ktime_get_seconds() + silent_s);
	spin_unlock_bh(&memory->lock);
}

void hop_silent_remember(struct hop_silent *memory, const struct in6_addr *addr,
			 unsigned int silent_s)
{
	remember(memory, addr, silent_s, false);
}
EXPORT_SYMBOL_GPL(hop_silent_remember);

static void dispel(struct hop_silent *memory, const struct in6_addr *addr)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);

	/* Most find no doubt. */
	if (!READ_ONCE(slot->doubts))
		return;
	spin_lock_bh(&memory->lock);
	if (ipv6_addr_equal(&slot->addr, addr))
		WRITE_ONCE(slot->doubts, 0);
	spin_unlock_bh(&memory->lock);
}

void hop_silent_learn(struct hop_silent *memory, const struct in6_addr *addr,
		      unsigned int silent_s, enum hop_stage from, enum hop_event event,
		      enum hop_stage to)
{
	if (to == HOP_STAGE_SPEAKS)
		dispel(memory, addr);
	if (to == HOP_STAGE_SILENT)
		remember(memory, addr, silent_s, hop_may_be_loss(from, event));
}
EXPORT_SYMBOL_GPL(hop_silent_learn);

bool hop_silent_is(struct hop_silent *memory, const struct in6_addr *addr)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);
	bool silent;

	/* Most find the slot free. */
	if (!READ_ONCE(slot->until_s))
		return false;
	spin_lock_bh(&memory->lock);
	silent = ipv6_addr_equal(&slot->addr, addr) && ktime_get_seconds() < slot->until_s;
	if (ktime_get_seconds() >= slot->until_s)
		WRITE_ONCE(slot->until_s, 0);
	spin_unlock_bh(&memory->lock);
	return silent;
}
EXPORT_SYMBOL_GPL(hop_silent_is);
