// SPDX-License-Identifier: GPL-2.0
/*
 * Test of LDCP's sender against the draft in double precision. Each of 2^20 random streams is a
 * connection with its own constants, initial window, ACKs with and without marks, losses and
 * idle times. The reference computes the draft's equations packet by packet with doubles, and
 * keeps the stages as strings.
 *
 * Claims, after every event:
 *	from the same window, |cw / 2^24 - exact| <= 2^-25 (increase), 0 (a mark, cw >= 1),
 *	2^-24 for each packet (a mark, cw < 1: truncated to a unit)
 *	without synchronising, while n alpha <= cw^2 and no window is below two packets:
 *		|cw / 2^24 - exact| <= 2^-25 times the number of ACKs so far
 *	the stages are equal
 *
 *	ldcp_reference [STREAMS [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ldcp_sender.c"
#include "random.h"

#define ONE		((double)HOP_WND_ONE)
#define UNIT		(1.0 / ONE)
#define EVENTS_MAX	64
#define WND_MAX		((double)HOP_WND_MAX_PKTS)

static u64 acks, losses, below_one, free_acks;
static double worst_free;

struct reference {
	double alpha, beta, gamma, eta;
	double cw, before_loss;
	const char *stage;
	u64 first, start, resume, round, delivered, cumulative;
	bool per_rtt;
};

/* Equation (2); below a window of one packet, each acknowledged packet counts by itself. */
static double grown(const struct reference *r, double cw, u32 n)
{
	while (n && cw < 1) {
		cw += r->gamma;
		n--;
	}
	cw += n * r->alpha / cw;
	return cw > WND_MAX ? WND_MAX : cw;
}

static double shrunk(const struct reference *r, double cw, u32 n)
{
	while (n--) {
		if (cw >= 1)
			cw -= r->beta;
		else
			cw *= r->eta;
		/* With cw >= 1, the code under test bounds only the result of the whole ACK. */
		if (cw < r->gamma)
			cw = r->gamma;
	}
	return cw;
}

static void reference_ack(struct reference *r, const struct ldcp_ack *a)
{
	bool stable = !strcmp(r->stage, "stable");
	bool counts = stable && a->prior_pkts >= r->resume;
	bool round = a->prior_pkts >= r->round;

	if (round)
		r->round = a->delivered_pkts;
	if (!stable && a->acked_pkts)
		r->stage = "fast";
	if (!stable && a->delivered_pkts - r->start >= r->first)
		r->stage = "stable";
	if (a->ece)
		r->cw = shrunk(r, r->cw, a->acked_pkts);
	if (!counts || !a->limited || !a->acked_pkts)
		return;
	if (r->per_rtt && r->cw >= 1)
		r->cw = round ? fmin(r->cw + r->alpha, WND_MAX) : r->cw;
	else if (!a->ece)
		r->cw = grown(r, r->cw, a->acked_pkts);
}

static void reference_loss(struct reference *r, bool timeout)
{
	double cw = r->cw / 2 < 1 ? 1 : r->cw / 2;

	if (!r->before_loss)
		r->before_loss = r->cw;
	if (strcmp(r->stage, "stable"))
		cw = r->cumulative - r->start;
	if (timeout && cw > 1)
		cw = 1;
	if (cw < r->cw)
		r->cw = cw;
	if (!r->cw)
		r->cw = r->gamma;
	r->stage = "stable";
	r->resume = r->delivered;
}

static const char *stage_name(const struct ldcp_vars *v)
{
	static const char * const names[] = { "first", "fast", "stable" };

	return names[v->stage];
}

static bool same(const char *what, const struct reference *r, const struct ldcp_vars *v,
		 double bound)
{
	if (fabs(v->cw / ONE - r->cw) <= bound && !strcmp(stage_name(v), r->stage))
		return true;
	printf("# %s: cw %.9f stage %s; reference %.9f %s, bound %.9f\n", what, v->cw / ONE,
	       stage_name(v), r->cw, r->stage, bound);
	return false;
}

static void start(struct reference *r, struct ldcp_vars *v)
{
	r->first = 1 + below(below(2) ? 100 : 100000);
	r->cw = r->first;
	r->before_loss = 0;
	r->stage = "first";
	r->start = r->delivered;
	r->resume = r->delivered;
	r->round = r->delivered;
	ldcp_begin(v, r->first, r->delivered);
}

/* The error that an ACK may cause. */
static double step_bound(const struct reference *r, const struct ldcp_ack *a)
{
	if (!a->ece)
		return UNIT / 2;
	return r->cw < 1 || r->cw - a->acked_pkts * r->beta < 1 ? a->acked_pkts * UNIT : 0;
}

