// SPDX-License-Identifier: GPL-2.0
/* Reads and writes the headers of INT-MD; hopcc/wire/int_md.h. */
#include <linux/export.h>
#include <hopcc/wire/int_md.h>

static u16 hop_intmd_original(u8 npt, u16 field)
{
	if (npt == INTMD_NPT_DSCP)
		return field >> INTMD_DSCP_SHIFT & 0x3f;
	return npt == INTMD_NPT_PROTOCOL ? field & 0xff : field;
}

/* Checks the header, which is within the packet. */
static enum intmd_fault hop_intmd_parse_hdr(struct intmd_view *v, const struct intmd_hdr *h)
{
	const u32 first = be32_to_cpu(h->first);

	if (first >> 28 != INTMD_VERSION)
		return INTMD_BAD_VERSION;
	v->flags = first >> 25 & 0x7;
	v->hop_words = first >> 8 & 0x1f;
	v->remaining_hops = first & 0xff;
	v->bitmap = be16_to_cpu(h->bitmap);
	v->domain = be16_to_cpu(h->domain);
	if (v->bitmap & ~INTMD_KNOWN_BITS)
		return INTMD_BAD_BITMAP;
	if (!v->hop_words ||
	    v->hop_words * INTMD_WORD_BYTES < hop_intmd_field_offset(v->bitmap, INTMD_BITS))
		return INTMD_BAD_HOP_ML;
	if (v->stack_bytes % (v->hop_words * INTMD_WORD_BYTES))
		return INTMD_BAD_STACK;
	v->hops = v->stack_bytes / (v->hop_words * INTMD_WORD_BYTES);
	return INTMD_OK;
}

enum intmd_fault hop_intmd_parse(struct intmd_view *v, const u8 *shim, u32 room_bytes)
{
	const struct intmd_hdr *h = (const struct intmd_hdr *)shim;

	memset(v, 0, sizeof(*v));
	if (room_bytes < INTMD_SHIM_BYTES)
		return INTMD_BAD_TRUNCATED;
	if (h->type_npt >> 4 != INTMD_SHIM_TYPE)
		return INTMD_BAD_TYPE;
	v->npt = h->type_npt >> 2 & 3;
	if (v->npt > INTMD_NPT_MAX)
		return INTMD_BAD_NPT;
	if (h->words < INTMD_HDR_WORDS)
		return INTMD_BAD_LENGTH;
	v->shim_bytes = INTMD_SHIM_BYTES + h->words * INTMD_WORD_BYTES;
	if (v->shim_bytes > room_bytes)
		return INTMD_BAD_TRUNCATED;
	v->stack_bytes = v->shim_bytes - INTMD_STACK_OFFSET;
	v->original = hop_intmd_original(v->npt, be16_to_cpu(h->original));
	return hop_intmd_parse_hdr(v, h);
}
EXPORT_SYMBOL_GPL(hop_intmd_parse);

void hop_intmd_write(struct intmd_hdr *h, u8 npt, u16 original, u16 bitmap, u16 domain,
		     u8 remaining_hops)
{
	const u32 hop_words = hop_intmd_field_offset(bitmap, INTMD_BITS) / INTMD_WORD_BYTES;

	if (npt == INTMD_NPT_DSCP)
		original <<= INTMD_DSCP_SHIFT;
	*h = (struct intmd_hdr) {
		.type_npt = INTMD_SHIM_TYPE << 4 | npt << 2,
		.words = INTMD_HDR_WORDS,
		.original = cpu_to_be16(original),
		.first = cpu_to_be32((u32)INTMD_VERSION << 28 | hop_words << 8 | remaining_hops),
		.bitmap = cpu_to_be16(bitmap),
		.domain = cpu_to_be16(domain),
	};
}
EXPORT_SYMBOL_GPL(hop_intmd_write);
