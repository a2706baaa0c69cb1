// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control by CSIG, draft-ravi-ippm-csig-01 section 8.1. As in Swift the window follows
 * the delay, but that of the bottleneck alone, and it follows the bottleneck's free bandwidth. PD
 * is max(PD), and share the least min(ABW/C) of a round trip. Documentation/conformance/csig.md
 * has what gets worse without each rule.
 *
 * A report of PD stands for the packets acknowledged since the last one. Each of them changes cwnd
 * by min(1, cwnd) times
 *
 *	PD > target	(PD - target) / max(RTT, 2 PD) / 2			(8.1.1)
 *	PD <= target	(target - PD) / max(RTT, 2 target) / 16
 *	both		at least |target - PD| / target of ai / cwnd, at most ai / 16 and 1/4
 *	ai		1 packet, or one for each 48 targets of a longer RTT
 *	share > 2 %	cwnd = cwnd / (1 - share) while PD <= target / 2
 *	target		base + step log2(n / 2), n being the port's speed over the flow's rate, or
 *			base + step log2(n) if base has no room for more than two packets
 *	base		what is set, at least the time of a packet at the port
 *	step		that time, at most 9/16 of the base
 *
 * The target makes flows even, whatever their RTTs and gains: one PD is the target of all of them
 * only if their rates are equal. The port's speed is ABW over ABW/C.
 *
 *	   min(ABW) is reported: + half of it		the rest, or no more of it
 *	SEEK ---------------------------------> JUMP -----------------------------> STEADY
 *	 | ^									    |
 *	 | +---- idle for many round trips, or a timeout ----------------------------+
 *	 +----- PD > target ---------------------------------------------------------^
 *
 * SEEK is a transfer's first round trip (8.1.3): the window doubles. The jump follows when a few
 * packets are acknowledged; the other half follows packet by packet in the next round trip, while
 * the delay stays below half the target, so that flows that jump together notice each other. The
 * first cut is of a guessed window: cwnd (1 - (PD - target) / RTT), all that waits too long, or
 * more by a later report of the round.
 *
 * Growth by share applies to the window at the start of a round, and starts a round, since the
 * packets of the next RTT do not reflect it yet. A window below two packets is two, less often: a
 * usual receiver acknowledges two packets at once, but one only after 40 ms. Loss and ECN: half
 * the window, as in Reno.
 */

#include "csig_sender.h"

#define TCSIG_ACK_MAX_PKTS	32768U
#define TCSIG_WND_MAX_PKTS	HOP_WND_MAX_PKTS
/*
 * In a round trip a cut removes 1/2 of the delay above the target, and growth adds 1/16 of the
 * delay that is missing: with equal parts, compact tags would keep 10 % more than the target.
 */
#define TCSIG_CUT_SHIFT		1
#define TCSIG_GROW_SHIFT	4
/* ai adds at most 1/16 of a window, or up to four times that where ai is more than a packet. */
#define TCSIG_ADD_SHIFT		4
#define TCSIG_ADD_MAX		(4 * TCSIG_ONE)
/* While it does not know the port's speed, a flow takes itself for one of sixteen. */
#define TCSIG_UNKNOWN_SHIFT	4
/* Two estimates of the port's speed agree within an eighth, and a new one counts for a quarter. */
#define TCSIG_AGREE_SHIFT	3
#define TCSIG_PORT_SHIFT	2
#define TCSIG_LOG_SHIFT		8
/*
 * 9/16 of the base: with more, four flows on 1 Gbit/s keep a queue of more than two packets; with
 * less, the farthest of five RTTs from 5 us to 50 ms has less than 0.3 of its share.
 */
#define TCSIG_STEP_16THS	9U
#define TCSIG_BITS_PER_BYTE	8U
/*
 * 1/8: how much of the queue beyond the target the period of a small window follows. With all of it
 * the period is a second loop around the same delay, with a lag of a period, and the queue
 * oscillates.
 */
#define TCSIG_FOLLOW_SHIFT	3
/* A round trip of more than 48 targets adds a packet for each 48 targets. */
#define TCSIG_AI_TARGETS	48U
/*
 * The pacing rate of a flight is this many packets per RTT: a burst of two would be a queue of its
 * own. Where a packet takes longer than the target, its second packet would report more than the
 * target each time, and the flow would be cut without end. The receiver waits for both.
 */
