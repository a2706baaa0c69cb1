/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry formats and layouts: from the parsers of the wire formats to a struct tlm_stack,
 * validation of an administrator's layouts, and layouts that are built in.
 *
 * A built-in layout is a template: an administrator copies it, sets the key (space and device) and
 * changes what differs on the switch. Values that public sources do not confirm are marked
 * "assumed".
 */
#ifndef HOPCC_LIB_TLM_FORMATS_H
#define HOPCC_LIB_TLM_FORMATS_H

#include <hopcc/lib/tlm.h>
#include <hopcc/wire/ifa.h>
#include <hopcc/wire/int_md.h>
#include <hopcc/wire/ioam.h>

/**
 * tlm_stack_ifa() - the metadata of an IFA packet
 * @s: result
 * @v: the packet
 * @packet: the packet, from the IFA header
 */
static inline void tlm_stack_ifa(struct tlm_stack *s, const struct ifa_view *v, const u8 *packet)
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

/**
 * tlm_stack_ioam() - the metadata of an IOAM trace
 * @s: result
 * @v: the header
 * @hdr: the extension header
 */
static inline void tlm_stack_ioam(struct tlm_stack *s, const struct ioam_view *v, const u8 *hdr)
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
		s->element_at[i] = ioam_field_offset(v->trace, i);
}

/**
 * tlm_stack_intmd() - the metadata of an INT-MD packet
 * @s: result
 * @v: the packet
 * @shim: the packet, from the shim
 */
static inline void tlm_stack_intmd(struct tlm_stack *s, const struct intmd_view *v, const u8 *shim)
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
		s->element_at[i] = intmd_field_offset(v->bitmap, i);
}

/* Number of bits of an element; 0 if the layout's type does not have it. */
static inline u32 tlm_element_bits(const struct tlm_layout *l, u32 element)
{
	switch (l->format) {
	case TLM_IFA:
		return element ? 0 : l->node_words * 32U;
	case TLM_IOAM:
		if (element >= IOAM_FIELDS || !(l->type & IOAM_BIT(element)))
			return 0;
		return IOAM_WIDE_BITS & IOAM_BIT(element) ? 64 : 32;
	case TLM_INT_MD:
		if (element >= INTMD_BITS || !(l->type & INTMD_BIT(element)))
			return 0;
		return INTMD_WIDE_BITS & INTMD_BIT(element) ? 64 : 32;
	}
	return 0;
}

static inline enum tlm_fault tlm_check_key(const struct tlm_layout *l)
{
	const u32 space_max = l->format == TLM_IFA ? IFA_GNS_MAX : U16_MAX;
	const u32 known = l->format == TLM_IOAM ? IOAM_KNOWN_BITS : INTMD_KNOWN_BITS;

	if (l->format >= TLM_FORMATS)
		return TLM_INVALID_FORMAT;
	if (l->space & ~l->space_mask || l->space_mask > space_max)
		return TLM_INVALID_SPACE;
	if (l->type & ~(l->format == TLM_IFA ? 0 : known))
		return TLM_INVALID_TYPE;
	if (l->device & ~l->device_mask)
		return TLM_INVALID_DEVICE;
	/* The first word is a node ID only if the type says so: bit 0 in both formats. */
	if (l->device_mask && l->format != TLM_IFA && !tlm_element_bits(l, 0))
		return TLM_INVALID_DEVICE;
	return (l->format == TLM_IFA) == !l->node_words ? TLM_INVALID_WORDS : TLM_OK;
}

static inline enum tlm_fault tlm_check_field(const struct tlm_layout *l, enum tlm_field_id id)
{
	const struct tlm_field *f = &l->field[id];

	if (!f->width)
		return TLM_OK;
	if (f->width > TLM_WIDTH_MAX ||
	    (id == TLM_SECONDS && f->width > TLM_SECONDS_WIDTH_MAX) ||
	    (id == TLM_SPEED && l->code && f->width > TLM_SPEED_CODE_WIDTH))
		return TLM_INVALID_WIDTH;
	if ((u32)f->bit + f->width > tlm_element_bits(l, f->element))
		return TLM_INVALID_FIELD;
	if (!f->mul || f->shift > TLM_SHIFT_MAX ||
	    f->width + ilog2(f->mul) + 1 > TLM_VALUE_BITS + f->shift)
		return TLM_INVALID_SCALE;
	/* These wrap, at a whole number. */
	if ((id == TLM_TX || id == TLM_NS) && f->shift > f->width)
		return TLM_INVALID_SCALE;
	/* A code, an ID and seconds have no scale. */
	if ((id == TLM_SECONDS || id == TLM_NODE || id == TLM_PORT ||
	     (id == TLM_SPEED && l->code)) && (f->mul != 1 || f->shift))
		return TLM_INVALID_SCALE;
	return TLM_OK;
}

