/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wire format of Inband Flow Analyzer 2.0 (IFA), as switches of Broadcom write it.
 *
 *	 0                   1                   2                   3
 *	+-------+-------+---------------+---------------+---------------+
 *	|version|  GNS  | next protocol |R|R|R|M|S|I|T|C| max length    |  behind IP, protocol 253
 *	+-------+-------+---------------+---------------+---------------+
 *	|                   header of TCP or UDP, unchanged             |
 *	+-------------------------------+-------------------------------+
 *	|           checksum            |           reserved            |  only with flag C
 *	+-------------------------------+-------------------+---------+-+
 *	|                      packet ID                    |fragment |L|  only with flag M (MF)
 *	+---------------+---------------+---------------+---+---------+-+
 *	|request vector | action vector |   hop limit   |current length |  metadata header
 *	+---------------+---------------+---------------+---------------+
 *	|              metadata of the hops, the newest first           |
 *	+---------------------------------------------------------------+
 *
 * The initiator adds the headers. Each transit switch inserts its metadata, increases the current
 * length, and updates only IP's length and checksum: the length and the checksum of TCP or UDP
 * remain those of the original packet. Lengths are in words of 4 bytes. A namespace (GNS) of 15
 * means that the four most significant bits of each hop's metadata are its local namespace (LNS).
 *
 * The specification is not public in full. As in examples and packet dumps, the metadata header
 * follows the whole TCP header, and is not counted in the current length. The checksum is skipped,
 * since its coverage is not known. Packets with flag S (TS, metadata at the end of the packet) are
 * refused.
 */
#ifndef HOPCC_WIRE_IFA_H
#define HOPCC_WIRE_IFA_H

#include <asm/byteorder.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#define IFA_PROTOCOL		253
#define IFA_VERSION		2
#define IFA_GNS_MAX		15U
#define IFA_WORD_BYTES		4U
#define IFA_WORDS_MAX		255U
#define IFA_HOP_LIMIT_OFF	0xffU

#define IFA_FLAG_C		0x01	/* a word with a checksum follows the L4 header */
#define IFA_FLAG_TS		0x08	/* metadata at the end of the packet */
#define IFA_FLAG_MF		0x10	/* a word with packet ID and fragment ID is present */

#define IFA_NEXT_TCP		6
#define IFA_NEXT_UDP		17
#define IFA_UDP_BYTES		8U
#define IFA_TCP_MIN_BYTES	20U
/* Position of TCP's data offset in its header. */
#define IFA_TCP_DOFF_BYTE	12U

/**
 * struct ifa_hdr - header behind IP
 * @version_gns: version in the upper four bits, global namespace in the lower
 * @next: protocol of the L4 header that follows
 * @flags: IFA_FLAG_*
 * @max_words: maximum length of the metadata, words
 */
struct ifa_hdr {
	__u8	version_gns;
	__u8	next;
	__u8	flags;
	__u8	max_words;
} __packed;

/**
 * struct ifa_md - metadata header, in front of the stack
 * @request: request vector
 * @action: action vector
 * @hop_limit: number of hops that may still add metadata; IFA_HOP_LIMIT_OFF: no limit
 * @words: current length of the metadata, words
 */
struct ifa_md {
	__u8	request;
	__u8	action;
	__u8	hop_limit;
	__u8	words;
} __packed;

#define IFA_HDR_BYTES		4U
#define IFA_MD_BYTES		4U

/* The longest TCP header, with both optional words, and the longest stack. */
#define IFA_HEADERS_MAX_BYTES	(IFA_HDR_BYTES + 60 + 2 * IFA_WORD_BYTES + IFA_MD_BYTES + \
				 IFA_WORDS_MAX * IFA_WORD_BYTES)

static_assert(sizeof(struct ifa_hdr) == IFA_HDR_BYTES, "size of struct ifa_hdr");
static_assert(sizeof(struct ifa_md) == IFA_MD_BYTES, "size of struct ifa_md");

