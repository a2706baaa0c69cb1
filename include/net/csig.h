/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSIG on the wire, draft-ravi-ippm-csig-01 sections 4 and 5 and appendix A: the tag,
 * its values, and what a hop makes of it.
 *
 *	compact, figure 1: 4 bytes		expanded, figure 2: 8 bytes
 *	+-------------------------------+	+-------------------------------+
 *	|             TPID              |	|             TPID              |
 *	+-----+-+---------+-------------+	+-------------------------------+
 *	| T 3 |1| value 5 | locator   7 |	|          locator 16           |
 *	+-----+-+---------+-------------+	+-------+-----------------------+
 *						| T   4 | value, upper 12       |
 *	T: signal type				+-------+-------+---------------+
 *	1: reserved				| value, lower 8|  reserved 8   |
 *						+---------------+---------------+
 *
 * It is the last tag of layer 2: behind any VLAN tags, in front of the EtherType. What
 * follows the TPID, 2 or 6 bytes, is also what the TCP option reflects. Big-endian.
 *
 *	min(ABW)	kbit/s	available bandwidth
 *	min(ABW/C)	ppm	the same as a part of the link
 *	max(PD)		ns	delay in one hop
 *
 * A hop writes its value and its locator if its value is worse, once both are in the
 * tag's units: a bucket (compact) or a multiple of the quantum (expanded).
 *
 * Deviations:
 * - A bucket's high end is the next one's low end, and the last has none: any other table
 *   would leave values without a bucket.
 * - A value above the greatest that fits is said to be that.
 * - The clause on min(ABW/C), 5.2, is missing from the draft: as 5.3 and figure 5 use it.
 */
#ifndef HOPCC_NET_CSIG_H
#define HOPCC_NET_CSIG_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* EtherTypes for experiments (IEEE 802, local experimental 1 and 2). */
#define CSIG_TPID_COMPACT_DEFAULT	0x88b5
#define CSIG_TPID_EXPANDED_DEFAULT	0x88b6

#define CSIG_TPID_BYTES		2U
#define CSIG_TAG_MAX_BYTES	8U
/* Two MAC addresses, then EtherTypes and tags. */
#define CSIG_FIRST_TAG_BYTES	12U
#define CSIG_VLAN_BYTES		4U
/* As far as a frame is searched: 25 VLAN tags, and ours. */
#define CSIG_WALK_BYTES		128U

#define CSIG_TPID_8021Q		0x8100
#define CSIG_TPID_8021AD	0x88a8
#define CSIG_TPID_QINQ		0x9100	/* before 802.1ad */

/**
 * enum csig_form - how a tag is laid out
 * @CSIG_NONE: there is none
 * @CSIG_COMPACT: figure 1
 * @CSIG_EXPANDED: figure 2
 * @CSIG_FORMS: number of these
 */
enum csig_form {
	CSIG_NONE,
	CSIG_COMPACT,
	CSIG_EXPANDED,
	CSIG_FORMS,
};

/**
 * enum csig_type - what a tag asks for
 * @CSIG_ABW: min(ABW)
 * @CSIG_ABW_C: min(ABW/C)
 * @CSIG_PD: max(PD)
 * @CSIG_TYPES: the first that nobody has defined
 */
enum csig_type {
	CSIG_ABW,
	CSIG_ABW_C,
	CSIG_PD,
	CSIG_TYPES,
};

#define CSIG_BUCKETS		32U
#define CSIG_EDGES		(CSIG_BUCKETS - 1)
#define CSIG_PPM_MAX		1000000U

/**
 * struct csig_shape - the fields of a form
 * @tag_bytes: the tag with its TPID
 * @type_max: greatest signal type
 * @value_max: greatest value
 * @locator_bits: size of the locator
 * @reserved_max: greatest of the reserved field
 */
struct csig_shape {
	u32 tag_bytes;
	u32 type_max;
	u32 value_max;
	u32 locator_bits;
	u32 reserved_max;
};

