// SPDX-License-Identifier: GPL-2.0
/*
 * The connection's use of the carrier: it reads the signals of an ACK, and is counted among those
 * that seek free bandwidth.
 */
#include <linux/hash.h>

#include "tcp_csig.h"

/* Return: false without CSIG, or without memory. */
bool tcsig_open(struct sock *sk, struct tcsig_sock *cs)
{
	struct csig_flow *flow = ctag_flow_open(sk);

	if (!flow)
		return false;
	if (!hop_cc_allocate(sk, sizeof(*cs->reported))) {
		ctag_flow_close(flow);
		return false;
	}
	cs->reported->flow = flow;
	cs->reported->mean_share_ppm = CSIG_PPM_MAX;
	cs->reported->base_ns = READ_ONCE(cs->net->knobs.target_ns);
	return true;
}

void tcsig_close(struct sock *sk, struct tcsig_sock *cs)
{
	tcsig_count(sk, cs, false);
	ctag_flow_close(cs->reported->flow);
	hop_cc_free(sk);
}

/* Number of connections to the peer that seek free bandwidth. */
static atomic_t *tcsig_seeking(const struct sock *sk, const struct tcsig_sock *cs)
{
	return &cs->net->seeking[hash_32(hop_cc_peer_hash(sk), TCSIG_PEER_BITS)];
}

/**
 * tcsig_count() - count the connection among those that are about to jump, or not any more
 * @sk: the socket
 * @cs: its state; the carrier reports signals
 * @seeks: it is sending, and seeks free bandwidth
 */
void tcsig_count(const struct sock *sk, const struct tcsig_sock *cs, bool seeks)
{
	struct tcsig_reported *reported = cs->reported;

	if (reported->seeks == seeks)
		return;
	reported->seeks = seeks;
	if (seeks)
		reported->sharers = atomic_inc_return(tcsig_seeking(sk, cs));
	else
		atomic_dec(tcsig_seeking(sk, cs));
}

/**
 * tcsig_line() - the device's rate as a window
 * @sk: the socket
 * @cs: the connection
 * @rtt_us: RTT
 *
 * Return: packets << TCSIG_SHIFT; 0: the rate is not known.
 */
u64 tcsig_line(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	return cs->line_mbit ? tcsig_free((u64)cs->line_mbit * TCSIG_KBIT_PER_MBIT, rtt_us,
					  hop_wire_bytes(sk)) : 0;
}

/* After this many readings that no hop has changed, no hop of the path reports any more. */
#define TCSIG_BLANK_MAX		64
/* Weight of a new report in a mean, 1/32 */
#define TCSIG_MEAN_SHIFT	5
/* After this many rounds of a full port without a queue, the RTT has the queue instead. */
#define TCSIG_FULL_ROUNDS	3
/* A port with this free share has no queue that lasts. */
#define TCSIG_ROOM_PPM		125000U

static u64 tcsig_mean(u64 mean, u64 now)
{
	return mean - (mean >> TCSIG_MEAN_SHIFT) + (now >> TCSIG_MEAN_SHIFT);
}

/* Reads a new signal. Return: true if a hop has written it. */
static bool tcsig_read_new(struct tcsig_reported *reported, enum csig_type type,
			   struct csig_signal *r)
{
	ctag_flow_read(reported->flow, type, r);
	reported->count[type] = r->count;
	if (r->initial) {
		reported->blank += reported->blank < TCSIG_BLANK_MAX;
		/* The initial value of a delay is a valid value, too. */
		return type == CSIG_PD;
	}
	reported->blank = 0;
	reported->hop = true;
	return true;
}

static u32 tcsig_rtt_us(const struct sock *sk, const struct rate_sample *rs)
{
	return rs->rtt_us > 0 ? rs->rtt_us : tcp_sk(sk)->srtt_us >> 3;
}

/*
 * The free bandwidth as a window. It is computed with the RTT without queues, because free
 * bandwidth fills no queue.
 */
static u64 tcsig_free_window(const struct sock *sk, const struct tcsig_sock *cs, u32 rtt_us)
{
	const u32 bdp_us = min(rtt_us, tcp_min_rtt(tcp_sk(sk)));

	return tcsig_believe(tcsig_free(cs->reported->free_kbit_ps, bdp_us, hop_wire_bytes(sk)),
			     cs->v.cw, tcsig_line(sk, cs, bdp_us));
}

static void tcsig_read_bandwidth(struct tcsig_reported *reported, u32 news, struct tcsig_ack *a)
{
	struct csig_signal r;

	if ((news & BIT(CSIG_ABW)) && tcsig_read_new(reported, CSIG_ABW, &r)) {
		reported->free_kbit_ps = min_t(u64, r.low, U32_MAX);
		if (!reported->inferred)
			tcsig_port_note_free(&reported->port, r.low, r.high);
		a->has_free = true;
	}
	if ((news & BIT(CSIG_ABW_C)) && tcsig_read_new(reported, CSIG_ABW_C, &r)) {
		const u32 share_ppm = min_t(u64, r.low, CSIG_PPM_MAX);

		if (!reported->inferred)
			tcsig_port_note_share(&reported->port, share_ppm);
		a->share_ppm = tcsig_shares_note(&reported->shares, share_ppm);
		a->has_share = true;
		reported->mean_share_ppm = tcsig_mean(reported->mean_share_ppm, share_ppm);
	}
}

