/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP option by which carriers negotiate, and how to find an experimental option (RFC 6994)
 * among others. One option is for all carriers of a connection:
 *
 *	 0                   1                   2                   3
 *	+---------------+---------------+-------------------------------+
 *	|   kind, 254   |  length, 16   |             ExID              |
 *	+---------------+---------------+-------------------------------+
 *	|     asks      |    answers    |            zero               |
 *	+---------------+---------------+-------------------------------+
 *	|       cookie of net_int in this direction, or 0, 64 bits      |
 *	|                                                               |
 *	+---------------------------------------------------------------+
 *
 * Both bytes are sets of HOP_OPTION_*: carriers that ask if the peer takes part, and carriers that
 * take part. A SYN asks, a SYN-ACK answers, and the pure ACKs of an established connection do
 * both. TCP ignores the option.
 */
#ifndef HOPCC_WIRE_HOP_OPTION_H
#define HOPCC_WIRE_HOP_OPTION_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#define HOP_OPTION_EOL		0
#define HOP_OPTION_NOP		1
/* Options that sign the segment: nothing may be appended to it. */
#define HOP_OPTION_MD5		19
#define HOP_OPTION_AO		29

#define HOP_OPTION_KIND		254
#define HOP_OPTION_EXID		0x484f	/* "HO" */
#define HOP_OPTION_BYTES	16U
/* A TCP header with the option has at least this many bytes. */
#define HOP_OPTION_TCP_BYTES	(20U + HOP_OPTION_BYTES)

/* The carriers. */
#define HOP_OPTION_INT		0x01
#define HOP_OPTION_CSIG		0x02
#define HOP_OPTION_XCP		0x04

/**
 * struct hop_option - the option
 * @kind: HOP_OPTION_KIND
 * @length: HOP_OPTION_BYTES
 * @exid: the experiment's ID
 * @asks: carriers that ask
 * @answers: carriers that take part
 * @zero: sent as 0, ignored
 * @cookie: cookie of the sender's net_int, which its peer returns in probes; 0: none
 */
struct hop_option {
	__u8	kind;
	__u8	length;
	__be16	exid;
	__u8	asks;
	__u8	answers;
	__be16	zero;
	__be64	cookie;
} __packed __aligned(4);

/**
 * hop_option_next() - step through TCP's options
 * @opts: the options
 * @bytes: their length
 * @at: offset of an option in front of @bytes, but not of EOL
 *
 * Return: offset of the next one, at most @bytes; 0 if the option is malformed.
 */
static inline unsigned int hop_option_next(const u8 *opts, unsigned int bytes, unsigned int at)
{
	if (opts[at] == HOP_OPTION_NOP)
		return at + 1;
	if (at + 2 > bytes || opts[at + 1] < 2 || at + opts[at + 1] > bytes)
		return 0;
	return at + opts[at + 1];
}

/**
 * hop_option_find() - find an experimental option
 * @opts: the options of a TCP header
 * @bytes: their length
 * @kind: 253 or 254
 * @exid: the experiment's ID
 *
 * Return: the option, of at least 4 bytes, all of which are within @bytes; NULL if there is none.
 */
static inline const u8 *hop_option_find(const u8 *opts, unsigned int bytes, u8 kind, u16 exid)
{
	unsigned int at = 0, next;

	while (at < bytes && opts[at] != HOP_OPTION_EOL) {
		next = hop_option_next(opts, bytes, at);
		if (!next)
			break;
		if (opts[at] == kind && next - at >= 4 &&
		    (opts[at + 2] << 8 | opts[at + 3]) == exid)
			return opts + at;
		at = next;
	}
	return NULL;
}

/**
 * hop_option_may_append() - may another option be appended?
 * @opts: the options of a TCP header
 * @bytes: their length
 *
 * Return: false if the header is signed, if its options end in front of @bytes, or if they are
 * malformed.
 */
static inline bool hop_option_may_append(const u8 *opts, unsigned int bytes)
{
	unsigned int at = 0;

	while (at < bytes) {
		if (opts[at] == HOP_OPTION_EOL || opts[at] == HOP_OPTION_MD5 ||
		    opts[at] == HOP_OPTION_AO)
			return false;
		at = hop_option_next(opts, bytes, at);
		if (!at)
			return false;
	}
	return true;
}

/**
 * hop_option_init() - write an option that neither asks nor answers
 * @o: result
 * @exid: the experiment's ID
 */
static inline void hop_option_init(struct hop_option *o, u16 exid)
{
	*o = (struct hop_option) {
		.kind = HOP_OPTION_KIND,
		.length = HOP_OPTION_BYTES,
		.exid = cpu_to_be16(exid),
	};
}

/**
 * hop_option_read() - find the option by which carriers negotiate
 * @opts: the options of a TCP header
 * @bytes: their length
 * @exid: the experiment's ID
 * @o: result
 *
 * Return: true if there is one, with the right length.
 */
static inline bool hop_option_read(const u8 *opts, unsigned int bytes, u16 exid,
				   struct hop_option *o)
{
	const u8 *found = hop_option_find(opts, bytes, HOP_OPTION_KIND, exid);

	if (!found || found[1] != HOP_OPTION_BYTES)
		return false;
	memcpy(o, found, HOP_OPTION_BYTES);
	return true;
}

#endif /* HOPCC_WIRE_HOP_OPTION_H */
