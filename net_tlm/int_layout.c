// SPDX-License-Identifier: GPL-2.0
/* Layouts of telemetry of other vendors, and what they yield; see int_layout.h. */
#include "int_layout.h"

/**
 * ntlm_get_bits() - read a field
 * @data: the data; need not be aligned
 * @bit: position of the field's most significant bit
 * @width: 1 to TLM_WIDTH_MAX
 *
 * Return: the value. Only the bytes that have bits of the field are read, at most eight.
 */
static u64 ntlm_get_bits(const u8 *data, u32 bit, u32 width)
{
	const u32 end = bit + width;
	u32 i = bit / 8;
	u64 value;

	value = data[i] & 0xff >> bit % 8;
	for (i++; i * 8 < end; i++)
		value = value << 8 | data[i];
	return value >> (i * 8 - end);
}

/* The value at which a scaled counter wraps, exact: ntlm_check_field() demands that. */
static u64 ntlm_period(const struct int_layout_field *f)
{
	return (u64)f->mul << (f->width - f->shift);
}

/**
 * struct ntlm_node - metadata of a hop
 * @l: layout of the hop, validated
 * @data: the metadata, as long as ntlm_node_bytes() says
 * @element_at: positions of the elements
 */
struct ntlm_node {
	const struct int_layout *l;
	const u8 *data;
	const u8 *element_at;
};

/* Reads a scaled field into @value. Return: false if the hop does not have it. */
static bool ntlm_read(const struct ntlm_node *n, enum int_layout_field_id id, u64 *value)
{
	const struct int_layout_field *f = &n->l->field[id];
	u64 raw;

	if (!f->width)
		return false;
	raw = ntlm_get_bits(n->data + n->element_at[f->element], f->bit, f->width);
	*value = mul_u64_u32_shr(raw, f->mul, f->shift);
	return !f->ones_missing || raw != (1ULL << f->width) - 1;
}

/* A 32-bit value, saturated. */
static void ntlm_read_u32(struct tlm_record *r, u32 *to, const struct ntlm_node *n,
			  enum int_layout_field_id id)
{
	u64 value;

	if (!ntlm_read(n, id, &value))
		return;
	*to = min_t(u64, value, U32_MAX);
	r->has |= TLM_HAS(id);
}

/* Marks a value as implausible; it counts as missing. */
static void ntlm_reject(struct tlm_record *r, enum int_layout_field_id id, u16 bad)
{
	r->has &= ~TLM_HAS(id);
	r->bad |= bad;
}

/* The order of ports. */
static u64 ntlm_port_key(const struct int_layout_port *port)
{
	return (u64)port->node_id << 32 | port->port_id;
}

/**
 * ntlm_port_mbit() - find the configured speed of a port
 * @t: table
 * @node_id: ID of the node
 * @port_id: ID of the egress port
 *
 * Return: Mbit/s; 0 if it is not configured.
 */
static u32 ntlm_port_mbit(const struct tlm_table *t, u32 node_id, u32 port_id)
{
	const u64 key = (u64)node_id << 32 | port_id;
	u32 lo = 0, hi = t->ports;

	while (lo < hi) {
		const u32 at = lo + (hi - lo) / 2;
		const u64 found = ntlm_port_key(&t->port[at]);

		if (found == key)
			return t->port[at].mbit_ps;
		if (found < key)
			lo = at + 1;
		else
			hi = at;
	}
	return 0;
}

/* Speed of the port: as configured for it, as the hop reports it, or as configured for all. */
static void ntlm_read_speed(struct tlm_record *r, const struct tlm_table *t,
			    const struct ntlm_node *n)
{
	const struct int_layout *l = n->l;
	u64 value = 0;

	if (ntlm_read(n, INT_LAYOUT_SPEED, &value) && l->flags & INT_LAYOUT_F_CODE)
		value = l->speed_mbit[value & (INT_LAYOUT_SPEEDS - 1)];
	if (value > TLM_MBIT_MAX)
		value = 0;
	if (t->ports && r->has & TLM_HAS(INT_LAYOUT_PORT))
		r->mbit_ps = ntlm_port_mbit(t, r->node_id, r->port_id);
	if (!r->mbit_ps)
		r->mbit_ps = value ? value : l->mbit_ps;
	if (r->mbit_ps)
		r->has |= TLM_HAS(INT_LAYOUT_SPEED);
	else
		r->bad |= TLM_BAD_SPEED;
}

