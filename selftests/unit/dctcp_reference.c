// SPDX-License-Identifier: GPL-2.0
/*
 * Test of DCTCP's sender against the draft in exact arithmetic. Each of 2^20 random
 * streams is a connection of up to 12 windows. The reference keeps alpha as a fraction
 * of integers of up to 1024 bits. It computes the draft's steps literally, with 64-bit
 * sequence numbers that never wrap:
 *
 *	alpha = N / D;  N' = (15 N S + M D);  D' = 16 S D
 *
 * Claims, at the end of every window:
 *	0 <= N / D - alpha / 2^31 < 17 / 2^31
 *	cwnd (1 - alpha / 2) <= cwnd' < cwnd (1 - alpha / 2) + 1 + cwnd * 17 / 2^32
 * (cwnd' at least 2), and the byte counters and WindowEnd equal the draft's.
 *
 *	dctcp_reference [STREAMS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dctcp_sender.c"
#include "random.h"

#define LIMBS		16
#define ERROR_UNITS	17
#define WINDOWS_MAX	12

struct big {
	u64 limb[LIMBS];
};

static u64 windows, worst_units_x1000, acks;

static void overflow(void)
{
	fprintf(stderr, "Bail out! the reference's integers are too small\n");
	exit(2);
}

static struct big big_mul(struct big a, u64 factor)
{
	unsigned __int128 carry = 0;
	int i;

	for (i = 0; i < LIMBS; i++) {
		carry += (unsigned __int128)a.limb[i] * factor;
		a.limb[i] = carry;
		carry >>= 64;
	}
	if (carry)
		overflow();
	return a;
}

static struct big big_add(struct big a, const struct big *b)
{
	unsigned __int128 carry = 0;
	int i;

	for (i = 0; i < LIMBS; i++) {
		carry += (unsigned __int128)a.limb[i] + b->limb[i];
		a.limb[i] = carry;
		carry >>= 64;
	}
	if (carry)
		overflow();
	return a;
}

static int big_cmp(const struct big *a, const struct big *b)
{
	int i;

	for (i = LIMBS - 1; i >= 0; i--)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

/* Is a x <= b y, exactly? */
static bool le(const struct big *a, u64 x, const struct big *b, u64 y)
{
	struct big ax = big_mul(*a, x), by = big_mul(*b, y);

	return big_cmp(&ax, &by) <= 0;
}

/* The draft's state, with unbounded numbers. */
struct reference {
	struct big num, den;	/* DCTCP.Alpha = num / den */
	u64 una, nxt, window_end, sent, marked;
};

static void reference_ack(struct reference *r, u64 ack, bool ece)
{
	u64 bytes_acked = ack - r->una;

	r->una = ack;
	r->sent += bytes_acked;
	if (ece)
		r->marked += bytes_acked;
}

static void reference_update(struct reference *r)
{
	struct big kept = big_mul(big_mul(r->num, 15), r->sent);
	struct big marked = big_mul(r->den, r->marked);

	r->num = big_add(kept, &marked);
	r->den = big_mul(big_mul(r->den, 16), r->sent);
	r->window_end = r->nxt;
	r->sent = 0;
	r->marked = 0;
}

static bool fail(const char *what, const struct reference *r,
		 const struct dctcp_vars *v)
{
	printf("# %s: alpha %u sent %u marked %u end %u\n", what, v->alpha,
	       v->sent_bytes, v->marked_bytes, v->window_end_seq);
	printf("# reference: sent %llu marked %llu end %llu\n",
	       r->sent, r->marked, r->window_end);
	return false;
}

