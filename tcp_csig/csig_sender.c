// SPDX-License-Identifier: GPL-2.0
/* Functions that run once a round or less, and the choice of paths; see csig_sender.h. */

#include "csig_sender.h"

void tcsig_begin(struct tcsig_vars *v, u64 cw, u64 ssthresh, u32 delivered_pkts)
{
	*v = (struct tcsig_vars){
		.cw = clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX),
		.ref = clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX),
		.ssthresh = ssthresh,
		.least_ns = TCSIG_NO_DELAY,
		.round_pkts = delivered_pkts,
		.jump_pkts = delivered_pkts + clamp_t(u64, cw >> TCSIG_SHIFT, 1, TCSIG_JUMP_PKTS),
		.small = TCSIG_SMALL_UNKNOWN,
		.stage = TCSIG_SEEK,
	};
}

void tcsig_jump(struct tcsig_vars *v, const struct tcsig_ack *a)
{
	const u64 free = div_u64(a->free, max(a->sharers, 1U));

	v->goal = min3(v->cw + free, max(v->ssthresh, v->cw), TCSIG_WND_MAX);
	v->cw += (v->goal - v->cw) / 2;
	v->stage = TCSIG_JUMP;
	v->proven = false;
	tcsig_begin_round(v, a->delivered_pkts);
}

void tcsig_lose(struct tcsig_vars *v, u32 delivered_pkts, bool timeout)
{
	const u64 half = max(v->cw / 2, min(v->cw, TCSIG_ONE));
	const u64 undo_cw = v->undo_cw ?: v->cw;

	if (timeout)
		tcsig_begin(v, min(v->cw, TCSIG_ONE), half, delivered_pkts);
	else
		v->cw = half;
	v->undo_cw = undo_cw;
	if (timeout)
		return;
	v->stage = TCSIG_STEADY;
	tcsig_begin_round(v, delivered_pkts);
	v->cut = true;
}

void tcsig_undo(struct tcsig_vars *v)
{
	v->cw = max(v->cw, v->undo_cw);
	v->undo_cw = 0;
}

/*
 * Return: true if there is a standing queue: the algorithm leaves about the target at its
 * bottleneck.
 */
static bool tcsig_is_queue(const struct tcsig_params *p, u64 delay_ns)
{
	return delay_ns != TCSIG_NO_DELAY && delay_ns > p->target_ns / 2;
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
static bool tcsig_path_is_back(const struct tcsig_path *path, const struct tcsig_params *p,
			       const struct tcsig_ack *a, u32 locator)
{
	return a->has_delay && path->left && locator == path->left &&
	       path->tries < TCSIG_MOVE_TRIES && tcsig_is_queue(p, a->delay_ns);
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
static bool tcsig_path_is_above(struct tcsig_path *path, const struct tcsig_params *p,
				const struct tcsig_ack *a)
{
	if (a->has_delay && a->delay_ns <= p->target_ns) {
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

void tcsig_path_round(struct tcsig_path *path, const struct tcsig_params *p, u64 least_ns,
		      u32 locator)
{
	if (path->waits || path->fresh) {
		path->fresh = false;
		return;
	}
	path->left = 0;
	path->tries = 0;
	if (locator && tcsig_is_queue(p, least_ns))
		path->points++;
	else
		path->points = min(path->points, 0);
}

bool tcsig_path_receive(struct tcsig_path *path, const struct tcsig_params *p,
			const struct tcsig_ack *a, u32 locator, u32 wanted, u32 random)
{
	if (path->waits)
		return false;
	if (tcsig_path_is_back(path, p, a, locator)) {
		path->tries++;
		return tcsig_leave(path, locator, random);
	}
	if (tcsig_path_is_above(path, p, a) && locator)
		path->points += TCSIG_MOVE_POINTS;
	if (!locator || path->points < (s32)wanted * TCSIG_MOVE_POINTS)
		return false;
	path->tries = 0;
	return tcsig_leave(path, locator, random);
}
