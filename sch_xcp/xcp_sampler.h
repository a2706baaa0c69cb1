/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sample senders, one flow at a time: does a sender send what it advertises, and does it slow down
 * when the feedback is negative?
 *
 * Source: draft-falk-xcp-spec-00 section 5, "Malicious Sources", on a probabilistic basis. The
 * switch qdisc gives the feedback itself, so it needs no reverse direction. A sample has four
 * phases:
 *
 *	BEFORE	8 RTT: measure the flow's rate and its advertised throughput
 *	SUM	8 RTT: sum up the feedback that the flow is given
 *	WAIT	2 RTT: wait until the feedback must have had its effect
 *	AFTER	8 RTT: measure the flow's rate again
 *
 * A sender understates if the times of its packets, size / Throughput, add up to more than the time
 * in which it sent them. A sender that advertises less than it sends is given more.
 *
 * A sender ignores feedback if its feedback in SUM was negative in total, but it
 * sends more in AFTER than its rate in BEFORE less that sum. Increases granted in the other phases
 * are allowed in addition, and 4 packets per RTT always.
 *
 * The tolerance is a quarter, because the bursts of a window at both ends of 8 RTTs are an eighth.
 * One sample is a hint, not a proof; the switch qdisc takes no action against offenders.
 *
 * Deviations: the draft describes no algorithm. Phases and tolerance are our choice.
 */
#ifndef HOPCC_SCH_XCP_XCP_SAMPLER_H
#define HOPCC_SCH_XCP_XCP_SAMPLER_H

#include "xcp_router.h"

#define XCP_SAMPLE_RTTS		8
#define XCP_SAMPLE_WAIT_RTTS	2
#define XCP_SAMPLE_FLOOR_PKTS	4
/* a tolerance of 1/4 */
#define XCP_SAMPLE_TOLERANCE_SHIFT 2
/* 2^40 bytes/s: sums of feedback and rates stay below 2^62. */
#define XCP_SAMPLE_RATE_MAX (XCP_RATE_MAX_Q16 >> 21)

enum sxcp_sample_phase {
	XCP_SAMPLE_PAUSE,
	XCP_SAMPLE_BEFORE,
	XCP_SAMPLE_SUM,
	XCP_SAMPLE_WAIT,
	XCP_SAMPLE_AFTER,
};

/**
 * struct xcp_sample - result of a sample
 * @key: identifies the flow; chosen by the caller
 * @rtt_us: advertised RTT
 * @advertised_bytes_ps: advertised throughput in BEFORE
 * @before_bytes_ps: measured rate in BEFORE
 * @reported_bytes_ps: sum of the feedback in SUM
 * @granted_bytes_ps: sum of the positive feedback in the other phases
 * @after_bytes_ps: measured rate in AFTER
 * @understates: the flow sends more than it advertises
 * @ignores: the flow did not slow down
 */
struct xcp_sample {
	u32 key;
	u32 rtt_us;
	s64 advertised_bytes_ps;
	s64 before_bytes_ps;
	s64 reported_bytes_ps;
	s64 granted_bytes_ps;
	s64 after_bytes_ps;
	bool understates;
	bool ignores;
};

/**
 * struct sxcp_sampler - state of the current sample; protected by the qdisc lock
 * @phase: current phase
 * @begin_ns: start of the phase
 * @end_ns: end of the phase, or of the pause
 * @bytes: bytes sent in the phase
 * @sum_time: sum of the packet times in BEFORE, 2^-12 ns
 * @pkt_max_bytes: size of the largest packet
 * @result: values known so far
 */
struct sxcp_sampler {
	enum sxcp_sample_phase phase;
	u64 begin_ns;
	u64 end_ns;
	u64 bytes;
	u64 sum_time;
	u32 pkt_max_bytes;
	struct xcp_sample result;
};

/* Return: bytes/s, rounded and capped to XCP_SAMPLE_RATE_MAX. @time is in 2^-12 ns */
static inline s64 sxcp_sample_rate(u64 bytes, u64 time)
{
	const s64 rate_q16 = sxcp_rate_q16(bytes, max_t(u64, time, 1));

	return min_t(s64, (rate_q16 + (1 << (XCP_RATE_SHIFT - 1))) >> XCP_RATE_SHIFT,
		     XCP_SAMPLE_RATE_MAX);
}

static inline void sxcp_sample_enter(struct sxcp_sampler *s, enum sxcp_sample_phase phase,
				     u64 now_ns, u32 rtts)
{
	s->phase = phase;
	s->begin_ns = now_ns;
	s->end_ns = now_ns + s->result.rtt_us * XCP_NS_PER_US * rtts;
	s->bytes = 0;
}

/* Start a sample with the first packet of another flow. */
static inline void sxcp_sample_begin(struct sxcp_sampler *s, const struct sxcp_pkt *pkt, u32 key,
				     u64 now_ns)
{
	*s = (struct sxcp_sampler){ .result = { .key = key, .rtt_us = pkt->rtt_us } };
	sxcp_sample_enter(s, XCP_SAMPLE_BEFORE, now_ns, XCP_SAMPLE_RTTS);
}

