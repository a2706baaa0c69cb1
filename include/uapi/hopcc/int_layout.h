/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Layouts of telemetry that switches of other vendors write, by net_tlm's generic netlink: family
 * INT_LAYOUT_GENL_NAME, for the network namespace of the socket. A table is replaced as a whole. A
 * netns without a table reads no such telemetry.
 *
 *	SET	LAYOUTS, and PORTS, SCHEMA, TRUST_IDLE; CHECK: validate only. CAP_NET_ADMIN
 *	DEL	remove the table. CAP_NET_ADMIN
 *	GET	the table; BUILTIN: the built-in layouts, in the order of enum int_layout_builtin
 */
#ifndef HOPCC_UAPI_INT_LAYOUT_H
#define HOPCC_UAPI_INT_LAYOUT_H

#include <linux/types.h>

#define INT_LAYOUT_GENL_NAME	"hopcc_int"
#define INT_LAYOUT_GENL_VERSION	1

#define INT_LAYOUT_FIELDS	9
#define INT_LAYOUT_SPEEDS	16
#define INT_LAYOUT_MAX		32
#define INT_LAYOUT_PORTS_MAX	4096

enum int_layout_command {
	INT_LAYOUT_CMD_UNSPEC,
	INT_LAYOUT_CMD_SET,
	INT_LAYOUT_CMD_DEL,
	INT_LAYOUT_CMD_GET,
};

/**
 * enum int_layout_attribute - attributes
 * @INT_LAYOUT_A_UNSPEC: invalid
 * @INT_LAYOUT_A_LAYOUTS: array of struct int_layout, the more specific ones first
 * @INT_LAYOUT_A_PORTS: array of struct int_layout_port, in ascending order of node and port
 * @INT_LAYOUT_A_SCHEMA: u32: IOAM: schema ID of opaque state that is one of hopcc's records
 * @INT_LAYOUT_A_TRUST_IDLE: flag: an empty queue is reported truly
 * @INT_LAYOUT_A_CHECK: flag: validate only
 * @INT_LAYOUT_A_BUILTIN: flag: the built-in layouts
 * @INT_LAYOUT_A_LAST: number of values
 */
enum int_layout_attribute {
	INT_LAYOUT_A_UNSPEC,
	INT_LAYOUT_A_LAYOUTS,
	INT_LAYOUT_A_PORTS,
	INT_LAYOUT_A_SCHEMA,
	INT_LAYOUT_A_TRUST_IDLE,
	INT_LAYOUT_A_CHECK,
	INT_LAYOUT_A_BUILTIN,
	INT_LAYOUT_A_LAST,
};

#define INT_LAYOUT_A_MAX (INT_LAYOUT_A_LAST - 1)

/**
 * enum int_layout_builtin - built-in layouts, in this order
 * @INT_LAYOUT_TRIDENT3: IFA of Broadcom's Trident3. Assumed: speed codes; the first of the two
 *	buffer statistics is the queue, in bytes. IFA-CC's counter is not part of it: its position
 *	and unit are not public
 * @INT_LAYOUT_TOMAHAWK4: IFA of the vendor's example for Tomahawk4, whose fields are programmable;
 *	no speed. Assumed: the same
 * @INT_LAYOUT_LINUX_IOAM: IOAM of Linux. The upper four bits of the egress ID are a speed code of
 *	hopcc's records, and the lower twelve the port, if the administrator sets them so; with
 *	codes 0 and 15 the speed is not known
 * @INT_LAYOUT_INT_MD: INT-MD 2.1 with the instructions that hopcc asks for. Assumed: queue in
 *	bytes, time in ns, utilisation in parts per million; these units are the vendor's choice
 * @INT_LAYOUT_BUILTINS: number of layouts
 */
enum int_layout_builtin {
	INT_LAYOUT_TRIDENT3,
	INT_LAYOUT_TOMAHAWK4,
	INT_LAYOUT_LINUX_IOAM,
	INT_LAYOUT_INT_MD,
	INT_LAYOUT_BUILTINS,
};

