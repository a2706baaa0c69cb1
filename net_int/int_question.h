/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A question and its answer negotiate on an established connection. They have the forms of a probe
 * and of an answer, and also carry the sender's cookie:
 *
 *	 question	kind INT_MSG_HANDSHAKE, cookie 0, the sender's cookie, room for records
 *	 its answer	kind INT_MSG_HANDSHAKE, the question's cookie, the sender's cookie, the
 *			records of the question
 */
#ifndef HOPCC_NET_INT_INT_QUESTION_H
#define HOPCC_NET_INT_INT_QUESTION_H

#include <linux/string.h>
#include <linux/types.h>
#include <hopcc/wire/int.h>

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

static inline bool nint_control_negotiates(const struct nint_control *ctl)
{
	return ctl->msg.kind == cpu_to_be16(INT_MSG_HANDSHAKE);
}

/* The sender's cookie in a control packet that negotiates. */
static inline u64 nint_control_cookie(const struct nint_control *ctl)
{
	return (u64)be32_to_cpu(ctl->msg.tag_hi) << 32 | be32_to_cpu(ctl->msg.tag_lo);
}

/**
 * nint_control_may_ask() - check the cookies of a question
 * @ctl: a control packet that negotiates, which nint_control_read() accepted as a probe
 *
 * Return: true if it has the sender's cookie and, unlike all other control packets, none of the
 * receiver.
 */
static inline bool nint_control_may_ask(const struct nint_control *ctl)
{
	return !ctl->msg.cookie && nint_control_cookie(ctl);
}

/**
 * nint_control_write_question() - write a question
 * @ctl: result
 * @cookie: this end's cookie
 * @slots: number of slots for records, up to INT_SLOTS_MAX
 */
void nint_control_write_question(struct nint_control *ctl, u64 cookie, unsigned int slots);

/**
 * nint_control_write_reply() - write the answer to a question
 * @ctl: result
 * @question: the question's header, which nint_control_read() accepted; NULL: it is not reported
 * @cookie: this end's cookie
 * @peer_cookie: the question's cookie
 */
void nint_control_write_reply(struct nint_control *ctl,
			      const struct int_hdr *question, u64 cookie,
			      u64 peer_cookie);

/* log2 of the part of a window within which a question's bytes are still old bytes to the peer. */
#define NINT_QUESTION_NEAR_SHIFT 2

/**
 * nint_question_end() - choose the end of a question's bytes after a recovery
 * @una_seq: SND.UNA
 * @undo_seq: SND.UNA when the recovery started
 * @wnd_bytes: maximum window of the peer
 * @end_seq: result: the sequence number behind the question
 *
 * A peer without telemetry reports a question as received twice. TCP takes a report of bytes behind
 * @undo_seq for one of its retransmissions, and may undo the reduction of the window. Once a window
 * has been acknowledged since then, no true report can arrive any more.
 *
 * Return: false if a question has to wait.
 */
bool nint_question_end(u32 una_seq, u32 undo_seq, u32 wnd_bytes, u32 *end_seq);

#endif /* HOPCC_NET_INT_INT_QUESTION_H */
