/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The XCP algorithm of a switch port: the part of the port's spare capacity that each packet is
 * given.
 *
 * Source: draft-falk-xcp-spec-00 section 3.2; comments refer to the lines of its pseudo-code. Once
 * per control interval (about a mean RTT) the port computes by how much its load should change,
 *
 *	F = alpha * (capacity - input_bw) - beta * queue / avg_rtt
 *
 * and fills two pools with this amount. Departing packets empty them: the positive pool in equal
 * parts per flow, the negative one in proportion to a flow's throughput. Shuffling adds a little to
 * both even at F = 0, so that the flows' shares converge.
 *
 * Number ranges: capacity 10 kbit/s to 1.6 Tbit/s, RTT 1 us to 10 s, Throughput 1 to 2^32 - 1
 * bytes/ms. Larger values in packets saturate. Rates and feedback are bytes/s in Q16. A header
 * cannot hold feedback below 1 byte/s; this fraction is carried over to the next packet that is
 * changed. The error of a ratio is at most 2^-30, that of a packet time half a unit, that of
 * avg_rtt 2^-17.
 *
 * Deviations:
 * - Sizes are bytes on the link, including the overhead, because the capacity is, too; the draft
 *   uses IP sizes.
 * - A packet is given or loses at most the rest of the pool. In the draft the last packet overdraws
 *   it: by a multiple of the pool if its flow sends less than a packet per interval.
 * - Line 8 divides by the real length of the interval, not by the nominal one.
 * - Line 13 after an interval without XCP traffic uses four mean RTTs for the sum, the packet times
 *   of four flows: a flow that is alone starts at once. Line 14 after an interval without any
 *   traffic uses the persistent queue. In lines 7, 9 and 13, avg_rtt keeps its last value; before
 *   the first one, min_interval replaces it.
 * - Lines 30 and 31: a pool that holds less than 1 byte/s counts as empty.
 * - Line 18 also has an upper bound, max_interval.
 * - Lines 2 and 20: a packet time counts up to the control interval, because a header proves no
 *   more than one flow: one packet adds at most the interval to the sum, and P packets per interval
 *   weigh at most as much as P flows, whatever their headers claim. The packet time of a flow that
 *   sends a packet per interval is below the bound. Before the first mean RTT, it is max_interval.
 * - Line 7: the mean RTT over flows is at most twice the mean over bytes. If flows have equal
 *   rates, both are equal. Packets that are a part s of the bytes raise the mean over bytes by at
 *   most s * max_interval, so only bytes that are really sent can raise it.
 * - Line 19: an interval also ends when it has lasted twice the mean RTT over the bytes that
 *   arrived in it. Packets that are alone on a port can make an interval as long as max_interval,
 *   but the first bytes of others end it. The mean is checked each time as many bytes have
 *   arrived as the port sends in min_interval.
 * - A port that several transmit queues share has one load, one queue and one F, with which each
 *   queue closes its own intervals. Cp and Cn are those of the port; the pools of a queue are its
 *   part of the port's: the positive pool is divided by packet times and therefore by flows, the
 *   negative one by bytes. So all flows are treated alike, whatever their queue. A queue without
 *   packets in an interval gives no feedback in the next one.
 * - Section 4.1: packets whose sender is not limited by XCP are charged to the pools with only a
 *   part of the feedback that they get (an option; by default all of it).
 */
#ifndef HOPCC_SCH_XCP_XCP_ROUTER_H
#define HOPCC_SCH_XCP_XCP_ROUTER_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/types.h>
#include <hopcc/wire/xcp.h>
#include <uapi/linux/pkt_sched_xcp.h>

/* Rates and feedback: bytes/s << 16. */
#define XCP_RATE_SHIFT 16
/* 2^45 bytes/s, far above the rate of any port: rates, F and pools stay below 2^62. */
#define XCP_RATE_MAX_Q16 (1LL << (45 + XCP_RATE_SHIFT))
/* Fixed point of alpha, beta, gamma and shares: 1 << 32 is 1. */
#define XCP_GAIN_SHIFT 32
#define XCP_GAIN_PPM 1000000
/* Unit of variables named _time: 2^-12 ns. A packet of 64 bytes at 1.6 Tbit/s takes 1311 units. */
#define XCP_TIME_SHIFT 12
/* Unit of an RTT times bytes: 2^3 ns, which divides 1 us */
#define XCP_BYTE_RTT_SHIFT 3
#define XCP_NS_PER_MS 1000000ULL
#define XCP_NS_PER_US 1000ULL
#define XCP_NS_PER_S 1000000000ULL
/* sqrt(2) */
#define XCP_SQRT2_PPM 1414214ULL

