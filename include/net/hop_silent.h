/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory for destinations that take no headers of a carrier: a fixed number of
 * slots, found by hash. Of two that share one, the newer is remembered: the other
 * costs a lost SYN more.
 *
 * A SYN with a header that is lost, while the next one without is not, may have met a
 * full queue or a box that drops our headers. Such a destination is in doubt: it is
 * remembered for HOP_SILENT_DOUBT_S, and twice as long each time this happens again with no
 * header that came through in between.
 *
 * A connection that spoke and was then reset (HOP_EVENT_RESET) is remembered for the full time,
 * and twice as long each time this happens again. Headers that come through prove nothing here:
 * they did before each of these resets. Only time does: HOP_SILENT_RESET_S without one.
 */
#ifndef HOPCC_NET_HOP_SILENT_H
#define HOPCC_NET_HOP_SILENT_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/hop_discover.h>

/* Destinations that are remembered; a newer one may take a slot. */
#define HOP_SILENT_SLOTS 256

/* Of the knobs that say how long: 60 s by default, a day at most. */
#define HOP_SILENT_DEFAULT_S	60U
#define HOP_SILENT_MAX_S	86400U

/* How long a destination is remembered at first for what may have been a lost packet. */
#define HOP_SILENT_DOUBT_S	15U

/* Resets that are farther apart are not in a row. */
#define HOP_SILENT_RESET_S	3600U

/**
 * struct hop_silent_slot - a destination that takes no headers
 * @addr: IPv4 is v4-mapped
 * @until_s: seconds of uptime; 0: it is not remembered now
 * @doubts: times in a row that a lost packet may have been the reason
 * @resets: times in a row that a connection was reset
 * @reset_until_s: seconds of uptime until which one more reset is in a row with these
 */
struct hop_silent_slot {
	struct in6_addr addr;
	time64_t until_s;
	u8 doubts;
	u8 resets;
	time64_t reset_until_s;
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
 * hop_silent_learn() - what a connection's discovery says of its destination
 * @memory: the memory of the netns
 * @addr: the destination
 * @silent_s: for how long to remember it, seconds; 0: not at all
 * @from: stage of discovery before @event
 * @event: what happened
 * @to: stage after it
 *
 * Context: any but hard interrupt.
 */
void hop_silent_learn(struct hop_silent *memory, const struct in6_addr *addr,
		      unsigned int silent_s, enum hop_stage from, enum hop_event event,
		      enum hop_stage to);

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
