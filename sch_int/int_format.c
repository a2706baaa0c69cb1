// SPDX-License-Identifier: GPL-2.0
/* Metadata of this hop in the telemetry of other switches; see int_format.h. */
#include "int_format.h"

static u8 *sint_put_u32(u8 *at, u32 value)
{
	const __be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

/* Return: speed code of Trident3 */
static u32 sint_ifa_speed(u32 mbit_ps)
{
	static const u32 speeds_mbit_ps[] = { 10000, 25000, 40000, 50000, 100000, 200000, 400000 };
	u32 code;

	for (code = 0; code < ARRAY_SIZE(speeds_mbit_ps); code++)
		if (speeds_mbit_ps[code] == mbit_ps)
			return code;
	return SINT_IFA_SPEED_UNKNOWN;
}

void sint_ifa_node(u8 *at, const struct sint_node *n)
{
	const u32 queue_bytes = min_t(u64, n->scaled_queue_bytes, U32_MAX);
	u64 seconds;
	u32 ns;

	seconds = div_u64_rem(n->now_ns - min(n->waited_ns, n->now_ns), SINT_NS_PER_S, &ns);
	at = sint_put_u32(at, (n->id & SINT_IFA_NODE_MAX) << 8 | n->ttl);
	at = sint_put_u32(at, sint_ifa_speed(n->mbit_ps) << 28 |
			      ((u32)seconds & SINT_IFA_SECONDS_MASK));
	at = sint_put_u32(at, (u32)n->egress << 16 | n->ingress);
	at = sint_put_u32(at, ns);
	at = sint_put_u32(at, min_t(u64, n->waited_ns, SINT_NS_PER_S - 1));
	at = sint_put_u32(at, n->scaled_tx_bytes);
	at = sint_put_u32(at, queue_bytes);
	sint_put_u32(at, queue_bytes);
}

/* Return: a word of the newest node data */
static u32 sint_ioam_word(const struct ioam_view *v, const u8 *hdr, enum ioam_bit bit)
{
	__be32 word;

	memcpy(&word, hdr + v->stack_offset + hop_ioam_field_offset(v->trace, bit), sizeof(word));
	return be32_to_cpu(word);
}

/* Return: true if the newest data has this field, of one word, with a value */
static bool sint_ioam_has(const struct ioam_view *v, const u8 *hdr, enum ioam_bit bit)
{
	return v->trace & IOAM_BIT(bit) && sint_ioam_word(v, hdr, bit) != U32_MAX;
}

/**
 * sint_ioam_delay() - time since the router received the packet
 * @v: valid header, with data of this router
 * @hdr: the extension header
 * @n: values
 *
 * The stock node writes the time at which it received the packet, with a resolution of 1 us. If it
 * did not, or if the clock was set since, the delay is the time in the qdisc.
 *
 * Return: transit delay, ns, as in RFC 9197.
 */
static u32 sint_ioam_delay(const struct ioam_view *v, const u8 *hdr, const struct sint_node *n)
{
	u64 delay_ns = n->waited_ns;
	s64 since_ns;

	if (sint_ioam_has(v, hdr, IOAM_SECONDS) && sint_ioam_has(v, hdr, IOAM_FRACTION)) {
		since_ns = n->real_ns;
		since_ns -= (u64)sint_ioam_word(v, hdr, IOAM_SECONDS) * SINT_NS_PER_S;
		since_ns -= (u64)sint_ioam_word(v, hdr, IOAM_FRACTION) * SINT_NS_PER_US;
		if (since_ns >= 0 && since_ns <= SINT_IOAM_DELAY_MAX_NS)
			delay_ns = max_t(u64, delay_ns, since_ns);
	}
	return min_t(u64, delay_ns, SINT_IOAM_DELAY_OVERFLOW);
}

/* Write the record into the newest node's opaque state if that has our schema and its length. */
static void sint_ioam_opaque(const struct ioam_view *v, u8 *hdr, const struct sint_node *n)
{
	u8 *opaque = hdr + v->stack_offset + v->node_words * IOAM_WORD_BYTES;
	__be32 word;

	if (!(v->trace & IOAM_BIT(IOAM_OPAQUE)))
		return;
	memcpy(&word, opaque, sizeof(word));
	if ((be32_to_cpu(word) & IOAM_SCHEMA_MAX) == n->schema && opaque[0] == SINT_RECORD_WORDS)
		memcpy(opaque + IOAM_WORD_BYTES, &n->record, sizeof(n->record));
}

bool sint_ioam_is_ours(const struct ioam_view *v, const u8 *hdr, const struct sint_node *n)
{
	return v->hops && v->trace & IOAM_BIT(IOAM_NODE) &&
	       (sint_ioam_word(v, hdr, IOAM_NODE) & SINT_NODE_MAX) == n->id;
}

/*
 * Overwrites a field, of one word, if the trace has it. The router's own stack has filled in the
 * trace when it received the packet; what is known only now replaces the value from then.
 */
static void sint_ioam_set(const struct ioam_view *v, u8 *hdr, enum ioam_bit bit, u32 value)
{
	if (v->trace & IOAM_BIT(bit))
		sint_put_u32(hdr + v->stack_offset + hop_ioam_field_offset(v->trace, bit), value);
}

void sint_ioam_write(const struct ioam_view *v, u8 *hdr, const struct sint_node *n)
{
	sint_ioam_set(v, hdr, IOAM_TRANSIT_DELAY, sint_ioam_delay(v, hdr, n));
	sint_ioam_set(v, hdr, IOAM_QUEUE_DEPTH, min_t(u64, n->queue_bytes, U32_MAX - 1));
	sint_ioam_opaque(v, hdr, n);
}

/* Values of this hop by bit of INT-MD's bitmap; all ones: not available. */
static void sint_intmd_values(u64 *value, const struct sint_node *n)
{
	const u32 queue_bytes = min_t(u64, n->queue_bytes, SINT_INTMD_QUEUE_MAX);

	memset(value, 0xff, INTMD_BITS * sizeof(*value));
	value[INTMD_NODE] = n->id;
	value[INTMD_PORTS] = (u32)n->ingress << 16 | n->egress;
	value[INTMD_LATENCY] = min_t(u64, n->waited_ns, U32_MAX - 1);
	value[INTMD_QUEUE] = queue_bytes;
	value[INTMD_INGRESS_TIME] = n->now_ns - min(n->waited_ns, n->now_ns);
	value[INTMD_EGRESS_TIME] = n->now_ns;
	value[INTMD_UTIL] = n->util_ppm;
	value[INTMD_BUFFER] = queue_bytes;
}

void sint_intmd_node(u8 *at, const struct intmd_view *v, const struct sint_node *n)
{
	u8 *const end = at + v->hop_words * INTMD_WORD_BYTES;
	u64 value[INTMD_BITS];
	u32 i;

	sint_intmd_values(value, n);
	for (i = 0; i < INTMD_BITS; i++) {
		if (!(v->bitmap & INTMD_BIT(i)))
			continue;
		if (INTMD_WIDE_BITS & INTMD_BIT(i))
			at = sint_put_u32(at, value[i] >> 32);
		at = sint_put_u32(at, value[i]);
	}
	memset(at, 0xff, end - at);
}

u32 sint_util_ppm(struct sint_util *u, u64 now_ns, u64 tx_bytes, u64 rate_bytes_ps)
{
	u64 passed_ns = now_ns - u->since_ns, sent_bytes = tx_bytes - u->tx_bytes, sent_ppm;

	if (passed_ns < SINT_UTIL_WINDOW_NS)
		return u->ppm;
	while (passed_ns > SINT_UTIL_MAX_NS || sent_bytes > SINT_UTIL_MAX_BYTES) {
		passed_ns >>= 1;
		sent_bytes >>= 1;
	}
	sent_ppm = div64_u64(sent_bytes * SINT_PPM,
			     max_t(u64, 1, mul_u64_u64_div_u64(passed_ns, rate_bytes_ps,
							       SINT_NS_PER_S)));
	u->ppm = min_t(u64, sent_ppm, U32_MAX - 1);
	u->since_ns = now_ns;
	u->tx_bytes = tx_bytes;
	return u->ppm;
}