/* num / den - alpha / 2^31, in 1/1000 of a unit; printed only, not checked */
static u64 error_units_x1000(const struct reference *r, u32 alpha)
{
	u64 lo = 0, hi = ERROR_UNITS * 1000, mid;
	struct big num = big_mul(big_mul(r->num, DCTCP_ALPHA_ONE), 1000);

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (le(&num, 1, &r->den, (u64)alpha * 1000 + mid))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool check_alpha(const struct reference *r, const struct dctcp_vars *v)
{
	u64 error;

	if (!le(&r->den, v->alpha, &r->num, DCTCP_ALPHA_ONE))
		return fail("alpha above the exact value", r, v);
	if (le(&r->den, (u64)v->alpha + ERROR_UNITS, &r->num, DCTCP_ALPHA_ONE))
		return fail("alpha too far below the exact value", r, v);
	/* The search takes 14 steps, so it is done for one window in 16. */
	if (windows++ % 16)
		return true;
	error = error_units_x1000(r, v->alpha);
	if (error > worst_units_x1000)
		worst_units_x1000 = error;
	return true;
}

/* All values are multiplied by 2 D: exact = cwnd (2 D - N) */
static bool check_cut(const struct reference *r, const struct dctcp_vars *v)
{
	u32 cwnd = 1 + below(below(2) ? 64 : 1 << 20);
	u32 got = dctcp_cwnd_after_mark(cwnd, v->alpha);
	struct big cut = big_mul(r->num, cwnd), slack = big_mul(r->den, 2);

	if (got == DCTCP_CWND_MIN_PKTS)
		return cwnd < 5 || le(&r->den, 2 * (u64)cwnd - 4, &cut, 1) ||
		       fail("floor without need", r, v);
	/* cwnd - got <= exact cut, and within one packet and alpha's error */
	if (!le(&slack, cwnd - got, &cut, 1))
		return fail("cut too much", r, v);
	cut = big_mul(cut, 1ULL << 31);
	if (le(&r->den, ((u64)(cwnd - got) + 1) * (1ULL << 32) + (u64)cwnd * ERROR_UNITS,
	       &cut, 1))
		return fail("cut too little", r, v);
	return true;
}

static bool check_window(struct reference *r, struct dctcp_vars *v)
{
	if (v->sent_bytes != r->sent || v->marked_bytes != r->marked)
		return fail("byte counters", r, v);
	v->alpha = dctcp_update_alpha(v);
	dctcp_next_window(v, r->nxt);
	reference_update(r);
	if (v->window_end_seq != (u32)r->window_end)
		return fail("WindowEnd", r, v);
	return check_alpha(r, v) && check_cut(r, v);
}

/* The patterns of marks: none, all, random, every second window. */
static bool mark(u64 kind, u64 position)
{
	switch (kind) {
	case 0:
		return false;
	case 1:
		return true;
	case 2:
		return below(2);
	case 3:
		return !below(50);
	default:
		return position & 1;
	}
}

static bool run_stream(void)
{
	u64 start = (1ULL << 32) + below(1ULL << 32), kind = below(5);
	u64 flight_max = 1 + below(below(4) ? 1 << 16 : 1 << 30);
	int left = 1 + below(WINDOWS_MAX);
	struct reference r = { .num.limb[0] = 1, .den.limb[0] = 1 };
	struct dctcp_vars v;
	bool over;

	r.una = start;
	r.nxt = start;
	r.window_end = start;
	dctcp_start(&v, start);
	while (left) {
		u64 ack, ece = mark(kind, left);

		if (r.nxt == r.una || below(2))
			r.nxt = r.una + 1 + below(flight_max);
		ack = r.una + below(4) * (r.nxt - r.una) / 3;
		reference_ack(&r, ack, ece);
		dctcp_account_ack(&v, ack, ece);
		acks++;
		over = r.una > r.window_end;
		if (dctcp_window_over(&v) != over)
			return fail("end of window", &r, &v);
		if (!over)
			continue;
		left--;
		if (!check_window(&r, &v))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	u64 streams = argc > 1 ? strtoull(argv[1], NULL, 0) : 1 << 20, i;
	u64 failures = 0;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (i = 0; i < streams && failures < 5; i++)
		failures += !run_stream();
	printf("# %llu streams, %llu windows, %llu ACKs\n", i, windows, acks);
	printf("# alpha at most %llu.%03llu units of 2^-31 below exact (bound %d)\n",
	       worst_units_x1000 / 1000, worst_units_x1000 % 1000,
	       ERROR_UNITS);
	printf("%s 1 - dctcp_sender equals the draft over random ACK streams\n1..1\n",
	       failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