static const struct csig_shape csig_shapes[CSIG_FORMS] = {
	[CSIG_COMPACT] = { 4, 7, CSIG_BUCKETS - 1, 7, 1 },
	[CSIG_EXPANDED] = { 8, 15, (1U << 20) - 1, 16, 255 },
};

/* What follows the TPID, and what is reflected. */
static inline u32 csig_data_bytes(enum csig_form form)
{
	return csig_shapes[form].tag_bytes - CSIG_TPID_BYTES;
}

/**
 * struct csig_tag - the data fields
 * @type: T; may be above CSIG_TYPES
 * @value: S, in the form's units
 * @locator: LM
 * @reserved: R; hops keep it
 */
struct csig_tag {
	u32 type;
	u32 value;
	u32 locator;
	u32 reserved;
};

/**
 * csig_read() - take the data fields out of a tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @data: csig_data_bytes(@form), at any alignment
 *
 * Return: the fields; every pattern of bits is one.
 */
static inline struct csig_tag csig_read(enum csig_form form, const u8 *data)
{
	const u32 first = data[0] << 8 | data[1];
	u32 second;

	if (form == CSIG_COMPACT)
		return (struct csig_tag) {
			.type = first >> 13,
			.reserved = first >> 12 & 1,
			.value = first >> 7 & 0x1f,
			.locator = first & 0x7f,
		};
	second = (u32)data[2] << 24 | data[3] << 16 | data[4] << 8 | data[5];
	return (struct csig_tag) {
		.locator = first,
		.type = second >> 28,
		.value = second >> 8 & 0xfffff,
		.reserved = second & 0xff,
	};
}

/**
 * csig_write() - put the data fields into a tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @data: csig_data_bytes(@form), at any alignment
 * @t: the fields; each must fit its form
 */
static inline void csig_write(enum csig_form form, u8 *data, const struct csig_tag *t)
{
	u32 first = t->locator, second;

	if (form == CSIG_COMPACT)
		first = t->type << 13 | t->reserved << 12 | t->value << 7 | t->locator;
	data[0] = first >> 8;
	data[1] = first;
	if (form == CSIG_COMPACT)
		return;
	second = t->type << 28 | t->value << 8 | t->reserved;
	data[2] = second >> 24;
	data[3] = second >> 16;
	data[4] = second >> 8;
	data[5] = second;
}

/**
 * struct csig_tpids - by what tags are recognised
 * @tpid: by form
 */
struct csig_tpids {
	u16 tpid[CSIG_FORMS];
};

/**
 * csig_put() - write a whole tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @at: where its TPID goes; csig_shapes[@form].tag_bytes
 * @tpids: TPIDs by form
 * @t: the fields; each must fit its form
 */
static inline void csig_put(enum csig_form form, u8 *at, const struct csig_tpids *tpids,
			    const struct csig_tag *t)
{
	at[0] = tpids->tpid[form] >> 8;
	at[1] = tpids->tpid[form];
	csig_write(form, at + CSIG_TPID_BYTES, t);
}

/**
 * enum csig_fault - why a tag is not taken for one
 * @CSIG_OK: it is
 * @CSIG_BAD_TRUNCATED: the frame ends within it, or before the EtherType behind it
 * @CSIG_BAD_ORDER: it is not the last tag: a CSIG or VLAN tag follows
 * @CSIG_FAULTS: number of these
 */
enum csig_fault {
	CSIG_OK,
	CSIG_BAD_TRUNCATED,
	CSIG_BAD_ORDER,
	CSIG_FAULTS,
};

/**
 * struct csig_place - where the first tag of a frame is
 * @form: CSIG_NONE if there is none
 * @fault: of it
 * @offset_bytes: of its TPID, from the destination address
 * @inner: the EtherType behind it; 0 if the frame ends
 */
struct csig_place {
	enum csig_form form;
	enum csig_fault fault;
	u32 offset_bytes;
	u16 inner;
};

