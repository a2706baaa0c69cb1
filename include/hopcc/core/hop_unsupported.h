/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cache of destinations that do not accept the headers of a carrier: a fixed number of
 * slots, found by hash. If two destinations share a slot, the newer one is stored, and the next
 * connection to the other one may lose a SYN again.
 *
 * If a SYN with a header is lost, and the next one without a header is not, the reason may be a
 * full queue or a box that drops our headers. Such a destination is stored for
 * HOP_UNSUPPORTED_LOSS_S, and for twice as long each time this happens again, unless a header has
 * arrived in between. While it is stored, the losses of other connections do not prolong the time.
 * If a header then shows that the packet was not lost, the destination is removed.
 *
 * If a connection negotiated headers and was then reset (HOP_EVENT_RESET), the destination is
 * stored for the full time, and for twice as long each time this happens again. A header that
 * arrives does not reset this count, since headers also arrived before each of these resets.
 * Only time does: HOP_UNSUPPORTED_RESET_S without a reset.
 */
#ifndef HOPCC_CORE_HOP_UNSUPPORTED_H
#define HOPCC_CORE_HOP_UNSUPPORTED_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <hopcc/lib/hop_discover.h>

/* Number of destinations that are stored; a newer one may replace an older one. */
#define HOP_UNSUPPORTED_SLOTS 256

/* Default and maximum of the sysctls that set the time: 60 s and one day. */
#define HOP_UNSUPPORTED_DEFAULT_S	60U
#define HOP_UNSUPPORTED_MAX_S	86400U

/* Time for which a destination is stored the first time that a packet loss may be the reason. */
#define HOP_UNSUPPORTED_LOSS_S	15U

/* Resets with more time than this between them do not count as "in a row". */
#define HOP_UNSUPPORTED_RESET_S	3600U

/**
 * struct hop_unsupported_slot - a destination that does not accept headers
 * @addr: address of the destination; IPv4 is v4-mapped
 * @until_s: time until which the destination is stored, seconds of uptime; 0 if it is not
 * @losses: number of times in a row that a packet loss may have been the reason
 * @resets: number of times in a row that a connection was reset
 * @reset_until_s: time until which another reset counts as "in a row", seconds of uptime
 */
struct hop_unsupported_slot {
	struct in6_addr addr;
	time64_t until_s;
	u8 losses;
	u8 resets;
	time64_t reset_until_s;
};

/**
 * struct hop_unsupported - the cache of a carrier in a network namespace; zero except for the lock
 * @lock: protects @slots
 * @slots: the slots, indexed by hash
 */
struct hop_unsupported {
	spinlock_t lock;	/* protects @slots */
	struct hop_unsupported_slot slots[HOP_UNSUPPORTED_SLOTS];
};

/**
 * hop_unsupported_remember() - store a destination that does not accept headers
 * @memory: cache of the network namespace
 * @addr: the destination
 * @unsupported_s: time for which it is stored, seconds; 0: it is not stored
 *
 * Context: any but hard interrupt.
 */
void hop_unsupported_remember(struct hop_unsupported *memory, const struct in6_addr *addr,
			      unsigned int unsupported_s);

/**
 * hop_unsupported_learn() - update the cache after an event of a connection's discovery
 * @memory: cache of the network namespace
 * @addr: the destination
 * @unsupported_s: time for which it is stored if proved, seconds; 0: it is not stored
 * @from: stage of discovery before @event
 * @event: the event
 * @to: stage after it
 *
 * Context: any but hard interrupt.
 */
void hop_unsupported_learn(struct hop_unsupported *memory, const struct in6_addr *addr,
			   unsigned int unsupported_s, enum hop_stage from, enum hop_event event,
			   enum hop_stage to);

/**
 * hop_is_unsupported() - is a destination stored as one that does not accept headers?
 * @memory: cache of the network namespace
 * @addr: the destination
 *
 * Context: any but hard interrupt.
 * Return: true if it is stored and its time has not expired.
 */
bool hop_is_unsupported(struct hop_unsupported *memory, const struct in6_addr *addr);

#endif /* HOPCC_CORE_HOP_UNSUPPORTED_H */
