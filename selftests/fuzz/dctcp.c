// SPDX-License-Identifier: GPL-2.0
/* The DCTCP sender and receiver: counters, alpha and window stay in range. */
#include "fuzz.h"
#include "dctcp_receiver.h"
#include "../../tcp_dctcp_ms/dctcp_sender.c"

/* The largest TCP window, RFC 7323 */
#define WINDOW_MAX_BYTES 0x40000000U

static void receive(void)
{
	const struct dctcp_receiver r = { .rcv_nxt_seq = fuzz_u32(), .ce = fuzz_flag() };
	const bool ce = fuzz_flag();
	const u32 acked_seq = fuzz_u32();
	const enum dctcp_ack ack = dctcp_classify_packet(&r, ce, acked_seq);

	FUZZ_CLAIM((ack == DCTCP_ACK_AS_USUAL) == (ce == r.ce));
	FUZZ_CLAIM(ack != DCTCP_ACK_FLUSH || (s32)(r.rcv_nxt_seq - acked_seq) > 0);
}

static void reduce(const struct dctcp_vars *v)
{
	const u32 cwnd_pkts = fuzz_u32();
	const u32 half_pkts = dctcp_cwnd_after_loss(cwnd_pkts);
	const u32 marked_pkts = dctcp_cwnd_after_mark(cwnd_pkts, v->alpha);

	FUZZ_CLAIM(half_pkts >= DCTCP_CWND_MIN_PKTS);
	FUZZ_CLAIM(half_pkts <= max(cwnd_pkts, DCTCP_CWND_MIN_PKTS));
	/* A mark never reduces the window more than a loss. */
	FUZZ_CLAIM(marked_pkts >= half_pkts);
	FUZZ_CLAIM(marked_pkts <= max(cwnd_pkts, DCTCP_CWND_MIN_PKTS));
}

static void end_window(struct dctcp_vars *v, u32 nxt_seq)
{
	const u32 alpha = dctcp_update_alpha(v);

	FUZZ_CLAIM(alpha <= DCTCP_ALPHA_ONE);
	FUZZ_CLAIM(v->marked_bytes || alpha <= v->alpha);
	FUZZ_CLAIM(v->marked_bytes != v->sent_bytes || alpha >= v->alpha);
	v->alpha = alpha;
	dctcp_next_window(v, nxt_seq);
}

static void fuzz_once(void)
{
	u32 una_seq = fuzz_u32(), nxt_seq = una_seq;
	struct dctcp_vars v;

	dctcp_start(&v, una_seq);
	while (fuzz_has_more()) {
		const u32 room_bytes = WINDOW_MAX_BYTES - (nxt_seq - una_seq);
		const bool old = fuzz_choice(8) == 0;

		nxt_seq += fuzz_range(0, room_bytes);
		if (old) {
			dctcp_account_ack(&v, una_seq - fuzz_range(0, S32_MAX), fuzz_flag());
		} else {
			una_seq += fuzz_range(0, nxt_seq - una_seq);
			dctcp_account_ack(&v, una_seq, fuzz_flag());
		}
		FUZZ_CLAIM(v.una_seq == una_seq);
		FUZZ_CLAIM(v.marked_bytes <= v.sent_bytes);
		FUZZ_CLAIM(v.sent_bytes <= 2 * WINDOW_MAX_BYTES);
		if (dctcp_window_over(&v))
			end_window(&v, nxt_seq);
		reduce(&v);
		receive();
	}
	FUZZ_CLAIM(dctcp_choose_law(fuzz_u32(), 0) == DCTCP_LAW_DCTCP);
}