static inline void sxcp_sample_close_before(struct sxcp_sampler *s, u64 now_ns)
{
	const u64 elapsed = (now_ns - s->begin_ns) << XCP_TIME_SHIFT;

	s->result.before_bytes_ps = sxcp_sample_rate(s->bytes, elapsed);
	s->result.advertised_bytes_ps = sxcp_sample_rate(s->bytes, s->sum_time);
	s->result.understates = s->sum_time > elapsed + (elapsed >> XCP_SAMPLE_TOLERANCE_SHIFT);
}

static inline void sxcp_sample_close_after(struct sxcp_sampler *s, u64 now_ns)
{
	struct xcp_sample *r = &s->result;
	const u64 rtt_time = (r->rtt_us * XCP_NS_PER_US) << XCP_TIME_SHIFT;
	const s64 floor_bytes_ps = sxcp_sample_rate((u64)XCP_SAMPLE_FLOOR_PKTS * s->pkt_max_bytes,
						    rtt_time);
	const s64 slack_bytes_ps = r->before_bytes_ps >> XCP_SAMPLE_TOLERANCE_SHIFT;
	s64 most_bytes_ps;

	r->after_bytes_ps = sxcp_sample_rate(s->bytes, (now_ns - s->begin_ns) << XCP_TIME_SHIFT);
	most_bytes_ps = max_t(s64, floor_bytes_ps, r->before_bytes_ps + r->reported_bytes_ps +
			      r->granted_bytes_ps + slack_bytes_ps);
	r->ignores = r->reported_bytes_ps < 0 && r->after_bytes_ps > most_bytes_ps;
}

/* Enter the next phase. Return: true if the sample is complete */
static inline bool sxcp_sample_next(struct sxcp_sampler *s, u64 now_ns)
{
	switch (s->phase) {
	case XCP_SAMPLE_BEFORE:
		sxcp_sample_close_before(s, now_ns);
		sxcp_sample_enter(s, XCP_SAMPLE_SUM, now_ns, XCP_SAMPLE_RTTS);
		return false;
	case XCP_SAMPLE_SUM:
		sxcp_sample_enter(s, XCP_SAMPLE_WAIT, now_ns, XCP_SAMPLE_WAIT_RTTS);
		return false;
	case XCP_SAMPLE_WAIT:
		sxcp_sample_enter(s, XCP_SAMPLE_AFTER, now_ns, XCP_SAMPLE_RTTS);
		return false;
	case XCP_SAMPLE_AFTER:
		sxcp_sample_close_after(s, now_ns);
		return true;
	case XCP_SAMPLE_PAUSE:
		break;
	}
	return false;
}

/* Count a packet of the flow in the current phase. */
static inline void sxcp_sample_add(struct sxcp_sampler *s, const struct sxcp_pkt *pkt)
{
	/* 2^31 * 2^20 packets */
	const s64 delta_bytes_ps = (s64)pkt->delta_bytes_ps * pkt->pkts;
	struct xcp_sample *r = &s->result;

	s->bytes += pkt->bytes;
	s->pkt_max_bytes = max_t(u32, s->pkt_max_bytes, pkt->bytes);
	if (s->phase == XCP_SAMPLE_SUM)
		r->reported_bytes_ps = clamp_t(s64, r->reported_bytes_ps + delta_bytes_ps,
					       -XCP_SAMPLE_RATE_MAX, XCP_SAMPLE_RATE_MAX);
	else
		r->granted_bytes_ps = min_t(s64, XCP_SAMPLE_RATE_MAX, r->granted_bytes_ps +
					    max_t(s64, delta_bytes_ps, 0));
	if (s->phase == XCP_SAMPLE_BEFORE)
		s->sum_time = min_t(u64, U64_MAX >> 1, s->sum_time) +
			      min_t(u64, U64_MAX >> 1,
				    sxcp_time(pkt->bytes, pkt->throughput_bytes_pms));
}

/* Return: true if the flow paused for longer than a phase, so that the sample is useless */
static inline bool sxcp_sample_lost(const struct sxcp_sampler *s, u64 now_ns)
{
	return now_ns > s->end_ns && now_ns - s->end_ns > s->end_ns - s->begin_ns;
}

/**
 * sxcp_sampler_see() - count a packet that departs
 * @s: the sampler
 * @pkt: a packet of XCP_CLASS_ASKING, after sxcp_depart()
 * @key: identifies the packet's flow
 * @now_ns: current monotonic time
 * @pause_ns: pause between two samples
 *
 * Return: true if a sample is complete; its result is in @s->result.
 */
static inline bool sxcp_sampler_see(struct sxcp_sampler *s, const struct sxcp_pkt *pkt, u32 key,
				    u64 now_ns, u64 pause_ns)
{
	bool complete;

	if (s->phase == XCP_SAMPLE_PAUSE ? now_ns >= s->end_ns : sxcp_sample_lost(s, now_ns))
		sxcp_sample_begin(s, pkt, key, now_ns);
	if (s->phase == XCP_SAMPLE_PAUSE || key != s->result.key)
		return false;
	complete = now_ns >= s->end_ns && sxcp_sample_next(s, now_ns);
	if (complete) {
		s->phase = XCP_SAMPLE_PAUSE;
		s->end_ns = now_ns + pause_ns;
		return true;
	}
	sxcp_sample_add(s, pkt);
	return false;
}

#endif /* HOPCC_SCH_XCP_XCP_SAMPLER_H */
