// SPDX-License-Identifier: GPL-2.0
/*
 * INT headers that GRO merges: the newest one stays complete, and a sender that receives one answer
 * gets the same state as after an answer to each packet.
 */
#include "int_header.h"
#include "../../hop_core/hpcc.c"
#include "../../net_int/int_carrier.c"

/*
 * Draw a DATA header that int_check() passes, followed by a tail, in memory of exactly that length.
 */
static struct int_hdr *draw_data(void)
{
	const u32 slots = fuzz_range(0, INT_SLOTS_MAX);
	struct int_hdr *h = malloc(int_hdr_bytes(slots) + INT_TAIL_BYTES);
	struct int_tail *tail;
	u32 i;

	int_write(h, 6, INT_TYPE_DATA, fuzz_byte(), slots);
	h->path = cpu_to_be32(fuzz_range(1, INT_HOPS_SATURATED) << INT_HOPS_SHIFT | fuzz_u32());
	for (i = 0; i < slots; i++)
		h->record[i] = cpu_to_be64(fuzz_u64());
	tail = (struct int_tail *)nint_tail_of(h);
	*tail = (struct int_tail){ .first = cpu_to_be32(fuzz_u32()),
				   .second = cpu_to_be32(fuzz_u32()) };
	return h;
}

/*
 * Draw the header of the next segment: usually of the same length, with other records and a
 * slightly higher id.
 */
static struct int_hdr *draw_next(const struct int_hdr *held)
{
	const u32 bytes = nint_shim_bytes(held);
	struct int_tail *tail;
	struct int_hdr *h;
	u32 i;

	if (!fuzz_choice(8))
		return draw_data();
	h = malloc(bytes);
	memcpy(h, held, bytes);
	for (i = 0; i < int_slots(h); i++)
		h->record[i] = cpu_to_be64(fuzz_u64());
	tail = (struct int_tail *)nint_tail_of(h);
	tail->first = cpu_to_be32(be32_to_cpu(tail->first) + fuzz_range(0, 2));
	if (!fuzz_choice(4))
		((u8 *)h)[fuzz_choice(bytes)] ^= 1 << fuzz_choice(8);
	return h;
}

static void claim_answers(struct nint_asker one, u32 id[2], u32 seq)
{
	struct nint_asker each = one;

	FUZZ_CLAIM(nint_answered(&each, id[0], seq, false, 2000) == INT_NEWS);
	FUZZ_CLAIM(nint_answered(&each, id[1], seq + 1000, false, 2000) == INT_NEWS);
	FUZZ_CLAIM(nint_answered(&one, id[1], seq + 1000, false, 2000) == INT_NEWS);
	FUZZ_CLAIM(one.received && one.received_id == each.received_id &&
		   one.received_seq == each.received_seq);
	FUZZ_CLAIM(one.waiting == each.waiting && one.waiting_ns == each.waiting_ns);
	FUZZ_CLAIM(one.proven && !one.unanswered);
}

/* The sender's newest packet has the id of the newest header or a later one. */
static void answer(const struct int_hdr *held, const struct int_hdr *h)
{
	u32 id[2] = { be32_to_cpu(nint_tail_of(held)->first), be32_to_cpu(nint_tail_of(h)->first) };
	struct nint_asker asker = { .left_ns = 1000, .waiting = true, .waiting_ns = 1000 };

	asker.id = id[1] + fuzz_range(0, 2);
	if (asker.id - id[0] < INT_IDS_MEMORY)
		claim_answers(asker, id, fuzz_u32());
}

static void fuzz_once(void)
{
	struct int_hdr *held = draw_data();

	while (fuzz_has_more()) {
		struct int_hdr *h = draw_next(held);
		const u32 bytes = h->words * INT_WORD_BYTES;

		/*
		 * A flipped bit may change the length, so check it against the memory that is
		 * there.
		 */
		if (bytes + INT_TAIL_BYTES > nint_shim_bytes(held) ||
		    int_check(h, bytes) != INT_OK || !nint_may_merge(held, h)) {
			free(h);
			continue;
		}
		FUZZ_CLAIM(h->type == INT_TYPE_DATA && h->next == 6 && h->flags == held->flags);
		FUZZ_CLAIM(int_slots(h) == int_slots(held) && h->path == held->path);
		FUZZ_CLAIM(nint_tail_of(h)->second == nint_tail_of(held)->second);
		answer(held, h);
		nint_merge(held, h);
		FUZZ_CLAIM(memcmp(held, h, nint_shim_bytes(h)) == 0);
		FUZZ_CLAIM(int_check(held, bytes) == INT_OK);
		free(h);
	}
	free(held);
}
