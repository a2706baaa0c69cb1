// SPDX-License-Identifier: GPL-2.0
/* Reads headers and control packets; see int_control.h. */
#include "int_control.h"

unsigned int nint_pull_header(struct sk_buff *skb, unsigned int offset_bytes)
{
	struct int_hdr *h;
	unsigned int bytes;

	if (!pskb_may_pull(skb, offset_bytes + INT_HDR_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	bytes = h->words * INT_WORD_BYTES + INT_TAIL_BYTES;
	if (bytes > INT_SHIM_MAX_BYTES ||
	    !pskb_may_pull(skb, offset_bytes + bytes + HOP_ICMP_QUOTED_BYTES))
		return 0;
	h = (struct int_hdr *)(skb->data + offset_bytes);
	if (h->next != IPPROTO_TCP || int_check(h, skb->len - offset_bytes))
		return 0;
	return bytes;
}

unsigned int nint_control_type(const struct sk_buff *skb, unsigned int tcp_at,
			       unsigned int payload_at)
{
	__be32 buf;
	const __be32 *mark;

	if (payload_at < tcp_at + INT_TCP_BYTES)
		return 0;
	mark = skb_header_pointer(skb, tcp_at + sizeof(struct tcphdr), sizeof(buf), &buf);
	if (mark && *mark == htonl(INT_MARK_PROBE))
		return INT_TYPE_PROBE;
	return mark && *mark == htonl(INT_MARK_ECHO) ? INT_TYPE_ECHO : 0;
}

enum int_fault nint_control_read(const struct sk_buff *skb,
				 unsigned int offset_bytes, enum int_type type,
				 struct nint_control *ctl)
{
	unsigned int room_bytes = skb->len - offset_bytes, hdr_bytes;
	enum int_fault fault;

	if (room_bytes < INT_MSG_BYTES + INT_HDR_BYTES)
		return INT_BAD_TRUNCATED;
	room_bytes -= INT_MSG_BYTES;
	skb_copy_bits(skb, offset_bytes, &ctl->msg, INT_MSG_BYTES);
	offset_bytes += INT_MSG_BYTES;
	skb_copy_bits(skb, offset_bytes, ctl->room,
		      min_t(unsigned int, room_bytes, sizeof(ctl->room)));
	fault = int_check(&ctl->hdr, room_bytes);
	if (fault)
		return fault;
	hdr_bytes = ctl->hdr.words * INT_WORD_BYTES;
	switch (ctl->hdr.type) {
	case INT_TYPE_PROBE:
		if (room_bytes != hdr_bytes + INT_TERMS_BYTES)
			return INT_BAD_LENGTH;
		skb_copy_bits(skb, offset_bytes + hdr_bytes, &ctl->terms, INT_TERMS_BYTES);
		return type == INT_TYPE_PROBE ? INT_OK : INT_BAD_TYPE;
	case INT_TYPE_ECHO:
		if (room_bytes != hdr_bytes)
			return INT_BAD_LENGTH;
		return type == INT_TYPE_ECHO ? INT_OK : INT_BAD_TYPE;
	default:
		return INT_BAD_TYPE;
	}
}

bool nint_control_answer(const struct nint_control *ctl, u64 now_ns, struct int_answer *a)
{
	const u32 kind = be16_to_cpu(ctl->msg.kind), t_ns = be32_to_cpu(ctl->msg.t_ns);

	*a = (struct int_answer) {
		.kind = kind,
		.seq = be32_to_cpu(ctl->msg.seq),
		.flows = be16_to_cpu(ctl->msg.flows),
		.hops = int_hops(&ctl->hdr),
		.path_id = int_path_id(&ctl->hdr),
		.back_ns = t_ns && kind != INT_ANSWER_RATIO ? ((u32)now_ns - t_ns ?: 1) : 0,
	};
	switch (kind) {
	case INT_ANSWER_RECORDS:
		memcpy(a->room, ctl->room, ctl->hdr.words * INT_WORD_BYTES);
		return true;
	case INT_ANSWER_SUMMARY:
		a->index = ctl->hdr.flags & INT_FLAGS_VALUE;
		a->record = int_unpack(ctl->hdr.record[0]);
		return int_slots(&ctl->hdr) == 1 && a->index < a->hops &&
		       a->index < INT_SLOTS_MAX;
	case INT_ANSWER_RATIO:
		a->u = be32_to_cpu(ctl->msg.wnd);
		a->tau_ns = t_ns;
		return true;
	case INT_ANSWER_WINDOW:
		a->wnd_bytes = be32_to_cpu(ctl->msg.wnd);
		return true;
	}
	return false;
}