/**
 * struct sxcp_params - parameters; written under the qdisc lock
 * @capacity_bytes_ps: capacity of the port, 1250 to 2 * 10^11
 * @alpha_q32: gain of the spare capacity
 * @beta_q32: gain of the persistent queue
 * @gamma_q32: part of the load that is shuffled
 * @min_interval_ns: shortest control interval, MIN_INTERVAL
 * @max_interval_ns: longest control interval and cap of the senders' RTTs, MAX_INTERVAL; at most
 *	10^10
 * @allowed_queue_ns: ALLOWED_QUEUE, shortest period of the queue's estimate
 * @e2e_share_q32: part of its feedback that an end-to-end limited packet is charged with
 * @overhead_bytes: bytes that the link adds to each packet
 * @protocol: IP protocol number of XCP
 */
struct sxcp_params {
	u64 capacity_bytes_ps;
	u64 alpha_q32;
	u64 beta_q32;
	u64 gamma_q32;
	u64 min_interval_ns;
	u64 max_interval_ns;
	u64 allowed_queue_ns;
	u64 e2e_share_q32;
	u32 overhead_bytes;
	u8 protocol;
};

/**
 * struct sxcp_ratio - a quotient that is applied with a multiplication
 * @mul: mantissa
 * @shift: exponent, 0 to 95: the quotient is mul / 2^shift
 */
struct sxcp_ratio {
	u64 mul;
	int shift;
};

/**
 * struct sxcp_vars - state of the port; protected by the qdisc lock
 * @input_bytes: bytes that arrived in this interval, XCP or not: input_traffic
 * @sum_time: sum of packet times, 2^-12 ns: sum_inv_throughput
 * @asking_bytes: bytes of the packets that are in @sum_time
 * @sum_rtt_bytes: sum of RTT * size of these packets, 2^3 ns * bytes
 * @look_bytes: value of @asking_bytes at which to check if the interval is over
 * @sum_rtt_time_hi: sum of RTT * packet time, 2^-24 ns^2: sum_rtt_by_throughput, upper 64 bits
 * @sum_rtt_time_lo: the same, lower 64 bits
 * @avg_rtt_time: mean RTT over flows, 2^-12 ns; 0: no XCP traffic yet
 * @ctl_interval_ns: length of the current control interval
 * @input_bw_q16: load of the last interval
 * @feedback_q16: F, bytes/s
 * @residue_pos_q16: pool of positive feedback
 * @residue_neg_q16: pool of negative feedback
 * @cp: positive feedback per packet time
 * @cn: negative feedback per byte
 * @carry_q16: feedback of earlier packets below a whole byte/s
 * @queue_bytes: the persistent queue
 * @min_queue_bytes: minimum queue since the queue's timer last expired
 * @ring_bytes: the persistent queue in the driver's ring, below the qdisc
 * @bounded_pkts: packets on the wire that arrived with a packet time above the control interval
 * @timed: the packet time that was computed last, 2^-12 ns
 * @timed_bytes: size of the packet that @timed is for; 0: none
 * @timed_bytes_pms: throughput that @timed is for, bytes/ms
 */
struct sxcp_vars {
	u64 input_bytes;
	u64 sum_time;
	u64 asking_bytes;
	u64 sum_rtt_bytes;
	u64 look_bytes;
	u64 sum_rtt_time_hi;
	u64 sum_rtt_time_lo;
	u64 avg_rtt_time;
	u64 ctl_interval_ns;
	s64 input_bw_q16;
	s64 feedback_q16;
	s64 residue_pos_q16;
	s64 residue_neg_q16;
	struct sxcp_ratio cp;
	struct sxcp_ratio cn;
	u64 carry_q16;
	u32 queue_bytes;
	u32 min_queue_bytes;
	u32 ring_bytes;
	u64 bounded_pkts;
	u64 timed;
	u32 timed_bytes;
	u32 timed_bytes_pms;
};

