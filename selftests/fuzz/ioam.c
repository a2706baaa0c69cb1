// SPDX-License-Identifier: GPL-2.0
/* The IOAM trace: what the parser accepts is within the header, and what is written is read so. */
#include "fuzz.h"
#include "hop_ioam.c"

static u32 walk(const struct ioam_view *v, const u8 *hdr)
{
	u32 at_bytes = 0, hops = 0;

	while (hop_ioam_next(v, hdr, &at_bytes)) {
		FUZZ_CLAIM(at_bytes <= v->stack_bytes);
		hops++;
	}
	return hops;
}

static void check_read(void)
{
	const u32 bytes = fuzz_range(0, 300);
	u8 *hdr = fuzz_buffer(bytes);
	struct ioam_view v;

	if (hop_ioam_parse(&v, hdr, bytes) == IOAM_OK) {
		FUZZ_CLAIM(v.hdr_bytes <= bytes);
		FUZZ_CLAIM(v.stack_offset + v.stack_bytes <= v.hdr_bytes);
		FUZZ_CLAIM(v.node_words <= 15 && v.hops <= IOAM_HOPS_MAX);
		FUZZ_CLAIM(walk(&v, hdr) == v.hops);
	}
	free(hdr);
}

static void check_written(void)
{
	const u32 data_bytes = fuzz_range(0, IOAM_DATA_MAX_BYTES / 4) * 4;
	const u32 trace = (fuzz_u32() & IOAM_KNOWN_BITS) ?: IOAM_HPCC_BITS;
	const u32 bytes = hop_ioam_hdr_bytes(data_bytes);
	u8 *hdr = malloc(bytes);
	struct ioam_view v;

	FUZZ_CLAIM(hop_ioam_write(hdr, fuzz_byte(), fuzz_range(0, U16_MAX), trace, data_bytes) ==
		   bytes);
	FUZZ_CLAIM(hop_ioam_parse(&v, hdr, bytes) == IOAM_OK);
	FUZZ_CLAIM(v.hdr_bytes == bytes && !v.hops && v.trace == trace);
	free(hdr);
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		check_read();
	else
		check_written();
}
