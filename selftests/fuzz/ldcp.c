// SPDX-License-Identifier: GPL-2.0
/* The LDCP sender and receiver: the window stays in range for any ACKs. */
#include "fuzz.h"
#include "ldcp_receiver.h"
#include "../../tcp_ldcp/ldcp_sender.c"

#define WND_MAX ((u64)HOP_WND_MAX_PKTS << HOP_WND_SHIFT)

/* Draw parameters in the ranges of net.hopcc.tcp_ldcp_*. */
static struct ldcp_params draw_params(void)
{
	return (struct ldcp_params) {
		.alpha = hop_wnd_of_ppm(fuzz_range(1, HOP_PPM)),
		.beta = hop_wnd_of_ppm(fuzz_range(1, HOP_PPM)),
		.gamma = hop_wnd_of_ppm(fuzz_range(LDCP_GAMMA_MIN_PPM, HOP_PPM)),
		.eta = hop_wnd_of_ppm(fuzz_range(1, HOP_PPM - 1)),
		.per_rtt = fuzz_flag(),
	};
}

static u32 draw_first_pkts(void)
{
	const struct ldcp_bdp bdp = {
		.bytes = fuzz_range(0, LDCP_BDP_MAX_BYTES),
		.rate_mbit = fuzz_range(0, LDCP_RATE_MAX_MBIT),
		.rtt_us = fuzz_range(0, HOP_RTT_MAX_US),
	};
	const u32 pkts = ldcp_first_pkts(&bdp, fuzz_u32(), fuzz_range(1, 1 << 17), fuzz_u32());

	FUZZ_CLAIM(pkts >= 1 && pkts <= HOP_WND_MAX_PKTS);
	return pkts;
}

static void receive(void)
{
	const struct ldcp_receiver r = {
		.rcv_nxt_seq = fuzz_u32(), .ece_seq = fuzz_u32(), .ce = fuzz_flag(),
	};
	const u32 acked_seq = fuzz_u32();
	const bool ce = fuzz_flag();
	const enum ldcp_answer answer = ldcp_classify(&r, ce, acked_seq, fuzz_range(1, 2));

	FUZZ_CLAIM(!ce || answer != LDCP_ACK_AS_USUAL);
	FUZZ_CLAIM(answer != LDCP_ACK_FLUSH || (ce | r.ce));
	FUZZ_CLAIM(answer != LDCP_ACK_FLUSH || (s32)(r.rcv_nxt_seq - acked_seq) > 0);
	FUZZ_CLAIM(!ldcp_echoes(&r, acked_seq) || r.ce);
}

static void send(const struct ldcp_vars *v)
{
	const struct ldcp_flight f = {
		.room_pkts = fuzz_u32(), .room_bytes = fuzz_u32(), .left_bytes = fuzz_u32(),
		.mss_bytes = fuzz_range(1, U16_MAX),
		.defer_bytes = ldcp_defer_bytes(fuzz_u32(), fuzz_u32(), fuzz_range(1, U16_MAX)),
	};
	const u32 rtt_us = fuzz_u32();
	const u64 gap_ns = hop_gap_ns(v->cw, 1, rtt_us);
	const u32 burst_pkts = ldcp_burst_pkts(v, rtt_us, f.room_bytes);

	FUZZ_CLAIM(gap_ns <= (u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US * 257);
	FUZZ_CLAIM(hop_wnd_pkts(v->cw, 1) >= 1 && hop_wnd_pkts(v->cw, 1) <= HOP_WND_MAX_PKTS);
	FUZZ_CLAIM(burst_pkts >= 1 && burst_pkts <= HOP_BURST_MAX_PKTS);
	ldcp_has_tail(&f, fuzz_range(1, 64), fuzz_range(0, U16_MAX));
	ldcp_is_midway(fuzz_u32(), fuzz_range(1, 1 << 17), fuzz_range(0, 1 << 30));
}

static void learn(struct ldcp_vars *v, const struct ldcp_params *p, u32 *delivered_pkts)
{
	const u32 acked_pkts = fuzz_range(0, 1 << 20), before_pkts = *delivered_pkts;
	const u64 cw = v->cw;
	const struct ldcp_ack a = {
		.acked_pkts = acked_pkts,
		.delivered_pkts = *delivered_pkts += acked_pkts,
		.prior_pkts = before_pkts - fuzz_range(0, 1 << 21),
		.ece = fuzz_flag(),
		.limited = fuzz_flag(),
	};

	ldcp_update(v, p, &a);
	FUZZ_CLAIM(!a.ece || p->per_rtt || v->cw <= max_t(u64, cw, p->gamma));
	FUZZ_CLAIM(a.ece || v->cw >= cw);
	FUZZ_CLAIM(a.ece || a.limited || v->cw == cw);
}

static void fuzz_once(void)
{
	u32 delivered_pkts = fuzz_u32(), cumulative_pkts = delivered_pkts;
	struct ldcp_params p = draw_params();
	struct ldcp_vars v;

	ldcp_begin(&v, draw_first_pkts(), delivered_pkts);
	while (fuzz_has_more()) {
		switch (fuzz_choice(8)) {
		case 0:
			cumulative_pkts = delivered_pkts -
				fuzz_range(0, delivered_pkts - v.start_pkts);
			ldcp_lose(&v, &p, delivered_pkts, cumulative_pkts, fuzz_flag());
			break;
		case 1:
			ldcp_undo(&v);
			break;
		case 2:
			/* A sysctl changes during the connection. */
			p = draw_params();
			break;
		case 3:
			ldcp_begin(&v, draw_first_pkts(), delivered_pkts);
			break;
		case 4:
			receive();
			break;
		default:
			learn(&v, &p, &delivered_pkts);
		}
		FUZZ_CLAIM(v.cw >= hop_wnd_of_ppm(LDCP_GAMMA_MIN_PPM) && v.cw <= WND_MAX);
		FUZZ_CLAIM(v.stage <= LDCP_STABLE);
		send(&v);
	}
}