/**
 * struct sxcp_others - traffic of the port's other transmit queues in an interval of one queue
 * @input_bytes: bytes that arrived there
 * @sum_time: sum of packet times there, 2^-12 ns
 * @queue_bytes: sum of their persistent queues
 */
struct sxcp_others {
	u64 input_bytes;
	u64 sum_time;
	u64 queue_bytes;
};

/* Class of a packet */
enum sxcp_class {
	XCP_CLASS_OTHER,	/* no congestion header, or not the first fragment */
	XCP_CLASS_MALFORMED,	/* not a valid congestion header */
	XCP_CLASS_MINIMAL,	/* carries no demand */
	XCP_CLASS_UNKNOWN,	/* the sender does not know its RTT or throughput yet */
	XCP_CLASS_ASKING,	/* carries a demand: the algorithm applies */
};

/**
 * struct sxcp_pkt - a packet or GSO packet as the algorithm sees it
 * @class: class of the packet. Members below @offset_bytes are valid only for XCP_CLASS_ASKING
 * @fault: the fault, if @class is XCP_CLASS_MALFORMED
 * @format: format of a valid header
 * @flags: flags of a valid header
 * @pkts: number of packets on the wire, each with this header
 * @bytes: size of all of them on the link, below 2^31
 * @offset_bytes: offset of the header from the start of the frame; 0: none
 * @rtt_us: RTT, not 0
 * @throughput_bytes_pms: Throughput, bytes/ms, not 0
 * @delta_bytes_ps: Delta_Throughput of each packet, bytes/s; lowered by the algorithm
 * @sum: XCP_FLAG_SUM: the header holds the sum over @pkts packets
 */
struct sxcp_pkt {
	enum sxcp_class class;
	enum xcp_fault fault;
	enum xcp_format format;
	u8 flags;
	u32 pkts;
	u32 bytes;
	int offset_bytes;
	u32 rtt_us;
	u32 throughput_bytes_pms;
	s32 delta_bytes_ps;
	bool sum;
};

/**
 * sxcp_gain_q32() - convert a gain to fixed point
 * @ppm: the gain in millionths, at most 10^6
 *
 * Return: ppm / 10^6 in Q32, rounded down.
 */
u64 sxcp_gain_q32(u32 ppm);

/**
 * sxcp_beta_ppm() - beta from alpha, as in the draft: b = a^2 * sqrt(2)
 * @alpha_ppm: alpha in millionths, below 10^6
 *
 * Return: beta in millionths, rounded.
 */
u32 sxcp_beta_ppm(u32 alpha_ppm);

/**
 * sxcp_ratio() - compute a quotient that is applied many times
 * @num: numerator
 * @den: denominator; not 0
 *
 * Return: num / den with a relative error of at most 2^-30.
 */
struct sxcp_ratio sxcp_ratio(u64 num, u64 den);

/**
 * sxcp_ratio_times() - multiply by a ratio
 * @r: the ratio
 * @x: the factor
 *
 * Return: r * x, rounded down; XCP_RATE_MAX_Q16 if the product might be larger.
 */
static inline s64 sxcp_ratio_times(const struct sxcp_ratio *r, u64 x)
{
	/* mul < 2^fls64(mul), and likewise x */
	if (r->mul && x && fls64(r->mul) + fls64(x) > r->shift + 45 + XCP_RATE_SHIFT)
		return XCP_RATE_MAX_Q16;
	return (s64)mul_u64_u64_shr(r->mul, x, r->shift);
}

/* Return: @x * @gain, rounded towards 0 */
static inline s64 sxcp_gain_times(s64 x, u64 gain_q32)
{
	/* 2^62 * 2^32 >> 32 */
	s64 size = (s64)mul_u64_u64_shr(x < 0 ? -x : x, gain_q32, XCP_GAIN_SHIFT);

	return x < 0 ? -size : size;
}