static inline enum tlm_fault tlm_check_values(const struct tlm_layout *l)
{
	u32 i;

	if (l->field[TLM_SECONDS].width && !l->field[TLM_NS].width)
		return TLM_INVALID_TIME;
	if (!l->ts_res_ns || l->ts_res_ns > TLM_NS_PER_S)
		return TLM_INVALID_TIME;
	if (l->mbit_ps > TLM_MBIT_MAX)
		return TLM_INVALID_MBIT;
	for (i = 0; i < TLM_SPEEDS; i++)
		if (l->speed_mbit[i] > TLM_MBIT_MAX)
			return TLM_INVALID_MBIT;
	if (l->tx_refresh_ns > TLM_NS_PER_S || l->util_window_ns > TLM_NS_PER_S)
		return TLM_INVALID_PERIOD;
	if (!l->field[TLM_QUEUE].width && !l->field[TLM_TX].width && !l->field[TLM_UTIL].width)
		return TLM_INVALID_EMPTY;
	return TLM_OK;
}

/**
 * tlm_check() - validate a layout
 * @l: any values
 * @field: result: the field that is invalid, with TLM_INVALID_WIDTH, _FIELD, _SCALE
 *
 * Return: TLM_OK or the reason why the layout is refused.
 */
static inline enum tlm_fault tlm_check(const struct tlm_layout *l, enum tlm_field_id *field)
{
	enum tlm_fault fault = tlm_check_key(l);
	u32 i;

	for (i = 0; !fault && i < TLM_FIELDS; i++) {
		fault = tlm_check_field(l, i);
		*field = i;
	}
	return fault ? fault : tlm_check_values(l);
}

/**
 * tlm_check_ports() - validate a table of port speeds
 * @port: the table
 * @ports: number of entries
 *
 * Return: TLM_OK or the reason why the table is refused.
 */
static inline enum tlm_fault tlm_check_ports(const struct tlm_port *port, u32 ports)
{
	u32 i;

	for (i = 0; i < ports; i++) {
		if (!port[i].mbit_ps || port[i].mbit_ps > TLM_MBIT_MAX)
			return TLM_INVALID_MBIT;
		if (i && ((u64)port[i - 1].node_id << 32 | port[i - 1].port_id) >=
			 ((u64)port[i].node_id << 32 | port[i].port_id))
			return TLM_INVALID_ORDER;
	}
	return TLM_OK;
}

/**
 * enum tlm_builtin - built-in layouts
 * @TLM_TRIDENT3: IFA of Broadcom's Trident3. Assumed: speed codes; the first of the two buffer
 *	statistics is the queue, in bytes. IFA-CC's counter is not part of it: its position and
 *	unit are not public
 * @TLM_TOMAHAWK4: IFA of the vendor's example for Tomahawk4, whose fields are programmable; no
 *	speed. Assumed: the same
 * @TLM_LINUX_IOAM: IOAM of Linux. The upper four bits of the egress ID are a speed code, index of
 *	int_speeds[], and the lower twelve the port, if the administrator sets them so; with
 *	codes 0 and 15 the speed is not known
 * @TLM_INT_MD_HPCC: INT-MD 2.1 with INTMD_HPCC_BITS. Assumed: queue in bytes, time in ns,
 *	utilisation in parts per million; these units are the vendor's choice
 * @TLM_BUILTINS: number of layouts
 */
enum tlm_builtin {
	TLM_TRIDENT3,
	TLM_TOMAHAWK4,
	TLM_LINUX_IOAM,
	TLM_INT_MD_HPCC,
	TLM_BUILTINS,
};