/**
 * enum int_layout_field_id - fields of a layout, in this order, and the units of scaled values
 * @INT_LAYOUT_QUEUE: queue length, bytes
 * @INT_LAYOUT_TX: counter of sent bytes
 * @INT_LAYOUT_UTIL: utilisation of the egress port, 2^-20
 * @INT_LAYOUT_SECONDS: seconds of the timestamp
 * @INT_LAYOUT_NS: the fraction of a second if there are seconds, otherwise the timestamp, ns
 * @INT_LAYOUT_RESIDENCE: time between arrival and departure, ns
 * @INT_LAYOUT_SPEED: with INT_LAYOUT_F_CODE, index of the table of speeds; otherwise Mbit/s
 * @INT_LAYOUT_NODE: ID of the node
 * @INT_LAYOUT_PORT: ID of the egress port
 */
enum int_layout_field_id {
	INT_LAYOUT_QUEUE,
	INT_LAYOUT_TX,
	INT_LAYOUT_UTIL,
	INT_LAYOUT_SECONDS,
	INT_LAYOUT_NS,
	INT_LAYOUT_RESIDENCE,
	INT_LAYOUT_SPEED,
	INT_LAYOUT_NODE,
	INT_LAYOUT_PORT,
};

/**
 * struct int_layout_field - position and scale of a field: value = raw * mul >> shift
 * @element: bit number of the IOAM trace type or of the INT instruction; 0 in IFA
 * @width: number of bits; 0: the format does not have the field
 * @shift: log2 of the divisor
 * @ones_missing: 1: all ones mean that the value is not available
 * @bit: position of the most significant bit in the element
 * @pad: 0
 * @mul: factor
 */
struct int_layout_field {
	__u8	element;
	__u8	width;
	__u8	shift;
	__u8	ones_missing;
	__u16	bit;
	__u16	pad;
	__u32	mul;
};

/* Flags of struct int_layout: the speed is a code; reduce residence times; add them to the time. */
#define INT_LAYOUT_F_CODE		0x1
#define INT_LAYOUT_F_RESIDENCE_REDUCE	0x2
#define INT_LAYOUT_F_EGRESS_TIME	0x4
#define INT_LAYOUT_F_ALL		0x7

/**
 * struct int_layout - layout of the metadata of a kind of hop
 * @format: 0: IFA 2.0, 1: IOAM, 2: INT-MD
 * @node_words: IFA: length of a hop's metadata, words; otherwise 0
 * @flags: INT_LAYOUT_F_*
 * @pad: 0
 * @space: GNS, namespace ID or domain ID
 * @space_mask: bits of @space that must match; 0: any
 * @type: bits that the packet's trace type or instructions must have; 0 in IFA
 * @device: first word of the metadata
 * @device_mask: bits of @device that must match; 0: any
 * @mbit_ps: speed of a port if neither a field nor a port has it, Mbit/s; 0: not known
 * @ts_res_ns: resolution of the timestamp, ns
 * @tx_refresh_ns: interval at which the switch updates the counter, ns; 0: for each packet
 * @util_window_ns: interval over which it averages the utilisation, ns; 0: not known
 * @speed_mbit: speeds by code, Mbit/s
 * @field: the fields, by enum int_layout_field_id
 */
struct int_layout {
	__u8	format;
	__u8	node_words;
	__u8	flags;
	__u8	pad;
	__u32	space;
	__u32	space_mask;
	__u32	type;
	__u32	device;
	__u32	device_mask;
	__u32	mbit_ps;
	__u32	ts_res_ns;
	__u32	tx_refresh_ns;
	__u32	util_window_ns;
	__u32	speed_mbit[INT_LAYOUT_SPEEDS];
	struct int_layout_field field[INT_LAYOUT_FIELDS];
};

/**
 * struct int_layout_port - speed of a port that the telemetry does not report
 * @node_id: ID of the node
 * @port_id: ID of the egress port
 * @mbit_ps: Mbit/s
 */
struct int_layout_port {
	__u32	node_id;
	__u32	port_id;
	__u32	mbit_ps;
};

#endif /* HOPCC_UAPI_INT_LAYOUT_H */