/* Return: @x * @pkts, limited to the range of the pools; a single @x is in this range already */
static inline s64 sxcp_times_pkts(s64 x, u32 pkts)
{
	s64 all;

	if (pkts == 1)
		return x;
	if (check_mul_overflow(x, (s64)pkts, &all))
		return x < 0 ? -XCP_RATE_MAX_Q16 : XCP_RATE_MAX_Q16;
	return clamp_t(s64, all, -XCP_RATE_MAX_Q16, XCP_RATE_MAX_Q16);
}

/**
 * sxcp_time() - packet time, Pkt_size / Throughput
 * @bytes: size of the packet, below 2^31
 * @throughput_bytes_pms: bytes/ms, not 0
 *
 * Return: packet time, 2^-12 ns, rounded; at most 2^63.
 */
static inline u64 sxcp_time(u32 bytes, u32 throughput_bytes_pms)
{
	/* 2^31 * 2^32 + 2^31 */
	return div_u64(bytes * (XCP_NS_PER_MS << XCP_TIME_SHIFT) + throughput_bytes_pms / 2,
		       throughput_bytes_pms);
}

/*
 * sxcp_time() with a cache of one entry. The time is needed when a packet arrives and when it
 * departs, and consecutive packets often belong to the same flow.
 */
static inline u64 sxcp_packet_time(struct sxcp_vars *v, u32 bytes, u32 throughput_bytes_pms)
{
	if (v->timed_bytes != bytes || v->timed_bytes_pms != throughput_bytes_pms) {
		v->timed = sxcp_time(bytes, throughput_bytes_pms);
		v->timed_bytes = bytes;
		v->timed_bytes_pms = throughput_bytes_pms;
	}
	return v->timed;
}

/* Return: the longest packet time that counts; 2^34 * 2^12 */
static inline u64 sxcp_most_time(const struct sxcp_vars *v, const struct sxcp_params *p)
{
	return (v->avg_rtt_time ? v->ctl_interval_ns : p->max_interval_ns) << XCP_TIME_SHIFT;
}

/*
 * Lines 3 to 6, the sum of RTT * Pkt_size / Throughput in 128 bits: 2^46 * 2^64. The sum of RTT *
 * Pkt_size stops before it overflows, after 100 Gbyte with an RTT of 1 s: its mean is then that of
 * the first bytes.
 */
static inline void sxcp_sum_rtt(struct sxcp_vars *v, const struct sxcp_params *p,
				const struct sxcp_pkt *pkt, u64 time)
{
	const u64 rtt_ns = min_t(u64, pkt->rtt_us * XCP_NS_PER_US, p->max_interval_ns);
	const u64 rtt_time = rtt_ns << XCP_TIME_SHIFT, lo = rtt_time * time;
	/* 2^31 * 2^31 */
	u64 rtt_bytes = (rtt_ns >> XCP_BYTE_RTT_SHIFT) * pkt->bytes;

	v->sum_rtt_time_lo += lo;
	v->sum_rtt_time_hi += mul_u64_u64_shr(rtt_time, time, 64) + (v->sum_rtt_time_lo < lo);
	if (check_add_overflow(v->sum_rtt_bytes, rtt_bytes, &rtt_bytes))
		return;
	v->sum_rtt_bytes = rtt_bytes;
	v->asking_bytes += pkt->bytes;
}

/**
 * sxcp_arrive() - process a packet that arrives, lines 1 to 6
 * @v: the port
 * @p: parameters
 * @pkt: the packet
 *
 * If the sum of packet times would overflow, it and the sum of RTTs stay unchanged.
 *
 * Return: true if the interval may be over: sxcp_is_over() must be called.
 */
static inline bool sxcp_arrive(struct sxcp_vars *v, const struct sxcp_params *p,
			       const struct sxcp_pkt *pkt)
{
	u64 most, time, sum;

	v->input_bytes += pkt->bytes;
	if (pkt->class != XCP_CLASS_ASKING)
		return false;
	/* The N packets of a GSO packet take as long as one packet of their total size. */
	time = sxcp_packet_time(v, pkt->bytes, pkt->throughput_bytes_pms);
	/* 2^17 * 2^46; a GSO packet of more packets is forged. */
	most = sxcp_most_time(v, p) * min_t(u32, pkt->pkts, 1 << 17);
	if (time > most) {
		time = most;
		v->bounded_pkts += pkt->pkts;
	}
	if (check_add_overflow(v->sum_time, time, &sum))
		return false;
	v->sum_time = sum;
	sxcp_sum_rtt(v, p, pkt, time);
	return v->asking_bytes >= v->look_bytes;
}

