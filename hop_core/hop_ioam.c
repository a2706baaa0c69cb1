// SPDX-License-Identifier: GPL-2.0
/* Reads and writes hop-by-hop headers with an IOAM trace; hopcc/wire/ioam.h. */
#include <linux/export.h>
#include <hopcc/wire/ioam.h>

/* Length of a hop's data with its opaque state; 0 if it exceeds @room_bytes. */
static u32 hop_ioam_node_bytes(const struct ioam_view *v, const u8 *node, u32 room_bytes)
{
	u32 bytes = v->node_words * IOAM_WORD_BYTES;

	if (v->trace & IOAM_BIT(IOAM_OPAQUE)) {
		if (bytes + IOAM_WORD_BYTES > room_bytes)
			return 0;
		bytes += IOAM_WORD_BYTES + node[bytes] * IOAM_WORD_BYTES;
	}
	return bytes > room_bytes ? 0 : bytes;
}

/**
 * hop_ioam_next() - walk the hops, the newest first
 * @v: valid header
 * @hdr: the extension header
 * @at_bytes: position in the stack, at first 0; updated
 *
 * Return: the data of the next hop; NULL at the end.
 */
static const u8 *hop_ioam_next(const struct ioam_view *v, const u8 *hdr, u32 *at_bytes)
{
	const u8 *node = hdr + v->stack_offset + *at_bytes;
	u32 bytes;

	if (*at_bytes >= v->stack_bytes)
		return NULL;
	bytes = hop_ioam_node_bytes(v, node, v->stack_bytes - *at_bytes);
	*at_bytes += bytes;
	return bytes ? node : NULL;
}

/* Counts the hops. Each has at least one word, so the loop has at most IOAM_HOPS_MAX turns. */
static enum ioam_fault hop_ioam_parse_stack(struct ioam_view *v, const u8 *hdr)
{
	u32 at_bytes = 0;

	while (hop_ioam_next(v, hdr, &at_bytes))
		v->hops++;
	return at_bytes == v->stack_bytes ? IOAM_OK : IOAM_BAD_STACK;
}

static enum ioam_fault hop_ioam_parse_trace(struct ioam_view *v, const u8 *hdr)
{
	const struct ioam_option *opt = (const struct ioam_option *)(hdr + v->opt_offset);
	u32 data_bytes, lengths, trace;

	if (opt->bytes + IOAM_TLV_BYTES < IOAM_DATA_OFFSET)
		return IOAM_BAD_LENGTH;
	data_bytes = opt->bytes + IOAM_TLV_BYTES - IOAM_DATA_OFFSET;
	v->ns = be16_to_cpu(opt->ns);
	lengths = be16_to_cpu(opt->lengths);
	/* RFC 9197: bit 23 is ignored. */
	trace = be32_to_cpu(opt->trace) >> 8 & ~1U;
	v->flags = lengths >> 7 & 0xf;
	v->node_words = lengths >> 11;
	v->remaining_words = lengths & 0x7f;
	v->trace = trace;
	if (data_bytes % IOAM_WORD_BYTES)
		return IOAM_BAD_LENGTH;
	if (!trace || trace & ~IOAM_KNOWN_BITS)
		return IOAM_BAD_TYPE;
	if (v->node_words * IOAM_WORD_BYTES != hop_ioam_field_offset(trace, IOAM_FIELDS))
		return IOAM_BAD_NODE_LEN;
	if (v->remaining_words * IOAM_WORD_BYTES > data_bytes)
		return IOAM_BAD_REMAINING;
	v->stack_bytes = data_bytes - v->remaining_words * IOAM_WORD_BYTES;
	v->stack_offset = v->opt_offset + IOAM_DATA_OFFSET +
			  v->remaining_words * IOAM_WORD_BYTES;
	return hop_ioam_parse_stack(v, hdr);
}

/* Return: true if the option, which is within the header, is a trace. */
static bool hop_ioam_is_trace(const u8 *option)
{
	const struct ioam_option *opt = (const struct ioam_option *)option;

	/* The shortest option that has the IOAM type; its namespace may be missing. */
	return opt->type == IOAM_OPTION && opt->bytes >= 2 &&
	       opt->ioam_type == IOAM_TYPE_PREALLOCATED;
}

enum ioam_fault hop_ioam_parse(struct ioam_view *v, const u8 *hdr, u32 room_bytes)
{
	u32 at = IOAM_HBH_BYTES, options;

	memset(v, 0, sizeof(*v));
	if (room_bytes < IOAM_HBH_BYTES)
		return IOAM_BAD_TRUNCATED;
	v->hdr_bytes = (hdr[1] + 1U) * 8;
	if (v->hdr_bytes > room_bytes)
		return IOAM_BAD_TRUNCATED;
	for (options = 0; at < v->hdr_bytes; ) {
		if (hdr[at] == IOAM_PAD1) {
			at++;
			continue;
		}
		if (++options > IOAM_OPTIONS_MAX || at + IOAM_TLV_BYTES > v->hdr_bytes ||
		    at + IOAM_TLV_BYTES + hdr[at + 1] > v->hdr_bytes)
			return IOAM_BAD_OPTIONS;
		if (hop_ioam_is_trace(hdr + at)) {
			v->opt_offset = at;
			return hop_ioam_parse_trace(v, hdr);
		}
		at += IOAM_TLV_BYTES + hdr[at + 1];
	}
	return IOAM_NONE;
}
EXPORT_SYMBOL_GPL(hop_ioam_parse);