static inline bool csig_is_vlan(u16 ether_type)
{
	return ether_type == CSIG_TPID_8021Q || ether_type == CSIG_TPID_8021AD ||
	       ether_type == CSIG_TPID_QINQ;
}

static inline enum csig_form csig_form_of(const struct csig_tpids *tpids, u16 ether_type)
{
	if (ether_type == tpids->tpid[CSIG_COMPACT])
		return CSIG_COMPACT;
	return ether_type == tpids->tpid[CSIG_EXPANDED] ? CSIG_EXPANDED : CSIG_NONE;
}

static inline u16 csig_ether_type(const u8 *frame, u32 offset_bytes)
{
	const u8 *at = frame + offset_bytes;

	return at[0] << 8 | at[1];
}

/**
 * csig_place_of() - check a tag against what follows it
 * @form: the tag's form according to its TPID, CSIG_COMPACT or CSIG_EXPANDED
 * @offset_bytes: offset of the tag's TPID from the destination address
 * @frame: from the destination address on
 * @walk_bytes: number of bytes of @frame that may be read: @frame_bytes or CSIG_WALK_BYTES
 * @frame_bytes: length of the frame
 * @tpids: the TPIDs of tags
 *
 * Return: the place of the tag, with a fault if the tag must not be there.
 */
static inline struct csig_place csig_place_of(enum csig_form form, u32 offset_bytes,
					      const u8 *frame, u32 walk_bytes, u32 frame_bytes,
					      const struct csig_tpids *tpids)
{
	const u32 behind_bytes = offset_bytes + csig_shapes[form].tag_bytes;
	struct csig_place place = { .form = form, .offset_bytes = offset_bytes };

	if (behind_bytes + CSIG_TPID_BYTES > walk_bytes) {
		/* Deeper than anybody looks. */
		if (walk_bytes < frame_bytes)
			place.form = CSIG_NONE;
		place.fault = CSIG_BAD_TRUNCATED;
		return place;
	}
	place.inner = csig_ether_type(frame, behind_bytes);
	if (unlikely(csig_is_vlan(place.inner)) || unlikely(csig_form_of(tpids, place.inner)))
		place.fault = CSIG_BAD_ORDER;
	return place;
}

/**
 * csig_find() - look for a tag in a frame
 * @frame: from the destination address on
 * @walk_bytes: number of bytes of @frame that may be read: @frame_bytes or CSIG_WALK_BYTES
 * @frame_bytes: length of the frame
 * @tpids: the TPIDs of tags
 *
 * Return: the place of the first tag, with a fault if the tag must not be there; form 0 if the
 * frame has none.
 */
static inline struct csig_place csig_find(const u8 *frame, u32 walk_bytes, u32 frame_bytes,
					  const struct csig_tpids *tpids)
{
	u32 offset_bytes = CSIG_FIRST_TAG_BYTES;

	for (; offset_bytes + CSIG_TPID_BYTES <= walk_bytes; offset_bytes += CSIG_VLAN_BYTES) {
		const u16 ether_type = csig_ether_type(frame, offset_bytes);
		const enum csig_form form = csig_form_of(tpids, ether_type);

		if (form)
			return csig_place_of(form, offset_bytes, frame, walk_bytes, frame_bytes,
					     tpids);
		if (!csig_is_vlan(ether_type))
			break;
	}
	return (struct csig_place) { .offset_bytes = offset_bytes };
}

/**
 * struct csig_scale - how a signal's values become a tag's: equal in the whole domain
 * @quantum: of the expanded form, in the signal's unit; at least 1
 * @edges: how many of @edge there are
 * @edge: of the compact form: the least value of buckets 1 to @edges, ascending strictly
 *
 * With fewer edges than CSIG_EDGES the buckets above are not used.
 */
struct csig_scale {
	u32 quantum;
	u32 edges;
	u32 edge[CSIG_EDGES];
};