/**
 * sxcp_is_over() - is the control interval over, for the mean RTT of the bytes that arrived in it?
 * @v: the port, when sxcp_arrive() has returned true
 * @p: parameters
 * @elapsed_ns: time since the start of the interval
 *
 * Return: true if the interval has lasted twice that mean and min_interval. Otherwise the next
 * check is due when the bytes of another min_interval have arrived.
 */
bool sxcp_is_over(struct sxcp_vars *v, const struct sxcp_params *p, u64 elapsed_ns);

/* Return: the mean RTT in ns, rounded */
static inline u64 sxcp_avg_rtt_ns(const struct sxcp_vars *v)
{
	return (v->avg_rtt_time + (1 << (XCP_TIME_SHIFT - 1))) >> XCP_TIME_SHIFT;
}

/* Return: the rate of @bytes in @time, bytes/s in Q16 */
s64 sxcp_rate_q16(u64 bytes, u64 time);

/**
 * sxcp_close_interval() - process the end of a control interval, lines 7 to 18
 * @v: the port, as one of its transmit queues sees it
 * @p: parameters; the capacity is the port's
 * @o: traffic of the other queues in the same interval
 * @elapsed_ns: time since the start of the interval; below 2^52
 *
 * The caller executes line 19, which restarts the timer, with @v->ctl_interval_ns.
 */
void sxcp_close_interval(struct sxcp_vars *v, const struct sxcp_params *p,
			 const struct sxcp_others *o, u64 elapsed_ns);

/**
 * sxcp_close_pools() - give no feedback until the end of the interval
 * @v: the port, as seen by a queue that was unused while other queues were in use
 */
void sxcp_close_pools(struct sxcp_vars *v);

/**
 * sxcp_others_since() - compute the traffic of the other queues in an interval from their counts
 * @now: their counts at the end of the interval; @queue_bytes is a current value, not a count
 * @before: their counts at an earlier time
 * @since_ns: time since @before
 * @elapsed_ns: length of the interval, ns; below 2^52
 *
 * Counts are modulo 2^64. If a count seems to go back, a queue was removed in the meantime, and the
 * traffic of this interval is unknown (0).
 *
 * Return: the traffic, extrapolated if the interval is longer than @since_ns.
 */
struct sxcp_others sxcp_others_since(const struct sxcp_others *now,
				     const struct sxcp_others *before, u64 since_ns,
				     u64 elapsed_ns);

/**
 * sxcp_start() - start a port that is new or has been idle
 * @v: the port
 * @p: parameters
 *
 * The pool for the first packets is that of an idle interval.
 */
void sxcp_start(struct sxcp_vars *v, const struct sxcp_params *p);

/* Return: the maximum that each of @pkts packets may take from a pool */
static inline s64 sxcp_pool_part(s64 residue_q16, u32 pkts)
{
	return pkts > 1 ? (s64)div_u64((u64)residue_q16, pkts) : residue_q16;
}

/* Line 20, limited by the pool */
static inline s64 sxcp_pos_feedback_q16(struct sxcp_vars *v, const struct sxcp_params *p,
					const struct sxcp_pkt *pkt, u32 pkt_bytes)
{
	u64 time;

	if (!v->cp.mul)
		return 0;
	time = min(sxcp_packet_time(v, pkt_bytes, pkt->throughput_bytes_pms),
		   sxcp_most_time(v, p));
	return min_t(s64, sxcp_pool_part(v->residue_pos_q16, pkt->pkts),
		     sxcp_ratio_times(&v->cp, time));
}

/* Line 21, limited by the pool, and such that the header can hold the difference to @pos_q16 */
static inline s64 sxcp_neg_feedback_q16(const struct sxcp_vars *v, const struct sxcp_pkt *pkt,
					u32 pkt_bytes, s64 pos_q16)
{
	const s64 most_q16 = pos_q16 + (1LL << (31 + XCP_RATE_SHIFT));

	if (!v->cn.mul)
		return 0;
	return min3(sxcp_pool_part(v->residue_neg_q16, pkt->pkts),
		    sxcp_ratio_times(&v->cn, pkt_bytes), most_q16);
}