/**
 * hop_ioam_hdr_bytes() - length of a hop-by-hop header with a trace
 * @data_bytes: room for the data of the hops
 *
 * Two bytes of padding align the option to 4 bytes; padding behind it aligns the header's end to 8.
 *
 * Return: bytes.
 */
static u32 hop_ioam_hdr_bytes(u32 data_bytes)
{
	return (IOAM_HBH_BYTES + 2 + IOAM_DATA_OFFSET + data_bytes + 7) & ~7U;
}

/**
 * hop_ioam_write() - source: write a hop-by-hop header with an empty trace
 * @hdr: position of the header; has room for hop_ioam_hdr_bytes(@data_bytes)
 * @next: protocol that follows
 * @ns: namespace ID
 * @trace: trace type, of IOAM_KNOWN_BITS, not 0
 * @data_bytes: room for the data of the hops, a multiple of 4, up to IOAM_DATA_MAX_BYTES
 *
 * Return: length of the header.
 */
static u32 hop_ioam_write(u8 *hdr, u8 next, u16 ns, u32 trace, u32 data_bytes)
{
	const u32 bytes = hop_ioam_hdr_bytes(data_bytes), opt_offset = IOAM_HBH_BYTES + 2;
	const u32 end = opt_offset + IOAM_DATA_OFFSET + data_bytes;
	const u32 words = hop_ioam_field_offset(trace, IOAM_FIELDS) / IOAM_WORD_BYTES;
	struct ioam_option *opt = (struct ioam_option *)(hdr + opt_offset);

	memset(hdr, 0, bytes);
	hdr[0] = next;
	hdr[1] = bytes / 8 - 1;
	hdr[IOAM_HBH_BYTES] = IOAM_PADN;
	opt->type = IOAM_OPTION;
	opt->bytes = IOAM_DATA_OFFSET - IOAM_TLV_BYTES + data_bytes;
	opt->ioam_type = IOAM_TYPE_PREALLOCATED;
	opt->ns = cpu_to_be16(ns);
	opt->lengths = cpu_to_be16(words << 11 | data_bytes / IOAM_WORD_BYTES);
	opt->trace = cpu_to_be32(trace << 8);
	/* The space behind the option is 0 or 4 bytes. */
	if (end < bytes) {
		hdr[end] = IOAM_PADN;
		hdr[end + 1] = bytes - end - IOAM_TLV_BYTES;
	}
	return bytes;
}

/*
 * Number of bytes in front of the first option that is no padding; at most the length of the
 * header.
 */
static u32 hop_ioam_first_option(const u8 *hdr)
{
	const u32 bytes = (hdr[1] + 1U) * 8;
	u32 at = IOAM_HBH_BYTES;

	while (at < bytes && (hdr[at] == IOAM_PAD1 || hdr[at] == IOAM_PADN)) {
		if (hdr[at] == IOAM_PAD1)
			at++;
		else
			at += at + 1 < bytes ? IOAM_TLV_BYTES + hdr[at + 1] : 1;
	}
	return min(at, bytes);
}

u32 hop_ioam_insert_bytes(u32 data_bytes, const u8 *old)
{
	u32 first;

	if (!old)
		return hop_ioam_hdr_bytes(data_bytes);
	first = hop_ioam_first_option(old);
	return hop_ioam_hdr_bytes(data_bytes) + first % 8 + (old[1] + 1U) * 8 - first;
}
EXPORT_SYMBOL_GPL(hop_ioam_insert_bytes);

u32 hop_ioam_insert(u8 *hdr, const u8 *old, u8 next, u16 ns, u32 trace, u32 data_bytes)
{
	u32 bytes = hop_ioam_write(hdr, next, ns, trace, data_bytes), first, i;

	if (!old)
		return bytes;
	first = hop_ioam_first_option(old);
	if (first % 8 == 1)
		hdr[bytes] = IOAM_PAD1;
	for (i = 0; first % 8 > 1 && i < first % 8; i++)
		hdr[bytes + i] = i ? 0 : IOAM_PADN;
	if (first % 8 > 1)
		hdr[bytes + 1] = first % 8 - IOAM_TLV_BYTES;
	bytes += first % 8;
	memcpy(hdr + bytes, old + first, (old[1] + 1U) * 8 - first);
	bytes += (old[1] + 1U) * 8 - first;
	hdr[0] = old[0];
	hdr[1] = bytes / 8 - 1;
	return bytes;
}
EXPORT_SYMBOL_GPL(hop_ioam_insert);