static void ntlm_read_residence(struct tlm_record *r, const struct ntlm_node *n)
{
	ntlm_read_u32(r, &r->residence_ns, n, INT_LAYOUT_RESIDENCE);
	if (r->residence_ns >= TLM_NS_PER_S && n->l->flags & INT_LAYOUT_F_RESIDENCE_REDUCE)
		r->residence_ns -= TLM_NS_PER_S;
	if (r->residence_ns >= TLM_NS_PER_S)
		ntlm_reject(r, INT_LAYOUT_RESIDENCE, TLM_BAD_RESIDENCE);
}

/* The timestamp; TLM_HAS(INT_LAYOUT_NS) is set if all its parts are there. */
static void ntlm_read_time(struct tlm_record *r, const struct ntlm_node *n)
{
	const struct int_layout *l = n->l;
	u64 seconds;

	if (!ntlm_read(n, INT_LAYOUT_NS, &r->ts_ns))
		return;
	r->has |= TLM_HAS(INT_LAYOUT_NS);
	r->ts_res_ns = l->ts_res_ns;
	r->ts_period_ns = ntlm_period(&l->field[INT_LAYOUT_NS]);
	if (l->field[INT_LAYOUT_SECONDS].width) {
		if (!ntlm_read(n, INT_LAYOUT_SECONDS, &seconds))
			r->has &= ~TLM_HAS(INT_LAYOUT_NS);
		if (r->ts_ns >= TLM_NS_PER_S)
			ntlm_reject(r, INT_LAYOUT_NS, TLM_BAD_CLOCK);
		/* 2^32 * 10^9 < 2^62 */
		r->ts_ns += seconds * TLM_NS_PER_S;
		r->ts_period_ns = (u64)TLM_NS_PER_S << l->field[INT_LAYOUT_SECONDS].width;
	}
	if (!(l->flags & INT_LAYOUT_F_EGRESS_TIME) || !(r->has & TLM_HAS(INT_LAYOUT_RESIDENCE)))
		return;
	r->ts_ns += r->residence_ns;
	/* A clock of few bits may wrap more than once in a residence time. */
	if (r->ts_ns >= r->ts_period_ns)
		div64_u64_rem(r->ts_ns, r->ts_period_ns, &r->ts_ns);
}

static void ntlm_read_load(struct tlm_record *r, const struct ntlm_node *n)
{
	ntlm_read_u32(r, &r->queue_bytes, n, INT_LAYOUT_QUEUE);
	/* 125000 bytes a second for each Mbit/s */
	if (r->queue_bytes > TLM_QUEUE_MAX_BYTES ||
	    (r->mbit_ps && r->queue_bytes > r->mbit_ps * 125000ULL))
		ntlm_reject(r, INT_LAYOUT_QUEUE, TLM_BAD_QUEUE);
	ntlm_read_u32(r, &r->util, n, INT_LAYOUT_UTIL);
	if (r->util > TLM_UTIL_MAX)
		ntlm_reject(r, INT_LAYOUT_UTIL, TLM_BAD_UTIL);
	if (!ntlm_read(n, INT_LAYOUT_TX, &r->tx_bytes))
		return;
	r->has |= TLM_HAS(INT_LAYOUT_TX);
	r->tx_period_bytes = ntlm_period(&n->l->field[INT_LAYOUT_TX]);
	r->tx_refresh_ns = n->l->tx_refresh_ns;
}

/* Reduces the metadata of a hop. @t: for the speeds of ports */
static void ntlm_decode(struct tlm_record *r, const struct tlm_table *t, const struct ntlm_node *n)
{
	*r = (struct tlm_record){};
	ntlm_read_u32(r, &r->node_id, n, INT_LAYOUT_NODE);
	ntlm_read_u32(r, &r->port_id, n, INT_LAYOUT_PORT);
	ntlm_read_speed(r, t, n);
	ntlm_read_residence(r, n);
	ntlm_read_time(r, n);
	ntlm_read_load(r, n);
}

