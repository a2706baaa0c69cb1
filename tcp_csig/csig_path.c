// SPDX-License-Identifier: GPL-2.0
/*
 * Choice of another path by CSIG. A flow leaves a bottleneck in the core of the network, which the
 * locator of max(PD) names, after whole round trips with a delay above the target, or after many
 * with a queue below it. If the next path leads to the same port, it tries again a few times.
 */
#include "csig_path.h"

/* A round trip with all delays above the target counts as this many with a queue below it. */
#define TCSIG_MOVE_POINTS	8
/* After this many consecutive tries that led back there may be no other path. */
#define TCSIG_MOVE_TRIES	3

bool tcsig_is_core(const int *edges, u32 locator)
{
	bool known = false;
	u32 i;

	for (i = 0; i < TCSIG_EDGES; i++) {
		const u32 value = READ_ONCE(edges[2 * i]), mask = READ_ONCE(edges[2 * i + 1]);

		known |= mask;
		if (mask && !((locator ^ value) & mask))
			return false;
	}
	return known && locator;
}

/*
 * Return: true if there is a standing queue: the algorithm leaves about the target at its
 * bottleneck.
 */
static bool tcsig_is_queue(u64 target_ns, u64 delay_ns)
{
	return delay_ns != TCSIG_NO_DELAY && delay_ns > target_ns / 2;
}

/* Random points make some of the flows that share the new path stay longer than others. */
static bool tcsig_leave(struct tcsig_path *path, u32 locator, u32 random)
{
	path->left = locator;
	path->points = -(s32)(random % TCSIG_MOVE_POINTS);
	path->above = false;
	path->waits = true;
	return true;
}

/*
 * Return: true if the flow is back at the bottleneck that it has just left. A queue below the
 * target is reason enough to continue, because other flows use what one flow leaves.
 */
static bool tcsig_path_is_back(const struct tcsig_path *path, u64 target_ns,
			       const struct tcsig_ack *a, u32 locator)
{
	return a->has_delay && path->left && locator == path->left &&
	       path->tries < TCSIG_MOVE_TRIES && tcsig_is_queue(target_ns, a->delay_ns);
}

void tcsig_path_settle(struct tcsig_path *path)
{
	path->waits = false;
	path->fresh = true;
}

/*
 * Return: true if the delay was above the target for a whole round trip, which may start with any
 * ACK, not only with a round of the algorithm.
 */
static bool tcsig_path_is_above(struct tcsig_path *path, u64 target_ns,
				const struct tcsig_ack *a)
{
	if (a->has_delay && a->delay_ns <= target_ns) {
		path->above = false;
	} else if (a->has_delay && !path->above) {
		path->above = true;
		path->above_pkts = a->delivered_pkts;
	}
	if (!path->above || !a->acked_pkts || (s32)(a->prior_pkts - path->above_pkts) < 0)
		return false;
	path->above_pkts = a->delivered_pkts;
	return true;
}

void tcsig_path_round(struct tcsig_path *path, u64 target_ns, u64 least_ns, u32 locator)
{
	if (path->waits || path->fresh) {
		path->fresh = false;
		return;
	}
	path->left = 0;
	path->tries = 0;
	if (locator && tcsig_is_queue(target_ns, least_ns))
		path->points++;
	else
		path->points = min(path->points, 0);
}

bool tcsig_path_receive(struct tcsig_path *path, u64 target_ns, const struct tcsig_ack *a,
			u32 locator, u32 wanted, u32 random)
{
	if (path->waits)
		return false;
	if (tcsig_path_is_back(path, target_ns, a, locator)) {
		path->tries++;
		return tcsig_leave(path, locator, random);
	}
	if (tcsig_path_is_above(path, target_ns, a) && locator)
		path->points += TCSIG_MOVE_POINTS;
	if (!locator || path->points < (s32)wanted * TCSIG_MOVE_POINTS)
		return false;
	path->tries = 0;
	return tcsig_leave(path, locator, random);
}
