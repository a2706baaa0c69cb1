// SPDX-License-Identifier: GPL-2.0
/*
 * Test of HPCC++'s arithmetic against the draft in double precision. The reference is lines 1
 * to 27 of the draft's pseudo-code, in seconds and bytes, with the deviations that hop_core/hpcc.c
 * lists.
 *
 * Each sequence is a connection over 1 to 15 random ports (10M to 1.6T; idle, busy or
 * overloaded; queues up to the maximum of a record and longer) with a random T. Its
 * answers have random spacing: some arrive at once, some are late, lost, repeated or out of
 * order, some take another path or two paths in turn, and one arrives after a pause in which
 * every clock wraps. The clocks and counters of the ports start with random values.
 *
 * Claims, after each answer:
 *	the classification of the records is the same
 *	U is within 0.0001, or 4 in 2^20
 *	W is within 0.5 %, and within its bounds
 * and in a loop with 1 to 5 hops at 400G, the throughput over several hops is within 2 % of
 * that over one hop.
 *
 *	hpcc_reference [SEQUENCES [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../hop_core/hpcc.c"

#include "random.h"

#define NS_PER_S	1e9
#define ANSWERS_MAX	24
#define U_TOLERANCE	0.0001
#define U_UNIT		(4.0 / HPCC_U_ONE)
#define WND_TOLERANCE	0.005
#define LOOP_TOLERANCE	0.02
/* Closer to a threshold than this, rounding decides. */
#define EDGE		0.0001

static u64 failures;

/* The cases that the sequences covered; each case must occur. */
static struct {
	u64 answers, received[HPCC_RECEIVED_NOTHING + 1];
	u64 multiplied, added, returned, at_max, at_min, saturated_u, saturated_q, agreed;
	double u, wnd;
} seen;

/* The draft's variables of a hop, in bytes, seconds and bytes/s. */
struct hop {
	unsigned int speed;
	double b, ts, tx_bytes, qlen, u;
};

/* The stored records of a path; hops is 0 if the entry is unused. */
struct stored {
	unsigned int hops, path_id;
	double ns;
	struct hop l[INT_SLOTS_MAX];
};

struct reference {
	double t, late, eta, wnd_max, wnd_init, wnd_ai;
	unsigned int max_stage;
	double u, wnd, wc, quiet;
	unsigned int stage, rounds;
	unsigned int records_most;
	struct stored path[HPCC_PATHS_MAX];
};

struct port {
	unsigned int speed;
	double b, load;
	double offset_ns, offset_bytes;
	double tx_bytes, qlen_bytes;
};

struct path {
	unsigned int hops, id;
	struct port port[INT_SLOTS_MAX];
};

/* The answers arrive from path[0], or from both paths in turn. */
struct connection {
	struct hpcc_params p;
	struct hpcc_vars v;
	struct reference r;
	struct path path[2];
	bool turns;
	double now_ns;
	u32 snd_nxt;
};

static void check(bool good, const char *what, double got, double want)
{
	if (good)
		return;
	if (failures++ < 10)
		printf("# %s: got %.9g, want %.9g\n", what, got, want);
}

/* ts - ts', which is known modulo 2^24: the value closest to @local_ns. */
static double reference_elapsed_ns(double ts, double was, double local_ns)
{
	const double period = INT_TS_MASK + 1.0, most = local_ns + HPCC_EARLY_NS;

	return most - fmod(fmod(most - (ts - was), period) + period, period);
}