/**
 * ntlm_find_layout() - find the layout of a hop
 * @t: table
 * @s: the packet's metadata
 * @word: first word of the hop's metadata
 *
 * Return: the first layout that matches, or NULL.
 */
static const struct int_layout *ntlm_find_layout(const struct tlm_table *t,
						 const struct tlm_stack *s, u32 word)
{
	u32 i;

	for (i = 0; i < t->layouts; i++) {
		const struct int_layout *l = &t->layout[i];

		if (l->format == s->format && !((l->space ^ s->space) & l->space_mask) &&
		    !(l->type & ~s->type) && !((l->device ^ word) & l->device_mask))
			return l;
	}
	return NULL;
}

/*
 * One of our own records, which sch_int has written as the opaque state of an IOAM hop: it replaces
 * what the router wrote when it received the packet.
 */
static void ntlm_decode_opaque(struct tlm_record *r, const struct tlm_table *t,
			       const u8 *opaque)
{
	struct int_record own;
	__be64 packed;

	if (!t->schema || opaque[0] != INT_RECORD_BYTES / 4 ||
	    ntlm_get_bits(opaque, 8, 24) != t->schema)
		return;
	memcpy(&packed, opaque + 4, sizeof(packed));
	own = int_unpack(packed);
	if (!int_speeds[own.speed].mbit_ps)
		return;
	r->mbit_ps = int_speeds[own.speed].mbit_ps;
	r->ts_ns = own.ts_ns;
	r->ts_period_ns = INT_TS_MASK + 1;
	r->ts_res_ns = 1;
	r->tx_bytes = (u64)own.tx_units << int_speeds[own.speed].unit_shift;
	r->tx_period_bytes = (u64)(INT_TX_MASK + 1) << int_speeds[own.speed].unit_shift;
	r->tx_refresh_ns = 0;
	r->queue_bytes = own.qlen_units << int_speeds[own.speed].unit_shift;
	r->has |= TLM_HAS(INT_LAYOUT_SPEED) | TLM_HAS(INT_LAYOUT_NS) | TLM_HAS(INT_LAYOUT_TX) |
		  TLM_HAS(INT_LAYOUT_QUEUE);
	r->bad = 0;
}

/* Length of the next hop's metadata; 0 if the rest is shorter. */
static u32 ntlm_node_bytes(const struct tlm_stack *s, const struct int_layout *l, u32 at_bytes)
{
	const u32 room_bytes = s->bytes - at_bytes;
	u32 bytes = s->node_bytes;

	if (s->format == TLM_IFA)
		bytes = l ? l->node_words * 4U : TLM_IFA_BYTES_DEFAULT;
	if (s->opaque) {
		if (bytes + 4 > room_bytes)
			return 0;
		bytes += 4 + s->data[at_bytes + bytes] * 4U;
	}
	return bytes > room_bytes ? 0 : bytes;
}

/* Adds a hop's node and port to the hash of the path. */
static u32 ntlm_mix(u32 hash, const struct tlm_record *r)
{
	hash = (hash << 5 | hash >> 27) ^ (r->node_id * 0x9e3779b1U);
	return (hash << 5 | hash >> 27) ^ ((r->port_id + 1) * 0x85ebca6bU);
}

/* The records were collected from the newest hop; reverses their order. */
static void ntlm_reverse(struct tlm_path *path)
{
	u32 i, j;

	for (i = 0, j = path->records; i + 1 < j; i++) {
		const struct tlm_record first = path->record[i];

		path->record[i] = path->record[--j];
		path->record[j] = first;
	}
}

/* Return: true if a hop may have had no room: less is left than the last one took. */
static bool ntlm_lacks_room(const struct tlm_stack *s, u32 last_bytes)
{
	return s->full || (s->max_bytes && s->max_bytes - s->bytes < last_bytes);
}

