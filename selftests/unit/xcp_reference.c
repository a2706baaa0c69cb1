// SPDX-License-Identifier: GPL-2.0
/*
 * Test of XCP's router against the draft in double precision. The reference is lines 1 to 36
 * of the draft's pseudo-code, in seconds and bytes/s, with the deviations that xcp_router.h
 * lists: the feedback of a packet is bounded by the pool, sums of an interval are divided by
 * its real length, an interval without XCP traffic counts four mean RTTs, and
 * a rate saturates at 2^45 bytes/s.
 *
 * Each port has a random capacity (10 kbit/s to 1.6 Tbit/s), flows of random RTT (1 us
 * to 10 s) and throughput, and some intervals of random packets. These ask for more or
 * less than they get, have feedback that an upstream router reduced, are GSO packets or
 * end-to-end limited, or are not XCP at all.
 *
 * Claims, in each interval:
 *	avg_rtt, input_bw, F and both pools are within 0.1 % or one byte/s
 *	the feedback of a packet is within 0.1 % of pos_fbk + neg_fbk, or one byte/s
 *	the sum of the feedback is within 0.1 % of the exact one, or one byte/s per packet
 * and for packets of random bits: every pool is within its bounds, and no header is increased.
 *
 *	xcp_reference [PACKETS [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "xcp_router.c"
#include "random.h"

#define FLOWS_MAX	64
#define TOLERANCE	0.001
/* xcp_router.h treats greater rates as this one, bytes/s. */
#define RATE_MAX	0x1p45
/* A pool below this is empty, bytes/s. */
#define EMPTY		1.0

/* A port with one transmit queue */
static const struct sxcp_others alone;

/* The draft's variables, in bytes, seconds and bytes/s. */
struct reference {
	double capacity, a, b, gamma, share;
	double min_interval, max_interval, allowed_queue;
	double asking_traffic, sum_rtt_by_size;
	double input_traffic, sum_inv_throughput, sum_rtt_by_throughput;
	double avg_rtt, input_bw, f, ctl_interval;
	double residue_pos_fbk, residue_neg_fbk, cp, cn;
	double queue, min_queue, tq;
};

struct packet {
	double size, rtt, throughput, delta;	/* bytes, s, bytes/s, bytes/s */
	double size_of_due;			/* pos_fbk + neg_fbk */
	u32 pkts;
	bool limited, xcp;
	bool capped;				/* the packet got the rest of a pool */
};

/* A packet time counts up to the control interval. */
static double reference_time(const struct reference *r, const struct packet *p)
{
	return fmin(p->size / p->throughput, r->avg_rtt > 0 ? r->ctl_interval : r->max_interval);
}

/* Lines 1 to 6 of the draft's pseudo-code. */
static void reference_arrival(struct reference *r, const struct packet *p)
{
	const double time = p->pkts * reference_time(r, p);
	const double rtt = fmin(p->rtt, r->max_interval);

	r->input_traffic += p->pkts * p->size;
	if (!p->xcp)
		return;
	r->sum_inv_throughput += time;
	r->sum_rtt_by_throughput += rtt * time;
	r->asking_traffic += p->pkts * p->size;
	r->sum_rtt_by_size += rtt * p->pkts * p->size;
}