/* The bucket of a value: as many as there are edges at or below it. */
static inline u32 csig_bucket(const struct csig_scale *s, u64 value)
{
	u32 below = 0, left = s->edges;

	/* Halves without a branch: the bucket is within @left of @below. */
	while (left > 1) {
		const u32 half = left / 2;

		below += s->edge[below + half - 1] <= value ? half : 0;
		left -= half;
	}
	return below + (left && s->edge[below] <= value);
}

/**
 * csig_encode() - a value in a tag's units
 * @s: of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: in the signal's unit
 */
static inline u32 csig_encode(const struct csig_scale *s, enum csig_form form, u64 value)
{
	if (form == CSIG_COMPACT)
		return csig_bucket(s, value);
	return min_t(u64, div_u64(value, s->quantum), csig_shapes[CSIG_EXPANDED].value_max);
}

/**
 * csig_expanded_low() - the least value that an expanded tag's value stands for
 * @quantum: of the signal
 * @value: of a tag
 *
 * Return: in the signal's unit.
 */
static inline u64 csig_expanded_low(u32 quantum, u32 value)
{
	return (u64)value * quantum;
}

/**
 * csig_expanded_high() - the least value above all that an expanded tag's value stands for
 * @quantum: of the signal
 * @value: of a tag
 *
 * Return: in the signal's unit; U64_MAX where there is no bound.
 */
static inline u64 csig_expanded_high(u32 quantum, u32 value)
{
	return value < csig_shapes[CSIG_EXPANDED].value_max ?
	       csig_expanded_low(quantum, value + 1) : U64_MAX;
}

/**
 * csig_low() - the least value that a tag's value stands for
 * @s: of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: of a tag
 *
 * Return: in the signal's unit. U64_MAX for a bucket that is not used: a sender's first
 * value, untouched.
 */
static inline u64 csig_low(const struct csig_scale *s, enum csig_form form, u32 value)
{
	if (form == CSIG_EXPANDED)
		return csig_expanded_low(s->quantum, value);
	if (!value)
		return 0;
	return value <= s->edges ? s->edge[value - 1] : U64_MAX;
}

/**
 * csig_high() - the least value above all that a tag's value stands for
 * @s: of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: of a tag
 *
 * Return: in the signal's unit; U64_MAX where there is no bound.
 */
static inline u64 csig_high(const struct csig_scale *s, enum csig_form form, u32 value)
{
	if (form == CSIG_EXPANDED)
		return csig_expanded_high(s->quantum, value);
	return value < csig_shapes[form].value_max ? csig_low(s, form, value + 1) : U64_MAX;
}

/* Is a scale one that values can be put on? */
static inline bool csig_scale_ok(const struct csig_scale *s)
{
	u32 i;

	if (!s->quantum || s->edges > CSIG_EDGES || (s->edges && !s->edge[0]))
		return false;
	for (i = 1; i < s->edges; i++)
		if (s->edge[i] <= s->edge[i - 1])
			return false;
	return true;
}

/* Of a delay, more is worse; of bandwidth, less. */
static inline bool csig_is_max(u32 type)
{
	return type == CSIG_PD;
}

/**
 * csig_initial() - what a sender writes: no hop's value is better
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @type: enum csig_type
 */
static inline u32 csig_initial(enum csig_form form, u32 type)
{
	return csig_is_max(type) ? 0 : csig_shapes[form].value_max;
}

/* Is value @a, of a tag of this type, worse than @b? */
static inline bool csig_worse(u32 type, u32 a, u32 b)
{
	return csig_is_max(type) ? a > b : a < b;
}

/**
 * csig_replace() - a hop's compare-and-replace (4.1.3.3, 5.3.3)
 * @t: the tag
 * @value: the hop's, in the tag's units
 * @locator: the hop's; must fit the form
 *
 * Return: whether the tag changed: value and locator, or neither.
 */