bool ntlm_reduce(struct tlm_path *path, const struct tlm_table *t, const struct tlm_stack *s)
{
	u32 at = 0, hash = 0, bytes = 4;

	path->hops = 0;
	path->records = 0;
	path->bad = 0;
	for (; at < s->bytes && s->bytes - at >= 4; at += bytes) {
		struct ntlm_node n = { .data = s->data + at, .element_at = s->element_at };
		struct tlm_record r = { .bad = TLM_BAD_LAYOUT };

		n.l = ntlm_find_layout(t, s, ntlm_get_bits(n.data, 0, 32));
		bytes = ntlm_node_bytes(s, n.l, at);
		if (!bytes)
			break;
		if (n.l)
			ntlm_decode(&r, t, &n);
		if (s->opaque)
			ntlm_decode_opaque(&r, t, n.data + s->node_bytes);
		hash = ntlm_mix(hash, &r);
		path->bad |= r.bad;
		path->hops += path->hops < U8_MAX;
		if (path->records < TLM_HOPS_MAX)
			path->record[path->records++] = r;
	}
	path->full = ntlm_lacks_room(s, bytes) || path->hops > TLM_HOPS_MAX;
	path->path_id = (hash ^ hash >> 12 ^ hash >> 24) & 0xfff;
	ntlm_reverse(path);
	return at == s->bytes;
}

void ntlm_stack_ifa(struct tlm_stack *s, const struct ifa_view *v, const u8 *packet)
{
	*s = (struct tlm_stack) {
		.format = TLM_IFA,
		.full = !v->hop_limit,
		.max_bytes = v->max_words * IFA_WORD_BYTES,
		.space = v->gns,
		.data = packet + v->stack_offset,
		.bytes = v->stack_bytes,
	};
}

void ntlm_stack_ioam(struct tlm_stack *s, const struct ioam_view *v, const u8 *hdr)
{
	u32 i;

	*s = (struct tlm_stack) {
		.format = TLM_IOAM,
		.node_bytes = v->node_words * IOAM_WORD_BYTES,
		.opaque = v->trace & IOAM_BIT(IOAM_OPAQUE),
		.full = v->flags & IOAM_FLAG_OVERFLOW,
		.space = v->ns,
		.type = v->trace,
		.data = hdr + v->stack_offset,
		.bytes = v->stack_bytes,
	};
	for (i = 0; i < IOAM_FIELDS; i++)
		s->element_at[i] = hop_ioam_field_offset(v->trace, i);
}

void ntlm_stack_intmd(struct tlm_stack *s, const struct intmd_view *v, const u8 *shim)
{
	u32 i;

	*s = (struct tlm_stack) {
		.format = TLM_INT_MD,
		.node_bytes = v->hop_words * INTMD_WORD_BYTES,
		.full = v->flags & (INTMD_FLAG_E | INTMD_FLAG_M),
		.space = v->domain,
		.type = v->bitmap,
		.data = shim + INTMD_STACK_OFFSET,
		.bytes = v->stack_bytes,
	};
	for (i = 0; i < INTMD_BITS; i++)
		s->element_at[i] = hop_intmd_field_offset(v->bitmap, i);
}

/* Number of bits of an element; 0 if the layout's type does not have it. */
static u32 ntlm_element_bits(const struct int_layout *l, u32 element)
{
	const bool ioam = l->format == TLM_IOAM;
	u32 bit;

	if (l->format == TLM_IFA)
		return element ? 0 : l->node_words * 32U;
	if (element >= (ioam ? IOAM_FIELDS : INTMD_BITS))
		return 0;
	bit = ioam ? IOAM_BIT(element) : INTMD_BIT(element);
	if (!(l->type & bit))
		return 0;
	return (ioam ? IOAM_WIDE_BITS : INTMD_WIDE_BITS) & bit ? 64 : 32;
}

static const char *ntlm_check_key(const struct int_layout *l)
{
	const u32 space_max = l->format == TLM_IFA ? IFA_GNS_MAX : U16_MAX;
	const u32 known = l->format == TLM_IOAM ? IOAM_KNOWN_BITS : INTMD_KNOWN_BITS;

	if (l->format >= TLM_FORMATS)
		return "unknown format";
	if (l->space & ~l->space_mask || l->space_mask > space_max)
		return "space has bits outside of its mask, or more than the format has";
	if (l->type & ~(l->format == TLM_IFA ? 0 : known))
		return "type has undefined bits, or IFA a type";
	if (l->device & ~l->device_mask)
		return "device has bits outside of its mask";
	/* The first word is a node ID only if the type says so: bit 0 in both formats. */
	if (l->device_mask && l->format != TLM_IFA && !ntlm_element_bits(l, 0))
		return "a device needs a type with the node";
	if ((l->format == TLM_IFA) == !l->node_words)
		return "words are for IFA, and only for IFA";
	return NULL;
}

