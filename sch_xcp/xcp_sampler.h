/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sampler of senders, one flow at a time: does it send what it advertises, and does
 * it slow down when it is told to?
 *
 * Source: draft-falk-xcp-spec-00 section 5, "Malicious Sources", on a probabilistic
 * basis. Since it is the router itself that looks, it needs no reverse direction.
 *
 *	BEFORE	8 RTT: what it sends, what it advertises
 *	TOLD	8 RTT: the feedback that it is given
 *	WAIT	2 RTT: until the feedback must have had its effect
 *	AFTER	8 RTT: what it sends then
 *
 * Understates: the times of an honest sender's packets, size / Throughput, add up to
 * the time in which it sent them. Who claims less than he sends is given more, and his
 * packets' times add up to more.
 *
 * Ignores: told to slow down by the sum of TOLD, it sends more than before, less that
 * sum. What it was allowed to add meanwhile is granted, and 4 packets an RTT.
 *
 * A quarter is tolerated: a window's bursts at both ends of 8 RTT are an eighth. One
 * sample is a hint, not a proof; what to do about offenders is not the router's.
 *
 * Deviations: the draft describes no algorithm. Windows and tolerance are ours.
 */
#ifndef HOPCC_XCP_SAMPLER_H
#define HOPCC_XCP_SAMPLER_H

#include "xcp_router.h"

#define XCP_SAMPLE_RTTS		8
#define XCP_SAMPLE_WAIT_RTTS	2
#define XCP_SAMPLE_FLOOR_PKTS	4
/* 1/4 */
#define XCP_SAMPLE_TOLERANCE_SHIFT 2
/* 2^40 bytes/s: sums of feedback and rates stay below 2^62. */
#define XCP_SAMPLE_RATE_MAX (XCP_RATE_MAX_Q16 >> 21)

enum xcp_sample_phase {
	XCP_SAMPLE_PAUSE,
	XCP_SAMPLE_BEFORE,
	XCP_SAMPLE_TOLD,
	XCP_SAMPLE_WAIT,
	XCP_SAMPLE_AFTER,
};

/**
 * struct xcp_sample - what was found out about a flow
 * @key: whatever the caller knows the flow by
 * @rtt_us: as it advertised
 * @advertised_bytes_ps: throughput, as it advertised
 * @before_bytes_ps: what it sent
 * @told_bytes_ps: by how much it was told to change that
 * @granted_bytes_ps: what it might add besides
 * @after_bytes_ps: what it sent then
 * @understates: it sends more than it advertises
 * @ignores: it did not slow down
 */
struct xcp_sample {
	u32 key;
	u32 rtt_us;
	s64 advertised_bytes_ps;
	s64 before_bytes_ps;
	s64 told_bytes_ps;
	s64 granted_bytes_ps;
	s64 after_bytes_ps;
	bool understates;
	bool ignores;
};

/**
 * struct xcp_sampler - the sample that is being taken; under the qdisc lock
 * @phase: of it
 * @begin_ns: of the phase
 * @end_ns: of the phase, or of the pause
 * @bytes: sent in the phase
 * @sum_time: of the packets of BEFORE, 2^-12 ns
 * @pkt_max_bytes: greatest packet
 * @result: as far as it is known
 */
struct xcp_sampler {
	enum xcp_sample_phase phase;
	u64 begin_ns;
	u64 end_ns;
	u64 bytes;
	u64 sum_time;
	u32 pkt_max_bytes;
	struct xcp_sample result;
};

/* Bytes/s, rounded and cut to what sums can hold. @time is in 2^-12 ns. */
static inline s64 xcp_sample_rate(u64 bytes, u64 time)
{
	const s64 rate_q16 = xcp_rate_q16(bytes, max_t(u64, time, 1));

	return min_t(s64, (rate_q16 + (1 << (XCP_RATE_SHIFT - 1))) >> XCP_RATE_SHIFT,
		     XCP_SAMPLE_RATE_MAX);
}

static inline void xcp_sample_enter(struct xcp_sampler *s, enum xcp_sample_phase phase,
				    u64 now_ns, u32 rtts)
{
	s->phase = phase;
	s->begin_ns = now_ns;
	s->end_ns = now_ns + s->result.rtt_us * XCP_NS_PER_US * rtts;
	s->bytes = 0;
}

/* The first packet of the next flow. */
static inline void xcp_sample_begin(struct xcp_sampler *s, const struct xcp_pkt *pkt, u32 key,
				    u64 now_ns)
{
	*s = (struct xcp_sampler){ .result = { .key = key, .rtt_us = pkt->rtt_us } };
	xcp_sample_enter(s, XCP_SAMPLE_BEFORE, now_ns, XCP_SAMPLE_RTTS);
}

static inline void xcp_sample_close_before(struct xcp_sampler *s, u64 now_ns)
{
	const u64 elapsed = (now_ns - s->begin_ns) << XCP_TIME_SHIFT;

	s->result.before_bytes_ps = xcp_sample_rate(s->bytes, elapsed);
	s->result.advertised_bytes_ps = xcp_sample_rate(s->bytes, s->sum_time);
	s->result.understates = s->sum_time > elapsed + (elapsed >> XCP_SAMPLE_TOLERANCE_SHIFT);
}

