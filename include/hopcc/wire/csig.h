/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire format of CSIG (draft-ravi-ippm-csig-01, sections 4 and 5 and appendix A): the tag, its
 * values, and how a hop updates it.
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
 * The tag is the last one of layer 2: behind any VLAN tags, in front of the EtherType. The 2 or 6
 * bytes behind the TPID are the data that the TCP option reflects. All fields are big-endian.
 *
 *	min(ABW)	kbit/s	available bandwidth
 *	min(ABW/C)	ppm	the same as a part of the link
 *	max(PD)		ns	delay in one hop
 *
 * A hop converts its value to the tag's units, which are buckets (compact) or multiples of the
 * quantum (expanded). If its value is worse than the tag's, it writes its value and its locator.
 *
 * Deviations:
 * - The upper end of a bucket is the lower end of the next one, and the last bucket has no upper
 *   end: any other table would leave values without a bucket.
 * - A value that does not fit is reported as the largest value that does.
 * - The draft's section 5.2 on min(ABW/C) is missing; the signal is implemented as section 5.3 and
 *   figure 5 use it.
 */
#ifndef HOPCC_WIRE_CSIG_H
#define HOPCC_WIRE_CSIG_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* EtherTypes for experiments (IEEE 802, local experimental 1 and 2). */
#define CSIG_TPID_COMPACT_DEFAULT	0x88b5
#define CSIG_TPID_EXPANDED_DEFAULT	0x88b6

#define CSIG_TPID_BYTES		2U
#define CSIG_TAG_MAX_BYTES	8U
/* The first tag follows the two MAC addresses. */
#define CSIG_FIRST_TAG_BYTES	12U
#define CSIG_VLAN_BYTES		4U
/* A frame is searched this far: for 25 VLAN tags and a CSIG tag. */
#define CSIG_WALK_BYTES		128U

#define CSIG_TPID_8021Q		0x8100
#define CSIG_TPID_8021AD	0x88a8
#define CSIG_TPID_QINQ		0x9100	/* before 802.1ad */

/**
 * enum csig_form - formats of a tag
 * @CSIG_NONE: no tag
 * @CSIG_COMPACT: compact tag, figure 1
 * @CSIG_EXPANDED: expanded tag, figure 2
 * @CSIG_FORMS: number of formats
 */
enum csig_form {
	CSIG_NONE,
	CSIG_COMPACT,
	CSIG_EXPANDED,
	CSIG_FORMS,
};

/**
 * enum csig_type - signal types
 * @CSIG_ABW: min(ABW)
 * @CSIG_ABW_C: min(ABW/C)
 * @CSIG_PD: max(PD)
 * @CSIG_TYPES: number of defined types; higher ones are undefined
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
 * struct csig_shape - sizes and limits of a format
 * @tag_bytes: size of the tag including its TPID
 * @type_max: maximum signal type
 * @value_max: maximum value
 * @locator_bits: size of the locator
 * @reserved_max: maximum of the reserved field
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

/* Size of the data behind the TPID, which the TCP option reflects. */
static inline u32 csig_data_bytes(enum csig_form form)
{
	return csig_shapes[form].tag_bytes - CSIG_TPID_BYTES;
}

/**
 * struct csig_tag - data fields of a tag
 * @type: signal type T; may be CSIG_TYPES or more
 * @value: signal value S, in the format's units
 * @locator: locator LM
 * @reserved: reserved field R; hops do not change it
 */
struct csig_tag {
	u32 type;
	u32 value;
	u32 locator;
	u32 reserved;
};

/**
 * csig_read() - read the data fields of a tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @data: csig_data_bytes(@form) bytes, at any alignment
 *
 * Return: the fields; every bit pattern is valid.
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
 * csig_write() - write the data fields of a tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @data: csig_data_bytes(@form) bytes, at any alignment
 * @t: the fields; each must fit the format
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
 * struct csig_tpids - the TPIDs by which tags are recognised
 * @tpid: TPID by format
 */
struct csig_tpids {
	u16 tpid[CSIG_FORMS];
};

/**
 * csig_put() - write a whole tag
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @at: start of the tag, csig_shapes[@form].tag_bytes long
 * @tpids: TPIDs by format
 * @t: the fields; each must fit the format
 */
static inline void csig_put(enum csig_form form, u8 *at, const struct csig_tpids *tpids,
			    const struct csig_tag *t)
{
	at[0] = tpids->tpid[form] >> 8;
	at[1] = tpids->tpid[form];
	csig_write(form, at + CSIG_TPID_BYTES, t);
}

/**
 * enum csig_fault - reasons why a tag is invalid
 * @CSIG_OK: the tag is valid
 * @CSIG_BAD_TRUNCATED: the frame ends within the tag, or before the EtherType behind it
 * @CSIG_BAD_ORDER: the tag is not the last one: a CSIG or VLAN tag follows
 * @CSIG_FAULTS: number of values
 */
enum csig_fault {
	CSIG_OK,
	CSIG_BAD_TRUNCATED,
	CSIG_BAD_ORDER,
	CSIG_FAULTS,
};