/* Lines 7 to 18. */
static void reference_interval(struct reference *r, double elapsed)
{
	double shuffled_traffic, rtt;

	if (r->sum_inv_throughput > 0)
		r->avg_rtt = fmin(r->sum_rtt_by_throughput / r->sum_inv_throughput,
				  2 * r->sum_rtt_by_size / r->asking_traffic);
	rtt = r->avg_rtt > 0 ? r->avg_rtt : r->min_interval;
	r->input_bw = fmin(RATE_MAX, r->input_traffic / elapsed);
	r->f = r->a * (r->capacity - r->input_bw) - r->b * fmin(RATE_MAX, r->queue / rtt);
	shuffled_traffic = fmax(0, r->gamma * r->input_bw - fabs(r->f));
	r->residue_pos_fbk = shuffled_traffic + fmax(r->f, 0);
	r->residue_neg_fbk = shuffled_traffic + fmax(-r->f, 0);
	if (r->sum_inv_throughput > 0)
		r->cp = r->residue_pos_fbk / r->sum_inv_throughput;
	else
		r->cp = r->residue_pos_fbk / (4 * rtt);
	if (r->input_traffic > 0)
		r->cn = r->residue_neg_fbk / r->input_traffic;
	else
		r->cn = r->residue_neg_fbk / fmax(r->queue, 1);
	r->input_traffic = 0;
	r->sum_inv_throughput = 0;
	r->sum_rtt_by_throughput = 0;
	r->asking_traffic = 0;
	r->sum_rtt_by_size = 0;
	r->ctl_interval = fmin(fmax(r->avg_rtt, r->min_interval), r->max_interval);
}

static void empty(double *pool, double *factor)
{
	*pool = 0;
	*factor = 0;
}

/*
 * Lines 20 to 31. Lines 20 and 21 are bounded by the pools and by the minimum of the header's
 * field. The segments of a GSO packet have one header, so they share the rest of a pool.
 */
static void reference_departure(struct reference *r, struct packet *p)
{
	double pos_fbk = fmin(r->cp * reference_time(r, p), r->residue_pos_fbk / p->pkts);
	double neg_fbk = fmin(r->cn * p->size, r->residue_neg_fbk / p->pkts);
	double charged = p->pkts * (p->limited ? r->share : 1);
	double feedback;

	p->capped = pos_fbk * p->pkts >= r->residue_pos_fbk ||
		    neg_fbk * p->pkts >= r->residue_neg_fbk;
	neg_fbk = fmin(neg_fbk, pos_fbk + 2147483648.0);
	feedback = pos_fbk - neg_fbk;
	p->size_of_due = pos_fbk + neg_fbk;
	if (p->delta > feedback) {
		p->delta = feedback;
	} else {
		neg_fbk = fmin(r->residue_neg_fbk / p->pkts, neg_fbk + (feedback - p->delta));
		pos_fbk = p->delta + neg_fbk;
	}
	r->residue_pos_fbk = fmax(0, r->residue_pos_fbk - charged * pos_fbk);
	r->residue_neg_fbk = fmax(0, r->residue_neg_fbk - charged * neg_fbk);
	if (r->residue_pos_fbk < EMPTY)
		empty(&r->residue_pos_fbk, &r->cp);
	if (r->residue_neg_fbk < EMPTY)
		empty(&r->residue_neg_fbk, &r->cn);
}

/* Lines 33 to 35. */
static void reference_queue(struct reference *r, double inst_queue)
{
	r->queue = r->min_queue;
	r->min_queue = inst_queue;
	r->tq = fmax(r->allowed_queue, (r->avg_rtt - inst_queue / r->capacity) / 2);
}

/* A port in the code under test and in the reference, and sums of an interval. */
struct port {
	struct sxcp_params p;
	struct sxcp_vars v;
	struct reference r;
	u32 rtt_us[FLOWS_MAX], throughput_bytes_pms[FLOWS_MAX];
	int flows;
	double given, due, size_of_due;	/* sums of an interval */
	u64 interval_pkts;
};

static struct {
	u64 packets, intervals, lowered, drained, agreed, failures;
	double allocation, packet, sum_part, sum_units;
} seen;

static bool close_to(double got, double want, double size, double units, double *worst)
{
	double off = fabs(got - want);

	if (off > units && off / size > *worst)
		*worst = off / size;
	return off <= units || off <= TOLERANCE * size;
}

static void check(bool holds, const char *what, double got, double want)
{
	if (holds || seen.failures++ > 5)
		return;
	printf("# %s: %.9g, expected %.9g (interval %llu, packet %llu)\n", what, got, want,
	       seen.intervals, seen.packets);
}

static void check_value(const char *what, double got, double want, double unit)
{
	check(close_to(got, want, fabs(want), unit, &seen.allocation), what, got, want);
}

