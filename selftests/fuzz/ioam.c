// SPDX-License-Identifier: GPL-2.0
/* The IOAM trace: what the parser accepts is within the header; hops never write outside of it. */
#include "fuzz.h"
#include <hopcc/wire/ioam.h>

static u32 walk(const struct ioam_view *v, const u8 *hdr)
{
	u32 at_bytes = 0, hops = 0;

	while (ioam_next(v, hdr, &at_bytes)) {
		FUZZ_CLAIM(at_bytes <= v->stack_bytes);
		hops++;
	}
	return hops;
}

static struct ioam_node draw_node(const u8 *opaque)
{
	struct ioam_node n = { .schema = fuzz_range(0, IOAM_SCHEMA_MAX), .opaque = opaque };
	u32 i;

	n.opaque_words = fuzz_range(0, 8);
	for (i = 0; i < IOAM_FIELDS; i++)
		n.value[i] = fuzz_byte();
	return n;
}

/* Hops add their data until the trace is full. */
static void check_filled(struct ioam_view *v, u8 *hdr, u32 bytes)
{
	static const u8 opaque[32];
	const u16 ns = v->ns;
	struct ioam_view again;

	while (fuzz_has_more()) {
		const struct ioam_node n = draw_node(opaque);
		const u32 hops = v->hops;

		if (ioam_fill(v, hdr, &n))
			FUZZ_CLAIM(v->hops == hops + 1);
		else
			FUZZ_CLAIM(v->hops == hops && v->flags & IOAM_FLAG_OVERFLOW);
		FUZZ_CLAIM(ioam_parse(&again, hdr, bytes, ns) == IOAM_OK);
		FUZZ_CLAIM(!memcmp(&again, v, sizeof(again)));
		ioam_complete(v, hdr, n.value[IOAM_NODE], fuzz_byte(), fuzz_byte());
	}
}

static void check_read(void)
{
	const u32 bytes = fuzz_range(0, 300);
	const int ns = fuzz_flag() ? -1 : (int)fuzz_range(0, U16_MAX);
	u8 *hdr = fuzz_buffer(bytes);
	struct ioam_view v;

	if (ioam_parse(&v, hdr, bytes, ns) == IOAM_OK) {
		FUZZ_CLAIM(v.hdr_bytes <= bytes);
		FUZZ_CLAIM(v.stack_offset + v.stack_bytes <= v.hdr_bytes);
		FUZZ_CLAIM(v.node_words <= IOAM_NODE_MAX_WORDS && v.hops <= IOAM_HOPS_MAX);
		FUZZ_CLAIM(walk(&v, hdr) == v.hops);
		FUZZ_CLAIM(ns < 0 || v.ns == ns);
	}
	free(hdr);
}

static void check_written(void)
{
	const u32 data_bytes = fuzz_range(0, IOAM_DATA_MAX_BYTES / 4) * 4;
	const u32 trace = (fuzz_u32() & IOAM_KNOWN_BITS) ?: IOAM_HPCC_BITS;
	const u32 bytes = ioam_hdr_bytes(data_bytes);
	u8 *hdr = malloc(bytes);
	struct ioam_view v;

	FUZZ_CLAIM(ioam_write(hdr, fuzz_byte(), fuzz_range(0, U16_MAX), trace, data_bytes) ==
		   bytes);
	FUZZ_CLAIM(ioam_parse(&v, hdr, bytes, -1) == IOAM_OK);
	FUZZ_CLAIM(v.hdr_bytes == bytes && !v.hops && v.trace == trace);
	check_filled(&v, hdr, bytes);
	free(hdr);
}

static void fuzz_once(void)
{
	if (fuzz_flag())
		check_read();
	else
		check_written();
}
