// SPDX-License-Identifier: GPL-2.0
/* Arrival times stored with packets: one user's write does not destroy another's. */
#include "fuzz.h"
#include <hopcc/lib/hop_mark.h>

static void check_arrival(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	const u64 users = hop_mark_users(mark, secret);
	const u64 later_ns = now_ns + fuzz_range(0, HOP_MARK_TIME_MASK);
	const u64 arrived = hop_mark_arrive(mark, now_ns, user, secret);

	FUZZ_CLAIM(hop_mark_users(arrived, secret) & user);
	if (users && !(users & user))
		FUZZ_CLAIM(hop_mark_users(arrived, secret) == (users | user));
	else
		FUZZ_CLAIM(hop_mark_waited_ns(arrived, later_ns, user, secret) ==
			   later_ns - now_ns);
	FUZZ_CLAIM(!(hop_mark_users(hop_mark_leave(arrived, user, secret), secret) & user));
}

/* Taking a mark is the same as reading it and leaving, unless it does not belong to the user. */
static void check_take(u64 mark, u64 now_ns, enum hop_mark_user user, u64 secret)
{
	u64 taken = mark;

	FUZZ_CLAIM(hop_mark_take(&taken, now_ns, user, secret) ==
		   hop_mark_waited_ns(mark, now_ns, user, secret));
	FUZZ_CLAIM(taken == hop_mark_leave(mark, user, secret));
}

static void fuzz_once(void)
{
	const u64 secret = fuzz_u64();
	u64 mark = fuzz_u64();

	while (fuzz_has_more()) {
		const enum hop_mark_user user = 1 << fuzz_choice(HOP_MARK_USER_BITS);
		const u64 now_ns = fuzz_u64();
		const u64 waited_ns = hop_mark_waited_ns(mark, now_ns, user, secret);

		FUZZ_CLAIM(waited_ns <= HOP_MARK_TIME_MASK || waited_ns == HOP_MARK_UNKNOWN_NS);
		FUZZ_CLAIM((waited_ns == HOP_MARK_UNKNOWN_NS) ==
			   !(hop_mark_users(mark, secret) & user));
		check_arrival(mark, now_ns, user, secret);
		check_take(mark, now_ns, user, secret);
		switch (fuzz_choice(3)) {
		case 0:
			mark = hop_mark_arrive(mark, now_ns, user, secret);
			break;
		case 1:
			mark = hop_mark_leave(mark, user, secret);
			break;
		default:
			/* Another qdisc writes there. */
			mark = fuzz_u64();
		}
	}
}