/* Lines 3 to 7 for one hop. Return: true if the record is new. */
static bool reference_hop(struct hop *l, const struct int_record *now, double t, double drain,
			  bool twice, double local_ns, double *dt)
{
	const double unit = 1 << int_speeds[now->speed].unit_shift;
	double units, tx_rate, qlen, least;

	if (l->speed != now->speed) {
		*l = (struct hop){ .speed = now->speed, .ts = now->ts_ns, .tx_bytes = now->tx_units,
				   .qlen = now->qlen_units, .u = l->u };
		return false;
	}
	l->b = int_speeds[now->speed].mbit_ps * 1e6 / 8;
	*dt = reference_elapsed_ns(now->ts_ns, l->ts, local_ns) / NS_PER_S;
	units = fmod(now->tx_units - l->tx_bytes + 1048576.0, 1048576.0);
	if (*dt <= 0 || now->ts_ns == l->ts ||
	    (units < HPCC_UNITS_MIN && *dt < fmin(t, HPCC_NEW_MAX_NS / NS_PER_S)))
		return false;
	qlen = fmin(now->qlen_units, l->qlen) * unit;
	tx_rate = units * unit / *dt;
	qlen -= fmin(qlen, floor(HPCC_FREE_PKTS * HPCC_PACKET_BYTES / unit) * unit);
	least = HPCC_DRAIN_PKTS * (twice ? 2.0 : 1.0) * HPCC_PACKET_BYTES / l->b;
	l->u = fmin(qlen / (l->b * fmax(drain, least)) + tx_rate / l->b,
		    (double)HPCC_U_MAX / HPCC_U_ONE);
	seen.saturated_u += l->u >= (double)HPCC_U_MAX / HPCC_U_ONE;
	seen.saturated_q += now->qlen_units == INT_QLEN_MAX;
	l->ts = now->ts_ns;
	l->tx_bytes = now->tx_units;
	l->qlen = now->qlen_units;
	return true;
}

/* Find the stored records of a path. All headers have room for all hops. */
static struct stored *reference_find(struct reference *r, const struct int_hdr *h)
{
	unsigned int i;

	for (i = 0; i < HPCC_PATHS_MAX; i++)
		if (r->path[i].hops == int_hops(h) && r->path[i].path_id == int_path_id(h))
			return &r->path[i];
	return NULL;
}

/* Get an entry for a new path. HPCC_HOPS_STORED limits their number; the oldest is replaced. */
static struct stored *reference_room(struct reference *r, const struct int_hdr *h)
{
	unsigned int i, paths, oldest = 0;

	if (int_hops(h) > r->records_most) {
		memset(r->path, 0, sizeof(r->path));
		r->records_most = int_hops(h);
	}
	paths = min(HPCC_HOPS_STORED / r->records_most, HPCC_PATHS_MAX);
	for (i = 0; i < paths; i++) {
		if (!r->path[i].hops)
			return &r->path[i];
		if (r->path[i].ns < r->path[oldest].ns)
			oldest = i;
	}
	return &r->path[oldest];
}

static void reference_store(struct stored *path, const struct int_hdr *h)
{
	unsigned int i;

	path->hops = int_hops(h);
	path->path_id = int_path_id(h);
	for (i = 0; i < int_records(h); i++) {
		struct int_record now = int_unpack(h->record[i]);

		path->l[i] = (struct hop){ .speed = now.speed, .ts = now.ts_ns,
					   .tx_bytes = now.tx_units, .qlen = now.qlen_units };
	}
}

/*
 * MeasureInflight. Return: true if U is new. @was is the hop of the latest answer. If hops differ
 * by less than the rounding, or by HPCC_U_STAY, the code under test may have chosen any of them:
 * @taken.
 */
static bool reference_measure(struct reference *r, struct stored *path, const struct int_hdr *h,
			      double now_ns, unsigned int was, unsigned int taken)
{
	/* In whole ns and bytes, as in the tested code; r->wc is the same there. */
	const double round_ns = floor(r->t * NS_PER_S * HPCC_PACKET_BYTES / floor(r->wc) +
				      0.000001);
	const bool small = r->wc < HPCC_PACKET_BYTES;
	const bool twice = small && r->wc >= HPCC_PACKET_BYTES / 4.0;
	const double usual = small ? round_ns / NS_PER_S : r->t + r->late;
	const double drain = fmin(usual, HPCC_T_MAX_NS / NS_PER_S);
	struct hop *l = path->l;
	const unsigned int records = int_records(h);
	double tau, more, off, dts[INT_SLOTS_MAX] = {};
	unsigned int i, most = 0, hop;
	bool may_stay;

	may_stay = was < records && l[was].u * HPCC_U_ONE >= 1;
	for (i = 0; i < records; i++) {
		struct int_record now = int_unpack(h->record[i]);
		double dt;

		if (reference_hop(&l[i], &now, r->t, drain, twice, now_ns - path->ns, &dt))
			dts[i] = dt;
		if (l[i].u > l[most].u)
			most = i;
	}
	off = l[most].u * 0.000004 + 0.000004;
	more = may_stay ? l[most].u - l[was].u - (double)HPCC_U_STAY / HPCC_U_ONE : INFINITY;
	hop = more > 0 ? most : was;
	if ((taken == was && more <= off) ||
	    (taken < records && l[taken].u >= l[most].u - off && more >= -off))
		hop = taken;
	tau = dts[hop];
	if (tau == 0)
		return false;
	tau = fmin(tau, r->t);
	r->u = (1 - tau / r->t) * r->u + tau / r->t * l[hop].u;
	return true;
}