static void tcsig_read_delay(const struct tcsig_sock *cs, u32 rtt_us, struct tcsig_ack *a)
{
	struct tcsig_reported *reported = cs->reported;
	struct csig_signal r;

	if (!tcsig_read_new(reported, CSIG_PD, &r) || tcsig_path_is_old(&reported->path, r.locator))
		return;
	a->delay_ns = tcsig_compute(&reported->estimate, r.low, r.high, cs->v.cw, rtt_us);
	a->has_delay = true;
	reported->mean_ns = tcsig_mean(reported->mean_ns, a->delay_ns);
	reported->locator = r.locator;
}

/* A round has ended: was the port with the least free share full, without a report of its queue? */
void tcsig_note_full(const struct tcsig_sock *cs)
{
	struct tcsig_reported *reported = cs->reported;

	if (reported->mean_share_ppm < TCSIG_SHARE_MIN_PPM &&
	    reported->mean_ns < reported->base_ns / 4)
		reported->full_rounds += reported->full_rounds < TCSIG_FULL_ROUNDS;
	else
		reported->full_rounds = 0;
}

/*
 * Is the delay of a hop missing? It is if a port was full for several rounds and no delay was
 * reported: some hops report other types than delays alone. A port without a queue is full for a
 * moment only, even if the RTT has the queue of the way back. The delay stays missing until the
 * port has room again, or one is reported.
 */
static bool tcsig_lacks_delay(const struct tcsig_reported *reported)
{
	if (reported->mean_ns >= reported->base_ns / 4)
		return false;
	if (reported->inferred)
		return reported->mean_share_ppm < TCSIG_ROOM_PPM;
	return reported->full_rounds >= TCSIG_FULL_ROUNDS;
}

/*
 * Return: the RTT without queues of a full packet behind another one. The minimum RTT is that of a
 * SYN, which a slow link transmits sooner, so the time of two full packets is added. If the port's
 * speed is not known, the connection is assumed to have an eighth of it, but the result is at most
 * the minimum RTT of data, which may include the queue of the first burst.
 */
static u64 tcsig_least_ns(const struct sock *sk, const struct tcsig_sock *cs)
{
	const struct tcsig_reported *reported = cs->reported;
	const u64 syn_ns = (u64)tcp_min_rtt(tcp_sk(sk)) * NSEC_PER_USEC;

	if (reported->port.kbit_ps)
		return syn_ns + 2 * tcsig_packet_ns(&reported->port, hop_wire_bytes(sk), 0);
	return min((u64)reported->least_us * NSEC_PER_USEC,
		   syn_ns + tcsig_period_ns(cs->v.cw, tcp_min_rtt(tcp_sk(sk))) / 4);
}

/*
 * Where the delay of a hop is missing, the RTT above its minimum is used instead. Its port is full:
 * if min(ABW) exceeds what the connection uses, another port has written it, and the estimated
 * speed is that port's.
 */
static void tcsig_infer_delay(const struct sock *sk, const struct tcsig_sock *cs,
			      struct tcsig_ack *a)
{
	struct tcsig_reported *reported = cs->reported;
	const bool lacks = tcsig_lacks_delay(reported);

	if (lacks) {
		if (tcsig_free_window(sk, cs, tcp_min_rtt(tcp_sk(sk))) > cs->v.cw)
			reported->port = (struct tcsig_port){};
		a->has_delay = a->rtt_ns;
		a->path_ns = a->rtt_ns - min(a->rtt_ns, tcsig_least_ns(sk, cs));
		a->delay_ns = max(a->path_ns, reported->estimate.delay_ns);
	} else if (reported->inferred) {
		a->has_delay = true;
		a->delay_ns = reported->estimate.delay_ns;
	}
	reported->inferred = lacks;
}

/**
 * tcsig_read() - read what an ACK reports about the path
 * @sk: the socket
 * @cs: its state; the carrier has a flow
 * @rs: rate sample of the ACK
 * @a: result; members that do not describe the path are kept
 *
 * Return: true if hops of the path report signals.
 */
bool tcsig_read(const struct sock *sk, const struct tcsig_sock *cs, const struct rate_sample *rs,
		struct tcsig_ack *a)
{
	const u32 least_us = tcp_min_rtt(tcp_sk(sk));
	const u32 sample_us = tcsig_rtt_us(sk, rs);
	struct tcsig_reported *reported = cs->reported;
	const u32 news = ctag_flow_news(reported->flow, reported->count);

	if (news & (BIT(CSIG_ABW) | BIT(CSIG_ABW_C)))
		tcsig_read_bandwidth(reported, news, a);
	a->free = tcsig_free_window(sk, cs, sample_us);
	if (rs->rtt_us > 0 && !rs->is_ack_delayed) {
		reported->least_us = min_not_zero(reported->least_us, (u32)rs->rtt_us);
		a->rtt_ns = (u64)rs->rtt_us * NSEC_PER_USEC;
		a->path_ns = rs->rtt_us > least_us ? (rs->rtt_us - least_us) * NSEC_PER_USEC : 0;
	}
	if (news & BIT(CSIG_PD))
		tcsig_read_delay(cs, sample_us, a);
	tcsig_infer_delay(sk, cs, a);
	/*
	 * The counter now includes connections that started later, but no longer those that have
	 * jumped since; reported->sharers still includes them. The larger one is used.
	 */
	if (reported->seeks)
		a->sharers = max_t(s32, reported->sharers, atomic_read(tcsig_seeking(sk, cs)));
	reported->hop = reported->hop && reported->blank < TCSIG_BLANK_MAX;
	return reported->hop && (news & CSIG_NEWS_FED);
}