static inline void xcp_sample_close_after(struct xcp_sampler *s, u64 now_ns)
{
	struct xcp_sample *r = &s->result;
	const u64 rtt_time = (r->rtt_us * XCP_NS_PER_US) << XCP_TIME_SHIFT;
	const s64 floor_bytes_ps = xcp_sample_rate((u64)XCP_SAMPLE_FLOOR_PKTS * s->pkt_max_bytes,
						   rtt_time);
	const s64 slack_bytes_ps = r->before_bytes_ps >> XCP_SAMPLE_TOLERANCE_SHIFT;
	s64 most_bytes_ps;

	r->after_bytes_ps = xcp_sample_rate(s->bytes, (now_ns - s->begin_ns) << XCP_TIME_SHIFT);
	most_bytes_ps = max_t(s64, floor_bytes_ps, r->before_bytes_ps + r->told_bytes_ps +
			      r->granted_bytes_ps + slack_bytes_ps);
	r->ignores = r->told_bytes_ps < 0 && r->after_bytes_ps > most_bytes_ps;
}

/* Its phase is over: the next one. Returns whether it was the last. */
static inline bool xcp_sample_next(struct xcp_sampler *s, u64 now_ns)
{
	switch (s->phase) {
	case XCP_SAMPLE_BEFORE:
		xcp_sample_close_before(s, now_ns);
		xcp_sample_enter(s, XCP_SAMPLE_TOLD, now_ns, XCP_SAMPLE_RTTS);
		return false;
	case XCP_SAMPLE_TOLD:
		xcp_sample_enter(s, XCP_SAMPLE_WAIT, now_ns, XCP_SAMPLE_WAIT_RTTS);
		return false;
	case XCP_SAMPLE_WAIT:
		xcp_sample_enter(s, XCP_SAMPLE_AFTER, now_ns, XCP_SAMPLE_RTTS);
		return false;
	case XCP_SAMPLE_AFTER:
		xcp_sample_close_after(s, now_ns);
		return true;
	case XCP_SAMPLE_PAUSE:
		break;
	}
	return false;
}

/* One more packet of the flow, in the phase that it is in. */
static inline void xcp_sample_add(struct xcp_sampler *s, const struct xcp_pkt *pkt)
{
	/* 2^31 * 2^20 packets */
	const s64 delta_bytes_ps = (s64)pkt->delta_bytes_ps * pkt->pkts;
	struct xcp_sample *r = &s->result;

	s->bytes += pkt->bytes;
	s->pkt_max_bytes = max_t(u32, s->pkt_max_bytes, pkt->bytes);
	if (s->phase == XCP_SAMPLE_TOLD)
		r->told_bytes_ps = clamp_t(s64, r->told_bytes_ps + delta_bytes_ps,
					   -XCP_SAMPLE_RATE_MAX, XCP_SAMPLE_RATE_MAX);
	else
		r->granted_bytes_ps = min_t(s64, XCP_SAMPLE_RATE_MAX, r->granted_bytes_ps +
					    max_t(s64, delta_bytes_ps, 0));
	if (s->phase == XCP_SAMPLE_BEFORE)
		s->sum_time = min_t(u64, U64_MAX >> 1, s->sum_time) +
			      min_t(u64, U64_MAX >> 1,
				    xcp_time(pkt->bytes, pkt->throughput_bytes_pms));
}

/* A flow that paused for as long as a phase tells nothing: forget it. */
static inline bool xcp_sample_lost(const struct xcp_sampler *s, u64 now_ns)
{
	return now_ns > s->end_ns && now_ns - s->end_ns > s->end_ns - s->begin_ns;
}

/**
 * xcp_sampler_see() - a packet departs
 * @s: the sampler
 * @pkt: XCP_CLASS_ASKING, after xcp_depart()
 * @key: names its flow
 * @now_ns: now, monotonic
 * @pause_ns: between two samples
 *
 * Return: whether a sample is complete, in @s->result.
 */
static inline bool xcp_sampler_see(struct xcp_sampler *s, const struct xcp_pkt *pkt, u32 key,
				   u64 now_ns, u64 pause_ns)
{
	bool complete;

	if (s->phase == XCP_SAMPLE_PAUSE ? now_ns >= s->end_ns : xcp_sample_lost(s, now_ns))
		xcp_sample_begin(s, pkt, key, now_ns);
	if (s->phase == XCP_SAMPLE_PAUSE || key != s->result.key)
		return false;
	complete = now_ns >= s->end_ns && xcp_sample_next(s, now_ns);
	if (complete) {
		s->phase = XCP_SAMPLE_PAUSE;
		s->end_ns = now_ns + pause_ns;
		return true;
	}
	xcp_sample_add(s, pkt);
	return false;
}

#endif /* HOPCC_XCP_SAMPLER_H */
