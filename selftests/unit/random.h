/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers by seed, the same on every machine, for the reference tests. */
#ifndef HOPCC_SELFTESTS_UNIT_RANDOM_H
#define HOPCC_SELFTESTS_UNIT_RANDOM_H

#include <linux/types.h>
#include <math.h>

static u64 rng_state;

/* splitmix64 */
static inline u64 rng(void)
{
	u64 z = (rng_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline u64 below(u64 n)
{
	return rng() % n;
}

static inline double uniform(double lo, double hi)
{
	return lo + (hi - lo) * ((double)(rng() >> 11) / (1ULL << 53));
}

/* A random number whose logarithm is uniformly distributed. */
static inline double log_uniform(double lo, double hi)
{
	return lo * exp(uniform(0, log(hi / lo)));
}

#endif /* HOPCC_SELFTESTS_UNIT_RANDOM_H */