static double bytes_ps(s64 q16)
{
	return (double)q16 / (1 << XCP_RATE_SHIFT);
}

/* F is a small difference of large numbers, so the tolerance is 0.1 % of these. */
static void check_interval(const struct port *port)
{
	const struct reference *r = &port->r;
	double size = fmax(r->a * fmax(r->capacity, r->input_bw), fabs(r->f));

	check_value("avg_rtt", port->v.avg_rtt_time / (1e9 * (1 << XCP_TIME_SHIFT)), r->avg_rtt,
		    0);
	check_value("input_bw", bytes_ps(port->v.input_bw_q16), r->input_bw, 1);
	check(close_to(bytes_ps(port->v.feedback_q16), r->f, size, 1, &seen.allocation), "F",
	      bytes_ps(port->v.feedback_q16), r->f);
	check(close_to(bytes_ps(port->v.residue_pos_q16), r->residue_pos_fbk, size, 1,
		       &seen.allocation), "residue_pos_fbk",
	      bytes_ps(port->v.residue_pos_q16), r->residue_pos_fbk);
	check(close_to(bytes_ps(port->v.residue_neg_q16), r->residue_neg_fbk, size, 1,
		       &seen.allocation), "residue_neg_fbk",
	      bytes_ps(port->v.residue_neg_q16), r->residue_neg_fbk);
	check_value("ctl_interval", port->v.ctl_interval_ns / 1e9, r->ctl_interval, 2 / 1e9);
}

static void check_csums(struct port *port)
{
	double off = fabs(port->given - port->due);

	if (!port->interval_pkts)
		return;
	check(close_to(port->given, port->due, port->size_of_due, port->interval_pkts,
		       &seen.sum_part), "sum of feedback", port->given, port->due);
	seen.sum_units = fmax(seen.sum_units, fmin(off / port->interval_pkts,
						   off / port->size_of_due));
	port->given = 0;
	port->due = 0;
	port->size_of_due = 0;
	port->interval_pkts = 0;
}

/* A packet's request: any value, or about its share, or one that was reduced upstream. */
static s32 random_delta(const struct port *port)
{
	double scale = log_uniform(1, fmax(2, port->r.capacity));

	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return -(s32)fmin(scale, S32_MAX);
	case 2:
		return (s32)rng() >> below(32);
	case 3:
		return S32_MAX;
	default:
		return (s32)fmin(scale, S32_MAX);
	}
}

static struct sxcp_pkt random_packet(const struct port *port)
{
	int flow = below(port->flows);
	struct sxcp_pkt pkt = {
		.class = below(10) ? XCP_CLASS_ASKING : XCP_CLASS_OTHER,
		.pkts = below(8) ? 1 : 2 + below(44),
		.flags = below(8) ? 0 : XCP_FLAG_E2E_LIMITED,
		.rtt_us = port->rtt_us[flow],
		.throughput_bytes_pms = port->throughput_bytes_pms[flow],
		.delta_bytes_ps = random_delta(port),
	};

	pkt.bytes = pkt.pkts * (64 + below(below(4) ? 1450 : 9000));
	return pkt;
}

static struct packet as_reference(const struct sxcp_pkt *pkt)
{
	return (struct packet){
		.size = (double)pkt->bytes / pkt->pkts,
		.rtt = pkt->rtt_us / 1e6,
		.throughput = pkt->throughput_bytes_pms * 1e3,
		.delta = pkt->delta_bytes_ps,
		.pkts = pkt->pkts,
		.limited = pkt->flags & XCP_FLAG_E2E_LIMITED,
		.xcp = pkt->class == XCP_CLASS_ASKING,
	};
}

static void arrive(struct port *port, const struct sxcp_pkt *pkt)
{
	struct packet p = as_reference(pkt);

	sxcp_arrive(&port->v, &port->p, pkt);
	reference_arrival(&port->r, &p);
}