/**
 * struct csig_place - position of the first CSIG tag in a frame
 * @form: format of the tag; CSIG_NONE if the frame has no tag
 * @fault: why the tag is invalid, or CSIG_OK
 * @offset_bytes: offset of the tag's TPID from the destination address
 * @inner: EtherType behind the tag; 0 if the frame ends before it
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
 * @form: the tag's format according to its TPID, CSIG_COMPACT or CSIG_EXPANDED
 * @offset_bytes: offset of the tag's TPID from the destination address
 * @frame: the frame, from the destination address on
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
		/* A tag beyond CSIG_WALK_BYTES counts as no tag. */
		if (walk_bytes < frame_bytes)
			place.form = CSIG_NONE;
		place.fault = CSIG_BAD_TRUNCATED;
		return place;
	}
	place.inner = csig_ether_type(frame, behind_bytes);
	if (csig_is_vlan(place.inner) || csig_form_of(tpids, place.inner))
		place.fault = CSIG_BAD_ORDER;
	return place;
}

/**
 * csig_find() - look for a tag in a frame
 * @frame: the frame, from the destination address on
 * @walk_bytes: number of bytes of @frame that may be read: @frame_bytes or CSIG_WALK_BYTES
 * @frame_bytes: length of the frame
 * @tpids: the TPIDs of tags
 *
 * Return: the place of the first tag, with a fault if the tag must not be there; form CSIG_NONE if
 * the frame has none.
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
 * struct csig_scale - conversion of a signal's values to tag values; the same in the whole domain
 * @quantum: unit of the expanded format's values, in the signal's unit; at least 1
 * @edges: number of valid entries of @edge
 * @edge: lowest values of buckets 1 to @edges of the compact format, in the signal's unit, in
 *	strictly ascending order
 *
 * With fewer edges than CSIG_EDGES the buckets above are not used.
 */
struct csig_scale {
	u32 quantum;
	u32 edges;
	u32 edge[CSIG_EDGES];
};

/* The bucket of a value is the number of edges at or below the value. */
static inline u32 csig_bucket(const struct csig_scale *s, u64 value)
{
	u32 below = 0, left = s->edges;

	/* Binary search without branches: the bucket is from @below to @below + @left. */
	while (left > 1) {
		const u32 half = left / 2;

		below += s->edge[below + half - 1] <= value ? half : 0;
		left -= half;
	}
	return below + (left && s->edge[below] <= value);
}

/**
 * csig_encode() - convert a value to a tag's units
 * @s: scale of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: value in the signal's unit
 *
 * Return: the tag's value; in a compact tag the number of a bucket.
 */
static inline u32 csig_encode(const struct csig_scale *s, enum csig_form form, u64 value)
{
	if (form == CSIG_COMPACT)
		return csig_bucket(s, value);
	return min_t(u64, div_u64(value, s->quantum), csig_shapes[CSIG_EXPANDED].value_max);
}

/**
 * csig_low() - lowest signal value that a tag's value represents
 * @s: scale of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: value of a tag
 *
 * Return: the lowest signal value, in the signal's unit; U64_MAX for a bucket that is not used,
 * which is the sender's initial value if no hop has changed it.
 */
static inline u64 csig_low(const struct csig_scale *s, enum csig_form form, u32 value)
{
	if (form == CSIG_EXPANDED)
		return (u64)value * s->quantum;
	if (!value)
		return 0;
	return value <= s->edges ? s->edge[value - 1] : U64_MAX;
}

/**
 * csig_high() - upper bound of the signal values that a tag's value represents
 * @s: scale of the signal
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @value: value of a tag
 *
 * Return: the bound, in the signal's unit, which is not in the range itself; U64_MAX if there is no
 * bound.
 */
static inline u64 csig_high(const struct csig_scale *s, enum csig_form form, u32 value)
{
	return value < csig_shapes[form].value_max ? csig_low(s, form, value + 1) : U64_MAX;
}

/* Return: true if the scale is valid. */
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

/* Return: true if a higher value is worse, as it is for a delay; for bandwidth a lower one is. */
static inline bool csig_is_max(u32 type)
{
	return type == CSIG_PD;
}

/**
 * csig_initial() - value that a sender writes; no hop's value is better
 * @form: CSIG_COMPACT or CSIG_EXPANDED
 * @type: enum csig_type
 *
 * Return: the tag's value.
 */
static inline u32 csig_initial(enum csig_form form, u32 type)
{
	return csig_is_max(type) ? 0 : csig_shapes[form].value_max;
}

/* Return: true if @a is worse than @b as the value of a tag of this type. */
static inline bool csig_worse(u32 type, u32 a, u32 b)
{
	return csig_is_max(type) ? a > b : a < b;
}

/**
 * csig_replace() - compare-and-replace at a hop (sections 4.1.3.3 and 5.3.3)
 * @t: the tag
 * @value: the hop's value, in the tag's units
 * @locator: the hop's locator; must fit the format
 *
 * Return: true if the tag changed; then both its value and its locator are the hop's.
 */
static inline bool csig_replace(struct csig_tag *t, u32 value, u32 locator)
{
	if (!csig_worse(t->type, value, t->value))
		return false;
	t->value = value;
	t->locator = locator;
	return true;
}

#endif /* HOPCC_WIRE_CSIG_H */
