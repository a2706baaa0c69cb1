/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet's arrival time travels with it through a queue that we do not know, which may
 * overwrite it: so it bears a check that nobody else knows to make. Of several that want
 * it, one around the other, each has a bit; what the last takes out leaves none.
 *
 *	time	check	users
 *	40	22	2	bits
 */
#ifndef HOPCC_NET_HOP_MARK_H
#define HOPCC_NET_HOP_MARK_H

#include <linux/types.h>

/* Times in the queue are kept in 40 bits: 18 minutes. */
#define HOP_MARK_TIME_BITS	40
#define HOP_MARK_TIME_MASK	((1ULL << HOP_MARK_TIME_BITS) - 1)
#define HOP_MARK_USER_BITS	2
#define HOP_MARK_USER_MASK	((1ULL << HOP_MARK_USER_BITS) - 1)
#define HOP_MARK_CHECK_BITS	(64 - HOP_MARK_TIME_BITS - HOP_MARK_USER_BITS)
/* 2^64 / golden ratio: spreads the time over the check's bits. */
#define HOP_MARK_FACTOR		0x9e3779b97f4a7c15ULL

/* Of hop_mark_waited_ns(): longer than any. */
#define HOP_MARK_UNKNOWN_NS	((u64)-1)

/**
 * enum hop_mark_user - who wants a packet's arrival time; may be or'ed
 * @HOP_MARK_INT: sch_int
 * @HOP_MARK_CSIG: sch_csig
 */
enum hop_mark_user {
	HOP_MARK_INT = 1,
	HOP_MARK_CSIG = 2,
};

/**
 * hop_mark() - an arrival time, with its check
 * @now_ns: of any clock that does not jump
 * @users: enum hop_mark_user
 * @secret: the owner's, random
 */
static inline u64 hop_mark(u64 now_ns, u64 users, u64 secret)
{
	const u64 time_ns = now_ns & HOP_MARK_TIME_MASK;
	const u64 check = (time_ns ^ secret) * HOP_MARK_FACTOR >> (64 - HOP_MARK_CHECK_BITS);

	return time_ns << (64 - HOP_MARK_TIME_BITS) | check << HOP_MARK_USER_BITS | users;
}

/**
 * hop_mark_users() - whose mark is it?
 * @mark: what the packet bears
 * @secret: of hop_mark()
 *
 * Return: enum hop_mark_user, 0 if it is none of hop_mark() with this secret. What lies there
 * by chance is one of them one time in 2^22.
 */
static inline u64 hop_mark_users(u64 mark, u64 secret)
{
	const u64 users = mark & HOP_MARK_USER_MASK;
	const u64 time_ns = mark >> (64 - HOP_MARK_TIME_BITS);

	/* Most packets have no mark: then there is nothing to check. */
	if (!users)
		return 0;
	return mark == hop_mark(time_ns, users, secret) ? users : 0;
}

/**
 * hop_mark_arrive() - the mark of a packet that arrives
 * @mark: what it bears
 * @now_ns: as in hop_mark()
 * @user: who wants it
 * @secret: of hop_mark()
 *
 * One that is around @user has set the time already, a moment ago. A mark with @user in it
 * was left by somebody who took the packet out sideways.
 */
static inline u64 hop_mark_arrive(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 users = hop_mark_users(mark, secret);

	return users && !(users & user) ? mark | user : hop_mark(now_ns, user, secret);
}

/**
 * hop_mark_waited_ns() - how long ago a packet arrived
 * @mark: what it bears
 * @now_ns: of the same clock
 * @user: who asks
 * @secret: of hop_mark()
 *
 * Return: that, modulo 2^40; HOP_MARK_UNKNOWN_NS if the mark is none of @user's.
 */
static inline u64 hop_mark_waited_ns(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 time_ns = mark >> (64 - HOP_MARK_TIME_BITS);

	if (!(hop_mark_users(mark, secret) & user))
		return HOP_MARK_UNKNOWN_NS;
	return (now_ns - time_ns) & HOP_MARK_TIME_MASK;
}

/**
 * hop_mark_leave() - the mark of a packet that leaves
 * @mark: what it bears
 * @user: who has no more use for it
 * @secret: of hop_mark()
 *
 * Return: it without @user; what is none of @user's stays as it is.
 */
static inline u64 hop_mark_leave(u64 mark, enum hop_mark_user user, u64 secret)
{
	u64 users;

	/* Most packets have no mark of this user, and need no check. */
	if (!(mark & user))
		return mark;
	users = hop_mark_users(mark, secret);
	if (!(users & user))
		return mark;
	return users == user ? 0 : mark & ~(u64)user;
}

/**
 * hop_mark_take() - hop_mark_waited_ns() and hop_mark_leave() with one check of the mark
 * @mark: the packet's mark; afterwards it is without @user
 * @now_ns: time of the same clock as hop_mark_arrive(), ns
 * @user: the user whose packet leaves
 * @secret: the secret that hop_mark_arrive() was called with
 *
 * Return: the time since the packet arrived, ns, modulo 2^40; HOP_MARK_UNKNOWN_NS if the mark is
 * none of @user's.
 */
static inline u64 hop_mark_take(u64 *mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 time_ns = *mark >> (64 - HOP_MARK_TIME_BITS);
	const u64 users = hop_mark_users(*mark, secret);

	if (unlikely(!(users & user)))
		return HOP_MARK_UNKNOWN_NS;
	*mark = likely(users == user) ? 0 : *mark & ~(u64)user;
	return (now_ns - time_ns) & HOP_MARK_TIME_MASK;
}

#endif /* HOPCC_NET_HOP_MARK_H */
