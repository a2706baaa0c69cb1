// SPDX-License-Identifier: GPL-2.0
/*
 * A seeded getrandom() for the process that is the guest.
 *
 * User-Mode Linux gets its random numbers from the host. This preloaded library makes
 * them a function of HOPLAB_SEED, so that a run can be repeated byte for byte.
 * The generator is splitmix64, which is sufficient for hash keys and port numbers of a
 * guest without secrets.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t state;
static int seeded;

static uint64_t entropy_next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void entropy_seed(void)
{
	const char *seed = getenv("HOPLAB_SEED");

	state = seed ? strtoull(seed, NULL, 0) : 1;
	seeded = 1;
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *p = buf;
	size_t done, n;
	uint64_t word;

	(void)flags;
	if (!seeded)
		entropy_seed();
	for (done = 0; done < len; done += n) {
		word = entropy_next();
		n = len - done < sizeof(word) ? len - done : sizeof(word);
		memcpy(p + done, &word, n);
	}
	return (ssize_t)len;
}
