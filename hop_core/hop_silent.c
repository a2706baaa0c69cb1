// SPDX-License-Identifier: GPL-2.0
/* The cache of destinations that do not accept headers; see hopcc/core/hop_silent.h. */

#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <hopcc/core/hop_silent.h>
#include <net/ipv6.h>

static struct hop_silent_slot *slot_of(struct hop_silent *memory, const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &memory->slots[hash % HOP_SILENT_SLOTS];
}

/* The reason why a destination is stored, which decides for how long. */
enum reason {
	REASON_PROOF,
	REASON_DOUBT,	/* a packet loss may be the reason */
	REASON_RESET,
};

static u8 next_count(u8 count)
{
	return min_t(unsigned int, count + 1, U8_MAX);
}

/* Context: the cache's lock. Return: time for which to store the destination, seconds. */
static unsigned int doubt(struct hop_silent_slot *slot, unsigned int silent_s)
{
	silent_s = hop_doubt_s(slot->doubts, HOP_SILENT_DOUBT_S, silent_s);
	WRITE_ONCE(slot->doubts, next_count(slot->doubts));
	return silent_s;
}

/* The same as doubt(), for a reset. */
static unsigned int count_reset(struct hop_silent_slot *slot, unsigned int silent_s, time64_t now_s)
{
	if (now_s >= slot->reset_until_s)
		slot->resets = 0;
	silent_s = hop_reset_s(slot->resets, silent_s);
	slot->resets = next_count(slot->resets);
	slot->reset_until_s = now_s + silent_s + HOP_SILENT_RESET_S;
	return silent_s;
}

static void remember(struct hop_silent *memory, const struct in6_addr *addr,
		     unsigned int silent_s, enum reason reason)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);
	const time64_t now_s = ktime_get_seconds();

	if (!silent_s)
		return;
	spin_lock_bh(&memory->lock);
	if (!ipv6_addr_equal(&slot->addr, addr)) {
		WRITE_ONCE(slot->doubts, 0);
		slot->resets = 0;
	}
	slot->addr = *addr;
	if (reason == REASON_DOUBT)
		silent_s = doubt(slot, silent_s);
	else if (reason == REASON_RESET)
		silent_s = count_reset(slot, silent_s, now_s);
	WRITE_ONCE(slot->until_s, now_s + silent_s);
	spin_unlock_bh(&memory->lock);
}

void hop_silent_remember(struct hop_silent *memory, const struct in6_addr *addr,
			 unsigned int silent_s)
{
	remember(memory, addr, silent_s, REASON_PROOF);
}
EXPORT_SYMBOL_GPL(hop_silent_remember);

static void dispel(struct hop_silent *memory, const struct in6_addr *addr)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);

	/* Most destinations have no such count. */
	if (!READ_ONCE(slot->doubts))
		return;
	spin_lock_bh(&memory->lock);
	if (ipv6_addr_equal(&slot->addr, addr))
		WRITE_ONCE(slot->doubts, 0);
	spin_unlock_bh(&memory->lock);
}

static enum reason reason_of(enum hop_stage from, enum hop_event event)
{
	if (event == HOP_EVENT_RESET)
		return REASON_RESET;
	return hop_may_be_loss(from, event) ? REASON_DOUBT : REASON_PROOF;
}

void hop_silent_learn(struct hop_silent *memory, const struct in6_addr *addr,
		      unsigned int silent_s, enum hop_stage from, enum hop_event event,
		      enum hop_stage to)
{
	if (to == HOP_STAGE_SPEAKS)
		dispel(memory, addr);
	if (to == HOP_STAGE_SILENT)
		remember(memory, addr, silent_s, reason_of(from, event));
}
EXPORT_SYMBOL_GPL(hop_silent_learn);

bool hop_silent_is(struct hop_silent *memory, const struct in6_addr *addr)
{
	struct hop_silent_slot *slot = slot_of(memory, addr);
	bool silent;

	/* Most lookups find the slot free. */
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
