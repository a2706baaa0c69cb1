/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts of telemetry that switches of other vendors write, as data, and the reduced record that
 * a layout yields from the metadata of a hop.
 *
 * A layout names for each field its position, width and scale: value = raw * mul >> shift, in the
 * unit of enum int_layout_field_id. Positions are relative to an element, which is a bit of IOAM's
 * trace type or of INT's instruction bitmap, so that one layout serves all types that have its
 * elements. In IFA the metadata of a hop is one element.
 *
 * A layout applies to a hop if all of these match: the format; the space (IFA: GNS, IOAM: namespace
 * ID, INT: domain ID); all bits of @type are set in the packet's type; and the first word of the
 * hop's metadata, under a mask: it has LNS and device ID in IFA, the node ID in IOAM and INT. The
 * first layout of a table that matches is used, so the more specific ones go first.
 *
 * A record says what is missing or implausible. A value that is implausible counts as missing.
 *
 * From the parsers of the wire formats to a struct tlm_stack; validation of an administrator's
 * layouts; and layouts that are built in. A built-in layout is a template: an administrator copies
 * it, sets the key (space and device) and changes what differs on the switch. Values that public
 * sources do not confirm are marked "assumed".
 */
#ifndef HOPCC_NET_TLM_INT_LAYOUT_H
#define HOPCC_NET_TLM_INT_LAYOUT_H

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <hopcc/wire/ifa.h>
#include <hopcc/wire/int.h>
#include <hopcc/wire/int_md.h>
#include <hopcc/wire/ioam.h>
#include <uapi/hopcc/int_layout.h>

/* Maximum number of hops whose records are used, as many as with our own records. */
#define TLM_HOPS_MAX		15U
#define TLM_ELEMENTS_MAX	24U
#define TLM_MBIT_MAX		1600000U
/* A field has at most as many bits, and so has its scaled value, with some to spare. */
#define TLM_WIDTH_MAX		56U
#define TLM_VALUE_BITS		62U
#define TLM_SHIFT_MAX		32U
#define TLM_SECONDS_WIDTH_MAX	32U
#define TLM_SPEED_CODE_WIDTH	4U
#define TLM_NS_PER_S		1000000000U
/* The largest plausible utilisation, 1.25, in 2^-20. */
#define TLM_UTIL_MAX		1310720U
#define TLM_QUEUE_MAX_BYTES	0x7fffffffU

/**
 * enum tlm_format - formats of telemetry; net.hopcc.int_format is one more
 * @TLM_IFA: IFA 2.0
 * @TLM_IOAM: IOAM pre-allocated trace
 * @TLM_INT_MD: INT-MD 2.1
 * @TLM_FORMATS: number of formats
 */
enum tlm_format {
	TLM_IFA,
	TLM_IOAM,
	TLM_INT_MD,
	TLM_FORMATS,
};

#define TLM_HAS(field)	(1U << (field))

/**
 * struct tlm_table - configuration of a network namespace
 * @layout: layouts, the more specific ones first
 * @port: speeds of ports, in ascending order of node and port
 * @layouts: number of layouts
 * @ports: number of ports
 * @trust_idle: an empty queue is reported truly
 * @schema: IOAM: schema ID of opaque state that is one of our own records; 0: none
 */
struct tlm_table {
	const struct int_layout *layout;
	const struct int_layout_port *port;
	u32 layouts;
	u32 ports;
	bool trust_idle;
	u32 schema;
};

/* Implausible values of a record; they count as missing. */
#define TLM_BAD_RESIDENCE	0x01U	/* 10^9 ns or more */
#define TLM_BAD_CLOCK		0x02U	/* a fraction of 10^9 ns or more */
#define TLM_BAD_UTIL		0x04U	/* more than TLM_UTIL_MAX */
#define TLM_BAD_QUEUE		0x08U	/* more than the port sends in a second, or 2^31 bytes */
#define TLM_BAD_SPEED		0x10U	/* neither reported, nor by a code, nor configured */
#define TLM_BAD_LAYOUT		0x20U	/* no layout matches */

/**
 * struct tlm_record - reduced record of a hop
 * @ts_ns: timestamp of the hop's clock
 * @ts_period_ns: the timestamp wraps at this value; 0: 2^64
 * @tx_bytes: counter of sent bytes
 * @tx_period_bytes: the counter wraps at this value; 0: 2^64
 * @queue_bytes: length of the queue
 * @util: utilisation, 2^-20
 * @mbit_ps: speed of the port, Mbit/s; 0: not known
 * @node_id: ID of the node; 0 if not known
 * @port_id: ID of the egress port; 0 if not known
 * @residence_ns: time between arrival and departure
 * @ts_res_ns: resolution of the timestamp
 * @tx_refresh_ns: interval at which the counter is updated
 * @has: TLM_HAS() of the fields that are present and plausible; INT_LAYOUT_NS is the whole
 *	timestamp, INT_LAYOUT_SPEED any source of the speed
 * @bad: TLM_BAD_*
 */