static inline bool csig_replace(struct csig_tag *t, u32 value, u32 locator)
{
	if (!csig_worse(t->type, value, t->value))
		return false;
	t->value = value;
	t->locator = locator;
	return true;
}

/**
 * enum csig_what - an attribute of the bottleneck that a locator may bear (5.5.2)
 * @CSIG_WHAT_CAPACITY: code of the link's rate, 0 to 15
 * @CSIG_WHAT_STAGE: of the topology
 * @CSIG_WHAT_ORIENTATION: of the port: up, down, aside
 * @CSIG_WHAT_PORT: the port's ID
 * @CSIG_WHAT_DEVICE: the device's ID
 * @CSIG_WHAT_TTL: the packet's, 0 if it has none; the greatest that fits says this or more
 * @CSIG_WHATS: number of these
 */
enum csig_what {
	CSIG_WHAT_CAPACITY,
	CSIG_WHAT_STAGE,
	CSIG_WHAT_ORIENTATION,
	CSIG_WHAT_PORT,
	CSIG_WHAT_DEVICE,
	CSIG_WHAT_TTL,
	CSIG_WHATS,
};

#define CSIG_FIELDS_MAX	6

/**
 * struct csig_layout - what a locator is made of
 * @constant: the whole of it, if @fields is 0
 * @fields: number of @field
 * @field: from the most significant bits to the least; what they leave are zeros above
 * @field.what: enum csig_what
 * @field.bits: its size
 */
struct csig_layout {
	u16 constant;
	u8 fields;
	struct {
		u8 what;
		u8 bits;
	} field[CSIG_FIELDS_MAX];
};

/* Does a layout fit the locator of a form? */
static inline bool csig_layout_ok(const struct csig_layout *l, enum csig_form form)
{
	const u32 room_bits = csig_shapes[form].locator_bits;
	u32 i, bits = 0;

	if (l->fields > CSIG_FIELDS_MAX || l->constant >> room_bits)
		return false;
	for (i = 0; i < l->fields; i++) {
		if (l->field[i].what >= CSIG_WHATS || !l->field[i].bits ||
		    l->field[i].bits > room_bits)
			return false;
		bits += l->field[i].bits;
	}
	return bits <= room_bits;
}

/**
 * csig_layout_misfit() - the first attribute that is too great for its field
 * @l: of csig_layout_ok()
 * @attrs: by enum csig_what
 *
 * Return: enum csig_what; CSIG_WHATS if all fit. A TTL always does.
 */
static inline u32 csig_layout_misfit(const struct csig_layout *l, const u32 *attrs)
{
	u32 i;

	for (i = 0; i < l->fields; i++)
		if (l->field[i].what != CSIG_WHAT_TTL &&
		    attrs[l->field[i].what] >> l->field[i].bits)
			return l->field[i].what;
	return CSIG_WHATS;
}

/**
 * csig_compose() - a locator
 * @l: of csig_layout_ok()
 * @attrs: by enum csig_what, all but the TTL
 * @ttl: of the packet
 *
 * Return: what fits the form that @l is for.
 */
static inline u32 csig_compose(const struct csig_layout *l, const u32 *attrs, u32 ttl)
{
	u32 i, locator = 0;

	if (!l->fields)
		return l->constant;
	for (i = 0; i < l->fields; i++) {
		const u32 most = (1U << l->field[i].bits) - 1;
		const u32 what = l->field[i].what;

		locator = locator << l->field[i].bits |
			  min(what == CSIG_WHAT_TTL ? ttl : attrs[what], most);
	}
	return locator;
}

/* Does a locator of this layout differ from packet to packet? */
static inline bool csig_layout_needs_ttl(const struct csig_layout *l)
{
	u32 i;

	for (i = 0; i < l->fields; i++)
		if (l->field[i].what == CSIG_WHAT_TTL)
			return true;
	return false;
}

#endif /* HOPCC_NET_CSIG_H */
