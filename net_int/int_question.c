// SPDX-License-Identifier: GPL-2.0
/* Builds questions and their answers; see int_question.h. */
#include "int_question.h"

static struct int_msg nint_negotiating_msg(u64 cookie, u64 peer_cookie)
{
	return (struct int_msg) {
		.magic = cpu_to_be32(INT_MSG_MAGIC),
		.cookie = cpu_to_be64(peer_cookie),
		.kind = cpu_to_be16(INT_MSG_HANDSHAKE),
		.tag_hi = cpu_to_be32(cookie >> 32),
		.tag_lo = cpu_to_be32((u32)cookie),
	};
}

void nint_control_write_question(struct nint_control *ctl, u64 cookie, unsigned int slots)
{
	int_write(&ctl->hdr, 0, INT_TYPE_PROBE, 0, slots);
	ctl->msg = nint_negotiating_msg(cookie, 0);
	ctl->terms = (struct int_terms){};
}

void nint_control_write_reply(struct nint_control *ctl,
			      const struct int_hdr *question, u64 cookie,
			      u64 peer_cookie)
{
	if (question) {
		memcpy(ctl->room, question, question->words * INT_WORD_BYTES);
		ctl->hdr.next = 0;
		ctl->hdr.type = INT_TYPE_ECHO;
		ctl->hdr.flags = 0;
	} else {
		int_write(&ctl->hdr, 0, INT_TYPE_ECHO, 0, 0);
	}
	ctl->msg = nint_negotiating_msg(cookie, peer_cookie);
}

bool nint_question_end(u32 una_seq, u32 undo_seq, u32 wnd_bytes, u32 *end_seq)
{
	const u32 since_bytes = una_seq - undo_seq;

	*end_seq = since_bytes > wnd_bytes ? una_seq : undo_seq;
	return since_bytes > wnd_bytes || since_bytes <= wnd_bytes >> NINT_QUESTION_NEAR_SHIFT;
}
