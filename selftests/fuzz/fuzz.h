/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A libFuzzer harness: one file for a parser or a law. It has fuzz_once(), which draws values
 * from the input, feeds the code and claims what must hold of the result. Everything that enters
 * the code is drawn from the range that its caller in the kernel admits.
 */
#ifndef SELFTESTS_FUZZ_FUZZ_H
#define SELFTESTS_FUZZ_FUZZ_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of the input that is not used yet. */
static const u8 *fuzz_at;
static size_t fuzz_left;

/* Ends the process, so that libFuzzer keeps the input. */
#define FUZZ_CLAIM(claim) do {							\
	if (!(claim)) {								\
		fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim); \
		abort();							\
	}									\
} while (0)

static inline bool fuzz_has_more(void)
{
	return fuzz_left;
}

/* 0 where the input is over. */
static inline u8 fuzz_byte(void)
{
	if (!fuzz_left)
		return 0;
	fuzz_left--;
	return *fuzz_at++;
}

static inline bool fuzz_flag(void)
{
	return fuzz_byte() & 1;
}

/**
 * fuzz_range() - a value of a range
 * @lo: the least
 * @hi: the greatest
 *
 * The first byte chooses an end of the range and how many bits the distance from it may have, so
 * that both ends and every magnitude are equally likely.
 */
static inline u64 fuzz_range(u64 lo, u64 hi)
{
	const u64 width = hi - lo;
	u64 distance = 0;
	u32 bits, i;
	u8 how;

	if (!width)
		return lo;
	how = fuzz_byte();
	bits = (how & 0x7f) % (65 - __builtin_clzll(width));
	for (i = 0; i < bits; i += 8)
		distance = distance << 8 | fuzz_byte();
	if (bits < 64)
		distance &= (1ULL << bits) - 1;
	distance = min(distance, width);
	return how & 0x80 ? hi - distance : lo + distance;
}

static inline u32 fuzz_u32(void)
{
	return fuzz_range(0, U32_MAX);
}

static inline u64 fuzz_u64(void)
{
	return fuzz_range(0, U64_MAX);
}

/* One of @n. */
static inline u32 fuzz_choice(u32 n)
{
	return fuzz_byte() % n;
}

/**
 * fuzz_buffer() - raw bytes of the input, in memory of exactly that length
 * @bytes: how many; beyond the input's end they are zeros
 *
 * A read behind its end is found by ASan. The caller frees it.
 */
static inline u8 *fuzz_buffer(size_t bytes)
{
	const size_t have = min(bytes, fuzz_left);
	u8 *buffer = malloc(bytes);

	if (have)
		memcpy(buffer, fuzz_at, have);
	memset(buffer + have, 0, bytes - have);
	fuzz_at += have;
	fuzz_left -= have;
	return buffer;
}

/* The harness. */
static void fuzz_once(void);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	fuzz_at = data;
	fuzz_left = size;
	fuzz_once();
	return 0;
}

#endif /* SELFTESTS_FUZZ_FUZZ_H */