/* Update the remembered window after a round with the current U. */
static void reference_remember(struct reference *r, bool above_eta, bool has_room, bool burst)
{
	const bool steady = r->rounds >= 4 && !burst;

	r->rounds++;
	if (r->quiet <= r->wc)
		r->quiet = above_eta && !steady ? r->quiet : r->wc;
	else if (burst)
		r->quiet -= r->quiet / 64;
	else if (!has_room)
		r->quiet -= (r->quiet - r->wc) / 16;
}

/* ComputeWind. If U is at a threshold (eta, room, burst), the decision of the tested code, @v. */
static void reference_wind(struct reference *r, const struct hpcc_vars *v,
			   const struct hpcc_params *p, bool update, bool multiply,
			   double was_wnd)
{
	const double room = r->eta * 15 / 16;
	const double most = r->rounds ? r->wnd_ai : r->wnd_ai / HPCC_FIRST_AI;
	const double ai = fmax(fmin(1.5 * (1 - r->eta) * r->wc, most),
			       r->wnd_ai / HPCC_FLOWS_RANGE);
	const double aim = r->eta - fmin(ai / r->wnd_init, r->eta / 2);
	bool above_eta = v->u >= p->eta, burst = v->u > HPCC_U_BURST;
	bool has_room = hpcc_has_room(v, p);
	const bool small = was_wnd < HPCC_PACKET_BYTES, tiny = was_wnd < HPCC_PACKET_BYTES / 4.0;
	bool starved = tiny || (small && v->u < p->eta / 2);
	/* Below 0.001 a unit of U is more of W than the tolerance; compare() checks U. */
	const double u = r->u < 0.001 ? (double)max(v->u, 1U) / HPCC_U_ONE : r->u;
	double multiplied = r->wc / (u / aim) + ai, w;

	if (fabs(r->u - r->eta) > EDGE) {
		above_eta = r->u >= r->eta;
		multiply = above_eta || r->stage >= r->max_stage;
	} else {
		seen.agreed++;
	}
	if (fabs(r->u - 17.0 / 16) > EDGE)
		burst = r->u > 17.0 / 16;
	if (fabs(r->u - r->eta / 2) > EDGE)
		starved = tiny || (small && r->u < r->eta / 2);
	multiply |= starved;
	if (fabs(r->u - room) > EDGE)
		has_room = r->u < room;
	/* The tested code limits the multiplied window before it adds W_ai. */
	if (tiny)
		multiplied = r->wc * 3 / 4 +
			     (multiplied - ai >= r->wnd_max ? r->wnd_max : multiplied) / 4;
	w = multiply ? multiplied : r->wc + ai;
	if (!multiply && has_room && r->quiet > w) {
		w = r->quiet;
		seen.returned++;
	}
	if (!multiply)
		w = fmin(w, multiplied);
	seen.multiplied += multiply;
	seen.added += !multiply;
	seen.at_max += w >= r->wnd_max;
	seen.at_min += w <= HPCC_WND_MIN_BYTES;
	r->wnd = fmin(fmax(w, HPCC_WND_MIN_BYTES), r->wnd_max);
	if (!update)
		return;
	reference_remember(r, above_eta, has_room, burst);
	r->stage = multiply ? 0 : r->stage + 1;
	r->wc = r->wnd;
}

/* Let a port run for a time. */
static void run_port(struct port *port, double ns)
{
	double sent = port->b * ns / NS_PER_S * fmin(port->load, 1);

	port->tx_bytes += sent;
	port->qlen_bytes = fmax(0, port->qlen_bytes + (port->load - 1) * port->b * ns / NS_PER_S);
	if (!below(20))
		port->load = below(8) ? uniform(0, 2) : 0;
	if (!below(200))
		port->qlen_bytes = log_uniform(1, 1e9);
}

