// SPDX-License-Identifier: GPL-2.0
/*
 * Test of CSIG's congestion control against a reference in double precision. Each of 2^19 random
 * streams is a connection with its own constants, initial window, ACKs with and without signals,
 * losses, idle times and windows that Reno had, all of any size. The reference keeps rounds and
 * stages as strings, and computes with doubles.
 *
 * Claims, after every event:
 *	from the same state, |cw / 2^24 - exact| <= 24 * 2^-24 (two roundings, eight times as much
 *	if min(ABW/C) multiplies), plus 2^-20 of the increase, plus
 *	10^-15 of cw for the rounding of doubles
 *	the stages are equal
 *	1/64 <= cw <= 2^20, and the pace is at least 1 byte/s
 *
 *	csig_reference [STREAMS [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csig_sender.c"
#include "random.h"

#define ONE		((double)TCSIG_ONE)
#define WND_MAX		((double)TCSIG_WND_MAX_PKTS)
#define WND_MIN		(TCSIG_WND_MIN / ONE)
#define EVENTS_MAX	96

static u64 acks, steps, guesses, held, jumps, scales, losses, follows;
static double worst;

struct reference {
	double target, ai, rtt, added;
	double cw, begun, goal, before_loss, delay;
	double waiting;			/* packets acknowledged since the last delay */
	const char *stage;		/* seek, jump, rest, steady */
	const char *round;		/* plain, cut, grown */
	bool guess, reported;
	u64 since, delivered, jump_at;
};

static void begin_round(struct reference *r, const char *what)
{
	r->since = r->delivered;
	r->begun = r->cw;
	r->round = what;
	r->guess = false;
}

static void end_round(struct reference *r)
{
	if (!strcmp(r->stage, "rest"))
		r->stage = "steady";
	if (!strcmp(r->stage, "jump"))
		r->stage = "rest";
	begin_round(r, "plain");
}

/* The window without the packets that wait longer than the target, but at least a flight. */
static double without_queue(const struct reference *r, double delay, double rtt)
{
	double left = r->begun * (1 - (delay - r->target) / fmax(rtt, delay));

	return fmax(fmax(left, fmin(r->begun, 2)), WND_MIN);
}

/* Return: true if the window is a guess that met a queue in this round. */
static bool excess(struct reference *r, double delay, double rtt)
{
	if (strcmp(r->stage, "steady")) {
		begin_round(r, "plain");
		r->guess = true;
		r->stage = "steady";
	}
	if (!r->guess)
		return false;
	r->cw = fmin(r->cw, without_queue(r, delay, rtt));
	guesses++;
	return true;
}

/* @n packets had the latest delay. */
static void step(struct reference *r, double n)
{
	double delay = fmin(r->delay, TCSIG_NO_DELAY), off = fabs(delay - r->target);
	double span = fmax(2 * fmax(delay, r->target), r->rtt), part = fmin(r->cw, 1) * n;
	double add = fmin(r->ai / r->cw * n, part * fmin(r->ai, 4) / 16);
	bool above = delay > r->target;

	add *= fmin(off, r->target) / r->target;
	r->added = fmax(part * off / span / (above ? 2 : 16), add);
	if (above)
		r->cw = fmax(r->cw - fmin(r->cw / 2, r->added), WND_MIN);
	else
		r->cw = fmin(r->cw + r->added, WND_MAX);
	steps++;
}

static void doubled(struct reference *r, double n, double limit)
{
	r->cw = fmin(r->cw + n, fmax(limit, r->cw));
	if (r->cw >= limit)
		r->stage = "steady";
}

static void grown(struct reference *r, const struct tcsig_ack *a)
{
	double n = fmin(a->acked_pkts, TCSIG_ACK_MAX_PKTS), free = a->free / ONE;
	bool rest = !strcmp(r->stage, "rest");

	if (a->has_free && (rest || !strcmp(r->stage, "jump")))
		r->goal = fmin(r->goal, r->cw + free);
	if (!strcmp(r->stage, "seek") && r->reported && r->delivered >= r->jump_at) {
		free /= fmax(a->sharers, 1);
		r->goal = fmin(fmin(r->cw + free, fmax(r->goal, r->cw)), WND_MAX);
		r->cw = (r->cw + r->goal) / 2;
		r->stage = "jump";
		begin_round(r, "plain");
		jumps++;
	} else if (!strcmp(r->stage, "seek")) {
		doubled(r, n, r->goal);
	} else if (rest && r->delay <= floor(r->target / 2)) {
		doubled(r, n, r->goal);
	}
}

