// SPDX-License-Identifier: GPL-2.0
/* The XCP sender: the window stays in range for any feedback. */
#include "fuzz.h"
#include "../../tcp_xcp/xcp_sender.c"

#define WND_MAX (XCP_WND_MAX_BYTES << XCP_WND_SHIFT)

/* Draw the sender's limits from a device and an application. */
static struct txcp_limits draw_line(const struct txcp_vars *v, u64 throughput_bytes_ps)
{
	/* The rate is at most 2^32 - 1 Mbit/s; only a known rate can be a limit. */
	const u64 speed_bytes_ps = fuzz_flag() ? fuzz_range(1, U32_MAX * 125000ULL) : 0;
	const bool limits = speed_bytes_ps && fuzz_flag();
	const u64 app_bytes_ps = fuzz_flag() ? U64_MAX : fuzz_u64();
	struct txcp_limits l = txcp_get_limits(speed_bytes_ps, limits, app_bytes_ps,
					    throughput_bytes_ps);

	FUZZ_CLAIM(l.desired_bytes_ps <= l.limit_bytes_ps);
	FUZZ_CLAIM(app_bytes_ps == U64_MAX || l.desired_bytes_ps <= app_bytes_ps);
	FUZZ_CLAIM(speed_bytes_ps || !throughput_bytes_ps ||
		   l.desired_bytes_ps <= throughput_bytes_ps * XCP_ASK_MAX);
	l.acked_bytes = fuzz_u64() >> 16;
	l.start_bytes = fuzz_u64() >> 16;
	l.min_rtt_us = fuzz_flag() ? fuzz_range(1, XCP_RTT_MAX_US) : 0;
	return l;
}

static void offer(struct txcp_vars *v, u32 mss_bytes)
{
	const u64 throughput_bytes_ps = txcp_throughput_bytes_ps(txcp_wnd_bytes(v), v->rtt_us);
	const struct txcp_limits l = draw_line(v, throughput_bytes_ps);
	const u64 desired_bytes_ps = l.desired_bytes_ps, asked_bytes_ps = v->asked_bytes_ps;
	const u32 pkts = txcp_wnd_pkts(v, mss_bytes), sent_pkts = fuzz_u32();
	s64 demand_bytes_ps;

	FUZZ_CLAIM(pkts >= 1 && pkts <= S32_MAX);
	FUZZ_CLAIM(!v->rtt_us == !throughput_bytes_ps);
	FUZZ_CLAIM(throughput_bytes_ps <= XCP_RATE_MAX_BYTES_PS);
	demand_bytes_ps = txcp_demand_bytes_ps(desired_bytes_ps, throughput_bytes_ps, fuzz_u32());
	FUZZ_CLAIM(demand_bytes_ps >= -XCP_DELTA_MAX_BYTES_PS &&
		   demand_bytes_ps <= XCP_DELTA_MAX_BYTES_PS);
	FUZZ_CLAIM(desired_bytes_ps < throughput_bytes_ps ? demand_bytes_ps <= 0 :
							    demand_bytes_ps >= 0);
	txcp_ask(v, sent_pkts, demand_bytes_ps);
	FUZZ_CLAIM(v->asked_bytes_ps <= XCP_ASKED_MAX_BYTES_PS);
	FUZZ_CLAIM(v->asked_bytes_ps - asked_bytes_ps <=
		   (u64)sent_pkts * max(demand_bytes_ps, 0LL));
}

/* A demand that was not sent is not granted, and none is granted twice. */
static void check_grant(const struct txcp_vars *v, s64 feedback_bytes_ps)
{
	const u64 asked_bytes_ps = v->asked_bytes_ps + v->asked_before_bytes_ps;
	struct txcp_vars after = *v;
	const s64 granted_bytes_ps = txcp_grant(&after, feedback_bytes_ps);

	FUZZ_CLAIM(granted_bytes_ps <= feedback_bytes_ps);
	FUZZ_CLAIM(feedback_bytes_ps > 0 || granted_bytes_ps == feedback_bytes_ps);
	FUZZ_CLAIM(asked_bytes_ps - (after.asked_bytes_ps + after.asked_before_bytes_ps) ==
		   max(granted_bytes_ps, 0LL));
	FUZZ_CLAIM(feedback_bytes_ps <= 0 ||
		   granted_bytes_ps == min_t(u64, feedback_bytes_ps, asked_bytes_ps));
}

/* The window grew: a queue of the minimum RTT halves the bound; a router drains 1 ms by itself. */
static void check_queue(const struct txcp_vars *v, u64 half, u32 min_rtt_us)
{
	const u64 allowed_us = v->has_router ? XCP_QUEUE_MAX_US : 0;

	FUZZ_CLAIM(v->rtt_us < 2 * (min_rtt_us + allowed_us) || v->wnd <= half);
}

