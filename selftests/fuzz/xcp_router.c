// SPDX-License-Identifier: GPL-2.0
/* The sch_xcp algorithm: pools, intervals and feedback stay in range. */
#include "xcp_packet.h"

static void check_port(const struct sxcp_vars *v, const struct sxcp_params *p)
{
	FUZZ_CLAIM(v->residue_pos_q16 >= 0 && v->residue_pos_q16 <= XCP_RATE_MAX_Q16);
	FUZZ_CLAIM(v->residue_neg_q16 >= 0 && v->residue_neg_q16 <= XCP_RATE_MAX_Q16);
	FUZZ_CLAIM(v->input_bw_q16 >= 0 && v->input_bw_q16 <= XCP_RATE_MAX_Q16);
	FUZZ_CLAIM(v->ctl_interval_ns >= p->min_interval_ns);
	FUZZ_CLAIM(v->ctl_interval_ns <= p->max_interval_ns);
	/* A mean of capped RTTs, plus the documented error of 2^-17 */
	FUZZ_CLAIM(sxcp_avg_rtt_ns(v) <= p->max_interval_ns + (p->max_interval_ns >> 16) + 1);
}

/* A cached packet time must equal the computed one. */
static void check_time(const struct sxcp_vars *v)
{
	FUZZ_CLAIM(!v->timed_bytes || v->timed == sxcp_time(v->timed_bytes, v->timed_bytes_pms));
}

static void depart(struct sxcp_vars *v, const struct sxcp_params *p)
{
	struct sxcp_pkt pkt = draw_packet(p->protocol);
	const s64 neg_q16 = v->residue_neg_q16, pos_bytes_ps = v->residue_pos_q16 >> XCP_RATE_SHIFT;
	const s32 delta_bytes_ps = pkt.delta_bytes_ps;
	const bool lowered = sxcp_depart(v, p, &pkt);

	/* A switch qdisc may only lower Delta_Throughput. */
	FUZZ_CLAIM(pkt.delta_bytes_ps <= delta_bytes_ps);
	FUZZ_CLAIM(lowered || pkt.delta_bytes_ps == delta_bytes_ps);
	FUZZ_CLAIM(!lowered || pkt.class == XCP_CLASS_ASKING);
	FUZZ_CLAIM(v->residue_neg_q16 <= neg_q16);
	/* At most the content of the pool, up to rounding to whole bytes/s */
	FUZZ_CLAIM(!lowered || (s64)pkt.delta_bytes_ps * pkt.pkts <= pos_bytes_ps + pkt.pkts);
	sxcp_see_queue(v, fuzz_u32());
}

static void close_queue(struct sxcp_vars *v, const struct sxcp_params *p)
{
	const u64 queue_ns = sxcp_close_queue(v, p, fuzz_u32());

	FUZZ_CLAIM(queue_ns >= p->allowed_queue_ns);
	FUZZ_CLAIM(queue_ns <= max(p->allowed_queue_ns, p->max_interval_ns));
}

/*
 * The most that one packet adds to what flows share: its bytes to the load, the time of a flow that
 * sends one packet an interval to the packet times, and max_interval for its bytes to the mean RTT.
 */
static void check_share(const struct sxcp_vars *now, const struct sxcp_vars *before,
			const struct sxcp_params *p, const struct sxcp_pkt *pkt)
{
	const u64 time = now->sum_time - before->sum_time;
	const u64 rtt_bytes = now->sum_rtt_bytes - before->sum_rtt_bytes;
	const u64 most_ns = before->avg_rtt_time ? before->ctl_interval_ns : p->max_interval_ns;
	const u64 bounded_pkts = now->bounded_pkts - before->bounded_pkts;

	FUZZ_CLAIM(now->input_bytes - before->input_bytes == pkt->bytes);
	FUZZ_CLAIM(now->sum_time >= before->sum_time);
	FUZZ_CLAIM(time / pkt->pkts <= most_ns << XCP_TIME_SHIFT);
	FUZZ_CLAIM(now->sum_rtt_bytes >= before->sum_rtt_bytes);
	FUZZ_CLAIM(rtt_bytes <= (p->max_interval_ns >> XCP_BYTE_RTT_SHIFT) * pkt->bytes);
	FUZZ_CLAIM(!rtt_bytes || now->asking_bytes == before->asking_bytes + pkt->bytes);
	/* Packets that are clipped are counted, and only those. */
	FUZZ_CLAIM(!bounded_pkts || bounded_pkts == pkt->pkts);
	FUZZ_CLAIM(bounded_pkts || pkt->class != XCP_CLASS_ASKING || !time ||
		   time == sxcp_time(pkt->bytes, pkt->throughput_bytes_pms));
}