static void shared(struct reference *r, const struct tcsig_ack *a)
{
	bool again = !strcmp(r->round, "grown");
	double share = fmin(a->share_ppm / 1e6, 7 / 8.0), want;

	if (strcmp(r->stage, "steady") || a->share_ppm < TCSIG_SHARE_MIN_PPM ||
	    r->delay > floor(r->target / 2))
		return;
	want = again ? r->begun : r->cw;
	want = fmin(fmin(want / (1 - share), want + a->free / ONE), WND_MAX);
	if (want <= r->cw)
		return;
	if (!again)
		begin_round(r, "grown");
	r->cw = want;
	scales++;
}

static void reference_ack(struct reference *r, const struct tcsig_ack *a)
{
	double n = fmin(r->waiting + a->acked_pkts, floor(r->cw) + 2);
	bool above, grows;

	if (a->acked_pkts && a->prior_pkts >= r->since)
		end_round(r);
	r->cw = fmax(r->cw, WND_MIN);
	r->waiting = a->has_delay ? 0 : n;
	if (a->has_delay)
		r->delay = a->delay_ns;
	r->reported |= a->has_free;
	above = r->delay > r->target;
	grows = a->limited && !above && strcmp(r->round, "cut");
	if (a->has_delay && above && excess(r, r->delay, a->rtt_ns))
		return;
	if (!strcmp(r->stage, "seek") && !a->has_delay && a->path_ns > r->target) {
		r->cw = fmin(r->cw, without_queue(r, a->path_ns, a->rtt_ns));
		held++;
		return;
	}
	if (r->guess)
		return;
	if (a->has_delay && !strcmp(r->stage, "steady") && (above || grows))
		step(r, n);
	if (!grows)
		return;
	grown(r, a);
	if (a->has_share)
		shared(r, a);
}

static void begin_transfer(struct reference *r)
{
	r->reported = false;
	r->jump_at = r->delivered + fmin(fmax(floor(r->cw), 1), 3);
}

static void reference_loss(struct reference *r, bool timeout)
{
	double half = fmax(r->cw / 2, fmin(r->cw, 1));

	if (!r->before_loss)
		r->before_loss = r->cw;
	r->stage = timeout ? "seek" : "steady";
	r->cw = timeout ? fmin(r->cw, 1) : half;
	if (timeout) {
		r->goal = half;
		r->delay = 0;
		r->waiting = 0;
		begin_transfer(r);
	}
	begin_round(r, timeout ? "plain" : "cut");
}

static const char *stage_name(const struct tcsig_vars *v)
{
	static const char * const names[] = { "seek", "jump", "steady" };

	return v->stage == TCSIG_JUMP && v->proven ? "rest" : names[v->stage];
}

static bool same(const char *what, const struct reference *r, const struct tcsig_vars *v)
{
	double error = fabs(v->cw / ONE - r->cw) * ONE;
	double bound = 24 + 16 * r->added + r->cw * ONE / 1e15;
	bool sane = v->cw >= TCSIG_WND_MIN && v->cw <= TCSIG_WND_MAX &&
		    tcsig_pace_bytes_ps(v, 1 + below(65535), 1 + below(1000)) >= 1;

	worst = fmax(worst, error);
	if (error <= bound && !strcmp(stage_name(v), r->stage) && sane)
		return true;
	printf("# %s: cw %.9f stage %s; reference %.9f %s\n", what, v->cw / ONE, stage_name(v),
	       r->cw, r->stage);
	return false;
}

/* Start each event from the state of the code under test, so that errors do not add up. */
static void follow(struct reference *r, const struct tcsig_vars *v)
{
	r->added = 0;
	r->cw = v->cw / ONE;
	r->begun = v->ref / ONE;
	r->goal = v->goal / ONE;
	r->before_loss = v->undo_cw / ONE;
	r->waiting = v->step_pkts;
}

static void start(struct reference *r, struct tcsig_vars *v)
{
	u64 cw = below(4) ? 10 * TCSIG_ONE : below(TCSIG_WND_MAX);

	tcsig_begin(v, cw, TCSIG_WND_MAX, r->delivered);
	r->stage = "seek";
	r->delay = 0;
	r->waiting = 0;
	r->cw = v->cw / ONE;
	begin_transfer(r);
	begin_round(r, "plain");
}