/* If a pool is so close to empty that rounding decides, make it empty on both sides. */
static void agree(double *pool, double *factor, s64 *pool_q16, struct sxcp_ratio *ratio)
{
	if (!*pool == !*pool_q16)
		return;
	if (fmax(*pool, bytes_ps(*pool_q16)) > EMPTY * 1.01)
		check(false, "pool", bytes_ps(*pool_q16), *pool);
	empty(pool, factor);
	*pool_q16 = 0;
	ratio->mul = 0;
	seen.agreed++;
}

static void depart(struct port *port, struct sxcp_pkt *pkt)
{
	struct packet p = as_reference(pkt);
	bool lowered = sxcp_depart(&port->v, &port->p, pkt);

	seen.packets += pkt->pkts;
	if (!p.xcp)
		return;
	reference_departure(&port->r, &p);
	port->interval_pkts += pkt->pkts;
	port->size_of_due += pkt->pkts * p.size_of_due;
	port->due += pkt->pkts * p.delta;
	port->given += (double)pkt->pkts * pkt->delta_bytes_ps;
	seen.lowered += lowered ? pkt->pkts : 0;
	seen.drained += !port->v.residue_pos_q16;
	/* The rest of a pool has the errors of everything that was taken from it before. */
	if (p.capped)
		p.size_of_due += port->size_of_due / pkt->pkts;
	check(close_to(pkt->delta_bytes_ps, p.delta, p.size_of_due, 1.001, &seen.packet),
	      "feedback", pkt->delta_bytes_ps, p.delta);
	agree(&port->r.residue_pos_fbk, &port->r.cp, &port->v.residue_pos_q16, &port->v.cp);
	agree(&port->r.residue_neg_fbk, &port->r.cn, &port->v.residue_neg_q16, &port->v.cn);
}

static void set_gains(struct port *port)
{
	const u32 alpha_ppm = 100000 + below(454999), gamma_ppm = below(300000);
	const u32 beta_ppm = sxcp_beta_ppm(alpha_ppm), share_ppm = below(1000001);

	port->p.alpha_q32 = sxcp_gain_q32(alpha_ppm);
	port->p.beta_q32 = sxcp_gain_q32(beta_ppm);
	port->p.gamma_q32 = sxcp_gain_q32(gamma_ppm);
	port->p.e2e_share_q32 = sxcp_gain_q32(share_ppm);
	port->r.a = alpha_ppm / 1e6;
	port->r.b = beta_ppm / 1e6;
	port->r.gamma = gamma_ppm / 1e6;
	port->r.share = share_ppm / 1e6;
}

static void set_port(struct port *port)
{
	int i;

	*port = (struct port){ .flows = 1 + below(FLOWS_MAX) };
	port->p.capacity_bytes_ps = log_uniform(1250, 2e11);
	port->p.min_interval_ns = log_uniform(1e4, 1e7);
	port->p.max_interval_ns = log_uniform(1e8, 1e10);
	port->p.allowed_queue_ns = log_uniform(1e4, 1e8);
	port->r.capacity = port->p.capacity_bytes_ps;
	port->r.min_interval = port->p.min_interval_ns / 1e9;
	port->r.max_interval = port->p.max_interval_ns / 1e9;
	port->r.allowed_queue = port->p.allowed_queue_ns / 1e9;
	set_gains(port);
	for (i = 0; i < port->flows; i++) {
		port->rtt_us[i] = log_uniform(1, 1e7);
		port->throughput_bytes_pms[i] =
			log_uniform(1, fmin(2e8, fmax(2, port->r.capacity / 500)));
	}
	sxcp_start(&port->v, &port->p);
	reference_interval(&port->r, port->r.min_interval);
}

