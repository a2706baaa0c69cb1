/* SPDX-License-Identifier: GPL-2.0 */
/* Draw an INT header: raw bytes, or a header that is valid except for a few bits */
#ifndef HOPCC_SELFTESTS_FUZZ_INT_HEADER_H
#define HOPCC_SELFTESTS_FUZZ_INT_HEADER_H

#include "fuzz.h"
#include <hopcc/wire/int.h>

/**
 * draw_header() - draw an INT header
 * @bytes: result: exact size of the memory that is returned
 *
 * Only int_check() decides if the header is valid. The caller frees the memory.
 *
 * Return: the header.
 */
static inline struct int_hdr *draw_header(u32 *bytes)
{
	const u32 slots = fuzz_range(0, INT_SLOTS_MAX);
	struct int_hdr *h;
	u32 i;

	if (!fuzz_choice(8)) {
		*bytes = fuzz_range(0, 160);
		return (struct int_hdr *)fuzz_buffer(*bytes);
	}
	*bytes = int_hdr_bytes(slots);
	h = malloc(*bytes);
	int_write(h, fuzz_byte(), fuzz_range(INT_TYPE_DATA, INT_TYPE_ECHO), fuzz_byte(),
		  slots);
	h->path = cpu_to_be32(fuzz_u32());
	for (i = 0; i < slots; i++)
		h->record[i] = cpu_to_be64(fuzz_u64());
	return h;
}

#endif /* HOPCC_SELFTESTS_FUZZ_INT_HEADER_H */