#define TCSIG_FLIGHT_PACE	(4 * TCSIG_ONE)
/* One packet for each signal. */
#define TCSIG_JUMP_PKTS		3U
/* A round multiplies by at most 8. */
#define TCSIG_SHARE_MAX_PPM	875000U
/*
 * Maximum growth if the sender's device does not report its rate. 64 windows of ten packets per RTT
 * of 20 us are 390 Gbit/s.
 */
#define TCSIG_GROWTH_MAX	64U
/* 2^38 bytes are more than the largest window of the smallest packets. */
#define TCSIG_FREE_MAX_BYTES	BIT_ULL(38)

u64 tcsig_free(u64 kbit_ps, u32 rtt_us, u32 wire_bytes)
{
	u64 bytes_ps = min_t(u64, kbit_ps, TCSIG_KBIT_MAX) * TCSIG_BYTES_PER_KBIT;
	/* 2^38 bytes/s * 2^24 us < 2^62 */
	u64 bytes = div_u64(bytes_ps * min(rtt_us, HOP_RTT_MAX_US), TCSIG_US_PER_S);

	/* 2^38 * 2^24 = 2^62 */
	bytes = min(bytes, TCSIG_FREE_MAX_BYTES);
	return min(div_u64(bytes << TCSIG_SHIFT, wire_bytes), TCSIG_WND_MAX);
}

u64 tcsig_believe(u64 free, u64 cw, u64 line)
{
	/* 2^44 * 2^6 = 2^50 */
	return min3(free, line ?: cw * (TCSIG_GROWTH_MAX - 1), TCSIG_WND_MAX);
}

/**
 * tcsig_cut_guess() - reduce a guessed window because the delay exceeds its target
 * @cw: the window << TCSIG_SHIFT
 * @p: parameters
 * @delay_ns: above the target
 * @rtt_ns: RTT, including the delay
 *
 * If all flows that started together remove the part of the RTT that exceeds the target, they meet
 * the target. One flight is left: it is no guess, and with less the timer would wait for an
 * outdated RTT.
 *
 * Return: the reduced window << TCSIG_SHIFT.
 */
static u64 tcsig_cut_guess(u64 cw, const struct tcsig_params *p, u64 delay_ns, u64 rtt_ns)
{
	const u64 less = mul_u64_u64_div_u64(cw, delay_ns - p->target_ns, max(rtt_ns, delay_ns));

	return max3(cw - less, min(cw, TCSIG_FLIGHT_PKTS * TCSIG_ONE), TCSIG_WND_MIN);
}

