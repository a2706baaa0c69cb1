// SPDX-License-Identifier: GPL-2.0
/* A hop's entry stays within the INT header, which is valid afterwards. */
#include "int_header.h"
#include <uapi/linux/pkt_sched_int.h>
#include "../../sch_int/int_hop.c"

static struct sint_hop_params draw_params(void)
{
	const u64 rate_bytes_ps = fuzz_range(0, TC_INT_RATE_MAX_BYTES_PS);

	return (struct sint_hop_params) {
		.code = fuzz_flag() ? sint_hop_code(rate_bytes_ps) : fuzz_range(0, 14),
		.switch_id = fuzz_range(0, TC_INT_SWITCH_ID_MAX),
		.port_id = fuzz_range(0, TC_INT_PORT_ID_MAX),
		.pace_q40 = sint_hop_pace_q40(rate_bytes_ps),
	};
}

/* Sum of the words in wire order, as in a checksum */
static s64 sum_words(const struct int_hdr *h)
{
	const u32 *word = (const u32 *)h;
	s64 sum = 0;
	u32 i;

	for (i = 0; i < h->words; i++)
		sum += word[i];
	return sum;
}

static void stamp(struct int_hdr *h, u32 bytes, const struct sint_hop_params *p)
{
	const struct sint_hop_moment moment = { fuzz_u64(), fuzz_u64(), fuzz_u64() };
	const struct int_record r = sint_hop_record(p, &moment);
	const u32 hops = int_hops(h), path_id = int_path_id(h), records = int_records(h);
	s64 words = -sum_words(h), change;
	const bool room = sint_hop_write(h, p, int_pack(&r), &change);

	FUZZ_CLAIM(change == words + sum_words(h));
	FUZZ_CLAIM(room == hops < int_slots(h));
	FUZZ_CLAIM(int_hops(h) == min(hops + 1, INT_HOPS_SATURATED));
	FUZZ_CLAIM(int_path_id(h) == (path_id ^ p->switch_id));
	FUZZ_CLAIM(int_records(h) == min(records + 1, int_slots(h)));
	FUZZ_CLAIM(!room || h->record[hops] == int_pack(&r));
	/* The next hop accepts the header that a hop has written. */
	FUZZ_CLAIM(int_check(h, bytes) == INT_OK);
}

static void fuzz_once(void)
{
	const struct sint_hop_params p = draw_params();
	u64 waited_ns = fuzz_u64();
	struct int_hdr *h;
	u32 bytes;

	/* 200 bytes/ns for 2^40 ns, plus the rounding of the rate */
	FUZZ_CLAIM(sint_hop_waited_bytes(&p, waited_ns) <= 200ULL << HOP_MARK_TIME_BITS);
	h = draw_header(&bytes);
	if (int_check(bytes < INT_HDR_BYTES ? NULL : h, bytes) == INT_OK)
		do
			stamp(h, bytes, &p);
		while (fuzz_has_more());
	free(h);
}