/**
 * enum ifa_fault - reasons why a packet is refused
 * @IFA_OK: it is valid
 * @IFA_BAD_TRUNCATED: the packet ends within the headers or the metadata
 * @IFA_BAD_VERSION: another version
 * @IFA_BAD_TAIL: metadata at the end of the packet
 * @IFA_BAD_NEXT: neither TCP nor UDP
 * @IFA_BAD_L4: TCP's header length is invalid
 * @IFA_BAD_LENGTH: the current length exceeds the maximum
 * @IFA_FAULTS: number of values
 */
enum ifa_fault {
	IFA_OK,
	IFA_BAD_TRUNCATED,
	IFA_BAD_VERSION,
	IFA_BAD_TAIL,
	IFA_BAD_NEXT,
	IFA_BAD_L4,
	IFA_BAD_LENGTH,
	IFA_FAULTS,
};

/**
 * struct ifa_view - positions in a valid packet; offsets are from the IFA header
 * @gns: global namespace
 * @next: IFA_NEXT_TCP or IFA_NEXT_UDP
 * @flags: IFA_FLAG_*
 * @hop_limit: hop limit in the metadata header
 * @max_words: maximum length of the stack
 * @l4_bytes: length of the L4 header in front of the metadata header
 * @md_offset: position of the metadata header
 * @stack_offset: position of the newest metadata
 * @stack_bytes: length of the stack
 * @shim_bytes: length from the end of the L4 header to the end of the stack
 */
struct ifa_view {
	u8 gns;
	u8 next;
	u8 flags;
	u8 hop_limit;
	u8 max_words;
	u16 l4_bytes;
	u16 md_offset;
	u16 stack_offset;
	u16 stack_bytes;
	u16 shim_bytes;
};

/**
 * hop_ifa_parse() - find the metadata of a packet
 * @v: result; valid only if the function returns IFA_OK
 * @packet: first byte behind IP's header; need not be aligned
 * @room_bytes: number of bytes from there to the end of the packet
 *
 * Return: IFA_OK or the reason why the packet is refused.
 */
enum ifa_fault hop_ifa_parse(struct ifa_view *v, const u8 *packet, u32 room_bytes);

/**
 * ifa_write_hdr() - initiator: write the header behind IP
 * @h: position of the header
 * @gns: global namespace, up to IFA_GNS_MAX
 * @next: protocol of the L4 header that follows
 * @max_words: room for metadata, words
 */
static inline void ifa_write_hdr(struct ifa_hdr *h, u8 gns, u8 next, u8 max_words)
{
	*h = (struct ifa_hdr) {
		.version_gns = IFA_VERSION << 4 | (gns & IFA_GNS_MAX),
		.next = next,
		.max_words = max_words,
	};
}

/**
 * ifa_write_md() - initiator: write a metadata header without metadata
 * @md: position of the header
 * @hop_limit: number of hops that may add metadata; IFA_HOP_LIMIT_OFF: no limit
 */
static inline void ifa_write_md(struct ifa_md *md, u8 hop_limit)
{
	*md = (struct ifa_md) { .hop_limit = hop_limit };
}

/**
 * ifa_may_insert() - transit: check if a hop may add its metadata
 * @v: the packet
 * @words: length of the metadata of the hop, words
 *
 * Return: true if it may.
 */
static inline bool ifa_may_insert(const struct ifa_view *v, u32 words)
{
	return v->hop_limit && v->stack_bytes / IFA_WORD_BYTES + words <= v->max_words;
}

/**
 * ifa_count() - transit: update the metadata header for inserted metadata
 * @md: metadata header
 * @words: length of the metadata, words; ifa_may_insert() has allowed it
 */
static inline void ifa_count(struct ifa_md *md, u32 words)
{
	md->words += words;
	if (md->hop_limit != IFA_HOP_LIMIT_OFF)
		md->hop_limit--;
}

#endif /* HOPCC_WIRE_IFA_H */
