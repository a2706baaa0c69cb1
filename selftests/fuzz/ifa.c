// SPDX-License-Identifier: GPL-2.0
/* IFA: what the parser accepts is within the packet, and what is written reads as written. */
#include "fuzz.h"
#include "hop_ifa.c"

static void check_view(const struct ifa_view *v, u32 room_bytes)
{
	FUZZ_CLAIM((u32)v->stack_offset + v->stack_bytes <= room_bytes);
	/* net_tlm makes these bytes linear and writable before it reads and removes the headers. */
	FUZZ_CLAIM((u32)v->stack_offset + v->stack_bytes <= IFA_HEADERS_MAX_BYTES);
	FUZZ_CLAIM(v->stack_bytes <= v->max_words * IFA_WORD_BYTES);
	FUZZ_CLAIM(v->stack_bytes % IFA_WORD_BYTES == 0);
	FUZZ_CLAIM(IFA_HDR_BYTES + v->l4_bytes + v->shim_bytes == v->stack_offset + v->stack_bytes);
	FUZZ_CLAIM(v->next == IFA_NEXT_TCP || v->next == IFA_NEXT_UDP);
}

static void check_read(void)
{
	const u32 bytes = fuzz_range(0, 400);
	u8 *packet = fuzz_buffer(bytes);
	struct ifa_view v;

	if (hop_ifa_parse(&v, packet, bytes) == IFA_OK)
		check_view(&v, bytes);
	free(packet);
}

/* Hops count metadata until it is not allowed. */
static void check_written(void)
{
	const u32 max_words = fuzz_byte(), room_bytes = 16 + max_words * IFA_WORD_BYTES;
	u8 *packet = calloc(1, room_bytes);
	struct ifa_view v;
	u32 sum = 0, words;

	ifa_write_hdr((struct ifa_hdr *)packet, fuzz_byte(), IFA_NEXT_UDP, max_words);
	ifa_write_md((struct ifa_md *)(packet + 12), fuzz_byte());
	FUZZ_CLAIM(hop_ifa_parse(&v, packet, 16) == IFA_OK);
	while (fuzz_has_more()) {
		words = fuzz_range(1, 32);
		if (!ifa_may_insert(&v, words))
			break;
		ifa_count((struct ifa_md *)(packet + v.md_offset), words);
		sum += words;
		FUZZ_CLAIM(hop_ifa_parse(&v, packet, room_bytes) == IFA_OK);
		FUZZ_CLAIM(v.stack_bytes == sum * 4 && sum <= max_words);
		check_view(&v, room_bytes);
	}
	FUZZ_CLAIM(hop_ifa_parse(&v, packet, 15 + 4 * sum) == IFA_BAD_TRUNCATED);
	free(packet);
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		check_read();
	else
		check_written();
}