/* Set a random queue, of about one RTT at most. */
static void run_queue(struct port *port)
{
	u32 queue_bytes = fmin(U32_MAX, log_uniform(1, 2 + port->r.capacity * port->r.avg_rtt));
	u64 tq_ns = sxcp_close_queue(&port->v, &port->p, queue_bytes);

	reference_queue(&port->r, queue_bytes);
	check_value("Tq", tq_ns / 1e9, port->r.tq, 2 / 1e9);
	if (!below(2)) {
		sxcp_see_queue(&port->v, queue_bytes / 2);
		port->r.min_queue = fmin(port->r.min_queue, queue_bytes / 2);
	}
	check_value("queue", port->v.queue_bytes, port->r.queue, 0);
}

static void run_interval(struct port *port)
{
	int i, packets = below(4) ? below(1000) : below(4);
	u64 elapsed_ns, ctl_ns = port->v.ctl_interval_ns;

	for (i = 0; i < packets; i++) {
		struct sxcp_pkt in = random_packet(port), out = random_packet(port);

		arrive(port, &in);
		depart(port, &out);
	}
	check_csums(port);
	/* The interval ends on time or late; the load is of the order of the capacity. */
	elapsed_ns = log_uniform(0.3, 10) * port->r.input_traffic / port->r.capacity * 1e9;
	elapsed_ns = fmax(elapsed_ns, ctl_ns + below(2) * below(1 + ctl_ns));
	if (below(4))
		run_queue(port);
	sxcp_close_interval(&port->v, &port->p, &alone, elapsed_ns);
	reference_interval(&port->r, elapsed_ns / 1e9);
	check_interval(port);
	seen.intervals++;
}

/* Feed random bits: only the bounds are checked, and the sanitizers find undefined behaviour. */
static u64 storm(u64 packets)
{
	u64 n, wrong = 0;
	struct port port;

	for (n = 0; n < packets; n++) {
		struct sxcp_pkt pkt = {
			.class = XCP_CLASS_ASKING,
			.flags = rng(),
			.pkts = 1 + (below(4) ? 0 : below(1 << 19)),
			.bytes = (u32)rng() >> (1 + below(31)),
			.rtt_us = ((u32)rng() >> below(32)) | 1,
			.throughput_bytes_pms = ((u32)rng() >> below(32)) | 1,
			.delta_bytes_ps = (s32)rng() >> below(32),
		};
		s32 delta = pkt.delta_bytes_ps;

		if (n % 1000 == 0)
			set_port(&port);
		sxcp_arrive(&port.v, &port.p, &pkt);
		sxcp_depart(&port.v, &port.p, &pkt);
		if (!below(50))
			sxcp_close_queue(&port.v, &port.p, rng() >> (32 + below(32)));
		if (!below(20))
			sxcp_close_interval(&port.v, &port.p, &alone, rng() >> (12 + below(52)));
		wrong += pkt.delta_bytes_ps > delta ||
			 port.v.residue_pos_q16 < 0 || port.v.residue_pos_q16 > XCP_RATE_MAX_Q16 ||
			 port.v.residue_neg_q16 < 0 || port.v.residue_neg_q16 > XCP_RATE_MAX_Q16 ||
			 port.v.ctl_interval_ns < port.p.min_interval_ns ||
			 port.v.ctl_interval_ns > port.p.max_interval_ns;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	u64 packets = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000000, wrong;
	struct port port;
	int i;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	while (seen.packets < packets) {
		set_port(&port);
		for (i = 0; i < 20; i++)
			run_interval(&port);
	}
	printf("# %llu packets, %llu lowered, %llu met an empty pool (%llu by rounding)\n",
	       seen.packets, seen.lowered, seen.drained, seen.agreed);
	printf("# %llu intervals\n", seen.intervals);
	printf("# worst of what is beyond one unit: allocation %.2g, packet %.2g, sum %.2g\n",
	       seen.allocation, seen.packet, seen.sum_part);
	printf("# sum of feedback: at most %.3g bytes/s a packet, or of itself\n", seen.sum_units);
	printf("%s 1 - the router equals the draft over random packets\n",
	       seen.failures ? "not ok" : "ok");

	wrong = storm(packets / 5);
	printf("%s 2 - packets of any bits keep every bound\n1..2\n", wrong ? "not ok" : "ok");
	return seen.failures || wrong;
}