static void stamp(const struct port *port, double now_ns, struct int_hdr *h)
{
	unsigned int i = int_hops(h), shift = int_speeds[port->speed].unit_shift;
	struct int_record r = {
		.speed = port->speed,
		.ts_ns = (u64)(now_ns + port->offset_ns),
		.tx_units = (u64)(port->tx_bytes + port->offset_bytes) >> shift,
		.qlen_units = fmin((u64)port->qlen_bytes >> shift, U32_MAX),
	};

	h->record[i] = int_pack(&r);
	h->path = cpu_to_be32((i + 1) << 28 |
			      ((int_path_id(h) ^ (i * 77 + 1)) & INT_SWITCH_ID_MAX) << 16);
}

static void set_path(struct path *path)
{
	unsigned int i;

	path->id = below(INT_SWITCH_ID_MAX + 1);
	path->hops = 1 + (below(4) ? below(5) : below(INT_SLOTS_MAX));
	for (i = 0; i < path->hops; i++) {
		unsigned int speed = 1 + below(13);

		path->port[i] = (struct port){
			.speed = speed,
			.b = int_speeds[speed].mbit_ps * 1e6 / 8,
			.load = uniform(0, 2),
			.offset_ns = floor(uniform(0, 1e12)),
			.offset_bytes = floor(uniform(0, 1e15)),
		};
	}
}

static void set_connection(struct connection *c)
{
	u32 eta_ppm = 500000 + below(500001);

	set_path(&c->path[0]);
	set_path(&c->path[1]);
	c->turns = !below(4);
	c->p.t_ns = log_uniform(HPCC_T_MIN_NS, 8e6);
	c->p.late_ns = below(2) ? 0 : log_uniform(1, HPCC_T_MAX_NS);
	c->p.eta = (u64)eta_ppm * HPCC_U_ONE / HPCC_PPM;
	c->p.max_stage = below(8);
	c->p.wnd_max_bytes = log_uniform(HPCC_WND_MIN_BYTES, 4e9);
	c->p.wnd_init_bytes = below(2) ? c->p.wnd_max_bytes :
			      log_uniform(HPCC_WND_MIN_BYTES, below(4) ? c->p.wnd_max_bytes : 4e9);
	c->p.wnd_ai = hpcc_wnd_ai(c->p.wnd_init_bytes, c->p.eta, 1 + below(1000));
	hpcc_start(&c->v, &c->p);
	c->r = (struct reference){
		.t = c->p.t_ns / NS_PER_S,
		.late = c->p.late_ns / NS_PER_S,
		.eta = (double)c->p.eta / HPCC_U_ONE,
		.max_stage = c->p.max_stage,
		.wnd_max = c->p.wnd_max_bytes,
		.wnd_init = c->p.wnd_init_bytes,
		.wnd_ai = c->p.wnd_ai / 65536.0,
		.u = 1,
		.wnd = fmin(c->p.wnd_init_bytes, c->p.wnd_max_bytes),
		.wc = fmin(c->p.wnd_init_bytes, c->p.wnd_max_bytes),
	};
	c->now_ns = floor(uniform(1e9, 1e15));
	c->snd_nxt = rng();
}

static void compare(struct connection *c)
{
	double u = (double)c->v.u / HPCC_U_ONE, wnd = c->v.wnd / 65536.0;
	double quiet = c->v.wnd_quiet / 65536.0;
	double u_off = fabs(u - c->r.u), wnd_off = fabs(wnd - c->r.wnd) / c->r.wnd;

	seen.u = fmax(seen.u, u_off / fmax(c->r.u, 0.01));
	seen.wnd = fmax(seen.wnd, wnd_off);
	check(u_off <= c->r.u * U_TOLERANCE + U_UNIT, "U", u, c->r.u);
	check(wnd_off <= WND_TOLERANCE, "W", wnd, c->r.wnd);
	check(fabs(quiet - c->r.quiet) <= c->r.quiet * WND_TOLERANCE, "remembered window", quiet,
	      c->r.quiet);
	check(c->v.wnd >= (u64)HPCC_WND_MIN_BYTES << HPCC_WND_SHIFT &&
	      c->v.wnd <= (u64)c->p.wnd_max_bytes << HPCC_WND_SHIFT, "bounds", wnd, c->r.wnd_max);
	/* Continue from the values of the tested code, so that errors do not add up. */
	c->r.u = u;
	c->r.wnd = wnd;
	c->r.wc = c->v.wnd_ref / 65536.0;
	c->r.quiet = quiet;
}