static bool ack_event(struct reference *r, struct tcsig_vars *v, const struct tcsig_params *p)
{
	u64 back = below(200);
	struct tcsig_ack a = {
		.acked_pkts = below(4) ? 1 + below(2) : below(below(8) ? 40 : 100000),
		.share_ppm = below(2) ? below(1000001) : below(50000),
		.free = below(3) ? log_uniform(1, 2 * ONE * WND_MAX) : 0,
		.delay_ns = below(3) ? uniform(0, 2 * r->target) : log_uniform(1, 1e15),
		.sharers = below(3) ? below(3) : below(1000),
		.has_free = !below(3),
		.has_delay = !below(3),
		.has_share = !below(3),
		.limited = below(8) != 0,
	};

	a.free = min(a.free, TCSIG_WND_MAX);
	if (below(4)) {
		a.rtt_ns = uniform(0, 1e10);
		a.path_ns = below(2) ? uniform(0, 2 * r->target) : below(a.rtt_ns + 1);
	}
	r->delivered += a.acked_pkts;
	a.delivered_pkts = r->delivered;
	a.prior_pkts = r->delivered > back ? r->delivered - back : 0;
	follow(r, v);
	reference_ack(r, &a);
	tcsig_receive(v, p, &a);
	acks++;
	return same("ACK", r, v);
}

static bool loss_event(struct reference *r, struct tcsig_vars *v)
{
	bool timeout = !below(3);

	losses++;
	follow(r, v);
	reference_loss(r, timeout);
	tcsig_lose(v, r->delivered, timeout);
	if (!same("loss", r, v))
		return false;
	if (below(4)) {
		v->undo_cw = 0;
		return true;
	}
	r->cw = fmax(r->cw, r->before_loss);
	tcsig_undo(v);
	return same("undo", r, v);
}

/* No hop reports any more, or none ever did: the window is Reno's, in the same round. */
static bool reno_event(struct reference *r, struct tcsig_vars *v)
{
	u64 cw = below(4) ? log_uniform(1, 2 * ONE * WND_MAX) : TCSIG_ONE << below(20);
	bool slow_start = below(2);

	follows++;
	follow(r, v);
	tcsig_follow(v, cw, slow_start);
	r->cw = fmin(fmax(cw / ONE, WND_MIN), WND_MAX);
	r->begun = r->cw;
	r->delay = 0;
	r->waiting = 0;
	r->guess = false;
	r->before_loss = 0;
	r->round = "plain";
	if (!slow_start || strcmp(r->stage, "seek"))
		r->stage = "steady";
	return same("Reno", r, v) && v->ref == v->cw && !v->delay_ns && !v->undo_cw;
}

static bool run_stream(void)
{
	struct tcsig_params p = {
		.target_ns = below(2) ? 10000 : log_uniform(TCSIG_TARGET_MIN_NS, 1e9),
		.ai = hop_wnd_of_ppm(below(2) ? 1000000 : log_uniform(1000, 64000000)),
		.rtt_ns = below(2) ? 0 : log_uniform(1, 1e10),
	};
	struct reference r = {
		.target = p.target_ns,
		.ai = p.ai / ONE,
		.rtt = p.rtt_ns,
		.delivered = 1000 + below(1 << 20),
	};
	u32 left = 1 + below(EVENTS_MAX);
	struct tcsig_vars v;
	bool good = true;

	start(&r, &v);
	while (good && left--) {
		u64 what = below(64);

		if (what == 0)
			start(&r, &v);
		else if (what < 4)
			good = loss_event(&r, &v);
		else if (what == 4)
			good = reno_event(&r, &v);
		else
			good = ack_event(&r, &v, &p);
	}
	return good;
}

int main(int argc, char **argv)
{
	u64 streams = argc > 1 ? strtoull(argv[1], NULL, 0) : 1 << 19, i;
	u64 failures = 0;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (i = 0; i < streams && failures < 5; i++)
		failures += !run_stream();
	printf("# %llu streams, %llu ACKs, %llu losses, %llu windows of Reno\n", i, acks, losses,
	       follows);
	printf("# %llu steps, %llu cuts of guesses, %llu times held back\n", steps, guesses, held);
	printf("# %llu jumps, %llu times in proportion\n", jumps, scales);
	printf("# at most %.2f units of 2^-24 off\n", worst);
	printf("%s 1 - csig_sender equals its law over random streams\n1..1\n",
	       failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