static const struct tlm_layout __maybe_unused tlm_builtin[TLM_BUILTINS] = {
	[TLM_TRIDENT3] = {
		.format = TLM_IFA, .node_words = 8, .ts_res_ns = 1, .code = true,
		.egress_time = true,
		.speed_mbit = { 10000, 25000, 40000, 50000, 100000, 200000, 400000 },
		.field = {
			[TLM_NODE] = { .bit = 4, .width = 20, .mul = 1 },
			[TLM_SPEED] = { .bit = 32, .width = 4, .mul = 1 },
			[TLM_SECONDS] = { .bit = 44, .width = 20, .mul = 1 },
			[TLM_PORT] = { .bit = 64, .width = 16, .mul = 1 },
			[TLM_NS] = { .bit = 96, .width = 32, .mul = 1 },
			[TLM_RESIDENCE] = { .bit = 128, .width = 32, .mul = 1 },
			[TLM_QUEUE] = { .bit = 192, .width = 32, .mul = 1 },
		},
	},
	[TLM_TOMAHAWK4] = {
		.format = TLM_IFA, .node_words = 8, .ts_res_ns = 1, .egress_time = true,
		.field = {
			[TLM_NODE] = { .bit = 4, .width = 28, .mul = 1 },
			[TLM_SECONDS] = { .bit = 44, .width = 20, .mul = 1 },
			[TLM_PORT] = { .bit = 64, .width = 16, .mul = 1 },
			[TLM_NS] = { .bit = 96, .width = 32, .mul = 1 },
			[TLM_RESIDENCE] = { .bit = 128, .width = 32, .mul = 1 },
			[TLM_QUEUE] = { .bit = 192, .width = 32, .mul = 1 },
		},
	},
	[TLM_LINUX_IOAM] = {
		.format = TLM_IOAM, .type = IOAM_HPCC_BITS, .ts_res_ns = 1000, .code = true,
		.speed_mbit = { 0, 10, 100, 1000, 2500, 10000, 25000, 40000, 50000, 100000,
				200000, 400000, 800000, 1600000, 5000 },
		.field = {
			[TLM_NODE] = { IOAM_NODE, .bit = 8, .width = 24, .mul = 1,
				       .ones_missing = true },
			[TLM_SPEED] = { IOAM_PORTS, .bit = 16, .width = 4, .mul = 1 },
			[TLM_PORT] = { IOAM_PORTS, .bit = 20, .width = 12, .mul = 1 },
			[TLM_SECONDS] = { IOAM_SECONDS, .width = 32, .mul = 1,
					  .ones_missing = true },
			[TLM_NS] = { IOAM_FRACTION, .width = 32, .mul = 1000,
				     .ones_missing = true },
			[TLM_QUEUE] = { IOAM_QUEUE_DEPTH, .width = 32, .mul = 1,
					.ones_missing = true },
		},
	},
	[TLM_INT_MD_HPCC] = {
		.format = TLM_INT_MD, .type = INTMD_HPCC_BITS, .ts_res_ns = 1,
		.field = {
			[TLM_NODE] = { INTMD_NODE, .width = 32, .mul = 1, .ones_missing = true },
			[TLM_PORT] = { INTMD_PORTS, .bit = 16, .width = 16, .mul = 1,
				       .ones_missing = true },
			[TLM_QUEUE] = { INTMD_QUEUE, .bit = 8, .width = 24, .mul = 1,
					.ones_missing = true },
			[TLM_NS] = { INTMD_EGRESS_TIME, .bit = 8, .width = 56, .mul = 1,
				     .ones_missing = true },
			/* 2^20 / 10^6 */
			[TLM_UTIL] = { INTMD_UTIL, .width = 32, .shift = 20, .mul = 1099512,
				       .ones_missing = true },
		},
	},
};

/**
 * tlm_to_record() - convert a reduced record to one of our own
 * @own: result
 * @r: reduced record
 *
 * Return: true if the record has all that ours have, with periods that our fields divide, a fine
 * clock, and a counter that is updated for each packet.
 */
static inline bool tlm_to_record(struct int_record *own, const struct tlm_record *r)
{
	const u16 all = TLM_HAS(TLM_QUEUE) | TLM_HAS(TLM_TX) | TLM_HAS(TLM_NS) |
			TLM_HAS(TLM_SPEED);
	const u32 code = int_speed_code(r->mbit_ps);
	u64 tx_period_bytes;

	if ((r->has & all) != all || !code || r->tx_refresh_ns || r->ts_res_ns > 64)
		return false;
	tx_period_bytes = (u64)(INT_TX_MASK + 1) << int_speeds[code].unit_shift;
	if (r->tx_period_bytes & (tx_period_bytes - 1) || r->ts_period_ns & INT_TS_MASK)
		return false;
	*own = (struct int_record) {
		.speed = code,
		.ts_ns = r->ts_ns & INT_TS_MASK,
		.tx_units = r->tx_bytes >> int_speeds[code].unit_shift & INT_TX_MASK,
		.qlen_units = min_t(u32, r->queue_bytes >> int_speeds[code].unit_shift,
				    INT_QLEN_MAX),
	};
	return true;
}

#endif /* HOPCC_LIB_TLM_FORMATS_H */