/* Process an answer in the reference. Return: the classification of its records. */
static enum hpcc_received reference_receive(struct connection *c, const struct int_hdr *h,
					    unsigned int was)
{
	struct stored *path = reference_find(&c->r, h);
	enum hpcc_received received = HPCC_RECEIVED_FIRST;

	if (path && c->now_ns - path->ns <= HPCC_STORED_MAX_NS) {
		received = reference_measure(&c->r, path, h, c->now_ns, was,
					     c->v.bottleneck) ? HPCC_RECEIVED_NEW :
									     HPCC_RECEIVED_SAME;
	} else {
		if (!path && c->r.records_most)
			received = HPCC_RECEIVED_PATH;
		if (path && c->r.wc < HPCC_PACKET_BYTES) {
			c->r.wc = fmin(c->r.wc * 2, c->r.wnd_max);
			c->r.wnd = c->r.wc;
		}
		if (!path)
			path = reference_room(&c->r, h);
		reference_store(path, h);
	}
	if (received != HPCC_RECEIVED_SAME)
		path->ns = c->now_ns;
	return received;
}

static void answer(struct connection *c, const struct int_hdr *h)
{
	unsigned int stage = c->v.inc_stage;
	u32 ack_seq = c->snd_nxt - below(4) * 1000;
	bool update = !c->v.updated || (s32)(ack_seq - c->v.update_seq) > 0;
	enum hpcc_received want, got;
	const double was_wnd = c->v.wnd_ref / 65536.0;
	const unsigned int was_hop = c->v.bottleneck;
	bool multiply;

	/* Errors do not add up here either: at the edge of a packet both are on one side. */
	c->r.wc = was_wnd;
	got = hpcc_new_ack(&c->v, &c->p, h, ack_seq, c->snd_nxt, c->now_ns);
	multiply = c->v.u >= c->p.eta || stage >= c->p.max_stage;
	want = reference_receive(c, h, was_hop);
	if (want == HPCC_RECEIVED_NEW)
		reference_wind(&c->r, &c->v, &c->p, update, multiply, was_wnd);
	seen.answers++;
	seen.received[got]++;
	check(got == want, "received", got, want);
	check(c->r.stage == c->v.inc_stage, "incStage", c->v.inc_stage, c->r.stage);
	c->r.stage = c->v.inc_stage;
	compare(c);
}

static double random_gap_ns(const struct connection *c)
{
	switch (below(16)) {
	case 0:
		return 0;
	case 1:
		return uniform(0, 4 * HPCC_STORED_MAX_NS);
	default:
		return log_uniform(0.01, 3) * c->p.t_ns;
	}
}

/* Let the ports of both paths run for @gap_ns, and collect the records of @path in a header. */
static void collect(struct connection *c, struct path *path, double gap_ns, struct int_hdr *h)
{
	unsigned int hop, i;

	for (i = 0; i < ARRAY_SIZE(c->path); i++)
		for (hop = 0; hop < c->path[i].hops; hop++)
			run_port(&c->path[i].port[hop], gap_ns);
	int_write(h, 6, INT_TYPE_DATA, 0, INT_SLOTS_MAX);
	for (hop = 0; hop < path->hops; hop++)
		stamp(&path->port[hop], c->now_ns, h);
	h->path ^= cpu_to_be32(path->id << INT_PATH_ID_SHIFT);
}

static void run_sequence(void)
{
	u64 room[2][(INT_HDR_BYTES + INT_SLOTS_MAX * INT_RECORD_BYTES + 7) / 8];
	struct connection c;
	int i, answers = 1 + below(ANSWERS_MAX);

	set_connection(&c);
	for (i = 0; i < answers; i++) {
		struct int_hdr *h = (void *)room[i & 1];
		double gap_ns = floor(random_gap_ns(&c));

		if (!below(30))
			set_path(&c.path[0]);
		c.now_ns += gap_ns;
		c.snd_nxt += below(3000);
		collect(&c, &c.path[c.turns & i], gap_ns, h);
		answer(&c, h);
		/* The previous answer arrives again, late. */
		if (i && !below(8))
			answer(&c, (void *)room[~i & 1]);
	}
}

#define LOOP_HOPS_MAX	5
#define LOOP_SPEED	11	/* 400G */
#define LOOP_BYTES	1514
#define LOOP_MSS	1448
#define LOOP_T_NS	5000
#define LOOP_INFLIGHT	4096

/*
 * One paced sender, a path of ports without other traffic, and one answer per packet
 * after T. Return: the sender's rate divided by the line rate.
 */