static void feed_back(struct txcp_vars *v, u32 mss_bytes)
{
	const s64 feedback_bytes_ps = (s64)fuzz_u64();
	const struct txcp_limits l = draw_line(v, 0);
	const u64 wnd = v->wnd, floor = (u64)mss_bytes << XCP_WND_SHIFT;
	/* Two round trips of the desired rate, and slow start */
	const u64 most = min3((__uint128_t)min(l.desired_bytes_ps, XCP_RATE_MAX_BYTES_PS) *
			      v->rtt_us * XCP_MAX_RTTS / XCP_US_PER_S,
			      (__uint128_t)XCP_WND_MAX_BYTES,
			      (__uint128_t)max((v->round_wnd >> XCP_WND_SHIFT) + l.acked_bytes,
					       l.start_bytes)) << XCP_WND_SHIFT;

	check_grant(v, feedback_bytes_ps);
	if (txcp_receive(v, feedback_bytes_ps, mss_bytes))
		txcp_bound_growth(v, &l, wnd);
	FUZZ_CLAIM(feedback_bytes_ps < 0 || v->wnd >= wnd);
	if (l.min_rtt_us && v->wnd > max(wnd, floor))
		check_queue(v, most / 2, l.min_rtt_us);
	FUZZ_CLAIM(feedback_bytes_ps > 0 || v->wnd <= max(wnd, floor));
	FUZZ_CLAIM(v->wnd <= max3(wnd, floor, most));
}

/* A sender that does not fill its window gets no larger one and asks for no more. */
static void end_sending(struct txcp_vars *v, u32 mss_bytes)
{
	const u64 wnd = v->wnd, floor = (u64)mss_bytes << XCP_WND_SHIFT;
	const u64 rate_bytes_ps = txcp_throughput_bytes_ps(txcp_wnd_bytes(v), v->rtt_us);

	v->app_limited = fuzz_flag();
	txcp_end_sending(v, fuzz_u32(), fuzz_flag(), mss_bytes);
	FUZZ_CLAIM(v->wnd <= max(wnd, floor));
	FUZZ_CLAIM(v->limited || v->wnd == wnd);
	FUZZ_CLAIM(v->filled_rounds <= XCP_RAMP_ROUNDS);
	FUZZ_CLAIM(txcp_max_asked_bytes_ps(v, rate_bytes_ps) >= rate_bytes_ps);
	FUZZ_CLAIM(!v->limited || txcp_max_asked_bytes_ps(v, rate_bytes_ps) == rate_bytes_ps);
}

static void end_round(struct txcp_vars *v, u32 mss_bytes)
{
	const enum txcp_loss loss = fuzz_choice(XCP_LOSS_TIGHTER + 1);
	const bool recovered = fuzz_flag();

	txcp_end_asking(v, fuzz_flag());
	FUZZ_CLAIM(v->asked_before_bytes_ps <= XCP_ASKED_MAX_BYTES_PS);
	if (!v->reno) {
		end_sending(v, mss_bytes);
		return;
	}
	FUZZ_CLAIM(!txcp_gives_up(v, loss, recovered, fuzz_flag()) || loss == XCP_LOSS_RENO);
	FUZZ_CLAIM(txcp_reno_over(v, loss, recovered, fuzz_u64(), mss_bytes) == !v->reno);
	FUZZ_CLAIM(v->reno || recovered);
}

static void sample_rtt(struct txcp_vars *v)
{
	const u32 before_us = v->rtt_us, sample_us = fuzz_range(1, XCP_RTT_MAX_US);

	txcp_update_rtt(v, sample_us);
	FUZZ_CLAIM(v->rtt_us >= min(before_us ?: sample_us, sample_us));
	FUZZ_CLAIM(v->rtt_us <= max(before_us, sample_us));
}

static void step(struct txcp_vars *v, u32 mss_bytes)
{
	switch (fuzz_choice(6)) {
	case 0:
		feed_back(v, mss_bytes);
		break;
	case 1:
		sample_rtt(v);
		break;
	case 2:
		txcp_age_idle(v, fuzz_u32(), fuzz_range(1, XCP_INIT_PKTS * U16_MAX), mss_bytes);
		break;
	case 3:
		txcp_begin_reno(v, fuzz_flag(), fuzz_range(1, XCP_RTT_MAX_US));
		break;
	case 4:
		v->in_flight_pkts = fuzz_u32();
		break;
	default:
		end_round(v, mss_bytes);
	}
}

static void fuzz_once(void)
{
	u32 mss_bytes = fuzz_range(1, U16_MAX), least_bytes = mss_bytes;
	struct txcp_vars v;

	txcp_start(&v, fuzz_u64(), mss_bytes);
	v.rtt_us = fuzz_range(0, XCP_RTT_MAX_US);
	while (fuzz_has_more()) {
		/* The path's MTU may change. */
		if (!fuzz_choice(16))
			mss_bytes = fuzz_range(1, U16_MAX);
		least_bytes = min(least_bytes, mss_bytes);
		step(&v, mss_bytes);
		FUZZ_CLAIM(v.wnd >= (u64)least_bytes << XCP_WND_SHIFT && v.wnd <= WND_MAX);
		FUZZ_CLAIM(v.rtt_us <= XCP_RTT_MAX_US);
		offer(&v, mss_bytes);
	}
}
