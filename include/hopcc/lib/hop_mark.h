/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mark holds a packet's arrival time while the packet is in a child qdisc. The child may
 * overwrite the mark, so it carries a keyed checksum. Nested qdiscs share one mark, and each
 * of them (a user) has a bit in it; the last user clears the mark.
 *
 *	time	check	users
 *	40	22	2	bits
 */
#ifndef HOPCC_LIB_HOP_MARK_H
#define HOPCC_LIB_HOP_MARK_H

#include <linux/types.h>

/* A time has 40 bits, so it wraps after 18 minutes. */
#define HOP_MARK_TIME_BITS	40
#define HOP_MARK_TIME_MASK	((1ULL << HOP_MARK_TIME_BITS) - 1)
#define HOP_MARK_USER_BITS	2
#define HOP_MARK_USER_MASK	((1ULL << HOP_MARK_USER_BITS) - 1)
#define HOP_MARK_CHECK_BITS	(64 - HOP_MARK_TIME_BITS - HOP_MARK_USER_BITS)
/* 2^64 / golden ratio: spreads the time over the checksum's bits. */
#define HOP_MARK_FACTOR		0x9e3779b97f4a7c15ULL

/* Result of hop_mark_waited_ns() if the time is not known; longer than any real one. */
#define HOP_MARK_UNKNOWN_NS	((u64)-1)

/**
 * enum hop_mark_user - the users of a packet's arrival time, a bit each
 * @HOP_MARK_INT: sch_int
 * @HOP_MARK_CSIG: sch_csig
 */
enum hop_mark_user {
	HOP_MARK_INT = 1,
	HOP_MARK_CSIG = 2,
};

/**
 * hop_mark() - build a mark from an arrival time
 * @now_ns: the time, ns, of any clock that does not jump
 * @users: the users of the mark, enum hop_mark_user, or'ed
 * @secret: random key of the checksum
 *
 * Return: the mark.
 */
static inline u64 hop_mark(u64 now_ns, u64 users, u64 secret)
{
	const u64 time_ns = now_ns & HOP_MARK_TIME_MASK;
	const u64 check = (time_ns ^ secret) * HOP_MARK_FACTOR >> (64 - HOP_MARK_CHECK_BITS);

	return time_ns << (64 - HOP_MARK_TIME_BITS) | check << HOP_MARK_USER_BITS | users;
}

/**
 * hop_mark_users() - get the users of a mark
 * @mark: the packet's mark, or any other value
 * @secret: the secret that hop_mark() was called with
 *
 * Return: enum hop_mark_user, or'ed; 0 if @mark was not built by hop_mark() with this secret. A
 * random value passes as a mark with a probability of 1 in 2^22.
 */
static inline u64 hop_mark_users(u64 mark, u64 secret)
{
	const u64 users = mark & HOP_MARK_USER_MASK;
	const u64 time_ns = mark >> (64 - HOP_MARK_TIME_BITS);

	/* Most packets have no mark, so most calls need not compute the checksum. */
	if (!users)
		return 0;
	return mark == hop_mark(time_ns, users, secret) ? users : 0;
}

/**
 * hop_mark_arrive() - get the new mark of a packet that arrives
 * @mark: the packet's mark so far, or any other value
 * @now_ns: the time, ns, as for hop_mark()
 * @user: the user that needs the time
 * @secret: the secret, as for hop_mark()
 *
 * If a qdisc around @user has just set the time, that time is kept. If the mark already has
 * @user's bit, it is an old one: the packet once left the queue without hop_mark_leave().
 *
 * Return: the mark.
 */
static inline u64 hop_mark_arrive(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 users = hop_mark_users(mark, secret);

	return users && !(users & user) ? mark | user : hop_mark(now_ns, user, secret);
}

/**
 * hop_mark_waited_ns() - get the time since a packet arrived
 * @mark: the packet's mark, or any other value
 * @now_ns: the time, ns, of the same clock as for hop_mark_arrive()
 * @user: the user that called hop_mark_arrive()
 * @secret: the secret that hop_mark_arrive() was called with
 *
 * Return: the time, ns, modulo 2^40; HOP_MARK_UNKNOWN_NS if the mark does not have @user's bit.
 */
static inline u64 hop_mark_waited_ns(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 time_ns = mark >> (64 - HOP_MARK_TIME_BITS);

	if (!(hop_mark_users(mark, secret) & user))
		return HOP_MARK_UNKNOWN_NS;
	return (now_ns - time_ns) & HOP_MARK_TIME_MASK;
}

/**
 * hop_mark_leave() - get the new mark of a packet that leaves
 * @mark: the packet's mark, or any other value
 * @user: the user that does not need the time any more
 * @secret: the secret that hop_mark_arrive() was called with
 *
 * Return: the mark without @user's bit, 0 if there is no other user; a value that is not a mark
 * of @user is returned unchanged.
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
 * hop_mark_take() - hop_mark_waited_ns() and hop_mark_leave() in one call
 * @mark: the packet's mark; afterwards it is without @user
 * @now_ns: time of the same clock as hop_mark_arrive(), ns
 * @user: the user whose packet leaves
 * @secret: the secret that hop_mark_arrive() was called with
 *
 * Return: the time since the packet arrived, ns, modulo 2^40; HOP_MARK_UNKNOWN_NS if the mark is
 * not a mark of @user.
 */
static inline u64 hop_mark_take(u64 *mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 waited_ns = hop_mark_waited_ns(*mark, now_ns, user, secret);

	*mark = hop_mark_leave(*mark, user, secret);
	return waited_ns;
}

#endif /* HOPCC_LIB_HOP_MARK_H */