static const char *ntlm_check_field(const struct int_layout *l, enum int_layout_field_id id)
{
	const struct int_layout_field *f = &l->field[id];

	if (!f->width)
		return NULL;
	if (f->width > TLM_WIDTH_MAX ||
	    (id == INT_LAYOUT_SECONDS && f->width > TLM_SECONDS_WIDTH_MAX) ||
	    (id == INT_LAYOUT_SPEED && l->flags & INT_LAYOUT_F_CODE &&
	     f->width > TLM_SPEED_CODE_WIDTH))
		return "a field is too wide";
	if ((u32)f->bit + f->width > ntlm_element_bits(l, f->element))
		return "a field is not within an element that the type requires";
	if (!f->mul || f->shift > TLM_SHIFT_MAX ||
	    f->width + ilog2(f->mul) + 1 > TLM_VALUE_BITS + f->shift)
		return "a factor is 0, or a scaled value is too large";
	/* These wrap, at a whole number. */
	if ((id == INT_LAYOUT_TX || id == INT_LAYOUT_NS) && f->shift > f->width)
		return "a counter or a time does not wrap at a whole number";
	/* A code, an ID and seconds have no scale. */
	if ((id == INT_LAYOUT_SECONDS || id == INT_LAYOUT_NODE || id == INT_LAYOUT_PORT ||
	     (id == INT_LAYOUT_SPEED && l->flags & INT_LAYOUT_F_CODE)) && (f->mul != 1 || f->shift))
		return "a code, an ID and seconds have no scale";
	return NULL;
}

static const char *ntlm_check_values(const struct int_layout *l)
{
	u32 i;

	if (l->field[INT_LAYOUT_SECONDS].width && !l->field[INT_LAYOUT_NS].width)
		return "seconds without a fraction";
	if (!l->ts_res_ns || l->ts_res_ns > TLM_NS_PER_S)
		return "the resolution is 0 or above a second";
	if (l->mbit_ps > TLM_MBIT_MAX)
		return "the speed is above 1600000 Mbit/s";
	for (i = 0; i < INT_LAYOUT_SPEEDS; i++)
		if (l->speed_mbit[i] > TLM_MBIT_MAX)
			return "the speed of a code is above 1600000 Mbit/s";
	if (l->tx_refresh_ns > TLM_NS_PER_S || l->util_window_ns > TLM_NS_PER_S)
		return "an interval of more than a second";
	if (!l->field[INT_LAYOUT_QUEUE].width && !l->field[INT_LAYOUT_TX].width &&
	    !l->field[INT_LAYOUT_UTIL].width)
		return "neither queue, counter nor utilisation";
	return NULL;
}

const char *ntlm_check(const struct int_layout *l)
{
	const char *fault = ntlm_check_key(l);
	u32 i;

	for (i = 0; !fault && i < INT_LAYOUT_FIELDS; i++)
		fault = ntlm_check_field(l, i);
	return fault ?: ntlm_check_values(l);
}

const char *ntlm_check_ports(const struct int_layout_port *port, u32 ports)
{
	u32 i;

	for (i = 0; i < ports; i++) {
		if (!port[i].mbit_ps || port[i].mbit_ps > TLM_MBIT_MAX)
			return "the speed of a port is 0 or above 1600000 Mbit/s";
		if (i && ntlm_port_key(&port[i - 1]) >= ntlm_port_key(&port[i]))
			return "ports are not in ascending order";
	}
	return NULL;
}

