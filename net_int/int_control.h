/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INT headers in front of TCP, in a GSO packet or in a packet that an ICMP error quotes.
 *
 * Control packets as they arrive: a TCP segment with a mark, whose payload starts with a message,
 * followed by an INT header and, in a probe, by parameters for the receiver's algorithm. Another
 * experiment may have the same option, so a packet that does not pass all checks is left to TCP.
 */
#ifndef HOPCC_NET_INT_INT_CONTROL_H
#define HOPCC_NET_INT_INT_CONTROL_H

#include <linux/in.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <hopcc/flow/int_flow.h>
#include <hopcc/lib/hop_quoted.h>
#include <hopcc/lib/hpcc.h>

/* The longest header in front of TCP, with its tail. */
#define INT_SHIM_MAX_BYTES (INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + INT_TAIL_BYTES)

/**
 * nint_pull_header() - validate a header in front of TCP, and make it linear
 * @skb: the packet, or the error that quotes it, from skb->data on; may be forged
 * @offset_bytes: offset of our header from skb->data
 *
 * Return: length of the header with its tail; it and HOP_ICMP_QUOTED_BYTES of TCP behind it are
 * then linear. 0 if there is not that much of it, or the header is not valid.
 */
unsigned int nint_pull_header(struct sk_buff *skb, unsigned int offset_bytes);

/**
 * struct nint_control - a control packet (probe or answer)
 * @msg: the message
 * @hdr: the header, validated
 * @room: memory for @hdr and its records
 * @terms: parameters in a probe
 */
struct nint_control {
	struct int_msg msg;
	union {
		struct int_hdr hdr;
		u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES];
	};
	struct int_terms terms;
};

/**
 * nint_control_type() - look for the mark of a control packet
 * @skb: a TCP segment
 * @tcp_at: offset of its TCP header from skb->data
 * @payload_at: offset of what follows the TCP header; at most skb->len
 *
 * Return: INT_TYPE_PROBE, INT_TYPE_ECHO, or 0 if TCP's first option is no mark.
 */
unsigned int nint_control_type(const struct sk_buff *skb, unsigned int tcp_at,
			       unsigned int payload_at);

/**
 * nint_control_read() - read a control packet
 * @skb: a TCP segment
 * @offset_bytes: offset of the message from skb->data; at most skb->len
 * @type: the type that the packet's mark indicates, INT_TYPE_PROBE or INT_TYPE_ECHO
 * @ctl: result: the parts of the packet; @ctl->terms only for a probe
 *
 * Return: INT_OK, or the reason why the packet is not a control packet.
 */
enum int_fault nint_control_read(const struct sk_buff *skb,
				 unsigned int offset_bytes, enum int_type type,
				 struct nint_control *ctl);

/**
 * nint_control_answer() - read an answer
 * @ctl: a control packet of INT_TYPE_ECHO that nint_control_read() accepted
 * @now_ns: time at which it arrived, local clock
 * @a: result: the answer
 *
 * Return: true if @a is valid; false if its kind is unknown or its hop is out of range.
 */
bool nint_control_answer(const struct nint_control *ctl, u64 now_ns, struct int_answer *a);

/**
 * nint_answer_is_empty() - check if an answer reports nothing
 * @a: an answer
 *
 * Return: true if no hop wrote a record, or one has an unknown speed.
 */
static inline bool nint_answer_is_empty(const struct int_answer *a)
{
	return a->kind == INT_ANSWER_RECORDS && !hpcc_understands(&a->hdr);
}

#endif /* HOPCC_NET_INT_INT_CONTROL_H */