/* No interval outlasts twice the mean RTT over bytes by more than a look. */
static void look(struct sxcp_vars *v, const struct sxcp_params *p, u64 elapsed_ns)
{
	const u64 mean_ns = v->asking_bytes ? v->sum_rtt_bytes / v->asking_bytes <<
					      XCP_BYTE_RTT_SHIFT : 0;
	const bool over = sxcp_is_over(v, p, elapsed_ns);

	FUZZ_CLAIM(v->look_bytes > v->asking_bytes);
	FUZZ_CLAIM(!over || elapsed_ns >= max(2 * mean_ns, p->min_interval_ns));
	FUZZ_CLAIM(over || elapsed_ns < p->min_interval_ns ||
		   elapsed_ns < 2 * (mean_ns + (1 << XCP_BYTE_RTT_SHIFT)));
}

static void arrive(struct sxcp_vars *v, const struct sxcp_params *p)
{
	const struct sxcp_pkt pkt = draw_packet(p->protocol);
	const struct sxcp_vars before = *v;
	struct tc_xcp_xstats stats = {};

	/* A look is due at the packet that makes the bytes enough, and at no other packet. */
	FUZZ_CLAIM(sxcp_arrive(v, p, &pkt) == (v->asking_bytes >= v->look_bytes));
	check_share(v, &before, p, &pkt);
	look(v, p, pkt.rtt_us * XCP_NS_PER_US);
	sxcp_count(&stats, &pkt);
}

/* The mean RTT that an interval ends with is at most twice that over the bytes in it. */
static void close_interval(struct sxcp_vars *v, const struct sxcp_params *p)
{
	const u64 sum = v->sum_rtt_bytes, bytes = v->asking_bytes;
	const bool asked = v->sum_time && bytes;

	sxcp_close_interval(v, p, &(struct sxcp_others){}, fuzz_range(0, 1ULL << 51));
	if (asked)
		FUZZ_CLAIM(v->avg_rtt_time >> XCP_TIME_SHIFT <=
			   (sum / bytes + 1) << XCP_BYTE_RTT_SHIFT << 1);
}

/*
 * An interval ends on a port with several transmit queues: this queue's pools are a part of the
 * port's.
 */
static void close_beside(struct sxcp_vars *v, const struct sxcp_params *p)
{
	const struct sxcp_others before = { fuzz_u64(), fuzz_u64(), fuzz_u64() >> 20 };
	const struct sxcp_others now = { fuzz_u64(), fuzz_u64(), fuzz_u64() >> 20 };
	const u64 elapsed_ns = fuzz_range(0, 1ULL << 51);
	const struct sxcp_others o = sxcp_others_since(&now, &before, fuzz_u64(), elapsed_ns);
	const bool has_time = v->sum_time, has_bytes = v->input_bytes;

	sxcp_close_interval(v, p, &o, elapsed_ns);
	FUZZ_CLAIM(has_time || !o.sum_time || !v->residue_pos_q16);
	FUZZ_CLAIM(has_bytes || !o.input_bytes || !v->residue_neg_q16);
	if (fuzz_choice(2))
		sxcp_close_pools(v);
}

/* xcp_share.h changes the capacity of a port with two queues. */
static void step(struct sxcp_vars *v, struct sxcp_params *p, u64 port_bytes_ps)
{
	switch (fuzz_choice(7)) {
	case 0:
		close_interval(v, p);
		break;
	case 1:
		close_queue(v, p);
		break;
	case 2:
		p->capacity_bytes_ps = fuzz_range(1, port_bytes_ps);
		break;
	case 3:
		depart(v, p);
		break;
	case 4:
		close_beside(v, p);
		break;
	default:
		arrive(v, p);
	}
}

static void fuzz_once(void)
{
	struct sxcp_params p = draw_params();
	const u64 port_bytes_ps = p.capacity_bytes_ps;
	struct sxcp_vars v = {};

	sxcp_start(&v, &p);
	while (fuzz_has_more()) {
		step(&v, &p, port_bytes_ps);
		check_port(&v, &p);
		check_time(&v);
	}
}