const struct int_layout ntlm_builtin_layouts[INT_LAYOUT_BUILTINS] = {
	[INT_LAYOUT_TRIDENT3] = {
		.format = TLM_IFA, .node_words = 8, .ts_res_ns = 1,
		.flags = INT_LAYOUT_F_CODE | INT_LAYOUT_F_EGRESS_TIME,
		.speed_mbit = { 10000, 25000, 40000, 50000, 100000, 200000, 400000 },
		.field = {
			[INT_LAYOUT_NODE] = { .bit = 4, .width = 20, .mul = 1 },
			[INT_LAYOUT_SPEED] = { .bit = 32, .width = 4, .mul = 1 },
			[INT_LAYOUT_SECONDS] = { .bit = 44, .width = 20, .mul = 1 },
			[INT_LAYOUT_PORT] = { .bit = 64, .width = 16, .mul = 1 },
			[INT_LAYOUT_NS] = { .bit = 96, .width = 32, .mul = 1 },
			[INT_LAYOUT_RESIDENCE] = { .bit = 128, .width = 32, .mul = 1 },
			[INT_LAYOUT_QUEUE] = { .bit = 192, .width = 32, .mul = 1 },
		},
	},
	[INT_LAYOUT_TOMAHAWK4] = {
		.format = TLM_IFA, .node_words = 8, .ts_res_ns = 1,
		.flags = INT_LAYOUT_F_EGRESS_TIME,
		.field = {
			[INT_LAYOUT_NODE] = { .bit = 4, .width = 28, .mul = 1 },
			[INT_LAYOUT_SECONDS] = { .bit = 44, .width = 20, .mul = 1 },
			[INT_LAYOUT_PORT] = { .bit = 64, .width = 16, .mul = 1 },
			[INT_LAYOUT_NS] = { .bit = 96, .width = 32, .mul = 1 },
			[INT_LAYOUT_RESIDENCE] = { .bit = 128, .width = 32, .mul = 1 },
			[INT_LAYOUT_QUEUE] = { .bit = 192, .width = 32, .mul = 1 },
		},
	},
	[INT_LAYOUT_LINUX_IOAM] = {
		.format = TLM_IOAM, .type = IOAM_HPCC_BITS, .ts_res_ns = 1000,
		.flags = INT_LAYOUT_F_CODE,
		.speed_mbit = { 0, 10, 100, 1000, 2500, 10000, 25000, 40000, 50000, 100000,
				200000, 400000, 800000, 1600000, 5000 },
		.field = {
			[INT_LAYOUT_NODE] = { IOAM_NODE, .bit = 8, .width = 24, .mul = 1,
				       .ones_missing = true },
			[INT_LAYOUT_SPEED] = { IOAM_PORTS, .bit = 16, .width = 4, .mul = 1 },
			[INT_LAYOUT_PORT] = { IOAM_PORTS, .bit = 20, .width = 12, .mul = 1 },
			[INT_LAYOUT_SECONDS] = { IOAM_SECONDS, .width = 32, .mul = 1,
					  .ones_missing = true },
			[INT_LAYOUT_NS] = { IOAM_FRACTION, .width = 32, .mul = 1000,
				     .ones_missing = true },
			[INT_LAYOUT_QUEUE] = { IOAM_QUEUE_DEPTH, .width = 32, .mul = 1,
					.ones_missing = true },
		},
	},
	[INT_LAYOUT_INT_MD] = {
		.format = TLM_INT_MD, .type = INTMD_HPCC_BITS, .ts_res_ns = 1,
		.field = {
			[INT_LAYOUT_NODE] = { INTMD_NODE, .width = 32, .mul = 1,
					      .ones_missing = true },
			[INT_LAYOUT_PORT] = { INTMD_PORTS, .bit = 16, .width = 16, .mul = 1,
				       .ones_missing = true },
			[INT_LAYOUT_QUEUE] = { INTMD_QUEUE, .bit = 8, .width = 24, .mul = 1,
					.ones_missing = true },
			[INT_LAYOUT_NS] = { INTMD_EGRESS_TIME, .bit = 8, .width = 56, .mul = 1,
				     .ones_missing = true },
			/* 2^20 / 10^6 */
			[INT_LAYOUT_UTIL] = { INTMD_UTIL, .width = 32, .shift = 20, .mul = 1099512,
				       .ones_missing = true },
		},
	},
};