struct tlm_record {
	u64 ts_ns;
	u64 ts_period_ns;
	u64 tx_bytes;
	u64 tx_period_bytes;
	u32 queue_bytes;
	u32 util;
	u32 mbit_ps;
	u32 node_id;
	u32 port_id;
	u32 residence_ns;
	u32 ts_res_ns;
	u32 tx_refresh_ns;
	u16 has;
	u16 bad;
};

/**
 * struct tlm_stack - metadata of a packet, in any format
 * @format: enum tlm_format
 * @space: GNS, namespace ID or domain ID
 * @type: trace type or instruction bitmap; 0 in IFA
 * @node_bytes: length of a hop's metadata without opaque state; 0 in IFA: the layout has it
 * @opaque: opaque state with its own length follows the metadata of each hop (IOAM)
 * @full: a hop had no room for its metadata
 * @max_bytes: most that all metadata may have, where a hop without room leaves no trace (IFA); 0:
 *	@full says it
 * @element_at: positions of the elements in a hop's metadata, bytes
 * @data: the newest metadata
 * @bytes: length of all metadata
 */
struct tlm_stack {
	u8 format;
	u8 node_bytes;
	bool opaque;
	bool full;
	u32 max_bytes;
	u32 space;
	u32 type;
	u8 element_at[TLM_ELEMENTS_MAX];
	const u8 *data;
	u32 bytes;
};

/**
 * struct tlm_path - records of a packet
 * @hops: number of hops that wrote metadata
 * @records: number of valid entries of @record, up to TLM_HOPS_MAX
 * @path_id: hash of all hops' nodes and ports, 12 bits
 * @full: a hop had no room, or may have had none, or there are more than TLM_HOPS_MAX
 * @bad: TLM_BAD_* of all records
 * @record: the records, that of the first hop first
 */
struct tlm_path {
	u8 hops;
	u8 records;
	u16 path_id;
	bool full;
	u16 bad;
	struct tlm_record record[TLM_HOPS_MAX];
};

/* Length in IFA of the metadata of a hop without a layout: 8 words in all public examples. */
#define TLM_IFA_BYTES_DEFAULT	32U

/**
 * ntlm_reduce() - reduce the metadata of all hops
 * @path: result
 * @t: table, validated
 * @s: the packet's metadata
 *
 * If there are more than TLM_HOPS_MAX hops, those next to the receiver have records. A hop that no
 * layout fits has an empty record.
 *
 * Return: true if the metadata is a whole number of hops.
 */
bool ntlm_reduce(struct tlm_path *path, const struct tlm_table *t, const struct tlm_stack *s);

/**
 * ntlm_stack_ifa() - the metadata of an IFA packet
 * @s: result
 * @v: the packet
 * @packet: the packet, from the IFA header
 */
void ntlm_stack_ifa(struct tlm_stack *s, const struct ifa_view *v, const u8 *packet);

/**
 * ntlm_stack_ioam() - the metadata of an IOAM trace
 * @s: result
 * @v: the header
 * @hdr: the extension header
 */
void ntlm_stack_ioam(struct tlm_stack *s, const struct ioam_view *v, const u8 *hdr);

/**
 * ntlm_stack_intmd() - the metadata of an INT-MD packet
 * @s: result
 * @v: the packet
 * @shim: the packet, from the shim
 */
void ntlm_stack_intmd(struct tlm_stack *s, const struct intmd_view *v, const u8 *shim);

/**
 * ntlm_check() - validate a layout
 * @l: any values
 *
 * Return: NULL, or the reason why the layout is refused, for the administrator.
 */
const char *ntlm_check(const struct int_layout *l);

/**
 * ntlm_check_ports() - validate a table of port speeds
 * @port: the table
 * @ports: number of entries
 *
 * Return: NULL, or the reason why the table is refused.
 */
const char *ntlm_check_ports(const struct int_layout_port *port, u32 ports);

extern const struct int_layout ntlm_builtin_layouts[INT_LAYOUT_BUILTINS];

#endif /* HOPCC_NET_TLM_INT_LAYOUT_H */
