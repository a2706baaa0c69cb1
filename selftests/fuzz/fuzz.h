/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Framework of the libFuzzer harnesses, one file per parser or algorithm. Each file has
 * fuzz_once(), which draws values from the input, passes them to the code and claims properties of
 * the result. All values are drawn from the range that the caller in the kernel allows.
 */
#ifndef HOPCC_SELFTESTS_FUZZ_FUZZ_H
#define HOPCC_SELFTESTS_FUZZ_FUZZ_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of the input that is not consumed yet */
static const u8 *fuzz_at;
static size_t fuzz_left;

/* Abort the process if the claim is false, so that libFuzzer saves the input. */
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

/* Return: the next byte; 0 at the end of the input */
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
 * fuzz_range() - draw a value from a range
 * @lo: minimum
 * @hi: maximum
 *
 * The first byte selects an end of the range and the maximum number of bits of the distance from
 * it, so that both ends and all magnitudes are equally likely.
 *
 * Return: the value, from @lo to @hi.
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

/* Return: a number from 0 to @n - 1 */
static inline u32 fuzz_choice(u32 n)
{
	return fuzz_byte() % n;
}

/**
 * fuzz_buffer() - allocate a buffer of exactly @bytes with raw bytes of the input
 * @bytes: size of the buffer; bytes beyond the end of the input are 0
 *
 * ASan detects a read beyond its end. The caller frees the buffer.
 *
 * Return: the buffer.
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

/* Defined in each harness */
static void fuzz_once(void);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	fuzz_at = data;
	fuzz_left = size;
	fuzz_once();
	return 0;
}

#endif /* HOPCC_SELFTESTS_FUZZ_FUZZ_H */
