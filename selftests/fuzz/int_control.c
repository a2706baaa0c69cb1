// SPDX-License-Identifier: GPL-2.0
/* Control packets of INT as they arrive: read within the packet, and only what is whole */
#include "packet.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"
#include "int_control.h"

/* Draw a TCP segment whose payload starts at @offset_bytes. */
static void draw_segment(struct sk_buff *skb, u32 *offset_bytes)
{
	u8 frame[FRAME_MAX_BYTES] = {};
	struct int_msg msg = {
		.kind = cpu_to_be16(fuzz_range(0, INT_ANSWER_WINDOW + 2)),
		.cookie = cpu_to_be64(fuzz_flag()), .tag_lo = cpu_to_be32(fuzz_flag()),
		.seq = cpu_to_be32(fuzz_u32()), .wnd = cpu_to_be32(fuzz_u32()),
		.t_ns = cpu_to_be32(fuzz_u32()), .flows = cpu_to_be16(fuzz_byte()),
	};
	const u32 slots = fuzz_range(0, INT_SLOTS_MAX);
	u8 room[INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES] __aligned(4) = {};
	struct int_hdr *h = (struct int_hdr *)room;
	struct int_terms terms = {};
	u32 at;

	*offset_bytes = fuzz_range(0, 60);
	int_write(h, fuzz_byte(), fuzz_range(0, INT_TYPE_ECHO + 1), fuzz_byte(), slots);
	h->path = cpu_to_be32(fuzz_u32());
	if (!fuzz_choice(4))
		room[fuzz_range(0, INT_HDR_BYTES - 1)] = fuzz_byte();
	memset(&terms, fuzz_byte(), sizeof(terms));
	at = put_header(frame, *offset_bytes, &msg, sizeof(msg));
	at = put_header(frame, at, h, int_hdr_bytes(slots));
	if (fuzz_flag())
		at = put_header(frame, at, &terms, sizeof(terms));
	skb->len = fuzz_choice(4) ? at : fuzz_range(*offset_bytes, FRAME_MAX_BYTES);
	skb->head_bytes = fuzz_range(0, skb->len);
	skb->head = malloc(skb->head_bytes);
	skb->data = skb->head;
	skb->rest = malloc(skb->len - skb->head_bytes);
	memcpy(skb->data, frame, skb->head_bytes);
	memcpy(skb->rest, frame + skb->head_bytes, skb->len - skb->head_bytes);
}

static void check_answer(const struct nint_control *ctl)
{
	const u32 t_ns = be32_to_cpu(ctl->msg.t_ns), now_ns = fuzz_u32();
	struct int_answer a;

	if (!nint_control_answer(ctl, now_ns, &a))
		return;
	FUZZ_CLAIM(a.kind <= INT_ANSWER_WINDOW);
	FUZZ_CLAIM(a.seq == be32_to_cpu(ctl->msg.seq));
	FUZZ_CLAIM(!a.back_ns == (!t_ns || a.kind == INT_ANSWER_RATIO));
	FUZZ_CLAIM(!a.back_ns || a.back_ns == now_ns - t_ns || now_ns == t_ns);
	if (a.kind == INT_ANSWER_SUMMARY)
		FUZZ_CLAIM(a.index < a.hops && a.index < INT_SLOTS_MAX &&
			   int_slots(&ctl->hdr) == 1);
	if (a.kind == INT_ANSWER_RECORDS) {
		FUZZ_CLAIM(int_check(&a.hdr, sizeof(a.room)) == INT_OK);
		FUZZ_CLAIM(int_records(&a.hdr) <= INT_SLOTS_MAX);
	}
	nint_answer_is_empty(&a);
}

/* All that was read is in the packet, and the packet ends behind it. */
static void check_control(const struct sk_buff *skb, u32 offset_bytes, enum int_type type,
			  struct nint_control *ctl)
{
	const u32 hdr_bytes = ctl->hdr.words * INT_WORD_BYTES;
	const u32 terms_bytes = type == INT_TYPE_PROBE ? INT_TERMS_BYTES : 0;
	u8 all[FRAME_MAX_BYTES];

	FUZZ_CLAIM(ctl->hdr.type == type && hdr_bytes <= sizeof(ctl->room));
	FUZZ_CLAIM(skb->len == offset_bytes + INT_MSG_BYTES + hdr_bytes + terms_bytes);
	skb_copy_bits(skb, 0, all, skb->len);
	FUZZ_CLAIM(!memcmp(&ctl->msg, all + offset_bytes, INT_MSG_BYTES));
	FUZZ_CLAIM(!memcmp(ctl->room, all + offset_bytes + INT_MSG_BYTES, hdr_bytes));
	FUZZ_CLAIM(!memcmp(nint_control_terms(ctl), all + skb->len - terms_bytes, terms_bytes));
}

/* A mark is within TCP's header. */
static void check_type(struct sk_buff *skb, u32 tcp_at, u32 payload_at)
{
	static const u32 marks[] = { INT_MARK_PROBE, INT_MARK_ECHO };
	const u32 at = tcp_at + sizeof(struct tcphdr), which = fuzz_range(0, 2);
	__be32 mark = cpu_to_be32(which < 2 ? marks[which] : fuzz_u32());
	unsigned int type;

	if (at + sizeof(mark) <= skb->head_bytes)
		memcpy(skb->data + at, &mark, sizeof(mark));
	type = nint_control_type(skb, tcp_at, payload_at);
	FUZZ_CLAIM(!type || (at + sizeof(mark) <= payload_at && payload_at <= skb->len));
	FUZZ_CLAIM(!type || type == INT_TYPE_PROBE || type == INT_TYPE_ECHO);
}

static void fuzz_once(void)
{
	const enum int_type type = fuzz_flag() ? INT_TYPE_PROBE : INT_TYPE_ECHO;
	struct nint_control *ctl = malloc(sizeof(*ctl));
	struct sk_buff skb = {};
	u32 offset_bytes;

	draw_segment(&skb, &offset_bytes);
	check_type(&skb, fuzz_range(0, offset_bytes), offset_bytes);
	if (nint_control_read(&skb, offset_bytes, type, ctl) == INT_OK) {
		check_control(&skb, offset_bytes, type, ctl);
		if (type == INT_TYPE_ECHO)
			check_answer(ctl);
	}
	free_packet(&skb);
	free(ctl);
}
