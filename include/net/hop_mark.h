/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet's arrival time travels with it through a queue that we do not know, which may
 * overwrite it: so it bears a check that nobody else knows to make.
 */
#ifndef HOPCC_NET_HOP_MARK_H
#define HOPCC_NET_HOP_MARK_H

#include <linux/types.h>

/* Times in the queue are kept in 40 bits: 18 minutes. */
#define HOP_MARK_TIME_BITS	40
#define HOP_MARK_TIME_MASK	((1ULL << HOP_MARK_TIME_BITS) - 1)
#define HOP_MARK_CHECK_BITS	(64 - HOP_MARK_TIME_BITS)
/* 2^64 / golden ratio: spreads the time over the check's bits. */
#define HOP_MARK_FACTOR		0x9e3779b97f4a7c15ULL

/**
 * hop_mark() - an arrival time, with its check
 * @now_ns: of any clock that does not jump
 * @secret: the owner's, random
 */
static inline u64 hop_mark(u64 now_ns, u64 secret)
{
	const u64 time_ns = now_ns & HOP_MARK_TIME_MASK;
	const u64 check = (time_ns ^ secret) * HOP_MARK_FACTOR >> HOP_MARK_TIME_BITS;

	return time_ns << HOP_MARK_CHECK_BITS | check;
}

/**
 * hop_mark_waited() - how long ago a packet arrived
 * @mark: what the packet bears
 * @now_ns: of the same clock
 * @secret: of hop_mark()
 * @waited_ns: result; worthless if the mark is none
 *
 * Return: whether @mark is one of hop_mark() with this secret; by chance one time in 2^24.
 */
static inline bool hop_mark_waited(u64 mark, u64 now_ns, u64 secret, u64 *waited_ns)
{
	const u64 time_ns = mark >> HOP_MARK_CHECK_BITS;

	*waited_ns = (now_ns - time_ns) & HOP_MARK_TIME_MASK;
	return mark == hop_mark(time_ns, secret);
}

#endif /* HOPCC_NET_HOP_MARK_H */
