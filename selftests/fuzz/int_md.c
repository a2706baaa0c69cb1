// SPDX-License-Identifier: GPL-2.0
/* INT-MD: what the parser accepts is within the packet, and what is written reads as written. */
#include "fuzz.h"
#include <hopcc/wire/int_md.h>

static void check_read(void)
{
	const u32 bytes = fuzz_range(0, 400);
	u8 *shim = fuzz_buffer(bytes);
	struct intmd_view v;

	if (intmd_parse(&v, shim, bytes) == INTMD_OK) {
		FUZZ_CLAIM(v.shim_bytes <= bytes && v.shim_bytes <= INTMD_SHIM_MAX_BYTES);
		FUZZ_CLAIM(v.shim_bytes == INTMD_STACK_OFFSET + v.stack_bytes);
		FUZZ_CLAIM(v.hops * v.hop_words * INTMD_WORD_BYTES == v.stack_bytes);
		FUZZ_CLAIM(intmd_field_offset(v.bitmap, INTMD_BITS) <=
			   v.hop_words * INTMD_WORD_BYTES);
	}
	free(shim);
}

static void check_written(void)
{
	const u16 bitmap = (fuzz_u32() & INTMD_KNOWN_BITS) ?: INTMD_HPCC_BITS;
	const u32 room_bytes = fuzz_range(INTMD_STACK_OFFSET, 1200);
	u32 bytes = INTMD_STACK_OFFSET, more;
	u8 *shim = malloc(room_bytes);
	struct intmd_node n = {};
	struct intmd_view v, again;

	intmd_write((struct intmd_hdr *)shim, fuzz_range(0, INTMD_NPT_MAX), fuzz_range(0, 63),
		    bitmap, fuzz_range(0, U16_MAX), fuzz_byte());
	FUZZ_CLAIM(intmd_parse(&v, shim, bytes) == INTMD_OK);
	while (fuzz_has_more()) {
		n.value[fuzz_choice(INTMD_BITS)] = fuzz_byte();
		more = intmd_insert(&v, shim, bytes, room_bytes, &n);
		FUZZ_CLAIM(more <= room_bytes);
		FUZZ_CLAIM(more > bytes || v.flags & (INTMD_FLAG_E | INTMD_FLAG_M));
		bytes = more;
		FUZZ_CLAIM(intmd_parse(&again, shim, bytes) == INTMD_OK);
		FUZZ_CLAIM(!memcmp(&again, &v, sizeof(v)));
	}
	FUZZ_CLAIM(intmd_parse(&v, shim, bytes - 1) == INTMD_BAD_TRUNCATED);
	free(shim);
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		check_read();
	else
		check_written();
}
