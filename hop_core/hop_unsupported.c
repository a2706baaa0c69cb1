// SPDX-License-Identifier: GPL-2.0
/* The cache of destinations that do not accept headers; see hopcc/core/hop_unsupported.h. */

#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <hopcc/core/hop_unsupported.h>
#include <net/ipv6.h>

static struct hop_unsupported_slot *hop_unsupported_slot_of(struct hop_unsupported *memory,
							    const struct in6_addr *addr)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = jhash(addr, sizeof(*addr), seed);
	return &memory->slots[hash % HOP_UNSUPPORTED_SLOTS];
}

/* The reason why a destination is stored, which decides for how long. */
enum reason {
	REASON_PROOF,
	REASON_LOSS,	/* a packet loss may be the reason */
	REASON_RESET,
};

static u8 hop_unsupported_next_count(u8 count)
{
	return min_t(unsigned int, count + 1, U8_MAX);
}

/* Return: time for which to store the destination, seconds. */
static unsigned int hop_unsupported_loss_wait_s(struct hop_unsupported_slot *slot,
						unsigned int unsupported_s)
{
	unsupported_s = hop_loss_wait_s(slot->losses, HOP_UNSUPPORTED_LOSS_S, unsupported_s);
	WRITE_ONCE(slot->losses, hop_unsupported_next_count(slot->losses));
	return unsupported_s;
}

/* The same as hop_unsupported_loss_wait_s(), for a reset. */
static unsigned int hop_unsupported_count_reset(struct hop_unsupported_slot *slot,
						unsigned int unsupported_s,
						time64_t now_s)
{
	if (now_s >= slot->reset_until_s)
		slot->resets = 0;
	unsupported_s = hop_reset_s(slot->resets, unsupported_s);
	slot->resets = hop_unsupported_next_count(slot->resets);
	slot->reset_until_s = now_s + unsupported_s + HOP_UNSUPPORTED_RESET_S;
	return unsupported_s;
}

static void hop_unsupported_store(struct hop_unsupported *memory, const struct in6_addr *addr,
				  unsigned int unsupported_s, enum reason reason)
{
	struct hop_unsupported_slot *slot = hop_unsupported_slot_of(memory, addr);
	const time64_t now_s = ktime_get_seconds();

	if (!unsupported_s)
		return;
	spin_lock_bh(&memory->lock);
	if (!ipv6_addr_equal(&slot->addr, addr)) {
		WRITE_ONCE(slot->losses, 0);
		slot->resets = 0;
	}
	slot->addr = *addr;
	if (reason == REASON_LOSS && now_s < slot->until_s)
		unsupported_s = slot->until_s - now_s;
	else if (reason == REASON_LOSS)
		unsupported_s = hop_unsupported_loss_wait_s(slot, unsupported_s);
	else if (reason == REASON_RESET)
		unsupported_s = hop_unsupported_count_reset(slot, unsupported_s, now_s);
	WRITE_ONCE(slot->until_s, now_s + unsupported_s);
	spin_unlock_bh(&memory->lock);
}

void hop_unsupported_remember(struct hop_unsupported *memory, const struct in6_addr *addr,
			      unsigned int unsupported_s)
{
	hop_unsupported_store(memory, addr, unsupported_s, REASON_PROOF);
}
EXPORT_SYMBOL_GPL(hop_unsupported_remember);

/* @refuted: the loss for which the destination is stored was not due to the header. */
static void hop_unsupported_forget(struct hop_unsupported *memory, const struct in6_addr *addr,
				   bool refuted)
{
	struct hop_unsupported_slot *slot = hop_unsupported_slot_of(memory, addr);

	/* Most destinations have no such count. */
	if (!READ_ONCE(slot->losses))
		return;
	spin_lock_bh(&memory->lock);
	if (ipv6_addr_equal(&slot->addr, addr)) {
		WRITE_ONCE(slot->losses, 0);
		if (refuted && !slot->resets)
			WRITE_ONCE(slot->until_s, 0);
	}
	spin_unlock_bh(&memory->lock);
}

static enum reason hop_unsupported_reason(enum hop_stage from, enum hop_event event)
{
	if (event == HOP_EVENT_RESET)
		return REASON_RESET;
	return hop_may_be_loss(from, event) ? REASON_LOSS : REASON_PROOF;
}

void hop_unsupported_learn(struct hop_unsupported *memory, const struct in6_addr *addr,
			   unsigned int unsupported_s, enum hop_stage from, enum hop_event event,
			   enum hop_stage to)
{
	/* An answer to a question says nothing about SYNs with a header. */
	if (to == HOP_STAGE_SUPPORTED && from != HOP_STAGE_LATE)
		hop_unsupported_forget(memory, addr, from == HOP_STAGE_DOUBTFUL);
	if (hop_is_given_up(to) && hop_is_of_peer(event))
		hop_unsupported_store(memory, addr, unsupported_s,
				      hop_unsupported_reason(from, event));
}
EXPORT_SYMBOL_GPL(hop_unsupported_learn);

bool hop_is_unsupported(struct hop_unsupported *memory, const struct in6_addr *addr)
{
	struct hop_unsupported_slot *slot = hop_unsupported_slot_of(memory, addr);
	bool unsupported;

	/* Most lookups find the slot free. */
	if (!READ_ONCE(slot->until_s))
		return false;
	spin_lock_bh(&memory->lock);
	unsupported = ipv6_addr_equal(&slot->addr, addr) && ktime_get_seconds() < slot->until_s;
	if (ktime_get_seconds() >= slot->until_s)
		WRITE_ONCE(slot->until_s, 0);
	spin_unlock_bh(&memory->lock);
	return unsupported;
}
EXPORT_SYMBOL_GPL(hop_is_unsupported);
