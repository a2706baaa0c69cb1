// SPDX-License-Identifier: GPL-2.0
/* The CSIG sender: window and pacing rate stay in range for any reflected values. */
#include "fuzz.h"
#include "../../tcp_csig/csig_sender.c"
#include "../../tcp_csig/csig_path.c"

/* The time of a packet at the port that any reports are about. */
static u64 draw_packet_ns(u64 period_ns)
{
	struct tcsig_port port = {};
	u32 n = fuzz_range(0, 4);

	while (n--) {
		tcsig_port_note_free(&port, fuzz_u64(), fuzz_flag() ? U64_MAX : fuzz_u64());
		tcsig_port_note_share(&port, fuzz_range(0, CSIG_PPM_MAX));
	}
	FUZZ_CLAIM(port.kbit_ps <= TCSIG_KBIT_MAX);
	return tcsig_packet_ns(&port, fuzz_range(1, 1 << 17), period_ns);
}

/* Draw parameters in the ranges of net.hopcc.tcp_csig_*. */
static struct tcsig_params draw_params(const struct tcsig_vars *v)
{
	const u64 set_ns = fuzz_range(TCSIG_TARGET_MIN_NS, TCSIG_TARGET_MAX_NS);
	const u32 rtt_us = fuzz_u32();
	const u64 period_ns = tcsig_period_ns(v->cw, tcsig_hold_rtt_us(fuzz_u32(), rtt_us, set_ns));
	const u64 packet_ns = draw_packet_ns(period_ns);
	const u64 base_ns = tcsig_base_ns(set_ns, packet_ns);
	const u64 target_ns = tcsig_hop_target_ns(base_ns, packet_ns, period_ns);
	const u64 rtt_ns = (u64)min(rtt_us, HOP_RTT_MAX_US) * NSEC_PER_USEC;
	const u64 ai = tcsig_ai(rtt_ns, base_ns);

	FUZZ_CLAIM(base_ns >= set_ns && target_ns >= base_ns);
	FUZZ_CLAIM(target_ns <= base_ns + max(packet_ns, 1ULL) * 64);
	FUZZ_CLAIM(tcsig_burst_limit_pkts(set_ns, period_ns) >= TCSIG_BURST_MIN_PKTS);
	FUZZ_CLAIM(tcsig_burst_limit_pkts(set_ns, period_ns) <= HOP_BURST_MAX_PKTS);
	FUZZ_CLAIM(ai >= TCSIG_ONE && ai <= TCSIG_AI_MAX);
	return (struct tcsig_params) {
		.target_ns = target_ns,
		.ai = fuzz_flag() ? ai : hop_wnd_of_ppm(fuzz_range(1000, 64000000)),
		.rtt_ns = fuzz_flag() ? rtt_ns : 0,
	};
}

/*
 * Draw signals as read_hops() derives them from tags: a bucket that is not used starts at U64_MAX.
 */
static void draw_signals(struct tcsig_ack *a, struct tcsig_estimate *r, u64 cw, u64 line,
			 u32 rtt_us)
{
	const u64 low_ns = fuzz_u64();
	const u64 high_ns = fuzz_flag() || low_ns == U64_MAX ? U64_MAX :
			    fuzz_range(low_ns + 1, U64_MAX);
	const u64 free = tcsig_free(fuzz_u64(), rtt_us, fuzz_range(1, 1 << 17));

	FUZZ_CLAIM(free <= TCSIG_WND_MAX);
	a->free = tcsig_believe(fuzz_flag() ? free : fuzz_u64(), cw, line);
	/* At most the window of the line rate, or growth by a factor if the line rate is unknown */
	FUZZ_CLAIM(a->free <= (line ?: (TCSIG_GROWTH_MAX - 1) * cw));
	a->has_free = fuzz_flag();
	a->share_ppm = fuzz_range(0, CSIG_PPM_MAX);
	a->has_share = fuzz_flag();
	a->has_delay = fuzz_flag();
	FUZZ_CLAIM(a->free <= TCSIG_WND_MAX);
	if (!a->has_delay)
		return;
	a->delay_ns = tcsig_compute(r, low_ns, high_ns, cw, rtt_us);
	FUZZ_CLAIM(a->delay_ns >= low_ns && (high_ns == U64_MAX || a->delay_ns < high_ns));
}

/* @line: the device's rate as a window over @rtt_us, like the free bandwidth; 0: not known */
static struct tcsig_ack draw_ack(const struct tcsig_vars *v, struct tcsig_estimate *r,
				 u32 line_mbit, u64 *line, u32 *delivered_pkts)
{
	const u32 before_pkts = *delivered_pkts, rtt_us = fuzz_u32();
	struct tcsig_ack a = {
		.rtt_ns = fuzz_flag() ? (u64)rtt_us * NSEC_PER_USEC : 0,
		.acked_pkts = fuzz_range(0, 1 << 20),
		.prior_pkts = before_pkts - fuzz_range(0, 1 << 21),
		.sharers = fuzz_u32(),
		.limited = fuzz_flag(),
	};

	a.path_ns = fuzz_range(0, a.rtt_ns);
	a.delivered_pkts = *delivered_pkts += a.acked_pkts;
	*line = line_mbit ? tcsig_free((u64)line_mbit * TCSIG_KBIT_PER_MBIT, rtt_us,
				       fuzz_range(1, 1 << 17)) : 0;
	draw_signals(&a, r, v->cw, *line, rtt_us);
	return a;
}