u64 tcsig_period_ns(u64 cw, u32 rtt_us)
{
	/* 2^34 * 2^24 */
	return div64_u64(((u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US) << TCSIG_SHIFT, cw);
}

void tcsig_port_note_free(struct tcsig_port *port, u64 low_kbit_ps, u64 high_kbit_ps)
{
	const u64 high = min_t(u64, high_kbit_ps, TCSIG_KBIT_MAX), low = min(low_kbit_ps, high);

	port->free_kbit_ps = high - low > low ? 0 : (low + high) / 2;
}

void tcsig_port_note_share(struct tcsig_port *port, u32 share_ppm)
{
	u64 pair, was = port->pair_kbit_ps;

	if (!port->free_kbit_ps || !share_ppm)
		return;
	pair = div_u64((u64)port->free_kbit_ps * CSIG_PPM_MAX, share_ppm);
	pair = min_t(u64, pair, TCSIG_KBIT_MAX);
	port->free_kbit_ps = 0;
	port->pair_kbit_ps = pair;
	if (max(pair, was) - min(pair, was) > was >> TCSIG_AGREE_SHIFT)
		return;
	was = port->kbit_ps ?: pair;
	port->kbit_ps = was - (was >> TCSIG_PORT_SHIFT) + (pair >> TCSIG_PORT_SHIFT);
}

u64 tcsig_packet_ns(const struct tcsig_port *port, u32 wire_bytes, u64 period_ns)
{
	const u64 bits = (u64)wire_bytes * TCSIG_BITS_PER_BYTE;

	if (!port->kbit_ps)
		return min_t(u64, period_ns >> TCSIG_UNKNOWN_SHIFT, TCSIG_TARGET_MAX_NS);
	/* 2^20 * 10^6 */
	return min_t(u64, div_u64(bits * TCSIG_NS_PER_MS, port->kbit_ps), TCSIG_TARGET_MAX_NS);
}

u64 tcsig_base_ns(u64 target_ns, u64 packet_ns)
{
	return max(target_ns, packet_ns);
}

/* Return: the logarithm to the base of 2, linear between powers of 2, in 1/256; 0 below 1. */
static u32 tcsig_log2(u64 dividend, u64 divisor)
{
	/* 2^40 * 2^8 */
	const u64 ratio = div64_u64(dividend << TCSIG_LOG_SHIFT, max(divisor, 1ULL));
	const u32 whole = fls64(ratio | 1) - 1;

	if (whole < TCSIG_LOG_SHIFT)
		return 0;
	return ((whole - TCSIG_LOG_SHIFT) << TCSIG_LOG_SHIFT) +
	       (u32)((ratio << TCSIG_LOG_SHIFT >> whole) & (BIT(TCSIG_LOG_SHIFT) - 1));
}

u64 tcsig_hop_target_ns(u64 base_ns, u64 packet_ns, u64 period_ns)
{
	const u64 step_ns = min(packet_ns, base_ns * TCSIG_STEP_16THS / 16);
	const u64 least_ns = max(base_ns - step_ns, min(base_ns, 2 * packet_ns));
	/* 2^36 * 2^14 */
	const u64 more_ns = step_ns * tcsig_log2(period_ns, packet_ns) >> TCSIG_LOG_SHIFT;

	/* Below TCSIG_NO_DELAY, to which delays are cut. */
	return min_t(u64, max(base_ns, least_ns + more_ns), TCSIG_NO_DELAY - 1);
}

u64 tcsig_inferred_target_ns(u64 base_ns, u64 period_ns)
{
	/* 2^30 * 2^14 */
	const u64 more_ns = base_ns * tcsig_log2(2 * period_ns, base_ns) >> TCSIG_LOG_SHIFT;

	return min_t(u64, base_ns + more_ns, TCSIG_NO_DELAY - 1);
}

u32 tcsig_burst_limit_pkts(u64 target_ns, u64 period_ns)
{
	const u64 span_ns = target_ns >> TCSIG_BURST_SHIFT;

	if (span_ns <= period_ns * TCSIG_BURST_MIN_PKTS)
		return TCSIG_BURST_MIN_PKTS;
	return min_t(u64, div64_u64(span_ns, max(period_ns, 1ULL)), HOP_BURST_MAX_PKTS);
}

u32 tcsig_hold_rtt_us(u32 least_us, u32 rtt_us, u64 target_ns)
{
	const u64 want_us = (u64)least_us + div_u64(target_ns, HOP_NS_PER_US);
	const u64 us = want_us - (want_us >> TCSIG_FOLLOW_SHIFT) + (rtt_us >> TCSIG_FOLLOW_SHIFT);

	return min_t(u64, us, HOP_RTT_MAX_US);
}

u64 tcsig_ai(u64 rtt_ns, u64 target_ns)
{
	/* 2^34 * 2^24 */
	return clamp(div64_u64(rtt_ns << TCSIG_SHIFT, target_ns * TCSIG_AI_TARGETS), TCSIG_ONE,
		     TCSIG_AI_MAX);
}

/* Return: packets acknowledged since the last report of PD, at most a window and a flight. */
static u32 tcsig_step_pkts(const struct tcsig_vars *v, const struct tcsig_ack *a)
{
	return min_t(u64, (u64)v->step_pkts + a->acked_pkts,
		     (v->cw >> TCSIG_SHIFT) + TCSIG_FLIGHT_PKTS);
}

/**
 * tcsig_step() - change the window by the delay of packets that were acknowledged (8.1.1)
 * @v: the state; delay_ns is their delay
 * @p: parameters
 * @n_pkts: tcsig_step_pkts()
 *
 * With a longer RTT the same queue is a smaller part of the window, so a cut is a smaller one, too.
 * Growth by as small a part would take many round trips, so a step is at least a number of packets,
 * ai: below the target they are added, and above it as many are taken away.
 */
static void tcsig_step(struct tcsig_vars *v, const struct tcsig_params *p, u32 n_pkts)
{
	const bool above = v->delay_ns > p->target_ns;
	const u64 delay_ns = min_t(u64, v->delay_ns, TCSIG_NO_DELAY);
	const u64 off_ns = above ? delay_ns - p->target_ns : p->target_ns - delay_ns;
	const u64 span_ns = max(2 * max(delay_ns, p->target_ns), p->rtt_ns);
	/* 2^24 * 2^21 */
	const u64 part = min(v->cw, TCSIG_ONE) * n_pkts;
	/* 2^31 * 2^21, and times 2^24 / 2^18 */
	const u64 ai = mul_u64_u64_div_u64(p->ai * n_pkts, TCSIG_ONE, v->cw);
	const u64 add = min(ai, mul_u64_u64_shr(part, min(p->ai, TCSIG_ADD_MAX),
						TCSIG_SHIFT + TCSIG_ADD_SHIFT));
	u64 step = mul_u64_u64_div_u64(part, off_ns, span_ns);

	step >>= above ? TCSIG_CUT_SHIFT : TCSIG_GROW_SHIFT;
	step = max(step, mul_u64_u64_div_u64(add, min(off_ns, p->target_ns), p->target_ns));
	v->cw = above ? max(v->cw - min(v->cw / 2, step), TCSIG_WND_MIN) :
			min(v->cw + step, TCSIG_WND_MAX);
}

u32 tcsig_shares_note(struct tcsig_shares *s, u32 share_ppm)
{
	s->least_ppm = min(s->least_ppm, share_ppm);
	return min(s->round_ppm, share_ppm);
}

void tcsig_shares_turn(struct tcsig_shares *s)
{
	if (s->least_ppm == TCSIG_NO_SHARE)
		return;
	s->round_ppm = s->least_ppm;
	s->least_ppm = TCSIG_NO_SHARE;
}

/**
 * tcsig_scale() - increase the window in proportion to the port's free share
 * @cw: the window << TCSIG_SHIFT to which @share_ppm refers
 * @share_ppm: min(ABW/C)
 * @free: min(ABW) as a window << TCSIG_SHIFT; the maximum increase
 *
 * Return: the larger window, at most TCSIG_WND_MAX.
 */
static u64 tcsig_scale(u64 cw, u32 share_ppm, u64 free)
{
	const u32 used_ppm = HOP_PPM - min(share_ppm, TCSIG_SHARE_MAX_PPM);
	/* 2^44 * 10^6 < 2^64 */
	const u64 all = div_u64(cw * HOP_PPM, used_ppm);

	return min3(all, cw + free, TCSIG_WND_MAX);
}

void tcsig_begin_round(struct tcsig_vars *v, u32 delivered_pkts)
{
	v->round_pkts = delivered_pkts;
	v->ref = v->cw;
	v->cut = false;
	v->guess = false;
	v->grown = false;
	v->least_ns = TCSIG_NO_DELAY;
	v->worst_ns = 0;
}

/* Longer delays count as the longest one below TCSIG_NO_DELAY. */
static void tcsig_note_delay(struct tcsig_vars *v, u64 delay_ns)
{
	const u32 ns = min_t(u64, delay_ns, TCSIG_NO_DELAY - 1);

	v->least_ns = min(v->least_ns, ns);
	v->worst_ns = max(v->worst_ns, ns);
}

/* An ACK of a packet that was sent in this round ends the round. Return: true if it does. */
static bool tcsig_turn_round(struct tcsig_vars *v, const struct tcsig_ack *a)
{
	if (!a->acked_pkts || (s32)(a->prior_pkts - v->round_pkts) < 0)
		return false;
	if (v->stage == TCSIG_JUMP && v->proven)
		v->stage = TCSIG_STEADY;
	v->proven = v->stage == TCSIG_JUMP;
	tcsig_begin_round(v, a->delivered_pkts);
	return true;
}

/* Return: true if the window was a guess, of which the excess was taken away. */
static bool tcsig_receive_excess(struct tcsig_vars *v, const struct tcsig_params *p,
				 const struct tcsig_ack *a)
{
	if (v->stage != TCSIG_STEADY) {
		/* Growth of this round may have been too much, so it is included in the cut. */
		tcsig_begin_round(v, a->delivered_pkts);
		tcsig_note_delay(v, a->delay_ns);
		v->guess = true;
		v->stage = TCSIG_STEADY;
	}
	if (v->guess)
		v->cw = min(v->cw, tcsig_cut_guess(v->ref, p, a->delay_ns, a->rtt_ns));
	return v->guess;
}

/*
 * Until hops report more than their state in front of this transfer, the path's delay may be its
 * own queue: a guessed window is limited as if it were, until hops report.
 */
static bool tcsig_hold_back(struct tcsig_vars *v, const struct tcsig_params *p,
			    const struct tcsig_ack *a)
{
	if (v->stage != TCSIG_SEEK || a->has_delay || a->path_ns <= p->target_ns)
		return false;
	v->cw = min(v->cw, tcsig_cut_guess(v->ref, p, a->path_ns, a->rtt_ns));
	return true;
}

/*
 * If many flows start together, their first packets report an empty port, and the next ones the
 * queue.
 */
static bool tcsig_may_jump(const struct tcsig_vars *v, const struct tcsig_ack *a)
{
	return v->stage == TCSIG_SEEK && v->offered && (s32)(a->delivered_pkts - v->jump_pkts) >= 0;
}

/*
 * 8.1.3: use half of the free bandwidth at once, divided among this host's flows that jump
 * together.
 */
static void tcsig_jump(struct tcsig_vars *v, const struct tcsig_ack *a)
{
	const u64 free = div_u64(a->free, max(a->sharers, 1U));

	v->goal = min3(v->cw + free, max(v->goal, v->cw), TCSIG_WND_MAX);
	v->cw += (v->goal - v->cw) / 2;
	v->stage = TCSIG_JUMP;
	v->proven = false;
	tcsig_begin_round(v, a->delivered_pkts);
}

/* Slow start, and the second half of a jump. */
static void tcsig_double(struct tcsig_vars *v, const struct tcsig_ack *a)
{
	const u64 more = (u64)min(a->acked_pkts, TCSIG_ACK_MAX_PKTS) << TCSIG_SHIFT;

	v->cw = min(v->cw + more, max(v->goal, v->cw));
	if (v->cw >= v->goal)
		v->stage = TCSIG_STEADY;
}

/* SEEK and JUMP */
static void tcsig_grow(struct tcsig_vars *v, const struct tcsig_ack *a, u64 target_ns)
{
	if (v->stage == TCSIG_JUMP && a->has_free)
		v->goal = min(v->goal, v->cw + a->free);
	if (v->stage == TCSIG_SEEK ||
	    (v->stage == TCSIG_JUMP && v->proven && v->delay_ns <= target_ns / 2))
		tcsig_double(v, a);
}

/*
 * A port reports free capacity. If it has a queue it has none: its interval ended late, and bytes
 * of this one were counted in the next.
 */
static void tcsig_receive_share(struct tcsig_vars *v, const struct tcsig_params *p,
				const struct tcsig_ack *a)
{
	u64 want;

	if (v->stage != TCSIG_STEADY || a->share_ppm < TCSIG_SHARE_MIN_PPM ||
	    v->delay_ns > p->target_ns / 2)
		return;
	want = tcsig_scale(v->grown ? v->ref : v->cw, a->share_ppm, a->free);
	if (want <= v->cw)
		return;
	if (!v->grown) {
		tcsig_begin_round(v, a->delivered_pkts);
		v->grown = true;
	}
	v->cw = want;
}

/* Return: true if the ACK ended a round. */
static bool tcsig_note_ack(struct tcsig_vars *v, const struct tcsig_ack *a)
{
	const bool turned = tcsig_turn_round(v, a);

	v->cw = max(v->cw, TCSIG_WND_MIN);
	v->step_pkts = a->has_delay ? 0 : tcsig_step_pkts(v, a);
	if (a->has_delay) {
		v->delay_ns = a->delay_ns;
		tcsig_note_delay(v, a->delay_ns);
	}
	return turned;
}

/* Return: true if the window was a guess that met a queue in this round. */
static bool tcsig_has_guessed(struct tcsig_vars *v, const struct tcsig_params *p,
			      const struct tcsig_ack *a)
{
	return (a->has_delay && v->delay_ns > p->target_ns && tcsig_receive_excess(v, p, a)) ||
	       tcsig_hold_back(v, p, a) || v->guess;
}

bool tcsig_receive(struct tcsig_vars *v, const struct tcsig_params *p, const struct tcsig_ack *a)
{
	const u32 n_pkts = tcsig_step_pkts(v, a);
	const bool turned = tcsig_note_ack(v, a);
	const bool above = v->delay_ns > p->target_ns;
	const bool grows = a->limited && !above && !v->cut;

	if (v->stage == TCSIG_SEEK && a->has_free)
		v->offered = true;
	if (tcsig_has_guessed(v, p, a))
		return turned;
	if (a->has_delay && v->stage == TCSIG_STEADY && (above || grows))
		tcsig_step(v, p, n_pkts);
	if (!grows)
		return turned;
	if (tcsig_may_jump(v, a))
		tcsig_jump(v, a);
	else
		tcsig_grow(v, a, p->target_ns);
	if (a->has_share)
		tcsig_receive_share(v, p, a);
	return turned;
}

/*
 * While the window doubles, twice the window per RTT, so that pacing does not delay what ACKs
 * permit.
 */
static bool tcsig_doubles(const struct tcsig_vars *v)
{
	return v->stage == TCSIG_SEEK || (v->stage == TCSIG_JUMP && v->proven);
}

u32 tcsig_pace_rtt_us(u32 least_us, u32 mean_us, u64 delay_ns)
{
	const u64 known_us = div_u64(delay_ns, HOP_NS_PER_US) + least_us / 2;

	if (least_us == U32_MAX)
		return mean_us;
	return max_t(u64, least_us, mean_us - min_t(u64, mean_us, known_us));
}

u64 tcsig_pace_bytes_ps(const struct tcsig_vars *v, u32 mss_bytes, u32 rtt_us)
{
	const u64 cw = v->cw < TCSIG_FLIGHT_PKTS * TCSIG_ONE ? TCSIG_FLIGHT_PACE : v->cw;
	/* 2^(44 - 8) * 2^17 */
	u64 bytes = ((cw >> 8) * mss_bytes) << tcsig_doubles(v);

	return max_t(u64, mul_u64_u64_div_u64(bytes, TCSIG_US_PER_S,
					      (u64)rtt_us << (TCSIG_SHIFT - 8)), 1);
}

u64 tcsig_compute(struct tcsig_estimate *r, u64 low, u64 high, u64 cw, u32 rtt_us)
{
	const u64 rtt_ns = (u64)min(rtt_us, HOP_RTT_MAX_US) * HOP_NS_PER_US;
	const u64 was_cw = r->cw ?: cw;
	const u64 change = max(cw, was_cw) - min(cw, was_cw);
	/* 2^34 * 2^44 / 2^16 = 2^62 */
	const u64 change_ns = change ? mul_u64_u64_div_u64(rtt_ns, change, was_cw) : 0;
	const u64 want_ns = cw >= was_cw ? r->delay_ns + change_ns :
					   r->delay_ns - min(r->delay_ns, change_ns);

	r->cw = cw;
	r->delay_ns = high == U64_MAX ? low : clamp(want_ns, low, high - 1);
	return r->delay_ns;
}

void tcsig_begin(struct tcsig_vars *v, u64 cw, u64 ssthresh, u32 delivered_pkts)
{
	*v = (struct tcsig_vars){
		.cw = clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX),
		.ref = clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX),
		.goal = min(ssthresh, TCSIG_WND_MAX),
		.least_ns = TCSIG_NO_DELAY,
		.round_pkts = delivered_pkts,
		.jump_pkts = delivered_pkts + clamp_t(u64, cw >> TCSIG_SHIFT, 1, TCSIG_JUMP_PKTS),
		.stage = TCSIG_SEEK,
	};
}

void tcsig_follow(struct tcsig_vars *v, u64 cw, bool slow_start)
{
	v->cw = clamp(cw, TCSIG_WND_MIN, TCSIG_WND_MAX);
	v->delay_ns = 0;
	v->step_pkts = 0;
	v->undo_cw = 0;
	if (!slow_start || v->stage == TCSIG_JUMP)
		v->stage = TCSIG_STEADY;
	tcsig_begin_round(v, v->round_pkts);
}

void tcsig_lose(struct tcsig_vars *v, u32 delivered_pkts, bool timeout)
{
	const u64 half = max(v->cw / 2, min(v->cw, TCSIG_ONE));
	const u64 undo_cw = v->undo_cw ?: v->cw;

	if (timeout)
		tcsig_begin(v, min(v->cw, TCSIG_ONE), half, delivered_pkts);
	else
		v->cw = half;
	v->undo_cw = undo_cw;
	if (timeout)
		return;
	v->stage = TCSIG_STEADY;
	tcsig_begin_round(v, delivered_pkts);
	v->cut = true;
}

void tcsig_undo(struct tcsig_vars *v)
{
	v->cw = max(v->cw, v->undo_cw);
	v->undo_cw = 0;
}