/*
 * Line 24: round to whole bytes/s for each of @pkts packets. The fractions are summed up until they
 * make 1 byte/s for each of the packets. The result never exceeds a Delta_Throughput above
 * @feedback_q16.
 */
static inline s32 sxcp_whole_bytes_ps(struct sxcp_vars *v, s64 feedback_q16, u32 pkts)
{
	const u64 one_each_q16 = (u64)pkts << XCP_RATE_SHIFT;
	s32 bytes_ps = (s32)(feedback_q16 >> XCP_RATE_SHIFT);

	/* 2^32 * 2^16 */
	v->carry_q16 += pkts * ((u64)feedback_q16 & ((1 << XCP_RATE_SHIFT) - 1));
	if (v->carry_q16 < one_each_q16)
		return bytes_ps;
	v->carry_q16 -= one_each_q16;
	return bytes_ps + 1;
}

/* Return: the rest of a pool; 0 if it is less than a header can hold */
static inline s64 sxcp_pool_less(s64 residue_q16, s64 taken_q16)
{
	/* 2^61 + 2^61 */
	const s64 left_q16 = residue_q16 - taken_q16;

	return left_q16 < 1 << XCP_RATE_SHIFT ? 0 : min_t(s64, left_q16, XCP_RATE_MAX_Q16);
}

/* Lines 28 to 31, and section 4.1: charge the feedback to the pools. */
static inline void sxcp_charge(struct sxcp_vars *v, const struct sxcp_params *p,
			       const struct sxcp_pkt *pkt, s64 pos_q16, s64 neg_q16)
{
	pos_q16 = sxcp_times_pkts(pos_q16, pkt->pkts);
	neg_q16 = sxcp_times_pkts(neg_q16, pkt->pkts);
	if (pkt->flags & XCP_FLAG_E2E_LIMITED) {
		pos_q16 = sxcp_gain_times(pos_q16, p->e2e_share_q32);
		neg_q16 = sxcp_gain_times(neg_q16, p->e2e_share_q32);
	}
	v->residue_pos_q16 = sxcp_pool_less(v->residue_pos_q16, pos_q16);
	v->residue_neg_q16 = sxcp_pool_less(v->residue_neg_q16, neg_q16);
	if (!v->residue_pos_q16)
		v->cp.mul = 0;
	if (!v->residue_neg_q16)
		v->cn.mul = 0;
}

/**
 * sxcp_depart() - process a packet that departs, lines 20 to 31
 * @v: the port
 * @p: parameters
 * @pkt: the packet; its Delta_Throughput may be lowered
 *
 * Return: true if Delta_Throughput was lowered.
 */
static __always_inline bool sxcp_depart(struct sxcp_vars *v, const struct sxcp_params *p,
					struct sxcp_pkt *pkt)
{
	const s64 delta_q16 = (s64)pkt->delta_bytes_ps * (1 << XCP_RATE_SHIFT);
	s64 pos_q16, neg_q16, feedback_q16;
	u32 pkt_bytes = pkt->bytes;
	bool lower;

	if (pkt->class != XCP_CLASS_ASKING)
		return false;
	if (pkt->pkts > 1)
		pkt_bytes /= pkt->pkts;
	pos_q16 = sxcp_pos_feedback_q16(v, p, pkt, pkt_bytes);
	neg_q16 = sxcp_neg_feedback_q16(v, pkt, pkt_bytes, pos_q16);
	feedback_q16 = pos_q16 - neg_q16;
	lower = delta_q16 > feedback_q16;
	if (lower) {
		pkt->delta_bytes_ps = sxcp_whole_bytes_ps(v, feedback_q16, pkt->pkts);
	} else {
		/*
		 * Lines 26 and 27: an upstream bottleneck, or the sender, has already lowered it
		 * further.
		 */
		neg_q16 = min_t(s64, sxcp_pool_part(v->residue_neg_q16, pkt->pkts),
				neg_q16 + feedback_q16 - delta_q16);
		pos_q16 = delta_q16 + neg_q16;
	}
	sxcp_charge(v, p, pkt, pos_q16, neg_q16);
	return lower;
}