static void check_pace(const struct tcsig_vars *v)
{
	const u32 mss_bytes = fuzz_range(1, U16_MAX), rtt_us = fuzz_range(1, U32_MAX);
	const u64 pace_bytes_ps = tcsig_pace_bytes_ps(v, mss_bytes, rtt_us);
	/* Two windows, or two minimum flights, per RTT: below 2^(21 + 1 + 16 + 20) */
	const u64 pkts = max(v->cw, TCSIG_FLIGHT_PACE) / TCSIG_ONE + 1;

	FUZZ_CLAIM(pace_bytes_ps >= 1);
	FUZZ_CLAIM(pace_bytes_ps <= 2 * pkts * mss_bytes * TCSIG_US_PER_S / rtt_us + 1);
	FUZZ_CLAIM(hop_wnd_pkts(v->cw, TCSIG_FLIGHT_PKTS) <= TCSIG_WND_MAX_PKTS);
	hop_gap_ns(v->cw, TCSIG_FLIGHT_PKTS, rtt_us);
	FUZZ_CLAIM(tcsig_pace_rtt_us(rtt_us, mss_bytes, v->delay_ns) >= min(rtt_us, mss_bytes));
	FUZZ_CLAIM(tcsig_pace_rtt_us(rtt_us, mss_bytes, v->delay_ns) <= max(rtt_us, mss_bytes));
}

static void choose_path(struct tcsig_path *path, const struct tcsig_params *p,
			const struct tcsig_ack *a, u32 least_ns, bool turned)
{
	const int edges[2 * TCSIG_EDGES] = { fuzz_byte(), fuzz_byte(), fuzz_byte(), fuzz_byte() };
	const u32 reported = fuzz_byte(), locator = tcsig_is_core(edges, reported) ? reported : 0;
	const u32 wanted = fuzz_range(1, TCSIG_MOVE_MAX_ROUNDS);

	if (path->waits && fuzz_flag())
		tcsig_path_settle(path);
	tcsig_path_is_old(path, reported);
	if (turned)
		tcsig_path_round(path, p->target_ns, least_ns, locator);
	if (tcsig_path_receive(path, p->target_ns, a, locator, wanted, fuzz_u32()))
		FUZZ_CLAIM(locator && path->waits && path->points <= 0);
	FUZZ_CLAIM(path->tries <= TCSIG_MOVE_TRIES);
	FUZZ_CLAIM(path->points > -TCSIG_MOVE_POINTS);
}

static bool learn(struct tcsig_vars *v, const struct tcsig_params *p, const struct tcsig_ack *a)
{
	const u64 cw = v->cw;
	const bool turned = tcsig_receive(v, p, a);

	FUZZ_CLAIM(v->cw >= TCSIG_WND_MIN);
	/* The window does not grow if the delay is too long or if the window was not the limit. */
	FUZZ_CLAIM(v->cw <= cw || (a->limited && v->delay_ns <= p->target_ns));
	return turned;
}

/* The device's rate also limits a window that grew by other rules. */
static void bound(struct tcsig_vars *v, u64 line)
{
	const u64 cw = v->cw;

	tcsig_bound(v, line);
	FUZZ_CLAIM(v->cw <= cw && (line || v->cw == cw));
	FUZZ_CLAIM(!line || v->cw <= max(line * TCSIG_LINE_RTTS, TCSIG_FLIGHT_PKTS * TCSIG_ONE));
}

/* The window is Reno's within the algorithm's bounds, and no report of a hop is left. */
static void follow(struct tcsig_vars *v)
{
	const u64 cw = fuzz_u64();
	const bool slow_start = fuzz_flag();
	const struct tcsig_vars before = *v;

	tcsig_follow(v, cw, slow_start);
	FUZZ_CLAIM(v->cw == clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX) && v->ref == v->cw);
	FUZZ_CLAIM(v->round_pkts == before.round_pkts && !v->delay_ns && !v->worst_ns);
	FUZZ_CLAIM(v->least_ns == TCSIG_NO_DELAY && !v->cut && !v->guess && !v->grown);
	FUZZ_CLAIM(v->stage == (slow_start && before.stage == TCSIG_SEEK ? TCSIG_SEEK :
								       TCSIG_STEADY));
	tcsig_undo(v);
	FUZZ_CLAIM(v->cw == v->ref);
}

static void fuzz_once(void)
{
	const u32 line_mbit = fuzz_flag() ? fuzz_u32() : 0;
	u32 delivered_pkts = fuzz_u32();
	struct tcsig_estimate estimate = {};
	struct tcsig_path path = {};
	struct tcsig_params p;
	struct tcsig_vars v;

	tcsig_begin(&v, fuzz_u64(), TCSIG_WND_MAX, delivered_pkts);
	p = draw_params(&v);
	while (fuzz_has_more()) {
		u64 line;
		u32 least_ns;
		const struct tcsig_ack a =
			draw_ack(&v, &estimate, line_mbit, &line, &delivered_pkts);

		switch (fuzz_choice(8)) {
		case 0:
			tcsig_lose(&v, delivered_pkts, fuzz_flag());
			break;
		case 1:
			tcsig_undo(&v);
			break;
		case 2:
			/* A sysctl changes. */
			p = draw_params(&v);
			break;
		case 3:
			/* The hops send no more signals. */
			follow(&v);
			break;
		default:
			least_ns = v.least_ns;
			choose_path(&path, &p, &a, least_ns, learn(&v, &p, &a));
			bound(&v, line);
		}
		FUZZ_CLAIM(v.cw >= TCSIG_WND_MIN && v.cw <= TCSIG_WND_MAX);
		FUZZ_CLAIM(v.stage <= TCSIG_STEADY);
		check_pace(&v);
	}
}