static bool ack_event(struct reference *r, struct ldcp_vars *v, const struct ldcp_params *p)
{
	u64 unsent = below(200);
	struct ldcp_ack a = {
		.acked_pkts = below(4) ? 1 + below(2) : below(below(8) ? 40 : 2000),
		.ece = below(3) == 0,
		.limited = below(8) != 0,
	};
	double bound;

	r->delivered += a.acked_pkts;
	r->cumulative = r->delivered;
	a.delivered_pkts = r->delivered;
	a.prior_pkts = r->delivered > unsent ? r->delivered - unsent : 0;
	r->cw = v->cw / ONE;
	bound = step_bound(r, &a);
	below_one += r->cw < 1;
	acks++;
	reference_ack(r, &a);
	ldcp_update(v, p, &a);
	return same(a.ece ? "mark" : "credit", r, v, bound);
}

static bool loss_event(struct reference *r, struct ldcp_vars *v, const struct ldcp_params *p)
{
	bool timeout = !below(3);

	losses++;
	r->cw = v->cw / ONE;
	r->cumulative = r->delivered - below(r->delivered - r->start + 1);
	reference_loss(r, timeout);
	ldcp_lose(v, p, r->delivered, r->cumulative, timeout);
	if (!same("loss", r, v, UNIT))
		return false;
	if (below(4)) {
		v->undo_cw = 0;
		r->before_loss = 0;
		return true;
	}
	r->cw = fmax(r->cw, r->before_loss);
	r->before_loss = 0;
	ldcp_undo(v);
	return same("undo", r, v, UNIT);
}

static bool stepwise(struct reference *r, const struct ldcp_params *p)
{
	struct ldcp_vars v;
	u32 left = 1 + below(EVENTS_MAX);
	bool good = true;

	start(r, &v);
	while (good && left--) {
		switch (below(16)) {
		case 0:
			good = loss_event(r, &v, p);
			break;
		case 1:
			if (!below(8))
				start(r, &v);
			break;
		default:
			good = ack_event(r, &v, p);
		}
	}
	return good;
}

/* Check that over a whole stream the errors add up, but do not grow otherwise. */
static bool freely(struct reference *r, const struct ldcp_params *p)
{
	u64 cw = (10 + below(1000)) << HOP_WND_SHIFT;
	u32 left = 1 + below(EVENTS_MAX), done;
	double error;

	r->cw = cw / ONE;
	for (done = 1; done <= left; done++) {
		u32 n = 1 + below(fmin(r->cw, 16));
		bool ece = !below(8);

		if (ece && r->cw - n * r->beta < 2)
			ece = false;
		r->cw = ece ? shrunk(r, r->cw, n) : grown(r, r->cw, n);
		cw = ece ? ldcp_shrink(cw, p, n) : ldcp_grow(cw, p, n);
		error = fabs(cw / ONE - r->cw);
		worst_free = fmax(worst_free, error * ONE);
		free_acks++;
		if (error > done * UNIT / 2 + UNIT / 100) {
			printf("# after %u ACKs: %.9f, reference %.9f\n", done, cw / ONE, r->cw);
			return false;
		}
	}
	return true;
}

static bool run_stream(void)
{
	struct ldcp_params p = {
		.alpha = hop_wnd_of_ppm(below(2) ? 1000000 : 1 + below(1000000)),
		.beta = hop_wnd_of_ppm(below(2) ? 500000 : 1 + below(1000000)),
		.gamma = hop_wnd_of_ppm(1000000 >> (1 + below(8))),
		.eta = hop_wnd_of_ppm(below(2) ? 500000 : 1 + below(999999)),
		.per_rtt = !below(4),
	};
	struct reference r = {
		.alpha = p.alpha / ONE,
		.beta = p.beta / ONE,
		.gamma = p.gamma / ONE,
		.eta = p.eta / ONE,
		.per_rtt = p.per_rtt,
		.delivered = 1000 + below(1 << 20),
	};

	return stepwise(&r, &p) && freely(&r, &p);
}

int main(int argc, char **argv)
{
	u64 streams = argc > 1 ? strtoull(argv[1], NULL, 0) : 1 << 20, i;
	u64 failures = 0;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (i = 0; i < streams && failures < 5; i++)
		failures += !run_stream();
	printf("# %llu streams, %llu ACKs, %llu of them below one packet, %llu losses\n", i, acks,
	       below_one, losses);
	printf("# %llu ACKs run freely, at most %.1f units of 2^-24 off\n", free_acks, worst_free);
	printf("%s 1 - ldcp_sender equals the draft over random ACK streams\n1..1\n",
	       failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
