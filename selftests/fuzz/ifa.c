// SPDX-License-Identifier: GPL-2.0
/* IFA: what the parser accepts is within the packet, and what is written reads as written. */
#include "fuzz.h"
#include <hopcc/wire/ifa.h>

static struct ifa_params draw_params(void)
{
	return (struct ifa_params) {
		.tcp_bytes = fuzz_flag() ? fuzz_range(IFA_TCP_MIN_BYTES, 60) : 0,
		.md_counted = fuzz_flag(),
	};
}

static void check_view(const struct ifa_view *v, u32 room_bytes)
{
	FUZZ_CLAIM((u32)v->stack_offset + v->stack_bytes <= room_bytes);
	/* net_int makes these bytes linear and writable before it reads and removes the headers. */
	FUZZ_CLAIM((u32)v->stack_offset + v->stack_bytes <= IFA_HEADERS_MAX_BYTES);
	FUZZ_CLAIM(v->stack_bytes <= v->max_words * IFA_WORD_BYTES);
	FUZZ_CLAIM(v->stack_bytes % IFA_WORD_BYTES == 0);
	FUZZ_CLAIM(IFA_HDR_BYTES + v->l4_bytes + v->shim_bytes == v->stack_offset + v->stack_bytes);
	FUZZ_CLAIM(v->next == IFA_NEXT_TCP || v->next == IFA_NEXT_UDP);
}

static void check_read(const struct ifa_params *p)
{
	const u32 bytes = fuzz_range(0, 400);
	u8 *packet = fuzz_buffer(bytes);
	struct ifa_view v;

	if (ifa_parse(&v, p, packet, bytes) == IFA_OK)
		check_view(&v, bytes);
	free(packet);
}

/* Hops insert metadata until it is not allowed or there is no room. */
static void check_written(const struct ifa_params *p)
{
	const u32 room_bytes = fuzz_range(16, 600), max_words = fuzz_byte();
	u32 bytes = 16, sum = 0, words, more;
	u8 *packet = calloc(1, room_bytes), node[128];
	struct ifa_view v;

	ifa_write_hdr((struct ifa_hdr *)packet, fuzz_byte(), IFA_NEXT_UDP, max_words);
	ifa_write_md((struct ifa_md *)(packet + 12), p, fuzz_byte(), fuzz_byte());
	FUZZ_CLAIM(ifa_parse(&v, p, packet, bytes) == IFA_OK);
	while (fuzz_has_more()) {
		words = fuzz_range(1, sizeof(node) / 4);
		memset(node, words, sizeof(node));
		more = ifa_insert(&v, packet, bytes, room_bytes, node, words);
		FUZZ_CLAIM(more == bytes || more == bytes + words * 4);
		sum += more > bytes ? words : 0;
		bytes = more;
		/* The current length has eight bits, with the header or without it. */
		if (p->md_counted && sum == IFA_WORDS_MAX)
			break;
		FUZZ_CLAIM(ifa_parse(&v, p, packet, bytes) == IFA_OK);
		FUZZ_CLAIM(v.stack_bytes == sum * 4 && sum <= max_words);
		check_view(&v, bytes);
	}
	FUZZ_CLAIM(ifa_parse(&v, p, packet, bytes - 1) == IFA_BAD_TRUNCATED ||
		   (p->md_counted && sum == IFA_WORDS_MAX));
	free(packet);
}

static void fuzz_once(void)
{
	const struct ifa_params p = draw_params();

	if (fuzz_flag())
		check_read(&p);
	else
		check_written(&p);
}