/* Return: the persistent queue of the qdisc and of the driver's ring, bytes */
static inline u64 sxcp_standing_bytes(const struct sxcp_vars *v)
{
	return (u64)v->queue_bytes + v->ring_bytes;
}

/**
 * sxcp_see_queue() - update the minimum queue when a packet departs, line 32
 * @v: the port
 * @queue_bytes: the queue without the packet
 */
static inline void sxcp_see_queue(struct sxcp_vars *v, u32 queue_bytes)
{
	if (queue_bytes < v->min_queue_bytes)
		v->min_queue_bytes = queue_bytes;
}

/**
 * sxcp_close_queue() - process the expiry of the queue's timer, lines 33 to 35
 * @v: the port
 * @p: parameters
 * @queue_bytes: the current queue
 *
 * Return: Tq in ns, for line 36.
 */
u64 sxcp_close_queue(struct sxcp_vars *v, const struct sxcp_params *p, u32 queue_bytes);

/*
 * For a GSO packet with XCP_FLAG_SUM, use the mean demand of its packets, rounded up: then the port
 * never charges a packet with less than it gets.
 */
static inline void sxcp_read_sum(struct sxcp_pkt *pkt)
{
	/* At most 2^19, for a forged GSO packet */
	const s32 pkts = pkt->pkts, mean = pkt->delta_bytes_ps / pkts;

	pkt->sum = true;
	pkt->flags &= ~XCP_FLAG_SUM;
	pkt->delta_bytes_ps = mean + (pkt->delta_bytes_ps % pkts > 0);
}

/**
 * sxcp_read() - read a congestion header
 * @pkt: the packet; class, fault, format and the header's values are set. @pkts must be set before,
 *	and the values must be 0
 * @h: the header, or NULL if the packet ends within it
 * @own_protocol: IP protocol number of XCP
 */
static inline void sxcp_read(struct sxcp_pkt *pkt, const struct xcp_hdr *h, u8 own_protocol)
{
	pkt->fault = xcp_check(h, own_protocol);
	if (pkt->fault != XCP_OK) {
		pkt->class = XCP_CLASS_MALFORMED;
		return;
	}
	pkt->format = xcp_format(h);
	pkt->flags = h->flags;
	pkt->rtt_us = xcp_rtt_us(h);
	pkt->throughput_bytes_pms = be32_to_cpu(h->throughput);
	pkt->delta_bytes_ps = xcp_delta(h);
	if (pkt->pkts > 1 && h->flags & XCP_FLAG_SUM)
		sxcp_read_sum(pkt);
	pkt->class = XCP_CLASS_ASKING;
	/* The RTT of a Minimal header is 0. */
	if (!pkt->rtt_us || !pkt->throughput_bytes_pms)
		pkt->class = pkt->format == XCP_FORMAT_MINIMAL ? XCP_CLASS_MINIMAL :
								 XCP_CLASS_UNKNOWN;
}

/**
 * sxcp_count() - count an arrival
 * @s: the statistics; protected by the qdisc lock
 * @pkt: the packet
 */
static inline void sxcp_count(struct tc_xcp_xstats *s, const struct sxcp_pkt *pkt)
{
	if (pkt->class == XCP_CLASS_OTHER) {
		s->other_pkts += pkt->pkts;
		return;
	}
	if (pkt->class == XCP_CLASS_MALFORMED) {
		s->malformed_pkts[pkt->fault - 1] += pkt->pkts;
		return;
	}
	if (pkt->format == XCP_FORMAT_STANDARD)
		s->standard_pkts += pkt->pkts;
	else if (pkt->format == XCP_FORMAT_MICRO)
		s->micro_pkts += pkt->pkts;
	else
		s->minimal_pkts += pkt->pkts;
	if (pkt->class == XCP_CLASS_UNKNOWN)
		s->unknown_pkts += pkt->pkts;
	if (!pkt->flags)
		return;
	if (pkt->flags & XCP_FLAG_E2E_LIMITED)
		s->e2e_limited_pkts += pkt->pkts;
	if (pkt->flags & ~XCP_FLAGS_KNOWN)
		s->flagged_pkts += pkt->pkts;
}

#endif /* HOPCC_SCH_XCP_XCP_ROUTER_H */