static double loop(unsigned int hops)
{
	static u64 room[LOOP_INFLIGHT][8];
	static double due_ns[LOOP_INFLIGHT];
	struct hpcc_params p = { .t_ns = LOOP_T_NS, .max_stage = 5 };
	const double line = int_speeds[LOOP_SPEED].mbit_ps * 1e6 / 8;
	double now_ns = 1e9, sent = 0, from_ns = 1e9 + 200.0 * LOOP_T_NS;
	double offset[LOOP_HOPS_MAX];
	unsigned int head = 0, tail = 0, i;
	struct hpcc_vars v;
	double total = 0;

	for (i = 0; i < hops; i++)
		offset[i] = floor(uniform(0, 1e12));
	p.eta = HPCC_U_ONE * 95ULL / 100;
	p.wnd_max_bytes = hpcc_bdp_bytes(line, p.t_ns);
	p.wnd_init_bytes = p.wnd_max_bytes;
	p.wnd_ai = hpcc_wnd_ai(p.wnd_init_bytes, p.eta, 100);
	hpcc_start(&v, &p);
	for (; now_ns < from_ns + 400.0 * LOOP_T_NS; tail++) {
		struct int_hdr *h = (void *)room[tail % LOOP_INFLIGHT];
		double gap_ns;

		for (; head < tail && due_ns[head % LOOP_INFLIGHT] <= now_ns; head++)
			hpcc_new_ack(&v, &p, (void *)room[head % LOOP_INFLIGHT], head, tail,
				     now_ns);
		int_write(h, 6, INT_TYPE_DATA, 0, LOOP_HOPS_MAX);
		for (i = 0; i < hops; i++) {
			struct port port = {
				.speed = LOOP_SPEED,
				.tx_bytes = total,
				.offset_bytes = offset[i],
				.offset_ns = i * 1000.0,
			};

			stamp(&port, now_ns, h);
		}
		due_ns[tail % LOOP_INFLIGHT] = now_ns + LOOP_T_NS;
		total += LOOP_BYTES;
		if (now_ns >= from_ns)
			sent += LOOP_BYTES;
		gap_ns = LOOP_BYTES / fmin(line, hpcc_wnd_bytes(&v) / (LOOP_T_NS / NS_PER_S)) * 1e9;
		now_ns += gap_ns;
	}
	return sent / (line * (now_ns - from_ns) / NS_PER_S);
}

static void run_loops(void)
{
	double one = loop(1);
	unsigned int hops;

	check(one > 0.93 && one < 0.97, "one hop's throughput", one, 0.95);
	for (hops = 2; hops <= LOOP_HOPS_MAX; hops++) {
		double several = loop(hops);

		printf("# %u hops at 400G: %.4f of the line, one hop %.4f\n", hops, several, one);
		check(fabs(several / one - 1) <= LOOP_TOLERANCE, "several hops' throughput",
		      several, one);
	}
}

/* Check that the sequences covered all cases. */
static void check_coverage(void)
{
	unsigned int i;

	for (i = 0; i < HPCC_RECEIVED_NOTHING; i++)
		check(seen.received[i], "never received", 0, i);
	check(seen.multiplied && seen.added && seen.returned && seen.at_max && seen.at_min &&
	      seen.saturated_q, "coverage", 0, 1);
	check(seen.agreed < seen.answers / 100, "at the edge", seen.agreed, seen.answers);
}

int main(int argc, char **argv)
{
	u64 i, sequences = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;

	rng_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (i = 0; i < sequences; i++)
		run_sequence();
	check_coverage();
	run_loops();
	printf("# %llu sequences, %llu answers: U within %.2g, W within %.2g\n", sequences,
	       seen.answers, seen.u, seen.wnd);
	printf("# new %llu, same %llu, first %llu, path %llu\n", seen.received[HPCC_RECEIVED_NEW],
	       seen.received[HPCC_RECEIVED_SAME], seen.received[HPCC_RECEIVED_FIRST],
	       seen.received[HPCC_RECEIVED_PATH]);
	printf("# multiplied %llu, added %llu, returned %llu, at the edge %llu\n", seen.multiplied,
	       seen.added, seen.returned, seen.agreed);
	printf("%sok 1 - HPCC++ against double precision\n1..1\n", failures ? "not " : "");
	return failures ? 1 : 0;
}
