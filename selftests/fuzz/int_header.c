// SPDX-License-Identifier: GPL-2.0
/* The INT header: if int_check() passes it, it is within the packet and reads as written. */
#include "int_header.h"

static void check_records(const struct int_hdr *h)
{
	u32 i;

	for (i = 0; i < int_slots(h); i++) {
		const struct int_record r = int_unpack(h->record[i]);

		FUZZ_CLAIM(r.speed < INT_SPEEDS && r.ts_ns <= INT_TS_MASK);
		FUZZ_CLAIM(r.tx_units <= INT_TX_MASK && r.qlen_units <= INT_QLEN_MAX);
		FUZZ_CLAIM(int_pack(&r) == h->record[i]);
	}
}

static void check_written(u32 slots)
{
	const u32 bytes = int_hdr_bytes(slots);
	struct int_hdr *h = malloc(bytes);

	int_write(h, fuzz_byte(), fuzz_range(INT_TYPE_DATA, INT_TYPE_ECHO), fuzz_byte(),
		  slots);
	FUZZ_CLAIM(int_check(h, bytes) == INT_OK);
	FUZZ_CLAIM(int_check(h, bytes - 1) == INT_BAD_TRUNCATED);
	FUZZ_CLAIM(int_slots(h) == slots && !int_records(h));
	free(h);
}

static void fuzz_once(void)
{
	const u32 room_bytes = fuzz_range(0, 160);
	struct int_hdr *h = (struct int_hdr *)fuzz_buffer(room_bytes);

	if (int_check(room_bytes < INT_HDR_BYTES ? NULL : h, room_bytes) == INT_OK) {
		FUZZ_CLAIM(h->words * INT_WORD_BYTES <= room_bytes);
		FUZZ_CLAIM(int_slots(h) <= INT_SLOTS_MAX && int_records(h) <= int_slots(h));
		FUZZ_CLAIM(int_path_id(h) <= INT_SWITCH_ID_MAX && int_port_id(h) <= U16_MAX);
		check_records(h);
	}
	free(h);
	check_written(fuzz_range(0, INT_SLOTS_MAX));
}
