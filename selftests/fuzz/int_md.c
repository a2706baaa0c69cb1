// SPDX-License-Identifier: GPL-2.0
/* INT-MD: what the parser accepts is within the packet, and what is written reads as written. */
#include "fuzz.h"
#include "hop_intmd.c"

static void check_read(void)
{
	const u32 bytes = fuzz_range(0, 400);
	u8 *shim = fuzz_buffer(bytes);
	struct intmd_view v;

	if (hop_intmd_parse(&v, shim, bytes) == INTMD_OK) {
		FUZZ_CLAIM(v.shim_bytes <= bytes && v.shim_bytes <= INTMD_SHIM_MAX_BYTES);
		FUZZ_CLAIM(v.shim_bytes == INTMD_STACK_OFFSET + v.stack_bytes);
		FUZZ_CLAIM(v.hops * v.hop_words * INTMD_WORD_BYTES == v.stack_bytes);
		FUZZ_CLAIM(hop_intmd_field_offset(v.bitmap, INTMD_BITS) <=
			   v.hop_words * INTMD_WORD_BYTES);
	}
	free(shim);
}

static void check_written(void)
{
	const u16 bitmap = (fuzz_u32() & INTMD_KNOWN_BITS) ?: INTMD_HPCC_BITS;
	const u8 npt = fuzz_range(0, INTMD_NPT_MAX), original = fuzz_range(0, 63);
	const u16 domain = fuzz_range(0, U16_MAX);
	u8 *shim = malloc(INTMD_STACK_OFFSET);
	struct intmd_view v;

	hop_intmd_write((struct intmd_hdr *)shim, npt, original, bitmap, domain, fuzz_byte());
	FUZZ_CLAIM(hop_intmd_parse(&v, shim, INTMD_STACK_OFFSET) == INTMD_OK);
	FUZZ_CLAIM(v.npt == npt && v.original == original && v.bitmap == bitmap);
	FUZZ_CLAIM(v.domain == domain && !v.hops && !v.stack_bytes);
	FUZZ_CLAIM(hop_intmd_parse(&v, shim, INTMD_STACK_OFFSET - 1) == INTMD_BAD_TRUNCATED);
	free(shim);
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		check_read();
	else
		check_written();
}
